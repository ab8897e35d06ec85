"""Damaged arrays of a back-off model give an error or wrong numbers, never a crash; a check finds them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.trie import Ngrams
from ngram_problems import models, random_model, reader_of
from stategram.models import NgramTrie

ARRAYS = ("numbers", "begins", "words", "nodes", "leaves")
INF = float("inf")


def use(trie: NgramTrie) -> None:
    """Whatever one can do with a model."""
    reader = reader_of(trie)
    n_words = len(trie.numbers)
    ids = np.random.default_rng(5).integers(0, n_words, 60).astype(np.uint32)
    calls: list[Callable[[], object]] = [
        lambda: reader.check(2),
        lambda: reader.score_events(
            ids, np.array([0, 9, 9, 60]), np.arange(n_words, dtype=np.uint32), 0, 0, True, 2
        ),
        lambda: reader.history_state(ids % np.uint32(n_words)),
    ]
    for state in range(min(50, int(trie.begins[-2]))):
        calls += [
            lambda state=state: reader.advance(state, state % n_words),  # type: ignore[misc]
            lambda state=state: reader.distribution(state),  # type: ignore[misc]
        ]
    for call in calls:
        try:
            call()
        except ValueError as error:
            assert "damaged" in str(error)  # noqa: PT017


@given(
    models(),
    st.lists(st.tuples(st.sampled_from(ARRAYS), st.integers(0, 2**32), st.integers(1, 255)), min_size=1),
)
def test_flipped_bits_never_crash(model: Ngrams, flips: list[tuple[str, int, int]]) -> None:
    trie = model.trie()
    for name, place, mask in flips:
        data = getattr(trie, name).reshape(-1).view(np.uint8)
        if data.size:
            data[place % data.size] ^= np.uint8(mask)
    try:
        use(trie)
    except ValueError as error:
        assert "damaged" in str(error)  # noqa: PT017


@given(models(), st.integers(0, 2**32), st.booleans())
def test_arrays_of_noise_never_crash(model: Ngrams, seed: int, small: bool) -> None:
    """All but the few values that are always checked."""
    trie = model.trie()
    rng = np.random.default_rng(seed)
    ends = np.unique(trie.begins[:-1])
    first_children = trie.nodes[ends, 2].copy()
    for array in (trie.words, trie.nodes, trie.leaves):
        array[...] = rng.integers(0, 2 * int(trie.begins[-1]) if small else 2**32, array.shape)
    trie.nodes[ends, 2] = first_children
    use(trie)


def _set(name: str, place: int | tuple[int, int], value: int) -> Callable[[NgramTrie], NgramTrie]:
    def damage(trie: NgramTrie) -> NgramTrie:
        damaged = copy.deepcopy(trie)
        getattr(damaged, name)[place] = value
        return damaged

    return damage


def _bits(value: float) -> int:
    return int(np.float32(value).view(np.uint32))


MODEL = Ngrams(
    3,
    3,
    {
        **{(word,): -1.0 for word in range(3)},
        **{(0, word): -1.0 for word in range(3)},
        (1, 1): -1.0,
        (0, 1, 0): -1.0,
        (0, 1, 1): -1.0,
    },
    {(0,): -1.0, (1,): -1.0, (0, 1): -1.0},
)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda trie: replace(trie, begins=trie.begins[:2]), "no orders"),
        (lambda trie: replace(trie, begins=np.arange(300)), "more than 255"),
        (_set("begins", 0, 1), "one after the other"),
        (_set("begins", 1, 0), "one after the other"),
        (_set("begins", 3, 3), "one after the other"),
        (_set("begins", 2, 5), "unigram"),
        (_set("begins", 4, 2**32), "n-grams or more"),
        (_set("begins", 4, 8), "sizes"),
        (_set("begins", 3, 7), "sizes"),
        (lambda trie: replace(trie, words=trie.words[:-1]), "sizes"),
        (lambda trie: replace(trie, nodes=trie.nodes[:-1]), "sizes"),
        (lambda trie: replace(trie, leaves=trie.leaves[:-1]), "sizes"),
        (lambda trie: replace(trie, numbers=trie.numbers[:-1]), "unigram"),
        (_set("numbers", 0, 3), "number"),
        (lambda trie: replace(trie, numbers=np.zeros(3, np.uint32)), "same number"),
        (_set("nodes", (0, 2), 2), "children of an order"),
        (_set("nodes", (1, 2), 5), "children of an order"),
        (_set("nodes", (4, 2), 9), "children of an order"),
        (_set("nodes", (-1, 2), 9), "children of an order"),
    ],
)
def test_a_shape_that_is_wrong_is_always_refused(
    damage: Callable[[NgramTrie], NgramTrie], message: str
) -> None:
    reader_of(MODEL.trie()).check(1)
    with pytest.raises(ValueError, match=message):
        reader_of(damage(MODEL.trie()))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_set("nodes", (3, 2), 3), "not in order"),
        (_set("nodes", (5, 2), 2**32 - 1), "not in order"),
        (_set("words", 1, 1), "rising"),
        (_set("words", 6, 0), "rising"),
        (_set("words", 3, 3), "not below"),
        (_set("words", 9, 2**32 - 1), "not below"),
        (_set("nodes", (1, 3), 1), "link"),
        (_set("nodes", (4, 3), 4), "link"),
        (_set("leaves", (1, 1), 8), "link"),
        (_set("nodes", (1, 0), _bits(0.1)), "log probability"),
        (_set("nodes", (4, 0), _bits(float("nan"))), "log probability"),
        (_set("leaves", (0, 0), _bits(INF)), "log probability"),
        (_set("nodes", (1, 1), _bits(INF)), "back-off"),
        (_set("nodes", (4, 1), _bits(float("nan"))), "back-off"),
    ],
)
def test_the_check_finds_each_damage(damage: Callable[[NgramTrie], NgramTrie], message: str) -> None:
    for threads in (1, 3):
        with pytest.raises(ValueError, match=f"damaged: .*{message}"):
            reader_of(damage(MODEL.trie())).check(threads)


def test_a_probability_of_zero_is_sound() -> None:
    reader_of(_set("leaves", (0, 0), _bits(-INF))(MODEL.trie())).check(1)
    reader_of(_set("nodes", (1, 1), _bits(-INF))(MODEL.trie())).check(1)


def test_a_large_model_is_checked_in_parts() -> None:
    """More nodes than a part of the check, the damage in any of them."""
    model = random_model(3, 70_000, 3, 200)
    trie = model.trie()
    reader_of(trie).check(2)
    for place in (1, 65_535, 65_536, 70_000):
        damaged = _set("nodes", (place, 3), 1)(trie)
        with pytest.raises(ValueError, match="link"):
            reader_of(damaged).check(2)
