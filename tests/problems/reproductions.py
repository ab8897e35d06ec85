"""A reproduction of the paper's tables as it may come out: the figures are made up."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec
import numpy as np

from stategram.clustering import SweepRecord
from stategram.evaluation import Interval, PartFigures, PerplexityFigures, ResampledPerplexity, Resampling
from stategram.explore.content import (
    CategoryExample,
    ClusterGallery,
    ContextExample,
    StateExample,
    WordExample,
)
from stategram.paper.claims import judge_claims, with_comparisons
from stategram.paper.published import PAPER
from stategram.paper.results import (
    FORMAT,
    Clusters,
    Computation,
    CountBand,
    Reproduction,
    RowResult,
    Tags,
    TextFigures,
)
from stategram.storage import InputFile

_EVENTS, _UNKNOWN = 245_569, 4_811
_BANDS = ((0, 0), (1, 5), (6, 19), (20, 99), (100, 999), (1000, None))


def resampled(rows: Iterable[RowResult], *, spread: float = 0.002) -> dict[str, ResampledPerplexity]:
    """Return made-up resamples: all rows vary by 1% together, each by its own `spread` besides."""
    random = np.random.default_rng(0)
    together = random.normal(0, 0.01, 2000)
    return {
        row.key: ResampledPerplexity(
            row.test.perplexity, row.test.perplexity * np.exp(together + random.normal(0, spread, 2000))
        )
        for row in rows
    }


def sample() -> Reproduction:
    """Return one with every table, chart and gallery; its figures are made up, the paper's are not."""
    given = _rows()
    drawn = resampled(given)
    rows = with_comparisons(given, drawn)
    return Reproduction(
        rows=rows,
        claims=judge_claims(rows, drawn),
        resampling=Resampling("sentence", 9_012),
        complete=True,
        format=FORMAT,
        texts=(
            TextFigures(use="train", sentences=78_274, words=2_051_910, events=2_130_184, unknown=30_112),
            TextFigures(use="heldout", sentences=8_010, words=213_886, events=221_896, unknown=4_020),
            TextFigures(use="test", sentences=9_012, words=236_557, events=_EVENTS, unknown=_UNKNOWN),
        ),
        inputs=(
            InputFile(use="train", name="text/train.txt", bytes=10_780_437, sha256="3f" * 32),
            InputFile(use="heldout", name="text/heldout.txt", bytes=1_120_192, sha256="a0" * 32),
            InputFile(use="test", name="text/test.txt", bytes=1_255_018, sha256="9c" * 32),
        ),
        vocabulary=33_278,
        scale="full",
        tags=Tags("brill", 43, 0.93),
        no_tags=None,
        seed=0,
        run=Computation(
            threads=2,
            command="stategram reproduce --train text/train.txt --heldout text/heldout.txt "
            "--test text/test.txt --tags brill -o tables",
            versions={"stategram": "0.1.0", "Python": "3.11.7", "NumPy": "2.3.0"},
            machine="Linux, 2 processors",
            seconds=2217.0,
            cpu_seconds=4011.0,
            peak_bytes=3_180_000_000,
            shared_seconds={"reading": 3.1, "tags": 1.2, "classes": 210.0, "n-gram counts": 4.0},
        ),
    )


def _rows() -> list[RowResult]:
    return [
        _ngram("back-off 2", 1, 2, 262.4),
        _ngram("back-off 3", 1, 3, 214.9),
        _clustered("w-1 500,500", 1, "w-1", None, 500, 309.8, asked=(500, 500)),
        _clustered("w-1 2000,2000", 1, "w-1", None, 1200, 281.2),
        *_pair("w-2,w-1", 1, 276.0, 243.1, clusters=1200),
        msgspec.structs.replace(
            _clustered("w-2,w-1 tree strict", 1, "w-2,w-1", True, 1200, 251.0, against="w-2,w-1 flat"),
            title="w-2,w-1, equation (1)",
            sweeps=(),
        ),
        _clustered("t-1", 2, "t-1", None, 42, 512.7),
        *_pair("t-2,t-1", 2, 402.2, 399.8),
        *_pair("t-3,t-2,t-1", 2, 371.9, 362.3),
        *_pair("t-4,t-3,t-2,t-1", 2, 379.4, 351.0),
        *_pair("g-2,g-1", 3, 257.7, 239.9, clusters=1000),
        _ngram("back-off 3", 4, 3, 214.9),
        _mixture("w-1 2000,2000 + back-off 3", 4, 206.1, ("w-1 2000,2000",)),
        _mixture("w-2,w-1 flat + back-off 3", 4, 203.7, ("w-2,w-1 flat",)),
        _mixture("w-2,w-1 tree + back-off 3", 4, 197.2, ("w-2,w-1 tree",)),
        _mixture("t-4,t-3,t-2,t-1 tree + back-off 3", 4, 199.9, ("t-4,t-3,t-2,t-1 tree",)),
        _mixture("g-2,g-1 tree + back-off 3", 4, 196.0, ("g-2,g-1 tree",)),
        _mixture("all + back-off 3", 4, 190.3, ("w-2,w-1 tree", "t-4,t-3,t-2,t-1 tree", "g-2,g-1 tree")),
        _ngram("kneser-ney 5", 5, 5, 203.6, against="back-off 3"),
        *_pair("g-3,g-2,w-1", 5, 251.2, 226.9, clusters=1200),
        _mixture("best", 5, 178.8, ("kneser-ney 5", "g-3,g-2,w-1 tree", "w-2,w-1 tree")),
    ]


