"""N-gram counts of a text in shards: a run of sorted n-grams for each shard, merged by ranges of first words.

A run is what `_core.count_run` returns for a shard; each range of first words is a piece of its blob. The
ranges follow from the word counts of the text alone, so what is merged does not depend on the shards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import pairwise
from typing import TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts.blobs import OVERHEAD, Blobs
from stategram.counts.ranges import (
    CountedLevel,
    Range,
    RunPart,
    Runs,
    fitting_range_size,
    positions_by_number,
    ranges_of,
    trie_numbers,
)
from stategram.counts.sharded_text import Shard, ShardedText, read_shard
from stategram.counts.workspace import memory_in_use
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, report_each
from stategram.resources import Resources
from stategram.storage import content_key
from stategram.text import BEGIN, END

# Positions of the whole text in a range that is merged at a time, and the maximum number of ranges.
_MERGED_SIZE = 4_000_000
_MAX_RANGES = 256
# Memory of a merge for each byte of its runs: the n-grams of a run take 2 to 3 bytes, those of a level 12.
_BYTES_PER_MERGED_BYTE = 8

Result = TypeVar("Result")


def count_runs(text: ShardedText, order: int, progress: Progress | None = None) -> Runs:
    """Count the n-grams of each shard, one task for each; those that are counted already are kept."""
    n_words = len(text.vocabulary)
    bounds = _bounds(text)
    tasks = [_CountTask(shard, order, n_words, tuple(bounds), text.blobs) for shard in text.shards]
    parts: list[list[RunPart]] = [[] for _ in bounds[1:]]
    counted = report_each(Resources.current().map(count_shard, tasks), len(tasks), "shards", progress)
    for task, offsets in zip(tasks, counted, strict=True):
        for of_range, (begin, end) in zip(parts, pairwise(offsets), strict=True):
            if end - begin > OVERHEAD:
                of_range.append(RunPart(task.name, begin, end))
    return Runs(order, n_words, bounds, parts)


def _bounds(text: ShardedText) -> list[int]:
    numbers = numbers_of(len(text.vocabulary))
    positions = positions_by_number(text.word_counts, text.n_sentences, numbers)
    size = max(_MERGED_SIZE, int(positions.sum()) // _MAX_RANGES)
    return [0, *(last for _, last in ranges_of(positions, size))]


@lru_cache(maxsize=1)
def numbers_of(n_words: int) -> NDArray[np.uint32]:
    """Return `trie_numbers`, kept for the next task."""
    numbers = trie_numbers(n_words)
    numbers.setflags(write=False)
    return numbers


@dataclass(frozen=True)
class _CountTask:
    shard: Shard
    order: int
    n_words: int
    bounds: tuple[int, ...]
    blobs: Blobs

    def __str__(self) -> str:
        return f"shard {self.shard.name}"

    @property
    def name(self) -> str:
        """The name of the blob of its run."""
        shard = [self.shard.name, self.shard.ids]
        return content_key("run", shard, self.order, self.n_words, self.bounds)[:32] + ".run"


def count_shard(task: _CountTask) -> list[int]:
    """Write the run of a shard; return where in its blob each range of first words begins, and its end."""
    if kept := task.blobs.kept(task.name):
        return kept[0]
    ids, sentence_starts, _ = read_shard(task.blobs, task.shard, task.n_words)
    numbers = numbers_of(task.n_words)
    word_counts = np.bincount(ids, minlength=task.n_words)
    positions = positions_by_number(word_counts, len(sentence_starts) - 1, numbers)
    before = np.concatenate(([0], np.cumsum(positions)))[list(task.bounds)]
    pieces: list[memoryview] = []
    for first, last in ranges_of(np.diff(before), fitting_range_size(task.order, task.n_words)):
        bounds = np.array(task.bounds[first : last + 1], np.uint32)
        run, its_offsets = _core.count_run(
            ids, sentence_starts, numbers, BEGIN, END, task.order, bounds, Resources.current().threads
        )
        pieces += [run.data[begin:end] for begin, end in pairwise(its_offsets.tolist())]
    return task.blobs.write(task.name, *pieces)[0]


@dataclass(frozen=True)
class MergeTask:
    """The runs of one range of first words, which become one."""

    runs: tuple[RunPart, ...]
    order: int
    n_words: int
    first: int
    last: int
    blobs: Blobs

    def __str__(self) -> str:
        return f"n-grams of the first words {self.first:,} to {self.last:,}"

    @property
    def name(self) -> str:
        """The name of the blob of the merged run."""
        runs = msgspec.to_builtins(self.runs)
        key = content_key("merged", self.order, self.n_words, self.first, self.last, runs)
        return key[:32] + ".ngrams"

    def read(self) -> list[NDArray[np.uint8]]:
        """Return the bytes of its runs."""
        return [np.frombuffer(self.blobs.read(*msgspec.structs.astuple(run)), np.uint8) for run in self.runs]

    def shown(self) -> str:
        """Return the names of its runs, as messages show them."""
        names = [self.blobs.shown(run.name) for run in self.runs]
        return names[0] if len(names) == 1 else f"{names[0]} or another of {len(names)} runs"


def merge_tasks(runs: Runs, blobs: Blobs) -> list[MergeTask]:
    """Return one task for each range of first words."""
    return [
        MergeTask(tuple(parts), runs.order, runs.n_words, first, last, blobs)
        for parts, (first, last) in zip(runs.parts, runs.ranges, strict=True)
    ]


def levels_of_runs(runs: Runs, blobs: Blobs, order: int) -> Iterator[tuple[Range, list[CountedLevel]]]:
    """Yield each range of first words, and the n-grams of 1 to `order` words that begin with them."""
    tasks = merge_tasks(runs, blobs)
    yield from zip(runs.ranges, in_threads(partial(_levels, order), tasks), strict=True)


def _levels(order: int, task: MergeTask) -> list[CountedLevel]:
    numbers, runs = numbers_of(task.n_words), task.read()
    try:
        return _core.merge_ngrams(runs, numbers, END, task.order, order, task.first, task.last)
    except OverflowError as error:
        raise UsageError(
            f"the text is too large: {error}; give a part of it, or have fewer n-grams: shorter ones "
            "(--order), or of fewer words (--vocab)"
        ) from error
    except ValueError as error:
        raise BadDataError(f"{task.shown()}: {error}; count again") from error


def in_threads(function: Callable[[MergeTask], Result], items: Sequence[MergeTask]) -> Iterator[Result]:
    """Yield ``function(item)`` for each item, in order, as many at a time as threads and memory allow."""
    threads = _parallel_merges(items)
    if threads == 1 or len(items) < 2:
        yield from map(function, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[Result]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(function, item))
                if len(ahead) > threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def _parallel_merges(tasks: Sequence[MergeTask]) -> int:
    resources = Resources.current()
    if resources.memory is None:
        return resources.threads
    largest = max((sum(run.end - run.begin for run in task.runs) for task in tasks), default=0)
    room = resources.memory - memory_in_use()
    return max(1, min(resources.threads, room // max(1, _BYTES_PER_MERGED_BYTE * largest)))
