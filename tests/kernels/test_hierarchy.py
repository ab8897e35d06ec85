from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.hierarchy import merge_classes
from stategram.clustering import ClassHierarchy, build_hierarchy
from stategram.errors import UsageError


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], int]:
    mergeable = draw(st.integers(1, 9))
    size = mergeable + draw(st.integers(0, 2))
    most = draw(st.sampled_from([1, 3, 20, 10**6]))
    cell = st.one_of(st.just(0), st.integers(0, most))
    row = st.lists(cell, min_size=size, max_size=size)
    return draw(st.lists(row, min_size=size, max_size=size)), mergeable


@given(tables())
def test_each_merger_is_the_best_of_all_pairs(given_table: tuple[list[list[int]], int]) -> None:
    counts, mergeable = given_table
    merges, losses = merge_classes(counts, mergeable)
    found = build_hierarchy(np.array(counts, dtype=np.int64), mergeable)
    assert [tuple(row) for row in found.merges.tolist()] == merges
    # Sums of at most 121 cells of size T log T, T up to 1.2e8: 1e-14 of that is many roundings.
    total = sum(map(sum, counts)) + 2
    assert found.losses == pytest.approx(losses, rel=0, abs=1e-13 * total * np.log(total))


@pytest.mark.parametrize("k", [40, 90])
def test_each_merger_is_the_best_on_tables_that_are_compacted(k: int) -> None:
    rng = np.random.default_rng(k)
    frequency = 1 / np.arange(1, k + 2)
    taste = rng.gamma(0.3, size=(k + 1, k + 1))
    counts = rng.poisson(2000 * taste * frequency * frequency[:, None])
    counts[3] = counts[:, 3] = 0
    counts[7] = counts[:, 7] = 0
    found = build_hierarchy(counts, k)

    def losses(n: np.ndarray, m: int) -> np.ndarray:
        def f(x: np.ndarray) -> np.ndarray:
            return np.asarray(x * np.log(np.maximum(x, 1)))

        loss = np.full((m, m), np.inf)
        for a in range(m):
            for b in range(a + 1, m):
                keep = np.delete(np.arange(len(n)), b)
                row, column = n[a] + n[b], n[:, a] + n[:, b]
                row, column = row[keep], column[keep]
                corner = n[np.ix_([a, b], [a, b])]
                row[a] = column[a] = corner.sum()
                before = f(n[[a, b]]).sum() + f(n[:, [a, b]]).sum() - f(corner).sum()
                after = f(row).sum() + f(column).sum() - f(row[a])
                left = f(n[[a, b]].sum(1)).sum() - f(n[[a, b]].sum())
                right = f(n[:, [a, b]].sum(0)).sum() - f(n[:, [a, b]].sum())
                loss[a, b] = before - after - left - right
        return loss

    slots = list(range(k))
    for i, (first, second) in enumerate(found.merges.tolist()):
        a, b = slots.index(first), slots.index(second)
        if i % 10 == 0 or i > k - 10:
            all_losses = losses(counts, len(slots))
            assert all_losses[a, b] == pytest.approx(all_losses.min(), abs=1e-6)
            assert found.losses[i] == pytest.approx(all_losses[a, b], abs=1e-6)
        counts[a] += counts[b]
        counts[:, a] += counts[:, b]
        counts = np.delete(np.delete(counts, b, 0), b, 1)
        slots[a] = k + i
        del slots[b]


@given(tables())
def test_paths_and_cuts_tell_the_same_tree(given_table: tuple[list[list[int]], int]) -> None:
    counts, k = given_table
    tree = build_hierarchy(np.array(counts), k)
    paths = tree.bit_paths()
    assert len(paths) == tree.n_classes == k
    assert all(not b.startswith(a) for a in paths for b in paths if a is not b)
    leaves = [{a} for a in range(k)]
    for i, (first, second) in enumerate(tree.merges.tolist()):
        assert min(leaves[first]) < min(leaves[second])
        leaves.append(leaves[first] | leaves[second])
        labels = tree.cut(k - 1 - i)
        assert len(set(labels.tolist())) == k - 1 - i
        assert len({labels[a] for a in leaves[-1]}) == 1
    assert tree.cut(k).tolist() == list(range(k))
    for depth in range(4):
        labels = tree.cut_depth(depth)
        assert [[a == b for b in labels] for a in labels] == [
            [p[:depth] == q[:depth] for q in paths] for p in paths
        ]
        assert list(dict.fromkeys(labels.tolist())) == list(range(len(set(labels.tolist()))))


