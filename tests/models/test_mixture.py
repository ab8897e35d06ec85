"""Mixtures: what they give, what they learn, what they refuse."""

from __future__ import annotations

import io
import itertools
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from command_line import WITHOUT_UNKNOWN
from stategram import (
    CategoryNgramModel,
    Corpus,
    Mixture,
    Model,
    NgramModel,
    Recipe,
    Vocabulary,
    corpus_from_sentences,
    read_arpa,
    train_recipe,
)
from stategram.errors import BadDataError, UsageError
from stategram.models import Gate
from stategram.models.gate import BucketEntries, Buckets
from stategram.resources import use_resources
from stategram.text import BEGIN
from story import sentences, word_tree_part
from texts import Text, histories, long_text, make_corpus, texts

KINDS = ("none", "length", "backoff", "category", "all")


def parts_of(corpus: Corpus) -> list[Model]:
    labels = np.arange(len(corpus.vocabulary)) % 4
    return [
        NgramModel.train(corpus, 3),
        CategoryNgramModel.train(corpus, labels, 3),
        NgramModel.train(corpus, 1, smoothing="witten-bell"),
    ]


@pytest.fixture(scope="module")
def corpora() -> tuple[Corpus, Corpus]:
    """A text to train on and one to learn weights from."""
    whole = make_corpus(*long_text())
    cut = whole.n_sentences // 2
    return whole.sentences(0, cut), whole.sentences(cut, whole.n_sentences)


@pytest.fixture(scope="module")
def parts(corpora: tuple[Corpus, Corpus]) -> list[Model]:
    return parts_of(corpora[0])


@settings(deadline=None, max_examples=40)
@given(texts(), texts(), st.sampled_from((*KINDS, "auto")))
def test_every_distribution_sums_to_one(text: Text, other: Text, buckets: str) -> None:
    n_words = max(text[1], other[1])
    corpus, heldout = make_corpus(text[0], n_words), make_corpus(other[0], n_words)
    heldout = replace(heldout, vocabulary=corpus.vocabulary)
    assume(heldout.n_unknown < heldout.n_events - heldout.n_sentences)
    mixture = Mixture.fit(parts_of(corpus), heldout, buckets=buckets)
    for history in [*histories(corpus, 3)[::5], *histories(heldout, 3)[::5]]:
        for sentence_start in (True, False):
            distribution = mixture.distribution(history, sentence_start=sentence_start)
            assert abs(distribution.sum() - 1) < 1e-6
            assert distribution[BEGIN] == 0
    best = min(part["perplexity"] for part in mixture.training_info["parts"])
    assert mixture.training_info["perplexity"] <= best * (1 + 1e-6)


@pytest.mark.parametrize("buckets", KINDS)
def test_probabilities_are_weighted_sums(
    corpora: tuple[Corpus, Corpus], parts: list[Model], buckets: str
) -> None:
    _, heldout = corpora
    mixture = Mixture.fit(parts, heldout, buckets=buckets)
    assert mixture.gate.kind == buckets
    assert len(mixture.gate.tables) == {"none": 1, "all": 3}.get(buckets, 2)
    log_probs = mixture.score(heldout).log_probs
    for i in range(5):
        words = [heldout.vocabulary.word(id) for id in heldout.sentence(i).tolist()]
        for j, word in enumerate(words):
            history = words[:j]
            id = heldout.vocabulary.id(word)
            distribution = mixture.distribution(history)
            at = int(heldout.sentence_starts[i]) + j
            assert distribution[id] == pytest.approx(np.exp(log_probs[at]), rel=1e-9)
            one = corpus_from_sentences([[*history, word]], vocabulary=heldout.vocabulary)
            features = {
                i: part.score(one, features=part.feature_names).features for i, part in enumerate(parts)
            }
            weights = mixture.gate.weights(features, one.n_events)[j]
            assert weights.sum() == pytest.approx(1)
            expected = sum(w * part.distribution(history)[id] for w, part in zip(weights, parts, strict=True))
            assert distribution[id] == pytest.approx(expected, rel=1e-12)
    # The figure of the fit comes from float32.
    assert mixture.training_info["perplexity"] == pytest.approx(np.exp(-log_probs.mean()), rel=1e-6)
    assert sum(part.weight for part in mixture.score(heldout).parts) == pytest.approx(1)


