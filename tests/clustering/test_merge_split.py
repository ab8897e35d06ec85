"""Merging and splitting classes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from naive.hierarchy import merge_classes
from stategram.clustering import WordClasses
from stategram.clustering.exchange import frequent_first
from stategram.clustering.levels import merge_and_split
from stategram.counts import cluster_bigrams, count_bigrams
from stategram.text import corpus_from_sentences

sentences = st.lists(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=6), min_size=1, max_size=12)


@given(sentences, st.integers(1, 8), st.integers(0, 3))
def test_the_cheapest_pair_is_merged_and_a_class_split(text: list[list[str]], n: int, seed: int) -> None:
    bigrams = count_bigrams(corpus_from_sentences(text))
    words = int(np.count_nonzero(bigrams.word_counts)) - 1
    clusters = frequent_first(bigrams.word_counts, min(n, words), singletons=[bigrams.boundary])
    found = merge_and_split(bigrams, clusters, seed)
    if clusters.n < 2:
        assert found is None
        return
    assert found is not None
    assert (found.n, found.order.tolist()) == (clusters.n, clusters.order.tolist())
    counts = cluster_bigrams(bigrams, clusters.labels, clusters.n_all)
    ((kept, freed), *_), _ = merge_classes(counts.tolist(), clusters.n)
    for word, (before, after) in enumerate(zip(clusters.labels, found.labels, strict=True)):
        if word == bigrams.boundary or before >= clusters.n:
            assert after == before
        else:
            # It stays, goes with its class, or is in the half that was split off.
            assert after in {before, kept if before == freed else before, freed}


@given(sentences, st.lists(st.integers(0, 3), min_size=11, max_size=11))
def test_cluster_bigrams_are_those_of_the_text(text: list[list[str]], labels: list[int]) -> None:
    corpus = corpus_from_sentences(text)
    expected = np.zeros((4, 4), np.int64)
    for first, second in zip([2, *corpus.ids.tolist()], corpus.ids.tolist(), strict=False):
        expected[labels[first], labels[second]] += 1
    found = cluster_bigrams(count_bigrams(corpus), labels[: len(corpus.vocabulary)], 4)
    assert found.tolist() == expected.tolist()


def _zipf_text() -> list[str]:
    rng = np.random.default_rng(0)
    return [" ".join(f"w{w}" for w in rng.zipf(1.5, 8) if w < 300) for _ in range(800)]


def test_rounds_never_lose() -> None:
    words = WordClasses(20, effort="best").fit(_zipf_text())
    reached = [s.criterion for s in words.history_ if s.step != "merge-split"][-1]
    rounds = [s for s in words.history_ if s.step == "merge-split"]
    assert rounds
    assert words.criterion_ >= reached
    assert words.criterion_ == max(reached, *(s.criterion for s in rounds[2::3]))


def test_a_stop_in_a_round_drops_it() -> None:
    messages: list[str] = []
    words = WordClasses(20, effort="best").fit(
        _zipf_text(),
        progress=lambda _, message: messages.append(message),
        stop=lambda: messages[-1].startswith("merge-split"),
    )
    assert words.history_[-1].step == "exchange"
    assert words.criterion_ == words.history_[-1].criterion
