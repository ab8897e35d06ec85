"""Scores of rows, kept in a file: the lower, the more a row is like the domain.

H(s) = - 1/n sum log2 p(w_i | history)          over the n words and sentence ends of a row
difference(s) = H_in-domain(s) - H_general(s)   Moore and Lewis (2010)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram.models import Model
from stategram.progress import Progress
from stategram.selection.pool import PoolFile, each_file
from stategram.text import UNKNOWN, LineEncoder, RowBlock, TextFormat, Vocabulary, WordChoice

Scored: TypeAlias = NDArray[np.void]
"""Of each row its score, nan where there is none, and its number of words."""

ROW = np.dtype([("score", "<f4"), ("words", "<i4")])
_ROWS_AT_ONCE = 1 << 20
_DIGIT = 1 << 16


@dataclass(frozen=True)
class ScoredFile:
    """A file of the pool whose rows have their scores in a common file, and what was counted of it."""

    file: PoolFile
    rows: int
    words: int
    unknown: int


def score_files(
    files: Sequence[PoolFile], scorer: RowScorer, scores: Path, progress: Progress | None
) -> list[ScoredFile]:
    """Write the scores of the rows of all files, one after the other."""
    found = []
    with scores.open("wb") as written:
        for file, of_file in each_file(files, progress):
            n_rows = n_words = n_unknown = 0
            for block in file.read(of_file, texts_only=True):
                rows, unknown = scorer.score(block)
                written.write(rows.tobytes())
                n_rows, n_unknown = n_rows + len(rows), n_unknown + unknown
                n_words += int(rows["words"].sum(dtype=np.int64))
            found.append(ScoredFile(file, n_rows, n_words, n_unknown))
    return found


class RowScorer:
    """Scores rows by an in-domain and a general model, or by the former alone: the lower, the better."""

    def __init__(self, models: Sequence[Model], text_format: TextFormat, min_words: int) -> None:
        self._models, self._min_words = models, min_words
        vocabulary = Vocabulary.union(model.vocabulary for model in models)
        self._ids = [_ids_in(model.vocabulary, vocabulary) for model in models]
        # The same words: <unk> is a word as any other. Otherwise a word that one model does not know says
        # more about the vocabularies than about the text: it counts in neither.
        self._counts_unknown = all(
            len(model.vocabulary) == len(vocabulary) and model.predicts_unknown for model in models
        )
        self._encoder = LineEncoder(text_format.of_lines, WordChoice(vocabulary))

    def score(self, block: RowBlock) -> tuple[Scored, int]:
        """Return the scores of rows, in bits per word or perplexities, and how many words are unknown."""
        corpus, numbers = self._encoder.encode(block.lines())
        rows, n_rows = np.searchsorted(block.numbers, numbers), len(block.texts)
        first = corpus.sentence_starts[:-1]
        losses = np.zeros(corpus.n_events)
        is_unknown = np.zeros(corpus.n_events, np.bool_)
        for sign, model, ids in zip((1.0, -1.0), self._models, self._ids, strict=False):
            encoded = replace(corpus, ids=ids[corpus.ids], vocabulary=model.vocabulary)
            losses -= sign * model.score(encoded).log_probs
            is_unknown |= encoded.ids == UNKNOWN
        words = np.bincount(rows, np.diff(corpus.sentence_starts) - 1, n_rows)
        counts = words + 1.0 * np.bincount(rows, minlength=n_rows)  # and the sentence ends
        has_score = words >= self._min_words
        if not self._counts_unknown:
            losses[is_unknown] = 0.0
            unknown = _sums(is_unknown, first, rows, n_rows)
            counts = counts - unknown
            has_score &= unknown < words
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            means = _sums(losses, first, rows, n_rows) / counts
            values = np.exp(means) if len(self._models) == 1 else means / math.log(2.0)
            scored = np.empty(n_rows, ROW)
            scored["score"], scored["words"] = np.where(has_score, values, np.nan), words
        return scored, int(np.count_nonzero(is_unknown))


def _ids_in(vocabulary: Vocabulary, union: Vocabulary) -> NDArray[np.uint32]:
    """Return the id in a vocabulary of each word of a larger one."""
    if vocabulary == union:
        return np.arange(len(union), dtype=np.uint32)
    return np.fromiter(map(vocabulary.id, union.words), np.uint32, len(union))


def _sums(
    values: NDArray[np.float64] | NDArray[np.bool_],
    first: NDArray[np.int64],
    rows: NDArray[np.int64],
    n_rows: int,
) -> NDArray[np.float64]:
    """Return the sum over each row of values; `first` has that of each sentence, `rows` its row."""
    sums = np.zeros(n_rows)
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(starts):
        sums[rows[starts]] = np.add.reduceat(values, first[starts], dtype=np.float64)
    return sums


def pieces_of(scores: Path) -> Iterator[Scored]:
    """Yield the scores of all rows, some at a time."""
    with scores.open("rb") as file:
        while len(data := np.fromfile(file, ROW, _ROWS_AT_ONCE)):
            yield data


def find_limit(pieces: Callable[[], Iterable[Scored]], amount: float, *, by_words: bool) -> int:
    """Return the key below which those of the best rows are, as many as fit into an amount of rows or words.

    `pieces` goes through the pool twice: the limit is found as radix sort would, by a histogram of the upper
    half of the bits of keys, then by one of the lower half within the bin of the limit. So memory does not
    grow with the pool.
    """
    prefix = 0
    for shift in (16, 0):
        sizes = np.zeros(_DIGIT)
        for piece in pieces():
            keys, is_in = keys_of(piece["score"]), ~np.isnan(piece["score"])
            if shift == 0:
                is_in &= keys >> 16 == prefix
            digits = (keys[is_in] >> shift) % _DIGIT
            sizes += np.bincount(digits, piece["words"][is_in] if by_words else None, _DIGIT)
        totals = np.cumsum(sizes)
        digit = int(np.searchsorted(totals, amount, "right"))  # the first that does not fit
        if digit == _DIGIT:
            return 1 << 32
        amount -= float(totals[digit] - sizes[digit])
        prefix = prefix << 16 | digit
    return prefix


def keys_of(scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """Return integers in the order of floats."""
    # -0.0 becomes 0.0: equal scores have one key.
    bits = (scores + np.float32(0.0)).view(np.uint32).astype(np.int64)
    return np.where(bits >> 31 == 1, 0xFFFFFFFF - bits, bits | 1 << 31)
