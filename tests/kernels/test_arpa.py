"""The kernels that read and write ARPA files against their naive twins."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.arpa
from naive.arpa import Model, Ngram
from stategram._core import ArpaProblem, ArpaReader, ArpaWriter
from stategram.counts import trie_numbers
from stategram.models import PlainTrie

# Long words, words of one byte, of letters and spaces outside of ASCII, and what looks like something else.
WORDS = [
    "a",
    "b",
    "<UNK>",
    "\\end\\",
    "-1.5",
    "été",
    "戦場のヴァルキュリア3",
    "of\u00a0",
    "12345678",
    "123456789",
]
WORDS += [
    "\x1c",
    "\u3000",
    "sixteen-letters.",
    "seventeen-letters",
    "\U0001f600",
    "<unk",
    "ngram",
    "\\2-grams:",
]


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.one_of(st.floats(low, high, width=32), st.sampled_from([0.0, -99.0, -100.0, -1e-5]))


@st.composite
def models(draw: st.DrawFn) -> tuple[int, Model]:
    """Give an order and a model; n-grams lack starts and ends, special words lack altogether."""
    order = draw(st.integers(1, 5))
    specials = draw(st.lists(st.sampled_from(["<unk>", "<s>", "</s>"]), unique=True))
    words = draw(st.permutations(specials + draw(st.lists(st.sampled_from(WORDS), min_size=1, unique=True))))
    log_probs: dict[Ngram, float] = {(word,): draw(numbers(-90, 0)) for word in words}
    backoffs: dict[Ngram, float] = {}
    word = st.sampled_from(words)
    for length in range(2, order + 1):
        before = [ngram for ngram in log_probs if len(ngram) == length - 1] or [(words[0],) * (length - 1)]
        grown = st.tuples(st.sampled_from(before), word).map(lambda pair: (*pair[0], pair[1]))
        free = st.tuples(*[word] * length)
        for ngram in draw(st.lists(st.one_of(grown, grown, free), max_size=8, unique=True)):
            log_probs[ngram] = draw(numbers(-90, 0))
    for ngram in log_probs:
        if draw(st.booleans()):
            backoffs[ngram] = draw(numbers(-5, 2))
    return order, Model(log_probs, backoffs)


def read(blocks: Iterable[bytes], threads: int = 1) -> tuple[list[str], PlainTrie, ArpaReader]:
    reader = ArpaReader(threads)
    letters, offsets = np.zeros(0, np.uint8), np.zeros(1, np.int64)

    def number() -> None:
        nonlocal letters, offsets
        letters, offsets = reader.words()
        reader.number_words(trie_numbers(len(offsets) - 1))

    for block in blocks:
        if reader.feed(block):
            number()
    if reader.finish():
        number()
        assert not reader.finish()
    trie = PlainTrie(trie_numbers(len(offsets) - 1), *reader.take_trie())
    text = letters.tobytes()
    return [text[a:b].decode() for a, b in pairwise(offsets)], trie, reader


def cut(text: bytes, size: int) -> list[bytes]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def arrays(trie: PlainTrie) -> list[NDArray[np.generic]]:
    return [trie.numbers, trie.begins, trie.words, trie.first_child]


def assert_same(one: PlainTrie, other: PlainTrie) -> None:
    for a, b in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(a, b)
    for x, y in ((one.log_probs, other.log_probs), (one.backoffs, other.backoffs)):
        # A number of more digits than a float32 can hold may be read as its neighbour.
        np.testing.assert_array_max_ulp(x, y, 1)


@given(models(), st.randoms(use_true_random=False), st.integers(1, 200), st.integers(1, 3))
def test_the_kernel_reads_as_its_twin_whatever_the_blocks_and_the_order(
    given_model: tuple[int, Model], chance: random.Random, size: int, threads: int
) -> None:
    order, model = given_model
    ngrams = list(model.log_probs)
    chance.shuffle(ngrams)
    text = naive.arpa.write(order, model, ngrams)
    assert naive.arpa.read(text)[0] == order
    expected, inserted = naive.arpa.completed(*naive.arpa.read(text))
    words, trie, reader = read(cut(text.encode(), size), threads)
    assert words == naive.arpa.vocabulary(expected)
    assert reader.inserted == inserted
    assert_same(trie, naive.arpa.with_ids(order, expected).plain())


def write(words: list[str], trie: PlainTrie, step: int, threads: int = 1) -> str:
    encoded = [word.encode() for word in words]
    writer = ArpaWriter(
        np.frombuffer(b"".join(encoded), np.uint8),
        np.cumsum([0, *map(len, encoded)], dtype=np.int64),
        trie.kernel,
        threads,
    )
    text = "\\data\\\n" + "".join(f"ngram {k}={n}\n" for k, n in enumerate(trie.sizes, 1))
    for level, count in enumerate(trie.sizes, 1):
        text += f"\n\\{level}-grams:\n"
        text += b"".join(writer.lines(level, i, min(i + step, count)) for i in range(0, count, step)).decode()
    return text + "\n\\end\\\n"


@given(models(), st.integers(1, 10))
def test_what_is_written_is_read_to_seven_digits(given_model: tuple[int, Model], step: int) -> None:
    words, trie, _ = read([naive.arpa.write(*given_model).encode()])
    text = write(words, trie, step)
    again, copy, reader = read([text.encode()])
    assert again == words
    assert reader.inserted == 0
    # Positions of words in the section of 1-grams order all the others, as IRSTLM expects.
    _, written = naive.arpa.read(text)
    places = {ngram[0]: i for i, ngram in enumerate(written.log_probs) if len(ngram) == 1}
    order = [(len(ngram), *(places[word] for word in ngram)) for ngram in written.log_probs]
    assert order == sorted(order)
    for one, other in zip(arrays(trie), arrays(copy), strict=True):
        np.testing.assert_array_equal(one, other)
    # Half a unit of the seventh digit, and the rounding of a float32.
    for x, y in ((trie.log_probs, copy.log_probs), (trie.backoffs, copy.backoffs)):
        np.testing.assert_allclose(y, x, rtol=0.5e-6 + 2.0**-23, atol=0)
    assert write(again, copy, step + 1) == text


@given(
    st.one_of(st.floats(-98, 0, width=32), st.floats(-98, 0).map(lambda x: float(np.float32(round(x, 3)))))
)
def test_numbers_are_written_as_printf_does(log_prob: float) -> None:
    words, trie, _ = read([b"\\data\\\nngram 1=1\n\\1-grams:\n-1\tx\n\\end\\\n"])
    trie.log_probs[1 + trie.numbers[3]] = log_prob
    line = write(words, trie, 9).splitlines()[-3]
    # Below the smallest normal float, digits beyond those of %.7g decide nothing.
    assert line == f"{log_prob or 0.0:.7g}\tx" or abs(log_prob) < 1.2e-38


@given(
    st.one_of(
        st.floats(-98, 0).map(repr),
        st.floats(-98, 0).map(lambda x: f"{x:.30f}"),
        st.sampled_from(
            "-0 +0 0. -.5 -1. -1.234e-05 -1E1 -0.1e+1 -000001 -1e-400 0e999 -inf -Infinity".split()
        ),
    )
)
def test_numbers_are_read_as_python_does(text: str) -> None:
    _, trie, _ = read([f"\\data\\\nngram 1=1\n\\1-grams:\n{text}\tx\n\\end\\\n".encode()])
    found = trie.log_probs[1 + trie.numbers[3]]
    np.testing.assert_array_max_ulp(found, np.float32(float(text)) + np.float32(0), 1)


def large(seed: int, n_words: int, n_ngrams: int) -> bytes:
    """Give a file large enough to be read by several threads at a time."""
    chance = random.Random(seed)
    words = [f"w{i}" for i in range(n_words)]
    log_probs: dict[Ngram, float] = {(word,): -chance.random() for word in words}
    for k in (2, 3):
        for _ in range(n_ngrams):
            log_probs[tuple(chance.choices(words, k=k))] = -chance.random()
    return naive.arpa.write(3, Model(log_probs, dict.fromkeys(log_probs, -0.5))).encode()


def test_the_trie_and_the_text_are_the_same_for_any_number_of_threads() -> None:
    text = large(1, 300, 20_000)
    words, one, reader = read([text])
    assert reader.inserted > 0
    written = write(words, one, 100_000)
    for threads in (2, 3, 7):
        for size in (1 << 16, 1 << 21):
            _, other, _ = read(cut(text, size), threads)
            assert_same(other, one)
        assert write(words, one, 100_000, threads) == written


@pytest.mark.parametrize("threads", [1, 3])
def test_the_first_of_several_problems_is_named(threads: int) -> None:
    lines = large(2, 300, 20_000).split(b"\n")
    for at in (30_000, 9_000, 20_000):
        lines[at] = b"-1 w1 nobody" + b" w1" * (lines[at].count(b" ") - 1)
        with pytest.raises(
            ArpaProblem, match=rf"^{min(at, 9_000) + 1 if at < 30_000 else at + 1}: the word 'nobody'"
        ):
            read([b"\n".join(lines)], threads)


def test_the_line_of_a_second_ngram_is_named_in_a_large_file() -> None:
    lines = large(3, 300, 20_000).split(b"\n")
    at = lines.index(b"\\3-grams:")
    lines[at + 9_000] = lines[at + 17]
    lines.insert(at + 5_000, b"")
    for threads in (1, 3):
        with pytest.raises(ArpaProblem, match=rf"^{at + 9_002}: this 3-gram is there a second time"):
            read([b"\n".join(lines)], threads)


SMALL = naive.arpa.write(
    3,
    Model(
        {
            ("<s>",): -99,
            ("</s>",): -1,
            ("a",): -0.5,
            ("b",): -0.25,
            ("a", "b"): -0.125,
            ("a", "b", "a"): -0.1,
        },
        {("a",): -0.5, ("a", "b"): -0.1},
    ),
).encode()


@given(
    st.lists(
        st.tuples(
            st.integers(0, len(SMALL)),
            st.integers(0, 12),
            st.one_of(
                st.binary(max_size=6), st.sampled_from([b"\n", b"\t", b" ", b"\0", b"-", b"9", b"\\", b"nan"])
            ),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 300),
)
def test_damage_is_refused_or_read_never_more(damage: list[tuple[int, int, bytes]], size: int) -> None:
    text = SMALL
    for at, removed, put in damage:
        text = text[:at] + put + text[at + removed :]
    try:
        words, trie, _ = read(cut(text, size))
    except ArpaProblem as problem:
        line = int(str(problem).split(":")[0])
        assert 1 <= line <= text.count(b"\n") + 1
    else:
        assert write(words, trie, 5)


def test_nothing_follows_a_step_that_failed() -> None:
    reader = ArpaReader(1)
    assert reader.feed(
        b"\\data\\\nngram 1=1\nngram 2=2\n\\1-grams:\n-1 a\n\\2-grams:\n-1 a a\n-1 a a\n\\end\\\n"
    )
    with pytest.raises(ArpaProblem, match="second time"):
        reader.number_words(trie_numbers(4))
    for step in (reader.finish, lambda: reader.feed(b"\\end\\\n"), lambda: reader.feed(b"")):
        with pytest.raises(RuntimeError, match="an earlier step failed"):
            step()


def test_misuse_is_refused() -> None:
    reader = ArpaReader(1)
    with pytest.raises(ValueError, match="not to be numbered now"):
        reader.number_words(trie_numbers(3))
    with pytest.raises(RuntimeError, match="not read to its end"):
        reader.take_trie()
    assert reader.feed(b"\\data\\\nngram 1=1\n\\1-grams:\n-1 a\n\\end\\\n")
    for wrong in ([0, 1, 2], [0, 1, 2, 4], [0, 1, 2, 2]):
        with pytest.raises(ValueError, match="number"):
            reader.number_words(np.array(wrong, np.uint32))
    words, trie, reader = read([SMALL])
    for step in (reader.finish, reader.take_trie, lambda: reader.feed(b"\n")):
        with pytest.raises(RuntimeError, match="or the trie was taken"):
            step()
    with pytest.raises(ValueError, match="damaged"):
        write(words, replace(trie, words=trie.words[:-1]), 5)
    with pytest.raises(ValueError, match="do not fit together"):
        write(words[:-1], trie, 5)
