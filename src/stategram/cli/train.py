"""`stategram train`: an n-gram model from text, or the models of a recipe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import click
import msgspec

from stategram.cli.checks import once, was_given
from stategram.cli.console import Console
from stategram.cli.options import (
    TEXT_OPTIONS,
    GroupedCommand,
    TextOptions,
    budget_options,
    common_options,
    document_text_options,
    guess_option,
    memory_options,
    setting_option,
)
from stategram.cli.outputs import bytes_of_command
from stategram.cli.reading import (
    opened_counts,
    read_count_files,
    read_heldout,
    read_large_text,
    read_text,
)
from stategram.cli.train_options import (
    CONTEXT_OPTIONS,
    check_counts,
    check_train,
    chosen_recipe,
    context_options,
    min_counts_of,
)
from stategram.counts import CountedText, NgramCounts
from stategram.evaluation import heldout_tables
from stategram.models import (
    Budget,
    Model,
)
from stategram.progress import subprogress
from stategram.recipes import NgramPart, TrainingText, never_stop, train_recipe
from stategram.storage import InputFile, expand_urls, input_files
from stategram.text import Corpus
from stategram.wording import command_line

_NGRAM = NgramPart.keys()
# What is in none of these is of the run.
_GROUPS = {
    "N-grams (without --recipe)": ("order", "smoothing", "min_count", "prune"),
    "Other inputs (without --recipe)": ("counts", "classes"),
    "Several models and their mixture": ("recipe", "context", "heldout", "tags", "no_guess"),
    "Clustered models (with --context)": CONTEXT_OPTIONS,
    "The text": TEXT_OPTIONS,
}


@click.command(
    cls=GroupedCommand,
    groups=_GROUPS,
    epilog="""\b
Examples:
  stategram train text.txt -o model
  stategram train *.txt.gz -o model --order 5 --memory 2G --tmp /scratch
  stategram train text.txt -o model --vocab 50000 --lowercase --digits N
  stategram train raw.txt -o model --tokenize prose --lowercase
  stategram train text.txt -o model --smoothing katz --min-count "1 1 2"
  zcat big.gz | stategram train - -o model --prune 1e-8
  stategram train tokens.txt -o model --order 6 --split ascii
  stategram train text.txt -o model --order 5 --max-size 50M
  stategram train counts.gz --counts -o model
  stategram train counts/ -o model --order 4
  stategram train text.txt --classes classes.tsv -o model
  stategram train text.txt --heldout heldout.txt -o model --recipe best
  stategram train text.txt --heldout heldout.txt -o model --recipe best --max-size 100M
  stategram train text.txt --heldout heldout.txt -o model --context t-3,w-1 --tags brill --states 500
  stategram train text.txt --heldout heldout.txt -o model --recipe mine.toml --checkpoint run --resume""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@click.option("-o", "--output", required=True, metavar="MODEL", help="The model file to write.")
