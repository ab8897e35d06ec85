from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive.exchange import (
    Pairs,
    closed_bigrams,
    moved,
    tied_criterion,
    tied_gain,
    tied_scores,
    transposed,
    two_sided_criterion,
    two_sided_scores,
)
from stategram import _core

Rows = tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]

# The kernel takes other ways for counts above 4, rows above 2^16 and above 2^18, and floats are no longer
# exact above 2^24.
WEIGHTS = [1, 1, 1, 2, 4, 5, 100, 66_000, 270_000, 17_000_000]
# Vectors of 16 floats: one less, one more, tails of every kind.
MOST_CLUSTERS = 35
# Gains below this count as rounding errors.
LEAST_GAIN = 1e-6


def array(values: Iterable[int]) -> NDArray[np.uint32]:
    return np.array(list(values), dtype=np.uint32)


def rows_of(pairs: Pairs, n_rows: int) -> Rows:
    """Give the pairs in compressed rows."""
    ordered = sorted(pairs.items())
    sizes = np.bincount([a for (a, _), _ in ordered], minlength=n_rows) if ordered else np.zeros(n_rows, int)
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return offsets, array(b for (_, b), _ in ordered), array(n for _, n in ordered)


def rounding(pairs: Pairs, n: int, additions: int) -> float:
    """How far a score of an element with n events may be from the truth, as it is a sum of floats.

    Every term is f(N + x) - f(N) <= x (log T + 1) for some x of the element's events, and these x add up
    to at most 12 n in the tied case (2 n in the margins, 2 n in the rows, 4 n in the corner, 4 n in the cells
    of the home class), less in the other. A sum of m floats is off by at most m units of roundoff of that; a
    term that was computed and not looked up, by some 16 more.
    """
    total = sum(pairs.values())
    return (additions + 16) * 2.0**-24 * 12 * n * (math.log(max(total, 1)) + 1)


def events(pairs: Pairs, word: int) -> int:
    return sum(n for (_, w), n in pairs.items() if w == word)


def criterion_of(value: float) -> object:
    """Sums of doubles in another order: a few thousand roundings of 1e-16."""
    return pytest.approx(value, rel=1e-9, abs=1e-9)


@dataclass(frozen=True)
class Tied:
    """Words of a closed stream, given by weighted cycles, in classes; some classes take no words."""

    pairs: Pairs
    labels: list[int]
    classes: int
    targets: int

    def kernel(self, threads: int = 1) -> _core.TiedExchange:
        n = len(self.labels)
        return _core.TiedExchange(
            *rows_of(self.pairs, n),
            *rows_of(transposed(self.pairs), n),
            array(self.labels),
            self.classes,
            self.targets,
            threads,
        )

    def criterion(self, labels: Sequence[int]) -> float:
        return tied_criterion(self.pairs, range(len(labels)), labels)

    def rounding(self, word: int) -> float:
        return rounding(self.pairs, events(self.pairs, word), 2 * self.classes + 4)


@dataclass(frozen=True)
class TwoSided:
    """Events of contexts and words; both in clusters."""

    pairs: Pairs
    states: list[int]
    categories: list[int]
    n_states: int
    state_targets: int
    n_categories: int
    category_targets: int
    states_move: bool

    def kernel(self, threads: int = 1) -> _core.TwoSidedExchange:
        return _core.TwoSidedExchange(
            *rows_of(self.pairs, len(self.states)),
            *rows_of(transposed(self.pairs), len(self.categories)),
            array(self.states),
            array(self.categories),
            self.n_states,
            self.state_targets,
            self.n_categories,
            self.category_targets,
            self.states_move,
            threads,
        )

    def sweep(self, kernel: _core.TwoSidedExchange, temperature: float = 0.0, seed: int = 0) -> int:
        words, contexts = len(self.categories), len(self.states)
        moves = kernel.sweep_words(array(range(words)), np.ones(words, np.float32), temperature, seed)
        if self.states_move:
            moves += kernel.sweep_contexts(
                array(range(contexts)), np.ones(contexts, np.float32), temperature, seed
            )
        return moves


weights = st.sampled_from(WEIGHTS)


@st.composite
def clusters(draw: st.DrawFn, elements: int) -> tuple[list[int], int, int]:
    """Labels, the number of clusters, and how many of them take elements."""
    n = draw(st.integers(1, MOST_CLUSTERS))
    targets = draw(st.integers(max(1, n - 2), n))
    # Elements of the first, the last and the other clusters, with company more often than chance gives.
    label = st.sampled_from([0, targets - 1, n - 1, draw(st.integers(0, n - 1)), *range(0, n, 5)])
    return draw(st.lists(label, min_size=elements, max_size=elements)), n, targets


