"""The rows of all tables: what each is, before any work is done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from stategram.experiments.reproduction.sizes import LARGE, SMALL, Sizes

BACK_OFF = "back-off 3"
BEST_NGRAM = "kneser-ney 5"
WORDS_TREE = "w-2,w-1 tree"
_WORDS = "w-2,w-1"
_TAGS = ("t-1", "t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")
_GROUPS = "g-2,g-1"


@dataclass(frozen=True, kw_only=True)
class RowPlan:
    """A row to be: `key`, `table`, `title` and `compared_with` as in `RowResult`."""

    key: str
    table: int
    title: str
    compared_with: str | None = None


@dataclass(frozen=True, kw_only=True)
class NgramPlan(RowPlan):
    """An n-gram model of words."""

    order: int
    smoothing: str
    min_counts: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class ClusteredPlan(RowPlan):
    """A clustered model of `context`.

    `asked` are the paper's numbers of states and categories, if it has such a row, `wanted` those that suit
    the text; `classes` is the number of classes in contexts that have some.
    """

    context: str
    tree: bool
    wanted: tuple[int, int]
    asked: tuple[int, int] | None = None
    classes: int | None = None
    preset: str = "paper"
    criterion: str | None = None


@dataclass(frozen=True, kw_only=True)
class MixturePlan(RowPlan):
    """An interpolation of the models of two rows."""

    parts: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class RecipePlan(RowPlan):
    """A recipe of `stategram train`."""

    recipe: str


def plan_rows(sizes: Sizes, *, tags: bool) -> list[RowPlan]:
    """Give all rows, table by table; without `tags`, those that need some are left out.

    Examples
    --------
    >>> from stategram.experiments.reproduction.sizes import sizes_for
    >>> rows = plan_rows(sizes_for("paper", 0, 0), tags=True)
    >>> [row.key for row in rows if row.table == 3]
    ['g-2,g-1 flat', 'g-2,g-1 tree']

    """
    rows: list[RowPlan] = [*_words(sizes), *_ngrams()]
    if tags:
        for context in _TAGS:
            rows += _flat_and_tree(2, context, sizes)
    rows += _flat_and_tree(3, _GROUPS, sizes)
    rows += _mixtures(rows)
    rows += _beyond(sizes)
    return rows


def in_running_order(rows: Sequence[RowPlan]) -> list[RowPlan]:
    """Give n-gram models first, then clustered models with those of one context together, then the rest."""
    contexts = list(dict.fromkeys(row.context for row in rows if isinstance(row, ClusteredPlan)))

    def place(row: RowPlan) -> tuple[int, int]:
        if isinstance(row, NgramPlan):
            return 0, 0
        if isinstance(row, ClusteredPlan):
            return 1, contexts.index(row.context)
        return (2, 0) if isinstance(row, MixturePlan) else (3, 0)

    return sorted(rows, key=place)


def keys_of_parts(rows: Sequence[RowPlan]) -> frozenset[str]:
    """Give the keys of the rows that mixtures are made of."""
    return frozenset(key for row in rows if isinstance(row, MixturePlan) for key in row.parts)


def n_row_steps(rows: Sequence[RowPlan]) -> int:
    """Give the number of steps of these rows: one for each, for each context, and for the classes of some."""
    clustered = [row for row in rows if isinstance(row, ClusteredPlan)]
    contexts = {row.context for row in clustered}
    return len(rows) + len(contexts) + any(row.classes is not None for row in clustered)


def _words(sizes: Sizes) -> Iterator[RowPlan]:
    for asked in (SMALL, LARGE):
        wanted = sizes.of(asked)
        yield ClusteredPlan(
            key=f"w-1 {asked},{asked}",
            table=1,
            title="clustered w-1" + (", few clusters" if asked == SMALL else ""),
            context="w-1",
            tree=True,
            asked=(asked, asked),
            wanted=(wanted, wanted),
        )
    yield from _flat_and_tree(1, _WORDS, sizes)


def _flat_and_tree(table: int, context: str, sizes: Sizes) -> Iterator[RowPlan]:
    one = "," not in context  # a tree of one level is flat
    for tree in (True,) if one else (False, True):
        how = "tree" if tree else "flat"
        yield ClusteredPlan(
            key=context if one else f"{context} {how}",
            table=table,
            title=f"clustered {context}" + ("" if one else f", {how}"),
            compared_with=f"{context} flat" if tree and not one else None,
            context=context,
            tree=tree,
            asked=(LARGE, LARGE),
            wanted=(sizes.large, sizes.large),
            classes=sizes.classes if context.startswith("g") else None,
        )


def _ngrams() -> Iterator[RowPlan]:
    for order, name in ((2, "bigram"), (3, "trigram")):
        yield NgramPlan(
            key=f"back-off {order}",
            table=1,
            title=f"back-off {name} (Katz)",
            order=order,
            smoothing="katz",
            min_counts=(1, 1, 2)[:order],
        )
    for order in (2, 3, 5):
        yield NgramPlan(
            key=f"kneser-ney {order}",
            table=1,
            title=f"modified Kneser-Ney {order}-gram",
            order=order,
            smoothing="kneser-ney",
        )


def _mixtures(rows: Sequence[RowPlan]) -> list[RowPlan]:
    there = {row.key for row in rows}
    clustered = (f"w-1 {LARGE},{LARGE}", WORDS_TREE, f"{_TAGS[-1]} tree", f"{_GROUPS} tree")
    return [
        MixturePlan(
            key=f"{key} + {ngram}",
            table=4,
            title=f"{key.removesuffix(f' {LARGE},{LARGE}')} + {name}",
            compared_with=ngram,
            parts=(key, ngram),
        )
        for ngram, name in (
            (BACK_OFF, "back-off trigram"),
            ("kneser-ney 3", "Kneser-Ney 3-gram"),
            (BEST_NGRAM, "Kneser-Ney 5-gram"),
        )
        for key in clustered
        if key in there
    ]


def _beyond(sizes: Sizes) -> Iterator[RowPlan]:
    def words(name: str, title: str, factor: float = 1.0, **more: str) -> RowPlan:
        number = max(2, round(factor * sizes.large))
        return ClusteredPlan(
            key=f"{WORDS_TREE} {name}",
            table=5,
            title=f"{WORDS_TREE}, {title}",
            compared_with=WORDS_TREE,
            context=_WORDS,
            tree=True,
            asked=(LARGE, LARGE) if factor == 1 else None,
            wanted=(number, number),
            **more,  # type: ignore[arg-type]
        )

    yield words("leave-one-out", "leaving-one-out criterion", criterion="leave-one-out")
    yield words("normal", "stops below 0.1%", preset="normal")
    if sizes.is_quick:
        yield words("best", "annealed, stops below 0.02%", preset="best")
    for name, factor, title in (
        ("x0.25", 0.25, "a quarter of the clusters"),
        ("x0.5", 0.5, "half of the clusters"),
        ("x2", 2.0, "twice the clusters"),
    ):
        yield words(name, title, factor)
    recipe = "fast" if sizes.is_quick else "best"
    yield RecipePlan(
        key=f"recipe {recipe}",
        table=5,
        title=f"recipe {recipe} of stategram train",
        compared_with=BEST_NGRAM,
        recipe=recipe,
    )
