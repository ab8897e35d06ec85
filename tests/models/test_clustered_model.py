"""The clustered model: its probabilities are those of the formulas, and what is damaged is refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.clustered as naive
from context_problems import classes_of, context_of, nodes_of, sentences_of, tags_of
from hostile import HostileFile
from model_kinds import features_after
from stategram import BadDataError, Corpus, Mixture, Model, NgramModel, UsageError, Vocabulary, open_model
from stategram.clustering import Clustering, cluster, number_of_clusters
from stategram.models import ClusteredModel
from stategram.models.state_tree import N_COUNT_BUCKETS, StateLevel, state_tree
from stategram.resources import use_resources
from stategram.text import BEGIN, END
from texts import Text, histories, long_text, make_corpus, texts

CONTEXTS = ["w-1", "w-2,w-1", "w-9,w-1", "t-1,w-1", "g-2,w-1", "w-3,w-2,w-1"]


def clustering_of(corpus: Corpus, context: str = "w-2,w-1", **options: Any) -> Clustering:
    return cluster(
        corpus,
        context,
        **{"states": 6, "categories": 5, **options},
        tags=tags_of(corpus),
        classes=classes_of(corpus),
    )


def twin_of(model: ClusteredModel, found: Clustering, corpus: Corpus) -> naive.NaiveClusteredModel:
    return naive.train(
        sentences_of(corpus),
        context_of(found.tree),
        [
            dict(zip(nodes, states.tolist(), strict=True))
            for nodes, states in zip(nodes_of(found.tree), found.states, strict=True)
        ],
        [inherited.tolist() for inherited in found.inherited],
        model.categories.tolist(),
        min_count=found.settings.min_count,
        trust=model.level_weights.tolist(),
    )


def assert_like_the_twin(model: ClusteredModel, twin: naive.NaiveClusteredModel, asked: Corpus) -> None:
    log_probs = model.score(asked).log_probs
    expected = [
        twin.prob(sentence, place, word)
        for sentence in sentences_of(asked)
        for place, word in enumerate(sentence)
    ]
    np.testing.assert_allclose(np.exp(log_probs), expected, rtol=1e-9, atol=0)
    words = asked.vocabulary.words
    at = 0
    for sentence in sentences_of(asked)[:4]:
        for place, word in enumerate(sentence):
            distribution = model.distribution([words[id] for id in sentence[:place]])
            assert abs(distribution.sum() - 1) < 1e-9
            assert distribution[word] == pytest.approx(np.exp(log_probs[at]), rel=1e-12)
            assert distribution[BEGIN] == 0
            # A word that was never seen is possible too.
            assert np.delete(distribution, BEGIN).min() > 0
            at += 1


@pytest.fixture(scope="module")
def corpora() -> tuple[Corpus, Corpus]:
    whole = make_corpus(*long_text(6000, 60))
    cut = whole.n_sentences * 2 // 3
    return whole.sentences(0, cut), whole.sentences(cut, whole.n_sentences)


@pytest.fixture(scope="module")
def found(corpora: tuple[Corpus, Corpus]) -> Clustering:
    return clustering_of(corpora[0], states=12, categories=10)


@settings(max_examples=60)
@given(
    texts(),
    texts(),
    st.sampled_from(CONTEXTS),
    st.integers(1, 9),
    st.integers(1, 9),
    st.sampled_from([1, 2, 6, 1000]),
    st.booleans(),
    st.booleans(),
    st.sampled_from([0, 0.5, 0.9]),
    st.booleans(),
)
def test_it_is_that_of_the_twin(
    text: Text,
    other: Text,
    context: str,
    states: int,
    categories: int,
    min_count: int,
    tree: bool,
    learn: bool,
    free_states: float,
    strict: bool,
) -> None:
    n_words = max(text[1], other[1])
    corpus, asked = make_corpus(text[0], n_words), make_corpus(other[0], n_words)
    found = clustering_of(
        corpus,
        context,
        states=states,
        categories=categories,
        min_count=min_count,
        tree=tree,
        free_states=free_states,
    )
    knows = bool((asked.in_vocabulary(found.tree.vocabulary).ids > END).any())
    model = ClusteredModel.train(found, asked if learn and knows else None, strict=strict)
    model.check()
    assert not (strict and model.level_weights[:-1].any())
    twin = twin_of(model, found, corpus)
    for one in (asked, corpus):
        assert_like_the_twin(model, twin, one)
    without = ClusteredModel.train(found, strict=strict)
    assert model.score(asked).log_probs.sum() >= without.score(asked).log_probs.sum() - 1e-9


def test_of_a_longer_text(corpora: tuple[Corpus, Corpus], found: Clustering) -> None:
    train, heldout = corpora
    plain, learned = ClusteredModel.train(found), ClusteredModel.train(found, heldout)
    for model in (plain, learned):
        assert_like_the_twin(model, twin_of(model, found, train), heldout)
        for history in histories(train, 3):
            for sentence_start in (True, False):
                distribution = model.distribution(history, sentence_start=sentence_start)
                assert abs(distribution.sum() - 1) < 1e-9
    assert learned.score(heldout).log_probs.sum() > plain.score(heldout).log_probs.sum()
    assert (learned.level_weights != plain.level_weights).any()
    with use_resources(threads=1):
        one = ClusteredModel.train(found, heldout)
        log_probs = one.score(heldout).log_probs
    with use_resources(threads=3):
        assert one.level_weights.tobytes() == ClusteredModel.train(found, heldout).level_weights.tobytes()
        assert one.score(heldout).log_probs.tobytes() == log_probs.tobytes()


def test_states_tell_more_than_words_alone(corpora: tuple[Corpus, Corpus], found: Clustering) -> None:
    train, heldout = corpora
    alone = NgramModel.train(train, 1).score(heldout).log_probs.sum()
    assert ClusteredModel.train(found, heldout).score(heldout).log_probs.sum() > alone


def test_unseen_contexts_inherit_the_state_of_their_deepest_known_ancestor(found: Clustering) -> None:
    model = ClusteredModel.train(found)
    first, second = model.tree.levels
    words = found.tree.vocabulary.words
    unseen = 0
    for node in range(3, len(first.values)):
        children = second.values[first.first_child[node] : first.first_child[node + 1]].tolist()
        name = words[first.values[node]]
        for before in range(3, len(words)):
            features = features_after(model, f"{words[before]} {name}")
            if before not in children:
                inherited = float(second.inherited[first.states[node]])
                assert (features["state"], features["size-2"]) == (inherited, 0.0)
                unseen += 1
            else:
                at = int(first.first_child[node]) + children.index(before)
                found_there = features["state"], features["size-2"]
                assert found_there == (float(second.states[at]), float(second.count_buckets[at]))
    assert unseen > 50


def test_levels_know_how_often_their_nodes_occur(found: Clustering) -> None:
    model = ClusteredModel.train(found)
    for level, whole in zip(model.tree.levels, found.tree.levels, strict=True):
        frequent = whole.counts[whole.counts >= found.settings.min_count]
        assert sorted(level.counts.tolist()) == sorted(frequent.tolist())


def test_count_buckets_are_logarithms_of_counts() -> None:
    counts = [1, 2, 3, 4, 7, 8, 2**13, 2**14 - 1, 2**14, 2**14 + 1, 2**31, 2**32 - 1]
    none = np.empty(0, np.uint32)
    buckets = StateLevel(none, none, none, np.array(counts, np.uint32), none).count_buckets
    assert buckets.dtype == np.uint8
    assert buckets.tolist() == [min(count.bit_length(), N_COUNT_BUCKETS - 1) for count in counts]


def test_states_are_buckets_of_a_mixture(corpora: tuple[Corpus, Corpus], found: Clustering) -> None:
    train, heldout = corpora
    parts: list[Model] = [NgramModel.train(train, 3), ClusteredModel.train(found)]
    mixture = Mixture.fit(parts, heldout, buckets="state")
    assert (mixture.gate.kind, mixture.gate.buckets[1].part) == ("state", 1)
    assert mixture.gate.buckets[1].number > 5
    for history in histories(train, 3):
        assert abs(mixture.distribution(history).sum() - 1) < 1e-6
    together = Mixture.fit(parts, heldout, buckets="all")
    names = [buckets.names for buckets in together.gate.buckets]
    assert names == [(), ("length", "backoff"), ("state",), ("size-1",), ("size-2",)]
    for history in histories(train, 3):
        assert abs(together.distribution(history).sum() - 1) < 1e-6
    scores = [part.score(heldout, features=part.feature_names) for part in parts]
    weights = together.gate.weights(dict(enumerate(one.features for one in scores)), heldout.n_events)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    mixed = sum(weights[:, i] * np.exp(one.log_probs) for i, one in enumerate(scores))
    found_parts = together.score(heldout)
    np.testing.assert_allclose(np.exp(found_parts.log_probs), mixed, rtol=1e-12)
    np.testing.assert_allclose([part.weight for part in found_parts.parts], weights.mean(axis=0))
    np.testing.assert_allclose(
        [part.perplexity for part in found_parts.parts], [one.perplexity for one in scores]
    )


def test_words_that_the_text_lacks() -> None:
    vocabulary = Vocabulary.from_words(["a", "b", "c", "never", "ever"])
    # Every word that occurs does so twice, <unk> too, and some categories are left empty.
    for ids in ([3, 4, 2, 4, 3, 2], [0, 3, 4, 5, 6, 7, 2] * 2, [3, 2]):
        starts = np.flatnonzero(np.array([2, *ids]) == 2)
        corpus = Corpus(np.array(ids, np.uint32), starts.astype(np.int64), vocabulary)
        for categories in (1, 2, 9):
            model = ClusteredModel.train(
                cluster(corpus, "w-1", states=2, categories=categories, min_count=1, anneal=3)
            )
            model.check()
            distribution = model.distribution("a")
            assert abs(distribution.sum() - 1) < 1e-9
            assert distribution[vocabulary.id("never")] > 0


def test_parameters(found: Clustering) -> None:
    model = ClusteredModel.train(found)
    assert (model.n_states, model.n_categories) == (12, 10)
    # A table for each level in use; all words but <s> have a probability.
    assert model.parameters == 2 * 12 * 10 + len(model.vocabulary) - 1
    assert ClusteredModel.train(found, strict=True).parameters == 12 * 10 + len(model.vocabulary) - 1
    assert repr(model) == "ClusteredModel(w-2,w-1, 12 states, 10 categories)"


# ---- files


@pytest.fixture
def file(found: Clustering, corpora: tuple[Corpus, Corpus], tmp_path: Path) -> Path:
    ClusteredModel.train(found, corpora[1]).save(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("context", CONTEXTS)
def test_of_every_context(context: str, corpora: tuple[Corpus, Corpus], tmp_path: Path) -> None:
    # A level may have no known nodes at all.
    for min_count in (1, 30, 10**6):
        model = ClusteredModel.train(clustering_of(corpora[0], context, min_count=min_count))
        model.save(tmp_path / "model")
        loaded = open_model(tmp_path / "model", ClusteredModel)
        assert loaded.score(corpora[1]).log_probs.tobytes() == model.score(corpora[1]).log_probs.tobytes()
        assert abs(loaded.distribution("w5").sum() - 1) < 1e-9


def rewritten(path: Path, change: Callable[[dict[str, NDArray[Any]]], object]) -> None:
    """Write a file again with other arrays and right checksums."""
    file = HostileFile(path)
    change(file.arrays)
    file.write(arrays=file.arrays)


def test_a_node_that_never_occurs_is_refused(file: Path) -> None:
    def change(arrays: dict[str, NDArray[Any]]) -> None:
        arrays["level1/node_counts"][1] = 0

    rewritten(file, change)
    with pytest.raises(BadDataError, match="do not fit together"):
        open_model(file)


@cache
def small_model() -> ClusteredModel:
    return ClusteredModel.train(clustering_of(make_corpus(*long_text(400, 20)), min_count=2))


@settings(max_examples=80)  # each writes a file
@given(data=st.data())
def test_damage_that_is_not_looked_for_never_crashes(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    corpus = make_corpus(*long_text(400, 20))
    place = tmp_path_factory.mktemp("damaged") / "model"
    small_model().save(place)
    arrays = {name: array for name, array in HostileFile(place).arrays.items() if name != "vocabulary"}
    name = data.draw(st.sampled_from(sorted(arrays)))
    array: NDArray[Any] = arrays[name].copy().reshape(-1)
    hostile = data.draw(st.sampled_from(["value", "shorter", "longer", "type"]))
    if hostile == "value" and len(array):
        raw = array.view(np.uint8)
        raw[data.draw(st.integers(0, len(raw) - 1))] ^= data.draw(st.integers(1, 255))
        array = array.reshape(arrays[name].shape)
    elif hostile == "shorter":
        array = array[: data.draw(st.integers(0, len(array)))]
    elif hostile == "longer":
        array = np.concatenate((array, array, array[:1]))
    else:
        array = array.astype(data.draw(st.sampled_from([np.int64, np.float32, np.uint8])))
    rewritten(place, lambda arrays: arrays.update({name: array}))
    model = None
    with suppress(BadDataError):
        model = open_model(place, ClusteredModel, verify=False)
    if model is None:
        with pytest.raises(BadDataError, match=f"{re.escape(str(place))}: invalid clustered model"):
            open_model(place, verify=False)
        return
    # What cannot be told from the truth still gives probabilities.
    assert len(model.score(corpus).log_probs) == corpus.n_events
    assert abs(model.distribution("w5 w6").sum() - 1) < 1e-6


def test_what_train_refuses() -> None:
    with pytest.raises(UsageError, match="a list is no clustering; give the result of cluster"):
        ClusteredModel.train(["a b"])  # type: ignore[arg-type]
    found = cluster(["a b", "b a"], "w-1", states=2, categories=2)
    with pytest.raises(BadDataError, match="no word of the model's vocabulary"):
        ClusteredModel.train(found, ["zzz qqq"])
    assert repr(ClusteredModel.train(found).tree).startswith("StateTree(w-1, ")


def test_trust_that_is_whole_stays_a_weight(corpora: tuple[Corpus, Corpus], found: Clustering) -> None:
    """Very frequent contexts are trusted wholly; rounding must not take it further."""
    model = ClusteredModel.train(found)
    for text, second in itertools.product(corpora, np.linspace(0, 1, 20)):
        trust = np.stack([np.ones(N_COUNT_BUCKETS), np.full(N_COUNT_BUCKETS, second)])
        learned = replace(model, level_weights=trust)._with_learned_weights(text)
        assert learned.level_weights.max() == 1
        learned.check()


def test_sentences_set_aside_have_the_states_of_the_model(corpora: tuple[Corpus, Corpus]) -> None:
    """Numbers of clusters are chosen by the states that a model would have, of unseen contexts too."""
    train, heldout = corpora
    found = clustering_of(train, min_count=3, free_states=0.5)
    counts = np.zeros((found.n_states, int(found.categories.max()) + 1))
    rows = np.repeat(found.states[-1], np.diff(found.tree.events.offsets))
    np.add.at(counts, (rows, found.categories[found.tree.events.columns]), found.tree.events.counts)
    states, category = state_tree(found).find(heldout)[-1][0], found.categories[heldout.ids]
    totals = np.maximum(counts.sum(axis=1), 1)
    left = number_of_clusters._DISCOUNT * np.count_nonzero(counts, axis=1) / totals
    frequencies = counts.sum(axis=0) + 0.5
    probs = np.maximum(counts[states, category] - number_of_clusters._DISCOUNT, 0) / totals[states]
    probs += left[states] * frequencies[category] / frequencies.sum()
    words = found.tree.word_counts
    of_category = counts.sum(axis=0) + 0.5 * np.bincount(found.categories, minlength=counts.shape[1])
    probs *= (words[heldout.ids] + 0.5) / of_category[category]
    nodes, levels = found.tree.find(heldout)
    assert (levels < 2).any()
    assert number_of_clusters._perplexity(found, heldout, nodes, levels) == pytest.approx(
        np.exp(-np.log(probs).mean())
    )