@st.composite
def tied(draw: st.DrawFn) -> Tied:
    words = draw(st.integers(1, 12))
    cycle = st.lists(st.integers(0, words - 1), min_size=1, max_size=8)
    pairs: Counter[tuple[int, int]] = Counter()
    for ids, weight in draw(st.lists(st.tuples(cycle, weights), max_size=10)):
        pairs.update({pair: n * weight for pair, n in closed_bigrams(ids).items()})
    return Tied(pairs, *draw(clusters(words)))


@st.composite
def two_sided(draw: st.DrawFn, states_move: bool = True) -> TwoSided:
    contexts, words = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    pair = st.tuples(st.integers(0, contexts - 1), st.integers(0, words - 1))
    pairs = draw(st.dictionaries(pair, weights, max_size=40))
    states, n_states, state_targets = (
        draw(clusters(contexts)) if states_move else (list(range(contexts)), contexts, contexts)
    )
    categories, n_categories, category_targets = draw(clusters(words))
    return TwoSided(
        pairs, states, categories, n_states, state_targets, n_categories, category_targets, states_move
    )


any_two_sided = st.booleans().flatmap(lambda states_move: two_sided(states_move=states_move))
temperatures = st.sampled_from([0.0, 0.1, 3.0, 1e6])


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


@given(tied(), temperatures, st.integers(0, 2**64 - 1))
def test_the_tied_criterion_is_that_of_the_labels(problem: Tied, temperature: float, seed: int) -> None:
    kernel = problem.kernel()
    words = len(problem.labels)
    assert kernel.labels().tolist() == problem.labels
    assert kernel.criterion == criterion_of(problem.criterion(problem.labels))
    for _ in range(4):
        kernel.sweep(array(range(words)), np.ones(words, np.float32), temperature, seed)
        expected = criterion_of(problem.criterion(kernel.labels().tolist()))
        assert kernel.criterion == expected
        assert kernel.recount() == expected


@given(any_two_sided, temperatures, st.integers(0, 2**64 - 1))
def test_the_two_sided_criterion_is_that_of_the_labels(
    problem: TwoSided, temperature: float, seed: int
) -> None:
    kernel = problem.kernel()
    assert kernel.states().tolist() == problem.states
    assert kernel.categories().tolist() == problem.categories
    for _ in range(4):
        problem.sweep(kernel, temperature, seed)
        labels = kernel.states().tolist(), kernel.categories().tolist()
        expected = criterion_of(two_sided_criterion(problem.pairs, *labels))
        assert kernel.criterion == expected
        assert kernel.recount() == expected


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
    order = data.draw(st.lists(st.integers(0, words - 1), max_size=words))
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
    order = data.draw(st.lists(st.integers(0, words - 1), max_size=words))
    kernel = problem.kernel()
    kernel.sweep_words(array(order), np.ones(words, np.float32), temperature, 1)
    assert kernel.states().tolist() == problem.states
    categories = kernel.categories().tolist()
    for word, (before, after) in enumerate(zip(problem.categories, categories, strict=True)):
        assert after < problem.category_targets if word in order else after == before
    if problem.states_move:
        order = data.draw(st.lists(st.integers(0, contexts - 1), max_size=contexts))
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


@pytest.mark.parametrize("temperature", [2.0, 8.0])
def test_a_hot_word_is_drawn_from_the_softmax_of_its_scores(temperature: float) -> None:
    problem = Tied(closed_bigrams([0, 1, 2, 0, 2, 1, 3, 0, 3, 2, 4, 1, 4, 0, 0]), [0, 1, 2, 3, 4], 5, 4)
    word, draws = 0, 20_000
    kernel, order = problem.kernel(), array([word])
    # Where the word is does not matter: it is taken out before it is scored.
    scales = np.full(5, 0.5, np.float32)
    found: Counter[int] = Counter()
    for seed in range(draws):
        kernel.sweep(order, scales, 2 * temperature, seed)
        found[int(kernel.labels()[word])] += 1
    scores = np.array(tied_scores(problem.pairs, problem.labels, word, problem.targets))
    expected = np.exp((scores - scores.max()) / temperature)
    expected /= expected.sum()
    assert expected.min() > 0.01
    for target, p in enumerate(expected.tolist()):
        # Four standard deviations of a binomial draw; the seeds are fixed.
        assert abs(found[target] / draws - p) < 4 * math.sqrt(p * (1 - p) / draws)


