"""What an n-gram model has learned, as plain data for reports: what is frequent, and what follows it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.explore.views.gallery import Data, WordExample, best_clusters, likely_words
from stategram.explore.views.representative import effective_number
from stategram.models import (
    CategoryNgramModel,
    FrequentNgram,
    Model,
    NgramModel,
    frequent_ngrams,
    word_frequencies,
)
from stategram.text import SPECIAL_WORDS, Corpus
from stategram.wording import plural

_GROUPS, _NGRAMS = 12, 10
_LONGEST_NGRAMS, _LONGEST_HISTORY = 4, 2
# So many frequent histories, and so many categories, are looked at.
_HISTORIES, _CATEGORIES = 64, 512
# A history with more likely words after it, or a category with more words, is no better an example.
_ENOUGH_NEXT, _ENOUGH_WORDS = 4.0, 8.0
_TINY = np.finfo(np.float64).tiny


class ExampleGroup(Data, frozen=True):
    """N-grams, or words, that go together; what follows them; a note on them."""

    ngrams: tuple[str, ...] = ()
    words: tuple[WordExample, ...] = ()
    next_words: tuple[WordExample, ...] = ()
    note: str = ""


class ExampleList(Data, frozen=True):
    """Examples of one kind: a title, how to read them, and the groups."""

    title: str
    text: str
    groups: tuple[ExampleGroup, ...]


def examples(model: Model, text: Corpus | None = None) -> list[ExampleList]:
    """Return what an n-gram model or a category n-gram model has learned; nothing for other models.

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
    if isinstance(model, CategoryNgramModel):
        lists = [_categories(model, text)]
    elif isinstance(model, NgramModel):
        frequent = frequent_ngrams(model, min(model.order, _LONGEST_NGRAMS), _HISTORIES)
        lists = [_frequent(model, frequent), _continuations(model, frequent)]
    else:
        lists = []
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
    best = np.argsort(-bits * np.minimum(n_next / _ENOUGH_NEXT, 1.0), kind="stable")[:_GROUPS]
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


def _categories(model: CategoryNgramModel, text: Corpus | None) -> ExampleList:
    """Return categories that are distinctive, and of several words that are about as frequent."""
    frequencies = word_frequencies(model.ngram)
    n_words = effective_number(model.categories, model.word_probs, len(frequencies))
    sizes = np.bincount(model.categories, minlength=len(frequencies))
    in_text = None if text is None else np.bincount(model.categories[text.ids], minlength=len(frequencies))
    often = len(SPECIAL_WORDS) + np.argsort(-frequencies[len(SPECIAL_WORDS) :], kind="stable")[:_CATEGORIES]
    names = [[model.ngram.vocabulary.word(id)] for id in often.tolist()]
    rows = np.array([model.ngram.distribution(name, sentence_start=False) for name in names])
    score = np.zeros(len(frequencies))
    score[often] = _divergences(rows, frequencies) if len(often) else 0.0
    score *= np.minimum(n_words / _ENOUGH_WORDS, 1.0)
    row_of = {id: row for row, id in enumerate(often.tolist())}
    best = [one for one in best_clusters(score, frequencies, n_words, _GROUPS) if one in row_of]
    return ExampleList(
        title="Representative categories",
        text="Words that share their n-grams, with their probability in the category; then what is likely "
        "after the category.",
        groups=tuple(
            ExampleGroup(
                words=likely_words(
                    model.vocabulary, np.where(model.categories == number, model.word_probs, 0.0)
                ),
                next_words=likely_words(
                    model.vocabulary, rows[row_of[number]][model.categories] * model.word_probs
                ),
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
