"""What word classes are worth: the perplexity of the class bigram models built on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram.errors import UsageError

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class ClassBigramFigures:
    """What :func:`class_bigram_perplexity` finds; all logarithms to base 2.

    ``perplexity_ad`` and ``perplexity_kn`` are those of p(g|g') p(w|g) on the test text, its bigrams backed
    by relative frequencies or by Kneser-Ney continuation counts. ``predictive_...`` are those of
    p(g|w') p(w|g), backed by relative frequencies (``unigram``) or by a class bigram over types (``chain``).
    ``known_...`` leave out the events whose word is ``<unk>``; they are still contexts. ``skipped`` words are
    in none.
    """

    classes: int
    train_events: int
    test_events: int
    unknown: int
    skipped: int
    discount: float
    ami: float
    train_perplexity: float
    predictive_train_perplexity: float
    perplexity_ad: float
    perplexity_kn: float
    predictive_unigram: float
    predictive_chain: float
    known_perplexity_ad: float
    known_perplexity_kn: float
    known_predictive_unigram: float
    known_predictive_chain: float


def average_mutual_information(counts: ArrayLike) -> float:
    """Give the mutual information, in bits, of the row and the column of an event counted in a table.

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
    total = int(table.sum())
    if total == 0:
        return 0.0
    criterion = _x_log_x(table) - _x_log_x(table.sum(axis=1)) - _x_log_x(table.sum(axis=0))
    return max(0.0, criterion / total + float(np.log2(total)))


def class_bigram_perplexity(
    bigrams: tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]],
    labels: ArrayLike,
    test_ids: ArrayLike,
    *,
    boundary: int = 2,
    unknown: int = 0,
) -> ClassBigramFigures:
    """Train class bigram models on word bigrams and measure their perplexity on a test text.

    Parameters
    ----------
    bigrams
        Offsets, columns and counts of the training text's word bigrams in compressed rows, sentence
        beginnings and ends as the one symbol ``boundary``.
    labels
        The class of each word id, -1 for a word without one. The boundary's is not looked at: it has a class
        of its own. Words without a class join that of ``unknown``, or share a further class.
    test_ids
        The test text, each sentence closed by ``boundary``.
    boundary, unknown
        The ids of ``</s>`` and ``<unk>``.

    Returns
    -------
    ClassBigramFigures
        Empty sentences are left out. A test word without training events becomes ``unknown`` if that has
        some; otherwise it is skipped, and the word after it is predicted as if it began a sentence.

    Notes
    -----
    p(w|g) = N(w)/N(g). Bigrams are interpolated with absolute discounting, D = n1/(n1 + 2 n2)::

        p(g|g') = max(N(g',g) - D, 0)/N(g') + D N1+(g',.)/N(g') q(g)

    Examples
    --------
    The sentences ``a b``, ``a a b`` with the classes 0 for a (id 3) and 1 for b (id 4):

    >>> offsets = np.array([0, 0, 0, 1, 3, 4])
    >>> columns, counts = np.array([3, 3, 4, 2], np.uint32), np.array([2, 1, 2, 2], np.uint32)
    >>> figures = class_bigram_perplexity((offsets, columns, counts), [-1, -1, -1, 0, 1], [3, 4, 2])
    >>> figures.classes, figures.train_events, round(figures.perplexity_kn, 4)
    (2, 7, 1.1945)

    """
    offsets, columns, counts = (np.asarray(a).astype(np.int64) for a in bigrams)
    types = len(offsets) - 1
    given = np.asarray(labels, dtype=np.int64)
    if len(given) != types:
        raise UsageError(f"{len(given)} class labels were given for {types} word ids; one for each is needed")
    test = np.asarray(test_ids, dtype=np.int64)
    if len(test) and not 0 <= test.min() <= test.max() < types:
        raise UsageError(f"the test text has ids up to {test.max()}; the bigrams know {types} ids")

    rows = np.repeat(np.arange(types, dtype=np.int64), np.diff(offsets))
    some = (counts > 0) & ~((rows == boundary) & (columns == boundary))
    rows, columns, counts = rows[some], columns[some], counts[some]
    events = int(counts.sum())
    if events == 0:
        raise UsageError("the training text has no events; give a text with at least one word")
    word_count = _sums(columns, counts, types)
    label, k = _dense_labels(given, word_count, boundary, unknown)
    class_count = _sums(label[columns], counts, k)

    pairs = _Bigrams.of(label[rows] * k + label[columns], counts, k, k)
    word_pairs = _Bigrams.of(rows * k + label[columns], counts, types, k)
    # Each (w', g) seen counts once: Kneser-Ney's lower order for the predictive model.
    type_pairs = _Bigrams.of(
        label[word_pairs.keys // k] * k + word_pairs.keys % k, np.ones_like(word_pairs.keys), k, k
    )
    criterion = _x_log_x(pairs.counts) - 2 * _x_log_x(class_count)
    predictive = _x_log_x(word_pairs.counts) - _x_log_x(word_count) - _x_log_x(class_count)
    words = _x_log_x(word_count)

    previous, current, skipped = _test_events(test, word_count, boundary, unknown)
    before, after = label[previous], label[current]
    in_class = np.log2(word_count[current] / class_count[after])
    relative = class_count[after] / events
    continuation = pairs.predecessors[after] / len(pairs.keys)
    logs = {
        "perplexity_ad": np.log2(pairs.probability(before, after, relative)) + in_class,
        "perplexity_kn": np.log2(pairs.probability(before, after, continuation)) + in_class,
        "predictive_unigram": np.log2(word_pairs.probability(previous, after, relative)) + in_class,
        "predictive_chain": np.log2(
            word_pairs.probability(previous, after, type_pairs.probability(before, after, relative))
        )
        + in_class,
    }
    known = current != unknown
    return ClassBigramFigures(
        classes=k - 1,
        train_events=events,
        test_events=len(current),
        unknown=int((~known).sum()),
        skipped=skipped,
        discount=pairs.discount,
        ami=criterion / events + float(np.log2(events)),
        train_perplexity=2.0 ** -((criterion + words) / events),
        predictive_train_perplexity=2.0 ** -((predictive + words) / events),
        **{name: _perplexity(log) for name, log in logs.items()},
        **{f"known_{name}": _perplexity(log[known]) for name, log in logs.items()},
    )


@dataclass(frozen=True)
class _Bigrams:
    """Counts of (context, class) by the sorted keys context * k + class, and the model on them."""

    keys: Ints
    counts: Ints
    totals: Ints
    successors: Ints
    predecessors: Ints
    discount: float
    k: int

    @classmethod
    def of(cls, keys: Ints, counts: Ints, contexts: int, k: int) -> _Bigrams:
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        keys, counts = keys[first], np.add.reduceat(counts[order], first)
        once, twice = int((counts == 1).sum()), int((counts == 2).sum())
        # Without counts of one or of two the estimate says nothing; these keep the model proper.
        discount = 0.1 if once == 0 else 0.5 if twice == 0 else once / (once + 2 * twice)
        return cls(
            keys=keys,
            counts=counts,
            totals=_sums(keys // k, counts, contexts),
            successors=np.bincount(keys // k, minlength=contexts),
            predecessors=np.bincount(keys % k, minlength=k),
            discount=discount,
            k=k,
        )

    def probability(self, context: Ints, after: Ints, lower: Floats) -> Floats:
        """Give p(after | context), interpolated with the lower order's probability of the same events."""
        wanted = context * self.k + after
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self.keys) - 1)
        count = np.where(self.keys[place] == wanted, self.counts[place], 0)
        total = self.totals[context]
        left_over = self.discount * self.successors[context]
        return (np.maximum(count - self.discount, 0.0) + left_over * lower) / total


def _dense_labels(given: Ints, word_count: Ints, boundary: int, unknown: int) -> tuple[Ints, int]:
    """Classes 1 .. k-1 of the words seen in training, 0 for the boundary and for words never seen."""
    seen = word_count > 0
    seen[boundary] = False
    label = given.copy()
    further = given[unknown] if seen[unknown] and given[unknown] >= 0 else max(0, int(given.max())) + 1
    label[label < 0] = further
    classes, dense = np.unique(label[seen], return_inverse=True)
    label[:] = 0
    label[seen] = dense + 1
    return label, len(classes) + 1


def _test_events(test: Ints, word_count: Ints, boundary: int, unknown: int) -> tuple[Ints, Ints, int]:
    """Contexts and words of the events, and the number of words skipped."""
    previous = np.concatenate(([boundary], test[:-1])).astype(np.int64)
    filled = ~((previous == boundary) & (test == boundary))
    previous, current = previous[filled], test[filled]
    substitute = unknown if word_count[unknown] > 0 else -1
    known = word_count > 0
    current = np.where(known[current], current, substitute)
    previous = np.where(known[previous], previous, substitute if substitute >= 0 else boundary)
    kept = current >= 0
    return previous[kept], current[kept], int((~kept).sum())


def _x_log_x(counts: NDArray[np.integer]) -> float:
    positive = counts[counts > 0].astype(np.float64)
    return float((positive * np.log2(positive)).sum())


def _sums(places: Ints, counts: Ints, size: int) -> Ints:
    """Sum counts by place; exact, as no sum comes near 2^53."""
    return np.bincount(places, weights=counts, minlength=size).astype(np.int64)


def _perplexity(log: Floats) -> float:
    """2 to the mean surprisal; nan when there is no event."""
    return float(2.0 ** -log.mean()) if len(log) else float("nan")
