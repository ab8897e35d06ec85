"""Damaged arrays of a back-off model give an error or wrong numbers, never a crash; a check finds them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.trie import Ngrams
from ngram_problems import models, random_model
from stategram.models import NgramTrie, PlainTrie

ARRAYS = NgramTrie.ARRAYS
INF = float("inf")


def use(trie: NgramTrie) -> None:
    """Whatever one can do with a model."""
    reader = trie.reader()
    n_words = len(trie.numbers)
    ids = np.random.default_rng(5).integers(0, n_words, 60).astype(np.uint32)
    calls: list[Callable[[], object]] = [
        lambda: reader.check(2),
        lambda: reader.score_events(
            ids, np.array([0, 9, 9, 60]), np.arange(n_words, dtype=np.uint32), b"", b"", True, 2
        ),
        lambda: reader.state_after(b"", ids % np.uint32(n_words)),
        *(lambda length=length: reader.plain_level(length, 2) for length in range(1, trie.order + 1)),
        *(lambda length=length: reader.ngram(length, 0) for length in range(1, trie.order + 1)),
    ]
    for node in range(min(50, n_words if trie.order > 1 else 0)):
        state = np.array([node], np.uint32).tobytes()
        calls += [
            lambda state=state: reader.advance(state, 0),  # type: ignore[misc]
            lambda state=state: reader.distribution(state),  # type: ignore[misc]
        ]
    for call in calls:
        try:
            call()
        except ValueError as error:
            assert "damaged" in str(error) or "no such" in str(error)  # noqa: PT017


@given(
    models(),
    st.lists(st.tuples(st.sampled_from(ARRAYS), st.integers(0, 2**32), st.integers(1, 255)), min_size=1),
)
def test_flipped_bits_never_crash(model: Ngrams, flips: list[tuple[str, int, int]]) -> None:
    trie = copy.deepcopy(model.trie())
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
    for array in (trie.words, trie.records):
        array[...] = rng.integers(0, 256, array.shape)
    trie.bases[...] = rng.integers(0, 2 * int(trie.begins[-1]) if small else 2**32, trie.bases.shape)
    trie.values[...] = rng.normal(size=trie.values.shape)
    use(trie)


def _set(name: str, place: int, value: int) -> Callable[[NgramTrie], NgramTrie]:
    def damage(trie: NgramTrie) -> NgramTrie:
        damaged = copy.deepcopy(trie)
        getattr(damaged, name).reshape(-1)[place] = value
        return damaged

    return damage


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
        (lambda trie: replace(trie, begins=np.arange(300)), "more than nine"),
        (_set("begins", 0, 1), "one after the other"),
        (_set("begins", 1, 0), "one after the other"),
        (_set("begins", 3, 3), "one after the other"),
        (_set("begins", 2, 5), "unigram"),
        (_set("begins", 4, 2**34), "n-grams or more"),
        (_set("begins", 4, 1000), "sizes"),
        (_set("widths", 0, 17), "no such values"),
        (_set("widths", 1, 33), "no such values"),
        (_set("widths", 2, 255), "no such values"),
        (_set("widths", 0, 16), "sizes"),
        (lambda trie: replace(trie, widths=trie.widths[:-1]), "sizes"),
        (lambda trie: replace(trie, words=trie.words[:-1]), "sizes"),
        (lambda trie: replace(trie, records=trie.records[:-1]), "sizes"),
        (lambda trie: replace(trie, bases=trie.bases[:-1]), "sizes"),
        (lambda trie: replace(trie, values=np.zeros(1, np.float32)), "sizes"),
        (lambda trie: replace(trie, numbers=trie.numbers[:-1]), "unigram"),
        (_set("numbers", 0, 3), "number"),
        (lambda trie: replace(trie, numbers=np.zeros(3, np.uint32)), "same number"),
    ],
)
def test_a_shape_that_is_wrong_is_always_refused(
    damage: Callable[[NgramTrie], NgramTrie], message: str
) -> None:
    MODEL.trie().reader().check(1)
    with pytest.raises(ValueError, match=message):
        damage(MODEL.trie()).reader()


def _plain(name: str, place: int, value: float) -> Callable[[PlainTrie], PlainTrie]:
    def damage(plain: PlainTrie) -> PlainTrie:
        array = getattr(plain, name).copy()
        array[place] = value
        return replace(plain, **{name: array})

    return damage


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_plain("words", 6, 0), "rising"),
        (_plain("words", 9, 3), "not below"),
        (_plain("log_probs", 1, 0.1), "log probability"),
        (_plain("log_probs", 4, float("nan")), "log probability"),
        (_plain("log_probs", 8, INF), "log probability"),
        (_plain("backoffs", 1, INF), "back-off"),
        (_plain("backoffs", 4, float("nan")), "back-off"),
    ],
)
def test_the_check_finds_each_damage(damage: Callable[[PlainTrie], PlainTrie], message: str) -> None:
    damaged = damage(MODEL.plain())
    for threads in (1, 3):
        with pytest.raises(ValueError, match=f"damaged: .*{message}"):
            NgramTrie.from_plain(damaged).reader().check(threads)
    with pytest.raises(ValueError, match="damaged"):
        damaged.check()


def test_the_check_finds_children_that_are_not_there() -> None:
    for base in (1, 2**32 - 1):
        with pytest.raises(ValueError, match="damaged: the children of an"):
            _set("bases", 0, base)(MODEL.trie()).reader().check(1)


def test_a_probability_of_zero_is_sound() -> None:
    for damage in (_plain("log_probs", -1, -INF), _plain("backoffs", 1, -INF)):
        NgramTrie.from_plain(damage(MODEL.plain())).reader().check(1)


def test_a_large_model_is_checked_in_parts() -> None:
    """More nodes than a part of the check, the damage in any of them."""
    plain = random_model(3, 70_000, 3, 200).plain()
    NgramTrie.from_plain(plain).reader().check(2)
    for place in (1, 65_536, 65_537, 70_000):
        with pytest.raises(ValueError, match="log probability"):
            NgramTrie.from_plain(_plain("log_probs", place, 1.0)(plain)).reader().check(2)


@given(models())
def test_what_is_packed_is_the_same_unpacked(model: Ngrams) -> None:
    plain = model.plain()
    trie = NgramTrie.from_plain(plain)
    again = trie.plain()
    for one in fields(PlainTrie):
        expected, found = getattr(plain, one.name), getattr(again, one.name)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    reader = trie.reader()
    ids = np.argsort(plain.numbers)
    for length, size in enumerate(trie.sizes, 1):
        assert {tuple(ids[reader.ngram(length, node)].tolist()) for node in range(size)} == {
            ngram for ngram in model.log_probs if len(ngram) == length
        }
