"""A kernel object that works in one thread refuses another; `make sanitize-threads` looks on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import pytest

from stategram import _core
from word_tree_problems import random_paths, random_words, tree_of

T = TypeVar("T")


def call_from_two_threads(work: Callable[[], T]) -> list[T]:
    """Return the results of calls from two threads, made until one was refused."""
    results: list[T] = []
    failures: list[BaseException] = []
    refused = threading.Event()

    def call() -> None:
        while not refused.is_set() and not failures:
            try:
                results.append(work())
            except RuntimeError as error:
                if "in use by another thread" not in str(error):
                    failures.append(error)
                refused.set()
            except BaseException as error:
                failures.append(error)

    threads = [threading.Thread(target=call) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert refused.is_set()
    return results


@pytest.mark.parametrize("threads", [1, 2])
def test_the_likelihood_of_a_gate(threads: int) -> None:
    generator = np.random.default_rng(3)
    ratios = generator.uniform(0.1, 1.0, (20_000, 3)).astype(np.float32)
    rows = generator.integers(0, 50, (2, 20_000)).astype(np.uint32)
    factors = generator.normal(size=150)
    kernel = _core.GateLikelihood(ratios, rows, 50, threads)
    value, gradient = kernel.value_and_gradient(factors)
    for other_value, other_gradient in call_from_two_threads(lambda: kernel.value_and_gradient(factors)):
        assert other_value == value
        assert other_gradient.tobytes() == gradient.tobytes()


@pytest.mark.parametrize("kind", ["linear", "recurrent"])
def test_the_learner_of_a_vector_state(kind: str) -> None:
    words = random_words(40_000, 12, 1)
    text = np.array(words, np.uint32), np.zeros(len(words), np.uint8)
    trees, bias = [tree_of(random_paths(12, 1))], [np.zeros(11, np.float32)]
    if kind == "linear":
        linear = _core.LinearLearner(trees, bias, 32, 3, [0.9], 1)
        learned = call_from_two_threads(lambda: linear.learn(*text, 0, len(words), 0.0, 0.0))
    else:
        recurrent = _core.RecurrentLearner(trees, bias, 32, 0.0, 0.0, 1)
        rates = 0.0, 0.0
        learned = call_from_two_threads(lambda: recurrent.learn(*text, 0, 39, rates, rates))
    # Rates of 0: a recurrent state carries its streams on, but u is 0.
    assert len(set(map(tuple, learned))) == 1


def test_the_encoder_of_a_text() -> None:
    encoder = _core.TextEncoder(False, False, 2)
    line = b"a rose is a rose\n"
    taken = call_from_two_threads(lambda: encoder.feed(line * 50_000))
    assert set(taken) <= {None}
    encoder.end_file()
    encoder.merge(b"", b"")
    encoder.choose_vocabulary(9, 1)
    ids, starts, _ = encoder.encode()
    assert (len(ids), len(starts) - 1) == (6 * 50_000 * len(taken), 50_000 * len(taken))


def test_the_reader_of_an_arpa_file() -> None:
    reader = _core.ArpaReader(2)
    reader.feed(b"\\data\\\nngram 1=1\n")
    assert set(call_from_two_threads(lambda: reader.feed(b"\n" * 500_000))) <= {False}
    assert reader.feed(b"\\1-grams:\n-1 a\n\\end\\\n")
    assert reader.counts == [1]


def test_the_writer_of_an_arpa_file() -> None:
    size = 50_000
    words = np.arange(-1, size).astype(np.uint32)
    words[0] = 0
    log_probs, backoffs = np.zeros(size + 1, np.float32), np.zeros(1, np.float32)
    first_child = np.array([1, size + 1], np.uint32)
    letters = np.full(size, ord("a"), np.uint8)
    offsets = np.arange(size + 1, dtype=np.int64)
    begins = np.array([0, 1, size + 1], np.int64)
    numbers = np.arange(size, dtype=np.uint32)
    trie = _core.PlainTrie(numbers, begins, words, log_probs, backoffs, first_child, 2)
    writer = _core.ArpaWriter(letters, offsets, trie, 2)
    assert set(call_from_two_threads(lambda: writer.lines(1, 0, size))) <= {b"0\ta\n" * size}