def test_the_same_bytes_on_any_number_of_threads(corpora: tuple[Corpus, Corpus], parts: list[Model]) -> None:
    _, heldout = corpora
    one, *others = (use_resources(threads=threads)(Mixture.fit)(parts, heldout) for threads in (1, 2, 4))
    expected = use_resources(threads=1)(one.score)(heldout).log_probs.tobytes()
    for other in others:
        assert [table.tobytes() for table in other.gate.tables] == [t.tobytes() for t in one.gate.tables]
        assert (other.gate.buckets, other.training_info) == (one.gate.buckets, one.training_info)
        assert use_resources(threads=2)(other.score)(heldout).log_probs.tobytes() == expected


def test_the_report(corpora: tuple[Corpus, Corpus], parts: list[Model]) -> None:
    _, heldout = corpora
    report = Mixture.fit(parts, heldout).training_info
    assert report["events"] == heldout.n_events
    # Each of the others is but a part of all.
    assert {one["kind"] for one in report["candidates"]} == {"none", "all"}
    ngrams = Mixture.fit([parts[0], parts[2]], heldout).training_info
    assert {one["kind"] for one in ngrams["candidates"]} == {"none", "length", "backoff"}
    best = min(report["candidates"], key=lambda one: one["perplexity"])
    assert report["buckets"]["kind"] == best["kind"]
    assert report["buckets"]["strength"] == best["strength"]
    for part, model in zip(report["parts"], parts, strict=True):
        alone = np.exp(-model.score(heldout).log_probs.mean())
        assert part["perplexity"] == pytest.approx(alone, rel=1e-6)
        assert part["without"] >= report["perplexity"] * (1 - 1e-6)
        assert part["name"] == repr(model)
    assert sum(part["weight"] for part in report["parts"]) == pytest.approx(1)
    # Without a part that is worth something, the rest is worth less.
    assert report["parts"][0]["without"] > report["perplexity"] * 1.01


def test_weights_do_not_depend_on_the_order_of_parts(
    corpora: tuple[Corpus, Corpus], parts: list[Model]
) -> None:
    _, heldout = corpora
    expected = [part["weight"] for part in Mixture.fit(parts, heldout, buckets="none").training_info["parts"]]
    for order in itertools.permutations(range(3)):
        mixture = Mixture.fit([parts[i] for i in order], heldout, buckets="none")
        found = [part["weight"] for part in mixture.training_info["parts"]]
        np.testing.assert_allclose(found, [expected[i] for i in order], atol=1e-9)


