"""Word tree models word by word: the same as `Model.score`, and nothing is read out of bounds."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks import CLOSE
from model_kinds import model_of
from stategram import _core, kenlm
from stategram.clustering import cluster
from stategram.errors import BadDataError, StategramError
from stategram.models import Chain, Gate, Mixture, Model, ValueSources, WordTreeModel, open_sentence
from stategram.models.state_tree import state_tree
from stategram.models.word_tree.stepping import make_stepper
from stategram.models.word_tree.vector_states import VectorShape
from stategram.text import BEGIN, END, Corpus
from word_tree_models import sources_of, texts, trees_of

VALUES = ("w-1", "w-2", "w-3", "w-5", "g1-1", "g2-2", "g1-4", "s1-1", "s1-3", "s2-1", "s2-2")
VECTORS = (VectorShape.parse("linear 32"), VectorShape.parse("recurrent 32"))
WITH_VECTORS, WITHOUT = (2, 3), (0, 1)


def sources(corpus: Corpus) -> ValueSources:
    """Two sets of classes, and two clusterings of contexts."""
    of = sources_of(corpus, rare=0.002)
    second = cluster(corpus, "w-2,g-1,w-1", states=5, categories=6, classes=of.labels["g1"])
    return replace(of, states=(*of.states, state_tree(second)))


@cache
def model(seed: int) -> WordTreeModel:
    """A model of one to three trees and random chains; some have vector states."""
    train, heldout, _ = texts()
    random = np.random.default_rng(seed)
    chains = [
        Chain.parse(" ".join(random.choice(VALUES, size=random.integers(1, 5), replace=False)))
        for _ in range(4)
    ]
    return WordTreeModel.train(
        train,
        heldout,
        trees_of(train, [5, 3, 4][: seed % 3 + 1]),
        sources(train),
        [*chains, Chain.parse("w-1 w-2"), Chain.parse("counts: s2-1 g1-1"), Chain.parse("counts: r-1 g2-1")],
        vectors=VECTORS if seed in WITH_VECTORS else (),
        n_events=2000,
        seed=seed,
    )


def decoder(of: Model) -> _core.DecoderModel:
    assert of.stepper is not None
    words = of.vocabulary
    return _core.DecoderModel(words.letters, words.offsets, of.stepper, None, BadDataError)


def random_words(of: Model, n: int, seed: int) -> list[str]:
    """Words of the test text, with random and special words among them."""
    _, _, test = texts()
    random, words = np.random.default_rng(seed), of.vocabulary.words
    ids = test.ids[seed * 37 :][:n].copy()
    others, special = random.random((2, n)) < [[0.15], [0.1]]
    ids[others] = random.integers(0, len(words), others.sum())
    ids[special] = random.integers(0, 3, special.sum())
    return [words[id] for id in ids.tolist()]


@pytest.mark.parametrize("seed", [*WITHOUT, *WITH_VECTORS])
def test_sentences_score_as_by_the_model(seed: int) -> None:
    of, (_, _, test) = model(seed), texts()
    one, words = decoder(of), test.vocabulary.words
    for number in range(60):
        sentence = [words[id] for id in test.sentence(number)[:-1].tolist()] + ["zebra"] * (number % 3)
        expected = of.score(open_sentence(of, [*sentence, words[END]])).log_probs / math.log(10)
        found = list(one.full_scores(" ".join(sentence)))
        assert [score for score, _, _ in found] == pytest.approx(expected.tolist(), rel=CLOSE)
        assert {length for _, length, _ in found} == {0}


@pytest.mark.parametrize("seed", [*WITHOUT, *WITH_VECTORS])
@pytest.mark.parametrize("sentence_start", [True, False])
def test_walks_score_as_by_the_model(seed: int, sentence_start: bool) -> None:
    of = model(seed)
    one, end, begin = decoder(of), of.vocabulary.words[END], of.vocabulary.words[BEGIN]
    for walk in range(12):
        state = kenlm.State()
        (one.BeginSentenceWrite if sentence_start else one.NullContextWrite)(state)
        at = of.start(sentence_start=sentence_start)
        for word in random_words(of, 40, walk):
            # Several words after one state, as decoders ask for them.
            for other in random_words(of, 2, walk + 1):
                expected = max(of.advance(at, other)[0] / math.log(10), -99)
                assert one.BaseScore(state, other, kenlm.State()) == pytest.approx(expected, rel=CLOSE)
            after = kenlm.State()
            log_prob, at, _ = of.advance(at, word)
            score = one.BaseScore(state, word, after)
            expected = -99 if word == begin else log_prob / math.log(10)
            assert score == pytest.approx(expected, rel=CLOSE)
            state = after
            if word == end:
                at = of.start(sentence_start=False)


def test_equal_words_lead_to_equal_states() -> None:
    of = model(WITHOUT[0])
    one, words = decoder(of), of.vocabulary.words[3:12]
    states = []
    for first in words[:2]:
        state = kenlm.State()
        one.BeginSentenceWrite(state)
        for word in (first, *words):
            state, before = kenlm.State(), state
            one.BaseScore(before, word, state)
        states.append(state)
    assert states[0] == states[1]
    assert hash(states[0]) == hash(states[1])
    other = kenlm.State()
    one.BaseScore(states[0], words[0], other)
    assert other != states[0]


def test_only_the_sentence_is_known() -> None:
    of = model(WITHOUT[0])
    assert of.stepper is not None
    assert of.with_history("document").stepper is None


@pytest.mark.parametrize("seed", [WITHOUT[0], WITH_VECTORS[0]])
def test_mixtures_go_from_word_to_word(seed: int) -> None:
    of = Mixture((model_of("ngram"), model(seed)), Gate.constant([0.4, 0.6]))
    one, words = decoder(of), model(seed).vocabulary.words
    for number in range(20):
        sentence = [words[3 + number % 7], "zebra", *words[5 : 5 + number % 9], words[3]]
        expected = of.score(open_sentence(of, [*sentence, words[END]])).log_probs / math.log(10)
        found = [score for score, _, _ in one.full_scores(" ".join(sentence))]
        assert found == pytest.approx(expected.tolist(), rel=CLOSE)


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_states_of_any_bytes_are_refused_or_harmless(data: st.DataObject) -> None:
    of = model(data.draw(st.sampled_from([*WITHOUT, *WITH_VECTORS])))
    one, words = decoder(of), of.vocabulary.words
    state = kenlm.State()
    one.BeginSentenceWrite(state)
    for word in words[3 : data.draw(st.integers(3, 9))]:
        state, before = kenlm.State(), state
        one.BaseScore(before, word, state)
    values = np.frombuffer(state.__getstate__()[0], np.uint32).copy()
    # As numbers: huge, infinite, and none at all.
    numbers = st.sampled_from([2**16, 0x4E000000, 0x7F000000, 0x7F800000, 2**31, 2**32 - 2, 2**32 - 1])
    any_value = st.one_of(st.integers(0, len(words)), numbers)
    for _ in range(data.draw(st.integers(1, 5))):
        near = st.integers(0, min(len(values), 20) - 1)
        values[data.draw(st.one_of(near, st.integers(0, len(values) - 1)))] = data.draw(any_value)
    hostile = values.tobytes()[: data.draw(st.sampled_from([None, None, None, -1, 8]))]
    state = kenlm.State.__new__(kenlm.State)
    state.__setstate__((hostile, None))
    try:
        for word in (words[4], "zebra", words[3], words[4]):
            after = kenlm.State()
            assert one.BaseScore(state, word, after) < CLOSE
            state = after
    except ValueError as error:
        assert "none of this model" in str(error)  # noqa: PT017


@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_damaged_lists_are_refused_or_harmless(data: st.DataObject) -> None:
    of = model(data.draw(st.sampled_from([WITHOUT[1], WITH_VECTORS[0]])))
    chain = data.draw(st.integers(0, len(of.evidence.counts) - 1))
    counts = list(of.evidence.counts)
    level = counts[chain][0]
    random = np.random.default_rng(data.draw(st.integers(0, 99)))

    def damaged(array: Any) -> Any:
        array = array.copy()
        array[random.random(len(array)) < 0.1] = random.integers(0, 255)
        return array

    if data.draw(st.booleans()):
        level = replace(level, entries=damaged(level.entries))
    else:
        lists = tuple((begins, damaged(bytes_)) for begins, bytes_ in level.long_lists)
        level = replace(level, long_lists=lists)
    counts[chain] = (level, *counts[chain][1:])
    broken = replace(of, evidence=replace(of.evidence, counts=tuple(counts)))
    try:
        one = decoder(broken)
    except StategramError:
        return
    state = kenlm.State()
    one.BeginSentenceWrite(state)
    for word in random_words(of, 15, 3):
        after = kenlm.State()
        try:
            assert one.BaseScore(state, word, after) < CLOSE
        except BadDataError as error:
            assert "the model is damaged" in str(error)  # noqa: PT017
            break
        state = after


def test_numbers_that_are_none_are_damage() -> None:
    of = model(WITHOUT[0])
    weights = [np.full_like(one, np.nan) for one in of.weights["sentence"]]
    one = decoder(replace(of, weights={**of.weights, "sentence": weights}))
    state = kenlm.State()
    one.BeginSentenceWrite(state)
    with pytest.raises(BadDataError, match="not a number"):
        one.BaseScore(state, "w", kenlm.State())


def test_what_does_not_fit_is_refused() -> None:
    of = model(WITHOUT[0])
    weights, tree_weights = list(of.weights["sentence"]), of.tree_weights["sentence"]
    make_stepper(of.evidence, weights, tree_weights)
    with pytest.raises(BadDataError, match="too few or too many"):
        make_stepper(of.evidence, [one[:-1].copy() for one in weights], tree_weights)
    with pytest.raises(BadDataError, match="each tree needs weights"):
        make_stepper(of.evidence, weights, np.append(tree_weights, 0.0))
    kernel, sources = of.evidence.kernel, of.evidence.sources
    n_streams, labels = len(of.evidence.values), [*sources.labels.values()]
    none, fine = np.empty(0, np.uint32), [(-1, 1)] * n_streams
    cases: list[tuple[Any, str]] = [
        ((labels, [], fine[1:], none), "each stream needs its source"),
        ((labels, [], [(len(labels), 1), *fine[1:]], none), "no source"),
        ((labels, [], [(0, 0), *fine[1:]], none), "no source"),
        ((labels, [], [(0, 2**20), *fine[1:]], none), "no source"),
        (([labels[0][:-1].copy()], [], fine, none), "a label of each set"),
        ((labels, [], fine, labels[0][:-1].copy()), "each word needs its class"),
    ]
    for (known, states, streams, classes), message in cases:
        with pytest.raises(ValueError, match=message):
            _core.TreeStepper(kernel, known, states, streams, classes, weights, tree_weights)
    level = replace(sources.states[0].levels[0], inherited=none)
    broken = replace(sources.states[0], levels=(level, *sources.states[0].levels[1:]))
    with pytest.raises(ValueError, match="have no state"):
        broken.for_kernel()
    maps = tuple(one[:-1].copy() for one in sources.states[0].maps)
    other = replace(sources.states[0], maps=maps).for_kernel()
    with pytest.raises(ValueError, match="not those of contexts of the words"):
        _core.TreeStepper(kernel, labels, [other], fine, none, weights, tree_weights)
