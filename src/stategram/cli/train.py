"""`stategram train`: an n-gram model from text, or the models of a recipe."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path

import click

from stategram.cli.checks import once
from stategram.cli.console import Console
from stategram.cli.context_options import CONTEXT_OPTIONS, ContextOptions, context_options
from stategram.cli.options import (
    GroupedCommand,
    TextOptions,
    common_options,
    guess_option,
    memory_options,
    text_options,
)
from stategram.cli.reading import read_text
from stategram.cli.train_checks import check_train, chosen_recipe, min_counts_of
from stategram.cli.train_recipe import text_settings, train_by_recipe
from stategram.experiments import NgramPart
from stategram.models import SMOOTHINGS, NgramModel
from stategram.progress import subprogress
from stategram.storage import input_files, temporary_files
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
@click.option("--force", is_flag=True, help="Replace an existing model.")
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
    help="Estimation of probabilities: kneser-ney is modified and interpolated, katz backs off with "
    "Good-Turing discounts.",
)
@click.option(
    "--min-count",
    metavar="COUNTS",
    help='Minimal count of an n-gram: a number for each length, such as "1 1 2", or one for those of 3 '
    "and more words.  [default: 1; katz: 2]",
)
@click.option(
    "--prune",
    type=click.FloatRange(min=0),
    default=0.0,
    metavar="FRACTION",
    help="Drop n-grams without which the perplexity rises by less than this fraction, such as 1e-8.",
)
@click.option(
    "--recipe",
    multiple=True,
    callback=once,
    metavar="NAME|FILE",
    help="Train several models and mix them: fast, best, paper (Ueberla and Gransden 1996), or a TOML file; "
    "its keys are in docs/recipes.md.",
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
@click.option("--checkpoint", metavar="FOLDER", help="Save progress there, to continue after a crash.")
@click.option("--resume", is_flag=True, help="Continue from --checkpoint.")
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
def train(
    texts: tuple[str, ...],
    output: str,
    force: bool,
    order: int,
    smoothing: str,
    min_count: str | None,
    prune: float,
    recipe: str | None,
    clustering: ContextOptions,
    heldout: str | None,
    tags: str | None,
    no_guess: bool,
    checkpoint: str | None,
    resume: bool,
    on_interrupt: str,
    seed: int,
    text: TextOptions,
    console: Console,
) -> None:
    """Train a model on TEXT: files with one sentence per line, words separated by white space.

    It is an n-gram model; with --context or --recipe, a mixture of it with clustered models and others, which
    takes longer and predicts better. A recipe with one part gives that model alone.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin. White space is that of Unicode (no-break spaces
    too), while ARPA files and KenLM know that of ASCII only. The model appears in its place when all of it is
    written; nothing is left of an interrupted run but its checkpoint.
    """
    min_counts = min_counts_of(min_count, order)
    ngram = NgramPart(order=order, smoothing=smoothing, min_counts=min_counts, prune=prune)
    found = chosen_recipe(recipe, ngram, clustering, heldout, tags, no_guess)
    inputs = [("training", name) for name in texts]
    inputs += [("vocabulary", text.vocab_file)] if text.vocab_file else []
    inputs += [("held-out", heldout)] if heldout else []
    inputs += found.files() if found is not None else []
    check_train(inputs, output, force=force, recipe=found, checkpoint=checkpoint, resume=resume)
    _note_stale(Path(output).absolute(), console)
    if found is not None and heldout is not None:
        train_by_recipe(
            texts,
            heldout,
            found,
            output,
            text=text,
            inputs=inputs,
            checkpoint=checkpoint,
            resume=resume,
            save_on_interrupt=on_interrupt == "save",
            seed=seed,
            console=console,
        )
        return
    console.steps = 3
    model = _train(texts, ngram, text, console)
    with console.step(f"writing {output}") as progress:
        files = input_files(
            [(use, name) for use, name in inputs if use == "training"], subprogress(progress, 0.0, 0.5)
        )
        settings = {
            "order": model.order,
            "smoothing": model.smoothing,
            "min_counts": list(model.training_info["min_counts"]),
            "prune": prune,
        }
        model = replace(model, metadata=settings | text_settings(text))
        figures = {
            **{name: model.training_info[name] for name in ("events", "sentences", "unknown")},
            "ngrams": list(model.trie.sizes),
            "parameters": model.parameters,
        }
        manifest = {"inputs": list(map(asdict, files)), "figures": figures}
        model.save(Path(output).absolute(), manifest=manifest)
    console.info(f"      try: stategram eval {output} test.txt")


def _note_stale(output: Path, console: Console) -> None:
    """Show what killed runs have left of the output."""
    for stale in temporary_files(output):
        if stale.suffix == ".replaced" and not output.exists():
            console.info(
                f"note: {stale} is the model that was in {output}; a run that replaced it was killed"
            )
        else:
            console.info(f"note: {stale} is of a run that was killed; if no other writes it now, remove it")


def _train(texts: tuple[str, ...], part: NgramPart, text: TextOptions, console: Console) -> NgramModel:
    waiting = [read_text(texts, text, console)]
    with console.step(f"counting and estimating ({part.smoothing})") as progress:
        model = NgramModel.train(
            waiting.pop(),  # no name holds the text here: its memory is needed
            part.order,
            smoothing=part.smoothing,
            min_counts=part.min_counts,
            prune=part.prune,
            progress=progress,
        )
    sizes = " + ".join(f"{size:,}" for size in model.trie.sizes)
    lengths = "1 word" if model.order == 1 else f"1 to {model.order} words"
    console.info(f"      n-grams of {lengths}: {sizes}")
    for note in model.training_info["notes"]:
        console.info(f"      note: {note}")
    for length, discounts in enumerate(model.training_info["discounts"], 1):
        shown = " ".join(f"{discount:.4f}" for discount in discounts)
        console.detail(f"      discounts of n-grams of {plural(length, 'word')}: {shown}")
    return model
