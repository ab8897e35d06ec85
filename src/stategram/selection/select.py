"""Rows of a pool that are like a text: scored, chosen, and copied as they are."""

from __future__ import annotations

import logging
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from stategram.errors import BadDataError, UsageError
from stategram.models import Model
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.selection.criterion import CRITERIA, By, Criterion, RowScores, close_models, scorer_of
from stategram.selection.cut import Cut, Keep, Scored, find_cut
from stategram.selection.training import Preparation, map_files, no_words, pool_name
from stategram.storage import Place, atomic_open, check_place, is_url, shared_file
from stategram.tables import PoolFile, RowBlock, RowWriter, format_of_name
from stategram.text import FormatOverride, Source, file_names, read_blocks
from stategram.wording import plural

_log = logging.getLogger(__name__)

# Of each row, in the file that its scores wait in.
_ROW = np.dtype([("score", "<f4"), ("words", "<i4")])
_ROWS_AT_ONCE = 1 << 20
_MANY_UNKNOWN = 0.5


@dataclass(frozen=True)
class Selection:
    """What was chosen of a pool."""

    by: By
    """The criterion."""
    rows: int
    """The rows of the pool, those without words included."""
    words: int
    unknown: int
    """How many words of the pool are not in the vocabulary of the models."""
    kept_rows: int
    kept_words: int
    threshold: float | None
    """The highest score that is kept; None if no row is, or all are."""


@dataclass(frozen=True)
class ScoreTask:
    """A file to score, and where its scores go."""

    file: PoolFile
    criterion: Criterion
    path: str

    def __str__(self) -> str:
        return self.file.name


@dataclass(frozen=True)
class ScoredFile:
    """The scores of the rows of a file, in another file."""

    path: str
    rows: int
    unknown: int

    def pieces(self) -> Iterator[Scored]:
        """Yield the scores and the numbers of words, some rows at a time."""
        with shared_file(self.path).open("rb") as file:
            while len(data := np.fromfile(file, _ROW, _ROWS_AT_ONCE)):
                yield np.ascontiguousarray(data["score"]), np.ascontiguousarray(data["words"])


