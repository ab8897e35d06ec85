"""The tag of a word from the words that end like it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

_DIGIT = re.compile(r"\d")


def most_frequent(tags: Mapping[str, int]) -> str:
    """Give the tag with the highest count; of several the first by name.

    >>> most_frequent({"VB": 2, "NN": 2, "JJ": 1})
    'NN'
    """
    return min(tags, key=lambda tag: (-tags[tag], tag))


class SuffixGuesser:
    """Guesses the tag that most of the known words with the same last letters have.

    Each known word counts once: words that are not known are rare, and rare words are like other rare words,
    not like frequent ones. The longest suffix that is known decides. Digits count as one letter.

    Parameters
    ----------
    known
        Words and their tags.
    lengths
        The lengths of suffixes that are looked at, the first one first.
    at_least
        A suffix that fewer words have says nothing.
    agreeing
        Nor does one of which fewer words have the tag that most have.

    Examples
    --------
    >>> guesser = SuffixGuesser([("nation", "NN"), ("hotly", "RB"), ("coldly", "RB"), ("1984", "CD")], [3])
    >>> guesser.guess("boldly"), guesser.guess("2026"), guesser.guess("cat"), guesser.guess("y")
    ('RB', 'CD', None, None)

    """

    def __init__(
        self,
        known: Iterable[tuple[str, str]],
        lengths: Iterable[int],
        *,
        at_least: int = 1,
        agreeing: int = 1,
    ) -> None:
        self._lengths = tuple(lengths)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word, tag in known:
            for suffix in self._suffixes(word):
                counts[suffix][tag] += 1
        self._tags = {
            suffix: most_frequent(tags)
            for suffix, tags in counts.items()
            if tags.total() >= at_least and max(tags.values()) >= agreeing
        }

    def guess(self, word: str) -> str | None:
        """Give the tag of the words that end like this one; None if there are none."""
        for suffix in self._suffixes(word):
            if tag := self._tags.get(suffix):
                return tag
        return None

    def _suffixes(self, word: str) -> list[str]:
        plain = word if word.isalpha() else _DIGIT.sub("0", word)
        return [plain[-length:] for length in self._lengths if len(plain) >= length]
