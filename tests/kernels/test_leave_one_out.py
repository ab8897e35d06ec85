"""The exchange by leaving-one-out: the kernel gives what the twin gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from exchange_problems import (
    TwoSided,
    array,
    events,
    rounding,
    seeds,
    shortlists,
    sweep,
    temperatures,
    text_problem_two_sided,
    two_sided,
)
from naive.exchange import Pairs, moved, transposed, two_sided_criterion
from naive.leave_one_out import (
    Frozen,
    freeze,
    frozen_criterion,
    frozen_scores,
    leave_one_out_criterion,
)
from stategram import _core

# The kernel computes scores of margins above this as if f(n) were n log n.
TABLE = 2**18
# The two differ by n log n - n log(n - 1): 0 for n < 2, then 2 log 2, falling to 1.
NEARLY = 2 * 2 * math.log(2)


def exactly(value: float) -> Any:
    """Sums of doubles in another order."""
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def scale_of(problem: TwoSided) -> float:
    """The terms of the criterion cancel: what is left is as exact as they were, at most T log T."""
    total = sum(problem.pairs.values())
    return 1e-9 + 1e-13 * total * math.log(total + 1)


def near(value: float, problem: TwoSided) -> Any:
    return pytest.approx(value, rel=1e-9, abs=scale_of(problem))


CHECK = TwoSided(
    {(0, 0): 5, (0, 1): 1, (1, 0): 2, (1, 1): 4, (1, 2): 1, (2, 1): 1, (2, 2): 6},
    [0, 1, 2],
    [0, 1, 2],
    3,
    3,
    3,
    3,
    True,
)


def test_the_values_of_the_design() -> None:
    labels = CHECK.states, CHECK.categories
    assert freeze(CHECK.pairs, *labels) == Frozen(0.6, 7, 2)
    assert two_sided_criterion(CHECK.pairs, *labels) == pytest.approx(-50.25737962114714, rel=1e-14)
    assert leave_one_out_criterion(CHECK.pairs, *labels) == pytest.approx(-52.25775752788971, rel=1e-14)
    kernel = CHECK.kernel()
    assert kernel.criterion == pytest.approx(-50.25737962114714, rel=1e-14)
    kernel.leave_one_out()
    assert kernel.b == pytest.approx(0.6, rel=1e-15)
    assert kernel.criterion == pytest.approx(-52.25775752788971, rel=1e-14)


def labels_of(kernel: _core.TwoSidedExchange) -> tuple[list[int], list[int]]:
    return kernel.states().tolist(), kernel.categories().tolist()


@given(two_sided())
@example(TwoSided({}, [0], [0], 1, 1, 1, 1, True))
@example(TwoSided({(0, 0): 1}, [0], [0], 1, 1, 1, 1, True))
@example(TwoSided({(0, 0): 2, (0, 1): 2}, [0], [0, 1], 1, 1, 2, 2, True))
def test_the_criterion_is_that_of_the_twin(problem: TwoSided) -> None:
    kernel = problem.kernel()
    kernel.leave_one_out()
    frozen = freeze(problem.pairs, problem.states, problem.categories)
    assert kernel.b == pytest.approx(frozen.b, rel=1e-15)
    expected = leave_one_out_criterion(problem.pairs, problem.states, problem.categories)
    assert kernel.criterion == near(expected, problem)


@given(two_sided(), st.booleans(), st.sampled_from([1, 2]), st.data())
def test_gains_are_differences_of_the_criterion(
    problem: TwoSided, leave_one_out: bool, threads: int, data: st.DataObject
) -> None:
    kernel = problem.kernel(threads)
    frozen = freeze(problem.pairs, problem.states, problem.categories)
    if leave_one_out:
        kernel.leave_one_out()

    def criterion(states: list[int], categories: list[int]) -> float:
        if leave_one_out:
            return frozen_criterion(problem.pairs, states, categories, frozen)
        return two_sided_criterion(problem.pairs, states, categories)

    states, categories = list(problem.states), list(problem.categories)
    before = criterion(states, categories)
    target = data.draw(st.integers(0, problem.state_targets - 1))
    found = kernel.context_gains(target).tolist()
    assert found == [
        near(criterion(moved(states, context, target), categories) - before, problem)
        for context in range(len(states))
    ]
    target = data.draw(st.integers(0, problem.category_targets - 1))
    assert kernel.word_gains(target).tolist() == [
        near(criterion(states, moved(categories, word, target)) - before, problem)
        for word in range(len(categories))
    ]


@given(two_sided(), temperatures, seeds, shortlists)
def test_during_sweeps_it_is_that_of_the_frozen_twin(
    problem: TwoSided, temperature: float, seed: int, shortlist: int
) -> None:
    kernel = problem.kernel(1, shortlist)
    kernel.leave_one_out()
    for shortlisted in (False, True, True):
        frozen = freeze(problem.pairs, *labels_of(kernel))
        kernel.leave_one_out()
        for _ in range(2):
            problem.sweep(kernel, temperature, seed, shortlisted)
            expected = frozen_criterion(problem.pairs, *labels_of(kernel), frozen)
            assert kernel.criterion == near(expected, problem)
        assert kernel.recompute_criterion() == kernel.criterion == near(expected, problem)
        exact = leave_one_out_criterion(problem.pairs, *labels_of(kernel))
        assert kernel.leave_one_out() == kernel.criterion == near(exact, problem)
        assert kernel.recompute_criterion() == kernel.criterion == near(exact, problem)


@given(two_sided())
def test_a_plain_sweep_never_lowers_the_frozen_criterion(problem: TwoSided) -> None:
    kernel = problem.kernel()
    problem.sweep(kernel)  # out of clusters that take no elements
    kernel.leave_one_out()
    for _ in range(100):
        before = kernel.criterion
        moves = problem.sweep(kernel)
        assert kernel.criterion >= before
        assert (kernel.criterion > before) == (moves > 0)
        if moves == 0:
            return
    pytest.fail("the sweeps do not end")


def score_rounding(pairs: Pairs, n: int, clusters: int, frozen: Frozen) -> float:
    """As that of n log n, and for each cluster what f may jump by among the smallest counts."""
    jump = abs(frozen.single) + 2 * abs(math.log(1 - frozen.b)) if frozen.b < 1 else abs(frozen.single)
    error = rounding(pairs, n, clusters + 2) + (clusters + 18) * 2.0**-24 * clusters * (jump + 2)
    return error + (NEARLY if sum(pairs.values()) + n >= TABLE else 0.0)


@given(two_sided())
@example(TwoSided({(0, 0): 300_000, (0, 1): 9, (1, 1): 9}, [0, 1], [0, 0], 3, 3, 35, 35, True))
def test_scores_are_those_of_the_frozen_twin(problem: TwoSided) -> None:
    kernel = problem.kernel()
    kernel.leave_one_out()
    frozen = freeze(problem.pairs, problem.states, problem.categories)
    for pairs, still, moving, targets, clusters, scores in (
        (
            problem.pairs,
            problem.states,
            problem.categories,
            problem.category_targets,
            problem.n_states,
            kernel.word_scores,
        ),
        (
            transposed(problem.pairs),
            problem.categories,
            problem.states,
            problem.state_targets,
            problem.n_categories,
            kernel.context_scores,
        ),
    ):
        for element in range(len(moving)):
            expected = frozen_scores(pairs, still, moving, element, targets, frozen)
            found = scores(element).astype(np.float64)
            error = 2 * score_rounding(pairs, events(pairs, element), clusters, frozen)
            assert found - found[0] == pytest.approx(np.array(expected), rel=0, abs=error)


@pytest.mark.parametrize("clusters", [20, 60])
def test_freezing_does_no_harm(clusters: int) -> None:
    """What is gained with b as it was before a sweep is gained with b as it is after it."""
    problem = text_problem_two_sided(300, clusters, states_move=True)
    kernel = problem.kernel(2)
    kernel.leave_one_out()
    start = kernel.criterion
    for _ in range(30):
        kernel.leave_one_out()
        if problem.sweep(kernel) == 0:
            break
    kernel.leave_one_out()
    assert kernel.criterion == exactly(leave_one_out_criterion(problem.pairs, *labels_of(kernel)))
    assert kernel.criterion > start
    # The other criterion ends elsewhere, where this one is lower.
    other = problem.kernel(2)
    for _ in range(30):
        problem.sweep(other)
    assert leave_one_out_criterion(problem.pairs, *labels_of(other)) < kernel.criterion


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_sweeps_do_not_depend_on_the_number_of_threads(temperature: float) -> None:
    problem = text_problem_two_sided(300, 37, states_move=True)
    found = []
    for threads in (1, 2, 3):
        kernel = problem.kernel(threads, shortlist=5)
        for number in range(3):
            kernel.leave_one_out()
            problem.sweep(kernel, temperature, number, number == 1)
        found.append((labels_of(kernel), kernel.criterion))
    assert found[0] == found[1] == found[2]


@given(st.integers(1, 5))
def test_still_states_have_no_such_criterion(words: int) -> None:
    problem = TwoSided(
        {(i, i): 1 for i in range(words)}, list(range(words)), [0] * words, words, words, 1, 1, False
    )
    kernel = problem.kernel()
    with pytest.raises(ValueError, match="do not move"):
        kernel.leave_one_out()
    sweep(kernel.visit_words, array(range(words)), np.ones(words, np.float32), 0.0, 0)
    assert kernel.criterion == exactly(two_sided_criterion(problem.pairs, *labels_of(kernel)))
