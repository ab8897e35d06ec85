from __future__ import annotations

import math
from collections import Counter

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
    temperatures,
    text_problem,
    text_problem_two_sided,
    tied,
)
from naive.exchange import (
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
@example(Tied({(0, 0): 2_147_483_647}, [0], 2, 2))
@example(Tied({(0, 1): 70_000, (1, 0): 70_000, (0, 0): 3, (1, 1): 300_000}, [0, 0], 17, 16))
def test_tied_scores_are_those_of_the_twin(problem: Tied) -> None:
    kernel = problem.kernel()
    for word in range(len(problem.labels)):
        expected = tied_scores(problem.pairs, problem.labels, word, problem.targets)
        assert kernel.scores(word).tolist() == pytest.approx(expected, rel=0, abs=problem.rounding(word))


@given(any_two_sided)
@example(TwoSided({(0, 0): 1}, [0], [34], 1, 1, 35, 34, False))
@example(TwoSided({(0, 0): 2, (0, 1): 3}, [0], [0, 34], 1, 1, 35, 35, False))
@example(TwoSided({(0, 0): 2_147_483_647}, [0], [0], 1, 1, 35, 35, False))
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
        kernel.sweep(array(range(words)), np.ones(words, np.float32), temperature, seed, shortlisted)
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
    kernel.sweep(order, scales, 0.0, 0)
    for _ in range(100):
        before = kernel.criterion
        moves = kernel.sweep(order, scales, 0.0, 0)
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
    kernel.sweep(array(order), np.ones(words, np.float32), temperature, 1)
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
    kernel.sweep_words(array(order), np.ones(words, np.float32), temperature, 1)
    assert kernel.states().tolist() == problem.states
    categories = kernel.categories().tolist()
    for word, (before, after) in enumerate(zip(problem.categories, categories, strict=True)):
        assert after < problem.category_targets if word in order else after == before
    if problem.states_move:
        order = data.draw(st.lists(st.integers(0, contexts - 1), max_size=contexts, unique=True))
        kernel.sweep_contexts(array(order), np.ones(contexts, np.float32), temperature, 1)
        assert kernel.categories().tolist() == categories
        for context, (before, after) in enumerate(zip(problem.states, kernel.states().tolist(), strict=True)):
            assert after < problem.state_targets if context in order else after == before


def test_the_scale_of_a_word_is_its_own_temperature() -> None:
    words = 200
    problem = text_problem(words, 20)
    cold, hot = problem.kernel(), problem.kernel()
    order = array(range(words))
    while cold.sweep(order, np.ones(words, np.float32), 0.0, 0):
        pass
    still = cold.labels()
    # Half of the words have no temperature at all, and nothing to gain.
    scales = np.where(np.arange(words) < words // 2, 0, 1e9).astype(np.float32)
    hot = Tied(problem.pairs, still.tolist(), problem.classes, problem.targets).kernel()
    hot.sweep(order[: words // 2], scales, 1.0, 5)
    assert hot.labels().tolist() == still.tolist()
    # At a temperature beyond every gain, a word is anywhere alike: 19 of 20 move.
    moves = hot.sweep(order[words // 2 :], scales, 1.0, 5)
    assert moves > words // 4


@pytest.mark.parametrize("shortlisted", [False, True])
@pytest.mark.parametrize("temperature", [2.0, 8.0])
def test_a_hot_word_is_drawn_from_the_softmax_of_its_scores(temperature: float, shortlisted: bool) -> None:
    problem = Tied(closed_bigrams([0, 1, 2, 0, 2, 1, 3, 0, 3, 2, 4, 1, 4, 0, 0]), [0, 1, 2, 3, 4], 5, 4)
    word, draws = 0, 20_000
    # On a shortlist as long as there are targets all of them are.
    kernel, order = problem.kernel(shortlist=4), array([word])
    # Where the word is does not matter: it is taken out before it is scored.
    scales = np.full(5, 0.5, np.float32)
    found: Counter[int] = Counter()
    for seed in range(draws):
        kernel.sweep(order, scales, 2 * temperature, seed, shortlisted)
        found[int(kernel.labels()[word])] += 1
    scores = np.array(tied_scores(problem.pairs, problem.labels, word, problem.targets))
    expected = np.exp((scores - scores.max()) / temperature)
    expected /= expected.sum()
    assert expected.min() > 0.01
    for target, p in enumerate(expected.tolist()):
        # Four standard deviations of a binomial draw; the seeds are fixed.
        assert abs(found[target] / draws - p) < 4 * math.sqrt(p * (1 - p) / draws)


# ---- the same bytes


def tied_run(problem: Tied, threads: int, temperature: float, seed: int) -> tuple[bytes, float]:
    kernel = problem.kernel(threads, shortlist=5)
    words = len(problem.labels)
    for number in range(3):
        kernel.sweep(array(range(words)), np.ones(words, np.float32), temperature, seed + number, number == 1)
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


@pytest.mark.parametrize("temperature", [0.0, 2.0])
@pytest.mark.parametrize("cuts", [[64], [128], [64, 192, 256]])
def test_a_sweep_may_be_cut_between_batches(cuts: list[int], temperature: float) -> None:
    words = 300
    problem = text_problem(words, 37)
    order, scales = array(range(words))[::-1].copy(), np.ones(words, np.float32)
    whole, parts = problem.kernel(2), problem.kernel(2)
    moves = whole.sweep(order, scales, temperature, 7)
    moves_of_parts = sum(parts.sweep(part, scales, temperature, 7) for part in np.split(order, cuts))
    assert moves_of_parts == moves > 0
    assert parts.labels().tolist() == whole.labels().tolist()
    assert parts.criterion == whole.criterion