def test_identical_parts(corpora: tuple[Corpus, Corpus], parts: list[Model]) -> None:
    _, heldout = corpora
    alone = parts[0].score(heldout).log_probs
    twins = Mixture.fit([parts[0]] * 3, heldout, buckets="none")
    np.testing.assert_allclose(twins.gate.tables[0], 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(twins.score(heldout).log_probs, alone, rtol=1e-12)


def test_an_event_that_no_part_allows() -> None:
    corpus = corpus_from_sentences(["a b", "a a b"])
    arpa = NgramModel.train(corpus, 1)
    plain = arpa.trie.plain()
    plain.log_probs[1 + plain.numbers[corpus.vocabulary.id("b")]] = -np.inf
    nothing = NgramModel.from_plain(arpa.vocabulary, plain)
    mixture = Mixture.fit([nothing, nothing], corpus)
    assert mixture.training_info["zero_probability"] == 2
    both = Mixture.fit([nothing, arpa], corpus, buckets="none")
    assert both.training_info["zero_probability"] == 0
    assert both.training_info["parts"][0]["perplexity"] is None
    assert both.training_info["parts"][1]["without"] is None
    assert np.isfinite(both.score(corpus).log_probs).all()


def test_parts_with_other_vocabularies() -> None:
    first = NgramModel.train(["the cat sat", "the dog sat"], 2)
    same = NgramModel.train(
        corpus_from_sentences(
            ["the dog sat", "the cat sat"], vocabulary=Vocabulary.from_words("dog cat sat the".split())
        ),
        2,
    )
    mixture = Mixture.fit([first, same], ["the cat sat"])
    assert mixture.distribution("the").sum() == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(
        np.exp(mixture.score(corpus_from_sentences(["the zebra sat"])).log_probs)[1],
        mixture.distribution("the")[0],
        rtol=1e-9,
    )
    other = NgramModel.train(["the cat ran", "a cow ran"], 2)
    both = Mixture.fit([first, other], ["the cow sat", "a dog ran"], buckets="none")
    assert both.vocabulary.words == (*first.vocabulary.words, "ran", "a", "cow")
    assert both.training_info["unknown"] == 0
    for history in ("", "the", "a cow", "the zebra"):
        assert both.distribution(history).sum() == pytest.approx(1, abs=1e-6)
    # dog and sat share half of what <unk> has.
    aligned = Mixture((first, other), Gate.constant([0.0, 1.0]))
    unknown = other.distribution("the")[0]
    found = aligned.distribution("the")
    for word, part in (("dog", 0.25), ("sat", 0.25), ("<unk>", 0.5)):
        assert found[aligned.vocabulary.id(word)] == pytest.approx(unknown * part)
    assert found[aligned.vocabulary.id("cow")] == pytest.approx(
        other.distribution("the")[other.vocabulary.id("cow")]
    )
    # A word that a part lacks is unknown to it as a history too.
    assert aligned.distribution("dog").tolist() == aligned.distribution("<unk>").tolist()
    scored = aligned.score(["the cow dog"]).log_probs
    assert scored[2] == pytest.approx(np.log(aligned.distribution("the cow")[aligned.vocabulary.id("dog")]))


def test_a_part_without_unknown_words() -> None:
    """An ARPA file without <unk>: what it lacks is impossible by it, and left to the other part."""
    model, arpa = NgramModel.train(["the cat sat"], 2), read_arpa(io.BytesIO(WITHOUT_UNKNOWN))
    mixture = Mixture.fit([model, arpa], ["the cat sat"], buckets="none")
    distribution = mixture.distribution("")
    assert distribution.sum() == pytest.approx(1, abs=1e-6)
    weight = mixture.training_info["parts"][0]["weight"]
    id = mixture.vocabulary.id("sat")
    assert distribution[id] == pytest.approx(weight * model.distribution("")[id])


def test_what_is_refused(corpora: tuple[Corpus, Corpus], parts: list[Model]) -> None:
    _, heldout = corpora
    with pytest.raises(UsageError, match="a mixture of 0 models; give at least two"):
        Mixture.fit([], heldout)
    with pytest.raises(UsageError, match="a mixture of 1 model; give at least two"):
        Mixture.fit(parts[:1], heldout)
    with pytest.raises(UsageError, match="at least two"):
        Mixture((parts[0],), Gate.constant([1.0]))
    with pytest.raises(BadDataError, match="no word of the model's vocabulary"):
        Mixture.fit(parts, ["these words", "are other ones"])
    with pytest.raises(BadDataError, match="no words"):
        Mixture.fit(parts, [])
    with pytest.raises(UsageError, match="no buckets 'colour': there are auto, none, length"):
        Mixture.fit(parts, heldout, buckets="colour")
    with pytest.raises(UsageError, match="buckets by state need; there are: auto, none"):
        Mixture.fit(parts, heldout, buckets="state")
    with pytest.raises(UsageError, match="tolerance above 0"):
        Mixture.fit(parts, heldout, tolerance=0.0)
    with pytest.raises(UsageError, match="weights of 2 parts for 3"):
        Mixture(tuple(parts), Gate.constant([0.5, 0.5]))
    states = Gate("state", (Buckets(("state",), 0, ((), ())),), (np.full((2, 3), 1 / 3),))
    with pytest.raises(UsageError, match="part 1 does not know"):
        Mixture(tuple(parts), states)


def test_gates_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="buckets for each table"):
        Gate("none", (), ())
    with pytest.raises(UsageError, match="a row for each bucket"):
        Gate("none", (Buckets(),), (np.ones((2, 3)) / 3,))
    with pytest.raises(UsageError, match="sum to one"):
        Gate.constant([1.0, 1.0])
    one = np.array([[0.0, 1.0]])
    with pytest.raises(UsageError, match="above 0"):
        Gate("all", (Buckets(), Buckets()), (one, one))


def test_a_gate_finds_when_each_part_is_right() -> None:
    """Each of two parts knows what follows one of two words: no constant weights are as good."""
    sentences = ["a x", "a x", "b y", "b y"] * 20
    corpus = corpus_from_sentences(sentences)
    shuffled = [
        NgramModel.train(corpus_from_sentences(of, vocabulary=corpus.vocabulary), 2)
        for of in (["a x", "b x", "b y"] * 20, ["b y", "a y", "a x"] * 20)
    ]
    knows = CategoryNgramModel.train(corpus, np.arange(len(corpus.vocabulary)), 1)
    found = {
        kind: Mixture.fit([*shuffled, knows], corpus, buckets=kind).training_info["perplexity"]
        for kind in ("none", "category")
    }
    assert found["category"] < found["none"] * 0.97