# ---- the same bytes


def text_problem(words: int, classes: int, targets: int | None = None) -> Tied:
    rng = np.random.default_rng(words)
    ids = (rng.zipf(1.2, 20 * words) % words).tolist()
    labels = rng.integers(0, classes, words).tolist()
    return Tied(closed_bigrams(ids), labels, classes, targets or classes)


def text_problem_two_sided(words: int, n: int, *, states_move: bool) -> TwoSided:
    problem = text_problem(words, n)
    if states_move:
        states, n_states = problem.labels[::-1], n
    else:
        states, n_states = list(range(words)), words
    return TwoSided(problem.pairs, states, problem.labels, n_states, n_states, n, n, states_move)


def tied_run(problem: Tied, threads: int, temperature: float, seed: int) -> tuple[bytes, float]:
    kernel = problem.kernel(threads)
    words = len(problem.labels)
    for number in range(3):
        kernel.sweep(array(range(words)), np.ones(words, np.float32), temperature, seed + number)
    return kernel.labels().tobytes(), kernel.criterion


def two_sided_run(problem: TwoSided, threads: int, temperature: float, seed: int) -> tuple[bytes, float]:
    kernel = problem.kernel(threads)
    for number in range(3):
        problem.sweep(kernel, temperature, seed + number)
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


# ---- refusals


def good_tied() -> dict[str, object]:
    pairs = closed_bigrams([0, 1, 2, 0, 2, 1])
    successors, predecessors = rows_of(pairs, 3), rows_of(transposed(pairs), 3)
    return {
        "successor_offsets": successors[0],
        "successors": successors[1],
        "successor_counts": successors[2],
        "predecessor_offsets": predecessors[0],
        "predecessors": predecessors[1],
        "predecessor_counts": predecessors[2],
        "labels": array([0, 1, 1]),
        "classes": 2,
        "targets": 2,
        "threads": 1,
    }


def good_two_sided() -> dict[str, object]:
    pairs = {(0, 0): 3, (0, 2): 1, (1, 1): 2, (1, 0): 1}
    words, contexts = rows_of(pairs, 2), rows_of(transposed(pairs), 3)
    return {
        "word_offsets": words[0],
        "words": words[1],
        "word_counts": words[2],
        "context_offsets": contexts[0],
        "contexts": contexts[1],
        "context_counts": contexts[2],
        "states": array([0, 1]),
        "categories": array([0, 1, 2]),
        "n_states": 2,
        "state_targets": 2,
        "n_categories": 3,
        "category_targets": 3,
        "states_move": True,
        "threads": 1,
    }


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("successor_offsets", np.array([0, 2, 4], np.int64), "do not fit together"),
        ("successor_offsets", np.array([], np.int64), "do not fit together"),
        ("successor_offsets", np.array([1, 2, 4, 6], np.int64), "do not fit together"),
        ("successor_offsets", np.array([0, 2, 4, 7], np.int64), "do not fit together"),
        ("successor_offsets", np.array([0, 9, 4, 6], np.int64), "offsets fall"),
        ("successor_offsets", np.array([0, -9, 4, 6], np.int64), "offsets fall"),
        ("successors", array([1, 2, 0, 2, 0, 3]), "out of range"),
        ("successors", array([1, 2, 0, 2, 0]), "do not fit together"),
        ("successors", array([1, 2, 0, 0, 0, 1]), "transpose"),
        ("successor_counts", array([1, 1, 1, 1, 1, 2]), "transpose"),
        ("successor_counts", array([1, 1, 1, 1, 1, 0]), "a count is 0"),
        ("successor_counts", array([1, 1, 1, 1, 1, 2**31 - 1]), "more than"),
        ("predecessor_offsets", np.array([0, 1, 4, 6], np.int64), "transpose"),
        ("predecessors", array([1, 2, 0, 2, 0, 0]), "transpose"),
        ("predecessors", array([1, 2, 0, 2, 0, 4_000_000_000]), "out of range"),
        ("predecessor_counts", array([1, 1, 1, 1, 1]), "do not fit together"),
        ("predecessor_counts", array([1, 1, 1, 1, 2, 1]), "transpose"),
        ("labels", array([0, 1]), "do not fit together"),
        ("labels", array([0, 1, 2]), "not below the number of clusters"),
        ("labels", array([0, 1, 4_294_967_295]), "not below the number of clusters"),
        ("targets", 0, "targets must be"),
        ("targets", 3, "targets must be"),
        ("threads", 0, "threads must be at least 1"),
        ("threads", -1, "threads must be at least 1"),
    ],
)
def test_unusable_tied_problems_are_refused(name: str, value: object, message: str) -> None:
    good = good_tied()
    _core.TiedExchange(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        _core.TiedExchange(**{**good, name: value})  # type: ignore[arg-type]


def test_a_word_needs_as_many_predecessors_as_successors() -> None:
    pairs = {(0, 1): 2, (1, 0): 1}
    with pytest.raises(ValueError, match="as many predecessors as successors"):
        Tied(pairs, [0, 0], 1, 1).kernel()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("word_offsets", np.array([0, 4], np.int64), "do not fit together"),
        ("words", array([0, 2, 0, 3]), "out of range"),
        ("words", array([0, 1, 0, 1]), "transpose"),
        ("word_counts", array([1, 3, 1, 2]), "transpose"),
        ("word_counts", array([3, 1, 0, 2]), "a count is 0"),
        ("context_offsets", np.array([0, 1, 3, 4], np.int64), "transpose"),
        ("contexts", array([0, 1, 1, 2]), "out of range"),
        ("contexts", array([0, 0, 1, 0]), "transpose"),
        ("context_counts", array([3, 1, 1, 1]), "transpose"),
        ("context_counts", array([2**31, 1, 1, 1]), "more than"),
        ("states", array([0]), "do not fit together"),
        ("states", array([0, 2]), "not below the number of clusters"),
        ("categories", array([0, 1]), "out of range"),
        ("categories", array([0, 1, 3]), "not below the number of clusters"),
        ("state_targets", 0, "targets must be"),
        ("state_targets", 3, "targets must be"),
        ("category_targets", 0, "targets must be"),
        ("category_targets", 4, "targets must be"),
        ("threads", 0, "threads must be at least 1"),
    ],
)
@pytest.mark.parametrize("states_move", [True, False])
def test_unusable_two_sided_problems_are_refused(
    states_move: bool, name: str, value: object, message: str
) -> None:
    good = {**good_two_sided(), "states_move": states_move}
    _core.TwoSidedExchange(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=message):
        _core.TwoSidedExchange(**{**good, name: value})  # type: ignore[arg-type]


