r"""Counts of n-grams in text files, as SRILM's ``ngram-count -write`` and ``-read`` have them.

A line has the words of an n-gram and its count: ``the cat sat<TAB>3``. There are lines for n-grams of all
lengths from 1 on, ``<s>`` before and ``</s>`` after each sentence included. What is read: fields separated
by ASCII white space, n-grams in any order; the counts of an n-gram that comes several times are added up.
What is written is sorted by the bytes of words, an n-gram before those that begin with it, as by
``ngram-count -sort -write``.

The same as a table, tsv, csv, jsonl or parquet, has the columns ``ngram``, ``order`` and ``count``;
docs/tables.md says how n-grams are written there. Of these, tsv is read too: its first line tells.
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import NgramCounts, given_ngrams, ranges_of, trie_numbers
from stategram.errors import BadDataError, UsageError
from stategram.progress import Progress, report_bytes
from stategram.resources import Resources
from stategram.storage import Place, atomic_open
from stategram.tables import TABLE_FORMATS, Table, TableWriter, TextColumn
from stategram.text import (
    BEGIN,
    END,
    SPECIAL_WORDS,
    UNKNOWN,
    Source,
    Vocabulary,
    decimal_numbers,
    display_name,
    file_names,
    read_blocks,
    total_size,
)

COUNT_FORMATS = ("srilm", *TABLE_FORMATS)

_LINES_A_BLOCK = 1 << 20
_ABSENT = np.uint32(2**32 - 1)


def read_counts(
    source: Source,
    *,
    order: int | None = None,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    progress: Progress | None = None,
) -> NgramCounts:
    r"""Read count files; those of several files are added up.

    Parameters
    ----------
    source
        A file, or several; ``-`` is stdin. Files compressed by gzip, xz, bzip2 or zstd are opened.
    order
        Maximum order of the n-grams to keep; by default that of the files.
    vocabulary
        The words to know, all others become ``<unk>``; by default those of the files, by decreasing count.
    vocabulary_size
        Keep this many of the most frequent words, not counting the special words.
    progress
        Called with the fraction of the bytes that are read, 0 as long as it is not known, and a message.

    Returns
    -------
    NgramCounts
        The same as `count_ngrams` returns for the text; `NgramModel.from_counts` trains a model on it.

    Raises
    ------
    BadDataError
        With file and line, if a count is no whole number from 0 to 4294967295, if ``<s>`` or ``</s>`` is
        inside an n-gram, if an n-gram lacks a shorter one that is part of it, or occurs more often than its
        beginning.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place, "counts.txt")
    ...     _ = file.write_text("<s>\t2\na\t2\n</s>\t2\n<s> a\t2\na </s>\t2\n")
    ...     counts = read_counts(file)
    >>> counts.sizes, counts.vocabulary.words
    ((4, 2), ('<unk>', '<s>', '</s>', 'a'))

    """
    names = file_names(source)
    if vocabulary is not None and vocabulary_size is not None:
        raise UsageError("a vocabulary was given: vocabulary_size cannot be used with it")
    if vocabulary_size is not None and vocabulary_size < 1:
        raise UsageError(f"vocabulary_size is {vocabulary_size}; it must be at least 1")
    reader = _core.CountReader(Resources.current().threads)
    line_ends = [0]
    try:
        _feed(reader, names, line_ends, progress)
        known = Vocabulary(*reader.words())
        longest = reader.order
        if longest == 0:
            raise BadDataError(
                f"no counts in {', '.join(map(display_name, names))}; expected n-grams and their counts, "
                "such as 'the cat<TAB>3', one per line"
            )
        if order is not None and not 1 <= order <= longest:
            raise BadDataError(
                f"there are n-grams of 1 to {longest} words in {', '.join(map(display_name, names))}, not of "
                f"{order}; count longer ones, or give a lower order"
            )
        vocabulary = vocabulary or _vocabulary(known, vocabulary_size)
        ids = np.fromiter(map(vocabulary.id, known.words), np.uint32, len(known))
        numbers = trie_numbers(len(vocabulary))
        own_numbers = np.where(known.counts > 0, numbers[ids], _ABSENT)
        arguments = own_numbers, len(vocabulary), order or longest
        try:
            return given_ngrams(vocabulary, numbers, reader.levels(*arguments, check_suffixes=False))
        except _core.CountProblem:
            raise
        except ValueError:  # an n-gram lacks its suffix: find out which
            reader.levels(*arguments, check_suffixes=True)
            raise
    except _core.CountProblem as problem:
        raise _located(problem, names, line_ends) from None


def write_counts(
    counts: NgramCounts, place: Place, *, format: str = "srilm", progress: Progress | None = None
) -> None:
    r"""Write the counts of n-grams of all lengths.

    Parameters
    ----------
    counts
        The counts, which no model was made of yet.
    place
        A path, ``-`` for standard output, or a binary stream; one named ``.gz``, ``.xz``, ``.bz2`` or
        ``.zst`` is packed.
    format
        ``srilm``, or a table: ``tsv``, ``csv``, ``jsonl``, ``parquet``; see the module.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> import io
    >>> from stategram import corpus_from_sentences
    >>> from stategram.counts import count_ngrams
    >>> file = io.BytesIO()
    >>> write_counts(count_ngrams(corpus_from_sentences(["a b", "a"]), 2), file)
    >>> file.getvalue().decode().split("\n")[:4]
    ['</s>\t2', '<s>\t2', '<s> a\t2', 'a\t2']

    """
    if format not in COUNT_FORMATS:
        raise UsageError(f"there is no count format {format!r}; choose one of {', '.join(COUNT_FORMATS)}")
    levels = [counts.levels[length] for length in range(1, counts.order + 1)]
    vocabulary, numbers = counts.vocabulary, counts.numbers
    encoded = [word.encode() for word in vocabulary.words]
    by_bytes = np.array(sorted(range(len(encoded)), key=encoded.__getitem__), np.int64)
    ids, ranks = np.empty_like(numbers), np.empty_like(numbers)
    ids[numbers] = np.arange(len(ids), dtype=np.uint32)
    ranks[numbers[by_bytes]] = np.arange(len(ids), dtype=np.uint32)
    nodes = numbers[by_bytes]
    lines = _lines_of_words(counts)[nodes]
    done, total = 0, int(lines.sum())
    with atomic_open(place) if format == "srilm" else TableWriter(place, format) as out:
        for begin, end in ranges_of(lines, _LINES_A_BLOCK):
            block = _core.count_lines(
                vocabulary.letters,
                vocabulary.offsets,
                ids,
                ranks,
                [level.words for level in levels],
                [level.counts for level in levels],
                [level.first_child for level in levels[:-1]],
                nodes[begin:end],
                Resources.current().threads,
            )
            if isinstance(out, TableWriter):
                out.write(_as_table(block))
            else:
                out.write(block)
            done += int(lines[begin:end].sum())
            if progress:
                progress(done / total, f"{done:,} of {total:,} n-grams")


def _as_table(lines: bytes) -> Table:
    """Return lines of n-grams and counts as columns."""
    letters = np.frombuffer(lines, np.uint8)
    tabs, ends = np.flatnonzero(letters == ord("\t")), np.flatnonzero(letters == ord("\n"))
    begins = np.concatenate((np.zeros(1, np.int64), ends + 1))[:-1]
    lengths = tabs - begins
    # An n-gram, then its tab, count and newline.
    parts = np.stack((lengths, ends + 1 - tabs), axis=1).ravel()
    of_ngrams = letters[np.repeat(np.tile([True, False], len(ends)), parts)]
    offsets = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths)))
    spaces = np.concatenate((np.zeros(1, np.int64), np.cumsum(of_ngrams == ord(" "))))
    return Table(
        {
            "ngram": TextColumn(of_ngrams, offsets),
            "order": spaces[offsets[1:]] - spaces[offsets[:-1]] + 1,
            "count": decimal_numbers(letters, tabs + 1, ends),
        }
    )


def _feed(
    reader: _core.CountReader, names: list[str], line_ends: list[int], progress: Progress | None
) -> None:
    """Read all files; `line_ends` gets the number of lines up to the end of each."""
    total, done = total_size(names), 0
    for name in names:
        taken = 0
        for block, taken in read_blocks(name):
            reader.feed(block)
            report_bytes(progress, done + taken, total)
        reader.end_file()
        done += taken
        line_ends.append(reader.lines)


def _vocabulary(known: Vocabulary, size: int | None) -> Vocabulary:
    """Return the words with counts, as they are chosen from a text: by decreasing count, then by bytes."""
    counts = known.counts.tolist()
    encoded = [word.encode() for word in known.words]
    words = [id for id in range(len(SPECIAL_WORDS), len(encoded)) if counts[id] > 0]
    words.sort(key=lambda id: (-counts[id], encoded[id]))
    kept = words[:size]
    chosen = [UNKNOWN, BEGIN, END, *kept]
    of_chosen = np.array([counts[id] for id in chosen], np.uint64)
    of_chosen[UNKNOWN] += sum(counts[id] for id in words[len(kept) :])
    of_chosen[BEGIN] = 0
    return Vocabulary.from_encoded([encoded[id] for id in chosen], of_chosen)


def _lines_of_words(counts: NgramCounts) -> NDArray[np.int64]:
    """Return for each word, by its number, how many n-grams begin with it."""
    begins: NDArray[np.int64] = np.arange(len(counts.numbers) + 1)
    lines = np.ones(len(counts.numbers), np.int64)
    for level in counts.levels[1:-1]:
        begins = level.first_child[begins].astype(np.int64)
        lines += begins[1:] - begins[:-1]
    return lines


def _located(problem: _core.CountProblem, names: list[str], line_ends: list[int]) -> BadDataError:
    """Return the error with file and line, of which the problem has the line of all files together."""
    line, _, what = str(problem).partition(": ")
    file = bisect_left(line_ends, int(line)) - 1
    return BadDataError(f"{display_name(names[file])}:{int(line) - line_ends[file]}: {what}")
