"""What WordClasses finds."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from naive.exchange import closed_bigrams
from planted import BOUNDARY, N_PLANTED, SMALL, WORDS_A_CLASS, criterion_of, planted_text, stream
from stategram.clustering import CRITERIA, WordClasses
from stategram.errors import UsageError
from stategram.evaluation import average_mutual_information
from stategram.resources import use_resources
from stategram.text import corpus_from_sentences


def as_partition(words: WordClasses) -> set[frozenset[str]]:
    return {frozenset(members) for members in words.classes_}


# ---- what is found


@pytest.mark.parametrize("criterion", CRITERIA)
def test_planted_classes_are_found(criterion: str) -> None:
    # The beginning of a sentence, which any class may follow, is one state more.
    n_states = N_PLANTED + 1 if criterion == "two-sided" else None
    words = WordClasses(N_PLANTED, criterion=criterion, n_states=n_states).fit(planted_text())
    planted = {
        frozenset(f"c{c}w{w}" for w in range(WORDS_A_CLASS) if f"c{c}w{w}" in words.words_)
        for c in range(N_PLANTED)
    }
    assert as_partition(words) == planted


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("n_classes", [1, 3])
def test_the_criterion_and_the_perplexity_are_those_of_the_classes(n_classes: int, criterion: str) -> None:
    words = WordClasses(n_classes, criterion=criterion).fit(SMALL)
    expected = criterion_of(words, SMALL, criterion)
    counts = Counter(stream(SMALL))
    assert words.criterion_ == pytest.approx(expected, rel=1e-9)
    in_words = sum(n * math.log(n) for n in counts.values())
    assert words.perplexity_ == pytest.approx(math.exp(-(expected + in_words) / counts.total()), rel=1e-9)
    assert len(words.classes_) <= n_classes


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("effort", ["normal", "best"])
def test_the_history_tells_every_sweep(criterion: str, effort: str) -> None:
    words = WordClasses(4, criterion=criterion, effort=effort).fit(planted_text())
    history = words.history_
    assert [record.number for record in history] == list(range(1, len(history) + 1))
    steps = [step for step, _ in itertools.groupby(record.step for record in history)]
    rounds = ["merge-split"] if criterion == "tied" and effort == "best" else []
    assert steps == ["place", "anneal", "exchange", *rounds]
    counts = Counter(stream(planted_text()))
    in_words = sum(n * math.log(n) for n in counts.values())
    for before, record in itertools.pairwise(history):
        assert (record.temperature > 0) == (record.step == "anneal")
        assert record.seconds >= before.seconds
        perplexity = math.exp(-(record.criterion + in_words) / counts.total())
        assert record.perplexity == pytest.approx(perplexity, rel=1e-9)
        if record.step == "exchange":
            assert record.criterion >= before.criterion
            assert (record.criterion > before.criterion) == (record.moves > 0)
    # Of a round of three sweeps, what it reached counts, if it gained.
    plain = [record for record in history if record.step != "merge-split"]
    reached = max(plain[-1:] + history[len(plain) + 2 :: 3], key=lambda record: record.criterion)
    assert words.criterion_ == reached.criterion
    assert words.perplexity_ == reached.perplexity


def test_classes_are_numbered_by_falling_count() -> None:
    words = WordClasses(10, effort="fast").fit(planted_text())
    assert words.counts_.tolist() == sorted(words.counts_.tolist(), reverse=True)
    totals = np.bincount(words.labels_, weights=words.counts_)
    assert totals.tolist() == sorted(totals.tolist(), reverse=True)
    assert totals.min() > 0
    count = dict(zip(words.words_, words.counts_.tolist(), strict=True))
    assert count == {w: n for w, n in Counter(stream(planted_text())).items() if w != BOUNDARY}
    for label, members in enumerate(words.classes_):
        assert words.predict(members).tolist() == [label] * len(members)
        assert [count[w] for w in members] == sorted((count[w] for w in members), reverse=True)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_class_bigrams_are_those_of_the_text(criterion: str) -> None:
    words = WordClasses(4, criterion=criterion, effort="fast").fit(planted_text())
    k = len(words.classes_)
    labels = dict(zip(words.words_, words.labels_.tolist(), strict=True)) | {BOUNDARY: k}
    expected = np.zeros((k + 1, k + 1), dtype=np.int64)
    for (a, b), n in closed_bigrams([labels[w] for w in stream(planted_text())]).items():
        expected[a, b] = n
    assert words.class_bigrams_.tolist() == expected.tolist()
    assert words.hierarchy_.n_classes == k
    # Words tell at least as much of what follows as their classes do.
    information = average_mutual_information(words.class_bigrams_)
    if criterion == "tied":
        assert words.mutual_information_ == pytest.approx(information, rel=1e-9)
    if criterion == "predictive":
        assert words.mutual_information_ > information


def test_states_are_given_with_their_contexts() -> None:
    words = WordClasses(4, criterion="two-sided", n_states=3).fit(planted_text())
    counts = Counter(stream(planted_text()))
    counts["<s>"] = counts.pop(BOUNDARY)
    assert dict(zip(words.contexts_, words.context_counts_.tolist(), strict=True)) == counts
    assert set(words.states_.tolist()) == {0, 1, 2}
    totals = np.bincount(words.states_, weights=words.context_counts_)
    assert totals.tolist() == sorted(totals.tolist(), reverse=True)


# ---- the same result


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_result_does_not_depend_on_the_number_of_threads(criterion: str) -> None:
    one, two, three = (
        use_resources(threads=threads)(WordClasses(9, criterion=criterion).fit)(planted_text())
        for threads in (1, 2, 3)
    )
    assert one.labels_.tolist() == two.labels_.tolist() == three.labels_.tolist()
    assert one.criterion_ == two.criterion_ == three.criterion_
    assert [r.criterion for r in one.history_] == [r.criterion for r in three.history_]


def test_the_seed_decides_the_annealing() -> None:
    def history(seed: int) -> list[float]:
        fitted = WordClasses(9, random_state=seed).fit(planted_text())
        return [record.criterion for record in fitted.history_]

    assert history(1) == history(1)
    assert history(1) != history(2)


def test_sentences_may_be_strings_or_lists_or_a_corpus() -> None:
    text = planted_text()[:300]
    of_strings = WordClasses(5).fit(text)
    of_lists = WordClasses(5).fit(sentence.split() for sentence in text)
    of_corpus = WordClasses(5).fit(corpus_from_sentences(text))
    assert of_strings.to_columns() == of_lists.to_columns() == of_corpus.to_columns()


# ---- small and odd texts


@pytest.mark.parametrize("criterion", CRITERIA)
def test_more_classes_than_words_give_every_word_its_own(criterion: str) -> None:
    words = WordClasses(100, criterion=criterion, effort="fast").fit(SMALL)
    assert sorted(words.labels_.tolist()) == list(range(7))


def test_the_default_is_500_classes() -> None:
    text = [f"w{i} w{i * 7 % 600}" for i in range(600)]
    assert len(WordClasses(effort="fast").fit(text).classes_) == 500


@pytest.mark.parametrize("criterion", CRITERIA)
def test_one_class_holds_all(criterion: str) -> None:
    words = WordClasses(1, criterion=criterion).fit(SMALL)
    assert set(words.labels_.tolist()) == {0}
    assert words.hierarchy_.n_classes == 1


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("text", [["a"], ["a a a", "a"]])
def test_a_text_of_one_word(text: list[str], criterion: str) -> None:
    n_states = 2 if criterion == "two-sided" else None
    words = WordClasses(3, criterion=criterion, n_states=n_states).fit(text)
    assert words.classes_ == [("a",)]
    assert words.perplexity_ == pytest.approx(math.exp(-_word_text_log(text)), rel=1e-9)


def _word_text_log(text: list[str]) -> float:
    """Give the log likelihood an event of p(w|w-1): with a class each, classes are words."""
    pairs = Counter(itertools.pairwise([BOUNDARY, *stream(text)]))
    before = Counter(a for a, _ in pairs.elements())
    return sum(n * math.log(n / before[a]) for (a, _), n in pairs.items()) / pairs.total()


@pytest.mark.parametrize("text", [[], [""], ["", "  "], [[]]])
def test_a_text_without_words_is_refused(text: list[str]) -> None:
    with pytest.raises(UsageError, match="no words"):
        WordClasses(2).fit(text)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("min_count", [30, 10**6])
def test_rare_words_get_a_class_too(min_count: int, criterion: str) -> None:
    words = WordClasses(N_PLANTED, criterion=criterion, min_count=min_count).fit(planted_text())
    assert len(words.words_) == len(set(stream(planted_text()))) - 1
    assert set(words.labels_.tolist()) <= set(range(N_PLANTED))
    assert words.criterion_ == pytest.approx(criterion_of(words, planted_text(), criterion), rel=1e-9)


def test_unknown_words_are_those_of_the_unknown_class() -> None:
    without = WordClasses(2).fit(SMALL)
    assert without.predict(["the", "zebra"]).tolist() == [without.predict(["the"])[0], -1]
    assert without.predict([]).tolist() == []
    words = WordClasses(2).fit([*SMALL, "the <unk> sat"])
    assert words.predict(["zebra"]).tolist() == words.predict(["<unk>"]).tolist() != [-1]


def test_columns_hold_what_was_found() -> None:
    words = WordClasses(3).fit(SMALL)
    assert words.to_columns() == {
        "word": list(words.words_),
        "class": words.labels_.tolist(),
        "count": words.counts_.tolist(),
    }


def test_another_fit_forgets_the_first() -> None:
    words = WordClasses(2).fit(SMALL)
    assert (len(words.classes_), words.hierarchy_.n_classes, words.predict(["x"])[0]) == (2, 2, -1)
    words.n_classes = 3
    words.fit(["x y z", "x z", "y x"])
    assert sorted(words.classes_) == [("x",), ("y",), ("z",)]
    assert words.hierarchy_.n_classes == 3
    assert words.predict(["x"])[0] >= 0


# ---- beginning from given classes


def test_a_warm_start_keeps_what_is_good_and_places_new_words() -> None:
    first = WordClasses(N_PLANTED).fit(planted_text())
    init = {w: f"class {label}" for w, label in zip(first.words_, first.labels_, strict=True)}
    new = [s.replace("c1w0", "new") if i % 2 else s for i, s in enumerate(planted_text())]
    words = WordClasses(init={**init, "gone": "class 1"}, effort="fast").fit(new)
    assert len(words.classes_) == N_PLANTED
    assert words.predict(["new"]).tolist() == words.predict(["c1w0"]).tolist()
    gone = words.words_.index("gone")
    assert gone == len(words.words_) - 1
    assert words.counts_[gone] == 0
    companion = next(w for w, name in init.items() if name == "class 1")
    assert words.predict(["gone"]).tolist() == words.predict([companion]).tolist()
    known = [w for w in first.words_ if w in words.words_]
    assert {frozenset(m) & set(known) for m in words.classes_} == as_partition(first)


def test_a_warm_start_begins_with_the_given_classes() -> None:
    """Classes that no single move betters stay, whatever they are; from nothing, others are found."""
    init = {"the": 0, "cat": 0, "sat": 0, "a": 1, "dog": 1, "ran": 1, "off": 1}
    words = WordClasses(init=init, effort="fast").fit(SMALL)
    placed = words.history_[0]
    start = WordClasses(init=init, fixed=init).fit(SMALL)
    assert start.criterion_ == pytest.approx(criterion_of(start, SMALL, "tied"), rel=1e-9)
    assert as_partition(start) == {frozenset({"the", "cat", "sat"}), frozenset({"a", "dog", "ran", "off"})}
    assert placed.criterion >= start.criterion_


@pytest.mark.parametrize("given", ["init", "fixed"])
def test_words_of_the_vocabulary_that_the_text_does_not_have_keep_their_class(given: str) -> None:
    """A vocabulary may know words that the text does not have; it always knows ``<unk>``."""
    vocabulary = corpus_from_sentences([*SMALL, "zebra"]).vocabulary
    corpus = corpus_from_sentences(SMALL, vocabulary=vocabulary)
    fixed = {"cat": "x", "sat": "y", "</s>": "y", "<s>": "x"}
    absent = {"zebra": "x", "<unk>": "y"}
    if given == "init":
        words = WordClasses(3, init=absent, fixed=fixed).fit(corpus)
    else:
        words = WordClasses(3, fixed={**absent, **fixed}).fit(corpus)
    count = dict(zip(words.words_, words.counts_.tolist(), strict=True))
    assert (count["zebra"], count["<unk>"]) == (0, 0)
    assert not {"<s>", "</s>"} & count.keys()
    assert words.predict(["zebra", "<unk>"]).tolist() == words.predict(["cat", "sat"]).tolist()


def test_more_given_classes_than_wanted_are_refused() -> None:
    with pytest.raises(UsageError, match="name 3 classes, more than n_classes = 2"):
        WordClasses(2, init={"cat": 1, "dog": 2}, fixed={"the": 3}).fit(SMALL)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_fixed_words_stay_together_and_apart(criterion: str) -> None:
    fixed = {"c0w0": "one", "c1w0": "one", "c2w0": "two", "c2w1": "three"}
    words = WordClasses(N_PLANTED, criterion=criterion, fixed=fixed).fit(planted_text())
    a, b, c, d = words.predict(fixed).tolist()
    assert a == b
    assert len({a, c, d}) == 3
    assert len(words.classes_) == N_PLANTED


def test_a_text_of_fixed_words_alone() -> None:
    words = WordClasses(2, fixed={"a": 0, "b": 0, "c": 1}).fit(["a b c", "c b"])
    assert as_partition(words) == {frozenset("ab"), frozenset("c")}
