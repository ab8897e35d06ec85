"""A text as ids, and what a user should know of it: unknown words, unusual white space."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from stategram.display import plural
from stategram.errors import BadDataError
from stategram.text.files import display_name
from stategram.text.vocabulary import END, SPECIAL_WORDS, UNKNOWN, Vocabulary

_log = logging.getLogger(__name__)

_SAMPLE = 1000
# Chinese characters and kana; Thai, Lao, Burmese and Khmer, which take several characters for a syllable.
# Words have on average less than two of the former and about four of the latter, sentences many times more.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"), 6.0),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 14.0),
)
_BLOCK = 2**20
EVENTS_PER_PIECE = 2**17
"""What is computed for each event of a text is computed for so many at a time."""
# Twenty sentences in a row are not the same by chance.
_MIN_SENTENCES = 20
# A position where this many events are the same is worth comparing in full.
_PREFIX = 64
_MAX_POSITIONS = 100
# Of fewer words, half may be unknown by chance.
_MIN_WORDS = 10


@dataclass(frozen=True)
class ReadStats:
    """What was found while a text was read."""

    files: tuple[str, ...] = ()
    n_bytes: int = 0
    n_replaced: int = 0
    """Invalid byte sequences that became U+FFFD."""
    n_dropped: int = 0
    """``<s>`` and ``</s>`` in the text, which are dropped."""
    n_wide_spaces: int = 0
    """No-break spaces and other characters outside ASCII that were taken for white space."""
    first_wide_space: str | None = None
    """Where the first of them is: file and line."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """A text as ids: its events, in order.

    Parameters
    ----------
    ids
        The words of all sentences, each sentence closed by ``</s>``: exactly the events.
    sentence_starts
        Sentence ``i`` is ``ids[sentence_starts[i] : sentence_starts[i + 1]]``.
    vocabulary
        What the ids mean.
    stats
        What was found while the text was read.
    document_starts
        The numbers of the sentences that start a new document, rising; by default none. The first sentence of
        a text starts a document whether or not 0 is listed. The number of sentences may be the last of them:
        then whatever follows the text starts a document.

    Examples
    --------
    >>> from stategram.text import corpus_from_sentences
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog"])
    >>> corpus.n_events, corpus.n_sentences, corpus.n_unknown
    (7, 2, 0)
    >>> [corpus.vocabulary.word(id) for id in corpus.sentence(1)]
    ['the', 'dog', '</s>']
    >>> corpus_from_sentences(["the cat sat", "", "the dog"]).document_starts.tolist()
    [1]

    """

    ids: NDArray[np.uint32]
    sentence_starts: NDArray[np.int64]
    vocabulary: Vocabulary
    stats: ReadStats = ReadStats()
    document_starts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def n_events(self) -> int:
        """The number of words and sentence ends."""
        return len(self.ids)

    @property
    def n_sentences(self) -> int:
        """The number of sentences, none of them without words."""
        return len(self.sentence_starts) - 1

    @property
    def n_unknown(self) -> int:
        """The number of words that are not in the vocabulary."""
        return self.n_events - int(np.count_nonzero(self.ids))

    @cached_property
    def word_counts(self) -> NDArray[np.int64]:
        """How often each word of the vocabulary occurs, by its id."""
        counts = np.zeros(len(self.vocabulary), np.int64)
        for begin in range(0, self.n_events, _BLOCK):  # of which each id becomes 64 bits
            counts += np.bincount(self.ids[begin : begin + _BLOCK], minlength=len(counts))
        return counts

    def sentence(self, i: int) -> NDArray[np.uint32]:
        """Return the ids of one sentence, ``</s>`` included."""
        if not 0 <= i < self.n_sentences:
            raise IndexError(f"no sentence {i}: there are {self.n_sentences}")
        return self.ids[self.sentence_starts[i] : self.sentence_starts[i + 1]]

    def in_vocabulary(self, vocabulary: Vocabulary) -> Corpus:
        """Return the same text with the ids of another vocabulary; words that it lacks become ``<unk>``."""
        if vocabulary is self.vocabulary or vocabulary == self.vocabulary:
            return self
        words = self.vocabulary.words
        ids = np.fromiter(map(vocabulary.id, words), np.uint32, len(words))
        return replace(self, ids=ids[self.ids], vocabulary=vocabulary)

    def sentence_sums(self, values: NDArray[np.float64] | NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the sum over each sentence of values of events."""
        sums = np.zeros(self.n_sentences)
        filled = np.diff(self.sentence_starts) > 0
        if filled.any():
            with np.errstate(invalid="ignore"):  # of infinite values with both signs
                sums[filled] = np.add.reduceat(values, self.sentence_starts[:-1][filled], dtype=np.float64)
        return sums

    def sentences(self, begin: int, end: int) -> Corpus:
        """Return the sentences `begin` to `end - 1`.

        0 is among the ``document_starts`` of the result only if it is a new document, not the rest of one.
        """
        starts = self.sentence_starts[begin : end + 1]
        first, last = np.searchsorted(self.document_starts, (begin, end))
        if end == self.n_sentences:  # what follows the text may start a document
            last = len(self.document_starts)
        return replace(
            self,
            ids=self.ids[starts[0] : starts[-1]],
            sentence_starts=starts - starts[0],
            document_starts=self.document_starts[first:last] - begin,
        )

    def pieces(self, max_events: int | None = None) -> Iterator[tuple[int, Corpus]]:
        """Yield the text in pieces of whole sentences, each after the position of its first event.

        A piece has at most `max_events` events, unless a single sentence is longer: so what is computed for
        each event need not be in memory for all of them at once.
        """
        begin = 0
        while begin < self.n_sentences:
            first = int(self.sentence_starts[begin])
            end = (
                int(np.searchsorted(self.sentence_starts, first + (max_events or EVENTS_PER_PIECE), "right"))
                - 1
            )
            end = max(end, begin + 1)
            yield first, self.sentences(begin, end)
            begin = end

    def __repr__(self) -> str:
        return f"Corpus({self.n_events} events, {self.n_sentences} sentences, {self.vocabulary!r})"


def contains_text(corpus: Corpus, piece: Corpus) -> bool:
    """Return whether a text is all of `corpus`, or at least twenty consecutive sentences of it.

    Both have the same vocabulary.
    """
    if piece.n_sentences < _MIN_SENTENCES:
        return np.array_equal(piece.ids, corpus.ids)
    starts = corpus.sentence_starts[:-1]
    positions = starts[starts + piece.n_events <= corpus.n_events]
    for i in range(min(_PREFIX, piece.n_events)):
        positions = positions[corpus.ids[positions + i] == piece.ids[i]]
    return any(
        np.array_equal(corpus.ids[position : position + piece.n_events], piece.ids)
        for position in positions[:_MAX_POSITIONS].tolist()
    )


@dataclass
class UnknownCount:
    """Counts the words of a text that a vocabulary lacks, block by block."""

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
        for count in fields(self):
            setattr(self, count.name, getattr(self, count.name) + getattr(other, count.name))
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
    """Return a word without what is neither letter nor digit at its ends."""
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
