"""What a model has learned, as plain data: representative clusters, frequent n-grams, what follows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import WordClasses
from stategram.explore.views.class_sets import Data, WordExample
from stategram.explore.views.state_sets import StateExample, state_set
from stategram.models import (
    FrequentNgram,
    Model,
    ModelStates,
    NgramModel,
    frequent_ngrams,
    word_frequencies,
)
from stategram.text import SPECIAL_WORDS, Corpus, Vocabulary
from stategram.wording import plural

_CLUSTERS, _NGRAMS, _EXAMPLES = 12, 10, 8
_LONGEST_NGRAMS, _LONGEST_HISTORY = 4, 2
# So many frequent histories, and so many categories, are looked at.
_HISTORIES, _CATEGORIES = 64, 512
# Words that are rarer than this fraction of the most likely one are no examples.
_TOO_RARE = 0.01
# A cluster with more members that are alike, or a history with more likely words, is no better an example.
_ENOUGH_WORDS, _ENOUGH_CONTEXTS, _ENOUGH_NEXT = 8.0, 4.0, 4.0
_TINY = np.finfo(np.float64).tiny


class ExampleGroup(Data, frozen=True, kw_only=True):
    """N-grams, or words, that go together; what follows them; a note on them."""

    ngrams: tuple[str, ...] = ()
    words: tuple[WordExample, ...] = ()
    next_words: tuple[WordExample, ...] = ()
    note: str = ""


class ExampleList(Data, frozen=True, kw_only=True):
    """Examples of one kind: a title, how to read them, and the groups."""

    title: str
    text: str
    groups: tuple[ExampleGroup, ...]


def examples(model: Model, text: Corpus | None = None) -> list[ExampleList]:
    """Return what n-grams of words and of classes have learned; nothing for models without them.

    With a text, in the vocabulary of the model, categories have their frequency there: in a model that backs
    off, probabilities after short histories are no frequencies.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
    >>> frequent, following = examples(model)
    >>> frequent.groups[1].ngrams[:2]
    ('the dog', 'a cat')
    >>> following.groups[0].ngrams, following.groups[0].next_words[0].word
    (('a',), 'cat')

    """
    lists = [
        _categories(model.vocabulary, one.labels, one.ngrams, one.word_probs, text)
        for one in model.class_sets
        if one.ngrams is not None and one.word_probs is not None
    ]
    if (ngrams := model.word_ngrams) is not None:
        frequent = frequent_ngrams(ngrams, min(ngrams.order, _LONGEST_NGRAMS), _HISTORIES)
        lists += [_frequent(ngrams, frequent), _continuations(ngrams, frequent)]
    return [one for one in lists if one.groups]


def _frequent(model: NgramModel, frequent: Sequence[Sequence[FrequentNgram]]) -> ExampleList:
    return ExampleList(
        title="Frequent n-grams",
        text="What the model takes for most frequent, the most frequent first.",
        groups=tuple(
            ExampleGroup(
                ngrams=tuple(" ".join(_words(model, one)) for one in ngrams[:_NGRAMS]),
                note=plural(length, "word"),
            )
            for length, ngrams in enumerate(frequent, 1)
            if ngrams
        ),
    )


def _continuations(model: NgramModel, frequent: Sequence[Sequence[FrequentNgram]]) -> ExampleList:
    """Return frequent histories that say most about the next word, where it is not always the same."""
    histories = [ngrams for ngrams in frequent[: min(model.order - 1, _LONGEST_HISTORY)] if ngrams][-1:]
    found = histories[0] if histories else []
    rows = np.array([model.distribution(_words(model, one), sentence_start=False) for one in found])
    bits = _divergences(rows, word_frequencies(model)) if len(found) else np.empty(0)
    n_next = np.exp2(-_divergences(rows, np.ones(1))) if len(found) else bits  # 2 to the entropy
    best = np.argsort(-bits * np.minimum(n_next / _ENOUGH_NEXT, 1.0), kind="stable")[:_CLUSTERS]
    return ExampleList(
        title="Strong continuations",
        text="Frequent histories that say much about the next word, and the probability of these words.",
        groups=tuple(
            ExampleGroup(
                ngrams=(" ".join(_words(model, found[i])),),
                next_words=likely_words(model.vocabulary, rows[i]),
                note=f"{bits[i]:.1f} bits about the next word",
            )
            for i in best.tolist()
        ),
    )


def _categories(
    vocabulary: Vocabulary,
    labels: NDArray[Any],
    ngrams: NgramModel,
    word_probs: NDArray[np.float64],
    text: Corpus | None,
) -> ExampleList:
    """Return categories that are distinctive, and of several words that are about as frequent."""
    frequencies = word_frequencies(ngrams)
    n_words = effective_number(labels, word_probs, len(frequencies))
    sizes = np.bincount(labels, minlength=len(frequencies))
    in_text = None if text is None else np.bincount(labels[text.ids], minlength=len(frequencies))
    often = len(SPECIAL_WORDS) + np.argsort(-frequencies[len(SPECIAL_WORDS) :], kind="stable")[:_CATEGORIES]
    names = [[ngrams.vocabulary.word(id)] for id in often.tolist()]
    rows = np.array([ngrams.distribution(name, sentence_start=False) for name in names])
    score = np.zeros(len(frequencies))
    score[often] = _divergences(rows, frequencies) if len(often) else 0.0
    score *= np.minimum(n_words / _ENOUGH_WORDS, 1.0)
    row_of = {id: row for row, id in enumerate(often.tolist())}
    best = [one for one in best_clusters(score, frequencies, n_words, _CLUSTERS) if one in row_of]
    return ExampleList(
        title="Representative categories",
        text="Words that share their n-grams, with their probability in the category; then what is likely "
        "after the category.",
        groups=tuple(
            ExampleGroup(
                words=likely_words(vocabulary, np.where(labels == number, word_probs, 0.0)),
                next_words=likely_words(vocabulary, rows[row_of[number]][labels] * word_probs),
                note=plural(int(sizes[number]), "word")
                + (
                    f", {plural(int(in_text[number]), 'event')} of the test text"
                    if in_text is not None
                    else ""
                ),
            )
            for number in best
        ),
    )


def _words(model: NgramModel, ngram: FrequentNgram) -> list[str]:
    return list(map(model.vocabulary.word, ngram.ids))


def _divergences(rows: NDArray[np.float64], frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the relative entropy of each distribution to the frequencies, in bits."""
    logs = np.log2(np.maximum(rows, _TINY)) - np.log2(np.maximum(frequencies, _TINY))
    found: NDArray[np.float64] = np.einsum("ij,ij->i", rows, logs)
    return found


