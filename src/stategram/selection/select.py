"""Rows of a pool that are like a text: scored, chosen, and copied as they are."""

from __future__ import annotations

import logging
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.models import Model
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.selection.models import prepare_models
from stategram.selection.pool import SCORE, PoolFile, PoolWriter, each_file, no_words, pool_name
from stategram.selection.row_scores import (
    ROW,
    RowScorer,
    Scored,
    ScoredFile,
    find_limit,
    keys_of,
    pieces_of,
    score_files,
)
from stategram.storage import Place, check_place, is_url
from stategram.text import (
    TEXT_COLUMN,
    FormatOverride,
    RowBlock,
    Source,
    TextFormat,
    file_names,
    format_of_name,
    read_blocks,
)

_log = logging.getLogger(__name__)

By = Literal["difference", "perplexity"]
CRITERIA: tuple[By, ...] = get_args(By)

_MANY_UNKNOWN = 0.5
_KEEP = re.compile(r"(\d+(?:\.\d+)?) ?(%|rows|words)?")


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
    min_words: int = 1,
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
        domain. Trigram models are trained on texts with the same vocabulary, the words that are at least
        twice in the text of the domain; beside a model that is given, with the vocabulary of that.
    output
        The file to write, of the format of the pool; a path, ``-`` for stdout, or a binary stream. A path
        that ends in ``.gz``, ``.xz``, ``.bz2`` or ``.zst`` is compressed.
    keep
        How much to keep: ``"10%"`` of the words of the pool, ``50000`` rows, or ``"2000000 words"``: the best
        rows, as many as fit, those with the same score together.
    threshold
        Instead: keep the rows with a score of at most this.
    scores
        Add the score to each row that is kept: a column ``score``, or in front of a line of text and a tab.
        Without `keep` and `threshold`, all rows are written.
    by
        ``"difference"``, or ``"perplexity"`` of the in-domain model alone.
    format
        ``"text"``, ``"jsonl"`` or ``"parquet"``; by default as the files are named, and text otherwise.
    min_words
        Rows with fewer words have no score, and so are not kept: scores of short rows are extreme.
    text_format
        How texts are read: by default as in the training of models that are given; a `TextFormat`, or a
        mapping with the settings that differ, such as the column of a table, ``{"text_column": "body"}``.
    seed
        The seed of the random sample.
    verify
        Verify the checksums of model files.
    progress
        Called with the fraction done and a message.

    Notes
    -----
    Words that are not in the vocabulary are ``<unk>`` for both models; if these were not trained with the
    same vocabulary, words that one of them does not know count in neither. The pool is read twice, and 8
    bytes per row wait in a temporary file, so that memory does not grow with the pool. Results do not depend
    on the number of threads.

    Examples
    --------
    >>> import io, pathlib, tempfile
    >>> from stategram.selection import select
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sea, land, pool = (pathlib.Path(folder, name) for name in ("sea.txt", "land.txt", "pool.txt"))
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
    _check_options(keep, threshold, scores, by, general)
    if min_words < 1:
        raise UsageError(f"min_words is {min_words}; it must be at least 1")
    column = TextFormat().override(text_format).text_column or TEXT_COLUMN
    if scores and column == SCORE:
        raise UsageError(f"the column {SCORE!r} has the texts; rename it, or select without scores")
    amount, unit = (0.0, "") if keep is None else parse_keep(keep)
    files = [PoolFile.of(name, format, column=column, scored=scores) for name in file_names(pool)]
    _check_files(files, in_domain, output, scores=scores)
    check_place(output)
    with tempfile.TemporaryDirectory(prefix="stategram-select-", dir=Resources.current().tmp) as place:
        folder = Path(place)
        files = [replace(file, path=_spooled(file.path, f"pool-{i}", folder)) for i, file in enumerate(files)]
        sources = {"in-domain": in_domain, "general": general}
        if by == "perplexity":
            del sources["general"]
        for name, source in sources.items():
            if isinstance(source, str | os.PathLike):
                sources[name] = _spooled(os.fspath(source), name, folder)
        models, how = prepare_models(
            sources,
            files,
            folder,
            text_format=text_format,
            seed=seed,
            verify=verify,
            progress=subprogress(progress, 0.0, 0.1),
        )
        scores_file, scorer = folder / "scores", RowScorer(models, how, min_words)
        found = score_files(files, scorer, scores_file, subprogress(progress, 0.1, 0.8))
        n_rows, words, unknown = (
            sum(column) for column in zip(*((one.rows, one.words, one.unknown) for one in found), strict=True)
        )
        _check_words(files, words, unknown)
        limit = None
        if threshold is not None:
            with np.errstate(over="ignore"):
                limit = 1 + int(keys_of(np.array([threshold], np.float32))[0])
        if keep is not None:
            amount = amount if unit != "%" else int(amount * words / 100)
            limit = find_limit(lambda: pieces_of(scores_file), amount, by_words=unit != "rows")
        kept_rows, kept_words, highest = 0, 0, np.float32(-np.inf)
        with PoolWriter(output) as writer:
            for block, scored in _with_scores(found, scores_file, subprogress(progress, 0.8, 1.0)):
                chosen = np.ones(len(scored), np.bool_)
                if limit is not None:
                    chosen = ~np.isnan(scored["score"]) & (keys_of(scored["score"]) < limit)
                writer.write(block, chosen, scored["score"].copy() if scores else None)
                kept_rows += int(np.count_nonzero(chosen))
                kept_words += int(scored["words"][chosen].sum())
                highest = scored["score"][chosen].max(initial=highest)
    if not kept_rows:
        _log.warning("no row of the pool is kept")
    if keep is not None and kept_rows:
        threshold = float(str(highest))  # the fewest digits from which the same float32 is read
    return Selection(by, n_rows, words, unknown, kept_rows, kept_words, threshold)


