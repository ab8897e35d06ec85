"""The rows of all tables, as data: what is trained for each, before any work is done."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from stategram.clustering import PRESETS, ClusteringSettings
from stategram.experiments.clustered_part import ClusteredPart
from stategram.experiments.ngram_parts import NgramPart
from stategram.experiments.recipe_part import Part
from stategram.experiments.reproduction.paper import OTHER_CRITERION, OTHER_CRITERION_TITLE
from stategram.experiments.reproduction.sizes import LARGE, SMALL, Sizes

WORDS_TREE = "w-2,w-1 tree"
_BACK_OFF = "back-off 3"
_BEST_NGRAM = "kneser-ney 5"
_TAGS = ("t-1", "t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")
_GROUPS = "g-2,g-1"


@dataclass(frozen=True, kw_only=True)
class Row:
    """A row: one model (`part`), an interpolation of two other rows (`mixture`), or a built-in `recipe`.

    `key`, `table`, `title`, `compared_with` and `asked` are as in `RowResult`.
    """

    key: str
    table: int
    title: str
    part: Part | None = None
    mixture: tuple[str, str] | None = None
    recipe: str | None = None
    compared_with: str | None = None
    asked: tuple[int, int] | None = None


def rows_for(sizes: Sizes, tags: str | None) -> list[Row]:
    """Return all rows in the order of the work; without `tags`, those that need some are left out.

    N-gram models come first, then clustered models, those of the same contexts together, then what is made of
    other rows.

    Examples
    --------
    >>> from stategram.experiments.reproduction.sizes import sizes_for
    >>> [row.key for row in rows_for(sizes_for("paper", 0, 0), "brill") if row.table == 3]
    ['g-2,g-1 flat', 'g-2,g-1 tree']

    """
    rows = [*_ngrams(), *_words(sizes)]
    if tags is not None:
        for context in _TAGS:
            rows += _flat_and_tree(2, context, sizes, tags=tags)
    rows += _flat_and_tree(3, _GROUPS, sizes, context_classes=sizes.classes)
    rows += _mixtures({row.key for row in rows})
    recipe = "fast" if sizes.is_quick else "best"
    rows.append(
        Row(
            key=f"recipe {recipe}",
            table=5,
            title=f"recipe {recipe} of stategram train",
            recipe=recipe,
            compared_with=_BEST_NGRAM,
        )
    )
    return rows


def _ngrams() -> Iterator[Row]:
    for order, name in ((2, "bigram"), (3, "trigram")):
        part = NgramPart(order=order, smoothing="katz", min_counts=[1, 1, 2][:order])
        yield Row(key=f"back-off {order}", table=1, title=f"back-off {name} (Katz)", part=part)
    for order in (2, 3, 5):
        title = f"modified Kneser-Ney {order}-gram"
        yield Row(key=f"kneser-ney {order}", table=1, title=title, part=NgramPart(order=order))


def _words(sizes: Sizes) -> Iterator[Row]:
    """Yield contexts of words, as in the paper and beyond it."""
    for asked, number, title in ((SMALL, sizes.small, ", few clusters"), (LARGE, sizes.large, "")):
        yield Row(
            key=f"w-1 {asked},{asked}",
            table=1,
            title=f"clustered w-1{title}",
            part=ClusteredPart(context="w-1", states=number, categories=number, preset="paper"),
            asked=(asked, asked),
        )
    yield from _flat_and_tree(1, "w-2,w-1", sizes)
    for how in ("flat", "tree"):
        yield _variant(
            sizes,
            OTHER_CRITERION,
            OTHER_CRITERION_TITLE,
            how=how,
            settings=PRESETS["paper"].replace(criterion=OTHER_CRITERION),
            compared_with=f"w-2,w-1 {'flat' if how == 'flat' else f'flat {OTHER_CRITERION}'}",
        )
    yield _variant(sizes, "normal", "preset normal", preset="normal")
    if sizes.is_quick:
        yield _variant(sizes, "best", "preset best (annealed)", preset="best")
    yield _variant(sizes, "x0.25", "a quarter of the clusters", factor=0.25)
    yield _variant(sizes, "x0.5", "half of the clusters", factor=0.5)
    yield _variant(sizes, "x2", "twice the clusters", factor=2.0)


def _flat_and_tree(
    table: int, context: str, sizes: Sizes, *, tags: str | None = None, context_classes: int | None = None
) -> Iterator[Row]:
    single = "," not in context  # a tree of one level is flat
    for how in ("tree",) if single else ("flat", "tree"):
        yield Row(
            key=context if single else f"{context} {how}",
            table=table,
            title=f"clustered {context}" + ("" if single else f", {how}"),
            part=ClusteredPart(
                context=context,
                tree=how == "tree",
                states=sizes.large,
                categories=sizes.large,
                preset="paper",
                tags=tags,
                context_classes=context_classes,
            ),
            compared_with=f"{context} flat" if how == "tree" and not single else None,
            asked=(LARGE, LARGE),
        )


def _variant(
    sizes: Sizes,
    name: str,
    title: str,
    *,
    how: str = "tree",
    factor: float = 1.0,
    preset: str = "paper",
    settings: ClusteringSettings | None = None,
    compared_with: str = WORDS_TREE,
) -> Row:
    """Return a row of table 5 that differs from a row of table 1 in one thing."""
    number = max(2, round(factor * sizes.large))
    return Row(
        key=f"w-2,w-1 {how} {name}",
        table=5,
        title=f"w-2,w-1 {how}, {title}",
        part=ClusteredPart(
            context="w-2,w-1",
            tree=how == "tree",
            states=number,
            categories=number,
            preset=preset,
            settings=settings,
        ),
        compared_with=compared_with,
        asked=(LARGE, LARGE) if factor == 1 else None,
    )


def _mixtures(keys: set[str]) -> Iterator[Row]:
    clustered = (f"w-1 {LARGE},{LARGE}", WORDS_TREE, f"{_TAGS[-1]} tree", f"{_GROUPS} tree")
    for ngram, name in (
        (_BACK_OFF, "back-off trigram"),
        ("kneser-ney 3", "Kneser-Ney 3-gram"),
        (_BEST_NGRAM, "Kneser-Ney 5-gram"),
    ):
        for key in clustered:
            if key in keys:
                yield Row(
                    key=f"{key} + {ngram}",
                    table=4,
                    title=f"{key.removesuffix(f' {LARGE},{LARGE}')} + {name}",
                    mixture=(key, ngram),
                    compared_with=ngram,
                )
