from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from naive.exchange import closed_bigrams, tied_criterion, two_sided_criterion
from stategram.clustering import CRITERIA, Progress, WordClasses
from stategram.clustering.exchange import Side
from stategram.clustering.initial import frequent_first
from stategram.clustering.memory import check_memory
from stategram.clustering.monitor import Monitor
from stategram.errors import UsageError
from stategram.evaluation import average_mutual_information
from stategram.text import corpus_from_sentences

BOUNDARY = "</s>"
N_PLANTED = 6
WORDS_A_CLASS = 30  # more words than a batch of the exchange holds
SMALL = ["the cat sat", "the dog sat", "a cat ran", "a dog ran off", "the cat ran", "a a dog sat off"]


@cache
def planted_text() -> list[str]:
    """Give sentences of a class bigram model; the word c3w5 is of the class c3."""
    rng = np.random.default_rng(7)
    # Every class has two followers of its own, so that the classes differ.
    after = [[(c + 1) % N_PLANTED, (2 * c + 3) % N_PLANTED] for c in range(N_PLANTED)]
    frequency = 1 / np.arange(1, WORDS_A_CLASS + 1)
    frequency /= frequency.sum()
    sentences = []
    for _ in range(3000):
        c = int(rng.integers(N_PLANTED))
        words = []
        for w in rng.choice(WORDS_A_CLASS, size=int(rng.integers(3, 9)), p=frequency):
            words.append(f"c{c}w{w}")
            c = after[c][int(rng.random() < 0.3)]
        sentences.append(" ".join(words))
    return sentences


def as_partition(words: WordClasses) -> set[frozenset[str]]:
    return {frozenset(members) for members in words.classes_}


def stream(sentences: list[str]) -> list[str]:
    return [word for sentence in sentences for word in [*sentence.split(), BOUNDARY]]


def criterion_of(fitted: WordClasses, sentences: list[str], criterion: str) -> float:
    """Give the criterion of the classes found, by the formula."""
    names = sorted(set(stream(sentences)))
    number = {word: i for i, word in enumerate(names)}
    pairs = closed_bigrams([number[word] for word in stream(sentences)])
    label = dict(zip(fitted.words_, fitted.labels_.tolist(), strict=True))
    labels = [label.get(word, -1) for word in names]
    if criterion == "tied":
        return tied_criterion(pairs, range(len(names)), labels)
    if criterion == "predictive":
        return two_sided_criterion(pairs, range(len(names)), labels)
    state = dict(zip(fitted.contexts_, fitted.states_.tolist(), strict=True))
    return two_sided_criterion(pairs, [state["<s>" if w == BOUNDARY else w] for w in names], labels)


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
        WordClasses(9, criterion=criterion, threads=threads).fit(planted_text()) for threads in (1, 2, 3)
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


# ---- ending early, and telling about it


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_stop_at_once_gives_all_words_a_class(criterion: str) -> None:
    words = WordClasses(5, criterion=criterion).fit(planted_text(), stop=lambda: True)
    assert set(words.labels_.tolist()) <= set(range(5))
    assert len(words.history_) == 1
    assert words.criterion_ == pytest.approx(criterion_of(words, planted_text(), criterion), rel=1e-9)


def test_a_stop_in_the_heat_is_followed_by_a_plain_sweep() -> None:
    seen: list[Progress] = []
    words = WordClasses(5).fit(
        planted_text(), progress=seen.append, stop=lambda: seen[-1].step == "anneal" and seen[-1].sweep > 5
    )
    assert [record.step for record in words.history_] == ["place", *4 * ["anneal"], "exchange"]


def test_a_time_limit_ends_the_work() -> None:
    """The bound is so wide that only work without end crosses it."""
    words = WordClasses(5, time_limit=0.3).fit(planted_text())
    assert words.history_[-1].seconds < 30
    assert words.history_[-1].step == "merge-split"
    assert set(words.labels_.tolist()) == set(range(5))


def test_a_time_limit_that_is_over_at_once_gives_all_words_a_class() -> None:
    words = WordClasses(5, time_limit=1e-9).fit(planted_text())
    assert len(words.history_) == 1
    assert set(words.labels_.tolist()) <= set(range(5))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("stop_after", [None, 1, 2, 9, 10])
def test_progress_rises(stop_after: int | None, criterion: str) -> None:
    seen: list[Progress] = []
    stop: Callable[[], bool] | None = None if stop_after is None else lambda: len(seen) >= stop_after
    WordClasses(5, criterion=criterion).fit(planted_text(), progress=seen.append, stop=stop)
    fractions = [progress.fraction for progress in seen]
    assert fractions == sorted(fractions)
    assert seen[0].step == "count"
    assert 0 == fractions[0] < fractions[1] <= fractions[-1] <= 1
    assert all(progress.seconds_left is not None and progress.seconds_left >= 0 for progress in seen[1:])


def test_progress_rises_under_a_time_limit() -> None:
    seen: list[Progress] = []
    WordClasses(5, time_limit=1e-9).fit(planted_text(), progress=seen.append)
    fractions = [progress.fraction for progress in seen]
    assert len(fractions) > 1
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1


