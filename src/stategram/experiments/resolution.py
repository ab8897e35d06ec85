"""A recipe for a given text: every default filled in, every number of clusters computed."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from stategram.clustering import PRESETS, by_size, is_size
from stategram.contexts import ContextDefinition, build_tree
from stategram.experiments.recipe_parts import CategoryNgramPart, ClusteredPart, NgramPart, Part, Recipe
from stategram.models import usual_min_counts
from stategram.text import Corpus

# The different contexts of so many events are counted: where there are more, no limit is near.
_EVENTS = 1_000_000
_FROM_PRESET = ("criterion", "min_count", "tolerance", "max_sweeps", "anneal", "candidates")


def resolve(recipe: Recipe, corpus: Corpus) -> Recipe:
    """Fill in what follows from the text and from presets.

    There are never more classes than half of the different words of the text; of parts that are then the same
    one is kept. ``auto`` stays: it is known
    only when the part is trained; so do limits by the number of contexts, for which `most_states` is asked.

    Examples
    --------
    >>> from stategram import corpus_from_sentences
    >>> from stategram.experiments import RECIPES
    >>> text = corpus_from_sentences(["the cat sat on a mat", "the dog ran to the house"])
    >>> resolve(RECIPES["paper"], text).part[1].categories
    5

    """
    most = _most_classes(corpus)

    def number(given: Any) -> Any:
        if isinstance(given, str):
            return min(by_size(given, corpus.n_events), most) if is_size(given) else given
        return None if given is None else min(given, most)

    parts: list[Part] = []
    for part in recipe.part:
        if isinstance(part, NgramPart):
            counts = part.min_counts or list(usual_min_counts(part.smoothing, part.order))
            parts.append(msgspec.structs.replace(part, min_counts=counts))
        elif isinstance(part, CategoryNgramPart):
            parts.append(msgspec.structs.replace(part, classes=number(part.classes)))
        else:
            parts.append(_clustered(part, number, corpus.n_events))
    efforts = {part.classes: part.effort for part in parts if isinstance(part, CategoryNgramPart)}
    filled = [_with_effort(part, efforts) if isinstance(part, ClusteredPart) else part for part in parts]
    # Where numbers meet their limits, parts may turn out to be the same.
    different = [part for number, part in enumerate(filled) if part not in filled[:number]]
    return msgspec.structs.replace(recipe, part=different)


def beyond_limits(recipe: Recipe, corpus: Corpus) -> list[str]:
    """Say which numbers of a recipe are more than `resolve` allows for a text."""
    most, notes = _most_classes(corpus), []
    for part in recipe.part:
        for key, what in (
            ("classes", "classes"),
            ("categories", "categories"),
            ("context_classes", "classes of the context"),
        ):
            given = getattr(part, key, None)
            if isinstance(given, int) and given > most:
                notes.append(f"only {most:,} of {given:,} {what} are possible: half of the different words")
    return list(dict.fromkeys(notes))


def _most_classes(corpus: Corpus) -> int:
    return max(1, int(np.count_nonzero(corpus.word_counts)) // 2)


def definition_of(part: ClusteredPart) -> ContextDefinition:
    """Give what a context of the part is."""
    return ContextDefinition.parse(part.context, part.tree_order)


def most_states(corpus: Corpus, definition: ContextDefinition, **values: Any) -> int:
    """Give half of the number of different contexts, as far as the beginning of a text shows it."""
    end = int(np.searchsorted(corpus.sentence_starts, _EVENTS))
    beginning = corpus.sentences(0, min(max(end, 1), corpus.n_sentences))
    tree = build_tree(beginning, definition, **values)
    return max(1, len(tree.levels[-1]) // 2)


def _clustered(part: ClusteredPart, number: Any, events: int) -> ClusteredPart:
    definition, preset = definition_of(part), PRESETS[part.preset]
    filled = {name: getattr(preset, name) for name in _FROM_PRESET if getattr(part, name) is None}
    states = part.states
    if isinstance(states, str) and is_size(states):
        states = by_size(states, events)
    classes = number(part.context_classes or "size") if definition.needs_classes else None
    return msgspec.structs.replace(
        part,
        context=str(definition),
        tree_order=definition.tree_order if part.tree else None,
        states=states,
        categories=number(part.categories),
        context_classes=classes,
        **filled,
    )


def _with_effort(part: ClusteredPart, efforts: dict[int | str, str]) -> ClusteredPart:
    """Say how the classes of a context are learned: as another part learns them, so that they are shared."""
    if not isinstance(part.context_classes, int):
        return msgspec.structs.replace(part, effort=None)
    return msgspec.structs.replace(part, effort=part.effort or efforts.get(part.context_classes, "normal"))
