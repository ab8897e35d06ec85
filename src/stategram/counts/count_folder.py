"""Counts of a text that are kept: a folder, or a place at a URL, from which models are trained.

It holds, written last, `manifest.json` with the SHA-256 of every other file: the vocabulary, the word counts,
the n-grams of each range of first words as a run, and the text in ids, shard by shard. All are named by their
content. While it is written, shards and runs that are finished are there too: the same command continues.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from stategram import _core
from stategram.counts.ngrams import MAX_ORDER, require_order
from stategram.counts.ranges import positions_by_number
from stategram.counts.runs import (
    MergeTask,
    count_runs,
    in_threads,
    levels_of_runs,
    merge_tasks,
    numbers_of,
)
from stategram.counts.sharded_text import (
    RunPart,
    Runs,
    Shard,
    ShardedText,
    Shards,
    read_shard,
    reading_key,
    shard_text,
)
from stategram.entries import Entries, Natural
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.storage import (
    MANIFEST,
    Blobs,
    InputFile,
    content_key,
    hold,
    input_file,
    is_url,
    manifest_bytes,
    parse_manifest,
)
from stategram.text import (
    END,
    SHARD_SIZE,
    EncodingErrors,
    EncodingOptions,
    ReadStats,
    Source,
    Split,
    TokenizeForm,
    Vocabulary,
    file_names,
    normalization_of_text,
    text_settings,
)
from stategram.wording import plural

KIND = "counts"
# Names of blobs that only serve to continue, and of all that are made here.
_WORK = re.compile(r"[0-9a-f]{32}(-\d+)?\.(part|shard|run)|[0-9a-f]{16}-[0-9a-f]{32}-\d+\.shard\.ids")
_OURS = re.compile(rf"{_WORK.pattern}|[0-9a-f]{{32}}\.(text|ngrams|vocabulary|counts)")


class _Input(Entries, frozen=True):
    use: str
    name: str
    bytes: Natural | None
    sha256: str | None


class _Manifest(Entries, frozen=True):
    files: dict[str, str]
    vocabulary: str
    word_counts: str
    job: str
    runs: Runs
    shards: list[Shard]
    report: ReadStats
    recipe: dict[str, Any]
    inputs: list[_Input]


@dataclass(frozen=True, eq=False, repr=False)
class CountedText(ShardedText):
    r"""A text and its n-gram counts, as `count_text` keeps them.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stategram import NgramModel, WordClasses, count_text
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place, "text.txt")
    ...     _ = file.write_text("the cat sat\nthe dog sat\n")
    ...     counted = count_text(file, f"{place}/counts", order=3)
    ...     model = NgramModel.train(counted, order=3)
    ...     classes = WordClasses(n_classes=2).fit(counted)
    >>> counted.order, counted.n_events, model.order
    (3, 8, 3)

    """

    recipe: Mapping[str, Any] = field(default_factory=dict)
    """How the text was read, as manifests of models have it."""
    inputs: Sequence[InputFile] = ()
    """The files that were counted."""
    job: str = ""
    """The `job_key` that they were made with."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file of the counts but the manifest."""

    @property
    def order(self) -> int:
        """The number of words of the longest n-grams."""
        assert self.runs is not None
        return self.runs.order