def test_progress_sees_the_end_and_can_stop_the_work() -> None:
    seen: list[tuple[float, str]] = []
    build_hierarchy(np.ones((5, 5), dtype=np.int64), progress=lambda *at: seen.append(at))
    assert seen == [(n / 4, f"{n} of 4 mergers") for n in (1, 2, 3, 4)]

    def stop(fraction: float, message: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_hierarchy(np.ones((5, 5), dtype=np.int64), progress=stop)


@pytest.mark.parametrize(
    ("counts", "mergeable", "message"),
    [
        (np.ones((2, 3), dtype=np.int64), None, "a square is needed"),
        (np.ones((2, 2)), None, "must be integers"),
        (-np.ones((2, 2), dtype=np.int64), None, "must be integers"),
        (np.ones((2, 2), dtype=np.int64), 3, "choose 1 to 2"),
        (np.ones((2, 2), dtype=np.int64), 0, "choose 1 to 2"),
    ],
)
def test_unusable_counts_are_refused(counts: np.ndarray, mergeable: int | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build_hierarchy(counts, mergeable)


def test_cuts_out_of_range_are_refused() -> None:
    tree = ClassHierarchy(np.array([[0, 1]]), np.array([1.0]))
    for n in (0, 3):
        with pytest.raises(UsageError, match="choose 1 to 2"):
            tree.cut(n)
    with pytest.raises(UsageError, match="0 or more"):
        tree.cut_depth(-1)


def test_the_first_mergers_of_many_classes_are_the_best_of_all_pairs() -> None:
    """More than 96 classes share groups in the coarse bounds; here every pair's loss is computed at once."""
    k = 200
    rng = np.random.default_rng(k)
    frequency = 1 / np.arange(1, k + 2)
    counts = rng.poisson(3000 * rng.gamma(0.3, size=(k + 1, k + 1)) * frequency * frequency[:, None])
    found = build_hierarchy(counts, k)
    members = [[c] for c in range(k)]
    table, alive = counts.astype(np.float64), list(range(k + 1))
    for (first, second), loss in zip(found.merges.tolist()[:40], found.losses.tolist()[:40], strict=True):
        n = table[np.ix_(alive, alive)]
        losses = all_losses(n)[: len(alive) - 1, : len(alive) - 1]
        tolerance = 1e-12 * n.sum() * np.log(n.sum())
        a, b = members[first][0], members[second][0]
        assert losses[alive.index(a), alive.index(b)] == pytest.approx(loss, abs=tolerance)
        assert loss <= losses[np.triu_indices(len(losses), 1)].min() + tolerance
        members.append(members[first] + members[second])
        table[a] += table[b]
        table[:, a] += table[:, b]
        alive.remove(b)


def all_losses(n: np.ndarray) -> np.ndarray:
    """Give the loss of each pair (a, b) as one array operation for each a."""

    def f(x: np.ndarray) -> np.ndarray:
        return np.asarray(x * np.log(np.maximum(x, 1)))

    rows, columns, diagonal = f(n).sum(1), f(n).sum(0), np.diag(n)
    left, right = n.sum(1), n.sum(0)
    loss = np.empty_like(n)
    for a in range(len(n)):
        # Row a + row b, without the columns a and b; the same for columns; then the corner of four cells.
        row, column = f(n[a] + n).sum(1), f(n[:, [a]] + n).sum(0)
        row -= f(n[a, a] + n[:, a]) + f(n[a] + diagonal)
        column -= f(n[a, a] + n[a]) + f(n[:, a] + diagonal)
        corner = f(n[a, a] + n[a] + n[:, a] + diagonal)
        before = rows[a] + rows + columns[a] + columns
        before -= f(n[a, a]) + f(n[a]) + f(n[:, a]) + f(diagonal)
        margins = f(left[a] + left) - f(left[a]) - f(left) + f(right[a] + right) - f(right[a]) - f(right)
        loss[a] = before - (row + column + corner) + margins
    return loss
