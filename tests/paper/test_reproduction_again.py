"""A reproduction in a folder that has one: with tags now, or of something else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stategram import Corpus, UsageError, corpus_from_sentences, reproduce
from stategram.paper.claims import untested
from story import sentences

WITHOUT_TAGS, ROWS = 33, 46


@pytest.fixture(scope="module")
def texts() -> tuple[Corpus, Corpus, Corpus]:
    train, heldout, test = (corpus_from_sentences(sentences(n, seed=n)) for n in (60, 20, 55))
    return train, heldout, test


@pytest.fixture(scope="module")
def made(texts: tuple[Corpus, Corpus, Corpus], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a run without tags."""
    place = tmp_path_factory.mktemp("made") / "out"
    found = reproduce(*texts, place, tags="none")
    assert (found.tags, found.no_tags, len(found.rows)) == (None, "none were asked for", WITHOUT_TAGS)
    assert len(untested(found.claims)) == 2
    assert all("tags" in claim for claim in untested(found.claims))
    return place


def test_rows_have_intervals_that_fit_together(made: Path, texts: tuple[Corpus, Corpus, Corpus]) -> None:
    found = reproduce(*texts, made, tags="none")
    assert found.resampling is not None
    assert (found.resampling.unit, found.resampling.units) == ("sentence", 55)
    for row in found.rows:
        assert row.test.interval is not None
        assert row.test.interval.low < row.test.perplexity < row.test.interval.high
        assert (row.difference is None) == (row.compared_with is None)
    tree, flat = (next(row for row in found.rows if row.key == f"w-2,w-1 {how}") for how in ("tree", "flat"))
    (claim,) = [one for one in found.claims if "along a tree" in one.claim]
    (gain,) = claim.quantities
    assert gain.value == pytest.approx(1 - tree.test.perplexity / flat.test.perplexity)
    assert tree.difference is not None
    assert (gain.low, gain.high) == pytest.approx((-tree.difference.high, -tree.difference.low))
    assert claim.verdict == ("holds" if gain.low > 0 else "contradicted" if gain.high < 0 else "undecided")


def test_tags_may_come_later(
    made: Path, texts: tuple[Corpus, Corpus, Corpus], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    found = reproduce(*texts, made, tags="brill")
    assert found.tags is not None
    assert (found.tags.source, len(found.rows), found.complete) == ("brill", ROWS, True)
    assert not untested(found.claims)
    assert f"continuing: {WITHOUT_TAGS} of {ROWS} rows are done already" in caplog.messages
    with pytest.raises(
        UsageError,
        match=r"differs in the tags \(brill before, none now\); use the same",
    ):
        reproduce(*texts, made, tags="none")

    caplog.clear()
    assert reproduce(*texts, made, tags="brill") == found
    assert any("nothing is computed again" in message for message in caplog.messages)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": 3}, r"the seed \(0 before, 3 now\); use the same"),
        ({"scale": 0.01}, r"the scale \(scale quick: .* before, scale 0.01: .* now\);"),
        ({"seed": 3, "scale": 0.01}, r"the scale \(.*\) and the seed \(.*\);"),
    ],
)
def test_what_differs_is_named(
    made: Path, texts: tuple[Corpus, Corpus, Corpus], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        reproduce(*texts, made, tags="brill", **options)


def test_texts_that_differ_are_named(made: Path, texts: tuple[Corpus, Corpus, Corpus]) -> None:
    train, heldout, test = texts
    with pytest.raises(UsageError, match="which differs in the test text; use the same"):
        reproduce(train, heldout, test.sentences(1, 55), made, tags="brill")
