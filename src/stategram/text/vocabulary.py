"""Words and their ids."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.text.files import check_utf8, read_all

_log = logging.getLogger(__name__)

SPECIAL_WORDS = ("<unk>", "<s>", "</s>")
# Their ids in every vocabulary.
UNKNOWN, BEGIN, END = range(3)
# White space of ASCII, by the byte.
_IS_BLANK = np.isin(np.arange(256), list(b" \t\n\r\v\f"))
_MAX_DIGITS = 19
_BLOCK = 1 << 22
_NOT_WORDS = "its lines are not all different words with a count each"

Split = Literal["unicode", "ascii"]
"""At which white space lines are split: all that `str.split` knows, no-break spaces too, or that of ASCII."""

# As in `bytes.split`.
_ASCII_SPACE = re.compile(r"[ \t\n\r\v\f]+")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """A closed set of words with ids, the special words ``<unk>``, ``<s>`` and ``</s>`` first.

    Parameters
    ----------
    letters
        The words in UTF-8, one after the other.
    offsets
        Word ``i`` is ``letters[offsets[i] : offsets[i + 1]]``.
    counts
        The count of each word in the text that the vocabulary was built from: for ``<unk>`` that of all
        unknown words, for ``</s>`` the sentences, for ``<s>`` 0. All 0 if it was not built from a text.

    Notes
    -----
    A vocabulary built from a text has its words by decreasing count, then in byte order; one read from a file
    keeps the order of the file. The words stay bytes until they are needed.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_words(["the", "cat"])
    >>> vocabulary.words
    ('<unk>', '<s>', '</s>', 'the', 'cat')
    >>> vocabulary.id("cat"), vocabulary.id("dog"), vocabulary.word(3), "dog" in vocabulary
    (4, 0, 'the', False)

    """

    letters: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    counts: NDArray[np.uint64]

    @classmethod
    def from_words(cls, words: Iterable[str]) -> Vocabulary:
        """Build a vocabulary of the given words, in their order, after the special words.

        Special words among the given ones are skipped.
        """
        encoded: dict[bytes, None] = dict.fromkeys(word.encode() for word in SPECIAL_WORDS)
        for word in words:
            _check_word(word)
            data = word.encode()
            if data in encoded and word not in SPECIAL_WORDS:
                raise BadDataError(f"the word {word!r} is duplicate; leave one of them out")
            encoded[data] = None
        return cls.from_encoded(list(encoded))

    @classmethod
    def union(cls, vocabularies: Iterable[Vocabulary]) -> Vocabulary:
        """Return the words of the first vocabulary, then those of the others that are new, with their counts.

        >>> cats, dogs = Vocabulary.from_words(["the", "cat"]), Vocabulary.from_words(["dog", "the"])
        >>> Vocabulary.union([cats, dogs]).words
        ('<unk>', '<s>', '</s>', 'the', 'cat', 'dog')
        """
        first, *others = vocabularies
        counts: dict[str, int] = {}
        for other in others:
            if other is not first and other != first:
                new = zip(other.words, other.counts.tolist(), strict=True)
                counts |= {
                    word: count for word, count in new if word not in first._ids and word not in counts
                }
        if not counts:
            return first
        words = [word.encode() for word in (*first.words, *counts)]
        return cls.from_encoded(words, np.append(first.counts, np.array(list(counts.values()), np.uint64)))

    @classmethod
    def from_letters(cls, letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Vocabulary:
        """Return a vocabulary of words in arrays, the special words first; they are not checked."""
        return cls(letters, offsets, np.zeros(len(offsets) - 1, np.uint64))

    @classmethod
    def from_file(
        cls, path: str | os.PathLike[str], *, split: Split = "unicode", repeats: bool = False
    ) -> Vocabulary:
        """Read a vocabulary file, one word per line, in its order; further columns are ignored.

        Special words in the file are skipped. `#` is a word like any other. `split` says which white space
        ends a word. Repeated words are an error unless `repeats` is true, as for lexicons.
        """
        words: dict[bytes, int] = {}
        specials = {word.encode() for word in SPECIAL_WORDS}
        data = read_all(os.fspath(path))
        check_utf8(os.fspath(path), data)
        first_wide = None
        for number, line in enumerate(data.decode().removeprefix("\ufeff").split("\n"), 1):
            columns = split_line(line, split)
            if not line.isascii() and columns[:1] != split_line(line, "ascii")[:1]:
                first_wide = first_wide or number
            if not columns or (word := columns[0].encode()) in specials:
                continue
            if (first := words.setdefault(word, number)) != number and not repeats:
                raise BadDataError(
                    f"{path}:{number}: the word {columns[0]!r} is in line {first} already; remove one of them"
                )
        if not words:
            raise BadDataError(f"{path}: no words in it; expected one word per line")
        if first_wide is not None:
            _log.warning(
                "%s:%d: white space outside ASCII, such as a no-break space, ends a word here and is not "
                "part of it, unless words are split at ASCII white space only (--split ascii, "
                "TextFormat(split='ascii') in Python)",
                path,
                first_wide,
            )
        return cls.from_encoded([word.encode() for word in SPECIAL_WORDS] + list(words))

    def to_bytes(self) -> bytes:
        """Return a line ``word<TAB>count`` for each word, the special words first."""
        counts = self.counts.tolist()
        return "".join(f"{word}\t{count}\n" for word, count in zip(self.words, counts, strict=True)).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> Vocabulary:
        """Return the vocabulary that `to_bytes` wrote; ValueError for anything else."""
        if [line.split(b"\t")[0] for line in data.split(b"\n", 3)[:3]] != [w.encode() for w in SPECIAL_WORDS]:
            raise ValueError(f"its first words are not {' '.join(SPECIAL_WORDS)}")
        parts = [_parse_lines(data[begin:end]) for begin, end in _line_blocks(data)]
        letters, lengths, counts, sums = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        found = cls(letters, np.concatenate(([0], np.cumsum(lengths))), counts)
        sums.sort()
        # Words of different sums are different; equal sums of different words are most unlikely.
        if (sums[1:] == sums[:-1]).any() and len(set(found.words)) < len(found):
            raise ValueError(_NOT_WORDS)
        return found

    @classmethod
    def from_encoded(cls, words: Sequence[bytes], counts: NDArray[np.uint64] | None = None) -> Vocabulary:
        """Return a vocabulary of words in UTF-8, the special words first; they are not checked."""
        offsets = np.zeros(len(words) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, words), np.int64, len(words)), out=offsets[1:])
        letters = np.frombuffer(b"".join(words), np.uint8)
        return cls(letters, offsets, np.zeros(len(words), np.uint64) if counts is None else counts)

    def __len__(self) -> int:
        """Return the number of words, the special ones included."""
        return len(self.offsets) - 1

    def __contains__(self, word: object) -> bool:
        return word in self._ids

    def __eq__(self, other: object) -> bool:
        """Compare the words and their order; counts do not matter."""
        if not isinstance(other, Vocabulary):
            return NotImplemented
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(self.letters, other.letters)

    def __hash__(self) -> int:
        return hash((len(self), self.letters.tobytes()))

    def __repr__(self) -> str:
        return f"Vocabulary({len(self)} words)"

    def id(self, word: str) -> int:
        """Return the id of a word; that of ``<unk>`` if it is not in the vocabulary."""
        return self._ids.get(word, UNKNOWN)

    def word(self, id: int) -> str:
        """Return the word with an id."""
        if not 0 <= id < len(self):
            raise IndexError(f"no word has the id {id}: ids are 0..{len(self) - 1}")
        return self.letters[self.offsets[id] : self.offsets[id + 1]].tobytes().decode()

    def subset(self, other: Vocabulary) -> NDArray[np.int64]:
        """Return the ids of the words that are in another vocabulary too, special words among them."""
        return np.flatnonzero(np.fromiter(map(other._ids.__contains__, self.words), np.bool_, len(self)))

    def take(self, ids: NDArray[np.int64]) -> Vocabulary:
        """Return the vocabulary of some words, in rising order of their ids; the special words are given."""
        return self.from_encoded([self.words[id].encode() for id in ids.tolist()], self.counts[ids])

    @cached_property
    def words(self) -> tuple[str, ...]:
        """All words in the order of their ids."""
        letters, offsets = self.letters.tobytes(), self.offsets.tolist()
        return tuple(letters[a:b].decode() for a, b in pairwise(offsets))

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of characters (code points) of each word."""
        is_first = (self.letters & 0xC0) != 0x80  # of its bytes
        return np.diff(np.concatenate(([0], np.cumsum(is_first)))[self.offsets])

    @cached_property
    def split(self) -> Split:
        """How text in these words is split: ``ascii`` if some of them hold other white space."""
        letters = self.letters.tobytes().decode()
        return "unicode" if letters.split(maxsplit=1) == [letters] else "ascii"

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {word: id for id, word in enumerate(self.words)}


