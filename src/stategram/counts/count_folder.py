"""Counts of a text that are kept: a folder, or a place at a URL, from which models are trained.

It holds, written last, `manifest.json` with the SHA-256 of every other file: the vocabulary, the word counts,
the n-grams of each range of first words as a run, and the text in ids, shard by shard. All are named by their
content, and end with their SHA-256. While it is written, shards and runs that are finished are there too: the
same command continues.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec
import numpy as np

from stategram import _core
from stategram.counts.blobs import RUNNING, Blobs, full_name
from stategram.counts.ngrams import count_ngrams
from stategram.counts.ranges import MAX_ORDER, RunPart, Runs, require_order
from stategram.counts.runs import MergeTask, count_runs, in_threads, merge_tasks, numbers_of
from stategram.counts.sharded_text import Reading, Shard, ShardedText, read_shard, shard_text
from stategram.counts.shards import SHARD_SIZE
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.progress import Progress, report_each, subprogress
from stategram.resources import Resources
from stategram.storage import (
    Entries,
    InputFile,
    Natural,
    content_key,
    input_file,
    manifest_bytes,
    parse_manifest,
    shown_url,
)
from stategram.text import (
    END,
    FormatOverride,
    ReadStats,
    Source,
    TextFormat,
    Vocabulary,
    WordChoice,
    file_names,
)

KIND = "counts"
MANIFEST = "manifest.json"
# Names of blobs that only serve to continue, and of all that are made here.
_WORK = re.compile(r"[0-9a-f]{32}(-\d+)?\.(part|shard|run)|[0-9a-f]{16}-[0-9a-f]{32}-\d+\.shard\.ids")
_TEMPORARY = r"\.[0-9a-f]{16}\.partial"
OURS = re.compile(
    rf"({_WORK.pattern}|[0-9a-f]{{32}}\.(text|ngrams|vocabulary|counts))({_TEMPORARY})?|{MANIFEST}{_TEMPORARY}"
)


class CountManifest(Entries, frozen=True):
    """How a text was counted, and the files of its counts."""

    files: dict[str, str]
    """The SHA-256 of each file of the counts but the manifest, which is also at its end."""
    vocabulary: str
    word_counts: str
    job: str
    """The `Counting.job` that they were made with."""
    runs: Runs
    shards: list[Shard]
    report: ReadStats
    text_format: TextFormat
    vocabulary_size: Natural | None
    vocabulary_file: str | None
    """How its words were chosen, as far as it was by their number, or by a file."""
    inputs: list[InputFile]
    """The files that were counted."""


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

    manifest: CountManifest = field(kw_only=True)
    """How it was counted."""

    @property
    def order(self) -> int:
        """The maximum n-gram order."""
        assert self.runs is not None
        return self.runs.order


def is_counts(place: str) -> bool:
    """Return whether a place holds counts that are complete."""
    try:
        return Blobs(place).has(MANIFEST) and _read_manifest(Blobs(place)).get("kind") == KIND
    except BadDataError:
        return False


def open_counts(place: str | os.PathLike[str]) -> CountedText:
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
    place = shown_url(os.fspath(place))
    if not blobs.has(MANIFEST):
        begun = any(map(_WORK.fullmatch, blobs.sizes()))
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
        found = msgspec.convert(manifest, CountManifest)
        checked = Blobs(blobs.place, files=found.files)
        vocabulary = Vocabulary.from_bytes(bytes(checked.read(found.vocabulary)))
        word_counts = np.frombuffer(checked.read(found.word_counts), "<i8").astype(np.int64)
        _check(found, vocabulary, word_counts)
    except BadDataError:
        raise
    except ValueError as error:
        raise BadDataError(f"{place}: not counts ({error}); count again with --force") from error
    return CountedText(
        vocabulary,
        word_counts,
        found.report,
        tuple(found.shards),
        checked,
        found.runs,
        manifest=found,
    )


def check_counts(text: CountedText, progress: Progress | None = None) -> None:
    """Read all n-grams, as a training does, and the whole text; BadDataError unless they fit together."""
    count_ngrams(text, text.order, progress=subprogress(progress, 0.0, 0.7))
    of_text = np.zeros(len(text.vocabulary), np.int64)
    for number, piece in enumerate(text.pieces(), 1):
        of_text += piece.word_counts
        if progress:
            progress(0.7 + 0.3 * number / len(text.shards), "the text")
    if not np.array_equal(of_text, text.word_counts):
        raise BadDataError("the text is not that of the word counts; count again with --force")


def _check(found: CountManifest, vocabulary: Vocabulary, word_counts: Any) -> None:
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
    return parse_manifest(blobs.get(MANIFEST), blobs.shown(MANIFEST), listed="files")


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
    return counting.run(os.fspath(place), progress=progress)


def place_of_counts(place: str, *, replaces: bool = False) -> Blobs:
    """Return a place where counts are made; refuse one with other files, or, unless `replaces`, with counts.

    Counts that are replaced stay until the new ones are complete; nothing of them is used.
    """
    blobs = Blobs(place, anew=replaces)
    names = blobs.sizes().keys()
    for name in names:
        if name == MANIFEST:
            is_sound = is_counts(place)
            if not is_sound and not any(map(OURS.fullmatch, names)):
                raise StategramError(
                    f"{blobs.shown(name)} is not a manifest of n-gram counts; choose another place"
                )
            if not is_sound and not replaces:
                raise BadDataError(f"{blobs.shown(name)} is damaged; count again with --force")
            if not replaces:
                raise StategramError(
                    f"there are counts in {shown_url(place)} already; choose another place, or replace them "
                    "(--force)"
                )
        elif not OURS.fullmatch(name) and not name.endswith(RUNNING):
            raise StategramError(
                f"{blobs.shown(name)} is not a file of stategram count; choose an empty place"
            )
    return blobs


@dataclass(frozen=True)
class Counting:
    """What is counted of which files; `vocabulary_file` is that of the vocabulary, if it was given as one."""

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
        """Return the complete counts of a place, if they are these; clear what a killed run left there."""
        found = open_counts(place) if is_counts(place) else None
        if found is None or found.manifest.job != self.job:
            return None
        blobs, files = Blobs(place), found.manifest.files
        if blobs.sizes().keys() - {*files, MANIFEST}:
            with blobs.hold(self.job):
                blobs.remove(*_stale(blobs, files))
        _require_all(blobs, files)
        return found

    def run(self, place: str, *, replaces: bool = False, progress: Progress | None = None) -> CountedText:
        """Count the files and keep the counts; those that are complete are opened, unless `replaces`."""
        if not replaces and (found := self.finished(place)) is not None:
            return found
        blobs = place_of_counts(place, replaces=replaces)
        with blobs.hold(self.job):
            text = shard_text(self.reading, blobs, subprogress(progress, 0.0, 0.3))
            return self._count(text, blobs, subprogress(progress, 0.3, 1.0))

    def _count(self, text: ShardedText, blobs: Blobs, progress: Progress | None) -> CountedText:
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
        found = resources.map(input_file, [(use, full_name(name)) for use, name in uses])
        inputs = [replace(one, name=shown_url(name)) for one, (_, name) in zip(found, uses, strict=True)]
        texts = {"vocabulary": text.vocabulary.to_bytes(), "counts": text.word_counts.astype("<i8").tobytes()}
        names = {kind: f"{content_key(data)[:32]}.{kind}" for kind, data in texts.items()}
        files |= {name: blobs.write(name, texts[kind])[1] for kind, name in names.items()}
        _require_all(blobs, files)
        manifest = CountManifest(
            files=files,
            vocabulary=names["vocabulary"],
            word_counts=names["counts"],
            job=self.job,
            runs=Runs(self.order, runs.n_words, runs.bounds, merged),
            shards=shards,
            report=text.stats,
            text_format=reading.text_format,
            vocabulary_size=reading.words.vocabulary_size,
            vocabulary_file=self.vocabulary_file,
            inputs=inputs,
        )
        figures = {
            "order": self.order,
            "events": text.n_events,
            "sentences": text.n_sentences,
            "unknown": text.n_unknown,
        }
        entries = msgspec.to_builtins(manifest) | {
            "figures": figures,
            "text_format": reading.text_format.remembered,
        }
        blobs.put(MANIFEST, manifest_bytes(entries, KIND, files, listed="files"))
        blobs.remove(*_stale(blobs, files))
        _require_all(blobs, files)
        return open_counts(blobs.place)


def _stale(blobs: Blobs, files: Container[str]) -> list[str]:
    """Return what only serves to continue, and is not needed once the counts are complete."""
    return [name for name in blobs.sizes() if name not in files and OURS.fullmatch(name)]


def _require_all(blobs: Blobs, files: Iterable[str]) -> None:
    if missing := sorted(set(files) - blobs.sizes().keys()):
        raise BadDataError(
            f"{blobs.shown(missing[0])} is missing: something else removed it; count again with --force"
        )


def _merge(task: MergeTask) -> tuple[int, str]:
    """Merge the runs of a range; return the size of the merged one, and its SHA-256."""
    found = task.blobs.kept(task.name)
    if found is None:
        numbers, runs = numbers_of(task.n_words), task.read()
        try:
            run = _core.merge_runs(runs, numbers, END, task.order, task.first, task.last)
        except ValueError as error:
            raise BadDataError(f"{task.shown()}: {error}; {task.blobs.advice}") from error
        found = task.blobs.write(task.name, run.data)
    return found[0][-1], found[1]


@dataclass(frozen=True)
class _TextTask:
    shard: Shard
    n_words: int
    blobs: Blobs

    def __str__(self) -> str:
        return f"the text of shard {self.shard.name}"


def _keep_text(task: _TextTask) -> tuple[Shard, str]:
    """Write the text of a shard in ids of the vocabulary; return the shard that it is then, its SHA-256."""
    name = content_key("text", task.shard.name, task.shard.ids)[:32] + ".text"
    found = task.blobs.kept(name)
    if found is None:
        packed = _core.pack_text(*read_shard(task.blobs, task.shard, task.n_words))
        found = task.blobs.write(name, packed.data)
    return Shard(name, task.shard.n_events, task.shard.n_sentences), found[1]
