"""A text of any size in shards on disk: read once, encoded, with one vocabulary for all."""

from __future__ import annotations

import logging
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

import stategram
from stategram import _core
from stategram.counts.blobs import OVERHEAD, Blobs, full_name
from stategram.counts.ranges import Runs
from stategram.counts.shards import (
    ShardStats,
    TextPart,
    bundles_of,
    lines_before,
    read_parts,
    text_parts,
)
from stategram.counts.workspace import Workspace
from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, subprogress, time_left
from stategram.resources import Resources
from stategram.storage import Natural, content_key, is_url, shown_url, url_stamp
from stategram.text import (
    END,
    UNKNOWN,
    Corpus,
    ReadStats,
    TextFormat,
    Vocabulary,
    WordChoice,
    display_name,
    no_words,
    warn_if_unsegmented,
    warn_of_wide_spaces,
)

_log = logging.getLogger(__name__)

# Part of the names of blobs: those of another layout are not taken for finished.
_LAYOUT = 2


class Shard(msgspec.Struct, frozen=True):
    """A shard of a text, and the blobs in which it is kept."""

    name: str
    """A blob whose last piece is the text as `_core.pack_text` has it; its words, if any, are before."""
    n_events: Natural
    n_sentences: Natural
    n_words: Natural = 0
    """How many words of its own it has; 0 if its ids are those of the vocabulary."""
    n_letters: Natural = 0
    ids: str = ""
    """A blob of the id in the vocabulary of each of these words."""
    stats: ShardStats = ShardStats(0)

    @property
    def words_size(self) -> int:
        """The size of the piece of its words, which is in front of its text."""
        return 16 * self.n_words + 8 + self.n_letters + OVERHEAD if self.n_words else 0


@dataclass(frozen=True, eq=False)
class ShardedText:
    """A text in shards on disk, and its n-gram counts if they are kept too.

    `NgramModel.train`, `WordClasses.fit` and `count_ngrams` take it in place of a `Corpus`: the memory that
    they need beside their result depends on the size of a shard, not on that of the text.
    """

    vocabulary: Vocabulary
    word_counts: NDArray[np.int64]
    """How often each word of the vocabulary occurs, by its id."""
    stats: ReadStats
    shards: tuple[Shard, ...]
    blobs: Blobs
    runs: Runs | None = None
    """Its n-gram counts, if they are kept."""

    @property
    def n_events(self) -> int:
        """The number of words and sentence ends."""
        return int(self.word_counts.sum())

    @property
    def n_sentences(self) -> int:
        """The number of sentences."""
        return int(self.word_counts[END])

    @property
    def n_unknown(self) -> int:
        """The number of words that are not in the vocabulary."""
        return int(self.word_counts[UNKNOWN])

    def __repr__(self) -> str:
        shards = plural(len(self.shards), "shard")
        return f"{type(self).__name__}({self.n_events} events, {shards}, {self.vocabulary!r})"

    def pieces(self) -> Iterator[Corpus]:
        """Yield the shards one after the other.

        A document start that is the number of sentences of a shard is that of the next one.
        """
        for shard in self.shards:
            ids, sentence_starts, document_starts = read_shard(self.blobs, shard, len(self.vocabulary))
            yield Corpus(ids, sentence_starts, self.vocabulary, document_starts=document_starts)

    def corpus(self, progress: Progress | None = None) -> Corpus:
        """Return the whole text; its arrays go to temporary files if memory is limited."""
        workspace = Workspace()
        if workspace.memory is not None and 4 * self.n_events > workspace.memory // 2:
            workspace.spill(4 * self.n_events)
        ids, sentence_starts = workspace.growing(np.uint32), workspace.growing(np.int64)
        sentence_starts.append(np.zeros(1, np.int64))
        documents = []
        n_sentences = 0
        for shard in self.shards:
            its_ids, its_sentences, its_documents = read_shard(self.blobs, shard, len(self.vocabulary))
            documents.append(its_documents + n_sentences)
            sentence_starts.append(its_sentences[1:] + ids.size)
            ids.append(its_ids)
            n_sentences += len(its_sentences) - 1
            if progress:
                progress(ids.size / max(self.n_events, 1), f"{ids.size:,} of {self.n_events:,} events")
        # Blank lines at the end of one shard and at the start of the next are one start.
        starts = np.unique(np.concatenate(documents)) if documents else np.zeros(0, np.int64)
        return Corpus(ids.finish(), sentence_starts.finish(), self.vocabulary, self.stats, starts)


def read_shard(
    blobs: Blobs, shard: Shard, n_words: int
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64]]:
    """Return the ids of a shard, where its sentences start, and the sentences that start documents."""
    packed = blobs.read(shard.name, shard.words_size)
    mapped = blobs.read(shard.ids) if shard.ids else b""
    try:
        ids = np.frombuffer(mapped, "<u4") if shard.ids else np.arange(n_words, dtype=np.uint32)
        if int(ids.max(initial=0)) >= n_words:
            raise ValueError("a word is not in the vocabulary")
        return _core.unpack_text(np.frombuffer(packed, np.uint8), ids)
    except ValueError as error:
        names = " or ".join(blobs.shown(name) for name in (shard.name, shard.ids) if name)
        raise BadDataError(f"{names}: damaged ({error}); remove it, and count again") from error