class CategoryExample(Data, frozen=True, kw_only=True):
    """A category: its numbers of words and events, and its most likely words."""

    number: int
    words: int
    events: int
    examples: tuple[WordExample, ...]


class ClusterGallery(Data, frozen=True, kw_only=True):
    """Representative clusters of a model; ``key`` is its name."""

    key: str
    categories: tuple[CategoryExample, ...]
    states: tuple[StateExample, ...]


def gallery(model: Model, key: str, *, clusters: int = _CLUSTERS) -> ClusterGallery | None:
    """Choose representative clusters: distinctive, and of several members that are about as frequent.

    `key` is the name under which they are shown, `clusters` how many states and categories at most. None for
    models that do not keep what follows the states of contexts.

    Examples
    --------
    >>> from stategram import ClusteredModel, cluster, corpus_from_sentences
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> model = ClusteredModel.train(cluster(corpus, "w-1", states=3, categories=3))
    >>> found = gallery(model, "w-1")
    >>> state = found.states[0]
    >>> [one.context for one in state.examples], [one.word for one in state.next_words]
    (['a', 'the'], ['cat', 'dog'])

    """
    states = next((one for one in model.state_sets if one.counts), None)
    if states is None or states.word_probs is None:
        return None
    cells, word_probs = states.counts[-1], states.word_probs
    bits = information(cells.rows, cells.columns, cells.counts)
    n_states, n_categories = cells.shape
    of_categories = np.bincount(cells.columns, bits, n_categories).astype(np.float64)
    of_states = np.bincount(cells.rows, bits, n_states).astype(np.float64)
    return ClusterGallery(
        key=key,
        categories=_categories_of_states(model.vocabulary, states, word_probs, of_categories, clusters),
        states=_states(model, states, word_probs, of_states, clusters),
    )


def _categories_of_states(
    vocabulary: Vocabulary,
    states: ModelStates,
    word_probs: NDArray[np.float64],
    bits: NDArray[np.float64],
    n: int,
) -> tuple[CategoryExample, ...]:
    events = states.counts[-1].of_categories
    words = effective_number(states.categories, word_probs, len(events))
    score = bits / np.maximum(events, 1) * np.minimum(words / _ENOUGH_WORDS, 1.0)
    return tuple(
        CategoryExample(
            number=number,
            words=int(np.count_nonzero(states.categories == number)),
            events=int(events[number]),
            examples=likely_words(vocabulary, np.where(states.categories == number, word_probs, 0.0)),
        )
        for number in best_clusters(score, events, words, n)
    )