def _figures(perplexity: float) -> PerplexityFigures:
    return PerplexityFigures(
        events=_EVENTS,
        sentences=9_012,
        unknown=_UNKNOWN,
        zero_probability=0,
        above_one=0,
        perplexity=perplexity,
        perplexity_known=perplexity * 1.041,
        bits=math.log2(perplexity),
        interval=Interval(perplexity * 0.98, perplexity * 1.021),
    )


def _ngram(
    key: str,
    table: int,
    order: int,
    perplexity: float,
    *,
    against: str | None = None,
) -> RowResult:
    return RowResult(
        key=key,
        table=table,
        title={2: "back-off bigram", 3: "back-off trigram"}.get(order, f"Kneser-Ney {order}-gram"),
        kind="ngram",
        test=_figures(perplexity),
        heldout_perplexity=perplexity * 0.98,
        seconds=2.1 * order,
        parameters=410_000 * order,
        compared_with=against,
        paper=PAPER.get(key),
    )


def _clustered(
    key: str,
    table: int,
    context: str,
    tree: bool | None,
    clusters: int,
    perplexity: float,
    *,
    asked: tuple[int, int] = (2000, 2000),
    against: str | None = None,
) -> RowResult:
    levels = context.count(",") + 1 if tree else 1
    end = perplexity * 0.7
    sweeps, start = [], end * (2.2 if tree else 2.0)
    for number in range(1, 6 * levels + 1):
        place = number / (6 * levels)
        now = start - (start - end) * (1 - (1 - place) ** 2.5)
        sweeps.append(
            SweepRecord(
                number=number,
                level=1 + (number - 1) // 6,
                step="exchange",
                temperature=0.0,
                moves=int(40_000 / number),
                criterion=-1.2e7 * now**0.1,
                perplexity=now,
                seconds=1.5 * number,
            )
        )
    bands = [
        CountBand(
            least=least,
            most=most,
            events=_EVENTS // (i + 2),
            perplexity=perplexity * (4.5 if not tree else 3.2) / (1 + 1.1 * i) + 18,
        )
        for i, (least, most) in enumerate(_BANDS)
    ]
    shape = "" if tree is None else ", tree" if tree else ", flat"
    return RowResult(
        key=key,
        table=table,
        title=f"{context}{shape}",
        kind="clustered",
        test=_figures(perplexity),
        heldout_perplexity=perplexity * 0.98,
        seconds=37.0 * levels,
        parameters=clusters * clusters + 33_278,
        clusters=Clusters(context, bool(tree), clusters, clusters, 543_210, 470_963),
        gallery=_gallery(key) if key in ("w-2,w-1 tree", "g-2,g-1 tree") else None,
        asked=asked,
        compared_with=against,
        sweeps=tuple(sweeps),
        by_count=tuple(bands),
        paper=PAPER.get(key.removesuffix(" strict")),
        note="fewer clusters: they follow the size of the text" if (clusters, clusters) != asked else "",
    )


def _pair(context: str, table: int, flat: float, tree: float, *, clusters: int = 600) -> list[RowResult]:
    key = f"{context} flat"
    return [
        _clustered(key, table, context, False, clusters, flat),
        _clustered(f"{context} tree", table, context, True, clusters, tree, against=key),
    ]


def _mixture(key: str, table: int, perplexity: float, parts: tuple[str, ...]) -> RowResult:
    first = 0.62 if len(parts) == 1 else 0.4
    others = (1 - first) / len(parts)
    return RowResult(
        key=key,
        table=table,
        title=key,
        kind="mixture",
        test=_figures(perplexity),
        heldout_perplexity=perplexity * 0.98,
        seconds=1.4,
        parameters=2_650_000,
        compared_with="back-off 3",
        parts=(
            PartFigures("back-off 3", 214.9, first),
            *(PartFigures(name, 250.0, others) for name in parts),
        ),
        paper=PAPER.get(key),
    )


def _gallery(key: str) -> ClusterGallery:
    words = (
        "january february march april june july august september october".split(),
        "he she they we nobody everyone".split(),
        "million billion percent miles people".split(),
        ["<script>alert(1)</script>", "<unk>", "&amp;", '"quoted"', "o'clock"],
        ["שלום", "مدينة", "peace", "www.example.org/" + "a-long-path/" * 9, "Donaudampfschiff" * 6],
    )
    contexts = (
        (
            ["in the", "of the", "during the", "throughout the", "into the"],
            "first early second year city".split(),
        ),
        (["on monday", "last tuesday", "that friday", "every sunday"], ["night", "morning", ",", "</s>"]),
        (["<s> <s>"], ["the", "he", "in", "it"]),
        (["has been", "had been", "have been", "having been"], "made found used built described".split()),
        (
            ["{the|Ciudad|…} {first|intermediate-range|…} " * 3, "{" + "Donaudampfschiff" * 6 + "|…} של"],
            ["שלום", "city"],
        ),
    )
    return ClusterGallery(
        key=key,
        categories=tuple(
            CategoryExample(
                number=number,
                words=40 + number,
                events=9_000 - 700 * number,
                examples=tuple(
                    WordExample(word=word, probability=0.16 / (1 + 0.2 * i)) for i, word in enumerate(of)
                ),
            )
            for number, of in enumerate(words)
        ),
        states=tuple(
            StateExample(
                number=number,
                contexts=120 * number + 1,
                events=42_000 - 900 * number,
                examples=tuple(
                    ContextExample(context=one, count=5_000 - 300 * i) for i, one in enumerate(of)
                ),
                next_words=tuple(
                    WordExample(word=word, probability=0.2 / (1 + i)) for i, word in enumerate(after)
                ),
            )
            for number, (of, after) in enumerate(contexts)
        ),
    )
