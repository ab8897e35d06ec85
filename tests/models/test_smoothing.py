"""The models that are estimated are those of the plain twins, to the last n-gram."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive.ngram_models as naive
from naive.entropy_pruning import entropy_prune
from stategram import _core
from stategram.counts import count_ngrams
from stategram.models.ngrams.estimate import SMOOTHINGS, Estimates, estimate
from stategram.models.ngrams.packed import NgramTrie, assemble
from stategram.models.ngrams.worth import prune
from stategram.resources import use_resources
from texts import Text, long_text, make_corpus, texts

TWINS: dict[str, Callable[..., naive.NaiveNgramModel]] = {
    "kneser-ney": naive.kneser_ney,
    "katz": naive.katz,
    "absolute": naive.absolute,
    "witten-bell": naive.witten_bell,
}


def ngrams_of(packed: NgramTrie) -> tuple[dict[naive.Ngram, float], dict[naive.Ngram, float]]:
    """Probabilities and back-off weights, by n-grams of ids."""
    trie = packed.plain()
    ids = np.argsort(trie.numbers)
    names: list[naive.Ngram] = [()]
    probs, backoffs = {}, {}
    parents = np.searchsorted(trie.first_child, np.arange(1, len(trie.words)), "right") - 1
    for node, parent in enumerate(parents.tolist(), 1):
        names.append((*names[parent], int(ids[trie.words[node]])))
    for node, name in enumerate(names[1:], 1):
        probs[name] = 10.0 ** float(trie.log_probs[node])
        if node < len(trie.backoffs) and trie.first_child[node] < trie.first_child[node + 1]:
            backoffs[name] = 10.0 ** float(trie.backoffs[node])
    return probs, backoffs


def make(
    text: Text, order: int, smoothing: str, min_counts: list[int], threads: int = 1, **room: object
) -> tuple[Estimates, NgramTrie]:
    with use_resources(threads=threads, **room):  # type: ignore[arg-type]
        counts = count_ngrams(make_corpus(*text), order)
        estimates = estimate(counts, smoothing, min_counts)
        return estimates, assemble(estimates)


def make_pruned(
    text: Text, order: int, smoothing: str, min_counts: list[int], threshold: float, threads: int = 1
) -> NgramTrie:
    with use_resources(threads=threads):
        counts = count_ngrams(make_corpus(*text), order)
        estimates = estimate(counts, smoothing, min_counts)
        prune(estimates, threshold)
        return assemble(estimates)


def assert_same(trie: NgramTrie, expected: naive.NaiveNgramModel, *, of_rounded: bool = False) -> None:
    # Half a unit in the last place of a float32 near 8, times the slope of 10**x.
    tolerance = 2.0**-22 * math.log(10)
    # A weight made of rounded probabilities: their error, divided by what is left of 1, here at least 1/1000.
    weights = 1000 * tolerance if of_rounded else tolerance
    probs, backoffs = ngrams_of(trie)
    assert probs.pop((naive.BEGIN,)) == 0.0
    assert probs == pytest.approx(expected.probs, rel=tolerance, abs=0.0)
    assert backoffs == pytest.approx(expected.backoffs, rel=weights, abs=0.0)


@given(texts(), st.integers(1, 5), st.sampled_from(SMOOTHINGS), st.data())
def test_every_smoothing_is_its_twin(text: Text, order: int, smoothing: str, data: st.DataObject) -> None:
    above = data.draw(st.lists(st.integers(1, 3), min_size=order - 1, max_size=order - 1))
    min_counts = [1, *sorted(above)]
    expected = TWINS[smoothing](text[0], text[1], order, min_counts)
    threads = data.draw(st.integers(1, 3))
    _, trie = make(text, order, smoothing, min_counts, threads)
    assert_same(trie, expected)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("min_counts", [[1, 1, 1, 1], [1, 1, 2, 3]])
def test_a_text_with_all_discounts_is_its_twin(smoothing: str, min_counts: list[int]) -> None:
    text = long_text()
    estimates, trie = make(text, 4, smoothing, min_counts)
    assert estimates.notes == [] or smoothing == "katz" or "1 word:" in estimates.notes[0]
    assert_same(trie, TWINS[smoothing](text[0], text[1], 4, min_counts))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
@pytest.mark.parametrize("min_counts", [[1, 1, 1, 1], [1, 1, 2, 3]])
@pytest.mark.parametrize("threshold", [1e-3, 1e-4, 1e-5])
def test_pruning_is_its_twin(smoothing: str, min_counts: list[int], threshold: float) -> None:
    text = long_text(1500)
    whole = TWINS[smoothing](text[0], text[1], 4, min_counts)
    expected = entropy_prune(whole, threshold)
    assert len(expected.probs) < len(whole.probs)
    for threads in (1, 3):
        trie = make_pruned(text, 4, smoothing, min_counts, threshold, threads)
        assert_same(trie, expected, of_rounded=True)


def test_a_back_off_weight_of_all_is_exactly_one() -> None:
    # 49 * (1 / 49) is 0.9999999999999999: a cut-off takes all that follows, so that nothing is left of it.
    children = np.array([0, 49], np.uint32)
    probs, backoffs = np.empty(49), np.empty(1)
    _core.interpolate_ngrams(
        children,
        np.ones(49, np.uint32),
        np.zeros(49, np.uint32),
        np.array([1 / 50]),
        np.zeros(49, np.uint8),
        np.array([0.5, 1.0, 1.5]),
        False,
        0,
        1,
        probs,
        backoffs,
        1,
    )
    assert backoffs.tolist() == [1.0]
