"""Counting a text of any size: shards, their runs, what they are merged to, and the folder that keeps it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from stategram import _core
from stategram.counts.blobs import AnyBlobs, Blobs
from stategram.counts.count_folder import (
    KIND,
    MANIFEST,
    OURS,
    CountedText,
    is_counts,
    open_counts,
)
from stategram.counts.ranges import RunPart, Runs, require_order
from stategram.counts.runs import MergeTask, count_runs, in_threads, merge_tasks, numbers_of
from stategram.counts.sharded_text import (
    Reading,
    Shard,
    ShardedText,
    read_shard,
    shard_text,
)
from stategram.counts.shards import SHARD_SIZE
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.progress import Progress, report_each, subprogress
from stategram.resources import Resources
from stategram.storage import content_key, hold, input_file, is_url, manifest_bytes
from stategram.text import (
    END,
    FormatOverride,
    Source,
    TextFormat,
    Vocabulary,
    WordChoice,
    file_names,
)


def count_text(
    source: Source,
    place: str | os.PathLike[str],
    order: int = 5,
    *,
    text_format: FormatOverride = None,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    min_count: int = 1,
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
        The maximum n-gram order, 1 to 9.
    text_format, vocabulary, vocabulary_size, min_count
        How the text is read, and which words are known; see `read_corpus`.
    shard_size
        The bytes of text in a shard. The counts do not depend on it.
    progress
        Called with the fraction of the work that is done, and a message.

    """
    names = file_names(source)
    if not names:
        raise UsageError("no files to read; give at least one, or - for stdin")
    words = WordChoice(vocabulary, vocabulary_size, min_count)
    how = TextFormat.of_words(vocabulary).override(text_format)
    counting = Counting(Reading(names, how, words, shard_size), order)
    if (found := counting.finished(os.fspath(place))) is not None:
        return found
    with place_of_counts(os.fspath(place)) as blobs:
        text = shard_text(counting.reading, blobs, subprogress(progress, 0.0, 0.3))
        return counting.count(text, blobs, subprogress(progress, 0.3, 1.0))


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
        elif not OURS.fullmatch(name):
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


@dataclass(frozen=True)
class Counting:
    """What is counted of which files.

    Parameters
    ----------
    reading
        The files, and how they are read.
    order
        The maximum n-gram order.
    vocabulary_file
        The file of its vocabulary, if it was given as one.

    """

    reading: Reading
    order: int
    vocabulary_file: str | None = None

    def __post_init__(self) -> None:
        require_order(self.order)

    @cached_property
    def job(self) -> str:
        """What differs for counts of other files, of another order or read in another way."""
        return content_key(self.reading.key, self.order)

    def finished(self, place: str) -> CountedText | None:
        """Return the complete counts of a place, if they are these; otherwise None."""
        found = open_counts(place) if is_counts(place) else None
        return found if found is not None and found.job == self.job else None

    def count(self, text: ShardedText, blobs: Blobs, progress: Progress | None = None) -> CountedText:
        """Count the text, whose shards are in `blobs`, and keep the counts there."""
        reading = self.reading
        runs = count_runs(text, self.order, subprogress(progress, 0.0, 0.5))
        files: dict[str, str] = {}
        tasks = merge_tasks(runs, blobs)
        merged = []
        resources = Resources.current()
        merging = in_threads(_merge, tasks) if resources.executor is None else resources.map(_merge, tasks)
        shown = report_each(
            merging, len(tasks), "ranges of first words merged", subprogress(progress, 0.5, 0.85)
        )
        for task, (size, sha256) in zip(tasks, shown, strict=True):
            files[task.name] = sha256
            merged.append([RunPart(task.name, 0, size)])
        shards = []
        packing = [_TextTask(shard, len(text.vocabulary), blobs) for shard in text.shards]
        for shard, sha256 in resources.map(_keep_text, packing):
            shards.append(shard)
            files[shard.name] = sha256
        if progress:
            progress(0.9, "checksums of the inputs")
        uses = [("training", name) for name in reading.names]
        uses += [("vocabulary", self.vocabulary_file)] if self.vocabulary_file else []
        inputs = list(resources.map(input_file, uses))
        texts = {"vocabulary": text.vocabulary.to_bytes(), "counts": text.word_counts.astype("<i8").tobytes()}
        names = {kind: f"{content_key(data)[:32]}.{kind}" for kind, data in texts.items()}
        for kind, name in names.items():
            blobs.write(name, texts[kind])
            files[name] = hashlib.sha256(texts[kind]).hexdigest()
        runs = Runs(self.order, runs.n_words, runs.bounds, merged)
        manifest = {
            "vocabulary": names["vocabulary"],
            "word_counts": names["counts"],
            "job": self.job,
            "runs": msgspec.to_builtins(runs),
            "shards": msgspec.to_builtins(shards),
            "report": asdict(text.stats),
            "text_format": msgspec.to_builtins(reading.text_format),
            "vocabulary_size": reading.words.vocabulary_size,
            "vocabulary_file": self.vocabulary_file,
            "inputs": [asdict(one) for one in inputs],
            "figures": {
                "order": self.order,
                "events": text.n_events,
                "sentences": text.n_sentences,
                "unknown": text.n_unknown,
            },
        }
        blobs.write(MANIFEST, manifest_bytes(manifest, KIND, files, listed="files"))
        for name in blobs.names():
            if name not in files and OURS.fullmatch(name):
                blobs.remove(name)
        return open_counts(blobs.place)


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
    blobs: AnyBlobs

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