def count_text(
    source: Source,
    place: str,
    order: int = 5,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    min_count: int = 1,
    lowercase: bool = False,
    digits: str | None = None,
    split: Split | None = None,
    tokenize: TokenizeForm | None = None,
    encoding_errors: EncodingErrors = "strict",
    document_mark: str | None = None,
    shard_size: int = SHARD_SIZE,
    progress: Progress | None = None,
) -> CountedText:
    """Count the n-grams of a text of any size, and keep the counts.

    The text is read in shards; the memory that it takes depends on their size. If the call is interrupted,
    the same call continues with the shards that are not finished. Complete counts of the same files and
    options are opened.

    Parameters
    ----------
    source
        A file, or several, as in `read_corpus`; also URLs.
    place
        Where the counts are kept: a folder, or a URL that fsspec can write to.
    order
        The number of words of the longest n-grams, 1 to 9.
    vocabulary, vocabulary_size, min_count, lowercase, digits, split, tokenize, encoding_errors, document_mark
        How the text is read; see `read_corpus`.
    shard_size
        The bytes of text in a shard. The counts do not depend on it.
    progress
        Called with the fraction of the work that is done, and a message.

    """
    names = file_names(source)
    if not names:
        raise UsageError("no files to read; give at least one, or - for stdin")
    require_order(order)
    normalization = normalization_of_text(lowercase, digits, split, tokenize, vocabulary)
    options = EncodingOptions(vocabulary, vocabulary_size, min_count, normalization, encoding_errors)
    recipe = text_settings(
        normalization,
        vocabulary_size=vocabulary_size,
        vocabulary_file=None,
        encoding_errors=encoding_errors,
        document_mark=document_mark,
    )
    reading: dict[str, Any] = {"document_mark": document_mark, "shard_size": shard_size}
    job = job_key(names, options, order, **reading)
    if is_counts(place) and (found := open_counts(place)).job == job:
        return found
    with place_of_counts(place) as blobs:
        text = shard_text(
            names,
            options,
            blobs,
            **reading,
            progress=subprogress(progress, 0.0, 0.3),
        )
        uses = [("training", name) for name in names]
        return keep_counts(text, blobs, order, job, recipe, uses, progress=subprogress(progress, 0.3, 1.0))


def job_key(names: Sequence[str], options: EncodingOptions, order: int, **reading: Any) -> str:
    """Return what differs for counts of other files, of another order or read in another way."""
    return content_key(reading_key(names, options, **reading), order)


@contextmanager
def place_of_counts(place: str, *, replaces: bool = False) -> Iterator[Blobs]:
    """Hold a place where counts are made; refuse one with other files, or, unless `replaces`, with counts.

    Counts that are replaced stay until the new ones are complete.
    """
    blobs = Blobs(place)
    for name in blobs.names():
        if name == MANIFEST:
            if not is_counts(place):
                raise StategramError(f"{blobs.shown(name)} is not of counts; choose another place")
            if not replaces:
                raise StategramError(
                    f"there are counts in {place} already; choose another place, or replace them (--force)"
                )
        elif not _OURS.fullmatch(name):
            raise StategramError(
                f"{blobs.shown(name)} is not a file of stategram count; choose an empty place"
            )
    if is_url(place):
        yield blobs
        return
    try:
        Path(place).mkdir(parents=True, exist_ok=True)
        held = hold(Path(place))
    except BlockingIOError as error:
        raise StategramError(
            f"another process is counting in {place}; wait until it ends, or choose another place"
        ) from error
    except OSError as error:
        raise StategramError(f"cannot write to {place}: {error.strerror or error}") from error
    try:
        yield blobs
    finally:
        if held is not None:
            os.close(held)


