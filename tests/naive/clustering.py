"""The two algorithms of the paper (Ueberla and Gransden, 1996), as its figures have them.

Figure 1, the exchange:                            Figure 3, along a context tree:

    start with initial S and G                         start with initial S and G
    iterate until F gains too little                   for each level, from the root to the leaves
                                                           iterate until F gains too little
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
) -> None:
    """Figure 1, for the contexts (or nodes) and the words of `order`; change both maps.

    The gain is tested from the second sweep on.
    """
    reached = criterion(states, categories)
    for number in range(max_sweeps):
        gone = sweep(lambda g: criterion(states, g), categories, order[1], targets[1], batch)
        gone += sweep(lambda s: criterion(s, categories), states, order[0], targets[0], batch)
        before, reached = reached, criterion(states, categories)
        if not gone or (number > 0 and reached - before < tolerance * abs(reached)):
            break


def cluster_tree(
    pairs: Pairs,
    nodes: Sequence[Labels],
    n_words: int,
    targets: tuple[int, int],
    min_counts: tuple[int, int],
    max_sweeps: int,
    tolerance: float,
    free_states: float = 0,
    batch: int = 1,
) -> tuple[list[Labels], list[Labels], Labels]:
    """Figure 3. `nodes` has, for each level, the node of each context; rare nodes and words do not move.

    Return the states of the nodes of each level, the states that unseen contexts inherit there, and the
    categories. What the paper does not say: at first the most frequent elements have a cluster each and all
    others share the last. On a deeper level, empty states are given to those of its nodes that gain most.

    With `free_states`, beyond the paper: this fraction of the states, those with the fewest events, is
    emptied when a deeper level begins; groups of rare nodes move too.
    """
    word_counts = [sum(n for (_, w), n in pairs.items() if w == word) for word in range(n_words)]
    words = by_count(word_counts, min_counts[1])
    categories = shared_rest(words, word_counts, targets[1])
    found: list[Labels] = []
    all_inherited: list[Labels] = []
    for node in nodes:
        counts = [
            sum(n for (c, _), n in pairs.items() if node[c] == number) for number in range(max(node) + 1)
        ]
        movable = by_count(counts, min_counts[0])
        groups, inherited = [0] * len(counts), [targets[0] - 1]
        if found:
            parents = dict(zip(node, nodes[len(found) - 1], strict=True))
            groups = [found[-1][parents[number]] for number in range(len(counts))]
            inherited = list(range(targets[0]))
        if found:
            events = [sum(n for (c, _), n in pairs.items() if groups[node[c]] == s) for s in inherited]
            for state in sorted(inherited, key=lambda s: events[s])[: round(targets[0] * free_states)]:
                inherited[state] = targets[0]
        # The rows that move: nodes, then the rare nodes of each group together.
        row = {number: place for place, number in enumerate(movable)}
        rows = [row.get(number, len(movable) + groups[number]) for number in node]
        labels = [min(place, targets[0] - 1) for place in range(len(movable))]
        if found:
            labels = [inherited[groups[number]] for number in movable]
        states = labels + inherited
        order = list(range(len(states) if found and free_states > 0 else len(movable)))

        def criterion(s: Labels, g: Labels, rows: Labels = rows) -> float:
            return two_sided_criterion(pairs, [s[place] for place in rows], g)

        if found:
            seen = {states[rows[c]] for c, _ in pairs}
            give_empty(lambda s: criterion(s, categories), states, order, set(range(targets[0])) - seen)
        sweeps = max_sweeps + (not found)  # the first one is from the initial clustering
        exchange(criterion, states, categories, (order, words), targets, sweeps, tolerance, batch)
        inherited = states[len(movable) :]
        if len(order) > len(movable):  # a group without rare nodes goes with its most frequent one
            for number in reversed(movable):
                if all(rows[c] != len(movable) + groups[number] for c, _ in pairs):
                    inherited[groups[number]] = states[row[number]]
        all_inherited.append(inherited)
        found.append([states[row[n]] if n in row else inherited[groups[n]] for n in range(len(counts))])
    return found, all_inherited, categories


def give_empty(criterion: Criterion, labels: Labels, order: Sequence[int], empty: set[int]) -> None:
    """Move a row to each empty cluster: those that gain most if they move alone."""
    if empty:
        gains = {x: criterion(moved(labels, x, min(empty))) - criterion(labels) for x in order}
        best = [x for x in sorted(order, key=lambda x: -gains[x]) if gains[x] > LEAST_GAIN]
        for element, target in zip(best, sorted(empty), strict=False):
            labels[element] = target


def by_count(counts: Sequence[int], least: int) -> Labels:
    """Return the elements with at least so many events, the most frequent first."""
    return sorted((x for x, n in enumerate(counts) if n >= least), key=lambda x: -counts[x])


def shared_rest(movable: Sequence[int], counts: Sequence[int], targets: int) -> Labels:
    """The most frequent have a cluster each, all others share the last; what never occurs has none."""
    labels = [targets - 1 if n else targets for n in counts]
    for rank, element in enumerate(movable):
        labels[element] = min(rank, targets - 1)
    return labels


def frequent_first(movable: Sequence[int], elements: int, targets: int, rest: int) -> Labels:
    labels = [rest] * elements
    for rank, element in enumerate(movable):
        labels[element] = min(rank, targets)
    return labels
