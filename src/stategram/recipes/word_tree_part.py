"""The part of a recipe that is a word tree model."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Annotated, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from stategram.clustering import CONTEXT_EFFORTS, EFFORTS, class_labels, cluster_tree
from stategram.contexts import ContextDefinition
from stategram.display import plural
from stategram.errors import UsageError
from stategram.models import (
    NO_LIMIT,
    Budget,
    Cache,
    Chain,
    Model,
    Value,
    ValueSources,
    WordTree,
    WordTreeModel,
    build_word_tree,
)
from stategram.models.state_tree import StateTree, state_tree
from stategram.models.word_tree.vector_states import NETWORK_ARRAYS, VectorShape
from stategram.progress import Progress, subprogress
from stategram.recipes.part import (
    SIZES,
    Classes,
    Count,
    Part,
    Trained,
    about_key,
    choice,
    class_file,
    number_of_classes,
    require_max_size,
)
from stategram.recipes.training import ClassSource, Training, TrainingText
from stategram.text import SPECIAL_WORDS

_log = logging.getLogger(__name__)
_Texts: TypeAlias = Annotated[list[str], Meta(max_length=32)]

# What pays was found on held-out text. If the model is to be small, the last go first: those that are worth
# least for each of their bytes.
_CHAINS = ["w-1 w-2 w-3 w-4", "s1-1 s1-2", "w-2 w-3", "counts: r-1 g1-1"]
_STATES = ["g2-4,g2-3,w-2,w-1 200", "linear 224", "recurrent 256"]
_CACHES = ["0.98", "0.995", "0.999", "w-1 0.9995", "w-1 w-2 0.9999", "g1-1 0.998"]


class WordTreePart(Part, frozen=True, dict=True, tag="word-tree"):
    """A word tree model."""

    trees: Annotated[
        list[Classes],
        Meta(
            min_length=1,
            max_length=8,
            description="number of word classes of each tree",
            extra={"possible": f"a list of {SIZES}, or class files"},
        ),
    ] = msgspec.field(default_factory=lambda: [1000, 500])
    classes: Annotated[
        list[Classes],
        Meta(
            max_length=9,
            description="sets of word classes g1, g2 and so on",
            extra={"possible": f"a list of {SIZES}, or class files"},
        ),
    ] = msgspec.field(default_factory=lambda: ["0.3 size", "size"])
    states: Annotated[
        _Texts,
        Meta(
            description="clusterings of contexts s1, s2 and so on: context and number of states; and vector "
            "states: linear or recurrent, and their width",
            extra={"possible": 'a list such as ["g2-4,g2-3,w-2,w-1 200", "linear 256"]'},
        ),
    ] = msgspec.field(default_factory=lambda: list(_STATES))
    chains: Annotated[
        _Texts,
        Meta(
            description="contexts that give evidence: values w, g1, s1, r from near to far",
            extra={"possible": 'a list such as ["w-1 w-2", "counts: g1-1 g1-2"]'},
        ),
    ] = msgspec.field(default_factory=lambda: list(_CHAINS))
    caches: Annotated[
        _Texts,
        Meta(
            description="caches of the words so far: values of their contexts, and decay per word",
            extra={"possible": 'a list such as ["0.99", "w-1 0.9995"]'},
        ),
    ] = msgspec.field(default_factory=lambda: list(_CACHES))
    rare: Annotated[
        float,
        Meta(
            gt=0,
            lt=1,
            description="words rarer than this fraction of the text are rare words r",
            extra={"possible": "a fraction such as 0.0002"},
        ),
    ] = 2e-4
    events: Annotated[
        Count | None,
        Meta(description="events from which weights are learned; by the size of the text where not given"),
    ] = None
    effort: Annotated[
        Annotated[str, choice(EFFORTS)],
        Meta(description="search effort for word classes; paper: the categories of a clustering of w-1"),
    ] = "normal"

    @property
    def needs_heldout(self) -> bool:
        """Whether it learns something from the held-out text: its weights."""
        return True

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        trees, chains = plural(len(self.trees), "tree"), plural(len(self.chains), "chain")
        vectors = self.parsed_vectors
        and_vectors = f", {plural(len(vectors), 'vector state')}" if vectors else ""
        return f"word tree model ({trees}, {chains}{and_vectors})"

    @cached_property
    def parsed_chains(self) -> list[Chain]:
        """The chains; UsageError if one cannot be read."""
        return list(map(Chain.parse, self.chains))

    @cached_property
    def parsed_caches(self) -> list[Cache]:
        """The caches; UsageError if one cannot be read."""
        return list(map(Cache.parse, self.caches))

    @cached_property
    def parsed_states(self) -> list[tuple[ContextDefinition, int, int | None]]:
        """For each clustering its context, its number of states, and the set of classes of the context."""
        return [_parse_states(text, len(self.classes)) for text in self.states if not _is_vector(text)]

    @cached_property
    def parsed_vectors(self) -> list[VectorShape]:
        """The vector states; UsageError if one cannot be read."""
        return [VectorShape.parse(text) for text in self.states if _is_vector(text)]

    def check(self, name: Callable[[str], str] = str) -> None:
        """Refuse chains, caches and states that cannot be read, and values that are not there."""
        if not self.chains:
            raise UsageError(f"{name('chains')}: there are none; give at least one")
        with about_key(name("states")):
            self.parsed_states  # noqa: B018
            if len(set(self.parsed_vectors)) < len(self.parsed_vectors):
                raise UsageError("two vector states are the same; give each once")
        for key in ("chains", "caches"):
            with about_key(name(key)):
                for one in getattr(self, f"parsed_{key}"):
                    for value in one.values:
                        _check_value(value, len(self.classes), len(self.parsed_states))

    def files(self) -> list[tuple[str, str]]:
        """Return the class files that it needs."""
        return [file for one in (*self.trees, *self.classes) for file in class_file(one)]

    def resolve(self, corpus: TrainingText) -> WordTreePart:
        """Fill in the numbers that follow from the text."""
        return msgspec.structs.replace(
            self,
            # Of a small text, several would be the same.
            trees=list(dict.fromkeys(number_of_classes(one, corpus) for one in self.trees)),
            classes=[number_of_classes(one, corpus) for one in self.classes],
            events=self.events or max(min(corpus.n_events, 50_000), min(300_000, corpus.n_events // 4)),
        )

    def efforts(self) -> dict[int, str]:
        """Return with which effort it learns how many word classes."""
        return {one: self.effort for one in (*self.trees, *self.classes) if isinstance(one, int)}

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Train the model."""
        return self._train(training, NO_LIMIT, progress)

    def train_within(self, training: Training, budget: Budget, progress: Progress | None = None) -> Trained:
        """Train the largest model within a budget."""
        require_max_size(self, budget)
        return self._train(training, budget, progress)

    def shrink(
        self, model: Model, training: Training, budget: Budget, progress: Progress | None = None
    ) -> Model:
        """Train it again, without what it can best do without."""
        return self.train_within(training, budget, progress).model

    def _train(self, training: Training, budget: Budget, progress: Progress | None) -> Trained:
        training.forget_counts()
        # Vector states take most of the time.
        ends = (0.15, 0.2, 0.22) if self.parsed_vectors else (0.2, 0.3, 0.4)
        labels = self._labels(training, subprogress(progress, 0.0, ends[0]))
        trees = self._trees(training, subprogress(progress, *ends[:2], "word trees"))
        n_predecessors = np.diff(training.bigrams.predecessors.offsets).astype(np.uint32)
        states = self._states(training, subprogress(progress, *ends[1:], "context states"))
        training.forget_counts()
        corpus, counts = training.corpus, training.corpus.word_counts
        is_rare = (counts < self.rare * corpus.n_events) & (counts > 0)
        is_rare[: len(SPECIAL_WORDS)] = False
        model = WordTreeModel.train(
            corpus,
            training.heldout,
            trees,
            ValueSources(labels, states, is_rare),
            self.parsed_chains,
            self.parsed_caches,
            self.parsed_vectors,
            n_predecessors=n_predecessors,
            n_events=self.events or 1,
            budget=budget,
            seed=training.seed,
            progress=subprogress(progress, ends[2], 1.0),
        )
        return Trained(replace(model, metadata=self.to_json()))

    def _labels(self, training: Training, progress: Progress | None) -> dict[str, NDArray[np.uint32]]:
        """Learn all word classes, those of trees too; return the sets g1, g2 and so on."""
        sources = [ClassSource(one, self.effort) for one in (*self.classes, *self.trees)]
        labels = {}
        for number, source in enumerate(sources, 1):
            n, title = len(sources), f"word classes, set {number} of {len(sources)}"
            step = subprogress(progress, (number - 1) / n, number / n, title)
            found = training.classes(source, step)
            if number <= len(self.classes):
                of_ids = class_labels(found, training.corpus.vocabulary)
                labels[f"g{number}"] = of_ids.astype(np.uint32)
        return labels

    def _states(self, training: Training, progress: Progress | None) -> tuple[StateTree, ...]:
        found = []
        for number, (definition, n_states, classes) in enumerate(self.parsed_states):
            source = None if classes is None else ClassSource(self.classes[classes], self.effort)
            tree = training.contexts(definition, None, source)
            contexts = max(1, int(np.count_nonzero(tree.levels[-1].counts)) // 2)
            settings = CONTEXT_EFFORTS["fast"].replace(
                states=min(n_states, contexts),
                categories=min(n_states, int(np.count_nonzero(tree.word_counts))),
                min_count=10,
                seed=training.seed,
            )
            n = len(self.parsed_states)
            step = subprogress(progress, number / n, (number + 1) / n)
            started = time.monotonic()
            found.append(state_tree(cluster_tree(tree, settings, progress=step)))
            del tree  # its memory is needed for the next
            _log.info("%d states of %s: %.1f s", settings.states, definition, time.monotonic() - started)
        return tuple(found)

    def _trees(self, training: Training, progress: Progress | None) -> list[WordTree]:
        trees, vocabulary = [], training.corpus.vocabulary
        for number, classes in enumerate(self.trees):
            found = training.classes(ClassSource(classes, self.effort))
            step = subprogress(progress, number / len(self.trees), (number + 1) / len(self.trees))
            trees.append(build_word_tree(found, training.bigrams, vocabulary, progress=step))
        return trees


def _is_vector(text: str) -> bool:
    return text.split(" ", maxsplit=1)[0] in NETWORK_ARRAYS


def _check_value(value: Value, n_classes: int, n_states: int) -> None:
    for kind, number, what in (("g", n_classes, "classes"), ("s", n_states, "states")):
        if value.source[0] == kind and value.number >= number:
            raise UsageError(
                f"the value {value}: there are {number} sets of {what}; add one, or give other chains"
            )


def _parse_states(text: str, n_classes: int) -> tuple[ContextDefinition, int, int | None]:
    """Return the context, the number of states, and which set of classes the context has."""
    context, _, number = text.rpartition(" ")
    if not context or not number.isdigit() or int(number) < 1:
        raise UsageError(f"{text!r} is not a context and a number of states, such as g2-4,g2-3,w-2,w-1 200")
    values = [Value.parse(one.strip()) for one in context.split(",")]
    sets = {value.number for value in values if value.source[0] == "g"}
    if len(sets) > 1:
        raise UsageError(f"the context {context!r} has several sets of classes; one is possible")
    for value in values:
        _check_value(value, n_classes, 0)
        if value.source == "r":
            raise UsageError(f"the context {context!r}: states are possible of words w and classes g")
    plain = ",".join(f"{value.source[0]}-{value.distance}" for value in values)
    return ContextDefinition.parse(plain), int(number), sets.pop() if sets else None
