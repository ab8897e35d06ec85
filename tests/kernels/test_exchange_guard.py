"""An exchange kernel is used by one thread at a time: others are refused, whatever they ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache

import numpy as np
import pytest

from exchange_problems import Tied, TwoSided, array, text_problem, text_problem_two_sided
from stategram import _core

WORDS = 400
ORDER = array(range(WORDS))
SCALES = np.ones(WORDS, np.float32)
NO_NOISE = np.zeros(WORDS)
HOT = 5.0  # so that there is always something to move


@cache
def tied_problem() -> Tied:
    return text_problem(WORDS, 300)


@cache
def two_sided_problem() -> TwoSided:
    return text_problem_two_sided(WORDS, 300, states_move=True)


@contextmanager
def at_work(work: Callable[[], object]) -> Iterator[None]:
    """Keep another thread busy with the work; it may be refused, too."""
    stop, begun = threading.Event(), threading.Event()

    def repeat() -> None:
        while not stop.is_set():
            begun.set()
            with suppress(RuntimeError):
                work()

    thread = threading.Thread(target=repeat)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def assert_refused(use: Callable[[], object]) -> None:
    """Most of the time the other thread is inside the kernel: one of many uses meets it there."""

    def use_again_and_again() -> None:
        while True:
            use()

    with pytest.raises(RuntimeError, match="in use by another thread"):
        use_again_and_again()


TIED: dict[str, Callable[[_core.TiedExchange], object]] = {
    "visit": lambda kernel: kernel.visit(ORDER, SCALES, HOT, 1),
    "propose": lambda kernel: kernel.propose(ORDER, SCALES, HOT, 1),
    "apply": lambda kernel: kernel.apply(ORDER, np.zeros(WORDS, np.uint32), NO_NOISE),
    "scores": lambda kernel: kernel.scores(0),
    "labels": lambda kernel: kernel.labels(),
    "criterion": lambda kernel: kernel.criterion,
    "recompute_criterion": lambda kernel: kernel.recompute_criterion(),
}
TWO_SIDED: dict[str, Callable[[_core.TwoSidedExchange], object]] = {
    "visit_words": lambda kernel: kernel.visit_words(ORDER, SCALES, HOT, 1),
    "visit_contexts": lambda kernel: kernel.visit_contexts(ORDER, SCALES, HOT, 1),
    "propose_words": lambda kernel: kernel.propose_words(ORDER, SCALES, HOT, 1),
    "propose_contexts": lambda kernel: kernel.propose_contexts(ORDER, SCALES, HOT, 1),
    "apply_words": lambda kernel: kernel.apply_words(ORDER, np.zeros(WORDS, np.uint32), NO_NOISE),
    "apply_contexts": lambda kernel: kernel.apply_contexts(ORDER, np.zeros(WORDS, np.uint32), NO_NOISE),
    "word_scores": lambda kernel: kernel.word_scores(0),
    "context_scores": lambda kernel: kernel.context_scores(0),
    "word_gains": lambda kernel: kernel.word_gains(0),
    "context_gains": lambda kernel: kernel.context_gains(0),
    "categories": lambda kernel: kernel.categories(),
    "states": lambda kernel: kernel.states(),
    "leave_one_out": lambda kernel: kernel.leave_one_out(),
    "b": lambda kernel: kernel.b,
    "criterion": lambda kernel: kernel.criterion,
    "recompute_criterion": lambda kernel: kernel.recompute_criterion(),
    "likelihood": lambda kernel: kernel.likelihood,
}


def public(kernel: type) -> set[str]:
    return {name for name in dir(kernel) if not name.startswith("_")}


def test_nothing_is_left_out() -> None:
    assert public(_core.TiedExchange) == set(TIED)
    assert public(_core.TwoSidedExchange) == set(TWO_SIDED)


@pytest.mark.parametrize("use", TIED)
def test_a_tied_exchange(use: str) -> None:
    kernel = tied_problem().kernel(2)
    with at_work(lambda: kernel.visit(ORDER, SCALES, HOT, 2)):
        assert_refused(lambda: TIED[use](kernel))
    assert kernel.recompute_criterion() == pytest.approx(tied_problem().criterion(kernel.labels().tolist()))


@pytest.mark.parametrize("use", TWO_SIDED)
def test_a_two_sided_exchange(use: str) -> None:
    kernel = two_sided_problem().kernel(2)
    with at_work(lambda: kernel.visit_words(ORDER, SCALES, HOT, 2)):
        assert_refused(lambda: TWO_SIDED[use](kernel))
    # Whoever was refused has changed nothing.
    assert kernel.visit_contexts(ORDER, SCALES, 0.0, 0) >= 0


HIERARCHY: dict[str, Callable[[_core.HierarchyBuilder], object]] = {
    "run": lambda builder: builder.run(1),
    "merges": lambda builder: builder.merges(),
    "losses": lambda builder: builder.losses(),
}


@pytest.mark.parametrize("use", HIERARCHY)
def test_a_hierarchy(use: str) -> None:
    assert public(_core.HierarchyBuilder) == set(HIERARCHY)
    counts = np.random.default_rng(1).poisson(0.2, (300, 300)).astype(np.int64)
    refused: list[str] = []

    def tried(work: Callable[[_core.HierarchyBuilder], object], builder: _core.HierarchyBuilder) -> None:
        try:
            work(builder)
        except RuntimeError as error:
            refused.append(str(error))

    for _ in range(1000):  # the two may miss each other
        builder = _core.HierarchyBuilder(counts, 300)
        thread = threading.Thread(target=tried, args=[lambda builder: builder.run(300), builder])
        thread.start()
        while thread.is_alive() and not refused:
            tried(HIERARCHY[use], builder)
        thread.join()
        if refused:
            break
    # Whoever came second.
    assert refused
    assert all("in use by another thread" in message for message in refused)
