"""What models are made of, for reports."""

from __future__ import annotations

from dataclasses import dataclass

from stategram.models import CategoryNgramModel, ClusteredModel, Mixture, Model, NgramModel
from stategram.wording import plural


@dataclass(frozen=True)
class DescriptionTable:
    """A table of a description; integers are counts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]


@dataclass(frozen=True)
class Description:
    """What a model is made of: facts with their labels, and tables."""

    facts: tuple[tuple[str, str | int | float], ...]
    tables: tuple[DescriptionTable, ...] = ()


def kind(model: Model) -> str:
    """Return the name of a kind of model."""
    names = {NgramModel: "ngram", CategoryNgramModel: "category-ngram", ClusteredModel: "clustered"}
    return names.get(type(model), "mixture")


def describe(model: Model) -> Description:
    """Return what a model is made of."""
    if isinstance(model, NgramModel):
        return Description(_ngram_facts(model), (_sizes(model, "word"),))
    if isinstance(model, CategoryNgramModel):
        facts = (*_ngram_facts(model.ngram), ("Categories", model.n_categories))
        return Description(facts, (_sizes(model.ngram, "category", "categories"),))
    if isinstance(model, ClusteredModel):
        return _describe_clustered(model)
    assert isinstance(model, Mixture)
    return Description((("Parts", len(model.parts)),))


def _ngram_facts(model: NgramModel) -> tuple[tuple[str, str | int], ...]:
    return ("Order", model.order), ("Smoothing", model.smoothing), ("N-grams", sum(model.trie.sizes))


def _sizes(model: NgramModel, unit: str, units: str | None = None) -> DescriptionTable:
    rows = tuple((plural(order, unit, units), size) for order, size in enumerate(model.trie.sizes, 1))
    return DescriptionTable("N-grams by their length", ("Length", "N-grams"), rows)


def _describe_clustered(model: ClusteredModel) -> Description:
    along_tree = model.tree.depth > 1 and model.recipe.get("tree", True)
    rows = tuple(
        (
            level["level"],
            str(model.tree.definition.values[level["level"] - 1]),
            level["nodes"],
            level["movable"],
            level["sweeps"],
            level["criterion"],
            level["perplexity"],
        )
        for level in model.report.get("levels", ())
    )
    return Description(
        (
            ("Context", str(model.tree.definition)),
            ("States", model.n_states),
            ("Categories", model.n_categories),
            ("Clustered", "along a context tree" if along_tree else "flat: single contexts from the start"),
            ("Parameters", model.parameters),
        ),
        (
            DescriptionTable(
                "Levels of the context tree",
                (
                    "Level",
                    "Refines by",
                    "Contexts",
                    "Moved on their own",
                    "Sweeps",
                    "Criterion",
                    "Training perplexity",
                ),
                rows,
            ),
        ),
    )
