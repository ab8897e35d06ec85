"""An n-gram model of categories: p(w | c) = p(g | g-1, ..., g-n+1) p(w | g), where g is the category of w."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering import WordClasses
from stategram.display import Description, plural
from stategram.errors import UsageError
from stategram.models.approximation.targets import CategoryNgramTargets
from stategram.models.clusters import ModelClasses, category_sums, require_word_probs, word_probabilities
from stategram.models.distributions import Distributions, of_words
from stategram.models.model import Model, require_state
from stategram.models.model_files import ModelFiles
from stategram.models.ngrams.model import NgramModel
from stategram.models.scores import Scores, State, Step
from stategram.progress import Progress
from stategram.storage import Archive, array_of
from stategram.text import (
    BEGIN,
    END,
    SPECIAL_WORDS,
    UNKNOWN,
    Corpus,
    Vocabulary,
    corpus_from_sentences,
    dense_ids,
)

Categories: TypeAlias = "Mapping[str, Hashable] | NDArray[np.integer[Any]] | Sequence[int]"


@dataclass(frozen=True, eq=False)
class CategoryNgramModel(Model):
    """An n-gram model of the categories of words, with the probability of each word in its category.

    Parameters
    ----------
    vocabulary, training_info, metadata
        See `Model`.
    ngram
        The model of categories, whose words are their numbers.
    categories
        For each word, the id of its category in the vocabulary of `ngram`. ``<s>`` and ``</s>`` are
        themselves; ``<unk>`` there is the category of ``<unk>``.
    word_probs
        For each word, its probability in its category; 0 for ``<s>``.

    Notes
    -----
    Brown, Della Pietra, deSouza, Lai and Mercer (1992), "Class-based n-gram models of natural language".
    p(w | g) is discounted within the category by leaving-one-out (Ney, Essen and Kneser 1994), so that words
    of the vocabulary that were never seen have a probability too. The value of a `State` is that of the
    n-gram model, and the category of the last word.

    """

    kind: ClassVar[str] = "category-ngram"
    kind_title: ClassVar[str] = "category n-gram model"

    ngram: NgramModel
    categories: NDArray[np.uint32]
    word_probs: NDArray[np.float64]

    @classmethod
    def train(
        cls,
        corpus: Corpus | Iterable[str],
        categories: Categories | WordClasses,
        order: int = 5,
        *,
        smoothing: str = "kneser-ney",
        progress: Progress | None = None,
    ) -> CategoryNgramModel:
        """Train a model on a text.

        Parameters
        ----------
        corpus
            A corpus, or sentences.
        categories
            `WordClasses` that were fitted, or the category of each word: a mapping, or an array with a number
            for each id of the vocabulary, below 0 where there is none. Words without a category share that
            of ``<unk>``, which is its own if it is given none; ``<s>`` and ``</s>`` are always alone.
        order, smoothing, progress
            As in `NgramModel.train`.

        Examples
        --------
        >>> from stategram import CategoryNgramModel
        >>> text = ["the cat sat", "the dog sat", "a cat ran"]
        >>> classes = {"the": 0, "a": 0, "cat": 1, "dog": 1, "sat": 2, "ran": 2}
        >>> model = CategoryNgramModel.train(text, classes, order=2)
        >>> [word for word, _ in model.predict("a", top=2)]
        ['cat', 'dog']

        """
        if not isinstance(corpus, Corpus):
            corpus = corpus_from_sentences(corpus)
        vocabulary = corpus.vocabulary
        if isinstance(categories, WordClasses):
            categories = dict(zip(categories.words_, categories.labels_.tolist(), strict=True))
        ids = _category_ids(vocabulary, categories)
        n_categories = int(ids.max()) + 1
        probs, discount = word_probabilities(corpus.word_counts, ids)
        # The category of <unk> has its name; those of other words are 1, 2, ...
        names = Vocabulary.from_words(map(str, range(1, n_categories - len(SPECIAL_WORDS) + 1)))
        ngram = NgramModel.train(
            replace(corpus, ids=ids[corpus.ids], vocabulary=names),
            order,
            smoothing=smoothing,
            progress=progress,
        )
        info = {"categories": _number_of(ids), "word_discount": discount}
        return cls(vocabulary, ngram, ids, probs, training_info=info)

    def __repr__(self) -> str:
        return f"CategoryNgramModel(order {self.order}, {self.n_categories:,} categories)"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"{self.order}-gram model of {plural(self.n_categories, 'category', 'categories')}"

    @property
    def order(self) -> int:
        """The number of categories of the longest n-grams."""
        return self.ngram.order

    @property
    def n_categories(self) -> int:
        """The number of categories that have words, special ones left out."""
        return _number_of(self.categories)

    @property
    def parameters(self) -> int:
        """The number of probabilities and back-off weights of categories, and of probabilities of words."""
        return self.ngram.parameters + int(np.count_nonzero(self.word_probs))

    @property
    def sum_tolerance(self) -> float:
        """That of the model of categories."""
        return self.ngram.sum_tolerance

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Those of the n-gram model, and ``category``: that of the last word."""
        return (*self.ngram.feature_names, "category")

    @property
    def class_sets(self) -> tuple[ModelClasses, ...]:
        """The categories, with their n-grams."""
        title = f"categories of the {self.title}"
        return (ModelClasses(title, self.categories, self.ngram, word_probs=self.word_probs),)

    def _targets(self, ids: NDArray[np.uint32]) -> CategoryNgramTargets:
        return CategoryNgramTargets(self, ids)

    def _map_ngrams(self, function: Callable[[NgramModel], NgramModel]) -> CategoryNgramModel:
        return replace(self, ngram=function(self.ngram))

    def filter(self, vocabulary: Vocabulary) -> CategoryNgramModel:
        """Return the model of the words that are in a vocabulary too.

        The probabilities of words in their categories are made to sum to one again; a category without any
        words goes to that of ``<unk>``, as words do in `NgramModel.filter`.
        """
        kept = self.vocabulary.subset(vocabulary)
        probs, categories = self.word_probs[kept].copy(), self.categories[kept]
        sums = np.bincount(categories, probs, len(self.ngram.vocabulary))
        if sums[UNKNOWN] == 0:
            probs[UNKNOWN] = sums[UNKNOWN] = 1.0
        sums[BEGIN] = 1.0
        kept_categories = np.flatnonzero(sums > 0)
        probs[sums[categories] > 0] /= sums[categories][sums[categories] > 0]
        ids = np.full(len(sums), UNKNOWN, np.uint32)
        ids[kept_categories] = np.arange(len(kept_categories), dtype=np.uint32)
        return replace(
            self,
            vocabulary=self.vocabulary.take(kept),
            ngram=self.ngram.filter(self.ngram.vocabulary.take(kept_categories)),
            categories=ids[categories],
            word_probs=probs,
        )

    def describe(self) -> Description:
        """Return its categories, and its n-grams by their length."""
        facts = (
            ("Order", self.order),
            ("Smoothing", self.ngram.smoothing),
            ("Categories", self.n_categories),
            ("N-grams", sum(self.ngram.trie.sizes)),
        )
        unit, units = "category", "categories"
        tables = self.ngram.sizes_table(unit, units), self.ngram.discounts_table(unit, units)
        return Description(facts, tables)

    def start(self, *, sentence_start: bool = True) -> State:
        """Return the state at the start of a sentence, or the empty state (no known words)."""
        node = self.ngram.start(sentence_start=sentence_start).value
        return State((node, BEGIN if sentence_start else UNKNOWN))

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        of_ngram = [name for name in features if name != "category"]
        scores = self.ngram._score(self._of_categories(corpus), State(state.value[0]), of_ngram)
        log_probs = scores.log_probs
        log_probs += self._log_word_probs[corpus.ids]
        found = dict(scores.features)
        if "category" in features:
            last = np.empty(corpus.n_events, np.float32)
            last[1:] = self.categories.astype(np.float32)[corpus.ids[:-1]]
            starts = corpus.sentence_starts[:-1]
            last[starts[starts < len(last)]] = BEGIN
            last[:1] = state.value[1]
            found["category"] = last
        before, words = self._last_sentence(corpus, state)
        category = int(self.categories[words[-1]]) if len(words) else before.value[1]
        return Scores(corpus, log_probs, State((scores.state.value, category)), features=found)

    def advance(self, state: State, word: str) -> Step:
        """Return the log-probability of a word after a state, and the state after it."""
        require_state(state)
        id = self._id(word)
        category = int(self.categories[id])
        step = self.ngram.advance(State(state.value[0]), self.ngram.vocabulary.words[category])
        after = State((step.state.value, BEGIN if id == END else category))
        return Step(step.log_prob + float(self._log_word_probs[id]), after, None)

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        found = self.ngram._distributions(self._of_categories(corpus), State(state.value[0]))
        return of_words(found, len(self.ngram.vocabulary), self.categories, self.word_probs)

    def _entropies(self, corpus: Corpus, state: State, progress: Progress | None) -> NDArray[np.float64]:
        sums = category_sums(self.word_probs, self.categories, len(self.ngram.vocabulary))
        return self.ngram.weighted_entropies(self._of_categories(corpus), State(state.value[0]), *sums)

    def _of_categories(self, corpus: Corpus) -> Corpus:
        """Return the categories of the words of a text."""
        return replace(corpus, ids=self.categories[corpus.ids], vocabulary=self.ngram.vocabulary)

    def _draw(self, state: State, random: np.random.Generator) -> int:
        """Draw a category after a state, and then one of its words."""
        category = self.ngram._draw(State(state.value[0]), random)
        order, cumulative, begins = self._words_by_category
        begin, end = begins[category : category + 2].tolist() if category >= 0 else (0, 0)
        below = float(cumulative[begin - 1]) if begin else 0.0
        place = begin + int(np.searchsorted(cumulative[begin:end], below + random.random(), "right"))
        return int(order[place]) if place < end else -1

    def check(self) -> None:
        """Check every n-gram; BadDataError if the model is inconsistent."""
        self.ngram.check()
        require_word_probs(self.word_probs, self.categories)

    def _to_files(self) -> ModelFiles:
        return ModelFiles(
            arrays={"words": {"symbols": self.categories, "word_probs": self.word_probs}},
            parts=(self.ngram,),
        )

    @classmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> CategoryNgramModel:
        arrays = archive.arrays("words")
        (ngram,) = parts
        if not isinstance(ngram, NgramModel):
            raise TypeError("its categories have no n-gram model")
        categories = array_of(arrays, "symbols", np.uint32, len(vocabulary))
        word_probs = array_of(arrays, "word_probs", np.float64, len(vocabulary))
        if int(categories.max()) >= len(ngram.vocabulary):
            raise ValueError("a category is not in its n-gram model")
        model = cls(vocabulary, ngram, categories, word_probs, **common)
        require_word_probs(word_probs, categories)
        return model

    @cached_property
    def stepper(self) -> _core.Stepper:
        """The model word by word for decoders."""
        return _core.CategoryStepper(self.ngram.stepper, self.categories, self.word_probs)

    @cached_property
    def _words_by_category(self) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """The words, category by category, the sums of their probabilities, and where categories begin."""
        order = np.argsort(self.categories, kind="stable")
        begins = np.searchsorted(self.categories[order], np.arange(len(self.ngram.vocabulary) + 1))
        return order, np.cumsum(self.word_probs[order]), begins

    @cached_property
    def _log_word_probs(self) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            logs: NDArray[np.float64] = np.log(self.word_probs)
        return logs