def _check_options(keep: object, threshold: float | None, scores: bool, by: str, general: object) -> None:
    if keep is not None and threshold is not None:
        raise UsageError("keep and threshold (--keep, --threshold) both choose the rows; give one of them")
    if keep is None and threshold is None and not scores:
        raise UsageError(
            "choose rows by keep (--keep) or threshold (--threshold); or write all rows with their scores by "
            "scores (--scores)"
        )
    if threshold is not None and math.isnan(threshold):
        raise UsageError("threshold is nan; it must be a number")
    if by not in CRITERIA:
        raise UsageError(f"by is {by!r}; it must be one of {', '.join(CRITERIA)}")
    if by == "perplexity" and general is not None:
        raise UsageError("the perplexity is that of the in-domain model alone; leave the general text out")


def _check_files(files: Sequence[PoolFile], in_domain: object, output: Place, *, scores: bool) -> None:
    if not files:
        raise UsageError("no files to read; give at least one, or - for stdin")
    if isinstance(output, str | os.PathLike) and os.fspath(output) != "-":
        named = format_of_name(os.fspath(output))
        is_scored_text = scores and (files[0].format, named) == ("text", "tsv")
        if named not in (None, files[0].format) and not is_scored_text:
            raise UsageError(
                f"{output} is named as {named}, but rows are written as they are, {files[0].format}; choose "
                "another name"
            )
    for file in files:
        if file.format != files[0].format:
            raise UsageError(
                f"{files[0].name} is {files[0].format} and {file.name} is {file.format}; all files must have "
                "one format"
            )
        if isinstance(in_domain, str | os.PathLike) and _is_same(file.path, os.fspath(in_domain)):
            raise UsageError(f"{file.name} is both pool and in-domain text; leave it out of the pool")


def _is_same(one: str, other: str) -> bool:
    return Path(one).resolve() == Path(other).resolve() if one != "-" else one == other


def _spooled(path: str, use: str, folder: Path) -> str:
    """Return a file that can be read again: stdin and pipes are copied to a temporary one."""
    if path != "-" and (is_url(path) or Path(path).is_file() or not Path(path).exists()):
        return path
    copied = folder / f"{use}-{Path(path).name}"  # whose end may be that of a format
    with copied.open("wb") as copy:
        for block, _ in read_blocks(path):
            copy.write(block)
    return str(copied)


def _with_scores(
    files: Sequence[ScoredFile], scores: Path, progress: Progress | None
) -> Iterator[tuple[RowBlock, Scored]]:
    """Yield the rows of all files with their scores."""
    with scores.open("rb") as source:
        for one, (file, of_file) in zip(files, each_file([one.file for one in files], progress), strict=True):
            left = one.rows
            for block in file.read(of_file):
                left -= len(block.texts)
                if left < 0:
                    break
                yield block, np.fromfile(source, ROW, len(block.texts))
            if left:
                raise BadDataError(f"{file.name}: it has changed while it was read; run the command again")


def parse_keep(keep: str | int) -> tuple[float, str]:
    """Return an amount and its unit: ``10%`` of the words, ``50000`` rows, ``2000000 words``.

    >>> parse_keep("10%"), parse_keep(50000), parse_keep("2000000 words")
    ((10.0, '%'), (50000.0, 'rows'), (2000000.0, 'words'))
    """
    match = _KEEP.fullmatch(str(keep).strip())
    amount, unit = (float(match[1]), match[2] or "rows") if match else (0.0, "")
    if not amount or (amount > 100 if unit == "%" else amount % 1):
        raise UsageError(
            f"keep is {keep!r}; expected a part of the words such as 10%, rows such as 50000, or words such "
            "as '2000000 words'"
        )
    return amount, unit


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
