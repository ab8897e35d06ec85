"""A smaller model that is nearly as good: entropy-based pruning (Stolcke 1998).

An n-gram is worth the relative entropy between the model and the model without it, or what a longer n-gram
is worth that begins with it and needs it. That depends on shorter n-grams alone: whichever are dropped, the
others are worth the same. Those worth less than log(1 + threshold) are dropped: without any one of them the
perplexity rises by less than the fraction `threshold`. Probabilities stay, back-off weights are recomputed.

How often a history is met is computed from the bigrams of the model: Stolcke takes its unigrams, which in a
Kneser-Ney model are no frequencies of words (Chelba, Brants, Neveitt and Xu 2010).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import Workspace
from stategram.models.ngrams.estimate import EstimatedLevel, Estimates
from stategram.models.ngrams.plain import PlainTrie
from stategram.resources import Resources
from stategram.text import BEGIN, END

_NONE = np.empty(0, np.uint32)
_ALL = np.empty(0, np.uint8)


def prune(estimates: Estimates, threshold: float) -> None:
    """Unmark the n-grams that are worth less than a threshold, and compute back-off weights again."""
    levels, workspace = estimates.levels, estimates.workspace

    def lower_log_probs(k: int) -> NDArray[np.float32]:
        found = workspace.empty(len(levels[k]), np.float32)
        for begin, end in workspace.chunks(len(found)):
            np.take(levels[k - 1].log_probs, levels[k].suffixes[begin:end], out=found[begin:end])
        return found

    worths = _level_worths(levels, lower_log_probs, estimates.numbers, workspace)
    for level, values in zip(levels[2:], worths, strict=True):
        if len(level.keep) == 0:
            level.keep = workspace.empty(len(level), np.uint8)
        np.greater_equal(values, math.log1p(threshold), out=level.keep.view(np.bool_))
    estimates.pruned = True
    _normalize(estimates)


def ngram_worths(trie: PlainTrie) -> NDArray[np.float64]:
    """Return what each n-gram is worth, by its node; words are worth everything."""
    lower = trie.lower_log_probs
    levels = []
    for length in range(trie.order + 1):
        here = trie.level(length)
        children = trie.first_child[here.start : here.stop + 1] - np.uint32(here.stop)
        levels.append(
            EstimatedLevel(
                trie.words[here],
                children if length < trie.order else _NONE,
                _NONE,
                trie.log_probs[here],
                trie.backoffs[here],
                _ALL,
            )
        )
    worths = _level_worths(levels, lambda length: lower[trie.level(length)], trie.numbers, Workspace())
    return np.concatenate([np.full(int(trie.begins[2]), np.inf), *worths])


def prune_trie(trie: PlainTrie, keep: NDArray[np.bool_]) -> PlainTrie:
    """Return the n-grams that are kept, among which are all words and starts; weights are computed again."""
    ranks = np.concatenate(([0], np.cumsum(keep))).astype(np.uint32)  # how many are kept before each
    inner = np.append(np.flatnonzero(keep[: len(trie.backoffs)]), len(trie.backoffs))
    kept = PlainTrie(
        trie.numbers,
        ranks[trie.begins].astype(np.int64),
        trie.words[keep],
        trie.log_probs[keep],
        trie.backoffs[inner[:-1]],
        ranks[trie.first_child[inner]],
    )
    return kept.normalized()


def _level_worths(
    levels: Sequence[EstimatedLevel],
    lower_log_probs: Callable[[int], NDArray[np.float32]],
    numbers: NDArray[np.uint32],
    workspace: Workspace,
) -> list[NDArray[np.float64]]:
    """Return what n-grams are worth, by their length from 2 on; `lower_log_probs` has log10 p(w | h')."""
    threads = Resources.current().threads
    histories = _history_probs(levels, int(numbers[BEGIN]), int(numbers[END]), workspace)
    worths: list[NDArray[np.float64]] = []
    for k in range(len(levels) - 1, 1, -1):
        level, parents = levels[k], levels[k - 1]
        found = workspace.empty(len(level), np.float64)
        _core.ngram_worths(
            parents.first_child,
            histories.pop(),
            parents.backoffs,
            lower_log_probs(k),
            level.log_probs,
            level.keep,
            found,
            threads,
        )
        if worths:
            _core.raise_worths(level.first_child, worths[-1], found, threads)
        worths.append(found)
    return worths[::-1]


def _history_probs(
    levels: Sequence[EstimatedLevel], begin: int, end: int, workspace: Workspace
) -> list[NDArray[np.float64]]:
    """Return the probability of each n-gram that can be a history, by its length from 1 on."""
    if len(levels) < 3:
        return []
    words, bigrams = levels[1:3]
    frequencies = np.empty(len(words))
    _core.word_frequencies(
        words.first_child,
        bigrams.words,
        bigrams.log_probs,
        bigrams.keep,
        words.log_probs,
        words.backoffs,
        begin,
        end,
        frequencies,
    )
    found: list[NDArray[Any]] = [frequencies]
    for parents, level in pairwise(levels[1:-1]):
        probs = workspace.empty(len(level), np.float64)
        _core.history_probs(
            parents.first_child, found[-1], level.log_probs, probs, Resources.current().threads
        )
        found.append(probs)
    return found


def _normalize(estimates: Estimates) -> None:
    """Compute back-off weights again."""
    levels, workspace = estimates.levels, estimates.workspace
    lower = 10.0 ** levels[1].log_probs.astype(np.float64)
    lower_sums = np.array([lower.sum()])
    for k in range(2, len(levels)):
        level, parents = levels[k], levels[k - 1]
        probs = workspace.empty(len(level), np.float64)
        backoffs = workspace.empty(len(parents), np.float64)
        sums = workspace.empty(len(parents), np.float64)
        for begin, end in workspace.chunks(len(level)):
            probs[begin:end] = 10.0 ** level.log_probs[begin:end].astype(np.float64)
        for begin, end in workspace.chunks(len(parents)):
            np.take(lower_sums, parents.suffixes[begin:end], out=sums[begin:end])
            _core.normalise_ngrams(
                parents.first_child,
                level.suffixes,
                lower,
                level.keep,
                len(estimates.numbers) - 1,
                begin,
                end,
                probs,
                backoffs,
                sums,
                Resources.current().threads,
            )
        for begin, end in workspace.chunks(len(parents)):
            _core.log10_floats(backoffs[begin:end], parents.backoffs[begin:end], Resources.current().threads)
        lower, lower_sums = probs, sums
