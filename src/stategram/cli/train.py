"""`stategram train`: an n-gram model from text, or the models of a recipe."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import msgspec

from stategram.cli.checks import check_inputs, is_same_file, option_name, refuse_options
from stategram.cli.console import Console
from stategram.cli.options import (
    TextOptions,
    budget_options,
    common_options,
    document_text_options,
    force_option,
    heldout_option,
    memory_options,
    once,
    order_option,
    output_option,
    setting_option,
    tags_option,
)
from stategram.cli.outputs import bytes_of_command, check_output
from stategram.cli.reading import (
    hold_counts,
    opened_counts,
    read_count_files,
    read_heldout,
    read_large_text,
    read_text,
)
from stategram.clustering import is_size
from stategram.counts import CountedText, NgramCounts, Workspace
from stategram.display import command_line
from stategram.errors import StategramError, UsageError
from stategram.evaluation import heldout_tables
from stategram.models import Budget, Model, check_min_counts
from stategram.progress import subprogress
from stategram.recipes import (
    CategoryNgramPart,
    ClusteredPart,
    NgramPart,
    Recipe,
    TrainingText,
    read_recipe,
    train_recipe,
)
from stategram.storage import check_store, expand_urls, input_files
from stategram.text import Corpus

_NGRAM = NgramPart.keys()
_ORDER = 3
# N-grams of classes are dense: longer ones pay.
_ORDER_OF_CLASSES = 5
_MAX_DIGITS = 9
_LONGEST_SHOWN = 40


@click.command(
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
  stategram train counts.gz -o model
  stategram train counts/ -o model --order 4
  stategram train text.txt --classes classes.tsv -o model
  stategram train text.txt --heldout heldout.txt -o model --recipe best
  stategram train text.txt --heldout heldout.txt -o model --recipe best --max-size 100M
  stategram train text.txt --heldout heldout.txt -o model --context t-3,w-1 --tags brill
  stategram train text.txt --heldout heldout.txt -o model --recipe mine.toml --checkpoint run""",
)
@click.argument("texts", nargs=-1, required=True, metavar="TEXT...")
@output_option("Model file to write.")
@force_option
@order_option("  [default: 3, with --classes 5, or that of the counts]", default=None)
@setting_option("smoothing", _NGRAM["smoothing"].type, default="kneser-ney", show_default=True)
@click.option(
    "--min-count",
    metavar="COUNTS",
    help='Minimum count of an n-gram: a number for each length, such as "1 1 2", or one number for lengths '
    "of 3 and more.  [default: 1; katz: 2]",
)
@budget_options()
@click.option(
    "--classes",
    metavar="FILE",
    help="Train an n-gram model of the word classes in this class file, of any format.",
)
@click.option(
    "--recipe",
    multiple=True,
    callback=once,
    metavar="NAME|FILE",
    help="What to train: fast or best, word tree models; paper, the mixture of Ueberla and Gransden 1996; or "
    "a TOML file (docs/recipes.md).",
)
@click.option(
    "--context",
    multiple=True,
    callback=once,
    metavar="VALUES",
    help="Mix the n-gram model with a clustered model of these contexts: w-2,w-1 or g-3,g-2,w-1 or "
    "t-4,t-3,t-2,t-1. Its settings are keys of recipes.",
)
@heldout_option
@tags_option()
@click.option(
    "--checkpoint",
    metavar="FOLDER",
    help="Save progress in this folder; the same command continues after a crash.",
)
@memory_options
@document_text_options
@common_options
def train(
    texts: tuple[str, ...],
    output: str,
    force: bool,
    order: int | None,
    smoothing: str,
    min_count: str | None,
    budget: Budget,
    classes: str | None,
    recipe: str | None,
    context: str | None,
    heldout: str | None,
    tags: str | None,
    checkpoint: str | None,
    seed: int,
    text: TextOptions,
    console: Console,
) -> None:
    """Train a model on TEXT: files with one sentence per line, words separated by white space.

    TEXT may also be counts: a folder written by stategram count, or count files as stategram count --format
    srilm and SRILM's ngram-count -write write them, with an n-gram, a tab and its count on each line.

    The model is an n-gram model; with --context or --recipe it is a mixture of several models or a word tree
    (--recipe fast, best), which takes longer and predicts better. What learns weights needs a held-out text
    (--heldout) of a few thousand sentences; a recipe with one n-gram model needs none, but fits the
    probability of <unk> to it.

    Files may be compressed (.gz .xz .bz2 .zst); - is stdin, always a text. White space is that of Unicode
    (no-break spaces too), while ARPA files and KenLM know that of ASCII only; --split ascii is for texts such
    as NeMo's, whose tokens may be no-break spaces. The model is written atomically; an interrupted run leaves
    only its checkpoint.
    """
    ngram = NgramPart(
        order=order or _ORDER,
        smoothing=smoothing,
        min_counts=_min_counts(min_count, order or _ORDER),
        prune=budget.prune or 0.0,
    )
    budget = msgspec.structs.replace(budget, prune=None)  # n-grams are dropped before there is a model
    chosen = _recipe(recipe, context, classes, ngram, order, tags)
    chosen.check_budget(budget)
    texts = tuple(expand_urls(list(texts)))
    _check_texts(texts, heldout, chosen)
    inputs = [("vocabulary", text.vocab_file)] if text.vocab_file else []
    inputs += [("held-out", heldout)] if heldout else []
    inputs += chosen.files()
    names = [*texts, *(name for _, name in inputs)]
    check_inputs(names)
    check_output(output, names, arpa=False, force=force)
    Workspace()  # refuses too little memory, and a folder that cannot be written
    if checkpoint is not None:
        _check_checkpoint(checkpoint, output)
    for part in chosen.part:
        part.check_files()
    if budget.max_size is not None:
        budget = msgspec.structs.replace(budget, reserved=bytes_of_command(names))
    console.steps = 4 if heldout else 3
    source, text, use = _read(texts, text, order, console, whole=chosen.needs_heldout or chosen.needs_corpus)
    if isinstance(source, NgramCounts | CountedText) and chosen.part == [ngram] and order is None:
        min_counts = _min_counts(min_count, source.order)
        ngram = msgspec.structs.replace(ngram, order=source.order, min_counts=min_counts)
        chosen = msgspec.structs.replace(chosen, part=[ngram])
    held = None if heldout is None else read_heldout(heldout, source.vocabulary, text, console)
    with _saying_how_to_continue(checkpoint), console.step(f"training: {chosen.title}") as progress:
        model = train_recipe(
            source, held, chosen, checkpoint=checkpoint, seed=seed, budget=budget, progress=progress
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
        files = list(source.manifest.inputs) if isinstance(source, CountedText) else []
        if use:
            inputs = [(use, name) for name in texts] + inputs
        files += input_files(inputs, subprogress(progress, 0.0, 0.5))
        words = {"vocabulary_size": text.vocab, "vocabulary_file": text.vocab_file}
        model = replace(model, metadata={**model.metadata, **words}, training_format=text.format)
        manifest = {"inputs": list(map(asdict, files)), "figures": figures, "seed": seed}
        model.save(output, manifest=manifest, overwrite=force)
    if checkpoint:
        console.info(f"      {checkpoint} is no longer needed")
    console.info(f"      try: {command_line('eval', output, 'test.txt')}")


def _read(
    texts: Sequence[str], text: TextOptions, order: int | None, console: Console, *, whole: bool
) -> tuple[TrainingText, TextOptions, str]:
    """Return the text or the counts, how they were read, and the use of the files; "" for kept counts."""
    if (counted := opened_counts(texts, console)) is not None:
        made = counted.manifest
        read_as = made.text_format.override({"text_column": text.format.text_column})
        return counted, TextOptions(read_as, made.vocabulary_size, made.vocabulary_file), ""
    if hold_counts(texts):
        counts = read_count_files(texts, order, text, console)
        read_as = text.format.override({"split": counts.vocabulary.split})
        return counts, replace(text, format=read_as), "counts"
    read = read_text if whole else read_large_text
    return read(texts, text, console), text, "training"


def _recipe(
    recipe: str | None,
    context: str | None,
    classes: str | None,
    ngram: NgramPart,
    order: int | None,
    tags: str | None,
) -> Recipe:
    """Return the recipe of --recipe, --context or --classes; without them, that of an n-gram model."""
    chosen = {"classes": classes, "context": context, "recipe": recipe}
    kinds = [option_name(kind) for kind, value in chosen.items() if value is not None]
    if len(kinds) > 1:
        raise click.UsageError(f"{' and '.join(kinds)} both choose what to train; give one of them")
    if recipe is not None:
        refuse_options(
            ("order", "smoothing", "min_count", "prune"),
            "cannot be combined with --recipe; write it into the recipe",
        )
        found = read_recipe(recipe)
    elif classes is not None:
        refuse_options(("min_count", "prune"), "cannot be combined with --classes; leave it out")
        # A file may have the name of a number of classes.
        file = f"./{classes}" if is_size(classes) else classes
        part = CategoryNgramPart(classes=file, order=order or _ORDER_OF_CLASSES, smoothing=ngram.smoothing)
        found = Recipe(name="classes", part=[part])
    elif context is not None:
        clustered = ClusteredPart(context=context)
        clustered.check(option_name)
        found = Recipe(name=clustered.context, part=[ngram, clustered])
    else:
        found = Recipe(name="ngram", part=[ngram])
    if tags and not any(part.lacks_tags for part in found.part):
        if not kinds:
            raise click.UsageError(
                "--tags is for contexts of tags: add --context, such as t-3,w-1, or a --recipe with some"
            )
        raise click.UsageError(f"recipe {found.name} has no context that needs --tags; remove it")
    try:
        return found.with_tags(tags)
    except UsageError as error:
        raise UsageError(f"{error} (--tags)") from error


def _check_texts(texts: Sequence[str], heldout: str | None, recipe: Recipe) -> None:
    """Refuse a recipe without the held-out text that it needs, and one that is a training text."""
    if heldout is None and recipe.needs_heldout:
        raise click.UsageError(
            f"recipe {recipe.name} learns weights on a text that no model has seen: give --heldout FILE, "
            "some thousand sentences that are not in TEXT"
        )
    if heldout is not None and any(is_same_file(heldout, text) for text in texts if text != "-"):
        raise click.UsageError(
            f"the held-out text {heldout} is a training text too: all weight would go to the model that "
            "remembers it best; give a text of which nothing is in TEXT"
        )


def _min_counts(given: str | None, order: int) -> list[int] | None:
    """Return the number for each length of n-grams that --min-count means; None without it."""
    if given is None:
        return None
    parts = given.replace(",", " ").split()
    if not parts or not all(part.isascii() and part.isdigit() and len(part) <= _MAX_DIGITS for part in parts):
        shown = given if len(given) <= _LONGEST_SHOWN else given[:_LONGEST_SHOWN] + "..."
        raise click.UsageError(
            f'--min-count {shown!r}: expected numbers of up to {_MAX_DIGITS} digits, such as 2 or "1 1 2"'
        )
    numbers = list(map(int, parts))
    if len(numbers) == 1 and order > 1:
        if order == 2 and numbers[0] > 1:
            raise click.UsageError(
                f"--min-count {given} is for n-grams of 3 and more words, with --order 2 there are none; "
                f'give a number for each length: --min-count "1 {given}"'
            )
        numbers = [1 if length < 3 else numbers[0] for length in range(1, order + 1)]
    check_min_counts(numbers, order)
    return numbers


def _check_checkpoint(checkpoint: str, output: str) -> None:
    path, model = Path(checkpoint).resolve(), Path(output).resolve()
    if path.is_relative_to(model) or model.is_relative_to(path):
        raise click.UsageError(
            f"the checkpoint {checkpoint} and the output {output} are in the same place; choose another one"
        )
    if not path.parent.is_dir():
        raise StategramError(f"cannot write {checkpoint}: there is no folder {path.parent}; make it first")
    check_store(checkpoint, "training")


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
        raise KeyboardInterrupt(f"progress saved in {checkpoint}; run the same command to continue") from end
