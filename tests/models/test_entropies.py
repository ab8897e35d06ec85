"""The entropy before each word, for every kind of model, is that of the distribution there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_kinds import ALL_KINDS, DOCUMENT, corpora, corpus_of, model_of, texts_of
from naive.entropy import entropy
from stategram import Corpus, Model, UsageError, use_resources
from word_tree_models import train_word_tree

# Sums of a few hundred terms, each rounded a few times.
CLOSE = 1e-11


def kind_of(name: str) -> Model:
    return adaptive_model() if name == "adaptive" else model_of(name)


def adaptive_model() -> Model:
    return model_of(DOCUMENT).with_history("adaptive")


def naive_entropies(model: Model, corpus: Corpus) -> list[float]:
    state, found = model.start(), []
    for id in corpus.ids.tolist():
        found.append(entropy(model.distribution_after(state).tolist()))
        state = model.advance(state, corpus.vocabulary.word(id)).state
    return found


@pytest.mark.parametrize("kind", [*ALL_KINDS, DOCUMENT, "adaptive"])
@settings(deadline=None, max_examples=6)
@given(data=st.data())
def test_entropies_are_those_of_distributions(kind: str, data: st.DataObject) -> None:
    model = kind_of(kind)
    sentences = [[*ids, 2] for ids in data.draw(texts_of(model.vocabulary), label="sentences")]
    starts = np.cumsum([0, *map(len, sentences)]).tolist()
    corpus = corpus_of([id for one in sentences for id in one], starts, model.vocabulary)
    expected = naive_entropies(model, corpus)
    found = model.entropies(corpus)
    assert found.tolist() == pytest.approx(expected, rel=CLOSE, abs=CLOSE)
    # The text goes on from a state in the middle of a sentence.
    cut = data.draw(st.integers(0, len(corpus.ids)), label="cut")
    before = corpus_of(corpus.ids[:cut].tolist(), [*(s for s in starts if s < cut), cut], model.vocabulary)
    rest = corpus_of(corpus.ids[cut:].tolist(), [0, *(s - cut for s in starts if s > cut)], model.vocabulary)
    state = model.score(before).state
    assert model.entropies(rest, state=state).tolist() == pytest.approx(expected[cut:], rel=CLOSE, abs=CLOSE)


@pytest.mark.parametrize("kind", ["mixture", "cached"])
def test_long_texts_in_blocks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, corpus = model_of(kind), corpora()[1].sentences(0, 20)
    whole = model.entropies(corpus)
    monkeypatch.setattr("stategram.models.distributions.MAX_CELLS", 3 * len(model.vocabulary))
    monkeypatch.setattr("stategram.text.corpus.EVENTS_PER_PIECE", 25)
    seen: list[float] = []
    with use_resources(threads=2):
        found = model.entropies(corpus, progress=lambda fraction, _: seen.append(fraction))
    assert found.tolist() == whole.tolist()
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1.0)


def test_other_states_are_refused() -> None:
    with pytest.raises(UsageError, match="state"):
        model_of("word-tree").entropies(
            "w3", state=train_word_tree(*corpora()).with_history("adaptive").start()
        )
