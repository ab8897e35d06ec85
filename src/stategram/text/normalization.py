"""What is done with the words of a text before they are looked up, for words that are in Python already."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stategram.errors import UsageError
from stategram.text.vocabulary import SPECIAL_WORDS

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*")


def check_digits(digits: str) -> None:
    """Refuse what cannot stand for numbers."""
    if digits.split() != [digits] or "\0" in digits or digits in SPECIAL_WORDS:
        raise UsageError(f"digits is {digits!r}; it must be one word, such as N")


@dataclass(frozen=True)
class Normalization:
    """Whether words are taken in lower case, and which word stands for numbers; as in `read_corpus`.

    Examples
    --------
    >>> Normalization(lowercase=True, digits="N").of(["The", "1,024", "<S>"])
    ['the', 'N', '<unk>']

    """

    lowercase: bool = False
    digits: str | None = None

    def __post_init__(self) -> None:
        if self.digits is not None:
            check_digits(self.digits)

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any]) -> Normalization:
        """Take that of the text which a model was trained on."""
        return cls(bool(recipe.get("lowercase")), recipe.get("digits") or None)

    def of(self, words: Sequence[str]) -> list[str]:
        """Treat words; one that becomes a sentence marker is unknown."""
        if not (self.lowercase or self.digits):
            return list(words)
        return [self._of(word) for word in words]

    def _of(self, word: str) -> str:
        if word in SPECIAL_WORDS:
            return word
        if self.digits and _NUMBER.fullmatch(word):
            return self.digits
        normalized = word.lower() if self.lowercase else word
        return SPECIAL_WORDS[0] if normalized in SPECIAL_WORDS else normalized