def test_fewer_counts_on_one_side_are_refused() -> None:
    good = good_two_sided()
    fewer = rows_of({(0, 0): 3, (2, 0): 1, (1, 1): 2}, 3)
    good.update(zip(("context_offsets", "contexts", "context_counts"), fewer, strict=True))
    with pytest.raises(ValueError, match="transpose"):
        _core.TwoSidedExchange(**good)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("order", "scales", "temperature", "message"),
    [
        ([0, 3], 3, 0.0, "element 3 does not exist"),
        ([0], 2, 0.0, "one scale for each element"),
        ([0], 4, 0.0, "one scale for each element"),
        ([0], 3, -0.1, "the temperature must be"),
        ([0], 3, math.nan, "the temperature must be"),
        ([0], 3, math.inf, "the temperature must be"),
        ([0], 3, 1e300, "the temperature must be"),
    ],
)
def test_unusable_sweeps_are_refused(order: list[int], scales: int, temperature: float, message: str) -> None:
    tied_kernel = _core.TiedExchange(**good_tied())  # type: ignore[arg-type]
    words = _core.TwoSidedExchange(**good_two_sided())  # type: ignore[arg-type]
    for sweep in (tied_kernel.sweep, words.sweep_words):
        with pytest.raises(ValueError, match=message):
            sweep(array(order), np.ones(scales, np.float32), temperature, 0)


def test_scores_of_elements_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="no such word"):
        _core.TiedExchange(**good_tied()).scores(3)  # type: ignore[arg-type]
    kernel = _core.TwoSidedExchange(**good_two_sided())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no such element"):
        kernel.word_scores(3)
    with pytest.raises(ValueError, match="no such element"):
        kernel.context_scores(2)


def test_states_that_do_not_move_cannot_be_swept() -> None:
    kernel = _core.TwoSidedExchange(**{**good_two_sided(), "states_move": False})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="do not move"):
        kernel.sweep_contexts(array([0]), np.ones(2, np.float32), 0.0, 0)
    with pytest.raises(ValueError, match="do not move"):
        kernel.context_scores(0)


def test_no_words_are_no_problem() -> None:
    kernel = Tied({}, [], 3, 3).kernel()
    assert kernel.sweep(array([]), np.ones(0, np.float32), 1.0, 0) == 0
    assert kernel.criterion == 0.0
    assert kernel.labels().size == 0
