"""Scoring and learning with word trees: the twin's probabilities, proper ones, the same for any threads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.word_tree as naive
from naive.word_tree_paths import word_tree_paths
from stategram import _core
from word_tree_problems import (
    BEGIN,
    END,
    Problem,
    ids,
    random_paths,
    random_words,
    score,
    stream_of,
    words_before,
)

SENTENCE, DOCUMENT, ADAPTIVE = HISTORIES = range(3)
CHAINS = [
    naive.Chain((0, 1, 2)),
    naive.Chain((3, 0), uses_continuation=False),
    naive.Chain((1, 2)),
    naive.Chain((4, 3), is_document=True),
    naive.Chain((4,), uses_continuation=False, is_document=True),
]
CACHES = [naive.Cache((), 0.9), naive.Cache((), 0.99), naive.Cache((0,), 0.95), naive.Cache((1, 0), 0.98)]
# The kernel rounds to 2^-24. A probability is rounded about ten times for each of three levels, and loses
# digits where a discount of up to 0.95 is taken from a count of one. So much evidence is off; a
# log-probability by as much times the weights, at each node.
ROUNDING = 2**-24 * 10 * 3 * 20


def tolerance(
    twin: naive.Model,
    event: naive.Event,
    weights: Sequence[float],
    history: int,
    before: Sequence[naive.Event],
) -> float:
    total = 0.0
    for depth in range(len(twin.paths[event.word])):
        node = twin.paths[event.word][:depth]
        inputs = twin.inputs(event.values, node, history, before)
        places = twin.places(inputs, node, event.of_class)
        # Where nothing was seen there is nothing to round.
        total += sum(
            abs(sum(weights[at] for at in of_input))
            for x, of_input in zip(inputs.x, places, strict=True)
            if x
        )
    return total * ROUNDING


def assert_twin(problem: Problem, events: Sequence[naive.Event], seed: int = 1) -> None:
    """Score events in all histories."""
    kernel, twins = problem.kernel(), problem.twins()
    for history in HISTORIES:
        weights = problem.weights(kernel, history, seed)
        found = score(kernel, events, history, weights)
        for of_tree, twin, of_twin in zip(found, twins, weights, strict=True):
            learned, squares = of_twin.tolist(), [1.0] * len(of_twin)
            rate = problem.adaptive_rate if history == ADAPTIVE else 0.0
            for place, event in enumerate(events):
                close = tolerance(twin, event, learned, history, events[:place])
                expected = twin.log_prob(event, learned, history, events[:place])
                twin.learn_event(events, place, rate, learned, squares, history)
                assert close < 0.02
                assert of_tree[place] == pytest.approx(expected, abs=close), (history, place)
        for threads in (2, 3):
            same = problem.kernel(threads)
            other = score(same, events, history, weights, threads=threads)
            assert other.tobytes() == found.tobytes()


@cache
def story(n_words: int = 12, n_events: int = 150, n_trees: int = 2) -> Problem:
    events = words_before(random_words(n_events, n_words, 3), is_rare=[5, 7, 8])
    return Problem(events, [random_paths(n_words, seed) for seed in range(n_trees)], CHAINS, CACHES)


@cache
def large_story() -> Problem:
    """Contexts of more than 64 words, in lists that are divided by the tree."""
    return Problem(
        words_before(random_words(4000, 180, 5), is_rare=range(90, 180)),
        [random_paths(180, seed) for seed in (1, 2)],
        CHAINS,
        CACHES,
    )


def test_the_kernel_is_its_twin() -> None:
    problem = story()
    seen = problem.events[40:60]
    unseen = words_before(random_words(20, 12, 9), is_rare=[5, 7, 8])
    assert_twin(problem, [*seen, *unseen])


def test_long_lists_are_those_of_the_twin() -> None:
    problem = large_story()
    n_long = [len(level[2][0][0]) - 1 for level in problem.levels()]
    assert n_long[0] > 0
    assert n_long[3] > 0
    unseen = words_before(random_words(3, 180, 9))
    assert_twin(problem, [*problem.events[100:104], *unseen])


words = st.sampled_from([0, END, 3, 4, 5, 6])


@settings(max_examples=15)
@given(st.lists(words, min_size=1, max_size=25), st.lists(words, min_size=1, max_size=4), st.data())
def test_small_texts(text: list[int], scored: list[int], data: st.DataObject) -> None:
    counts = data.draw(st.lists(st.integers(0, 9), min_size=7, max_size=7))
    paths = word_tree_paths(counts, [0] * 7, [], BEGIN, END)
    problem = Problem(words_before(text, is_rare=[4]), [paths], CHAINS, CACHES)
    assert_twin(problem, words_before(scored, is_rare=[4]), data.draw(st.integers(0, 3)))


@pytest.mark.parametrize("min_count", [2, 3])
def test_rare_contexts_are_left_out(min_count: int) -> None:
    problem = replace(story(), min_count=min_count)
    assert_twin(problem, problem.events[20:30])


def test_chains_of_one_kind_only() -> None:
    sentence = replace(story(), chains=CHAINS[:1], caches=[])
    assert_twin(sentence, sentence.events[5:15])
    document = replace(story(), chains=CHAINS[3:], caches=CACHES[2:])
    assert_twin(document, document.events[5:15])


def test_deep_trees() -> None:
    """Words at depth 32, whose codes differ in the last bit."""
    counts = [0, 0, 0, 1, 1]
    while len(counts) < 60:
        counts.append(counts[-1] + counts[-2])
    paths = word_tree_paths(counts, [0] * 60, [], BEGIN, END)
    assert max(map(len, paths)) == 32
    problem = Problem(words_before(random_words(300, 60, 2)), [paths], CHAINS, CACHES)
    deepest = sorted(range(60), key=lambda word: len(paths[word]))[-3:]
    assert_twin(problem, [event._replace(word=word) for event in problem.events[50:52] for word in deepest])


def test_discounts_at_nodes() -> None:
    problem = story()
    for threads in (1, 2, 3):
        kernel = _core.TreeModelKernel(**problem.arguments())
        found = kernel.node_discounts(1 << 30, threads)
        for tree, twin in enumerate(problem.twins()):
            expected = [list(of_level) for of_chain in twin.of_nodes for of_level in of_chain]
            np.testing.assert_allclose([of_level[tree] for of_level in found], expected, rtol=2**-23)


# ---- proper distributions


def all_words(problem: Problem, event: naive.Event) -> list[naive.Event]:
    return [event._replace(word=word) for word in range(problem.n_words) if word != BEGIN]


def state_after(
    problem: Problem, kernel: _core.TreeModelKernel, history: int, before: Sequence[naive.Event]
) -> _core.TextState:
    state = kernel.start(history, True)
    if before:
        score(kernel, before, history, problem.weights(kernel, history, 0), state)
    return state


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("is_large", [False, True])
def test_probabilities_sum_to_one_and_are_those_of_the_whole_distribution(
    history: int, is_large: bool
) -> None:
    """So no evidence depends on the word that is predicted."""
    problem = large_story() if is_large else story()
    kernel = problem.kernel()
    weights = [one * 3 for one in problem.weights(kernel, history, 4)]
    strange = naive.Event(0, (9, 7, None, 1, None), 2)
    for place in (0, 1, 30, 77, 140):
        for event in (problem.events[place], strange):
            before = problem.events[:place]
            state = state_after(problem, kernel, history, before)
            scores = np.array(
                [
                    score(kernel, [one], history, weights, state.copy())[:, 0]
                    for one in all_words(problem, event)
                ]
            ).T
            # Sums of doubles, of numbers that are rounded alike for every word.
            assert np.exp(scores).sum(axis=1) == pytest.approx(1.0, abs=1e-9)
            streams = [stream_of([event], number) for number in range(problem.n_streams)]
            for threads in (1, 2, 3):
                found = kernel.distributions(streams, event.of_class, history, weights, state, threads)
                for of_tree, expected in zip(found, scores, strict=True):
                    assert of_tree[BEGIN] == 0.0
                    # 1 - p loses digits where p is nearly one: logits are at most 16.
                    np.testing.assert_allclose(
                        np.delete(of_tree, BEGIN), np.exp(expected), rtol=math.exp(16) * 2**-50
                    )


@pytest.mark.parametrize("history", HISTORIES)
@pytest.mark.parametrize("tree_weights", [[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
def test_the_likeliest_words_are_those_of_the_sorted_distribution(
    history: int, tree_weights: list[float]
) -> None:
    problem = large_story()
    kernel = problem.kernel()
    weights = problem.weights(kernel, history, 6)
    of_trees = np.array(tree_weights)
    for place in (0, 17, 1000):
        event = problem.events[place]
        state = state_after(problem, kernel, history, problem.events[:place])
        streams = [stream_of([event], number) for number in range(problem.n_streams)]
        each = kernel.distributions(streams, event.of_class, history, weights, state, 1)
        distribution = of_trees @ np.array(each)
        order = sorted(
            (word for word in range(problem.n_words) if word != BEGIN),
            key=lambda word: (-distribution[word], word),
        )
        for top in (1, 10, 178, 179, 500):
            words, probabilities = kernel.likeliest(
                streams, event.of_class, history, weights, state, of_trees, top
            )
            assert words.tolist() == order[:top]
            np.testing.assert_allclose(probabilities, distribution[order[:top]], rtol=1e-12)


# ---- scoring in pieces


def test_pieces_are_the_whole_to_the_last_bit() -> None:
    """More events than a batch of the kernel has; the cache is carried on."""
    problem = large_story()
    kernel = problem.kernel()
    events = words_before(random_words(5000, 180, 11), is_rare=range(90, 180))
    for history in HISTORIES:
        weights = problem.weights(kernel, history, 2)
        whole = score(kernel, events, history, weights, threads=3)
        state = kernel.start(history, True)
        cuts = [0, 1, 2, 130, 4097, 5000]
        pieces = [
            score(kernel, events[begin:end], history, weights, state, 1) for begin, end in pairwise(cuts)
        ]
        assert np.concatenate(pieces, axis=1).tobytes() == whole.tobytes()


def test_states_are_copied() -> None:
    problem = story()
    kernel = problem.kernel()
    weights = problem.weights(kernel, ADAPTIVE, 2)
    state = state_after(problem, kernel, ADAPTIVE, problem.events[:50])
    copy = state.copy()
    first = score(kernel, problem.events[50:70], ADAPTIVE, weights, copy)
    assert score(kernel, problem.events[50:70], ADAPTIVE, weights, state).tobytes() == first.tobytes()
    # Both have gone on.
    assert score(kernel, problem.events[50:70], ADAPTIVE, weights, copy).tobytes() != first.tobytes()


def test_states_of_another_kernel_are_refused() -> None:
    problem, other = story(), replace(story(), caches=CACHES[:1])
    kernel = problem.kernel()
    weights = problem.weights(kernel, ADAPTIVE, 2)
    copy = other.kernel().start(ADAPTIVE, True).copy()  # its kernel is gone
    with pytest.raises(ValueError, match="state is that of another model"):
        score(kernel, problem.events, ADAPTIVE, weights, copy)
    streams = [ids([0]) for _ in range(problem.n_streams)]
    with pytest.raises(ValueError, match="state is that of another model"):
        kernel.distributions(streams, 0, ADAPTIVE, weights, copy, 1)


def test_a_copied_state_outlives_its_kernel() -> None:
    copy = story().kernel().start(ADAPTIVE, True).copy()
    assert copy.copy() is not copy


def test_long_texts_are_forgotten_word_by_word() -> None:
    """A cache keeps the last 65,536 to 131,072 words; what it says depends on the last 64 of a context."""
    problem = Problem(words_before(random_words(200, 12, 3)), [random_paths(12, 1)], CHAINS, CACHES)
    kernel = replace(problem, adaptive_rate=0.0).kernel()
    weights = problem.weights(kernel, ADAPTIVE, 2)
    end = words_before(random_words(700, 12, 8))
    start = [naive.Event(3, (3, 3, 3, 0, None), 0)] * (2**17 - 300)
    found = score(kernel, [*start, *end], ADAPTIVE, weights)[0, -50:]
    # Powers of 0.9, 0.95, 0.98 and 0.99 of what is 650 words old are below 0.0015.
    late = score(kernel, [*start[:5000], *end], ADAPTIVE, weights)[0, -50:]
    np.testing.assert_allclose(found, late, rtol=1e-5)
