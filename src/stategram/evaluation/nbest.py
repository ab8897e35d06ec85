"""N-best lists: what a recognizer found possible for each utterance, and how wrong that is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.text import END, Corpus, TextFormat, corpus_from_sentences

# The cost of an alignment: its errors, times 2^32, plus its insertions and deletions. So the least cost has
# the fewest errors, and of these alignments the most substitutions.
_SUBSTITUTION = 1 << 32
_INSERTION_OR_DELETION = _SUBSTITUTION + 1
# Costs of alignments in memory at a time.
_CELLS = 1 << 20


@dataclass(frozen=True, eq=False)
class NBestLists:
    """The hypotheses of utterances, with their scores.

    Parameters
    ----------
    utterances
        The name of each utterance.
    starts
        The hypotheses of utterance ``i`` are ``starts[i]`` to ``starts[i + 1] - 1``.
    texts
        The words of each hypothesis.
    scores
        A row for each hypothesis, with one score or several; higher is better.
    numbered
        Whether files name the hypotheses ``utterance-1``, ``utterance-2``, ..., as Kaldi does.

    Examples
    --------
    >>> nbest = NBestLists.from_mapping({"u1": [(-2.0, "the cat"), (-1.5, "the cap")]})
    >>> nbest.utterances, nbest.texts
    (('u1',), ['the cat', 'the cap'])

    """

    utterances: tuple[str, ...]
    starts: NDArray[np.int64]
    texts: list[str]
    scores: NDArray[np.float64]
    numbered: bool = False

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or len(self.scores) != len(self.texts) or self.scores.shape[1] < 1:
            raise UsageError("expected a score, or several, for each hypothesis")
        if not np.isfinite(self.scores).all():
            raise BadDataError("a score is not a finite number; expected one such as -12.5")
        if len(self.starts) != len(self.utterances) + 1 or np.any(np.diff(self.starts) < 1):
            raise UsageError("expected at least one hypothesis for each utterance")

    @classmethod
    def from_mapping(cls, lists: Mapping[str, Iterable[tuple[float | Sequence[float], str]]]) -> NBestLists:
        """Return the lists of utterances by name; a hypothesis is its score, or its scores, and its text."""
        entries = [(name, score, text) for name, found in lists.items() for score, text in found]
        return cls.from_lines(
            [name for name, _, _ in entries],
            np.array([np.atleast_1d(score) for _, score, _ in entries], np.float64),
            [text for _, _, text in entries],
        )

    @classmethod
    def from_lines(
        cls,
        names: Sequence[str],
        scores: NDArray[np.float64],
        texts: Sequence[str],
        *,
        numbered: bool = False,
    ) -> NBestLists:
        """Return the lists of hypotheses, given with the name of their utterance, in any order."""
        if not names:
            raise BadDataError("there are no hypotheses; expected at least one")
        places = {name: place for place, name in enumerate(dict.fromkeys(names))}
        of_each = np.fromiter((places[name] for name in names), np.int64, len(names))
        order = np.argsort(of_each, kind="stable")
        starts = np.concatenate(([0], np.cumsum(np.bincount(of_each)))).astype(np.int64)
        return cls(tuple(places), starts, [texts[i] for i in order.tolist()], scores[order], numbered)

    def __len__(self) -> int:
        """Return the number of utterances."""
        return len(self.utterances)

    @property
    def utterance_of(self) -> NDArray[np.int64]:
        """The number of the utterance of each hypothesis."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def order(self, totals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the hypotheses, utterance by utterance, the best of each first; of equals, the earlier."""
        ordered: NDArray[np.int64] = np.lexsort((-totals, self.utterance_of))
        return ordered

    def best(self, totals: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the best hypothesis of each utterance; of equals, the earlier."""
        highest = np.maximum.reduceat(totals, self.starts[:-1])
        is_best = ~(totals < np.repeat(highest, np.diff(self.starts)))
        best = np.flatnonzero(is_best)
        return best[np.diff(self.utterance_of[best], prepend=-1) > 0]


@dataclass(frozen=True)
class WordErrors:
    """Errors of texts against references of so many words."""

    words: int
    substitutions: int
    deletions: int
    insertions: int

    @property
    def errors(self) -> int:
        """All errors."""
        return self.substitutions + self.deletions + self.insertions

    @property
    def rate(self) -> float:
        """The word error rate; inf if there are errors, but no words."""
        return self.errors / self.words if self.words else float("inf" if self.errors else 0.0)


@dataclass(frozen=True, eq=False)
class HypothesisErrors:
    """The errors of each hypothesis."""

    nbest: NBestLists
    words: NDArray[np.int64]
    """The number of words of the reference of each utterance."""
    substitutions: NDArray[np.int64]
    deletions: NDArray[np.int64]
    insertions: NDArray[np.int64]

    @cached_property
    def errors(self) -> NDArray[np.int64]:
        """All errors of each hypothesis."""
        return self.substitutions + self.deletions + self.insertions

    def of(self, chosen: NDArray[np.int64]) -> WordErrors:
        """Return the errors of one hypothesis of each utterance."""
        sums = (int(kind[chosen].sum()) for kind in (self.substitutions, self.deletions, self.insertions))
        return WordErrors(int(self.words.sum()), *sums)

    def oracle(self) -> WordErrors:
        """Return the fewest errors that a choice of hypotheses can have."""
        return self.of(self.nbest.best(-self.errors.astype(np.float64)))


def hypothesis_errors(
    nbest: NBestLists, references: Mapping[str, str], text_format: TextFormat
) -> HypothesisErrors:
    """Count the word errors of each hypothesis, given what was said in each utterance.

    The format says what words are; case and numbers are compared as they are.

    Examples
    --------
    >>> nbest = NBestLists.from_mapping({"u1": [(-2.0, "the cat sat"), (-1.5, "a cap sat down")]})
    >>> hypothesis_errors(nbest, {"u1": "the cat sat"}, TextFormat()).errors
    array([0, 3])

    """
    missing = [name for name in nbest.utterances if name not in references]
    if missing:
        raise BadDataError(
            f"no reference for {len(missing):,} of {len(nbest):,} utterances, such as {missing[0]!r}; give "
            "references with the names of the n-best lists"
        )
    said_and_found = [*(references[name] for name in nbest.utterances), *nbest.texts]
    texts = sentences_with_empty(said_and_found, text_format.override({"lowercase": False, "digits": None}))
    said, found = texts.sentences(0, len(nbest)), texts.sentences(len(nbest), texts.n_sentences)
    said_ids, said_starts = _without_ends(said)
    ids, starts = _without_ends(found)
    costs = np.empty(len(nbest.texts), np.int64)
    for i, reference in enumerate(np.split(said_ids, said_starts[1:-1])):
        first, last = nbest.starts[i : i + 2]
        costs[first:last] = _least_costs(ids, starts[first : last + 1], reference)
    n_said = np.diff(said_starts)
    errors, apart = np.divmod(costs, _SUBSTITUTION)
    insertions = (apart + np.diff(starts) - n_said[nbest.utterance_of]) // 2
    return HypothesisErrors(nbest, n_said, errors - apart, apart - insertions, insertions)


def _least_costs(
    ids: NDArray[np.uint32], starts: NDArray[np.int64], reference: NDArray[np.uint32]
) -> NDArray[np.int64]:
    """Return the cost of the best alignment of each text with a reference.

    cost(i, j) = min( cost(i-1, j-1) + substitution if words differ,
                      cost(i-1, j) + deletion, cost(i, j-1) + insertion )

    for the first i words of the reference and the first j of a text.
    """
    lengths = np.diff(starts)
    costs = np.empty(len(lengths), np.int64)
    n_parts = 1 + len(lengths) * (int(lengths.max()) + 1) // _CELLS
    for part in np.array_split(np.argsort(lengths), min(n_parts, len(lengths))):
        columns = np.arange(lengths[part].max() + 1)
        # The words after the end of a text are those of others; no cost that counts depends on them.
        words = ids.take(starts[part, None] + columns[:-1], mode="clip")
        inserted = columns * _INSERTION_OR_DELETION
        row = np.tile(inserted, (len(part), 1))
        for word in reference:
            aligned = row[:, :-1] + (words != word) * _SUBSTITUTION
            row += _INSERTION_OR_DELETION
            np.minimum(row[:, 1:], aligned, out=row[:, 1:])
            # The least cost with any number of insertions.
            row -= inserted
            np.minimum.accumulate(row, axis=1, out=row)
            row += inserted
        costs[part] = row[np.arange(len(part)), lengths[part]]
    return costs


def _without_ends(corpus: Corpus) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return the words of a corpus without ``</s>``, and where its sentences start among them."""
    starts = corpus.sentence_starts - np.arange(len(corpus.sentence_starts))
    return corpus.ids[corpus.ids != END], starts


def sentences_with_empty(texts: Sequence[str], text_format: TextFormat) -> Corpus:
    """Return a corpus of one sentence for each text, also for those without words."""
    # A word in front keeps each of them.
    corpus = corpus_from_sentences((f"x {text}" for text in texts), text_format.of_lines)
    ids = np.delete(corpus.ids, corpus.sentence_starts[:-1])
    starts = corpus.sentence_starts - np.arange(len(corpus.sentence_starts))
    return replace(corpus, ids=ids, sentence_starts=starts, document_starts=np.zeros(0, np.int64))
