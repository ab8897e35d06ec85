"""What word classes are worth: mutual information, and the perplexity of the class bigram model on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram.counts import BigramCounts
from stategram.errors import UsageError
from stategram.text import UNKNOWN

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class ClassBigramFigures:
    """The result of `class_bigram_perplexity`.

    ``ami`` is the average mutual information of adjacent classes of the training text, in bits. ``events``
    are those of the test text, ``unknown`` the words among them that are ``<unk>``; ``skipped`` words are in
    neither.
    """

    classes: int
    ami: float
    events: int
    unknown: int
    skipped: int
    perplexity: float


def average_mutual_information(counts: ArrayLike) -> float:
    """Return the mutual information, in bits, of the row and the column of an event counted in a table.

    Examples
    --------
    >>> average_mutual_information([[8, 0], [0, 8]])
    1.0
    >>> average_mutual_information([[4, 4], [4, 4]])
    0.0

    """
    table = np.asarray(counts)
    if table.ndim != 2:
        raise UsageError(f"the counts have the shape {table.shape}; a table of rows and columns is needed")
    return _mutual_information(table, table.sum(axis=1), table.sum(axis=0))


def class_bigram_perplexity(
    bigrams: BigramCounts, labels: ArrayLike, test_ids: ArrayLike
) -> ClassBigramFigures:
    """Train a class bigram model on word bigrams and measure its perplexity on a test text.

    Parameters
    ----------
    bigrams
        The bigrams of the training text.
    labels
        The class of each word id, -1 for a word without one. That of the sentence boundary is not looked at:
        it has a class of its own. Words without a class join that of ``<unk>``, or share a further class.
    test_ids
        The ids of the test text, each sentence closed by ``</s>``.

    Returns
    -------
    ClassBigramFigures
        Empty sentences are left out. A test word without training events becomes ``<unk>`` if that has
        some; otherwise it is skipped, and the word after it is predicted as if it began a sentence.

    Notes
    -----
    The model is p(g|g') p(w|g) with p(w|g) = N(w)/N(g). Class bigrams are interpolated with relative
    frequencies by absolute discounting, D = n1/(n1 + 2 n2)::

        p(g|g') = max(N(g',g) - D, 0)/N(g') + D N1+(g',.)/N(g') N(g)/N

    Examples
    --------
    >>> from stategram import corpus_from_sentences
    >>> from stategram.counts import count_bigrams
    >>> train = corpus_from_sentences(["a b", "a a b"])
    >>> test = corpus_from_sentences(["a b"], vocabulary=train.vocabulary)
    >>> figures = class_bigram_perplexity(count_bigrams(train), [-1, -1, -1, 0, 1], test.ids)
    >>> figures.classes, figures.events, round(figures.perplexity, 4)
    (2, 3, 1.1935)

    """
    offsets, columns, counts = (np.asarray(a).astype(np.int64) for a in bigrams.successors)
    types, boundary = len(offsets) - 1, bigrams.boundary
    given = np.asarray(labels, dtype=np.int64)
    if len(given) != types:
        raise UsageError(f"{len(given)} class labels were given for {types} word ids; one for each is needed")
    test = np.asarray(test_ids, dtype=np.int64)
    if len(test) and not 0 <= test.min() <= test.max() < types:
        raise UsageError(f"the test text has ids up to {test.max()}; the bigrams know {types} ids")

    rows = np.repeat(np.arange(types, dtype=np.int64), np.diff(offsets))
    some = (counts > 0) & ~((rows == boundary) & (columns == boundary))
    rows, columns, counts = rows[some], columns[some], counts[some]
    n_events = int(counts.sum())
    if n_events == 0:
        raise UsageError("the training text has no events; give a text with at least one word")
    word_counts = _sums(columns, counts, types)
    label, k = _dense_labels(given, word_counts, boundary)
    class_counts = _sums(label[columns], counts, k)
    pairs, which = np.unique(label[rows] * k + label[columns], return_inverse=True)
    pair_counts = _sums(which, counts, len(pairs))

    previous, current, skipped = _test_events(test, word_counts, boundary)
    before, after = label[previous], label[current]
    wanted = before * k + after
    nearest = np.minimum(np.searchsorted(pairs, wanted), len(pairs) - 1)
    seen = np.where(pairs[nearest] == wanted, pair_counts[nearest], 0)
    discount = _discount(pair_counts)
    successors = np.bincount(pairs // k, minlength=k)
    relative = class_counts[after] / n_events
    of_class = np.maximum(seen - discount, 0.0) + discount * successors[before] * relative
    logs = np.log2(of_class / class_counts[before]) + np.log2(word_counts[current] / class_counts[after])
    return ClassBigramFigures(
        classes=k - 1,
        ami=_mutual_information(pair_counts, class_counts, class_counts),
        events=len(current),
        unknown=int((current == UNKNOWN).sum()),
        skipped=skipped,
        perplexity=float(2.0 ** -logs.mean()) if len(logs) else float("nan"),
    )


def _discount(counts: Ints) -> float:
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    # Without counts of one or of two the estimate says nothing; these keep the model proper.
    return 0.1 if once == 0 else 0.5 if twice == 0 else once / (once + 2 * twice)


def _dense_labels(given: Ints, word_counts: Ints, boundary: int) -> tuple[Ints, int]:
    """Return classes 1 .. k-1 of words seen in training, 0 for the boundary and words never seen; and k."""
    seen = word_counts > 0
    seen[boundary] = False
    label = given.copy()
    further = given[UNKNOWN] if seen[UNKNOWN] and given[UNKNOWN] >= 0 else max(0, int(given.max())) + 1
    label[label < 0] = further
    classes, dense = np.unique(label[seen], return_inverse=True)
    label[:] = 0
    label[seen] = dense + 1
    return label, len(classes) + 1


def _test_events(test: Ints, word_counts: Ints, boundary: int) -> tuple[Ints, Ints, int]:
    """Return the contexts and words of the events, and the number of words skipped."""
    previous = np.concatenate(([boundary], test[:-1])).astype(np.int64)
    filled = ~((previous == boundary) & (test == boundary))
    previous, current = previous[filled], test[filled]
    substitute = UNKNOWN if word_counts[UNKNOWN] > 0 else -1
    known = word_counts > 0
    current = np.where(known[current], current, substitute)
    previous = np.where(known[previous], previous, substitute if substitute >= 0 else boundary)
    kept = current >= 0
    return previous[kept], current[kept], int((~kept).sum())


def _mutual_information(
    cells: NDArray[np.integer], rows: NDArray[np.integer], columns: NDArray[np.integer]
) -> float:
    total = int(cells.sum())
    if total == 0:
        return 0.0
    criterion = _x_log_x(cells) - _x_log_x(rows) - _x_log_x(columns)
    return max(0.0, criterion / total + float(np.log2(total)))


def _x_log_x(counts: NDArray[np.integer]) -> float:
    positive = counts[counts > 0].astype(np.float64)
    return float((positive * np.log2(positive)).sum())


def _sums(cells: Ints, counts: Ints, size: int) -> Ints:
    """Sum counts by cell; exact, as no sum comes near 2^53."""
    return np.bincount(cells, weights=counts, minlength=size).astype(np.int64)
