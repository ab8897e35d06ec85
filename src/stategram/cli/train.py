"""`stategram train`: an n-gram model from text, or the models of a recipe."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from stategram.cli.checks import once
from stategram.cli.console import Console
from stategram.cli.context_options import CONTEXT_OPTIONS, context_options
from stategram.cli.grouped_help import GroupedCommand
from stategram.cli.options import TextOptions, common_options, guess_option, memory_options, text_options
from stategram.cli.reading import read_text
from stategram.cli.train_options import check_options, min_counts_of
from stategram.cli.train_recipe import train_by_recipe
from stategram.cli.train_record import inputs_of, recipe_of
from stategram.models import SMOOTHINGS, NgramModel
from stategram.storage import left_overs
from stategram.wording import plural

# What is in none of these is of the run.
_GROUPS = {
    "N-grams (without --recipe)": ("order", "smoothing", "min_count", "prune"),
    "Several models and their mixture": ("recipe", "context", "heldout", "tags", "no_guess"),
    "Clustered models (with --context)": CONTEXT_OPTIONS,
    "The text": ("vocab", "vocab_file", "lowercase", "digits", "encoding_errors"),
}


@click.command(
    cls=GroupedCommand,
    groups=_GROUPS,
    short_help="Train a model on a text.",
    epilog="""\b
Examples:
  stategram train text.txt -o model
  stategram train *.txt.gz -o model --order 5 --memory 2G --tmp /scratch
  stategram train text.txt -o model --vocab 50000 --lowercase --digits N
  stategram train text.txt -o model --smoothing katz --min-count "1 1 2"
  zcat big.gz | stategram train - -o model --prune 1e-8
  stategram train text.txt --heldout heldout.txt -o model --recipe best
  stategram train text.txt --heldout heldout.txt -o model --context t-3,w-1 --tags brill --states 500
  stategram train text.txt --heldout heldout.txt -o model --recipe mine.toml --checkpoint run --resume""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The model folder to write.")
@click.option("--force", is_flag=True, help="Replace the model if there is one already.")
@click.option(
    "--order",
    type=click.IntRange(1, 9),
    default=3,
    show_default=True,
    metavar="N",
    help="Number of words of the longest n-grams.",
)
@click.option(
    "--smoothing",
    type=click.Choice(SMOOTHINGS),
    default="kneser-ney",
    show_default=True,
    help="How probabilities are estimated: kneser-ney is modified and interpolated, katz backs off with "
    "Good-Turing discounts.",
)
@click.option(
    "--min-count",
    metavar="COUNTS",
    help='How often an n-gram must occur: a number for each length, such as "1 1 2", or one for those of 3 '
    "and more words.  [default: 1; katz: 2]",
)
@click.option(
    "--prune",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="SHARE",
    help="Drop n-grams without which the perplexity rises by less than this share, such as 1e-8.",
)
@click.option(
    "--recipe",
    multiple=True,
    callback=once,
    metavar="NAME|FILE",
    help="Train several models and mix them: fast, best, paper (Ueberla and Gransden 1996), or a TOML file, "
    "whose keys are in docs/recipes.md.",
)
@context_options
@click.option(
    "--heldout",
    multiple=True,
    callback=once,
    metavar="FILE",
    help="With --recipe or --context: the text on which weights are learned.",
)
@click.option(
    "--tags",
    multiple=True,
    callback=once,
    metavar="SOURCE",
    help="Tags of contexts that need some: brill, a file of words and tags, or FILE.conllu.",
)
@guess_option
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Keep there what is done, to go on after a crash.",
)
@click.option("--resume", is_flag=True, help="Go on from what is in --checkpoint, if something is.")
@click.option(
    "--on-interrupt",
    type=click.Choice(["quit", "save"]),
    default="quit",
    show_default=True,
    help="save: Ctrl-C ends the clustering under way with the best so far, and goes on.",
)
@memory_options
@text_options
@common_options
def train(texts: tuple[str, ...], **options: Any) -> None:
    """Train a model on TEXT: files with a sentence a line, words separated by white space.

    It is an n-gram model; with --context or --recipe, a mixture of it with clustered models and others, which
    takes longer and predicts better. A recipe with one part gives that model alone.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin. White space is that of Unicode (no-break spaces
    too), while ARPA files and KenLM know that of ASCII only. The model appears in its place when all of it is
    written; nothing is left of an interrupted run but its checkpoint.
    """
    recipe = check_options(texts, options)
    if recipe is not None:
        _say_left_overs(Path(options["output"]).absolute(), Console(quiet=options["quiet"]))
        train_by_recipe(texts, recipe, options)
        return
    min_counts = min_counts_of(options)
    console = Console(quiet=options["quiet"], verbose=options["verbose"], steps=3)
    _say_left_overs(Path(options["output"]).absolute(), console)
    model = _train(texts, min_counts, options, console)
    with console.step(f"writing {options['output']}") as report:
        inputs = inputs_of(texts, report)
        model = replace(model, metadata=recipe_of(model, options))
        figures = {
            **{name: model.training_info[name] for name in ("events", "sentences", "unknown")},
            "ngrams": list(model.trie.sizes),
            "parameters": model.parameters,
        }
        model.save(Path(options["output"]).absolute(), manifest={"inputs": inputs, "figures": figures})
    console.say(f"      try: stategram eval {options['output']} test.txt")


def _say_left_overs(output: Path, console: Console) -> None:
    for left in left_overs(output):
        if left.suffix == ".replaced" and not output.exists():
            console.say(f"note: {left} is the model that was in {output}; a run that replaced it was killed")
        else:
            console.say(f"note: {left} is of a run that was killed; if no other writes it now, remove it")


def _train(
    texts: tuple[str, ...], min_counts: tuple[int, ...] | None, options: dict[str, Any], console: Console
) -> NgramModel:
    waiting = [read_text(texts, TextOptions.from_values(options), console)]
    with console.step(f"counting and estimating ({options['smoothing']})") as report:
        model = NgramModel.train(
            waiting.pop(),  # no name holds the text here: its memory is needed
            options["order"],
            smoothing=options["smoothing"],
            min_counts=min_counts,
            prune=options["prune"],
            progress=report,
        )
    sizes = " + ".join(f"{size:,}" for size in model.trie.sizes)
    lengths = "1 word" if model.order == 1 else f"1 to {model.order} words"
    console.say(f"      n-grams of {lengths}: {sizes}")
    for note in model.training_info["notes"]:
        console.say(f"      note: {note}")
    for length, discounts in enumerate(model.training_info["discounts"], 1):
        shown = " ".join(f"{discount:.4f}" for discount in discounts)
        console.detail(f"      discounts of n-grams of {plural(length, 'word')}: {shown}")
    return model
