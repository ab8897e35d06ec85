"""The part of a recipe that is a clustered model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias

import msgspec
import numpy as np
from msgspec import Meta

from stategram.clustering import (
    AUTO,
    CONTEXT_EFFORTS,
    EFFORTS,
    SIZE,
    Checkpoint,
    Clustering,
    ClusteringSettings,
    ClusterNumbers,
    LevelResult,
    by_size,
    choose_numbers,
    cluster_tree,
    is_size,
)
from stategram.contexts import ContextDefinition, ContextTree, check_tags, file_of_tags
from stategram.errors import UsageError
from stategram.models import ClusteredModel
from stategram.progress import Progress, subprogress
from stategram.recipes.part import (
    SIZES,
    Classes,
    Count,
    Part,
    RecipeKey,
    Trained,
    about_key,
    choice,
    class_file,
    keys_of,
    number_of_classes,
)
from stategram.recipes.training import ClassSource, TagSource, Training, TrainingText
from stategram.storage import Store, open_archive

_log = logging.getLogger(__name__)
_Clusters: TypeAlias = Count | Annotated[str, Meta(pattern=rf"\A({SIZE}|auto)\Z")]
# What a part of a recipe says itself, or what comes from the training.
_NOT_KEYS = ("states", "categories", "tree", "seed")
CLUSTERING_KEYS = {
    name: key._replace(default=None)
    for name, key in keys_of(ClusteringSettings).items()
    if name not in _NOT_KEYS
}
"""The keys of a clustered part that are settings of the clustering; by default those of its effort."""


class ClusteredPart(Part, frozen=True, dict=True, tag="clustered"):
    """A clustered model; keys of the clustering that are not given are those of its effort."""

    context: Annotated[
        str,
        Meta(
            description="what is known of the words before: words w, tags t, classes g, 1 being the nearest",
            extra={"possible": "values such as w-2,w-1 or g-3,g-2,w-1"},
        ),
    ] = "w-2,w-1"
    tree_order: Annotated[
        str | None,
        Meta(
            description="the values in another order: the tree puts contexts with the same first value "
            "together, then those with the same two, and so on; by default nearest first",
            extra={"possible": "the values of the context in another order", "metavar": "VALUES"},
        ),
    ] = None
    tree: Annotated[
        bool,
        Meta(description="whether groups of contexts move first, single ones later; else single ones only"),
    ] = True
    states: Annotated[
        _Clusters,
        Meta(
            description="number of clusters of contexts",
            extra={"possible": f'{SIZES}, or "auto" (tried out)'},
        ),
    ] = "size"
    categories: Annotated[
        _Clusters,
        Meta(
            description="number of clusters of words", extra={"possible": f'{SIZES}, or "auto" (tried out)'}
        ),
    ] = "size"
    effort: Annotated[
        Annotated[str, choice(CONTEXT_EFFORTS)],
        Meta(
            description="search effort: gives the keys of the clustering that are not given; paper: as "
            "Ueberla and Gransden did"
        ),
    ] = "normal"
    strict: Annotated[
        bool,
        Meta(
            description="whether only the state of the whole context counts, as in equation 1 of the paper; "
            "else probabilities are smoothed over the levels of the tree"
        ),
    ] = False
    settings: ClusteringSettings | None = None
    """How to cluster; that of the effort by default. Its fields are keys of the part in a file."""
    tags: Annotated[
        str | None,
        Meta(
            description="tags of a context that has some; --tags where not given",
            extra={"possible": "brill, or a file of words and tags"},
        ),
    ] = None
    guess_tags: Annotated[
        bool, Meta(description="whether words that a file of tags lacks have the tag of words that end alike")
    ] = True
    context_classes: Annotated[
        Classes | None,
        Meta(
            description="word classes of a context that has some; by the size of the text where not given",
            extra={"possible": f"{SIZES}, or a class file", "metavar": "N|FILE"},
        ),
    ] = None
    class_effort: Annotated[
        Annotated[str, choice(EFFORTS)] | None,
        Meta(
            description="search effort for classes of the context; paper: the categories of a clustering "
            "of w-1. By default paper if that is the effort, else as in another part, or normal",
            extra={"possible": ", ".join(EFFORTS)},
        ),
    ] = None

    @property
    def needs_heldout(self) -> bool:
        """Whether it learns something from the held-out text: its weights."""
        return True

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"clustered model of {self.context} ({self.effort})"

    @cached_property
    def definition(self) -> ContextDefinition:
        """What a context is."""
        return ContextDefinition.parse(self.context, self.tree_order)

    @property
    def lacks_tags(self) -> bool:
        """Whether its context has tags, but it does not say which."""
        return self.tags is None and self.definition.needs_tags

    @classmethod
    def keys(cls) -> dict[str, RecipeKey]:
        """Return its keys in a recipe file, those of the clustering among them."""
        return keys_of(cls) | CLUSTERING_KEYS

    @classmethod
    def from_keys(cls, values: Mapping[str, Any]) -> Self:
        """Return the part with these values of its keys."""
        given = {key: value for key, value in values.items() if key in CLUSTERING_KEYS}
        others = {key: value for key, value in values.items() if key not in CLUSTERING_KEYS}
        part = cls(**others)
        if not given:
            return part
        return msgspec.structs.replace(part, settings=CONTEXT_EFFORTS[part.effort].replace(**given))

    def check(self, name: Callable[[str], str] = str) -> None:
        """Refuse values that are inconsistent, and contexts that cannot be read."""
        with about_key(name("context")):
            definition = ContextDefinition.parse(self.context)
        with about_key(name("tree_order")):
            if self.tree_order is not None and not self.tree:
                raise UsageError("there is no tree to order; leave it out")
            self.definition  # noqa: B018
        for needed, key in ((definition.needs_tags, "tags"), (definition.needs_classes, "context_classes")):
            if getattr(self, key) is not None and not needed:
                raise UsageError(f"{name(key)}: the context {self.context} has none; leave it out")

    def files(self) -> list[tuple[str, str]]:
        """Return the class file and the file of tags, if it needs them."""
        tags = file_of_tags(self.tags) if self.tags else None
        return class_file(self.context_classes) + ([("tags", tags)] if tags else [])

    def check_files(self) -> None:
        """Look into the files that it needs."""
        super().check_files()
        if self.tags is not None:
            check_tags(self.tags, guess=self.guess_tags)

    def resolve(self, corpus: TrainingText) -> ClusteredPart:
        """Fill in the numbers and the settings; states are limited when the contexts are counted."""
        definition, states, classes = self.definition, self.states, None
        if isinstance(states, str) and is_size(states):
            states = by_size(states, corpus.n_events)
        if definition.needs_classes:
            classes = number_of_classes(self.context_classes or "size", corpus)
        return msgspec.structs.replace(
            self,
            context=str(definition),
            tree_order=definition.tree_order if self.tree else None,
            states=states,
            categories=number_of_classes(self.categories, corpus),
            context_classes=classes,
            settings=(self.settings or CONTEXT_EFFORTS[self.effort]).replace(tree=self.tree),
        )

    def with_efforts(self, efforts: Mapping[int, str]) -> ClusteredPart:
        """Learn the word classes of its context as other parts learn them, so that they are shared."""
        if not isinstance(self.context_classes, int):
            return msgspec.structs.replace(self, class_effort=None)
        default = "paper" if self.effort == "paper" else efforts.get(self.context_classes, "normal")
        return msgspec.structs.replace(self, class_effort=self.class_effort or default)

    def train(self, training: Training, progress: Progress | None = None) -> Trained:
        """Count the contexts, cluster them, and learn the weights of states on the held-out text."""
        tags = TagSource(self.tags, self.guess_tags) if self.tags is not None else None
        classes = None
        if self.context_classes is not None:
            classes = ClassSource(self.context_classes, self.class_effort or "normal")
            training.classes(classes, subprogress(progress, 0.0, 0.3))
            progress = subprogress(progress, 0.3, 1.0)
        store = training.store
        numbers = self._numbers(training, tags, classes, store, progress)
        tree = training.contexts(self.definition, tags, classes)
        settings = self._settings_for(tree, numbers, training.seed)
        found = training.last_clustering
        if found is None or found.tree is not tree or found.settings != settings:
            found = cluster_tree(
                tree,
                settings,
                checkpoint=None if store is None else Checkpoint(self._checkpoint(store, training)),
                progress=progress,
            )
        training.last_clustering = found
        for level in found.levels:
            _log.debug("%s", _level_line(level))
        if numbers.trials:
            _log.info("%s", _trials_line(found, numbers))
        model = ClusteredModel.train(found, training.heldout, strict=self.strict)
        metadata = self.to_json()
        metadata |= {"states": found.settings.states, "categories": found.settings.categories}
        return Trained(replace(model, metadata=metadata), found)

    def _checkpoint(self, store: Store, training: Training) -> Path:
        """Return the place of the clustering under way; what is damaged there is removed."""
        key = self.key(training)
        store.get("clustering", key, lambda place: open_archive(place, kind=None))
        return store.place("clustering", key)

    def _numbers(
        self,
        training: Training,
        tags: TagSource | None,
        classes: ClassSource | None,
        store: Store | None,
        progress: Progress | None,
    ) -> ClusterNumbers:
        """Return the numbers of states and of categories, trying out those that are ``auto``."""
        if AUTO not in (self.states, self.categories):
            return ClusterNumbers(int(self.states), int(self.categories))
        key = self.key(training) if store is not None else ""
        if store is not None:
            with suppress(msgspec.ValidationError):  # there are none, or they are damaged
                return msgspec.convert(store.get_json("numbers", key), ClusterNumbers)
        assert self.settings is not None  # of a part that is resolved
        found = choose_numbers(
            training.corpus,
            self.definition,
            self.states,
            self.categories,
            values=training.context_values(tags, classes),
            settings=self.settings,
            progress=progress,
        )
        if store is not None:
            store.put_json("numbers", key, msgspec.to_builtins(found))
        return found

    def _settings_for(self, tree: ContextTree, numbers: ClusterNumbers, seed: int) -> ClusteringSettings:
        """Return the settings with numbers that suit the contexts."""
        assert self.settings is not None
        most, why = _max_states(tree)
        if numbers.states > most:
            _log.warning("only %s of %s states are possible: %s", f"{most:,}", f"{numbers.states:,}", why)
        return self.settings.replace(
            states=min(numbers.states, most),
            categories=min(numbers.categories, int(np.count_nonzero(tree.word_counts))),
            seed=seed,
        )

    def to_json(self) -> dict[str, Any]:
        """Return its keys and values, those of the clustering among them."""
        found = super().to_json()
        settings = found.pop("settings") or {}
        return found | {name: settings[name] for name in CLUSTERING_KEYS if name in settings}


def _max_states(tree: ContextTree) -> tuple[int, str]:
    """Return the maximum number of states that is useful, and why.

    With more than half of the contexts most states would have one context. Contexts of tags are so few, and
    so frequent, that each may have a state of its own.
    """
    contexts = int(np.count_nonzero(tree.levels[-1].counts))
    if all(value.kind == "t" for value in tree.definition.values):
        return max(1, contexts), "one for each context"
    return max(1, contexts // 2), "half of the contexts"


def _trials_line(found: Clustering, numbers: ClusterNumbers) -> str:
    tried = ", ".join(f"{number:,}: {perplexity:,.1f}" for number, perplexity in numbers.trials)
    return (
        f"{found.n_states:,} states, {found.n_categories:,} categories; numbers tried, with the perplexity "
        f"of every tenth sentence: {tried}"
    )


def _level_line(level: LevelResult) -> str:
    return (
        f"level {level.level}: {level.movable:,} of {level.nodes:,} contexts may move, "
        f"{level.sweeps} sweeps, training perplexity {level.perplexity:,.1f}, {level.seconds:,.1f} s"
    )
