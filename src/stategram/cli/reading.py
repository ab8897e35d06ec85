"""Texts and models, read as a step of a command."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from stategram.cli.checks import refuse_options
from stategram.cli.console import Console
from stategram.cli.options import FORMAT_OPTIONS, TEXT_OPTIONS, ReadingOptions, TextOptions
from stategram.counts import (
    CountedText,
    NgramCounts,
    Reading,
    ShardedText,
    TemporaryBlobs,
    default_shard_size,
    is_counts,
    open_counts,
    shard_text,
)
from stategram.display import plural
from stategram.formats import open_model, read_counts
from stategram.models import Model, model_of
from stategram.storage import is_archive, is_url, open_archive
from stategram.text import (
    SPECIAL_WORDS,
    Corpus,
    TextFormat,
    Vocabulary,
    compression,
    read_blocks,
    read_corpus,
    row_format,
    total_size,
)

# The beginning of a file by which a count file is told from a text.
_SAMPLE = 1 << 16
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_HEADER = b"ngram\torder\tcount\n"
_COUNT_LINE = re.compile(rb"[^\t\r\n]*\S[^\t\r\n]*\t-?[0-9]+\r?\n?")
# Tables that are no text, by how they begin, and what to do with them.
_TABLES = (
    (
        re.compile(rb'ngram,order,count\r?\n|\{"ngram":.*"order":.*"count":'),
        "a table of counts; train reads counts as the folder that stategram count makes, or as count files: "
        "count again with --format srilm or tsv",
    ),
    (
        re.compile(rb'word([\t ,])class(\1count)?\r?\n|\{"word":.*"class":|\{"version":.*"classes":'),
        "a class file: name the text that its classes are for, and the file with --classes",
    ),
    (
        re.compile(rb"PAR1"),
        "a parquet file; name it .parquet if it has a column of texts; of counts, train reads the folder "
        "that stategram count makes, or count files: count again with --format srilm or tsv",
    ),
)
_MUCH_OF_A_MODEL = 500_000_000
_MUCH_OF_A_TEXT = 20_000_000


def read_text(texts: Sequence[str], text: TextOptions, console: Console) -> Corpus:
    """Read training texts, all as one, as the next step of the console."""
    with console.step("reading") as progress:
        corpus = read_corpus(
            list(texts),
            text.format,
            vocabulary=text.vocabulary,
            vocabulary_size=text.vocab,
            progress=progress,
        )
    show_text(corpus, console)
    return corpus


def show_text(corpus: Corpus | ShardedText, console: Console) -> None:
    """Show the size of a training text and its vocabulary."""
    known = plural(len(corpus.vocabulary) - len(SPECIAL_WORDS), "word")
    _show_size(corpus, f"a vocabulary of {known}, ", console)


def counts_or_text(texts: Sequence[str], text: TextOptions, console: Console) -> Corpus | ShardedText:
    """Open the counts of a text, or read it, as the next step of the console."""
    return opened_counts(texts, console) or read_large_text(texts, text, console)


def read_large_text(texts: Sequence[str], text: TextOptions, console: Console) -> Corpus | ShardedText:
    """Read training texts; what is larger than a shard stays on disk."""
    size = total_size(texts)
    if size is not None and size <= default_shard_size() and not any(map(_is_packed, texts)):
        return read_text(texts, text, console)
    with console.step("reading") as progress:
        reading = Reading(texts, text.format, text.words, default_shard_size())
        found = shard_text(reading, TemporaryBlobs(), progress)
    show_text(found, console)
    return found


def _is_packed(name: str) -> bool:
    """Whether the text of a file may be much larger than the file."""
    return row_format(name) in ("parquet", "arrow") or compression(name) is not None


def opened_counts(texts: Sequence[str], console: Console) -> CountedText | None:
    """Open the counts of a text in place of the text, as the next step; None if no text is such a folder."""
    # A text at a URL has a suffix, as a rule; a server need not be asked for a folder of that name.
    is_place = len(texts) == 1 and is_url(texts[0]) and "." not in texts[0].rstrip("/").rpartition("/")[2]
    places = [name for name in texts if Path(name).is_dir()]
    if is_place and is_counts(texts[0]):
        places.append(texts[0])
    if not places:
        return None
    if len(texts) > 1:
        raise click.UsageError(
            f"{places[0]} is a folder; counts are given alone: to add texts, count all of them together"
        )
    refuse_options(
        TEXT_OPTIONS, f"is for texts; {places[0]} was counted already: leave it out, or count again"
    )
    with console.step(f"opening {places[0]}"):
        found = open_counts(places[0])
    show_text(found, console)
    return found


def hold_counts(names: Sequence[str]) -> bool:
    """Whether files hold n-gram counts, by their first lines; stdin and pipes are always texts.

    UsageError if only some of them do, if one is another table of counts or classes, or if options for texts
    are given.
    """
    beginnings = {name: _beginning(name) for name in names}
    for name, data in beginnings.items():
        for table, what in _TABLES:
            if table.match(data) and row_format(name) != "parquet":
                raise click.UsageError(f"{name} is {what}")
    found = [name for name, data in beginnings.items() if _holds_counts(data)]
    others = [name for name in names if name not in found]
    if not found:
        return False
    if others:
        raise click.UsageError(
            f"{found[0]} looks like a count file (n-gram, tab, count), {others[0]} like a text; give files "
            "of one kind, or texts on stdin (-)"
        )
    refuse_options(
        (*FORMAT_OPTIONS, "memory"),
        f"is for texts, and {found[0]} looks like a count file (n-gram, tab, count): leave it out, or give a "
        "text on stdin (-)",
    )
    return True


def _beginning(name: str) -> bytes:
    """Return how a file begins; nothing of a pipe, which can be read only once."""
    if not (is_url(name) or Path(name).is_file()):
        return b""
    return next(iter(read_blocks(name)), (b"", 0))[0][:_SAMPLE].removeprefix(_BYTE_ORDER_MARK)


def _holds_counts(data: bytes) -> bool:
    lines = data.splitlines(keepends=True)
    if len(lines) > 1 and not lines[-1].endswith(b"\n"):
        lines.pop()  # cut off
    return lines[:1] == [_HEADER] or (bool(lines) and all(map(_COUNT_LINE.fullmatch, lines)))


def read_count_files(
    names: Sequence[str], order: int | None, text: TextOptions, console: Console
) -> NgramCounts:
    """Read count files, added up, as the next step of the console."""
    # Count files are split at ASCII white space.
    vocabulary = Vocabulary.from_file(text.vocab_file, split="ascii") if text.vocab_file else None
    with console.step("reading the counts") as progress:
        counts = read_counts(
            list(names),
            order=order,
            vocabulary=vocabulary,
            vocabulary_size=text.vocab,
            progress=progress,
        )
    words = plural(len(counts.vocabulary) - len(SPECIAL_WORDS), "word")
    console.info(f"      counts of {plural(counts.n_events, 'event')}, a vocabulary of {words}")
    return counts


def read_heldout(name: str, vocabulary: Vocabulary, text: TextOptions, console: Console) -> Corpus:
    """Read the held-out text as the training text, which has this vocabulary, was read."""
    with console.step("reading the held-out text") as progress:
        heldout = read_corpus(name, text.format, vocabulary=vocabulary, progress=progress)
    _show_size(heldout, "", console)
    return heldout


def _show_size(corpus: Corpus | ShardedText, known: str, console: Console) -> None:
    words, sentences = corpus.n_events - corpus.n_sentences, corpus.n_sentences
    console.info(
        f"      {plural(words, 'word')} in {plural(sentences, 'sentence')}, {known}"
        f"{corpus.n_unknown:,} unknown"
    )
    show_read_stats(corpus, console)


def show_read_stats(corpus: Corpus | ShardedText, console: Console) -> None:
    """Show what was replaced and dropped while a text was read."""
    if corpus.stats.n_replaced:
        console.info(f"      {plural(corpus.stats.n_replaced, 'bad part')} replaced by U+FFFD")
    if corpus.stats.n_dropped:
        console.info(f"      {plural(corpus.stats.n_dropped, 'sentence marker')} <s> or </s> dropped")


def read_model(
    name: str, console: Console, reading: ReadingOptions, *, notes: Console | None = None
) -> Model:
    """Open a model file or an ARPA file, as the next step of the console; `notes` shows what is missing."""
    return read_model_and_manifest(name, console, reading, notes=notes)[0]


def read_model_and_manifest(
    name: str, console: Console, reading: ReadingOptions, *, notes: Console | None = None
) -> tuple[Model, Mapping[str, Any] | None]:
    """Return a model as `read_model` does, and its manifest; None for an ARPA file."""
    manifest, notes = None, notes or console
    with console.step(f"opening {name}") as progress:
        if name != "-" and is_archive(name):
            archive = open_archive(name, kind="model", verify=reading.verify, progress=progress)
            model, manifest = model_of(archive), archive.manifest
        else:
            model = open_model(name, verify=reading.verify, progress=progress)
    for note in model.notes:
        notes.info(f"      note: {note}")
    if reading.history not in model.histories:
        known = ", ".join(model.histories)
        notes.info(f"      note: the model has no history {reading.history}, only {known}")
    model = model.with_history(reading.history)
    console.detail(f"      {model!r}")
    return model, manifest


def takes_time(name: str) -> bool:
    """Whether a model may take more than a second or two to open."""
    path = Path(name)
    if not path.is_file():
        return True
    return path.stat().st_size > (_MUCH_OF_A_MODEL if is_archive(path) else _MUCH_OF_A_TEXT)


def read_test(model: Model, tests: Sequence[str], reading: ReadingOptions, console: Console) -> Corpus:
    """Read texts, all as one, as those of a model, as the next step of the console.

    They have a vocabulary of their own, so that the spelling of unknown words is there.
    """
    text_format = format_for(model, reading, console)
    with console.step("reading") as progress:
        corpus = read_corpus(list(tests), text_format, progress=progress)
    show_read_stats(corpus, console)
    return corpus


def format_for(model: Model, reading: ReadingOptions, console: Console) -> TextFormat:
    """Return how text for a model is read: as in its training, unless options override it."""
    trained = model.text_format
    as_in_training = {
        "lowercase": "words in lower case",
        "digits": f"{trained.digits} for numbers",
        "split": "words split at ASCII white space",
        "tokenize": "raw text is tokenized",
        "encoding_errors": "U+FFFD for bytes that are not UTF-8",
        "document_mark": f"documents start at lines that match {trained.document_mark!r}",
    }
    default = TextFormat()
    for name, what in as_in_training.items():
        is_used = name != "document_mark" or len(model.histories) > 1
        if getattr(trained, name) != getattr(default, name) and name not in reading.format and is_used:
            console.info(f"      {what}, as in training")
    found = trained.override(reading.format)
    if found.tokenize and (note := trained.tokenizer_note):
        console.info(f"      note: {note}")
    return found
