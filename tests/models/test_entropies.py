"""The entropy before each word, for every kind of model, is that of the distribution there."""

from __future__ import annotations

import pytest

from model_kinds import VECTORS, corpora, model_of
from stategram import UsageError, use_resources
from word_tree_models import train_word_tree


@pytest.mark.parametrize("kind", ["mixture", "cached", *VECTORS])
def test_long_texts_in_blocks(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, corpus = model_of(kind), corpora()[1].sentences(0, 20)
    whole = model.entropies(corpus)
    monkeypatch.setattr("stategram.models.distributions._MAX_CELLS", 3 * len(model.vocabulary))
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
