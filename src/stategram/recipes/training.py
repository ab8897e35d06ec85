"""A training under way: the texts, the store of finished steps, and what parts share."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering import CONTEXT_EFFORTS, Clustering, WordClasses, class_labels, cluster_tree
from stategram.contexts import (
    ContextDefinition,
    ContextTree,
    TagMap,
    ValueMap,
    build_tree,
    context_values,
    parse_tags,
)
from stategram.counts import BigramCounts, CountedText, NgramCounts, ShardedText, count_bigrams, count_ngrams
from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.formats import read_classes
from stategram.progress import Progress
from stategram.storage import Store, array_of, content_key, open_archive, write_archive
from stategram.text import END, SPECIAL_WORDS, Corpus, dense_ids

_log = logging.getLogger(__name__)
# Where tags fit a text, the words that they lack are rare ones.
LOW_COVERAGE = 0.5

TrainingText: TypeAlias = Corpus | ShardedText | NgramCounts
"""What models are trained on: a text, a text in shards or its kept counts, or counts without their text."""


class ClassSource(NamedTuple):
    """Word classes: their number, to be learned with an effort, or a class file."""

    classes: int | str
    effort: str = "normal"


class TagSource(NamedTuple):
    """Tags: ``brill`` or a file; `guess` says whether words that a file lacks get a tag by their ending."""

    source: str
    guess: bool = True


@dataclass
class Training:
    """A training under way; whatever several parts need is made once.

    Weights are learned on `heldout`, which is in the vocabulary of `text`. `store` keeps finished steps,
    `shared_seconds` has how long what parts share took, by name.
    """

    text: TrainingText
    heldout: Corpus
    store: Store | None = None
    seed: int = 0
    fits_unknown: bool = False
    """Whether n-gram models learn p(<unk>) from the held-out text; those of the paper's tables do not."""
    shared_seconds: dict[str, float] = field(default_factory=dict)
    last_clustering: Clustering | None = None
    """The clustering of the part trained last: the next may differ in its smoothing only."""
    _classes: dict[ClassSource, dict[str, int]] = field(default_factory=dict)
    _tags: dict[TagSource, TagMap] = field(default_factory=dict)
    _contexts: tuple[object, ContextTree] | None = None
    _bigrams: BigramCounts | None = None

    @cached_property
    def corpus(self) -> Corpus:
        """The whole text, read when it is first needed: of a text in shards n-grams are counted without."""
        if isinstance(self.text, NgramCounts):
            raise UsageError(
                "counts without their text give an n-gram model of words only; for other models give a text"
            )
        return self.text.corpus() if isinstance(self.text, ShardedText) else self.text

    @cached_property
    def texts_key(self) -> str:
        """The content key of the texts; kept counts stand for the files that were counted."""
        text, vocabulary = self.text, self.text.vocabulary.to_bytes()
        heldout = _arrays(self.heldout)
        if isinstance(text, NgramCounts):
            levels = [array for level in text.levels for array in (level.words, level.counts)]
            return content_key(vocabulary, text.numbers, *levels, *heldout)
        if isinstance(text, CountedText):
            files = [asdict(file) for file in text.manifest.inputs]
            return content_key(vocabulary, files, msgspec.to_builtins(text.manifest.text_format), *heldout)
        return content_key(vocabulary, *_arrays(self.corpus), *heldout)

    def key(self, *inputs: object) -> str:
        """Return the content key of a step of this training."""
        return content_key(self.texts_key, self.seed, *inputs)

    def ngrams(self, order: int, progress: Progress | None = None) -> NgramCounts:
        """Return the counts of n-grams of 1 to `order` words, which an estimation uses up."""
        if not isinstance(self.text, NgramCounts):
            return count_ngrams(self._counted(order), order, progress=progress)
        if order != self.text.order:
            raise UsageError(
                f"the counts have n-grams of up to {plural(self.text.order, 'word')}, not of {order}"
            )
        return self.text

    def _counted(self, order: int) -> Corpus | ShardedText:
        """Return what n-grams of `order` words are counted from: kept counts, if they are long enough."""
        text = self.text
        if not isinstance(text, ShardedText):
            return self.corpus
        is_too_short = text.runs is not None and text.runs.order < order
        # A text that no part has needed so far may be larger than memory: `count_ngrams` refuses the order.
        return self.corpus if is_too_short and "corpus" in vars(self) else text

    @property
    def bigrams(self) -> BigramCounts:
        """The bigrams of the text; counted once, unless contexts are counted in between."""
        if self._bigrams is None:
            self._bigrams = count_bigrams(self._counted(2))
        return self._bigrams

    def classes(self, source: ClassSource, progress: Progress | None = None) -> dict[str, int]:
        """Learn or read word classes, once; return the class of each word, in the order of the vocabulary."""
        if isinstance(source.classes, str):
            source = ClassSource(source.classes)  # a file needs no effort
        if source not in self._classes:
            if isinstance(source.classes, str):
                self._classes[source] = self._read_classes(source.classes)
            else:
                self._classes[source] = self._learned(source.classes, source.effort, progress)
        return self._classes[source]

    def _read_classes(self, name: str) -> dict[str, int]:
        """Read word classes from a file; refuse those of other words."""
        found = _in_order(read_classes(name), self.corpus)
        vocabulary = self.corpus.vocabulary
        ids = np.fromiter(map(vocabulary.id, found), np.int64, len(found))
        words = self.corpus.n_events - self.corpus.n_sentences
        covered = int(self.corpus.word_counts[ids].sum()) / words
        _log.info(
            "%s: classes of %s of %s words, %s of the text",
            name,
            f"{np.count_nonzero(ids >= len(SPECIAL_WORDS)):,}",
            f"{len(vocabulary) - len(SPECIAL_WORDS):,}",
            f"{covered:.1%}",
        )
        if not found:
            raise BadDataError(
                f"{name}: no word of the text has a class there; check that both have the same language, "
                "case and tokenization"
            )
        if covered < LOW_COVERAGE:
            _log.warning(
                "few words have classes, the others share that of <unk>; check that classes and text are of "
                "the same language, case and tokenization"
            )
        return found

    def tags(self, source: TagSource) -> TagMap:
        """Find the tag of each word, once."""
        if source not in self._tags:
            with self._shared("tags", f"tags ({source.source})"):
                found = parse_tags(source.source, self.corpus.vocabulary, guess=source.guess)
            self._tags[source] = found
            words = sum(part.words for part in found.source.values())
            _log.info(
                "%s of %s words found, %s of the text",
                f"{found.source['lexicon'].words:,}",
                f"{words:,}",
                f"{found.coverage:.1%}",
            )
            if found.coverage < LOW_COVERAGE:
                _log.warning(
                    "few words have tags; check that tags and text are of the same language, case and "
                    "tokenization"
                )
        return self._tags[source]

    def contexts(
        self,
        definition: ContextDefinition,
        tags: TagSource | None = None,
        classes: ClassSource | None = None,
    ) -> ContextTree:
        """Count the contexts of the text; those counted last are kept, as several models may use them."""
        name = (definition.tree_order, tags, classes)
        if self._contexts is None or self._contexts[0] != name:
            self.forget_counts()
            values = self.context_values(tags, classes)
            with self._shared(f"contexts {definition}", f"counting the contexts {definition}"):
                tree = build_tree(self.corpus, definition, values)
            self._contexts = name, tree
        return self._contexts[1]

    def context_values(self, tags: TagSource | None, classes: ClassSource | None) -> dict[str, ValueMap]:
        """Return the tags and the class labels of contexts that have some."""
        labels = None
        if classes is not None:
            labels = class_labels(self.classes(classes), self.corpus.vocabulary)
        return context_values(tags=None if tags is None else self.tags(tags), classes=labels)

    def forget_counts(self) -> None:
        """Free the memory of the bigrams, and of the contexts counted last."""
        self._bigrams = None
        self._forget_contexts()

    def _forget_contexts(self) -> None:
        self._contexts = self.last_clustering = None
        _core.trim_memory()

    def _learned(self, number: int, effort: str, progress: Progress | None) -> dict[str, int]:
        title = f"{number:,} word classes ({effort})"
        key = self.key("classes", number, effort) if self.store is not None else ""
        if self.store is not None:
            kept = self.store.get("classes", key, lambda place: _load_classes(place, self.corpus))
            if kept is not None:
                _log.info("%s: kept", title)
                return kept
        self._forget_contexts()  # their memory is needed
        tree = self.contexts(ContextDefinition.parse("w-1")) if effort == "paper" else None
        with self._shared("classes", title):
            if tree is not None:
                by_word = self._own_categories(number, tree, progress)
            else:
                words = WordClasses(number, effort=effort, random_state=self.seed)
                vocabulary = self.corpus.vocabulary
                by_word = words.fit_bigrams(self.bigrams, vocabulary, progress=progress).as_dict()
        found = _in_order(by_word, self.corpus)
        if self.store is not None:
            _save_classes(self.store.place("classes", key), found, self.corpus)
        return found

    def _own_categories(self, number: int, tree: ContextTree, progress: Progress | None) -> dict[str, int]:
        """Return the categories G of a clustering of w-1, as the paper has them, as word classes."""
        number = min(number, int(np.count_nonzero(tree.word_counts)))
        settings = CONTEXT_EFFORTS["paper"].replace(states=number, categories=number, seed=self.seed)
        found = cluster_tree(tree, settings, progress=progress).categories
        words = self.corpus.vocabulary.words
        return {words[i]: int(found[i]) for i in np.flatnonzero(tree.word_counts).tolist() if i != END}

    @contextmanager
    def _shared(self, name: str, title: str) -> Iterator[None]:
        started = time.monotonic()
        yield
        seconds = time.monotonic() - started
        self.shared_seconds[name] = self.shared_seconds.get(name, 0.0) + seconds
        _log.info("%s: %.1f s", title, seconds)


def _arrays(corpus: Corpus) -> tuple[NDArray[Any], ...]:
    return corpus.ids, corpus.sentence_starts, corpus.document_starts


def _in_order(classes: Mapping[str, object], corpus: Corpus) -> dict[str, int]:
    """Return classes numbered by the first word of each: the same, learned or read again."""
    words = [word for word in corpus.vocabulary.words if word in classes]
    numbers = dense_ids(classes[word] for word in words)
    return {word: numbers[classes[word]] for word in words}


def _save_classes(place: Path, classes: dict[str, int], corpus: Corpus) -> None:
    labels = np.array([classes.get(word, -1) for word in corpus.vocabulary.words], np.int32)
    write_archive(place, kind="word classes", arrays={"classes": {"labels": labels}})


def _load_classes(place: Path, corpus: Corpus) -> dict[str, int]:
    arrays = open_archive(place, kind="word classes").arrays("classes", mmap=False)
    words = corpus.vocabulary.words
    try:
        labels = array_of(arrays, "labels", np.int32, len(words))
    except ValueError as error:
        raise BadDataError(f"{place}: not the classes of this text ({error})") from error
    pairs = zip(words, labels.tolist(), strict=True)
    return {word: label for word, label in pairs if label >= 0}
