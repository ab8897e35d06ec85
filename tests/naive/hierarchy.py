"""The hierarchy of classes by its definition: try every pair, merge the one that costs least."""

from __future__ import annotations

from itertools import combinations
from math import fsum, log


def x_log_x(x: int) -> float:
    return x * log(x) if x > 0 else 0.0


def criterion(counts: list[list[int]], clusters: list[list[int]]) -> float:
    """F = sum N(a,b) log N(a,b) - sum N(a,.) log N(a,.) - sum N(.,b) log N(.,b) between clusters."""
    table = [[sum(counts[x][y] for x in a for y in b) for b in clusters] for a in clusters]
    cells = fsum(x_log_x(n) for row in table for n in row)
    left = fsum(x_log_x(sum(row)) for row in table)
    right = fsum(x_log_x(sum(column)) for column in zip(*table, strict=True))
    return cells - left - right


def merge_classes(counts: list[list[int]], mergeable: int) -> tuple[list[tuple[int, int]], list[float]]:
    """Names of the merged pairs (leaves first, then mergers in their order) and what each merger cost.

    Losses nearer than the rounding of sums of this size are ties: the pair with the smallest leaves wins.
    """
    tie = 1e-12 * (1 + x_log_x(sum(map(sum, counts))))
    alive = [(a, [a]) for a in range(mergeable)]  # name and leaves, by smallest leaf
    others = [[a] for a in range(mergeable, len(counts))]
    merges: list[tuple[int, int]] = []
    losses: list[float] = []
    while len(alive) > 1:
        now = criterion(counts, [leaves for _, leaves in alive] + others)
        loss = {}
        for a, b in combinations(range(len(alive)), 2):
            rest = [leaves for i, (_, leaves) in enumerate(alive) if i not in (a, b)]
            loss[a, b] = now - criterion(counts, [alive[a][1] + alive[b][1], *rest, *others])
        least = min(loss.values())
        a, b = min(pair for pair in loss if loss[pair] <= least + tie)
        merges.append((alive[a][0], alive[b][0]))
        losses.append(max(0.0, loss[a, b]))
        alive[a] = (mergeable + len(merges) - 1, alive[a][1] + alive[b][1])
        del alive[b]
    return merges, losses