def test_a_listener_may_end_it_all() -> None:
    def interrupt(_: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        WordClasses(2).fit(SMALL, progress=interrupt)


def test_time_left_is_unknown_before_anything_is_done() -> None:
    seen: list[Progress] = []
    Monitor(seen.append).tell("place", 1, 0, -5.0, 1.0, 0.0)
    assert seen[0].seconds_left is None


# ---- where it begins


def test_frequent_words_begin_alone_and_given_ones_where_they_are_given() -> None:
    counts = np.array([5, 9, 0, 7, 7, 1])
    clusters = frequent_first(counts, 3, given=np.array([-1, 1, -1, -1, -1, -1]), still=[4], alone=[5])
    # 3 and 0, by count, take the classes 0 and 2 that nobody has; 2 never occurs and 4 has no class.
    assert clusters.labels.tolist() == [2, 1, 4, 0, 4, 3]
    assert clusters.order.tolist() == [1, 3, 0]
    assert clusters.n_all == 5


def test_a_sweep_is_cut_into_whole_batches() -> None:
    order = np.arange(1000, dtype=np.uint32)
    side = Side(order, np.ones(1000, np.float32), np.ones(1000, np.int64), lambda *_: 0, lambda: order)
    parts = list(side.parts())
    assert np.concatenate(parts).tolist() == order.tolist()
    assert len(parts) > 1
    assert all(len(part) % 64 == 0 for part in parts[:-1])


# ---- refusals


def test_tables_larger_than_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stategram.clustering.memory._physical_memory", lambda: 2**30)
    check_memory(3000, 3000)
    with pytest.raises(UsageError, match=r"4000 x 4000 clusters need 1\.4 GiB .* has 1\.0 GiB"):
        check_memory(4000, 4000)
    monkeypatch.setattr("stategram.clustering.memory._physical_memory", lambda: 4000)
    for criterion in ("tied", "two-sided"):
        with pytest.raises(UsageError, match="ask for fewer"):
            WordClasses(20, criterion=criterion).fit(planted_text()[:50])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "best"}, "no criterion 'best'"),
        ({"effort": "huge"}, "no effort 'huge'"),
        ({"n_classes": 2.5}, "n_classes is 2.5"),
        ({"n_classes": "5"}, "n_classes is '5'"),
        ({"time_limit": float("inf")}, "time_limit is inf"),
        ({"init": "file.tsv"}, "read_classes"),
        ({"n_classes": 0}, "n_classes is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"criterion": "two-sided", "n_states": -1}, "n_states is -1"),
        ({"n_states": 4}, "two-sided"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": math.nan}, "time_limit is nan"),
        ({"threads": 0}, "threads is 0"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WordClasses(**parameters).fit(SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize("random_state", [2**64, np.int64(2**62)])
def test_any_seed_will_do(random_state: int) -> None:
    assert len(WordClasses(2, random_state=random_state).fit(SMALL).classes_) == 2


def test_a_single_string_is_no_text() -> None:
    with pytest.raises(UsageError, match="list of sentences"):
        WordClasses(2).fit("the cat sat")
    with pytest.raises(UsageError, match="give a list"):
        WordClasses(2).fit(SMALL).predict("cat")


def test_before_fit_it_says_so() -> None:
    words = WordClasses(2, effort="fast")
    for name in ("labels_", "classes_", "hierarchy_", "mutual_information_"):
        with pytest.raises(AttributeError, match="call fit first"):
            getattr(words, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = words.nothing


def test_parameters_are_given_back() -> None:
    words = WordClasses(2, effort="fast", random_state=3)
    assert "effort='fast'" in repr(words)
    again = WordClasses(**words.fit(SMALL).get_params())
    assert again.get_params() == words.get_params()
    assert again.fit(SMALL).labels_.tolist() == words.labels_.tolist()


@pytest.mark.parametrize("effort", ["fast", "normal"])
@pytest.mark.parametrize("criterion", ["tied", "predictive"])
def test_with_enough_classes_every_word_has_its_own(effort: str, criterion: str) -> None:
    words = WordClasses(100, effort=effort, criterion=criterion).fit(SMALL)
    assert len(words.classes_) == len(words.words_)


def test_a_time_limit_with_nothing_to_move_ends_at_once() -> None:
    text = planted_text()[:50]
    fixed = {word: "all" for sentence in text for word in str(sentence).split()}
    words = WordClasses(fixed=fixed, time_limit=5).fit(text)
    assert len(words.history_) < 10


def test_a_warm_start_stays_warm() -> None:
    text = planted_text()
    first = WordClasses(8, effort="normal").fit(text)
    init = dict(zip(first.words_, first.labels_.tolist(), strict=True))
    again = WordClasses(init=init, effort="normal").fit(text)
    assert again.criterion_ >= first.criterion_ - 1e-6
    assert max(sweep.temperature for sweep in again.history_) == 0