@click.option("--force", is_flag=True, help="Replace an existing model.")
@setting_option("order", _NGRAM["order"].type, default=3, show_default=True)
@setting_option("smoothing", _NGRAM["smoothing"].type, default="kneser-ney", show_default=True)
@click.option(
    "--min-count",
    metavar="COUNTS",
    help='Minimal count of an n-gram: a number for each length, such as "1 1 2", or one for those of 3 '
    "and more words.  [default: 1; katz: 2]",
)
@budget_options()
@click.option(
    "--counts",
    is_flag=True,
    help="TEXT are count files, as stategram count --format srilm and SRILM's ngram-count -write write "
    "them; the result is the model of the counted text.",
)
@click.option(
    "--classes",
    metavar="FILE",
    help="Train an n-gram model of word classes instead, those of a class file in any format; --order is 5 "
    "by default.",
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
@document_text_options
@common_options
def train(
    texts: tuple[str, ...],
    output: str,
    force: bool,
    order: int,
    smoothing: str,
    min_count: str | None,
    budget: Budget,
    counts: bool,
    classes: str | None,
    recipe: str | None,
    context: str | None,
    heldout: str | None,
    tags: str | None,
    no_guess: bool,
    checkpoint: str | None,
    resume: bool,
    on_interrupt: str,
    seed: int,
    text: TextOptions,
    console: Console,
    **clustering: Any,
) -> None:
    """Train a model on TEXT: files with one sentence per line, words separated by white space.

    TEXT may also be the counts of a text of any size, a folder that stategram count wrote.

    The model is an n-gram model; with --context or --recipe, a mixture of it with clustered models and
    others, which takes longer and predicts better. A recipe with one part that learns no weights (an n-gram
    model, of words or of classes) needs no --heldout, and gives that model alone.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin. White space is that of Unicode (no-break spaces
    too), while ARPA files and KenLM know that of ASCII only; --split ascii is for texts such as NeMo's, whose
    tokens may be no-break spaces. The model appears in its place when all of it is
    written; nothing is left of an interrupted run but its checkpoint.
    """
    if counts:
        check_counts()
    min_counts = min_counts_of(min_count, order)
    ngram = NgramPart(order=order, smoothing=smoothing, min_counts=min_counts, prune=budget.prune or 0.0)
    budget = msgspec.structs.replace(budget, prune=None)  # n-grams are dropped before there is a model
    chosen = chosen_recipe(recipe, context, classes, ngram, clustering, heldout, tags, no_guess)
    chosen.check_budget(budget)
    texts = tuple(expand_urls(list(texts)))
    inputs = [("counts" if counts else "training", name) for name in texts]
    inputs += [("vocabulary", text.vocab_file)] if text.vocab_file else []
    inputs += [("held-out", heldout)] if heldout else []
    inputs += chosen.files()
    check_train(inputs, output, force=force, recipe=chosen, checkpoint=checkpoint, resume=resume)
    if budget.max_size is not None:
        budget = msgspec.structs.replace(budget, reserved=bytes_of_command([name for _, name in inputs]))
    console.steps = 4 if heldout else 3
    known: Sequence[InputFile] = ()
    source: TrainingText | None = None if counts else opened_counts(texts, console)
    if counts:
        source = read_count_files(texts, order if was_given("order") else None, text, console)
        text = replace(text, format=text.format.override({"split": source.vocabulary.split}))
    elif isinstance(source, CountedText):
        made = source.manifest
        text = TextOptions(made.text_format, made.vocabulary_size, made.vocabulary_file)
        known = made.inputs
        inputs = [(use, name) for use, name in inputs if use != "training"]
    elif heldout or chosen.needs_corpus:
        source = read_text(texts, text, console)
    else:
        source = read_large_text(texts, text, console)
    if isinstance(source, NgramCounts | CountedText) and chosen.part == [ngram] and not was_given("order"):
        min_counts = min_counts_of(min_count, source.order)
        ngram = msgspec.structs.replace(ngram, order=source.order, min_counts=min_counts)
        chosen = msgspec.structs.replace(chosen, part=[ngram])
    held = None if heldout is None else read_heldout(heldout, source.vocabulary, text, console)
    with _saying_how_to_continue(checkpoint), console.step(f"training: {chosen.title}") as progress:
        model = train_recipe(
            source,
            held,
            chosen,
            checkpoint=checkpoint,
            resume=resume,
            seed=seed,
            budget=budget,
            interruptible=console.finish_on_interrupt if on_interrupt == "save" else never_stop,
            progress=progress,
        )
    figures: dict[str, Any] = {
        "events": source.n_events,
        "sentences": source.n_sentences,
        "unknown": source.n_unknown,
        "parameters": model.parameters,
    }
    if held is not None:
        figures["heldout_perplexity"] = _show_heldout_perplexity(model, held, console)
    with console.step(f"writing {output}") as progress:
        files = [*known, *input_files(inputs, subprogress(progress, 0.0, 0.5))]
        words = {"vocabulary_size": text.vocab, "vocabulary_file": text.vocab_file}
        model = replace(model, metadata={**model.metadata, **words}, training_format=text.format)
        manifest = {"inputs": list(map(asdict, files)), "figures": figures, "seed": seed}
        model.save(output, manifest=manifest, overwrite=force)
    _show_what_is_next(model, output, checkpoint, console)


def _show_what_is_next(model: Model, output: str, checkpoint: str | None, console: Console) -> None:
    if checkpoint and any(part.metadata.get("ended_early") for part in model.parts or (model,)):
        console.info(f"      {checkpoint} is needed to do the rest: the same command with --resume --force")
    elif checkpoint:
        console.info(f"      {checkpoint} is no longer needed")
    console.info(f"      try: {command_line('eval', output, 'test.txt')}")


def _show_heldout_perplexity(model: Model, heldout: Corpus, console: Console) -> float | None:
    """Show and return the perplexity of the held-out text, None if it is infinite."""
    perplexity: float | None
    if model.parts:
        perplexity = model.training_info["perplexity"]
    else:
        perplexity = model.perplexity(heldout)
        perplexity = perplexity if math.isfinite(perplexity) else None
    console.tables(heldout_tables(model, perplexity))
    return perplexity


@contextmanager
def _saying_how_to_continue(checkpoint: str | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as end:
        if checkpoint is None:
            raise
        raise KeyboardInterrupt(f"progress saved in {checkpoint}; rerun with --resume to continue") from end