def _states(
    model: Model,
    states: ModelStates,
    word_probs: NDArray[np.float64],
    bits: NDArray[np.float64],
    n: int,
) -> tuple[StateExample, ...]:
    table, leaves = states.counts[-1], states.tree.levels[-1]
    events = table.of_states
    contexts = effective_number(leaves.states, leaves.counts, len(events))
    following = effective_number(table.rows, table.counts, len(events))
    several = np.minimum(contexts / _ENOUGH_CONTEXTS, 1.0) * np.minimum(following / _ENOUGH_NEXT, 1.0)
    score = bits / np.maximum(events, 1) * several
    found = state_set(model, "0", table.of_categories[states.categories] * word_probs)
    return tuple(
        StateExample(
            number=number,
            contexts=int(found.n_contexts[number]),
            events=int(events[number]),
            examples=tuple(found.contexts(number, _EXAMPLES)),
            next_words=likely_words(model.vocabulary, found.word_probs_after(number)),
        )
        for number in best_clusters(score, events, contexts, n)
    )


def best_clusters(
    score: NDArray[np.float64], events: NDArray[Any], members: NDArray[np.float64], n: int
) -> list[int]:
    """Return the clusters with the best scores, without rare ones and those of a single member."""
    common = events >= events.sum() / (2 * len(events))
    # An entropy that should be that of one member may be off in its last digits.
    usable = np.flatnonzero(common & (members > 1.01))
    return [int(one) for one in usable[np.argsort(-score[usable], kind="stable")[:n]]]


def likely_words(vocabulary: Vocabulary, probabilities: NDArray[np.float64]) -> tuple[WordExample, ...]:
    """Return the most likely words, without those that are rare beside the first."""
    best = np.argsort(-probabilities, kind="stable")[:_EXAMPLES]
    return tuple(
        WordExample(vocabulary.word(int(id)), float(probabilities[id]))
        for id in best
        if probabilities[id] > _TOO_RARE * probabilities[best[0]]
    )


def representative_classes(words: WordClasses, n: int, *, min_words: float = 8.0) -> list[int]:
    """Return the classes that are most informative about their neighbours, best first.

    A class is as informative as its mutual information, per event, with the class before and the class after.
    Classes whose words are not worth ``min_words`` equally frequent ones are left out: a single frequent word
    with a tail of rare ones is informative, but not about classes.

    Examples
    --------
    >>> words = WordClasses(n_classes=2).fit(["a b", "a b b", "a a b"])
    >>> sorted(representative_classes(words, 2, min_words=1))
    [0, 1]

    """
    counts = words.class_bigrams_.astype(np.float64)
    margins = counts.sum(axis=1)
    rows, columns = np.nonzero(counts)
    bits = information(rows, columns, counts[rows, columns])
    sums = np.bincount(rows, bits, len(margins)) + np.bincount(columns, bits, len(margins))
    informative = sums / np.maximum(margins, 1)
    # Half of an equal fraction of the events: rare classes matter little.
    common = margins[:-1] >= counts.sum() / (2 * len(margins))
    n_words = effective_number(words.labels_, np.maximum(words.counts_, 1), len(common))
    large = np.flatnonzero((n_words >= min_words) & common)
    return [int(c) for c in sorted(large, key=lambda c: -informative[c])[:n]]


def information(rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any]) -> NDArray[np.float64]:
    """Return what each cell of a table of counts adds to the mutual information of its two sides, in bits.

    >>> information(np.array([0, 1]), np.array([0, 1]), np.array([4, 4])).tolist()
    [4.0, 4.0]
    """
    of_rows, of_columns = np.bincount(rows, counts), np.bincount(columns, counts)
    expected = of_rows[rows] * of_columns[columns] / max(counts.sum(), 1.0)
    bits: NDArray[np.float64] = counts * np.log2(counts / expected)
    return bits


def effective_number(labels: NDArray[Any], weights: NDArray[Any], n_clusters: int) -> NDArray[np.float64]:
    """Return how many members of equal weight each cluster is worth: 2 to their entropy; 1 if it has none.

    >>> effective_number(np.array([0, 0, 1]), np.array([5, 5, 3]), 2).tolist()
    [2.0, 1.0]
    """
    own = weights > 0
    labels, weight = labels[own], weights[own].astype(np.float64)
    fraction = weight / np.bincount(labels, weight, n_clusters)[labels]
    return np.exp2(np.bincount(labels, -fraction * np.log2(fraction), n_clusters))