def select(
    pool: Source,
    in_domain: Model | str | os.PathLike[str],
    general: Model | str | os.PathLike[str] | None = None,
    *,
    output: Place,
    keep: str | int | None = None,
    threshold: float | None = None,
    scores: bool = False,
    by: By = "difference",
    format: str | None = None,
    text_column: str = "text",
    score_column: str = "score",
    min_words: int = 1,
    max_words: int | None = None,
    order: int = 3,
    text_format: FormatOverride = None,
    seed: int = 0,
    verify: bool = True,
    progress: Progress | None = None,
) -> Selection:
    r"""Write the rows of a pool of text that are most like a text of some domain.

    A row is as good as its cross-entropy difference is low (Moore and Lewis 2010): the cross-entropy in bits
    per word of a model of the domain, minus that of a model of general text. Rows keep their order, and are
    copied as they are, with all their fields.

    Parameters
    ----------
    pool
        A file, or several of the same format, plain or compressed: lines of text, jsonl or parquet; ``-`` is
        stdin. A text of several lines is as good as all of them together.
    in_domain
        A text of the domain, one sentence per line, or a table with a column of texts; or else a model, a
        model file or an ARPA file.
    general
        General text, or a model of it; by default a random sample of the pool as large as the text of the
        domain. Models are trained on texts with the same vocabulary, the words that are at least twice in the
        text of the domain; beside a model that is given, with the vocabulary of that.
    output
        The file to write, of the format of the pool; a path, ``-`` for stdout, or a binary stream. A path
        that ends in ``.gz``, ``.xz``, ``.bz2`` or ``.zst`` is compressed.
    keep
        How much to keep: ``"10%"`` of the words of the pool, ``50000`` rows, or ``"2000000 words"``: the best
        rows, as many as fit. The pool is read twice, and 8 bytes per row wait in a temporary file.
    threshold
        Instead: keep the rows with a score of at most this. The pool is read once.
    scores
        Add the score to each row that is kept: a column `score_column`, or in front of a line of text and a
        tab. Without `keep` and `threshold`, all rows are written.
    by
        ``"difference"``, or ``"perplexity"`` of the in-domain model alone.
    format
        ``"text"``, ``"jsonl"`` or ``"parquet"``; by default as the files are named, and text otherwise.
    text_column, score_column
        The column of a table that has the texts, and the name of the new one.
    min_words, max_words
        Rows with fewer or more words are not scored, and so not kept.
    order
        The length of the n-grams of models that are trained.
    text_format
        How texts are read: by default as in the training of models that are given; a `TextFormat`, or a
        mapping with the settings that differ.
    seed
        That of the random sample.
    verify
        Verify the checksums of model files.
    progress
        Called with the fraction done and a message.

    Notes
    -----
    Words that are not in the vocabulary are ``<unk>`` for both models; if these were not trained with the
    same vocabulary, words that one of them does not know count in neither. Results do not depend on the
    number of threads, nor on the executor of `use_resources`, which gets one task per file.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> from stategram.selection import select
    >>> with tempfile.TemporaryDirectory() as place:
    ...     sea, land, pool = (pathlib.Path(place, name) for name in ("sea.txt", "land.txt", "pool.txt"))
    ...     _ = sea.write_text("the ship sails the sea\na ship at sea\nthe sea and a ship\n")
    ...     _ = land.write_text("the road is long\na horse and a cart\nthe cart is on the road\n")
    ...     _ = pool.write_text("a horse on the road\nthe ship at sea\nthe cart and the horse\n")
    ...     output = io.BytesIO()
    ...     selection = select(pool, sea, land, output=output, keep=1, scores=True)
    >>> output.getvalue()
    b'-2.1873183\tthe ship at sea\n'
    >>> selection.rows, selection.words, selection.kept_rows, selection.kept_words
    (3, 14, 1, 4)

    """
    if keep is not None and threshold is not None:
        raise UsageError("keep and threshold both say what is kept; give one of them")
    if keep is None and threshold is None and not scores:
        raise UsageError("nothing selects rows; pass keep, threshold or scores")
    if threshold is not None and math.isnan(threshold):
        raise UsageError("threshold is nan; it must be a number")
    if min_words < 1:
        raise UsageError(f"min_words is {min_words}; it must be at least 1")
    if max_words is not None and max_words < min_words:
        raise UsageError(f"max_words is {max_words}; it must be at least min_words, {min_words}")
    if by not in CRITERIA:
        raise UsageError(f"by is {by!r}; it must be one of {', '.join(CRITERIA)}")
    if by == "perplexity" and general is not None:
        raise UsageError("the perplexity is that of the in-domain model alone; leave the general text out")
    amount = None if keep is None else Keep.parse(keep)
    files = [
        PoolFile.of(name, format, column=text_column, new_column=score_column if scores else None)
        for name in file_names(pool)
    ]
    _check_files(files, in_domain, output, scores=scores)
    check_place(output)
    sampled = by == "difference" and general is None
    reads_twice = amount is not None or sampled or Resources.current().executor is not None
    with tempfile.TemporaryDirectory(prefix="stategram-select-", dir=Resources.current().tmp) as place:
        if reads_twice:
            files = [
                replace(file, path=_spooled(file.path, f"pool-{number}", Path(place)))
                for number, file in enumerate(files)
            ]
        if isinstance(in_domain, str | os.PathLike):
            in_domain = _spooled(os.fspath(in_domain), "in-domain", Path(place))
        if isinstance(general, str | os.PathLike):
            general = _spooled(os.fspath(general), "general", Path(place))
        preparation = Preparation(Path(place), files, text_format, text_column, order, seed, verify)
        try:
            criterion = preparation.criterion(
                in_domain, general, sampled=sampled, progress=subprogress(progress, 0.0, 0.1)
            )
            criterion = replace(criterion, min_words=min_words, max_words=max_words)
            return _write(
                _Pool(files, criterion, Path(place)), output, amount, threshold, scores, by, progress
            )
        finally:
            close_models()


def _check_files(files: Sequence[PoolFile], in_domain: object, output: Place, *, scores: bool) -> None:
    if not files:
        raise UsageError("no files to read; give at least one, or - for stdin")
    if isinstance(output, str | os.PathLike) and os.fspath(output) != "-":
        named = format_of_name(os.fspath(output))
        is_numbered_text = scores and (files[0].format, named) == ("text", "tsv")
        if named not in (None, files[0].format) and not is_numbered_text:
            raise UsageError(
                f"{output} is named as {named}, but rows are written as they are, {files[0].format}; choose "
                "another name"
            )
    for file in files:
        if file.format != files[0].format:
            raise UsageError(
                f"{files[0].name} is {files[0].format} and {file.name} is {file.format}; give files of one "
                "format"
            )
        if isinstance(in_domain, str | os.PathLike) and _is_same(file.path, os.fspath(in_domain)):
            raise UsageError(
                f"{file.name} is both pool and in-domain text; of the pool give what is not chosen yet"
            )


def _is_same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve() if one != "-" else one == other


def _spooled(path: str, use: str, place: Path) -> str:
    """Return a file that can be read again: stdin and pipes are copied to a temporary one."""
    if path != "-" and (is_url(path) or Path(path).is_file() or not Path(path).exists()):
        return path
    copied = place / f"{use}-{Path(path).name}"  # whose end may be that of a format
    with copied.open("wb") as copy:
        for block, _ in read_blocks(path):
            copy.write(block)
    return str(copied)


