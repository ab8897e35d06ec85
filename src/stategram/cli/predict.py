"""`stategram predict`: the most likely next words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click
import numpy as np

from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    console_options,
    history_options,
    json_option,
)
from stategram.cli.reading import format_for, read_model, takes_time
from stategram.display import Column, display_table, json_text, table_text
from stategram.errors import BadDataError
from stategram.models import Model, open_sentence, state_after
from stategram.text import (
    BEGIN,
    SPECIAL_WORDS,
    UNKNOWN,
    UnknownCount,
    conversion_advice,
    read_lines,
    spelled_corpus,
)


@dataclass(frozen=True)
class _NextWord:
    word: str
    probability: float
    cumulative: float
    order: int | None
    """None if the model is not one of n-grams."""


@dataclass(frozen=True)
class _Prediction:
    history: list[str]
    unknown: list[str]
    note: str | None
    """What to do if most words are unknown."""
    matched: int | None
    words: list[_NextWord]


@click.command(
    epilog="""\b
Examples:
  stategram predict model "the united"
  stategram predict model "of the" --no-start --top 3
  stategram predict model "" --json
  stategram predict model - < histories.txt""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("words")
@click.option(
    "--top",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of words.",
)
@click.option("--no-start", is_flag=True, help="WORDS are not the start of a sentence.")
@json_option
@history_options
@console_options
def predict(
    model_name: str,
    words: str,
    top: int,
    no_start: bool,
    as_json: bool,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Print the most likely next words after WORDS, by MODEL, a model file or an ARPA file.

    If WORDS is - histories are read from stdin, one per line; the columns, separated by tabs, are then line,
    word, probability, cumulative probability, and the length of the n-gram that gave the probability (- if
    MODEL is not one of n-grams). The answer to a line is printed before the next one is read.
    """
    if model_name == "-" and words == "-":
        raise click.UsageError("stdin (-) can be read only once; give a file for the model")
    shown = console if takes_time(model_name) else Console(quiet=True)
    model = read_model(model_name, shown, reading, notes=console)
    text_format = format_for(model, reading, shown)
    # Bytes that are not UTF-8 come as surrogates, which cannot be written.
    given = words.encode(errors="surrogateescape").decode(errors="replace")
    histories = _histories() if words == "-" else iter([given])
    for number, line in enumerate(histories, 1):
        found = _predict(model, text_format.words_so_far(line), top, not no_start)
        if as_json:
            click.echo(json_text(found))
        elif words == "-":
            lines = (
                f"{number}\t{one.word}\t{one.probability:.8g}\t{one.cumulative:.8g}\t{one.order or '-'}"
                for one in found.words
            )
            click.echo("\n".join(lines))
        else:
            click.echo(_as_table(found))
        if found.unknown:
            console.info(f"not in the vocabulary: {' '.join(found.unknown)}")


def _histories() -> Iterator[str]:
    number = 0
    for lines in read_lines("-", live=True):
        for number, line in enumerate(lines.data.removesuffix(b"\n").split(b"\n"), lines.line):
            try:
                yield line.decode()
            except UnicodeDecodeError as error:
                raise BadDataError(
                    f"<stdin>:{number}: not UTF-8 ({error.reason}); {conversion_advice(line, error.start)}"
                ) from error
    if number == 0:
        raise BadDataError("<stdin>: no histories in it; expected one per line, an empty line for none")


def _predict(model: Model, history: list[str], top: int, sentence_start: bool) -> _Prediction:
    state = state_after(model, history, sentence_start=sentence_start)
    found = [one for one in model.predict(state, top + 1) if one[0] != SPECIAL_WORDS[BEGIN]][:top]
    words, chosen = zip(*found, strict=True)
    orders: list[int | None] = [None] * len(words)
    matched = None
    if model.advance(state, words[0]).order is not None:
        orders = [model.advance(state, word).order for word in words]
        next_word = open_sentence(model, words[:1])
        matched = int(model.score(next_word, features=["length"], state=state).features["length"][0])
    text = spelled_corpus(model.vocabulary, [history])
    count = UnknownCount()
    count.add(text, text.in_vocabulary(model.vocabulary))
    return _Prediction(
        history=history,
        unknown=[word for word in history if model.vocabulary.id(word) == UNKNOWN],
        note=count.note,
        matched=matched,
        words=[
            _NextWord(*one) for one in zip(words, chosen, np.cumsum(chosen).tolist(), orders, strict=True)
        ],
    )


def _as_table(found: _Prediction) -> str:
    numbers = [Column(title, "number") for title in ("probability", "cumulative", "n-gram")]
    rows = [(f"{one.probability:.6f}", f"{one.cumulative:.6f}", one.order, one.word) for one in found.words]
    return table_text(display_table("", (*numbers, "word"), rows))
