"""What a model is made of, in the words of its report."""

from __future__ import annotations

from collections.abc import Iterator

from stategram.models import ClusteredModel, Mixture, Model, NgramModel
from stategram.report.numbers import count, nats, perplexity
from stategram.report.table import Cell, Column, Table
from stategram.wording import plural


def all_parts(model: Model) -> Iterator[tuple[str, Model]]:
    """Give all models that are no mixtures, with their names: the parts of a mixture, or the model itself."""
    if not isinstance(model, Mixture):
        yield model.title, model
        return
    for name, part in zip(model.part_titles, model.parts, strict=True):
        if isinstance(part, Mixture):
            yield from ((f"{name}: {inner}", one) for inner, one in all_parts(part))
        else:
            yield name, part


def is_tree_model(model: Model) -> bool:
    """Whether a model was clustered along a tree, as far as it is known."""
    return (
        isinstance(model, ClusteredModel) and model.tree.depth > 1 and bool(model.metadata.get("tree", True))
    )


def levels_table(model: ClusteredModel) -> Table | None:
    """Give what each level of the context tree came to."""
    levels = model.training_info.get("levels")
    if not levels:
        return None
    order = model.tree.definition.values
    return Table(
        "Levels of the context tree",
        (
            Column("Level"),
            Column("Refines by", may_go=True),
            Column("Contexts", figures=True),
            Column("Moved on their own", figures=True),
            Column("Sweeps", figures=True),
            Column("Criterion", figures=True),
            Column("Training perplexity", figures=True, style="ours"),
        ),
        tuple(
            (
                Cell(count(level["level"])),
                Cell(str(order[level["level"] - 1])),
                Cell(count(level["nodes"])),
                Cell(count(level["movable"])),
                Cell(count(level["sweeps"])),
                Cell(nats(level["criterion"])),
                Cell(perplexity(level["perplexity"])),
            )
            for level in levels
        ),
    )


def ngrams_table(model: NgramModel, one: str, more: str | None = None) -> Table:
    """Give how many n-grams of each length a model has; what they are made of is called `one` and `more`."""
    return Table(
        "N-grams",
        (Column("Length"), Column("N-grams", figures=True)),
        tuple(
            (Cell(plural(order, one, more)), Cell(count(size)))
            for order, size in enumerate(model.trie.sizes, 1)
        ),
    )
