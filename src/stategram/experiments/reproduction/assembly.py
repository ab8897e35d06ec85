"""All that was found, put together from the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec

from stategram.counts import peak_memory
from stategram.experiments.reproduction.claims import claims_of
from stategram.experiments.reproduction.plan import WORDS_TREE, RowPlan
from stategram.experiments.reproduction.results import FORMAT, Reproduction, RowResult, SizeTrial
from stategram.experiments.reproduction.surroundings import machine, versions
from stategram.experiments.reproduction.texts import Texts
from stategram.experiments.reproduction.work_folder import WorkFolder
from stategram.text import SPECIAL_WORDS


@dataclass(frozen=True, eq=False)
class Request:
    """What was asked for: `plan` are the rows, table by table; the rest is as in `Reproduction`."""

    texts: Texts
    plan: Sequence[RowPlan]
    scale: str
    tags: str | None
    tag_coverage: float | None
    seed: int
    threads: int
    command: str


def assemble(request: Request, found: Mapping[str, RowResult], folder: WorkFolder) -> Reproduction:
    """Put together what is there of the rows; it is complete if all are."""
    rows = with_comparisons([found[plan.key] for plan in request.plan if plan.key in found])
    spent = folder.spent()
    return Reproduction(
        rows=rows,
        claims=claims_of(rows),
        sizes=_sizes(rows),
        galleries=tuple(one for row in rows if (one := folder.gallery(row.key)) is not None),
        texts=request.texts.figures(),
        inputs=request.texts.inputs,
        vocabulary=len(request.texts.train.vocabulary) - len(SPECIAL_WORDS),
        scale=request.scale,
        tags=request.tags,
        seed=request.seed,
        threads=request.threads,
        command=request.command,
        versions=versions(),
        machine=machine(),
        seconds=sum(row.seconds for row in rows) + sum(spent.values()),
        peak_bytes=max(folder.peak_bytes(), peak_memory()),
        shared_seconds=spent,
        complete=len(rows) == len(request.plan),
        format=FORMAT,
        tag_coverage=request.tag_coverage,
    )


def with_comparisons(rows: Sequence[RowResult]) -> tuple[RowResult, ...]:
    """Say how each row differs from the one it is compared with, if that is there."""
    by_key = {row.key: row for row in rows}
    ladder = [row for row in rows if _is_trial(row)]
    best = min(ladder, key=lambda row: row.heldout_perplexity) if len(ladder) > 1 else None
    return tuple(_compared(row, by_key, row is best) for row in rows)


def _compared(row: RowResult, rows: Mapping[str, RowResult], is_best: bool) -> RowResult:
    change, notes = None, [row.note]
    if row.compared_with is not None and row.compared_with in rows:
        change = row.test.perplexity / rows[row.compared_with].test.perplexity - 1
    if is_best:
        notes.append("of all numbers of clusters that were tried, the best on held-out text")
    return msgspec.structs.replace(row, change=change, note="; ".join(filter(None, notes)))


def _is_trial(row: RowResult) -> bool:
    """Whether a row differs from the tree of table 1 in nothing but its number of clusters."""
    return row.key == WORDS_TREE or row.key.startswith(f"{WORDS_TREE} x")


def _sizes(rows: Sequence[RowResult]) -> tuple[SizeTrial, ...]:
    """Give what different numbers of clusters came to on held-out text."""
    found = [
        SizeTrial(key=WORDS_TREE, clusters=row.categories, perplexity=row.heldout_perplexity)
        for row in rows
        if row.categories is not None and _is_trial(row)
    ]
    return tuple(sorted(found, key=lambda trial: trial.clusters))
