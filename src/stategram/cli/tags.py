"""`stategram tags`: the tag of each word of a text."""

from __future__ import annotations

import click
import numpy as np

from stategram.cli.checks import check_inputs, is_same_file
from stategram.cli.console import Console
from stategram.cli.options import TextOptions, format_option, guess_option, text_options, work_options
from stategram.cli.reading import read_text
from stategram.contexts import TagMap, check_tags, file_of_tags, parse_tags
from stategram.storage import atomic_write, check_place
from stategram.tables import TABLE_FORMATS, Table, TextColumn, choose_format
from stategram.text import SPECIAL_WORDS, Vocabulary
from stategram.wording import plural

_FROM = {"lexicon": "from the lexicon or file", "rule": "by a rule", "fallback": "by default"}
_EXAMPLES = 5
_LONGEST_EXAMPLE = 20


@click.command(
    epilog="""\b
Examples:
  stategram tags text.txt > tags.tsv
  stategram tags text.txt --vocab 20000 --lowercase -o tags.tsv
  stategram tags text.txt --tags corrected.tsv
  stategram tags text.txt --tags en_ewt-ud-train.conllu:xpos""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option(
    "--tags",
    "tag_source",
    default="brill",
    show_default=True,
    metavar="SOURCE",
    help="brill (English), a file with one word and its tag per line, or FILE.conllu[:upos|:xpos].",
)
@click.option(
    "-o",
    "--output",
    default="-",
    metavar="FILE",
    help="Output file, compressed if named .gz .xz .bz2 or .zst.  [default: - (stdout)]",
)
@format_option((*TABLE_FORMATS, "plain"))
@guess_option
@text_options
@work_options
def tags(
    texts: tuple[str, ...],
    tag_source: str,
    output: str,
    format: str | None,
    no_guess: bool,
    text: TextOptions,
    console: Console,
) -> None:
    """Print the tag of each word of TEXT: word, tag and count, the most frequent words first.

    Every word has one tag. The output can be corrected and given back as --tags FILE. A table of the tags
    goes to stderr.

    tsv, csv, jsonl and parquet are tables with the columns word, tag and count, which pandas, R, polars and
    Arrow read as they are; see docs/tables.md. plain: word<TAB>tag<TAB>count, without names of columns.
    """
    inputs = [*texts, *filter(None, (text.vocab_file, file_of_tags(tag_source)))]
    check_inputs(inputs)
    if any(is_same_file(output, name) for name in inputs):
        raise click.UsageError(f"the output {output} is an input too; choose another name")
    check_place(output)
    format = choose_format(output, format, "tsv")
    check_tags(tag_source, guess=not no_guess)
    console.steps = 2
    vocabulary = read_text(texts, text, console).vocabulary
    with console.step("tagging"):
        found = parse_tags(tag_source, vocabulary, guess=not no_guess)
    if format == "plain":
        atomic_write(output, _as_lines(found, vocabulary))
    else:
        _as_columns(found, vocabulary).write(output, format)
    console.info(_as_table(found, vocabulary))


def _as_columns(found: TagMap, vocabulary: Vocabulary) -> Table:
    ids = np.arange(len(SPECIAL_WORDS), len(vocabulary), dtype=np.uint32)
    tags = TextColumn.from_strings(found.tags)
    return Table(
        {
            "word": TextColumn(vocabulary.letters, vocabulary.offsets, ids),
            "tag": TextColumn(tags.letters, tags.offsets, found.labels[ids].astype(np.uint32)),
            "count": vocabulary.counts[ids],
        }
    )


def _as_lines(found: TagMap, vocabulary: Vocabulary) -> bytes:
    rows = zip(vocabulary.words, found.labels.tolist(), vocabulary.counts.tolist(), strict=True)
    lines = [f"{word}\t{found.tags[label]}\t{count}\n" for word, label, count in rows]
    return "".join(lines[len(SPECIAL_WORDS) :]).encode()


def _as_table(found: TagMap, vocabulary: Vocabulary) -> str:
    """Return a table of the tags, the most frequent first, and where they come from."""
    first = len(SPECIAL_WORDS)
    labels, counts = found.labels[first:], vocabulary.counts[first:].astype(np.int64)
    words = np.bincount(labels, minlength=len(found))
    tokens = np.bincount(labels, counts, minlength=len(found)).astype(np.int64)
    all_words, all_tokens = max(len(labels), 1), max(int(counts.sum()), 1)
    width = max(3, *map(len, found.tags))
    lines = [f"{'tag':{width}} {'words':>9} {'tokens':>13} {'fraction':>8}  most frequent words"]
    # Most frequent words first, and by tag: the examples of a tag are the first of its part.
    order = np.lexsort((-counts, labels))
    begin = np.searchsorted(labels[order], np.arange(len(found)))
    for label in np.lexsort((np.arange(len(found)), -words, -tokens)).tolist():
        if label < first:
            continue
        some = order[begin[label] : begin[label] + min(words[label], _EXAMPLES)] + first
        examples = " ".join(_short(vocabulary.word(id)) for id in some.tolist())
        fraction = tokens[label] / all_tokens
        lines.append(
            f"{found.tags[label]:{width}} {words[label]:>9,} {tokens[label]:>13,} {fraction:>8.2%}  "
            f"{examples}"
        )
    lines.append("")
    for source, part in found.source.items():
        lines.append(
            f"{_FROM[source]}: {plural(part.words, 'word')} ({part.words / all_words:.2%}), "
            f"{plural(part.tokens, 'token')} ({part.tokens / all_tokens:.2%})"
        )
    return "\n".join(lines)


def _short(word: str) -> str:
    return word if len(word) <= _LONGEST_EXAMPLE else word[: _LONGEST_EXAMPLE - 1] + "…"