def test_too_few_iterations_are_still_no_worse_than_the_best_part(
    corpora: tuple[Corpus, Corpus], parts: list[Model]
) -> None:
    train, _ = corpora
    mixture = Mixture.fit([*parts, *[parts[2]] * 20], train, buckets="none", max_iterations=1)
    best = min(part["perplexity"] for part in mixture.training_info["parts"])
    assert mixture.training_info["perplexity"] <= best * (1 + 1e-6)
    # The report says what the gate is, not what was tried.
    for kind in KINDS:
        found = Mixture.fit([*parts, *[parts[2]] * 20], train, buckets=kind, max_iterations=1)
        assert found.training_info["buckets"]["kind"] == found.gate.kind


def test_parts_that_are_hopeless_have_a_perplexity() -> None:
    corpus = corpus_from_sentences(["a b", "a a b"])
    good = NgramModel.train(corpus, 1)
    plain = good.trie.plain()
    plain.log_probs[1:] -= 60  # below the least float32 beside the good one
    bad = NgramModel.from_plain(good.vocabulary, plain)
    mixture = Mixture.fit([good, bad], corpus, buckets="none")
    expected = np.exp(-bad.score(corpus).log_probs.mean())
    assert mixture.training_info["parts"][1]["perplexity"] == pytest.approx(expected, rel=1e-6)


def test_no_event_that_any_part_allows() -> None:
    corpus = corpus_from_sentences(["a b", "a a b"])
    model = NgramModel.train(corpus, 1)
    plain = model.trie.plain()
    plain.log_probs[1:] = -np.inf
    nothing = NgramModel.from_plain(model.vocabulary, plain)
    with pytest.raises(UsageError, match="any event of the held-out text"):
        Mixture.fit([nothing, nothing], corpus)


def test_weights_of_zero_have_no_bucket_of_their_own() -> None:
    backoff = np.append(np.linspace(-3, 0, 400), [-np.inf] * 400).astype(np.float32)
    features = {"length": np.zeros(800, np.float32), "backoff": backoff}
    buckets = Buckets.learn(("length", "backoff"), 0, features)
    assert np.isfinite(buckets.edges[0]).all()
    assert len(np.unique(buckets.of(features, 800))) > 5


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-3, 0, width=32)), min_size=1, max_size=300),
    st.lists(st.tuples(st.integers(0, 9), st.floats(-9, 9, width=32)), min_size=1, max_size=50),
)
def test_buckets_cover_all_histories(
    learned: list[tuple[int, float]], asked: list[tuple[int, float]]
) -> None:
    def features(of: list[tuple[int, float]]) -> dict[str, np.ndarray]:
        return {
            "length": np.array([length for length, _ in of], np.float32),
            "backoff": np.array([weight for _, weight in of], np.float32),
        }

    for names in (("length",), ("length", "backoff")):
        buckets = Buckets.learn(names, 0, features(learned))
        found = buckets.of(features(asked), len(asked))
        assert ((found >= 0) & (found < buckets.number)).all()
        assert found.tolist() == [int(buckets.of(features([one]), 1)[0]) for one in asked]
        entries = msgspec.convert(buckets.to_json(), BucketEntries)
        assert Buckets.from_entries(entries, buckets.number) == buckets


def test_the_history_of_a_mixture_is_that_of_its_parts() -> None:
    corpus = corpus_from_sentences(sentences(200, seed=1))
    heldout, test = (
        corpus_from_sentences(sentences(30, seed=n)).in_vocabulary(corpus.vocabulary) for n in (2, 3)
    )
    tree = train_recipe(corpus, heldout, Recipe(part=[word_tree_part()]))
    ngram = NgramModel.train(corpus, 3)
    mixture = Mixture((ngram, tree), Gate.constant([0.4, 0.6]))
    assert mixture.histories == tree.histories == ("sentence", "document", "adaptive")
    assert Mixture((ngram, ngram), Gate.constant([0.5, 0.5])).histories == ("sentence",)
    for history in mixture.histories:
        found = mixture.with_history(history)
        assert found.gate is mixture.gate
        log_probs = np.log(
            0.4 * np.exp(ngram.score(test).log_probs)
            + 0.6 * np.exp(tree.with_history(history).score(test).log_probs)
        )
        np.testing.assert_allclose(found.score(test).log_probs, log_probs, rtol=1e-12)
    assert mixture.perplexity(test) == mixture.with_history("sentence").perplexity(test)
    with pytest.raises(UsageError, match="no history 'page'"):
        mixture.with_history("page")