@dataclass(frozen=True)
class _Pool:
    """The files of a pool, and what scores their rows."""

    files: Sequence[PoolFile]
    criterion: Criterion
    place: Path

    def score(self, progress: Progress | None) -> list[ScoredFile]:
        """Score all files, each a task of its own."""
        tasks = [
            ScoreTask(file, self.criterion, str(self.place / f"scores-{number}"))
            for number, file in enumerate(self.files)
        ]
        return list(map_files(score_file, tasks, self.files, progress))

    def blocks(
        self, scored: Sequence[ScoredFile] | None, progress: Progress | None
    ) -> Iterator[tuple[RowBlock, RowScores]]:
        """Yield the rows of all files with their scores, which are computed now if they were not before."""
        total, done = sum(file.size for file in self.files) or 1, 0
        for number, file in enumerate(self.files):
            of_file = subprogress(progress, done / total, (done + file.size) / total)
            if scored is None:
                scorer = scorer_of(self.criterion)
                for block in file.read(of_file):
                    yield block, scorer.score(block)
            else:
                yield from _with_scores(file, scored[number], of_file)
            done += file.size


def score_file(task: ScoreTask, progress: Progress | None = None) -> ScoredFile:
    """Score the rows of a file."""
    scorer = scorer_of(task.criterion)
    rows = unknown = 0
    with atomic_open(task.path) as written:
        for block in task.file.read(progress, texts_only=True):
            found = scorer.score(block)
            data = np.zeros(len(block), _ROW)
            data["score"], data["words"] = found.scores, found.words
            written.write(data.tobytes())
            rows += len(block)
            unknown += found.unknown
    return ScoredFile(task.path, rows, unknown)


def _with_scores(
    file: PoolFile, scored: ScoredFile, progress: Progress | None
) -> Iterator[tuple[RowBlock, RowScores]]:
    changed = BadDataError(f"{file.name}: it has changed while it was read; run the command again")
    unknown, rows = scored.unknown, 0
    with shared_file(scored.path).open("rb") as source:
        for block in file.read(progress):
            data = np.fromfile(source, _ROW, len(block))
            if len(data) != len(block):
                raise changed
            rows += len(block)
            yield block, RowScores(data["score"].copy(), data["words"].copy(), unknown)
            unknown = 0  # all of the file were with its first block
    if rows != scored.rows:
        raise changed


def _write(
    pool: _Pool,
    output: Place,
    keep: Keep | None,
    threshold: float | None,
    scores: bool,
    by: By,
    progress: Progress | None,
) -> Selection:
    scored: list[ScoredFile] | None = None
    begin = 0.1
    if keep is not None or Resources.current().executor is not None:
        scored, begin = pool.score(subprogress(progress, begin, 0.8)), 0.8
    cut = None if threshold is None else Cut(threshold)
    if keep is not None and scored is not None:
        cut = find_cut(lambda: _pieces(scored), keep) or Cut(-np.inf, 0)
    rows = words = unknown = kept_rows = kept_words = 0
    highest = np.float32(-np.inf)
    with RowWriter(output) as writer:
        for block, found in pool.blocks(scored, subprogress(progress, begin, 1.0)):
            rows += len(block)
            words += int(found.words.sum())
            unknown += found.unknown
            chosen = np.ones(len(block), np.bool_) if cut is None else cut.chosen(found.scores, found.words)
            kept_rows += int(np.count_nonzero(chosen))
            kept_words += int(found.words[chosen].sum())
            highest = found.scores[chosen].max(initial=highest)
            writer.write(block.take(chosen), found.scores[chosen] if scores else None)
        _check_words(pool.files, words, unknown)
    if not kept_rows:
        _log.warning("no row of the pool is kept")
    if keep is not None and kept_rows:
        threshold = float(str(highest))  # the fewest digits from which the same float32 is read
    return Selection(by, rows, words, unknown, kept_rows, kept_words, threshold)


def _pieces(scored: Iterable[ScoredFile]) -> Iterator[Scored]:
    for file in scored:
        yield from file.pieces()


def _check_words(files: Sequence[PoolFile], words: int, unknown: int) -> None:
    if not words:
        raise no_words(files)
    advice = (
        "check that pool and models have the same language, case (--lowercase) and tokenization (--tokenize)"
    )
    if unknown == words:
        raise BadDataError(
            f"{pool_name(files)}: all of its {plural(words, 'word')} are unknown to the models; {advice}"
        )
    if unknown > _MANY_UNKNOWN * words:
        _log.warning("%s of %s are unknown to the models; %s", f"{unknown:,}", plural(words, "word"), advice)