def _number_of(categories: NDArray[np.uint32]) -> int:
    return len(np.unique(categories[len(SPECIAL_WORDS) :]))


def _category_ids(vocabulary: Vocabulary, categories: Categories) -> NDArray[np.uint32]:
    """Return the category of each word, as the id of a vocabulary in which categories are the words.

    Its special words: ``<unk>`` is the category of ``<unk>`` and of all words without one; ``<s>`` and
    ``</s>`` are themselves. So no id is without a word, and no probability is lost.
    """
    labels = _labels(vocabulary, categories)
    with_unknown = (labels == labels[UNKNOWN]) | (labels < 0)
    with_unknown[[BEGIN, END]] = False
    others = ~with_unknown
    others[[BEGIN, END]] = False
    ids = np.full(len(vocabulary), UNKNOWN, np.uint32)
    ids[[BEGIN, END]] = BEGIN, END
    ids[others] = len(SPECIAL_WORDS) + np.unique(labels[others], return_inverse=True)[1].reshape(-1)
    return ids


def _labels(vocabulary: Vocabulary, categories: Categories) -> NDArray[np.int64]:
    if isinstance(categories, Mapping):
        words = vocabulary.words
        numbers = dense_ids(categories[word] for word in words if word in categories)
        labels = (numbers[categories[word]] if word in categories else -1 for word in words)
        return np.fromiter(labels, np.int64, len(words))
    given = np.asarray(categories)
    if given.shape != (len(vocabulary),) or not np.issubdtype(given.dtype, np.integer):
        raise UsageError(
            f"the categories are an array of {given.dtype} and of shape {given.shape}; "
            f"give an integer for each of the {len(vocabulary)} words of the vocabulary"
        )
    return given.astype(np.int64)