def keep_counts(
    text: ShardedText,
    blobs: Blobs,
    order: int,
    job: str,
    recipe: Mapping[str, Any],
    uses: Sequence[tuple[str, str]],
    *,
    progress: Progress | None = None,
) -> CountedText:
    """Count a text whose shards are in `blobs`, and keep the counts there.

    `job` is the `job_key`, `recipe` how the text was read, and `uses` are the inputs by their use.
    """
    require_order(order)
    runs = count_runs(text, order, subprogress(progress, 0.0, 0.5))
    files: dict[str, str] = {}
    tasks = merge_tasks(runs, blobs)
    merged = []
    resources = Resources.current()
    merging = in_threads(_merge, tasks) if resources.executor is None else resources.map(_merge, tasks)
    for task, (size, sha256) in zip(tasks, merging, strict=True):
        files[task.name] = sha256
        merged.append([RunPart(task.name, 0, size)])
        if progress:
            fraction = 0.5 + 0.35 * len(merged) / len(tasks)
            progress(fraction, f"{len(merged):,} of {plural(len(tasks), 'range')} of first words merged")
    shards = []
    packing = [_TextTask(shard, len(text.vocabulary), blobs) for shard in text.shards]
    for shard, sha256 in resources.map(_keep_text, packing):
        shards.append(shard)
        files[shard.name] = sha256
    if progress:
        progress(0.9, "checksums of the inputs")
    inputs = list(resources.map(input_file, uses))
    texts = {"vocabulary": text.vocabulary.to_bytes(), "counts": text.word_counts.astype("<i8").tobytes()}
    names = {kind: f"{content_key(data)[:32]}.{kind}" for kind, data in texts.items()}
    for kind, name in names.items():
        blobs.write(name, texts[kind])
        files[name] = hashlib.sha256(texts[kind]).hexdigest()
    runs = Runs(order, runs.n_words, runs.bounds, merged)
    manifest = {
        "vocabulary": names["vocabulary"],
        "word_counts": names["counts"],
        "job": job,
        "runs": msgspec.to_builtins(runs),
        "shards": msgspec.to_builtins(shards),
        "report": asdict(text.stats),
        "recipe": dict(recipe),
        "inputs": [asdict(one) for one in inputs],
        "figures": {
            "order": order,
            "events": text.n_events,
            "sentences": text.n_sentences,
            "unknown": text.n_unknown,
        },
    }
    blobs.write(MANIFEST, manifest_bytes(manifest, KIND, files))
    for name in blobs.names():
        if name not in files and _OURS.fullmatch(name):
            blobs.remove(name)
    checked = _CheckedBlobs(blobs, files)
    return CountedText(
        text.vocabulary,
        text.word_counts,
        text.stats,
        tuple(shards),
        checked,
        runs,
        recipe,
        inputs,
        job,
        files,
    )


def is_counts(place: str) -> bool:
    """Return whether a place holds counts that are complete."""
    try:
        return Blobs(place).has(MANIFEST) and _read_manifest(Blobs(place)).get("kind") == KIND
    except BadDataError:
        return False


def open_counts(place: str) -> CountedText:
    r"""Open counts that `count_text` keeps. What is read of them is compared with the manifest.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stategram import count_text
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place, "text.txt")
    ...     _ = file.write_text("the cat sat\nthe dog sat\n")
    ...     _ = count_text(file, f"{place}/counts", order=2)
    ...     open_counts(f"{place}/counts")
    CountedText(8 events, 1 shard, Vocabulary(7 words))

    """
    blobs = Blobs(place)
    if not blobs.has(MANIFEST):
        begun = any(map(_WORK.fullmatch, blobs.names()))
        raise StategramError(
            f"{place}: the counts are not complete; run the same stategram count again, which continues"
            if begun
            else f"{place}: there are no counts; make them with stategram count"
        )
    manifest = _read_manifest(blobs)
    if manifest.get("kind") != KIND:
        raise BadDataError(
            f"{place}: it holds a {manifest.get('kind')}, not counts; make them with stategram count"
        )
    try:
        found = msgspec.convert(manifest, _Manifest)
        checked = _CheckedBlobs(blobs, found.files)
        vocabulary = Vocabulary.from_bytes(checked.read(found.vocabulary))
        word_counts = np.frombuffer(checked.read(found.word_counts), "<i8").astype(np.int64)
        _check(found, vocabulary, word_counts)
    except BadDataError:
        raise
    except ValueError as error:
        raise BadDataError(f"{place}: not counts ({error}); count again") from error
    inputs = [InputFile(one.use, one.name, one.bytes, one.sha256) for one in found.inputs]
    return CountedText(
        vocabulary,
        word_counts,
        found.report,
        tuple(found.shards),
        checked,
        found.runs,
        found.recipe,
        inputs,
        found.job,
        found.files,
    )


def check_counts(text: CountedText, progress: Progress | None = None) -> None:
    """Read all n-grams and the whole text; BadDataError unless they are of the same words."""
    assert text.runs is not None
    numbers, blobs = numbers_of(len(text.vocabulary)), text.blobs
    expected = positions_by_number(text.word_counts, text.n_sentences, numbers)
    counted = np.zeros(len(numbers), np.int64)
    for (first, last), levels in levels_of_runs(text.runs, blobs, 1):
        counted[first:last] = levels[0][1]
        if progress:
            progress(0.7 * last / len(numbers), "n-grams")
    if not np.array_equal(counted, expected):
        raise BadDataError("the n-grams are not those of the word counts; count again")
    of_text = np.zeros(len(numbers), np.int64)
    for number, piece in enumerate(text.pieces(), 1):
        of_text += piece.word_counts
        if progress:
            progress(0.7 + 0.3 * number / len(text.shards), "the text")
    if not np.array_equal(of_text, text.word_counts):
        raise BadDataError("the text is not that of the word counts; count again")