def _line_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield ranges of bytes that end with lines: what is computed for each byte takes many times as much."""
    begin = 0
    while begin < len(data):
        end = data.find(b"\n", begin + _BLOCK) + 1 or len(data)
        yield begin, end
        begin = end


def _parse_lines(
    data: bytes,
) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the words of lines ``word<TAB>count``: letters, lengths, counts, and a checksum of each."""
    if "\0" in data.decode():  # bad UTF-8 is a ValueError
        raise ValueError("it contains NUL")
    letters = np.frombuffer(data, np.uint8)
    ends, tabs = np.flatnonzero(letters == ord("\n")), np.flatnonzero(letters == ord("\t"))
    begins = np.concatenate(([0], ends[:-1] + 1))
    n_blanks = int(np.count_nonzero(_IS_BLANK[letters]))
    if (
        len(tabs) != len(ends)
        or n_blanks != 2 * len(ends)
        or letters[-1] != ord("\n")
        or not ((begins < tabs) & (tabs + 1 < ends)).all()
    ):
        raise ValueError(_NOT_WORDS)
    counts = decimal_numbers(letters, tabs + 1, ends)
    # Neither tabs nor newlines, nor what is between them.
    is_letter = np.cumsum(np.bincount(begins, minlength=len(data)) - np.bincount(tabs, minlength=len(data)))
    letters, lengths = letters[is_letter.astype(bool)], tabs - begins
    offsets = np.concatenate(([0], np.cumsum(lengths)[:-1]))
    places = np.arange(len(letters)) - np.repeat(offsets, lengths)
    factors = np.random.default_rng(0).integers(1, 2**63, int(lengths.max()), np.uint64)
    return letters, lengths, counts, np.add.reduceat((letters + np.uint64(1)) * factors[places], offsets)


