"""Every kind of model: text in pieces, word by word, and through the interface of KenLM."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_kinds import ALL_KINDS, CACHES, DOCUMENT, corpora, corpus_of, model_of, texts_of
from stategram import (
    Mixture,
    Model,
    UsageError,
    corpus_from_sentences,
    kenlm,
    open_model,
)
from stategram.models import Scores, State
from stategram.text import BEGIN, END

# Sums of the same numbers in another order.
CLOSE = 1e-12


def features_of(model: Model) -> st.SearchStrategy[str]:
    return st.sampled_from(model.feature_names) if model.feature_names else st.nothing()


def assert_equal(found: Scores, expected: Scores, events: slice = slice(None)) -> None:
    np.testing.assert_allclose(found.log_probs, expected.log_probs[events], rtol=CLOSE)
    assert set(found.features) == set(expected.features)
    for name, values in found.features.items():
        assert values.tolist() == expected.features[name][events].tolist(), name
    assert (found.orders is None) == (expected.orders is None)
    if found.orders is not None and expected.orders is not None:
        assert found.orders.tolist() == expected.orders[events].tolist()


@pytest.mark.parametrize("kind", [*ALL_KINDS, DOCUMENT])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_a_text_in_pieces_is_the_whole_text(kind: str, data: st.DataObject) -> None:
    model = model_of(kind)
    sentences = [[*ids, END] for ids in data.draw(texts_of(model.vocabulary), label="sentences")]
    ids = [id for sentence in sentences for id in sentence]
    starts = np.cumsum([0, *map(len, sentences)]).tolist()
    names = data.draw(st.sets(features_of(model)), label="features")
    whole = model.score(corpus_of(ids, starts, model.vocabulary), features=names)
    assert (whole.state == model.start()) == (kind not in (*CACHES, DOCUMENT))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(ids))), label="cuts") | {len(ids)})
    state, begin = model.start(), 0
    for end in cuts:
        inner = [start - begin for start in starts if begin < start < end]
        of_piece = [0, *inner, end - begin] if end > begin else [0]
        piece = model.score(
            corpus_of(ids[begin:end], of_piece, model.vocabulary), features=names, state=state
        )
        assert_equal(piece, whole, slice(begin, end))
        state, begin = piece.state, end
    assert state == whole.state


@pytest.mark.parametrize("kind", [*ALL_KINDS, DOCUMENT])
@settings(deadline=None, max_examples=10)
@given(data=st.data())
def test_word_by_word_is_the_text(kind: str, data: st.DataObject) -> None:
    model = model_of(kind)
    names = [model.vocabulary.word(id) for id in range(len(model.vocabulary)) if id not in (BEGIN, END)]
    sentence = data.draw(st.lists(st.sampled_from([*names, "zebra", "stranger"]), min_size=1, max_size=9))
    sentence_start = data.draw(st.booleans())
    state = model.start(sentence_start=sentence_start)
    scores = model.score([sentence], features=model.feature_names, state=state)
    for event, word in enumerate([*sentence, "</s>"]):
        assert model.state_after(sentence[:event], sentence_start=sentence_start) == state
        distribution = model.distribution(state)
        step = model.advance(state, word)
        assert step.log_prob == pytest.approx(scores.log_probs[event], rel=CLOSE)
        assert step.order == (None if scores.orders is None else scores.orders[event])
        assert distribution[model.vocabulary.id(word)] == pytest.approx(np.exp(step.log_prob), rel=1e-9)
        assert model.distribution(sentence[:event], sentence_start=sentence_start).tolist() == (
            distribution.tolist()
        )
        assert model.state_features(state, model.feature_names) == {
            name: values[event] for name, values in scores.features.items()
        }
        state = step.state
    assert state == scores.state
    assert hash(state) == hash(scores.state)
    assert (state == model.start()) == (kind not in (*CACHES, DOCUMENT))
    assert copy.deepcopy(state) == pickle.loads(pickle.dumps(state)) == state


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_kind_has_the_same_surface(kind: str, tmp_path: Path) -> None:
    model, (_, heldout) = model_of(kind), corpora()
    text = "w3 w4 zebra"
    scores = model.score(text)
    assert scores.perplexity == model.perplexity(text) == model.perplexity([text.split()])
    assert scores.log_probs.tolist() == model.log_probs(corpus_from_sentences([text])).tolist()
    assert [event.word for event in next(scores.sentences())] == ["w3", "w4", "<unk>", "</s>"]
    assert scores.sentence_log_probs.tolist() == pytest.approx([scores.log_prob])
    state = model.state_after("w3 w4")
    assert model.predict(state, 3) == model.predict("w3 w4", 3) == model.predict("<s> w3 w4".split(), 3)
    assert model.distribution(model.start()).tolist() == model.distribution("").tolist()
    assert model.parameters > 0
    assert model.order >= 1
    assert repr(model).startswith(type(model).__name__)
    assert model.title
    assert "\n" not in model.title
    facts = dict(model.describe().facts)
    assert all(isinstance(value, str | int | float) for value in facts.values())
    for table in model.describe().tables:
        assert all(len(row) == len(table.columns) for row in table.rows)
    model.save(tmp_path / "model")
    loaded = open_model(tmp_path / "model")
    assert loaded.kind == model.kind
    assert_equal(loaded.score(heldout), model.score(heldout))
    with pytest.raises(UsageError, match="no feature 'colour'"):
        model.score(text, features=["colour"])
    with pytest.raises(UsageError, match="top is 0"):
        model.predict(state, 0)
    with pytest.raises(UsageError, match="expected a State"):
        model.score(text, state="w3")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ALL_KINDS)
def test_every_kind_works_as_kenlm(kind: str, tmp_path: Path) -> None:
    model = model_of(kind)
    model.save(tmp_path / "model")
    shim = kenlm.Model(str(tmp_path / "model"))
    assert shim.order == model.order
    sentence = "w3 w9 zebra w4"
    scores = model.score(sentence)
    assert shim.score(sentence) == pytest.approx(scores.log10_prob, rel=CLOSE)
    assert shim.perplexity(sentence) == pytest.approx(scores.perplexity, rel=CLOSE)
    full = list(shim.full_scores(sentence))
    assert [one[0] for one in full] == pytest.approx((scores.log_probs / np.log(10)).tolist(), rel=CLOSE)
    assert [one[1] for one in full] == [0 if scores.orders is None else o for o in _orders(scores)]
    assert [one[2] for one in full] == scores.unknown.tolist()
    state = kenlm.State()
    shim.BeginSentenceWrite(state)
    for word, expected in zip([*sentence.split(), "</s>"], full, strict=True):
        after = kenlm.State()
        assert shim.BaseScore(state, word, after) == pytest.approx(expected[0], rel=CLOSE)
        state = after
    null = kenlm.State()
    shim.NullContextWrite(null)
    assert state == null
    first = list(shim.full_scores(sentence, bos=False, eos=False))
    assert len(first) == 4
    assert shim.BaseScore(null, "w3", state) == pytest.approx(first[0][0], rel=CLOSE)


def _orders(scores: Scores) -> list[int]:
    return [0] * len(scores.log_probs) if scores.orders is None else scores.orders.tolist()


def test_nothing_scores_nothing() -> None:
    for kind in ALL_KINDS:
        model = model_of(kind)
        state = model.advance(model.start(), "w3").state
        scores = model.score(corpus_of([], [0], model.vocabulary), features=model.feature_names, state=state)
        assert (len(scores.log_probs), scores.state) == (0, state)
        assert scores.sentence_log_probs.tolist() == []


def test_a_mixture_carries_the_cache_from_sentence_to_sentence() -> None:
    mixture, (_, heldout) = model_of("cached"), corpora()
    cache, ngram = model_of("cache"), model_of("ngram")
    weights = mixture.gate.weights  # type: ignore[attr-defined]
    ngram_scores = ngram.score(heldout, features=["length"])
    of_events = weights({0: ngram_scores.features}, heldout.n_events)
    both = np.column_stack((ngram_scores.log_probs, cache.score(heldout).log_probs))
    expected = np.log((of_events * np.exp(both)).sum(axis=1))
    np.testing.assert_allclose(mixture.log_probs(heldout), expected, rtol=1e-9)
    state, found = mixture.start(), []
    for number in range(heldout.n_sentences):
        scores = mixture.score(heldout.sentences(number, number + 1), state=state)
        state = scores.state
        found += scores.log_probs.tolist()
    assert found == pytest.approx(expected.tolist(), rel=1e-9)


def test_a_mixture_learns_the_weight_of_a_cache_on_text_in_its_order() -> None:
    _, heldout = corpora()
    parts = model_of("ngram"), model_of("cache")
    info = Mixture.fit(parts, heldout, buckets="none").training_info["parts"]
    assert [part["perplexity"] for part in info] == pytest.approx(
        [part.perplexity(heldout) for part in parts]
    )


def test_states_are_immutable() -> None:
    state = model_of("mixture").start()
    with pytest.raises(AttributeError):
        state.value = 3  # type: ignore[misc]
    assert state != State(3)
