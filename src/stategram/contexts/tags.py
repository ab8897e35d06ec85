"""One tag for each word of a vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.text import SPECIAL_WORDS, Vocabulary

TAG_SOURCES = ("lexicon", "rule", "fallback")


@dataclass(frozen=True)
class TagCounts:
    """So many words of a vocabulary, and how often they occur."""

    words: int
    tokens: int


@dataclass(frozen=True, eq=False)
class TagMap:
    """The tag of each word of a vocabulary.

    Parameters
    ----------
    tags
        The names of the tags: those of ``<unk>``, ``<s>`` and ``</s>``, called as they are, then the others
        by name. Each is the tag of some word.
    labels
        The number of the tag of each word, by its id.
    source
        How many words have their tag from the lexicon or file (``lexicon``), from what is known of similar
        words (``rule``), and for want of anything better (``fallback``). The special words are not counted.

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
        """Give the number of tags, those of the special words included."""
        return len(self.tags)

    def __repr__(self) -> str:
        return f"TagMap({len(self.tags)} tags of {len(self.labels)} words)"

    @property
    def coverage(self) -> float:
        """The share of the tokens, or of the words if none has a count, whose tag is that of the lexicon."""
        tokens = sum(share.tokens for share in self.source.values())
        if tokens:
            return self.source["lexicon"].tokens / tokens
        return self.source["lexicon"].words / max(sum(share.words for share in self.source.values()), 1)

    def tag(self, id: int) -> str:
        """Give the tag of the word with an id."""
        if not 0 <= id < len(self.labels):
            raise IndexError(f"no word has the id {id}: ids are 0..{len(self.labels) - 1}")
        return self.tags[int(self.labels[id])]


def is_lower_case(vocabulary: Vocabulary) -> bool:
    """Whether words are in lower case, but for one at most that may stand for numbers, such as N.

    >>> is_lower_case(Vocabulary.from_words(["the", "N"])), is_lower_case(Vocabulary.from_words(["The"]))
    (True, False)
    """
    others = [word for word in vocabulary.words if word != word.lower()]
    return not others or (len(others) == 1 and others[0].isupper())


def tag_words(vocabulary: Vocabulary, found: Iterable[tuple[str, str]]) -> TagMap:
    """Take the tag of each word after the special ones, and where it is from: one of `TAG_SOURCES`."""
    pairs = list(found)
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
