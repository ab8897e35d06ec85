"""`stategram train`: an n-gram model from text, or the models of a recipe."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import click
import msgspec

from stategram.cli.checks import once, was_given
from stategram.cli.console import Console
from stategram.cli.context_options import CONTEXT_OPTIONS, context_options
from stategram.cli.options import (
    TEXT_OPTIONS,
    GroupedCommand,
    TextOptions,
    common_options,
    compact_option,
    document_text_options,
    guess_option,
    max_ngrams_option,
    memory_options,
)
from stategram.cli.outputs import bytes_of_command, size_in
from stategram.cli.reading import (
    opened_counts,
    read_count_files,
    read_heldout,
    read_large_text,
    read_text,
)
from stategram.cli.train_checks import (
    budget_of,
    check_counts,
    check_train,
    chosen_recipe,
    class_recipe,
    min_counts_of,
)
from stategram.counts import ShardedText
from stategram.evaluation import heldout_tables
from stategram.models import (
    SMOOTHINGS,
    Model,
    NgramModel,
    compact_model,
    compacted_size,
    prune_model,
)
from stategram.progress import subprogress
from stategram.recipes import Interruptible, NgramPart, Recipe, never_stop, train_recipe
from stategram.storage import InputFile, expand_urls, input_files
from stategram.text import SPECIAL_WORDS, Corpus
from stategram.wording import command_line, plural

# What is in none of these is of the run.
_GROUPS = {
    "N-grams (without --recipe)": (
        "order",
        "smoothing",
        "min_count",
        "prune",
        "max_ngrams",
    ),
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
@max_ngrams_option
@click.option(
    "--max-size",
    metavar="SIZE",
    help="The largest model file that fits, such as 50M: what pays least per byte is left out, n-grams and "
    "contexts seen once first.",
)
@compact_option
@click.option(
    "--counts",
    is_flag=True,
    help="TEXT are count files, as stategram counts and SRILM's ngram-count -write write them; the model is "
    "that of their text.",
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
    prune: float,
    max_ngrams: int | None,
    max_size: str | None,
    compact: bool,
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
    min_counts = min_counts_of(min_count, order)
    budget = budget_of(prune, max_ngrams, max_size)
    ngram = NgramPart(order=order, smoothing=smoothing, min_counts=min_counts, prune=prune)
    check_counts(counts, recipe, context, classes)
    if classes is not None:
        found: Recipe | None = class_recipe(classes, ngram, recipe, context, heldout)
    else:
        found = chosen_recipe(recipe, context, ngram, clustering, heldout, tags, no_guess)
    texts = tuple(expand_urls(list(texts)))
    inputs = [("counts" if counts else "training", name) for name in texts]
    inputs += [("vocabulary", text.vocab_file)] if text.vocab_file else []
    inputs += [("held-out", heldout)] if heldout else []
    inputs += found.files() if found is not None else []
    check_train(inputs, output, force=force, recipe=found, checkpoint=checkpoint, resume=resume)
    if compact and found is not None and not any(part.has_ngrams for part in found.part):
        raise click.UsageError(f"the recipe {found.name} has no n-grams to round; leave out --compact")
    model: Model
    manifest: dict[str, Any]
    console.steps = (3 + bool(budget) if found is None else 4 if heldout else 3) + compact
    counted = None if counts else opened_counts(texts, console)
    if counted is not None:
        text = TextOptions(counted.text_format, counted.vocabulary_size, counted.vocabulary_file)
        inputs = [(use, name) for use, name in inputs if use != "training"]
        if not was_given("order"):
            min_counts = min_counts_of(min_count, counted.order)
            ngram = msgspec.structs.replace(ngram, order=counted.order, min_counts=min_counts)
    if found is None:
        if counts:
            trained = _train_on_counts(texts, ngram, min_count, text, console)
            split = text.format.override({"split": trained.vocabulary.split})
            text = replace(text, format=split)
        else:
            waiting = [counted if counted is not None else read_large_text(texts, text, console)]
            trained = _train_ngram(waiting, ngram, console)
        size_of: Callable[[Model], int] = size_in(output, texts, arpa=False)
        if compact:
            size_of = partial(compacted_size, size_of=size_of)
        model, figures = _finish_ngram(trained, prune, budget, size_of, console)
        manifest = {"figures": figures}
        inputs = [(use, name) for use, name in inputs if use in ("training", "counts")]
    else:
        model, figures = _train_by_recipe(
            counted if counted is not None else read_text(texts, text, console),
            heldout,
            found,
            text,
            checkpoint,
            resume,
            seed,
            max(1, budget["max_size"] - bytes_of_command([name for _, name in inputs])) if max_size else None,
            console.finish_on_interrupt if on_interrupt == "save" else never_stop,
            console,
        )
        manifest = {"figures": figures, "seed": seed}
    if compact:
        with console.step("rounding") as progress:
            model = compact_model(model, progress=progress)
    known = [] if counted is None else counted.inputs
    _write(model, output, inputs, known, manifest, text, force, console)
    _show_what_is_next(model, output, checkpoint, console)


def _show_what_is_next(model: Model, output: str, checkpoint: str | None, console: Console) -> None:
    if checkpoint and any(part.metadata.get("ended_early") for part in model.parts or (model,)):
        console.info(f"      {checkpoint} is needed to do the rest: the same command with --resume --force")
    elif checkpoint:
        console.info(f"      {checkpoint} is no longer needed")
    console.info(f"      try: {command_line('eval', output, 'test.txt')}")


def _train_ngram(waiting: list[Corpus | ShardedText], part: NgramPart, console: Console) -> NgramModel:
    """Train on a text, which is taken from a list: no name holds it, as its memory is needed."""
    with console.step(f"counting and estimating ({part.smoothing})") as progress:
        return NgramModel.train(
            waiting.pop(),
            part.order,
            smoothing=part.smoothing,
            min_counts=part.min_counts,
            prune=part.prune,
            progress=progress,
        )


def _train_on_counts(
    names: Sequence[str], part: NgramPart, min_count: str | None, text: TextOptions, console: Console
) -> NgramModel:
    """Read count files and train."""
    counts = read_count_files(names, part.order if was_given("order") else None, text, console)
    words = plural(len(counts.vocabulary) - len(SPECIAL_WORDS), "word")
    console.info(f"      counts of {plural(counts.report['events'], 'event')}, a vocabulary of {words}")
    with console.step(f"estimating ({part.smoothing})") as progress:
        return NgramModel.from_counts(
            counts,
            smoothing=part.smoothing,
            min_counts=min_counts_of(min_count, counts.order),
            prune=part.prune,
            progress=progress,
        )


def _finish_ngram(
    model: NgramModel,
    prune: float,
    budget: Mapping[str, int],
    size_of: Callable[[Model], int],
    console: Console,
) -> tuple[NgramModel, dict[str, Any]]:
    """Prune a model to its budget, show what it is; return it with its settings, and its figures."""
    if budget:
        with console.step("pruning") as progress:
            model = prune_model(model, **budget, size_of=size_of, progress=progress)
    sizes = " + ".join(f"{size:,}" for size in model.trie.sizes)
    lengths = "1 word" if model.order == 1 else f"1 to {model.order} words"
    console.info(f"      n-grams of {lengths}: {sizes}")
    for note in model.training_info["notes"]:
        console.info(f"      note: {note}")
    for length, discounts in enumerate(model.training_info["discounts"], 1):
        shown = " ".join(f"{discount:.4f}" for discount in discounts)
        console.detail(f"      discounts of n-grams of {plural(length, 'word')}: {shown}")
    settings = {
        "order": model.order,
        "smoothing": model.smoothing,
        "min_counts": list(model.training_info["min_counts"]),
        "prune": prune,
    }
    figures = {
        **{name: model.training_info[name] for name in ("events", "sentences", "unknown")},
        "ngrams": list(model.trie.sizes),
        "parameters": model.parameters,
    }
    return replace(model, metadata=settings), figures


def _train_by_recipe(
    corpus: Corpus | ShardedText,
    heldout_name: str | None,
    recipe: Recipe,
    text: TextOptions,
    checkpoint: str | None,
    resume: bool,
    seed: int,
    max_size: int | None,
    interruptible: Interruptible,
    console: Console,
) -> tuple[Model, dict[str, Any]]:
    """Train, show what the model is worth on the held-out text; return it, and its figures."""
    heldout = None if heldout_name is None else read_heldout(heldout_name, corpus.vocabulary, text, console)
    with (
        _saying_how_to_continue(checkpoint),
        console.step(f"training by the recipe {recipe.name}") as progress,
    ):
        model = train_recipe(
            corpus,
            heldout,
            recipe,
            checkpoint=checkpoint,
            resume=resume,
            seed=seed,
            max_size=max_size,
            interruptible=interruptible,
            progress=progress,
        )
    figures: dict[str, Any] = {
        "events": corpus.n_events,
        "sentences": corpus.n_sentences,
        "unknown": corpus.n_unknown,
    }
    if heldout is not None:
        figures["heldout_perplexity"] = _show_heldout_perplexity(model, heldout, console)
    return model, {**figures, "parameters": model.parameters}


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


def _write(
    model: Model,
    output: str,
    inputs: Sequence[tuple[str, str]],
    known: Sequence[InputFile],
    manifest: Mapping[str, Any],
    text: TextOptions,
    force: bool,
    console: Console,
) -> None:
    with console.step(f"writing {output}") as progress:
        files = [*known, *input_files(inputs, subprogress(progress, 0.0, 0.5))]
        words = {"vocabulary_size": text.vocab, "vocabulary_file": text.vocab_file}
        model = replace(model, metadata={**model.metadata, **words}, training_format=text.format)
        model.save(output, manifest={"inputs": list(map(asdict, files)), **manifest}, overwrite=force)


@contextmanager
def _saying_how_to_continue(checkpoint: str | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as end:
        if checkpoint is None:
            raise
        raise KeyboardInterrupt(f"progress saved in {checkpoint}; rerun with --resume to continue") from end
