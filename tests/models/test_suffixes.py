"""N-grams whose suffixes are all there: against the naive twin, and read by KenLM."""

from __future__ import annotations

from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import suffixes as naive
from naive.trie import Ngram
from ngram_problems import model_of, random_model
from stategram.formats import write_arpa
from stategram.models import NgramModel, close_suffixes
from story import sentences as story


def ngrams_of(model: NgramModel) -> tuple[dict[Ngram, float], dict[Ngram, float]]:
    """Return the log probability of each n-gram, and its back-off weight unless it is 0."""
    trie = model.trie.plain()
    id_of = np.argsort(trie.numbers)
    names: dict[int, Ngram] = {0: ()}
    for node in range(len(trie.backoffs)):
        for child in range(trie.first_child[node], trie.first_child[node + 1]):
            names[child] = (*names[node], int(id_of[trie.words[child]]))
    log_probs = {names[node]: float(p) for node, p in enumerate(trie.log_probs) if node}
    return log_probs, {names[node]: float(b) for node, b in enumerate(trie.backoffs) if b}


@given(st.integers(0, 2**32), st.integers(3, 30), st.integers(1, 5), st.integers(1, 8))
def test_what_is_added_is_what_the_twin_adds(seed: int, n_words: int, order: int, fan_out: int) -> None:
    ngrams = random_model(seed, n_words, order, fan_out)
    expected = naive.closed(ngrams)
    model = close_suffixes(model_of(ngrams))
    log_probs, backoffs = ngrams_of(model)
    # Sums of up to five float32.
    assert log_probs == pytest.approx(dict(expected.log_probs), abs=1e-5)
    assert backoffs == {ngram: b for ngram, b in expected.backoffs.items() if b and len(ngram) < order}
    assert model.training_info["inserted_suffixes"] == len(expected.log_probs) - len(ngrams.log_probs)
    model.check()


def test_kenlm_reads_it_and_gives_the_same_scores(tmp_path: Path) -> None:
    sentences = story(400, seed=1)
    model = NgramModel.train(sentences[:300], order=4, prune=1e-4)
    closed = close_suffixes(model)
    assert closed.training_info["inserted_suffixes"] > 0
    write_arpa(model, tmp_path / "closed.arpa", closed=True)
    found = kenlm.Model(str(tmp_path / "closed.arpa"))
    for sentence in sentences[300:]:
        expected = model.score(sentence).log10_prob
        assert closed.score(sentence).log10_prob == pytest.approx(expected, abs=1e-4)
        assert found.score(sentence) == pytest.approx(expected, abs=1e-3)
