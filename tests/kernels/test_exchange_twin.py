"""Sweeps of the exchange kernels make the moves of the paper's figures, as `naive.clustering` has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from exchange_problems import (
    Tied,
    TwoSided,
    any_two_sided,
    array,
    rounding,
    seeds,
    shortlists,
    sweep,
    temperatures,
    text_problem,
    text_problem_two_sided,
    tied,
)
from naive import clustering
from naive.exchange import Pairs, closed_bigrams, moved, transposed, two_sided_criterion
from naive.leave_one_out import freeze, frozen_criterion

BATCHES = [1, 3, 64]


class Twin:
    """The naive sweep, which notes whether the kernel, with sums of floats, could see a tie otherwise."""

    def __init__(self, pairs: Pairs, clusters: int, tolerance: float = 0.0) -> None:
        self.rounding = partial(rounding, pairs, additions=2 * clusters + 4)
        self.counts = Counter(dict.fromkeys((w for _, w in pairs), 0))
        for (_, w), n in pairs.items():
            self.counts[w] += n
        self.tolerance = tolerance
        self.is_clear = True

    def sweep(
        self,
        criterion: clustering.Criterion,
        labels: list[int],
        order: Sequence[int],
        targets: int,
        batch: int,
    ) -> list[int]:
        original = clustering.best_target

        def best_target(f: clustering.Criterion, now: list[int], element: int, n: int) -> int:
            found = sorted((f(moved(now, element, b)), -b) for b in range(n))
            best = original(f, now, element, n)
            near = 2 * self.rounding(n=self.counts[element]) + 1e-5 + self.tolerance
            others = [(value, -b) for value, b in found if -b != best and found[-1][0] - value < near]
            # Clusters without members are alike to the last bit.
            empty = {b for b in range(n) if b not in now}
            if any(not (b in empty and best in empty) for _, b in others):
                self.is_clear = False
            return best

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(clustering, "best_target", best_target)
            return clustering.sweep(criterion, labels, order, targets, batch)


@st.composite
def tied_texts(draw: st.DrawFn) -> Tied:
    """Counts that differ, so that few gains are equal."""
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    words, classes = draw(st.integers(2, 10)), draw(st.integers(2, 5))
    ids = (generator.zipf(1.3, draw(st.integers(20, 2000))) % words).tolist()
    unplaced = draw(st.integers(0, 1))
    labels = generator.integers(0, classes + unplaced, words).tolist()
    return Tied(closed_bigrams(ids), labels, classes + unplaced, classes)


@st.composite
def event_texts(draw: st.DrawFn) -> TwoSided:
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    contexts, words = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    pairs = {
        (c, w): int(generator.integers(1, 2000))
        for c in range(contexts)
        for w in range(words)
        if generator.random() < 0.7
    }
    states_move = draw(st.booleans())
    unplaced = draw(st.integers(0, 1))
    n_states, n_categories = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    categories = generator.integers(0, n_categories + unplaced, words).tolist()
    if not states_move:
        identity = list(range(contexts))
        return TwoSided(
            pairs,
            identity,
            categories,
            contexts,
            contexts,
            n_categories + unplaced,
            n_categories,
            False,
        )
    states = generator.integers(0, n_states + unplaced, contexts).tolist()
    return TwoSided(
        pairs,
        states,
        categories,
        n_states + unplaced,
        n_states,
        n_categories + unplaced,
        n_categories,
        True,
    )


@settings(max_examples=60, deadline=None)
@given(tied_texts(), st.sampled_from(BATCHES), st.randoms(use_true_random=False))
def test_tied_sweeps(problem: Tied, batch: int, random: object) -> None:
    words = len(problem.labels)
    order = list(range(words))
    random.shuffle(order)  # type: ignore[attr-defined]
    kernel, twin, labels = problem.kernel(), Twin(problem.pairs, problem.classes), list(problem.labels)
    for _ in range(3):
        gone = twin.sweep(problem.criterion, labels, order, problem.targets, batch)
        assume(twin.is_clear)
        moves = sweep(kernel.visit, array(order), np.ones(words, np.float32), 0.0, 0, batch=batch)
        assert kernel.labels().tolist() == labels
        assert moves == len(gone)


@settings(max_examples=60, deadline=None)
@given(event_texts(), st.sampled_from(BATCHES), st.booleans())
def test_two_sided_and_predictive_sweeps(problem: TwoSided, batch: int, leave_one_out: bool) -> None:
    leave_one_out = leave_one_out and problem.states_move
    kernel = problem.kernel()
    states, categories = list(problem.states), list(problem.categories)
    words, contexts = range(len(categories)), range(len(states))
    # Where f jumps among the smallest counts, scores are less exact.
    jump = 1e-3 if leave_one_out else 0.0
    of_words = Twin(problem.pairs, problem.n_states, jump)
    of_contexts = Twin(transposed(problem.pairs), problem.n_categories, jump)

    def criterion(s: list[int], g: list[int]) -> float:
        if leave_one_out:
            return frozen_criterion(problem.pairs, s, g, frozen)
        return two_sided_criterion(problem.pairs, s, g)

    for _ in range(3):
        if leave_one_out:
            kernel.leave_one_out()
            frozen = freeze(problem.pairs, states, categories)
        gone = of_words.sweep(
            lambda g: criterion(states, g), categories, words, problem.category_targets, batch
        )
        assume(of_words.is_clear)
        moves = sweep(kernel.visit_words, array(words), np.ones(len(words), np.float32), 0.0, 0, batch=batch)
        assert kernel.categories().tolist() == categories
        assert moves == len(gone)
        if not problem.states_move:
            continue
        gone = of_contexts.sweep(
            lambda s: criterion(s, categories), states, contexts, problem.state_targets, batch
        )
        assume(of_contexts.is_clear)
        moves = sweep(
            kernel.visit_contexts, array(contexts), np.ones(len(contexts), np.float32), 0.0, 0, batch=batch
        )
        assert kernel.states().tolist() == states
        assert moves == len(gone)


def test_a_batch_is_scored_before_its_first_move() -> None:
    """What one element finds out too late in a batch, it knows in batches of one."""
    problem = text_problem(60, 7)
    found = []
    for batch in (1, 64):
        labels = list(problem.labels)
        clustering.sweep(problem.criterion, labels, range(60), 7, batch)
        kernel = problem.kernel()
        sweep(kernel.visit, array(range(60)), np.ones(60, np.float32), 0.0, 0, batch=batch)
        assert kernel.labels().tolist() == labels
        found.append(labels)
    assert found[0] != found[1]


# ---- propose and apply


@given(tied(), temperatures, seeds, shortlists, st.sampled_from(BATCHES))
def test_a_tied_sweep_is_its_proposals_applied(
    problem: Tied, temperature: float, seed: int, shortlist: int, batch: int
) -> None:
    words = len(problem.labels)
    fused, split = problem.kernel(1, shortlist), problem.kernel(1, shortlist)
    order, scales = array(range(words)), np.ones(words, np.float32)
    for shortlisted in (False, True):
        moves = sweep(fused.visit, order, scales, temperature, seed, shortlisted, batch)
        applied = 0
        for begin in range(0, words, batch):
            part = order[begin : begin + batch]
            before = split.labels().tolist(), split.criterion
            targets, noise = split.propose(part, scales, temperature, seed, shortlisted)
            assert (split.labels().tolist(), split.criterion) == before
            applied += split.apply(part, targets, noise)
        assert applied == moves
        assert split.labels().tolist() == fused.labels().tolist()
        assert split.criterion == fused.criterion


@given(any_two_sided, temperatures, seeds, shortlists, st.sampled_from(BATCHES))
def test_a_two_sided_sweep_is_its_proposals_applied(
    problem: TwoSided, temperature: float, seed: int, shortlist: int, batch: int
) -> None:
    fused, split = problem.kernel(1, shortlist), problem.kernel(1, shortlist)
    sides = [(fused.visit_words, split.propose_words, split.apply_words, len(problem.categories))]
    if problem.states_move:
        sides.append(
            (fused.visit_contexts, split.propose_contexts, split.apply_contexts, len(problem.states))
        )
    for visit, propose, apply, n in sides:
        order, scales = array(range(n)), np.ones(n, np.float32)
        moves = sweep(visit, order, scales, temperature, seed, False, batch)
        applied = 0
        for begin in range(0, n, batch):
            part = order[begin : begin + batch]
            applied += apply(part, *propose(part, scales, temperature, seed))
        assert applied == moves
        assert split.categories().tolist() == fused.categories().tolist()
        assert split.states().tolist() == fused.states().tolist()
        assert split.criterion == fused.criterion


def test_replicas_that_apply_the_same_proposals_stay_the_same() -> None:
    """The seam for workers on other machines: each scores a part of the batch, all apply all of it."""
    problem = text_problem_two_sided(200, 30, states_move=True)
    alone, *replicas = (problem.kernel() for _ in range(3))
    scales = np.ones(200, np.float32)
    for seed in range(2):
        sweep(alone.visit_words, array(range(200)), scales, 0.5, seed, batch=100)
        for batch in np.split(array(range(200)), 2):
            parts = [
                replica.propose_words(part, scales, 0.5, seed)
                for replica, part in zip(replicas, np.split(batch, 2), strict=True)
            ]
            targets, noise = (np.concatenate(values) for values in zip(*parts, strict=True))
            for replica in replicas:
                replica.apply_words(batch, targets, noise)
    for replica in replicas:
        assert replica.categories().tolist() == alone.categories().tolist()
        assert replica.criterion == alone.criterion


def test_a_move_that_lost_its_gain_is_not_made() -> None:
    problem = text_problem(100, 10)
    kernel = problem.kernel()
    order, scales = array(range(100)), np.ones(100, np.float32)
    while sweep(kernel.visit, order, scales, 0.0, 0):
        pass
    labels, reached = kernel.labels(), kernel.criterion
    others = ((labels + 1) % 10).astype(np.uint32)
    assert kernel.apply(order, others, np.zeros(100)) == 0
    assert (kernel.labels().tolist(), kernel.criterion) == (labels.tolist(), reached)
    # Noise in favour of a move is a gain.
    assert kernel.apply(order[:5], others[:5], np.full(5, 1e9)) == 5
    assert kernel.labels()[:5].tolist() == others[:5].tolist()
    assert kernel.criterion < reached


@pytest.mark.parametrize(
    ("targets", "noise", "message"),
    [
        ([1], [0.0, 0.0], "one target and one noise for each"),
        ([1, 1], [0.0], "one target and one noise for each"),
        ([1, 4], [0.0, 0.0], "cluster 4 takes no elements"),
        ([1, 4_294_967_295], [0.0, 0.0], "takes no elements"),
        ([1, 1], [0.0, float("nan")], "not a number"),
    ],
)
def test_unusable_proposals_are_refused(targets: list[int], noise: list[float], message: str) -> None:
    tied_kernel = text_problem(9, 5, 4).kernel()
    two_sided_kernel = TwoSided({(0, 0): 3, (1, 1): 2}, [0, 1], [0, 1], 5, 4, 5, 4, True).kernel()
    for apply in (tied_kernel.apply, two_sided_kernel.apply_words, two_sided_kernel.apply_contexts):
        with pytest.raises(ValueError, match=message):
            apply(array([0, 1]), array(targets), np.array(noise))
        with pytest.raises(ValueError, match="element 9 does not exist"):
            apply(array([0, 9]), array([1, 1]), np.zeros(2))
        with pytest.raises(ValueError, match="element 0 is a duplicate"):
            apply(array([0, 0]), array([1, 1]), np.zeros(2))
