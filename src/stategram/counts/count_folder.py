"""Counts of a text that are kept: a folder, or a place at a URL, from which models are trained.

It holds, written last, `manifest.json` with the SHA-256 of every other file: the vocabulary, the word counts,
the n-grams of each range of first words as a run, and the text in ids, shard by shard. All are named by their
content. While it is written, shards and runs that are finished are there too: the same command continues.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np

from stategram.counts.blobs import Blobs, CheckedBlobs
from stategram.counts.ranges import MAX_ORDER, Runs, positions_by_number
from stategram.counts.runs import levels_of_runs, numbers_of
from stategram.counts.sharded_text import Shard, ShardedText
from stategram.errors import BadDataError, StategramError
from stategram.progress import Progress
from stategram.storage import Entries, InputFile, Natural, parse_manifest, shown_url
from stategram.text import ReadStats, TextFormat, Vocabulary

KIND = "counts"
MANIFEST = "manifest.json"
# Names of blobs that only serve to continue, and of all that are made here.
_WORK = re.compile(r"[0-9a-f]{32}(-\d+)?\.(part|shard|run)|[0-9a-f]{16}-[0-9a-f]{32}-\d+\.shard\.ids")
OURS = re.compile(rf"{_WORK.pattern}|[0-9a-f]{{32}}\.(text|ngrams|vocabulary|counts)")


class _Manifest(Entries, frozen=True):
    files: dict[str, str]
    vocabulary: str
    word_counts: str
    job: str
    runs: Runs
    shards: list[Shard]
    report: ReadStats
    text_format: TextFormat
    vocabulary_size: Natural | None
    vocabulary_file: str | None
    inputs: list[InputFile]


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

    text_format: TextFormat = field(default_factory=TextFormat)
    """How the text was read."""
    vocabulary_size: int | None = None
    vocabulary_file: str | None = None
    """How its words were chosen, as far as it was by their number, or by a file."""
    inputs: Sequence[InputFile] = ()
    """The files that were counted."""
    job: str = ""
    """The `job_key` that they were made with."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The SHA-256 of each file of the counts but the manifest."""

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
        checked = CheckedBlobs(blobs.place, found.files)
        vocabulary = Vocabulary.from_bytes(checked.read(found.vocabulary))
        word_counts = np.frombuffer(checked.read(found.word_counts), "<i8").astype(np.int64)
        _check(found, vocabulary, word_counts)
    except BadDataError:
        raise
    except ValueError as error:
        raise BadDataError(f"{place}: not counts ({error}); count again") from error
    return CountedText(
        vocabulary,
        word_counts,
        found.report,
        tuple(found.shards),
        checked,
        found.runs,
        found.text_format,
        found.vocabulary_size,
        found.vocabulary_file,
        found.inputs,
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
    return parse_manifest(blobs.read(MANIFEST), blobs.shown(MANIFEST), listed="files")
