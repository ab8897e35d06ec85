"""The rows of all tables, as data: what is trained for each, and with how many clusters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from msgspec import structs

from stategram.clustering import CONTEXT_EFFORTS, by_size
from stategram.errors import UsageError
from stategram.paper.published import OTHER_CRITERION, OTHER_CRITERION_TITLE
from stategram.paper.results import RowName
from stategram.recipes.clustered_part import ClusteredPart
from stategram.recipes.ngram_parts import NgramPart
from stategram.recipes.part import Part
from stategram.recipes.recipe import RECIPES, Recipe
from stategram.recipes.word_tree_part import WordTreePart
from stategram.text import Corpus

LARGE, SMALL, CLASSES = 2000, 500, 1000
"""The paper's numbers: of states and of categories, for its smaller model, of classes in contexts."""
_PAPER_WORDS = 10_000_000
_LARGEST_SCALE = 10.0
WORDS_TREE = "w-2,w-1 tree"
STRICT = "strict"
"""Ends the key of a tree without smoothing over its levels: equation (1) of the paper as printed."""
_BACK_OFF = "back-off 3"
_BEST_NGRAM = "kneser-ney 5"
# Leaving-one-out gains less than the paper's 1% in its second sweep, and more again later.
_LEAVE_ONE_OUT_TOLERANCE = 0.001
_TAGS = ("t-1", "t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")
_GROUPS = "g-2,g-1"


@dataclass(frozen=True)
class Sizes:
    """The numbers of clusters that stand for the paper's 2000, 500 and 1000.

    `scale` is how they were chosen: ``paper``, ``quick`` or a factor.
    """

    scale: str
    large: int
    small: int
    classes: int

    @property
    def is_quick(self) -> bool:
        """Whether what takes longest is replaced by something shorter."""
        return self.scale == "quick" or self.large < LARGE

    def __str__(self) -> str:
        if (self.large, self.small, self.classes) == (LARGE, SMALL, CLASSES):
            return f"scale {self.scale}: {LARGE} and {SMALL} clusters and {CLASSES} classes, as in the paper"
        return (
            f"scale {self.scale}: {self.large:,} and {self.small:,} clusters and {self.classes:,} classes, "
            f"where the paper has {LARGE}, {SMALL} and {CLASSES}"
        )


def sizes_for(scale: str | float | None, words: int, events: int) -> Sizes:
    """Choose the numbers of clusters for a text.

    `scale` is ``paper``: the numbers of the paper; ``quick``: 0.35 of the square root of the events in place
    of 2000, but no more than that, and the others in proportion; or a number: so many times the paper's.
    By default it is ``paper`` for more than 10 million words, else ``quick``.

    Examples
    --------
    >>> sizes_for(None, 38_000_000, 40_000_000)
    Sizes(scale='paper', large=2000, small=500, classes=1000)
    >>> sizes_for(None, 2_000_000, 2_100_000)
    Sizes(scale='quick', large=500, small=125, classes=250)
    >>> sizes_for("0.1", 2_000_000, 2_100_000)
    Sizes(scale='0.1', large=200, small=50, classes=100)

    """
    if scale is None:
        scale = "paper" if words > _PAPER_WORDS else "quick"
    name = scale if isinstance(scale, str) else f"{scale:g}"
    if name == "paper":
        factor = 1.0
    elif name == "quick":
        factor = min(1.0, by_size("size", events) / LARGE)
    else:
        factor = _factor(name)
    large, small, classes = (max(2, round(factor * one)) for one in (LARGE, SMALL, CLASSES))
    return Sizes(name, large, small, classes)


def check_scale(scale: str) -> None:
    """Refuse what is no scale, before anything is read."""
    if scale not in ("paper", "quick"):
        _factor(scale)


def _factor(name: str) -> float:
    try:
        factor = float(name)
    except ValueError:
        factor = 0.0
    if not 0 < factor <= _LARGEST_SCALE:
        raise UsageError(
            f"the scale is {name!r}; give paper, quick, or a number up to {_LARGEST_SCALE:g} such as 0.1, "
            "by which the paper's numbers of clusters are multiplied"
        )
    return factor


class Row(RowName, frozen=True, kw_only=True):
    """A row: one model (`part`), an interpolation of two other rows (`mixture`), or a `recipe`.

    `history` is how far back the model of a recipe may look.
    """

    part: Part | None = None
    mixture: tuple[str, str] | None = None
    recipe: Recipe | None = None
    history: str = "sentence"

    def resolve(self, corpus: Corpus) -> Row:
        """Fill in what follows from the text."""
        part = self.part.resolve(corpus).with_efforts({}) if self.part is not None else None
        recipe = self.recipe.resolve(corpus) if self.recipe is not None else None
        return structs.replace(self, part=part, recipe=recipe)


