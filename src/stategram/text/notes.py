"""What a user should know of a text: unknown words, words that are not separated, unusual white space."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Self

import numpy as np

from stategram.errors import BadDataError
from stategram.text.corpus import Corpus, ReadStats
from stategram.text.files import display_name
from stategram.text.vocabulary import END, SPECIAL_WORDS, UNKNOWN, Vocabulary
from stategram.wording import plural

_log = logging.getLogger(__name__)

# Of fewer words, half may be unknown by chance.
_MIN_WORDS = 10
_SAMPLE = 1000
# Chinese characters and kana; Thai, Lao, Burmese and Khmer, which take several characters for a syllable.
# Words have on average less than two of the former and about four of the latter, sentences many times more.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"), 6.0),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 14.0),
)


@dataclass
class UnknownCount:
    """Counts the words of a text that a vocabulary lacks, block by block.

    Examples
    --------
    >>> from stategram.text import Vocabulary, corpus_from_sentences
    >>> vocabulary = Vocabulary.from_words(["the", "cat", "sat"])
    >>> text = corpus_from_sentences(["The CAT slept"])
    >>> count = UnknownCount()
    >>> count.add(text, text.in_vocabulary(vocabulary))
    >>> count.unknown, count.words
    (3, 3)
    >>> print(count.note)
    3 of 3 words are unknown to the model; in lower case 2 of them are known: lowercase the text (--lowercase)

    """

    words: int = 0
    unknown: int = 0
    known_in_lower_case: int = 0
    known_without_punctuation: int = 0

    def add(self, text: Corpus, encoded: Corpus) -> None:
        """Count the words of a text as it is, and in the vocabulary of the model."""
        is_unknown = encoded.ids == UNKNOWN
        words, unknown = int(np.count_nonzero(encoded.ids != END)), int(np.count_nonzero(is_unknown))
        self.words += words
        self.unknown += unknown
        if _are_many(unknown, words):  # else the cause is not asked for
            ids, counts = np.unique(text.ids[is_unknown], return_counts=True)
            for id, count in zip(ids.tolist(), counts.tolist(), strict=True):
                if id == UNKNOWN:  # whose spelling is not known
                    continue
                word = text.vocabulary.word(id)
                self.known_in_lower_case += count * _knows(encoded.vocabulary, word.lower())
                self.known_without_punctuation += count * _knows(encoded.vocabulary, _bare(word))

    def __iadd__(self, other: UnknownCount) -> Self:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))
        return self

    @property
    def note(self) -> str | None:
        """What a user should know if at least half of the words are unknown, else None."""
        if not _are_many(self.unknown, self.words):
            return None
        are = "is" if self.unknown == 1 else "are"
        return f"{self.unknown:,} of {plural(self.words, 'word')} {are} unknown to the model; {self.advice}"

    @property
    def advice(self) -> str:
        """What to do about unknown words."""
        if self.known_in_lower_case * 2 >= self.unknown:
            known = f"in lower case {self._some(self.known_in_lower_case)} known"
            return f"{known}: lowercase the text (--lowercase)"
        if self.known_without_punctuation * 2 >= self.unknown:
            known = f"without punctuation {self._some(self.known_without_punctuation)} known"
            return f"{known}: tokenize the text as that of the model was (--tokenize words)"
        return "check that both have the same language, case and tokenization"

    def _some(self, known: int) -> str:
        if known == self.unknown:
            return "it is" if known == 1 else "all are"
        return f"{known:,} of them {'is' if known == 1 else 'are'}"


def require_known_words(text: Corpus, encoded: Corpus) -> None:
    """Refuse a text that has no word of the vocabulary in which it is encoded, that of a model."""
    if encoded.n_events == 0:
        raise BadDataError("the text has no words; expected one sentence per line")
    count = UnknownCount()
    count.add(text, encoded)
    if count.unknown == count.words:
        raise BadDataError(
            f"the text has no word of the model's vocabulary ({len(encoded.vocabulary):,} words); "
            f"{count.advice}"
        )


def _are_many(unknown: int, words: int) -> bool:
    return unknown > 0 and (unknown == words or (words >= _MIN_WORDS and unknown * 2 >= words))


def _knows(vocabulary: Vocabulary, word: str) -> bool:
    return vocabulary.id(word) != UNKNOWN


def _bare(word: str) -> str:
    """Return a word without what is neither letter nor digit at its ends.

    >>> _bare('("fell.'), _bare("--")
    ('fell', '')
    """
    inner = [i for i, letter in enumerate(word) if letter.isalnum()]
    return word[inner[0] : inner[-1] + 1] if inner else ""


def no_words(names: Sequence[str], n_bytes: int) -> BadDataError:
    """Return the error for files without words."""
    return BadDataError(
        f"no words in {', '.join(map(display_name, names))} ({n_bytes} bytes of text); "
        "expected one sentence per line, words separated by white space"
    )


def warn_of_wide_spaces(stats: ReadStats) -> None:
    """Log a warning if white space outside ASCII, which may belong to words, has split a text."""
    if stats.n_wide_spaces:
        _log.warning(
            "%s: %s outside ASCII, such as a no-break space; it separates words, unless they are split at "
            "ASCII white space only (--split ascii, TextFormat(split='ascii') in Python)",
            stats.first_wide_space,
            plural(stats.n_wide_spaces, "white space character"),
        )


def warn_if_unsegmented(vocabulary: Vocabulary) -> None:
    """Log a warning if most words of a text, given its vocabulary, seem to be sentences."""
    first = len(SPECIAL_WORDS)
    # Not `words`, of which there may be many.
    sample = [vocabulary.word(id) for id in range(first, min(first + _SAMPLE, len(vocabulary)))]
    counts = vocabulary.counts[first : first + len(sample)].astype(np.float64)
    for letters, longest_mean in _SCRIPTS:
        lengths = np.fromiter((len(letters.findall(word)) for word in sample), np.float64, len(sample))
        is_of_script = lengths > 0
        total = counts[is_of_script].sum()
        if 2 * total > counts.sum() and (mean := (counts * lengths).sum() / total) > longest_mean:
            _log.warning(
                "the words of this text have %.0f letters on average of a script without spaces, such as "
                "Chinese or Thai: it looks unsegmented; segment it first (jieba, MeCab, PyThaiNLP, ...), or "
                "make a word of each character (--tokenize words, TextFormat(tokenize='words') in Python)",
                mean,
            )
