"""Word classes from text, in one estimator."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering.exchange import Clusters, Exchange, batches, frequent_first
from stategram.clustering.hierarchy import ClassHierarchy, build_hierarchy
from stategram.clustering.levels import ClassLevel
from stategram.clustering.monitor import Monitor, SweepRecord
from stategram.clustering.settings import EFFORTS, Schedule, Sweep, annealing_sweeps, shortlists_save_time
from stategram.clustering.tree_clustering import ResumePoint, TreeClustering
from stategram.counts import BigramCounts, ShardedText, cluster_bigrams, count_bigrams
from stategram.errors import UsageError
from stategram.progress import Progress, Stop
from stategram.text import (
    BEGIN,
    END,
    Corpus,
    Sentences,
    Vocabulary,
    check_words,
    corpus_from_sentences,
    dense_ids,
)

CRITERIA = ("tied", "predictive", "two-sided")


class WordClasses:
    """Clusters the words of a text so that a class bigram model predicts the text best.

    Parameters
    ----------
    n_classes
        The number of classes; by default 500, or as many as ``init`` and ``fixed`` name. In a text with fewer
        words, every word has a class of its own.
    criterion
        ``tied``: p(G(w)|G(w-1)) p(w|G(w)), the classical class bigram. ``predictive``: p(G(w)|w-1) p(w|G(w)).
        ``two-sided``: p(G(w)|S(w-1)) p(w|G(w)), where a word as context has a state S of its own.
    n_states
        For ``two-sided``: the number of states; by default as many as classes.
    effort
        The search effort: ``fast``, ``normal`` or ``best``; ``paper`` for plain exchange until a sweep
        improves the criterion by less than 1 %.
    time_limit
        A time budget in seconds, instead of an effort.
    min_count
        Rarer words do not shape the classes; at the end each joins the one that suits it best.
    init
        Classes to begin with (word to class name). They are not annealed, so that they only get better. Words
        of the text without one are placed; words that the text does not have keep their class.
    fixed
        Words that are pinned to classes (word to class name): those of the same name stay together, others
        apart.
    random_state
        The seed of the annealing.

    Attributes
    ----------
    words_ : tuple of str
        The words of the text by falling count, with ``<unk>`` if it occurs, then those of ``init`` and
        ``fixed`` that the text does not have.
    labels_, counts_ : arrays
        The class and the count of each word. Classes are numbered by falling count of all their words.
    classes_ : list of tuples of str
        The words of each class by falling count.
    history_ : list of SweepRecord
        The result of each sweep.
    criterion_ : float
        The criterion reached, in nats.
    mutual_information_ : float
        The average mutual information, in bits, of the class of a word and what predicts it.
    perplexity_ : float
        The perplexity of the text itself under the maximum-likelihood model.
    class_bigrams_ : array
        How often class b follows class a; the last row and column are the sentence boundary.
    hierarchy_ : ClassHierarchy
        A binary tree over the classes, built when it is first accessed.
    contexts_, states_, context_counts_ :
        For ``two-sided``: the words as contexts, with ``<s>``, the state and the count of each.

    Notes
    -----
    The exchange algorithm is that of Kneser and Ney (1993, "Improved clustering techniques for class-based
    statistical language modelling") and of Ueberla and Gransden (1996, "Clustered language models with
    context-equivalent states"), here annealed.

    Examples
    --------
    >>> text = ["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 3
    >>> words = WordClasses(n_classes=3).fit(text)
    >>> sorted(sorted(members) for members in words.classes_)
    [['a', 'the'], ['cat', 'dog'], ['ran', 'sat']]
    >>> words.predict(["cat"]) == words.predict(["dog"])
    array([ True])

    """

    words_: tuple[str, ...]
    labels_: NDArray[np.int64]
    counts_: NDArray[np.int64]
    history_: list[SweepRecord]
    criterion_: float
    perplexity_: float
    class_bigrams_: NDArray[np.int64]
    contexts_: tuple[str, ...]
    states_: NDArray[np.int64]
    context_counts_: NDArray[np.int64]

    def __init__(
        self,
        n_classes: int | None = None,
        *,
        criterion: str = "tied",
        n_states: int | None = None,
        effort: str = "normal",
        time_limit: float | None = None,
        min_count: int = 1,
        init: Mapping[str, object] | None = None,
        fixed: Mapping[str, object] | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_classes = n_classes
        self.criterion = criterion
        self.n_states = n_states
        self.effort = effort
        self.time_limit = time_limit
        self.min_count = min_count
        self.init = init
        self.fixed = fixed
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as scikit-learn's tools expect it."""
        return {
            name: value for name, value in vars(self).items() if not name.endswith("_") and name[0] != "_"
        }

    def __repr__(self) -> str:
        given = ", ".join(
            f"{name}={value!r}" for name, value in self.get_params().items() if value is not None
        )
        return f"WordClasses({given})"

    def __getattr__(self, name: str) -> Any:
        # A property that is made of such an attribute is missing too.
        if (name.endswith("_") and not name.startswith("_")) or name in vars(WordClasses):
            raise AttributeError("these WordClasses have no classes yet; call fit first")
        raise AttributeError(f"WordClasses has no attribute {name!r}")

    def fit(
        self,
        texts: Corpus | ShardedText | Sentences,
        *,
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> WordClasses:
        """Find the classes of the words of a text.

        Parameters
        ----------
        texts
            A corpus, a text in shards or its counts (`count_text`), or any iterable of sentences: strings,
            which are split at white space, or lists of words.
        progress
            Called several times per second with the fraction of the work that is done and a message.
        stop
            Called as often; when it returns true, the search ends quickly with the best classes so far.

        """
        self._check()
        monitor = Monitor(progress, stop, self.time_limit)
        monitor.report(0.0, "counting bigrams")
        corpus = texts if isinstance(texts, Corpus | ShardedText) else corpus_from_sentences(texts)
        if corpus.n_events == 0:
            raise UsageError("the text has no words; give at least one sentence")
        bigrams = count_bigrams(corpus, lambda _, message: monitor.report(0.0, message))
        return self._fit(bigrams, corpus.vocabulary, monitor)

    def fit_bigrams(
        self,
        bigrams: BigramCounts,
        vocabulary: Vocabulary,
        *,
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> WordClasses:
        """Find the classes from bigrams that are already counted; `vocabulary` has their words.

        Examples
        --------
        >>> from stategram import corpus_from_sentences
        >>> from stategram.counts import count_bigrams
        >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran"])
        >>> words = WordClasses(n_classes=3).fit_bigrams(count_bigrams(corpus), corpus.vocabulary)
        >>> words.labels_.tolist() == WordClasses(n_classes=3).fit(corpus).labels_.tolist()
        True

        """
        self._check()
        return self._fit(bigrams, vocabulary, Monitor(progress, stop, self.time_limit))

    def _fit(self, bigrams: BigramCounts, vocabulary: Vocabulary, monitor: Monitor) -> WordClasses:
        init, fixed = self.init or {}, self.fixed or {}
        numbers = dense_ids([*fixed.values(), *init.values()])
        given = {word: numbers[name] for word, name in {**init, **fixed}.items()}
        ids = {word: vocabulary.id(word) for word in given if word in vocabulary}
        labels = np.full(len(vocabulary), -1)
        for word, i in ids.items():
            labels[i] = given[word]
        categories = frequent_first(
            bigrams.word_counts,
            self._n_classes(bigrams, len(numbers)),
            given=labels,
            fixed=[ids[word] for word in fixed if word in ids],
            singletons=[bigrams.boundary],
        )
        n_frequent = int(np.count_nonzero(bigrams.word_counts[categories.order] >= self.min_count))
        often = dataclasses.replace(categories, order=categories.order[:n_frequent])
        schedule = self._schedule(often, bool(numbers))
        level = ClassLevel(self.criterion, bigrams, often, self.n_states, schedule.candidates)
        # With a class for every word, as `frequent_first` gives them, there is nothing to gain.
        if self.criterion == "two-sided" or numbers or len(categories.order) > categories.n:
            clustering = TreeClustering(level, schedule, monitor, int(self.random_state))
            exchange = level.merge_split(clustering, clustering.run()[1])
        else:
            exchange = level.exchange(ResumePoint(1))
        for rare in batches(categories.order, n_frequent):
            exchange.words.visit(rare, Sweep("place"))
        exchange.recompute_criterion()
        self.history_ = monitor.history
        self.criterion_ = exchange.criterion
        self.perplexity_ = exchange.perplexity
        unseen = {
            word: label
            for word, label in given.items()
            if word not in ("<s>", "</s>") and not (word in ids and bigrams.word_counts[ids[word]])
        }
        self._take(vocabulary, bigrams, exchange, unseen)
        return self

    def predict(self, words: Iterable[str]) -> NDArray[np.int64]:
        """Return the class of each word; for a word without one that of ``<unk>``, or else -1."""
        if isinstance(words, str):
            raise TypeError(f"predict takes words, not a string; give a list: [{words[:20]!r}]")
        words = list(words)
        check_words([word for word in words if word not in self._label_of], "ascii")
        unknown = self._label_of.get("<unk>", -1)
        return np.array([self._label_of.get(word, unknown) for word in words], dtype=np.int64)

    def to_columns(self) -> dict[str, Any]:
        """Return the result as columns, ready for ``pandas.DataFrame`` or ``polars.DataFrame``.

        Examples
        --------
        >>> WordClasses(n_classes=2).fit(["a b", "a b b"]).to_columns()
        {'word': ['b', 'a'], 'class': [0, 1], 'count': [3, 2]}

        """
        return {
            "word": list(self.words_),
            "class": self.labels_.tolist(),
            "count": self.counts_.tolist(),
        }

    def as_dict(self) -> dict[str, int]:
        """Return the class of each word, the most frequent first."""
        return dict(zip(self.words_, self.labels_.tolist(), strict=True))

    @cached_property
    def classes_(self) -> list[tuple[str, ...]]:
        """The words of each class by falling count."""
        members: list[list[str]] = [[] for _ in range(int(self.labels_.max()) + 1)]
        for word, label in zip(self.words_, self.labels_.tolist(), strict=True):
            members[label].append(word)
        return [tuple(words) for words in members]

    @cached_property
    def hierarchy_(self) -> ClassHierarchy:
        """A binary tree over the classes: mergers that lose the least mutual information."""
        return build_hierarchy(self.class_bigrams_, len(self.class_bigrams_) - 1)

    @property
    def mutual_information_(self) -> float:
        """The average mutual information, in bits, of the class of a word and what predicts it."""
        events = int(self.class_bigrams_.sum())
        return self.criterion_ / events / math.log(2) + math.log2(events)

    @cached_property
    def _label_of(self) -> dict[str, int]:
        return self.as_dict()

    def _check(self) -> None:
        if self.criterion not in CRITERIA:
            raise UsageError(f"there is no criterion {self.criterion!r}; choose one of {', '.join(CRITERIA)}")
        if self.effort not in EFFORTS:
            raise UsageError(f"there is no effort {self.effort!r}; choose one of {', '.join(EFFORTS)}")
        for name, least in (("n_classes", 1), ("n_states", 1), ("min_count", 1), ("random_state", 0)):
            value = getattr(self, name)
            if value is None and name.startswith("n_"):
                continue
            if not isinstance(value, Integral) or isinstance(value, bool) or int(value) < least:
                raise UsageError(f"{name} is {value!r}; it must be an integer of at least {least}")
        if self.time_limit is not None and not 0 < self.time_limit < math.inf:
            raise UsageError(f"time_limit is {self.time_limit}; it must be a number of seconds above 0")
        for name in ("init", "fixed"):
            if not isinstance(getattr(self, name), Mapping | None):
                raise UsageError(f"{name} must map words to classes; for a file: read_classes(path)")
        if self.n_states is not None and self.criterion != "two-sided":
            raise UsageError("n_states is for criterion='two-sided' alone; leave it out, or choose that")

    def _n_classes(self, bigrams: BigramCounts, n_given: int) -> int:
        if self.n_classes is not None and self.n_classes < n_given:
            raise UsageError(
                f"init and fixed name {n_given} classes, more than n_classes = {self.n_classes}; "
                f"ask for {n_given} classes or more"
            )
        words = int(np.count_nonzero(bigrams.word_counts)) - 1
        return max(n_given, min(self.n_classes or n_given or 500, words))

    def _schedule(self, classes: Clusters, is_given: bool) -> Schedule:
        if self.time_limit is None:
            schedule = EFFORTS[self.effort].classes
        else:
            schedule = EFFORTS["best"].classes.timed(self.time_limit)
        n = min(self.n_states or classes.n, classes.n)
        return dataclasses.replace(
            schedule,
            # Classes to begin with only get better.
            anneal=annealing_sweeps(classes.n, schedule.anneal)
            if not self.init and len(classes.order)
            else 0,
            # Given classes keep their names: none is merged away.
            rounds=schedule.rounds if self.criterion == "tied" and not is_given else 0,
            # The sparse rows of fixed states are slow to look a single class up in.
            shortlisted=self.criterion != "predictive"
            and schedule.shortlisted
            and shortlists_save_time(n, schedule.candidates),
        )

    def _take(
        self, vocabulary: Vocabulary, bigrams: BigramCounts, exchange: Exchange, unseen: Mapping[str, int]
    ) -> None:
        """Take over the classes and states that were found."""
        names, counts = vocabulary.words, bigrams.word_counts
        contexts = np.flatnonzero(counts)
        contexts = contexts[np.argsort(-counts[contexts], kind="stable")]
        words = contexts[contexts != bigrams.boundary]
        self.words_ = (*(names[i] for i in words.tolist()), *unseen)
        self.counts_ = np.concatenate((counts[words], np.zeros(len(unseen), np.int64)))
        found = exchange.words.labels()[words].astype(np.int64)
        self.labels_ = _by_size(np.append(found, np.array([*unseen.values()], np.int64)), self.counts_)
        k = int(self.labels_.max()) + 1
        of_id = np.full(len(names), k, np.int64)
        of_id[words] = self.labels_[: len(words)]
        self.class_bigrams_ = cluster_bigrams(bigrams, of_id, k + 1)
        if exchange.contexts is not None:
            self.contexts_ = tuple("<s>" if i == bigrams.boundary else names[i] for i in contexts.tolist())
            self.context_counts_ = counts[contexts]
            states = exchange.contexts.labels()[contexts]
            self.states_ = _by_size(states.astype(np.int64), self.context_counts_)
        for cached in ("classes_", "hierarchy_", "_label_of"):  # those of an earlier fit
            self.__dict__.pop(cached, None)


def class_labels(classes: Any, vocabulary: Vocabulary) -> NDArray[np.integer[Any]]:
    """Return the class of each id; words without one share one, sentence boundaries are alone.

    An array, with a number for each id, is taken as it is.
    """
    if isinstance(classes, WordClasses):
        classes = classes.as_dict()
    if not isinstance(classes, Mapping):
        labels = np.asarray(classes)
        if labels.shape != (len(vocabulary),) or not np.issubdtype(labels.dtype, np.integer):
            raise UsageError(
                f"classes are not a number for each of the {len(vocabulary)} words of the vocabulary; "
                "give WordClasses, or a dict of words and their classes"
            )
        return labels
    numbers = dense_ids(classes.values())
    n = len(numbers)
    found = np.array([numbers[classes[w]] if w in classes else n for w in vocabulary.words], np.uint32)
    found[[BEGIN, END]] = n + 1, n + 2
    return found


def _by_size(labels: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return labels numbered by falling count; of equal clusters, that with the first element is first."""
    n = int(labels.max(initial=-1)) + 1
    totals = np.bincount(labels, weights=counts, minlength=n)
    first = np.full(n, len(labels))
    np.minimum.at(first, labels, np.arange(len(labels)))
    order = np.lexsort((first, -totals))
    rank = np.empty(n, dtype=np.int64)
    rank[order] = np.arange(n)  # empty clusters come last: no element is theirs
    return rank[labels]