def rows_for(sizes: Sizes, tags: str | None) -> list[Row]:
    """Return all rows in the order of the work; without `tags`, those that need some are left out.

    N-gram models come first, then clustered models, those of the same contexts together, then what is made of
    other rows.

    Examples
    --------
    >>> [row.key for row in rows_for(sizes_for("paper", 0, 0), "brill") if row.table == 3]
    ['g-2,g-1 flat', 'g-2,g-1 tree', 'g-2,g-1 tree strict']

    """
    rows = [*_ngrams(), *_words(sizes)]
    if tags is not None:
        for context in _TAGS:
            rows += _flat_and_tree(2, context, sizes, tags=tags)
    rows += _flat_and_tree(3, _GROUPS, sizes, context_classes=sizes.classes)
    rows.append(_nearest(_GROUPS, sizes, context_classes=sizes.classes))
    rows += _mixtures({row.key for row in rows})
    return [*rows, *_recipe(RECIPES["fast" if sizes.is_quick else "best"])]


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
        key = f"w-1 {asked},{asked}"
        yield _clustered(key, 1, f"clustered w-1{title}", number, asked=(asked, asked), context="w-1")
    yield from _flat_and_tree(1, "w-2,w-1", sizes)
    # Table 5 varies the rows above in one thing each; leaving-one-out needs another tolerance too.
    yield _nearest("w-2,w-1", sizes)
    for how, against in (("flat", "w-2,w-1 flat"), ("tree", f"w-2,w-1 flat {OTHER_CRITERION}")):
        yield _clustered(
            f"w-2,w-1 {how} {OTHER_CRITERION}",
            5,
            f"w-2,w-1 {how}, {OTHER_CRITERION_TITLE}",
            sizes.large,
            tree=how == "tree",
            settings=CONTEXT_EFFORTS["paper"].replace(
                criterion=OTHER_CRITERION, tolerance=_LEAVE_ONE_OUT_TOLERANCE
            ),
            compared_with=against,
        )
    for effort, title in (("normal", "effort normal"), ("best", "effort best (annealed)")):
        yield _clustered(
            f"{WORDS_TREE} {effort}",
            5,
            f"w-2,w-1 tree, {title}",
            sizes.large,
            effort=effort,
            compared_with=WORDS_TREE,
        )
    for factor, title in ((0.25, "a quarter of the"), (0.5, "half of the"), (2.0, "twice the")):
        yield _clustered(
            f"{WORDS_TREE} x{factor:g}",
            5,
            f"w-2,w-1 tree, {title} clusters",
            max(2, round(factor * sizes.large)),
            asked=None,
            compared_with=WORDS_TREE,
        )


def _flat_and_tree(table: int, context: str, sizes: Sizes, **keys: Any) -> Iterator[Row]:
    """Yield single contexts and the tree, the latter with and without smoothing over its levels.

    Flat, the level above has a single state: there is nothing to smooth with.
    """
    if "," not in context:  # a tree of one level is flat
        yield _clustered(context, table, f"clustered {context}", sizes.large, context=context, **keys)
        return
    for how, title, strict in (
        ("flat", "flat", False),
        ("tree", "tree, smoothed over its levels", False),
        (f"tree {STRICT}", "tree, equation (1) as printed", True),
    ):
        yield _clustered(
            f"{context} {how}",
            table,
            f"{context} {title}",
            sizes.large,
            context=context,
            tree=how != "flat",
            strict=strict,
            compared_with=None if how == "flat" else f"{context} flat",
            **keys,
        )


def _nearest(context: str, sizes: Sizes, **keys: Any) -> Row:
    """Return the flat row with another start: how much the initial clustering decides."""
    return _clustered(
        f"{context} flat nearest",
        5,
        f"{context} flat, from the state of the nearest value",
        sizes.large,
        context=context,
        tree=False,
        settings=CONTEXT_EFFORTS["paper"].replace(flat_start="nearest"),
        compared_with=f"{context} flat",
        **keys,
    )


def _clustered(
    key: str,
    table: int,
    title: str,
    clusters: int,
    *,
    asked: tuple[int, int] | None = (LARGE, LARGE),
    compared_with: str | None = None,
    effort: str = "paper",
    **keys: Any,
) -> Row:
    """Return the row of a clustered model; `keys` are further ones of its part."""
    part = ClusteredPart(states=clusters, categories=clusters, effort=effort, **keys)
    return Row(key=key, table=table, title=title, part=part, asked=asked, compared_with=compared_with)


def _recipe(recipe: Recipe) -> Iterator[Row]:
    """Yield a recipe, and once more with caches of the test text if it has some."""
    row = Row(
        key=f"recipe {recipe.name}",
        table=5,
        title=f"recipe {recipe.name}: {recipe.title}",
        recipe=recipe,
        compared_with=_BEST_NGRAM,
    )
    yield row
    if any(isinstance(part, WordTreePart) and part.caches for part in recipe.part):
        yield structs.replace(
            row,
            key=f"{row.key} adaptive",
            title=f"recipe {recipe.name}, adaptive",
            history="adaptive",
            compared_with=row.key,
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