def _check(found: _Manifest, vocabulary: Vocabulary, word_counts: Any) -> None:
    runs = found.runs
    if runs.n_words != len(vocabulary) or len(word_counts) != len(vocabulary) or (word_counts < 0).any():
        raise ValueError("its vocabulary and its counts do not fit together")
    rising = all(first < last for first, last in runs.ranges)
    if (
        not 1 <= runs.order <= MAX_ORDER
        or not rising
        or [*runs.bounds[:1], *runs.bounds[-1:]] != [0, runs.n_words]
    ):
        raise ValueError("its ranges of first words are inconsistent")
    if len(runs.parts) != len(runs.ranges) or any(len(parts) != 1 for parts in runs.parts):
        raise ValueError("its ranges of first words have no n-grams")
    named = [shard.name for shard in found.shards] + [part.name for (part,) in runs.parts]
    if not set(named) <= set(found.files) or any(shard.words_size or shard.ids for shard in found.shards):
        raise ValueError("its manifest names files that it does not list")


def _read_manifest(blobs: Blobs) -> dict[str, Any]:
    return parse_manifest(blobs.read(MANIFEST), blobs.shown(MANIFEST))


def _merge(task: MergeTask) -> tuple[int, str]:
    """Merge the runs of a range; return the size of the merged one, and its SHA-256."""
    if task.blobs.has(task.name):
        data = task.blobs.read(task.name)
    else:
        numbers, runs = numbers_of(task.n_words), task.read()
        try:
            run = _core.merge_runs(runs, numbers, END, task.order, task.first, task.last)
        except ValueError as error:
            raise BadDataError(f"{task.shown()}: {error}; remove it, and count again") from error
        data = run.tobytes()
        task.blobs.write(task.name, data)
    return len(data), hashlib.sha256(data).hexdigest()


@dataclass(frozen=True)
class _TextTask:
    shard: Shard
    n_words: int
    blobs: Shards

    def __str__(self) -> str:
        return f"the text of shard {self.shard.name}"


def _keep_text(task: _TextTask) -> tuple[Shard, str]:
    """Write the text of a shard in ids of the vocabulary; return the shard that it is then, its SHA-256."""
    name = content_key("text", task.shard.name, task.shard.ids)[:32] + ".text"
    if task.blobs.has(name):
        data = task.blobs.read(name)
    else:
        data = _core.pack_text(*read_shard(task.blobs, task.shard, task.n_words)).tobytes()
        task.blobs.write(name, data)
    kept = Shard(name, len(data), task.shard.n_events, task.shard.n_sentences)
    return kept, hashlib.sha256(data).hexdigest()


class _CheckedBlobs:
    """Blobs that are compared with their SHA-256 when they are first read."""

    def __init__(self, blobs: Blobs, files: Mapping[str, str]) -> None:
        self._blobs = blobs
        self._files = files
        self._checked: set[str] = set()

    def has(self, name: str) -> bool:
        return self._blobs.has(name)

    def read(self, name: str, begin: int = 0, end: int | None = None) -> bytes:
        if name in self._checked:
            return self._blobs.read(name, begin, end)
        data = self._blobs.read(name)
        if hashlib.sha256(data).hexdigest() != self._files.get(name):
            raise BadDataError(f"{self.shown(name)}: damaged, its checksum does not fit; count again")
        self._checked.add(name)
        return data[begin:end]

    def write(self, name: str, data: Any) -> None:
        raise StategramError(f"cannot write {self.shown(name)}: the counts are complete")

    def size(self, name: str) -> int:
        return self._blobs.size(name)

    def shown(self, name: str) -> str:
        return self._blobs.shown(name)
