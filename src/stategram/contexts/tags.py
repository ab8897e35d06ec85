"""One tag for each word of a vocabulary, and a guess where none is known."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.text import SPECIAL_WORDS, Vocabulary

TAG_SOURCES = ("lexicon", "rule", "fallback")
_DIGIT = re.compile(r"\d")


@dataclass(frozen=True)
class TagCounts:
    """The number of words of a vocabulary, and of their tokens in the text."""

    words: int
    tokens: int


@dataclass(frozen=True, eq=False)
class TagMap:
    """The tag of each word of a vocabulary.

    Parameters
    ----------
    tags
        The names of the tags: first those of ``<unk>``, ``<s>`` and ``</s>``, which are named like the words,
        then the others in alphabetical order. Each is the tag of some word.
    labels
        The number of the tag of each word, by its id.
    source
        How many words have their tag from the lexicon or file (``lexicon``), from similar words (``rule``),
        or by default (``fallback``). The special words are not counted.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_words(["the", "cat"])
    >>> tags = tag_words(vocabulary, [("DT", "lexicon"), ("NN", "fallback")])
    >>> tags.tags, tags.tag(vocabulary.id("cat")), tags.source["fallback"].words
    (('<unk>', '<s>', '</s>', 'DT', 'NN'), 'NN', 1)

    """

    tags: tuple[str, ...]
    labels: NDArray[np.uint32]
    source: Mapping[str, TagCounts]

    def __len__(self) -> int:
        """Return the number of tags, those of the special words included."""
        return len(self.tags)

    def __repr__(self) -> str:
        return f"TagMap({len(self.tags)} tags of {len(self.labels)} words)"

    @property
    def coverage(self) -> float:
        """The fraction of the tokens, or of the words if none has a count, with a tag from the lexicon."""
        tokens = sum(counts.tokens for counts in self.source.values())
        if tokens:
            return self.source["lexicon"].tokens / tokens
        return self.source["lexicon"].words / max(sum(counts.words for counts in self.source.values()), 1)

    def tag(self, id: int) -> str:
        """Return the tag of the word with an id."""
        if not 0 <= id < len(self.labels):
            raise IndexError(f"no word has the id {id}: ids are 0..{len(self.labels) - 1}")
        return self.tags[int(self.labels[id])]


def is_lower_case(vocabulary: Vocabulary) -> bool:
    """Return whether all words are in lower case, except at most one that may stand for numbers, such as N.

    >>> is_lower_case(Vocabulary.from_words(["the", "N"])), is_lower_case(Vocabulary.from_words(["The"]))
    (True, False)
    """
    others = [word for word in vocabulary.words if word != word.lower()]
    return not others or (len(others) == 1 and others[0].isupper())


def tag_words(vocabulary: Vocabulary, tags_and_sources: Iterable[tuple[str, str]]) -> TagMap:
    """Return a map from the tag of each word after the special ones and its source, one of `TAG_SOURCES`."""
    pairs = list(tags_and_sources)
    names = sorted({tag for tag, _ in pairs})
    tags = (*SPECIAL_WORDS, *names)
    number = {tag: i for i, tag in enumerate(names, len(SPECIAL_WORDS))}
    labels = np.arange(len(vocabulary), dtype=np.uint32)
    labels[len(SPECIAL_WORDS) :] = [number[tag] for tag, _ in pairs]
    origin = np.array([TAG_SOURCES.index(source) for _, source in pairs], np.intp)
    words = np.bincount(origin, minlength=len(TAG_SOURCES))
    # Counts fit into the 53 bits of a double.
    tokens = np.bincount(origin, vocabulary.counts[len(SPECIAL_WORDS) :], minlength=len(TAG_SOURCES))
    return TagMap(
        tags,
        labels,
        {name: TagCounts(int(words[i]), int(tokens[i])) for i, name in enumerate(TAG_SOURCES)},
    )


def most_frequent(tags: Mapping[str, int]) -> str:
    """Return the tag with the highest count; of several the first in alphabetical order.

    >>> most_frequent({"VB": 2, "NN": 2, "JJ": 1})
    'NN'
    """
    return min(tags, key=lambda tag: (-tags[tag], tag))


class SuffixGuesser:
    """Guesses the tag that most known words with the same suffix have.

    Each known word counts once: unknown words are rare, and rare words resemble other rare words, not
    frequent ones. The longest known suffix decides: those of the given lengths are looked up, in this order,
    except of fewer than `min_words` words or with fewer than `min_agreeing` of the same tag. All digits count
    as the same letter.
    """

    def __init__(
        self,
        known: Iterable[tuple[str, str]],
        lengths: Iterable[int],
        *,
        min_words: int = 1,
        min_agreeing: int = 1,
    ) -> None:
        self._lengths = tuple(lengths)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word, tag in known:
            for suffix in self._suffixes(word):
                counts[suffix][tag] += 1
        self._tags = {
            suffix: most_frequent(tags)
            for suffix, tags in counts.items()
            if tags.total() >= min_words and max(tags.values()) >= min_agreeing
        }

    def guess(self, word: str) -> str | None:
        """Return the tag of the words that end like this one; None if there are none."""
        for suffix in self._suffixes(word):
            if tag := self._tags.get(suffix):
                return tag
        return None

    def _suffixes(self, word: str) -> list[str]:
        plain = word if word.isalpha() else _DIGIT.sub("0", word)
        return [plain[-length:] for length in self._lengths if len(plain) >= length]