def decimal_numbers(
    letters: NDArray[np.uint8], begins: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the numbers that are written at some places of a text; ValueError if they are none."""
    longest = int((ends - begins).max(initial=0))
    if longest > _MAX_DIGITS:
        raise ValueError("its counts are not all numbers")
    numbers = np.zeros(len(begins), np.uint64)
    for place in range(longest, 0, -1):  # from the end
        is_there = ends - place >= begins
        digits = letters[np.maximum(ends - place, 0)] - np.uint8(ord("0"))  # others wrap around
        if (digits[is_there] > 9).any():
            raise ValueError("its counts are not all numbers")
        numbers = numbers * np.uint64(10) + np.where(is_there, digits, 0).astype(np.uint64)
    return numbers


def dense_ids(names: Iterable[Hashable]) -> dict[Hashable, int]:
    """Return the distinct names, numbered 0, 1, 2, ... in the order in which they first appear.

    >>> dense_ids(["NN", "DT", "NN", "VB"])
    {'NN': 0, 'DT': 1, 'VB': 2}
    """
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def split_line(line: str, split: Split) -> list[str]:
    r"""Return the words of a line.

    >>> split_line("5\xa0% more", "unicode"), split_line("5\xa0% more", "ascii")
    (['5', '%', 'more'], ['5\xa0%', 'more'])
    """
    if split not in get_args(Split):
        raise UsageError(f"split is {split!r}; it must be 'unicode' or 'ascii'")
    return line.split() if split == "unicode" else [word for word in _ASCII_SPACE.split(line) if word]


def _check_word(word: str) -> None:
    if split_line(word, "ascii") != [word]:
        raise BadDataError(f"{word!r} is not a word: it is empty or contains white space")
    if re.search(r"[\0\ud800-\udfff]", word):
        raise BadDataError(f"{word!r} is not a word: it contains NUL or a surrogate")