@dataclass(frozen=True)
class Reading:
    """Files, or URLs, that become a text in shards, and how they are read; `shard_size` changes no count."""

    names: Sequence[str]
    text_format: TextFormat
    words: WordChoice
    shard_size: int

    @cached_property
    def key(self) -> str:
        """What differs if other files would be read, or in another way, or stdin."""
        vocabulary = self.words.vocabulary
        given = None if vocabulary is None else content_key(vocabulary.to_bytes())
        parts = [part.key for part in self.parts]
        return content_key(parts, self.words.vocabulary_size, self.words.min_count, given)

    @cached_property
    def parts(self) -> list[_Part]:
        """The files in parts of about the size of a shard."""
        stamps = {name: _stamp(name) for name in self.names}
        return [
            _Part(
                bundle,
                tuple(stamps[part.name] or uuid.uuid4().hex for part in bundle),
                self.text_format,
                self.shard_size,
            )
            for bundle in bundles_of(text_parts(self.names, self.shard_size), self.shard_size)
        ]

    def require_files(self) -> None:
        """Refuse what workers cannot read."""
        for name in self.names:
            if not is_url(name) and (_stamp(name) is None or not os.access(name, os.R_OK)):
                raise UsageError(
                    f"workers cannot read {display_name(name)}; write the text to a file that they see, or "
                    "leave out --cluster"
                )


def shard_text(reading: Reading, blobs: Blobs, progress: Progress | None = None) -> ShardedText:
    """Read files into shards, one task for each part of a file, and choose the vocabulary.

    A shard that `blobs` has already, of the same file and read in the same way, is not read again.
    """
    names, words, parts = reading.names, reading.words, reading.parts
    if Resources.current().executor is not None:
        reading.require_files()
        parts = replace(reading, names=list(map(full_name, names))).parts
    if not blobs.anew and (kept := sum(blobs.has(f"{part.key}.part") for part in parts)):
        _log.info("%s of %s read before", f"{kept:,}", plural(len(parts), "part"))
    found = _run(parts, blobs, subprogress(progress, 0.0, 0.95))
    shards = [shard for of_part in found for shard in of_part]
    stats = _stats(names, parts, found)
    if sum(shard.n_events for shard in shards) == 0:
        raise no_words(names, stats.n_bytes)
    if progress:
        progress(0.95, "the vocabulary")
    vocabulary, word_counts, placed = _with_vocabulary(shards, words, blobs)
    warn_of_wide_spaces(stats)
    if words.vocabulary is None:
        warn_if_unsegmented(vocabulary)
    return ShardedText(vocabulary, word_counts, stats, tuple(placed), blobs)


@dataclass(frozen=True)
class _Part:
    """Files, or a part of one, that one task reads."""

    parts: tuple[TextPart, ...]
    stamps: tuple[str, ...]
    """What `_stamp` returned for each; anything else for what cannot be read again."""
    text_format: TextFormat
    shard_size: int

    def __str__(self) -> str:
        others = f" and {plural(len(self.parts) - 1, 'file')} more" if len(self.parts) > 1 else ""
        return f"{self.parts[0]}{others}"

    @property
    def size(self) -> int | None:
        """The bytes of its parts, as they are stored; None if that is not known."""
        sizes = [part.size for part in self.parts if part.size is not None]
        return sum(sizes) if len(sizes) == len(self.parts) else None

    @cached_property
    def key(self) -> str:
        """What its blobs are named by: the files as they are, how they are read, and by what."""
        how = [msgspec.to_builtins(self.text_format), self.shard_size, stategram.__version__]
        files = [
            [os.path.abspath(part.name), stamp, part.begin, part.end]  # noqa: PTH100
            for part, stamp in zip(self.parts, self.stamps, strict=True)
        ]
        return content_key(_LAYOUT, files, how)[:32]

    def require_unchanged(self) -> None:
        """Refuse files that are others by now."""
        for part, stamp in zip(self.parts, self.stamps, strict=True):
            if _stamp(part.name) not in (None, stamp):
                raise BadDataError(
                    f"{display_name(part.name)}: the file changed while it was read; run the command again"
                )


def _stamp(name: str) -> str | None:
    """Return what differs once a file has changed; None for what can be read only once."""
    if is_url(name):
        return url_stamp(name)
    if name == "-" or not Path(name).is_file():
        return None
    found = Path(name).stat()
    return f"{found.st_size} bytes, {found.st_mtime_ns} ns"


