"""`stategram generate`: random sentences of a model."""

from __future__ import annotations

import click

from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    console_options,
    history_options,
    seed_option,
)
from stategram.cli.reading import format_for, read_model, takes_time
from stategram.display import plural
from stategram.models import HISTORIES
from stategram.models import generate as generate_sentences


@click.command(
    epilog="""\b
Examples:
  stategram generate model
  stategram generate model -n 1000 --seed 7 > sentences.txt
  stategram generate model --prefix "the president" --temperature 0.7
  stategram generate model --history adaptive -n 30""",
)
@click.argument("model_name", metavar="MODEL")
@click.option(
    "-n",
    "--n-sentences",
    type=click.IntRange(min=0),
    default=10,
    show_default=True,
    metavar="N",
    help="Number of sentences.",
)
@seed_option
@click.option(
    "--max-length",
    "max_words",
    type=click.IntRange(min=1),
    default=200,
    show_default=True,
    metavar="N",
    help="Cut sentences after N words.",
)
@click.option(
    "--temperature",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    show_default=True,
    metavar="T",
    help="Raise probabilities to 1/T: below 1, likely words get likelier.",
)
@click.option("--prefix", default="", metavar="WORDS", help="First words of each sentence.")
@click.option("--with-unk", is_flag=True, help="Draw <unk> like any other word instead of leaving it out.")
@history_options
@console_options
def generate(
    model_name: str,
    n_sentences: int,
    seed: int,
    max_words: int,
    temperature: float,
    prefix: str,
    with_unk: bool,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Print random sentences, drawn from MODEL, a model file or an ARPA file, one per line.

    The same seed gives the same sentences, and more of them begin with the same ones. With --history document
    or adaptive the sentences are a running text: each depends on those before it.
    """
    shown = console if takes_time(model_name) else Console(quiet=True)
    model = read_model(model_name, shown, reading, notes=console)
    text_format = format_for(model, reading, shown)
    # Bytes that are not UTF-8 come as surrogates, which cannot be written.
    given = prefix.encode(errors="surrogateescape").decode(errors="replace")
    found = generate_sentences(
        model,
        n_sentences,
        seed=seed,
        max_words=max_words,
        temperature=temperature,
        prefix=text_format.words_so_far(given),
        unknown=with_unk,
        running=reading.history != HISTORIES[0],
    )
    cut = 0
    try:
        for sentence in found:
            click.echo(" ".join(sentence.words))
            cut += not sentence.is_complete
    except KeyboardInterrupt:
        raise KeyboardInterrupt("sentences that were drawn are printed") from None
    if cut:
        console.info(f"note: {plural(cut, 'sentence was', 'sentences were')} cut after {max_words} words")
