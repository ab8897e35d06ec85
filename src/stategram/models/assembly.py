"""The arrays of a model from its n-grams: dropped ones are left out, and nodes are numbered."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import Workspace
from stategram.errors import StategramError
from stategram.models.smoothing import Estimates
from stategram.models.trie import NgramTrie
from stategram.resources import Resources

_NONE = np.empty(0, np.uint32)


def assemble(estimates: Estimates, *, workspace: Workspace) -> NgramTrie:
    """Return the arrays of a model. The estimates are used up on the way."""
    levels = estimates.levels
    order = len(levels) - 1
    ranks = [_ranks(level.keep, workspace) for level in levels]
    sizes = [int(rank[-1]) if len(rank) else len(level) for rank, level in zip(ranks, levels, strict=True)]
    begins = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    if begins[-1] >= 2**32:
        raise StategramError(
            f"the model would have {begins[-1]:,} n-grams, more than {2**32 - 1:,}; "
            "drop rare ones (--min-count) or take shorter ones (--order)"
        )
    n_nodes = int(begins[order])
    words: NDArray[Any] = workspace.empty(int(begins[-1]), np.uint32)
    nodes: NDArray[Any] = workspace.empty(4 * (n_nodes + 1), np.uint32)
    leaves: NDArray[Any] = workspace.empty(2 * sizes[order], np.uint32)
    nodes[4 * n_nodes :] = (0, 0, begins[-1], 0)
    links: NDArray[Any] = np.zeros(1, np.uint32)
    ranks.append(_NONE)
    for k, level in enumerate(levels):
        if k > 0:
            lower, lower_links = levels[k - 1], links
            links = workspace.empty(len(level), np.uint32)
            for begin, end in workspace.chunks(len(level)):
                _core.link_level(
                    level.suffixes,
                    lower.first_child,
                    lower_links,
                    ranks[k - 1],
                    ranks[k],
                    int(begins[k - 1]),
                    begin,
                    end,
                    links,
                    Resources.current().threads,
                )
            lower.first_child = lower.words = lower.suffixes = _NONE
            lower.log_probs = lower.backoffs = np.empty(0, np.float32)
        first, last = int(begins[k]), int(begins[k + 1])
        rows = leaves if k == order else nodes[4 * first : 4 * last]
        for begin, end in workspace.chunks(len(level)):
            _core.assemble_level(
                level.words,
                level.log_probs,
                level.backoffs,
                level.first_child,
                links,
                ranks[k],
                ranks[k + 1],
                last,
                begin,
                end,
                words[first:last],
                rows,
                Resources.current().threads,
            )
    return NgramTrie(estimates.numbers, begins, words, nodes.reshape(-1, 4), leaves.reshape(-1, 2))


def _ranks(keep: NDArray[np.uint8], workspace: Workspace) -> NDArray[np.uint32]:
    """Return for each n-gram, and one more, how many before it are kept; empty if all are."""
    if len(keep) == 0:
        return _NONE
    ranks: NDArray[Any] = workspace.empty(len(keep) + 1, np.uint32)
    ranks[0] = 0
    np.cumsum(keep, out=ranks[1:], dtype=np.uint32)
    return ranks
