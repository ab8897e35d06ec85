"""The best back-off model of some size in place of any other model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.approximation.histories import Skeleton, expected_counts
from stategram.models.approximation.select import Choice, ChosenNgrams, normalize
from stategram.models.approximation.targets import Targets
from stategram.models.budget import NO_LIMIT, Budget
from stategram.models.model import Model, Text, require_model
from stategram.models.ngrams.model import NgramModel
from stategram.models.ngrams.plain import PlainTrie
from stategram.progress import Progress, subprogress
from stategram.text import Corpus, Vocabulary, corpus_from_sentences

_MIN_ORDER = 2
_FIRST_THRESHOLD = 0.045
"""Over the number of n-grams of the skeleton; for as many n-grams 0.040 to 0.055 were right for Wikipedia."""
_POWER = 0.62
"""The number of n-grams falls with this power of the threshold, measured as above."""
_MAX_EXCESS, _AIM = 1.3, 1.1
"""How many times too many n-grams may be chosen before the least worthwhile are taken away again."""
_MAX_CHOICES, _MAX_STEP = 6, 30.0
_SEARCH_STEPS = 20

_BYTES_OF_PROBABILITY, _BYTES_OF_BACKOFF = 12, 11
"""Seven digits with a sign, a point and a tab; the probability also with the end of the line."""

_BYTES_OF_HEADERS = 200


def approximate(
    model: Model,
    budget: Budget = NO_LIMIT,
    *,
    order: int | None = None,
    text: Text | None = None,
    progress: Progress | None = None,
) -> NgramModel:
    """Return the back-off n-gram model that comes closest to a model.

    Parameters
    ----------
    model
        Any model. Caches are left out of a mixture, and no history goes beyond the sentence.
    budget
        How large it may be; ``max_size`` is the size of an ARPA file. Without a limit there are as many
        n-grams as the n-gram model has up to that order; an n-gram model of that order is returned as it is.
    order
        The maximum n-gram order, at least 2. By default that of the n-gram model that is a
        part of the model.
    text
        The training text, which is needed if no part is an n-gram model of at least this order.
    progress
        Called with the fraction done and a few words.

    Notes
    -----
    N-grams are chosen by what they are worth, whether they were seen or not: see `select`. Histories are
    those of the n-gram model, which also tells how often each of them is used. The targets are averages over
    longer histories: see `targets`.

    Examples
    --------
    >>> from stategram import Budget, CategoryNgramModel, Mixture, NgramModel, approximate
    >>> text = ["the cat sat", "the dog sat", "a cat ran"]
    >>> classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
    >>> parts = [NgramModel.train(text, 2), CategoryNgramModel.train(text, classes, order=2)]
    >>> mixture = Mixture.fit(parts, ["a dog ran", "the cat ran"])
    >>> arpa = approximate(mixture, Budget(max_ngrams=20))
    >>> sum(arpa.trie.sizes) <= 20, arpa.perplexity("a dog ran") < parts[0].perplexity("a dog ran")
    (True, True)

    """
    require_model(model)
    if budget.compact:
        raise UsageError("an approximation is not compact; make it so by compact_model")
    if order is not None and order < _MIN_ORDER:
        raise UsageError(f"order is {order}; it must be at least {_MIN_ORDER}")
    ngram = _ngram_model(model, order, text, subprogress(progress, 0.0, 0.1))
    if model.word_ngrams is not None and not budget.has_limit:
        return ngram
    skeleton = Skeleton(ngram.plain())
    cut = model.with_history("sentence")._map_ngrams(lambda one: cut_ngrams(one, ngram.order))
    targets = cut._targets(skeleton.ids)
    progress = subprogress(progress, 0.1, 1.0)
    if budget.prune is not None:
        trie = Choice(skeleton, targets, math.log1p(budget.prune), progress=progress).model()
    else:
        size = ModelSize(skeleton, None if budget.max_size is None else model.vocabulary)
        limit = budget.max_size or budget.max_ngrams or size.of_skeleton
        if size.of_words > limit:
            unit = "n-grams" if budget.max_size is None else "bytes"
            raise UsageError(
                f"the words of the vocabulary alone take {size.of_words:,} {unit}, more than {limit:,}; "
                "allow more, or train with a smaller vocabulary"
            )
        trie = _largest_choice(skeleton, targets, size, limit, progress)
    return NgramModel.from_plain(
        model.vocabulary,
        trie,
        "approximation",
        training_info={"approximates": repr(model)},
        **model.origin,
    )


def _ngram_model(model: Model, order: int | None, text: Text | None, progress: Progress | None) -> NgramModel:
    """Return the n-gram model whose histories are used."""
    known = [part.word_ngrams for part in model.leaves.values() if part.word_ngrams is not None]
    if text is not None:
        corpus = (
            text if isinstance(text, Corpus) else corpus_from_sentences(text, vocabulary=model.vocabulary)
        )
        longest = max((part.order for part in known), default=3)
        return NgramModel.train(corpus.in_vocabulary(model.vocabulary), order or longest, progress=progress)
    found = [
        part for part in known if part.order >= (order or _MIN_ORDER) and part.vocabulary == model.vocabulary
    ]
    if not found:
        longest = max((part.order for part in known if part.vocabulary == model.vocabulary), default=0)
        lower = f", or an order of at most {longest}" if longest >= _MIN_ORDER else ""
        raise UsageError(
            f"{model!r} has no n-gram model of order {order or _MIN_ORDER} or more, with all its words, "
            f"to take histories from; give the training text (--train){lower}"
        )
    best = max(found, key=lambda part: sum(part.trie.sizes))
    return cut_ngrams(best, order) if order else best


def _largest_choice(
    skeleton: Skeleton, targets: Targets, size: ModelSize, limit: int, progress: Progress | None
) -> PlainTrie:
    """Choose slightly too many n-grams, then take away the least worthwhile until the size fits."""
    wanted, known = limit - size.of_words + 1, size.of_skeleton - size.of_words + 1
    n_known = sum(skeleton.index.sizes[1:]) + 1
    threshold = _FIRST_THRESHOLD / n_known * (known / wanted) ** (1 / _POWER)
    for attempt in range(_MAX_CHOICES):
        low = threshold
        here = subprogress(progress, 1.0 - 0.5**attempt, 1.0 - 0.5 ** (attempt + 1))
        choice = Choice(skeleton, targets, threshold, progress=here)
        excess = (size.of(choice.above(0.0)) - size.of_words + 1) / wanted
        if 1.0 <= excess <= _MAX_EXCESS:
            break
        threshold *= min(max((excess / _AIM) ** (1 / _POWER), 1 / _MAX_STEP), _MAX_STEP)
    if size.of(choice.above(0.0)) <= limit:
        return choice.model()
    high = 1.0  # no n-gram is worth as much
    for _ in range(_SEARCH_STEPS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if size.of(choice.above(middle)) > limit else (low, middle)
    return choice.model(high)


class ModelSize:
    """Measures what was chosen: in bytes if a vocabulary is given, else in n-grams."""

    def __init__(self, skeleton: Skeleton, vocabulary: Vocabulary | None = None) -> None:
        index = skeleton.index
        self._words: NDArray[np.int64] = np.zeros(index.n_words, np.int64)
        self._probability, self._backoff, headers = 1, 0, 0
        if vocabulary is not None:
            lengths = np.array([len(word.encode()) + 1 for word in vocabulary.words])  # and a space
            self._words = lengths[skeleton.ids]
            self._probability, self._backoff = _BYTES_OF_PROBABILITY, _BYTES_OF_BACKOFF
            headers = _BYTES_OF_HEADERS
        self._histories = np.zeros(len(index.words), np.int64)
        for length in range(1, index.order + 1):
            here = index.level(length)
            self._histories[here] = self._histories[index.parents[here]] + self._words[index.words[here]]
        self.of_words = headers + int(self._words.sum()) + self._probability * index.n_words
        n_ngrams, n_histories = len(self._histories) - 1, index.n_histories - 1
        of_numbers = self._probability * n_ngrams + self._backoff * n_histories
        self.of_skeleton = headers + int(self._histories.sum()) + of_numbers

    def of(self, levels: Sequence[ChosenNgrams]) -> int:
        """Return the size of the model of these n-grams and all single words."""
        size = self.of_words
        for level in levels:
            size += int(self._histories[level.histories].sum() + self._words[level.words].sum())
            size += self._probability * len(level) + self._backoff * len(np.unique(level.histories))
        return size


def cut_ngrams(model: NgramModel, order: int) -> NgramModel:
    """Return the n-gram model with n-grams of at most `order` words.

    The longest have the probabilities that are right for it. The lower orders of a Kneser-Ney model are made
    for backing off: "Francisco" is rare there, as it follows hardly any word but "San". Without the n-grams
    above, p(w | h) must be what the whole model expects after all longer histories that end in h.
    """
    if model.order <= order:
        return model
    trie = cut_trie(model.plain(), order)
    common = {"training_info": model.training_info, **model.origin}
    return NgramModel.from_plain(model.vocabulary, trie, model.smoothing, **common)


def cut_trie(index: PlainTrie, order: int) -> PlainTrie:
    """Return the n-grams of up to `order` words, the longest with the probability that the model expects."""
    counts = expected_counts(index)
    events = _with_longer(index, counts.events)
    visits = _with_longer(index, np.append(counts.visits, np.zeros(len(events) - len(counts.visits))))
    longest = index.level(order)
    end, n_histories = longest.stop, longest.start
    log_probs = index.log_probs[:end].copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.log10(events[longest] / visits[index.parents[longest]])
    log_probs[longest] = np.where(np.isfinite(expected), np.minimum(expected, 0.0), log_probs[longest])
    return normalize(
        PlainTrie(
            index.numbers,
            index.begins[: order + 2],
            index.words[:end],
            log_probs,
            np.zeros(n_histories, np.float32),
            index.first_child[: n_histories + 1],
        )
    )


def _with_longer(index: PlainTrie, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over all nodes that end in each node."""
    sums = values.copy()
    for length in range(index.order, 1, -1):
        here = index.level(length)
        sums += np.bincount(index.links[here], sums[here], len(sums))
    return sums
