"""The two algorithms of the paper (Ueberla and Gransden, 1996), as its figures have them.

Figure 1, the exchange:                            Figure 2, along a context tree:

    begin with some S and G                            for each level, from the root to the leaves
    iterate until F gains too little                       iterate until F gains too little
        for each word w                                        for each word w
            move w to the G(w) with the largest F                  move w to the G(w) with the largest F
        for each context c                                     for each node n of the level
            move c to the S(c) with the largest F                  move all contexts below n together

A criterion F takes the labels that move and returns a number. The kernels score a batch of elements before
the first of them moves; a batch of one element is the figure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from naive.exchange import Pairs, moved, two_sided_criterion

# Smaller gains are rounding errors.
LEAST_GAIN = 1e-6

Labels = list[int]
Criterion = Callable[[Labels], float]


def best_target(criterion: Criterion, labels: Labels, element: int, targets: int) -> int:
    """Return the cluster where F is largest: home if none is larger than there, else the first of them."""
    found = [criterion(moved(labels, element, target)) for target in range(targets)]
    home, best = labels[element], found.index(max(found))
    return home if home < targets and found[home] >= found[best] else best


def sweep(
    criterion: Criterion,
    labels: Labels,
    order: Sequence[int],
    targets: int,
    batch: int = 1,
    growth: float = 0,
) -> Labels:
    """Move each element of `order` to the best of the `targets`; return the elements that moved.

    A batch has at least `batch` elements, and up to the fraction `growth` of those before it.
    """
    gone = []
    begin = end = 0
    while end < len(order):
        begin, end = end, end + max(batch, int(growth * end))
        elements = order[begin:end]
        proposed = [best_target(criterion, labels, element, targets) for element in elements]
        for element, target in zip(elements, proposed, strict=True):
            gain = criterion(moved(labels, element, target)) - criterion(labels)
            # An element of a cluster that takes none, as in an initial clustering, moves whatever it costs.
            if gain > LEAST_GAIN or labels[element] >= targets:
                labels[element] = target
                gone.append(element)
    return gone


def exchange(
    criterion: Callable[[Labels, Labels], float],
    states: Labels,
    categories: Labels,
    order: tuple[Sequence[int], Sequence[int]],
    targets: tuple[int, int],
    max_sweeps: int,
    tolerance: float,
    batch: int = 1,
    is_initial: bool = False,
) -> None:
    """Figure 1, for the contexts (or nodes) and the words of `order`; change both maps.

    From an initial clustering, a first sweep gives a cluster to the elements that have none.
    """
    reached = criterion(states, categories)
    for number in range(max_sweeps + is_initial):
        gone = sweep(lambda g: criterion(states, g), categories, order[1], targets[1], batch)
        gone += sweep(lambda s: criterion(s, categories), states, order[0], targets[0], batch)
        before, reached = reached, criterion(states, categories)
        is_first = is_initial and number == 0
        if not is_first and (not gone or reached - before < tolerance * abs(reached)):
            break


def cluster_tree(
    pairs: Pairs,
    nodes: Sequence[Labels],
    n_words: int,
    targets: tuple[int, int],
    min_count: int,
    max_sweeps: int,
    tolerance: float,
    batch: int = 1,
) -> tuple[list[Labels], Labels]:
    """Figure 2. `nodes` has, for each level, the node of each context; nodes with fewer events do not move.

    What the paper does not say: the most frequent elements have a cluster each in the beginning, the others
    wait in one that takes none. On a deeper level, empty states are given to the most frequent of its nodes.
    """
    word_counts = [sum(n for (_, w), n in pairs.items() if w == word) for word in range(n_words)]
    words = by_count(word_counts, 1)
    categories = frequent_first(words, n_words, targets[1], targets[1])
    found: list[Labels] = []
    for node in nodes:
        counts = [
            sum(n for (c, _), n in pairs.items() if node[c] == number) for number in range(max(node) + 1)
        ]
        movable = by_count(counts, min_count)
        if not found:
            states = frequent_first(movable, len(counts), targets[0], rest=targets[0] - 1)
        else:
            parents = dict(zip(node, nodes[len(found) - 1], strict=True))
            states = [found[-1][parents[number]] for number in range(len(counts))]
            fill_empty(states, movable, targets[0])

        def criterion(s: Labels, g: Labels, node: Labels = node) -> float:
            return two_sided_criterion(pairs, [s[number] for number in node], g)

        order, first = (movable, words), not found
        exchange(criterion, states, categories, order, targets, max_sweeps, tolerance, batch, first)
        found.append(states)
    return found, categories


def by_count(counts: Sequence[int], least: int) -> Labels:
    """Return the elements with at least so many events, the most frequent first."""
    return sorted((x for x, n in enumerate(counts) if n >= least), key=lambda x: -counts[x])


def frequent_first(movable: Sequence[int], elements: int, targets: int, rest: int) -> Labels:
    labels = [rest] * elements
    for rank, element in enumerate(movable):
        labels[element] = min(rank, targets)
    return labels


def fill_empty(labels: Labels, movable: Sequence[int], targets: int) -> None:
    """Assign a state without members to each of the most frequent nodes, but for the first of each state."""
    empty = [state for state in range(targets) if state not in labels]
    stay = {labels[element]: element for element in reversed(movable)}
    for element, state in zip([x for x in movable if x not in stay.values()], empty, strict=False):
        labels[element] = state