def _run(tasks: Sequence[_Part], blobs: Blobs, progress: Progress | None) -> list[list[Shard]]:
    total = sum(task.size or 0 for task in tasks)
    known = all(task.size is not None for task in tasks)
    began, done = time.monotonic(), 0
    found: list[list[Shard]] = []
    for task, shards in zip(tasks, Resources.current().map(partial(_read, blobs), tasks), strict=True):
        found.append(shards)
        done += task.size or sum(shard.stats.n_bytes for shard in shards)
        if progress:
            fraction = done / total if known and done else 0.0
            left = f", {time_left(began, fraction)}" if 0 < fraction < 1 else ""
            parts = f"{len(found):,} of {plural(len(tasks), 'part')}"
            progress(fraction, f"{done / 1e6:,.0f} MB, {parts}{left}")
    return found


def _read(blobs: Blobs, task: _Part) -> list[Shard]:
    """Encode the shards of some parts, each with its own words; the list of them appears last."""
    key = task.key
    if blobs.kept(f"{key}.part"):
        with suppress(ValueError):  # of another layout
            kept = msgspec.json.decode(blobs.read(f"{key}.part"), type=list[Shard])
            if all(blobs.kept(shard.name) for shard in kept):
                return kept
    task.require_unchanged()
    shards: list[Shard] = []
    for corpus, stats in read_parts(task.parts, task.text_format, task.shard_size):
        words = corpus.vocabulary
        packed = _core.pack_text(corpus.ids, corpus.sentence_starts, corpus.document_starts)
        shard = Shard(
            f"{key}-{len(shards)}.shard",
            corpus.n_events,
            corpus.n_sentences,
            len(words),
            len(words.letters),
            stats=stats,
        )
        of_words = b"".join((words.offsets.data, words.counts.data, words.letters.data))
        blobs.write(shard.name, of_words, packed.data)
        shards.append(shard)
    task.require_unchanged()
    blobs.write(f"{key}.part", msgspec.json.encode(shards))
    return shards


def _words_of(blobs: Blobs, shard: Shard) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64]]:
    """Return letters, offsets and counts of the words of a shard."""
    data = blobs.read(shard.name, 0, shard.words_size)
    offsets = np.frombuffer(data, "<i8", shard.n_words + 1)
    counts = np.frombuffer(data, "<u8", shard.n_words, offsets.nbytes)
    return np.frombuffer(data, np.uint8, shard.n_letters, offsets.nbytes + counts.nbytes), offsets, counts


def _with_vocabulary(
    shards: Sequence[Shard], words: WordChoice, blobs: Blobs
) -> tuple[Vocabulary, NDArray[np.int64], list[Shard]]:
    """Return the vocabulary, how often each of its words occurs, and the shards with their ids in it."""
    merger = _core.VocabularyMerger()
    try:
        for shard in shards:
            merger.add(*_words_of(blobs, shard))
        if words.vocabulary is not None:
            vocabulary = words.vocabulary
            counts = merger.use(vocabulary.letters, vocabulary.offsets)
        else:
            vocabulary = Vocabulary(*merger.choose(words.max_words, words.min_count))
            counts = vocabulary.counts
            vocabulary.letters.tobytes().decode()  # bad UTF-8 is a ValueError
            if (np.append(vocabulary.letters, np.uint8(0))[vocabulary.offsets] & 0xC0 == 0x80).any():
                raise ValueError("a word is not UTF-8")
        key = content_key(vocabulary.letters, vocabulary.offsets)[:16]
        placed = []
        for shard in shards:
            name = f"{key}-{shard.name}.ids"
            if not blobs.kept(name):
                letters, offsets, _ = _words_of(blobs, shard)
                blobs.write(name, merger.ids(letters, offsets).astype("<u4", copy=False).data)
            placed.append(msgspec.structs.replace(shard, ids=name))
    except BadDataError:
        raise
    except ValueError as error:
        raise BadDataError(f"a shard is damaged ({error}); remove all shards, and count again") from error
    return vocabulary, counts.astype(np.int64), placed


def _stats(names: Sequence[str], tasks: Sequence[_Part], found: Sequence[Sequence[Shard]]) -> ReadStats:
    all_stats = [shard.stats for shards in found for shard in shards]
    first_wide_space = None
    for task, shards in zip(tasks, found, strict=True):
        if wide := [shard.stats for shard in shards if shard.stats.wide_space_line]:
            part = task.parts[wide[0].wide_space_part]
            name = next(name for name in names if full_name(name) == full_name(part.name))  # as it was given
            first_wide_space = (
                f"{display_name(name)}:{wide[0].wide_space_line + lines_before(part, task.text_format)}"
            )
            break
    return ReadStats(
        tuple(map(shown_url, names)),
        sum(stats.n_bytes for stats in all_stats),
        sum(stats.n_replaced for stats in all_stats),
        sum(stats.n_dropped for stats in all_stats),
        sum(stats.n_wide_spaces for stats in all_stats),
        first_wide_space,
    )
