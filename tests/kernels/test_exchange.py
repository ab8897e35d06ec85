from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from exchange_problems import (
    Tied,
    TwoSided,
    any_two_sided,
    array,
    events,
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
from naive.exchange import (
    Pairs,
    annealed,
    closed_bigrams,
    moved,
    tied_gain,
    tied_scores,
    transposed,
    two_sided_criterion,
    two_sided_scores,
)

# Gains below this count as rounding errors.
LEAST_GAIN = 1e-6


def criterion_of(value: float) -> object:
    """Sums of doubles in another order: a few thousand roundings of 1e-16."""
    return pytest.approx(value, rel=1e-9, abs=1e-9)


# ---- scores


@given(tied())
@example(Tied({(0, 0): 1}, [0], 1, 1))
@example(Tied({(0, 0): 2**31 - 1}, [0], 2, 2))
@example(Tied({(0, 0): 2**32 - 1}, [0], 2, 2))
@example(Tied({(0, 1): 2**32 - 1, (1, 0): 2**32 - 1}, [0, 0], 17, 16))
@example(Tied({(0, 1): 70_000, (1, 0): 70_000, (0, 0): 3, (1, 1): 300_000}, [0, 0], 17, 16))
def test_tied_scores_are_those_of_the_twin(problem: Tied) -> None:
    kernel = problem.kernel()
    for word in range(len(problem.labels)):
        expected = tied_scores(problem.pairs, problem.labels, word, problem.targets)
        assert kernel.scores(word).tolist() == pytest.approx(expected, rel=0, abs=problem.rounding(word))


@given(any_two_sided)
@example(TwoSided({(0, 0): 1}, [0], [34], 1, 1, 35, 34, False))
@example(TwoSided({(0, 0): 2, (0, 1): 3}, [0], [0, 34], 1, 1, 35, 35, False))
@example(TwoSided({(0, 0): 2**31 - 1}, [0], [0], 1, 1, 35, 35, False))
@example(TwoSided({(0, 0): 2**32 - 6, (0, 1): 5}, [0], [0, 0], 1, 1, 35, 35, False))
@example(TwoSided({(0, 0): 2**32 - 5, (0, 1): 5}, [0], [0, 0], 1, 1, 35, 35, False))
def test_two_sided_scores_are_those_of_the_twin_up_to_a_constant(problem: TwoSided) -> None:
    kernel = problem.kernel()
    for word in range(len(problem.categories)):
        expected = two_sided_scores(
            problem.pairs, problem.states, problem.categories, word, problem.category_targets
        )
        found = kernel.word_scores(word).astype(np.float64)
        error = rounding(problem.pairs, events(problem.pairs, word), problem.n_states + 2)
        assert found - found[0] == pytest.approx(np.subtract(expected, expected[0]), rel=0, abs=2 * error)
    if not problem.states_move:
        return
    pairs = transposed(problem.pairs)
    for context in range(len(problem.states)):
        expected = two_sided_scores(pairs, problem.categories, problem.states, context, problem.state_targets)
        found = kernel.context_scores(context).astype(np.float64)
        error = rounding(pairs, events(pairs, context), problem.n_categories + 2)
        assert found - found[0] == pytest.approx(np.subtract(expected, expected[0]), rel=0, abs=2 * error)


# ---- sweeps


@given(tied(), temperatures, seeds, shortlists)
def test_the_tied_criterion_is_that_of_the_labels(
    problem: Tied, temperature: float, seed: int, shortlist: int
) -> None:
    kernel = problem.kernel(1, shortlist)
    words = len(problem.labels)
    assert kernel.labels().tolist() == problem.labels
    assert kernel.criterion == criterion_of(problem.criterion(problem.labels))
    for shortlisted in (False, True, True, False, True):
        before = kernel.criterion
        sweep(kernel.visit, array(range(words)), np.ones(words, np.float32), temperature, seed, shortlisted)
        if shortlisted and temperature == 0:
            assert kernel.criterion >= before
        expected = criterion_of(problem.criterion(kernel.labels().tolist()))
        assert kernel.criterion == expected
        assert kernel.recompute_criterion() == expected


@given(any_two_sided, temperatures, seeds, shortlists)
def test_the_two_sided_criterion_is_that_of_the_labels(
    problem: TwoSided, temperature: float, seed: int, shortlist: int
) -> None:
    kernel = problem.kernel(1, shortlist)
    assert kernel.states().tolist() == problem.states
    assert kernel.categories().tolist() == problem.categories
    for shortlisted in (False, True, True, False, True):
        before = kernel.criterion
        problem.sweep(kernel, temperature, seed, shortlisted)
        if shortlisted and temperature == 0:
            assert kernel.criterion >= before
        labels = kernel.states().tolist(), kernel.categories().tolist()
        expected = criterion_of(two_sided_criterion(problem.pairs, *labels))
        assert kernel.criterion == expected
        assert kernel.recompute_criterion() == expected


@settings(max_examples=40)  # the twin tries every move
@given(tied())
def test_plain_tied_sweeps_end_where_no_move_gains(problem: Tied) -> None:
    kernel = problem.kernel()
    words = len(problem.labels)
    order, scales = array(range(words)), np.ones(words, np.float32)
    sweep(kernel.visit, order, scales, 0.0, 0)
    for _ in range(100):
        before = kernel.criterion
        moves = sweep(kernel.visit, order, scales, 0.0, 0)
        assert kernel.criterion >= before
        assert (kernel.criterion > before) == (moves > 0)
        if moves == 0:
            break
    else:
        pytest.fail("the sweeps do not end")
    labels = kernel.labels().tolist()
    assert all(label < problem.targets for label in labels)
    for word in range(words):
        # The scores of two classes are compared, each with its rounding.
        most = LEAST_GAIN + 2 * problem.rounding(word)
        for target in range(problem.targets):
            assert tied_gain(problem.pairs, labels, word, target) <= most


@settings(max_examples=40)  # the twin tries every move
@given(any_two_sided)
def test_plain_two_sided_sweeps_end_where_no_move_gains(problem: TwoSided) -> None:
    kernel = problem.kernel()
    problem.sweep(kernel)
    for _ in range(100):
        before = kernel.criterion
        moves = problem.sweep(kernel)
        assert kernel.criterion >= before
        assert (kernel.criterion > before) == (moves > 0)
        if moves == 0:
            break
    else:
        pytest.fail("the sweeps do not end")
    states, categories = kernel.states().tolist(), kernel.categories().tolist()
    reached = two_sided_criterion(problem.pairs, states, categories)
    for word in range(len(categories)):
        n = events(problem.pairs, word)
        most = LEAST_GAIN + 2 * rounding(problem.pairs, n, problem.n_states + 2)
        for target in range(problem.category_targets):
            after = two_sided_criterion(problem.pairs, states, moved(categories, word, target))
            assert after - reached <= most
    if not problem.states_move:
        return
    for context in range(len(states)):
        n = events(transposed(problem.pairs), context)
        most = LEAST_GAIN + 2 * rounding(problem.pairs, n, problem.n_categories + 2)
        for target in range(problem.state_targets):
            after = two_sided_criterion(problem.pairs, moved(states, context, target), categories)
            assert after - reached <= most


@given(tied(), temperatures, st.data())
def test_only_words_of_the_order_move_and_only_to_targets(
    problem: Tied, temperature: float, data: st.DataObject
) -> None:
    words = len(problem.labels)
    order = data.draw(st.lists(st.integers(0, words - 1), max_size=words, unique=True))
    kernel = problem.kernel()
    sweep(kernel.visit, array(order), np.ones(words, np.float32), temperature, 1)
    for word, (before, after) in enumerate(zip(problem.labels, kernel.labels().tolist(), strict=True)):
        if word in order:
            assert after < problem.targets
        else:
            assert after == before


@given(any_two_sided, temperatures, st.data())
def test_only_elements_of_the_order_move_and_only_to_targets(
    problem: TwoSided, temperature: float, data: st.DataObject
) -> None:
    words, contexts = len(problem.categories), len(problem.states)
    order = data.draw(st.lists(st.integers(0, words - 1), max_size=words, unique=True))
    kernel = problem.kernel()
    sweep(kernel.visit_words, array(order), np.ones(words, np.float32), temperature, 1)
    assert kernel.states().tolist() == problem.states
    categories = kernel.categories().tolist()
    for word, (before, after) in enumerate(zip(problem.categories, categories, strict=True)):
        assert after < problem.category_targets if word in order else after == before
    if problem.states_move:
        order = data.draw(st.lists(st.integers(0, contexts - 1), max_size=contexts, unique=True))
        sweep(kernel.visit_contexts, array(order), np.ones(contexts, np.float32), temperature, 1)
        assert kernel.categories().tolist() == categories
        for context, (before, after) in enumerate(zip(problem.states, kernel.states().tolist(), strict=True)):
            assert after < problem.state_targets if context in order else after == before


def test_the_scale_of_a_word_is_its_own_temperature() -> None:
    words = 200
    problem = text_problem(words, 20)
    cold, hot = problem.kernel(), problem.kernel()
    order = array(range(words))
    while sweep(cold.visit, order, np.ones(words, np.float32), 0.0, 0):
        pass
    still = cold.labels()
    # Half of the words have no temperature at all, and nothing to gain.
    scales = np.where(np.arange(words) < words // 2, 0, 1e9).astype(np.float32)
    hot = Tied(problem.pairs, still.tolist(), problem.classes, problem.targets).kernel()
    sweep(hot.visit, order[: words // 2], scales, 1.0, 5)
    assert hot.labels().tolist() == still.tolist()
    # At a temperature beyond every gain, a word is anywhere alike: 19 of 20 move.
    moves = sweep(hot.visit, order[words // 2 :], scales, 1.0, 5)
    assert moves > words // 4


@pytest.mark.parametrize("shortlisted", [False, True])
@pytest.mark.parametrize("temperature", [2.0, 8.0])
def test_a_hot_word_is_drawn_as_by_the_twin(temperature: float, shortlisted: bool) -> None:
    problem = Tied(closed_bigrams([0, 1, 2, 0, 2, 1, 3, 0, 3, 2, 4, 1, 4, 0, 0]), [0, 1, 2, 3, 4], 5, 4)
    word, draws = 0, 20_000
    # On a shortlist as long as there are targets all of them are.
    kernel, order = problem.kernel(shortlist=4), array([word])
    scales = np.full(5, 0.5, np.float32)
    kernel.propose(order, scales, 0.0, 0)
    found: Counter[int] = Counter()
    for seed in range(draws):
        found[int(kernel.propose(order, scales, 2 * temperature, seed, shortlisted)[0][0])] += 1
    expected = annealed(tied_scores(problem.pairs, problem.labels, word, problem.targets), 0, temperature)
    assert min(expected) > 0.01
    for target, p in enumerate(expected):
        # Four standard deviations of a binomial draw; the seeds are fixed.
        assert abs(found[target] / draws - p) < 4 * math.sqrt(p * (1 - p) / draws)


@pytest.mark.parametrize("length", [1, 3])
def test_a_hot_word_goes_only_where_its_shortlist_leads(length: int) -> None:
    problem = text_problem(60, 7)
    kernel = problem.kernel(shortlist=length)
    for word in range(60):
        scores = kernel.scores(word)
        # The best of each of `length` groups of classes.
        groups = [range(7 * i // length, 7 * (i + 1) // length) for i in range(length)]
        shortlist = {max(group, key=lambda target: scores[target]) for group in groups}
        found = {
            int(kernel.propose(array([word]), np.ones(60, np.float32), 1e6, seed)[0][0])
            for seed in range(100)
        }
        assert found - {problem.labels[word]} == shortlist - {problem.labels[word]}


def test_annealing_needs_shortlists() -> None:
    kernel = text_problem(9, 5).kernel(shortlist=0)
    with pytest.raises(ValueError, match="needs shortlists"):
        kernel.visit(array([0]), np.ones(9, np.float32), 0.1, 0)


# ---- the same bytes


def tied_run(problem: Tied, threads: int, temperature: float, seed: int) -> tuple[bytes, float]:
    kernel = problem.kernel(threads, shortlist=5)
    words = len(problem.labels)
    for number in range(3):
        sweep(
            kernel.visit,
            array(range(words)),
            np.ones(words, np.float32),
            temperature,
            seed + number,
            number == 1,
        )
    return kernel.labels().tobytes(), kernel.criterion


def two_sided_run(problem: TwoSided, threads: int, temperature: float, seed: int) -> tuple[bytes, float]:
    kernel = problem.kernel(threads, shortlist=5)
    for number in range(3):
        problem.sweep(kernel, temperature, seed + number, number == 1)
    return kernel.states().tobytes() + kernel.categories().tobytes(), kernel.criterion


@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_tied_sweeps_do_not_depend_on_the_number_of_threads(temperature: float) -> None:
    problem = text_problem(300, 37, 36)
    one, two, three = (tied_run(problem, threads, temperature, 1) for threads in (1, 2, 3))
    assert one == two == three
    assert (tied_run(problem, 1, temperature, 100)[0] != one[0]) == (temperature > 0)


@pytest.mark.parametrize("states_move", [True, False], ids=["two-sided", "predictive"])
@pytest.mark.parametrize("temperature", [0.0, 2.0])
def test_two_sided_sweeps_do_not_depend_on_the_number_of_threads(
    temperature: float, states_move: bool
) -> None:
    problem = text_problem_two_sided(300, 37, states_move=states_move)
    one, two, three = (two_sided_run(problem, threads, temperature, 1) for threads in (1, 2, 3))
    assert one == two == three
    assert (two_sided_run(problem, 1, temperature, 100)[0] != one[0]) == (temperature > 0)


# ---- more events than 32 bits can count

# Just above 2^31 and 2^32, and so many that class bigrams are above 2^32 as well.
MANY_EVENTS = [2**31 + 1, 2**32 + 1, 2**36]


def scaled(pairs: Pairs, events: int) -> Pairs:
    """Return the counts times the least factor with which there are so many events."""
    factor = -(-events // sum(pairs.values()))
    return {pair: n * factor for pair, n in pairs.items()}


@pytest.mark.parametrize("n_events", MANY_EVENTS)
def test_tied_classes_of_many_events(n_events: int) -> None:
    small = text_problem(60, 7)
    # In the beginning one cell has all events.
    problem = Tied(scaled(small.pairs, n_events), [0] * 60, 7, 7)
    kernel, labels = problem.kernel(), list(problem.labels)
    assert kernel.criterion == criterion_of(problem.criterion(labels))
    for word in range(0, 60, 7):
        expected = tied_scores(problem.pairs, labels, word, 7)
        assert kernel.scores(word).tolist() == pytest.approx(expected, rel=0, abs=problem.rounding(word))
    for _ in range(3):
        moves = sweep(kernel.visit, array(range(60)), np.ones(60, np.float32))
        # Where each word is best does not depend on the factor.
        assert moves == len(clustering.sweep(small.criterion, labels, range(60), 7, 64))
        assert kernel.labels().tolist() == labels
        assert kernel.criterion == criterion_of(problem.criterion(labels))
        assert kernel.recompute_criterion() == criterion_of(problem.criterion(labels))


@pytest.mark.parametrize("states_move", [True, False], ids=["two-sided", "predictive"])
@pytest.mark.parametrize("n_events", MANY_EVENTS)
def test_states_and_categories_of_many_events(n_events: int, states_move: bool) -> None:
    small = text_problem_two_sided(40, 6, states_move=states_move)
    states = [0] * 40 if states_move else small.states
    problem = replace(small, pairs=scaled(small.pairs, n_events), states=states, categories=[0] * 40)
    kernel, categories = problem.kernel(), [0] * 40
    for _ in range(3):
        moves = sweep(kernel.visit_words, array(range(40)), np.ones(40, np.float32))
        gone = clustering.sweep(
            partial(two_sided_criterion, small.pairs, states), categories, range(40), 6, 64
        )
        if states_move:
            moves += sweep(kernel.visit_contexts, array(range(40)), np.ones(40, np.float32))
            pairs = transposed(small.pairs)
            gone += clustering.sweep(
                partial(two_sided_criterion, pairs, categories), states, range(40), 6, 64
            )
        assert moves == len(gone)
        assert (kernel.states().tolist(), kernel.categories().tolist()) == (states, categories)
        assert kernel.criterion == criterion_of(two_sided_criterion(problem.pairs, states, categories))
