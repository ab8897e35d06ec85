"""The rows of a reproduction, their numbers of clusters, and how the claims of the paper are judged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from reproductions import resampled
from stategram import UsageError
from stategram.evaluation import PerplexityFigures, ResampledPerplexity
from stategram.paper import RowResult
from stategram.paper.claims import N_CLAIMS, judge_claims, untested, with_comparisons
from stategram.paper.published import PAPER
from stategram.paper.rows import rows_for, sizes_for
from stategram.recipes import ClusteredPart

TAGS = ("t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")


def _row(
    key: str, perplexity: float, *, table: int = 1, kind: str = "clustered", **more: object
) -> RowResult:
    return RowResult(
        key=key,
        table=table,
        title=key,
        kind=kind,
        test=PerplexityFigures(10, 1, 0, 0, 0, perplexity, perplexity, 1.0),
        heldout_perplexity=perplexity,
        seconds=1.0,
        parameters=1,
        **more,  # type: ignore[arg-type]
    )


def _holds(claim: str, *rows: RowResult) -> str:
    (found,) = [one for one in judge_claims(rows, resampled(rows)) if claim in one.claim]
    return found.verdict


@pytest.mark.parametrize(
    ("scale", "words", "numbers", "name"),
    [
        ("paper", 1000, (2000, 500, 1000), "paper"),
        (None, 10_000_001, (2000, 500, 1000), "paper"),
        (None, 10_000_000, (1100, 275, 550), "quick"),
        ("quick", 400_000_000, (2000, 500, 1000), "quick"),
        ("quick", 100, (25, 6, 12), "quick"),
        ("0.1", 1000, (200, 50, 100), "0.1"),
        (0.5, 1000, (1000, 250, 500), "0.5"),
        ("0.0001", 1000, (2, 2, 2), "0.0001"),
        ("2", 1000, (4000, 1000, 2000), "2"),
    ],
)
def test_scales(scale: str | float | None, words: int, numbers: tuple[int, ...], name: str) -> None:
    found = sizes_for(scale, words, words)
    assert (found.large, found.small, found.classes) == numbers
    assert found.scale == name
    assert ("as in the paper" in str(found)) == (numbers == (2000, 500, 1000))


@pytest.mark.parametrize("scale", ["large", "0", "-1", "nan", "inf", "11", ""])
def test_scales_that_mean_nothing_are_refused(scale: str) -> None:
    with pytest.raises(UsageError, match="give paper, quick, or a number"):
        sizes_for(scale, 1000, 1000)


def test_the_rows_are_those_of_the_paper() -> None:
    rows = {row.key: row for row in rows_for(sizes_for("paper", 0, 0), "brill")}
    assert set(PAPER) <= set(rows)
    for key, context, tree, asked in (
        ("w-1 500,500", "w-1", True, (500, 500)),
        ("w-1 2000,2000", "w-1", True, (2000, 2000)),
        ("w-2,w-1 flat", "w-2,w-1", False, (2000, 2000)),
        ("t-1", "t-1", True, (2000, 2000)),
        ("t-4,t-3,t-2,t-1 tree", "t-4,t-3,t-2,t-1", True, (2000, 2000)),
        ("g-2,g-1 tree", "g-2,g-1", True, (2000, 2000)),
    ):
        row, part = rows[key], rows[key].part
        assert isinstance(part, ClusteredPart)
        assert (part.context, part.tree, row.asked, part.effort) == (context, tree, asked, "paper")
        assert row.asked == (part.states, part.categories)
        assert part.context_classes == (1000 if key.startswith("g") else None)
        assert part.tags == ("brill" if key.startswith("t") else None)
    assert next(row.recipe.name for row in rows.values() if row.recipe) == "best"
    quick = rows_for(sizes_for("quick", 0, 10_000), "brill")
    assert [row.recipe.name for row in quick if row.recipe] == ["fast", "fast"]


def test_rows_come_after_what_they_need_and_contexts_once() -> None:
    rows = rows_for(sizes_for("paper", 0, 0), "brill")
    place = {row.key: number for number, row in enumerate(rows)}
    assert len(place) == len(rows)
    for row in rows:
        assert all(place[key] < place[row.key] for key in row.mixture or ())
        assert row.compared_with is None or place[row.compared_with] < place[row.key]
        assert (row.part is not None) + (row.mixture is not None) + (row.recipe is not None) == 1
    contexts = [row.part.context for row in rows if isinstance(row.part, ClusteredPart)]
    changes = sum(one != other for one, other in pairwise(contexts))
    assert changes == len(set(contexts)) - 1


# The resamples of two rows differ by 0.3%, so that intervals of differences are about 0.55% to each side.
@pytest.mark.parametrize(
    ("tree", "holds"), [(99.2, "holds"), (99.8, "undecided"), (100.3, "undecided"), (101.0, "contradicted")]
)
def test_claim_on_the_tree(tree: float, holds: str) -> None:
    assert _holds("along a tree", _row("w-2,w-1 flat", 100), _row("w-2,w-1 tree", tree)) == holds


@pytest.mark.parametrize(
    ("gains", "holds"),
    [
        ((1, 5, 9), "holds"),
        ((1, 0, 9), "contradicted"),
        ((5, 9, 6), "contradicted"),
        ((5, 9, 9.2), "undecided"),
    ],
)
def test_claim_on_wider_windows(gains: tuple[float, ...], holds: str) -> None:
    rows = []
    for context, gain in zip(TAGS, gains, strict=True):
        rows += [_row(f"{context} flat", 100), _row(f"{context} tree", 100 - gain)]
    assert _holds("grows with", *rows) == holds


@pytest.mark.parametrize(
    ("flat", "tree", "holds"),
    [
        (100.2, 95, "holds"),
        (110, 95, "holds"),
        (99.5, 95, "undecided"),
        (110, 99.4, "undecided"),
        (98, 95, "contradicted"),
        (110, 101, "contradicted"),
    ],
)
def test_claim_on_the_fourth_tag(flat: float, tree: float, holds: str) -> None:
    rows = [_row(f"{TAGS[1]} {how}", 100) for how in ("flat", "tree")]
    rows += [_row(f"{TAGS[2]} flat", flat), _row(f"{TAGS[2]} tree", tree)]
    assert _holds("From three tags to four", *rows) == holds


@pytest.mark.parametrize(
    ("classes", "holds"), [(90, "holds"), (109, "holds"), (110, "undecided"), (111, "contradicted")]
)
def test_claim_on_classes(classes: float, holds: str) -> None:
    assert _holds("come close", _row("w-2,w-1 tree", 100), _row("g-2,g-1 tree", classes)) == holds


@pytest.mark.parametrize(("best", "holds"), [(99, "holds"), (99.8, "undecided"), (101, "contradicted")])
def test_claim_on_interpolation(best: float, holds: str) -> None:
    rows = [
        _row("back-off 3", 100, kind="ngram"),
        _row("g-2,g-1 tree + back-off 3", best, kind="mixture", table=4),
        _row("w-1 2000,2000 + back-off 3", 105, kind="mixture", table=4),
        _row("w-1 2000,2000 + kneser-ney 5", 50, kind="mixture", table=4),
    ]
    assert _holds("Interpolation", *rows) == holds


@pytest.mark.parametrize(
    ("best", "flat", "holds"),
    [
        (101, 151, "holds"),
        (100.2, 151, "undecided"),
        (101, 149.8, "undecided"),
        (99, 151, "contradicted"),
        (101, 148, "contradicted"),
    ],
)
def test_claim_on_back_off(best: float, flat: float, holds: str) -> None:
    rows = [
        _row("back-off 2", 150, kind="ngram"),
        _row("back-off 3", 100, kind="ngram"),
        _row("kneser-ney 5", 80, kind="ngram"),
        _row("w-1 500,500", 160),
        _row("g-2,g-1 flat", flat, table=3),
        _row("g-2,g-1 tree", best, table=3),
        _row("w-2,w-1 tree best", 50, table=5),
    ]
    assert _holds("Both back-off models", *rows) == holds


@pytest.mark.parametrize(
    ("claim", "keys"),
    [
        ("classes too", ("g-2,g-1 flat", "g-2,g-1 tree")),
        ("Without the tree too", ("w-1 2000,2000", "w-2,w-1 flat")),
    ],
)
@pytest.mark.parametrize(("after", "holds"), [(99.2, "holds"), (99.8, "undecided"), (101.0, "contradicted")])
def test_claims_on_one_gain(claim: str, keys: tuple[str, str], after: float, holds: str) -> None:
    assert _holds(claim, _row(keys[0], 100), _row(keys[1], after)) == holds


def test_equation_1_as_printed_is_judged_too() -> None:
    rows = [_row("w-2,w-1 flat", 100), _row("w-2,w-1 tree", 90), _row("w-2,w-1 tree strict", 102)]
    (claim,) = judge_claims(rows, resampled(rows))
    assert (claim.verdict, claim.found.partition("With equation (1)")[2]) == (
        "holds",
        " as printed: 2.0% higher: 100.0 to 102.0 (contradicted)",
    )


def test_quantities_have_intervals_and_rows_differences() -> None:
    rows = [_row("w-2,w-1 tree", 100), _row("g-2,g-1 tree", 108, compared_with="w-2,w-1 tree")]
    (claim,) = judge_claims(rows, resampled(rows))
    (quantity,) = claim.quantities
    assert quantity.low < 0.08 < quantity.high
    assert "95% interval of the difference +7." in claim.found
    _, classes = with_comparisons(rows, resampled(rows))
    assert classes.difference is not None
    assert classes.difference.relative == pytest.approx(0.08)
    assert 0.07 < classes.difference.low < 0.08 < classes.difference.high < 0.09


def test_nothing_is_claimed_without_its_rows() -> None:
    for rows in ([], [_row("w-2,w-1 tree", 100)]):
        claims = judge_claims(rows, resampled(rows))
        assert claims == ()
        assert len(untested(claims)) == N_CLAIMS


def test_the_best_number_of_clusters_is_named() -> None:
    given = [
        _row("w-2,w-1 tree", 100),
        _row("kneser-ney 5", 80, kind="ngram"),
        _row("w-2,w-1 tree x0.5", 110, table=5, compared_with="kneser-ney 5", note="first"),
        _row("w-2,w-1 tree x2", 90, table=5, compared_with="kneser-ney 5"),
        _row("w-2,w-1 tree best", 70, table=5, compared_with="missing"),
    ]
    rows = with_comparisons(given, resampled(given))
    assert [row.difference and row.difference.relative for row in rows] == [
        None,
        None,
        110 / 80 - 1,
        90 / 80 - 1,
        None,
    ]
    assert rows[2].note == "first"
    assert [row.key for row in rows if "best on held-out" in row.note] == ["w-2,w-1 tree x2"]


def test_a_text_of_one_unit_decides_nothing() -> None:
    rows = [_row("w-2,w-1 flat", 100), _row("w-2,w-1 tree", 80)]
    one = {key: ResampledPerplexity(of.value, np.full(2000, of.value)) for key, of in resampled(rows).items()}
    assert judge_claims(rows, one)[0].verdict == "undecided"
