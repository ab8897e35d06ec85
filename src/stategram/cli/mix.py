"""`stategram mix`: several models in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import click
import numpy as np

from stategram.cli.checks import check_inputs, was_given
from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    arpa_option,
    force_option,
    heldout_option,
    heldout_options,
    output_option,
    work_options,
)
from stategram.cli.outputs import check_output, is_arpa_name, ngram_model, write_output
from stategram.cli.reading import read_model, read_test
from stategram.display import Column, display_table, percent, perplexity, plural
from stategram.evaluation import compare_scores, heldout_tables
from stategram.models import (
    GATE_KINDS,
    Gate,
    Mixture,
    Model,
    check_weights,
    merge_ngrams,
    require_same_format,
)
from stategram.text import UNKNOWN, Corpus, TextFormat

# KenLM's probability of unknown words in a model without <unk>, and less.
_NO_PROBABILITY = 1e-50


@click.command(
    epilog="""\b
Examples:
  stategram mix general.arpa domain --heldout heldout.txt -o mixture
  stategram mix model cache other --heldout heldout.txt -o mixture --buckets all
  stategram mix general.arpa.gz domain.arpa --weights 0.95,0.05 --arpa mixed.arpa.gz
  stategram mix general.arpa domain --heldout heldout.txt --arpa mixed.arpa""",
)
@click.argument("model_names", nargs=-1, required=True, metavar="MODEL...")
@output_option("Model file to write: a mixture of the models.", required=False)
@arpa_option("Instead: ARPA file to write, into which n-gram models are merged, as SRILM's -mix-lm does.")
@force_option
@heldout_option
@click.option(
    "--weights",
    metavar="WEIGHTS",
    help="Instead: the weight of each model, such as 0.7,0.3; with --heldout they are only measured there.",
)
@click.option(
    "--buckets",
    type=click.Choice(("auto", *GATE_KINDS)),
    default="auto",
    show_default=True,
    help="Which histories have weights of their own: none; or by what the models know of a history; auto "
    "chooses by cross-validation on the held-out text.",
)
@heldout_options
@work_options
def mix(
    model_names: tuple[str, ...],
    output: str | None,
    arpa: str | None,
    force: bool,
    heldout: str | None,
    weights: str | None,
    buckets: str,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Mix models of any kind, also ARPA files: p(w | c) = weight 1 p1(w | c) + weight 2 p2(w | c) + ...

    The vocabulary has the words of all. Words that a model lacks share one half of the probability of its
    <unk> evenly, and <unk> keeps the other half, so that everything sums to one; a model without <unk> leaves
    them to the others. Where weights are learned, the probability of <unk> of n-gram models is fitted to the
    held-out text first, but that of compact ones stays. Models whose training text was read differently, as
    in lower case, are refused.

    A mixture keeps its models as they are. With --arpa they become one back-off model of the n-grams of all,
    each with the weighted sum of its probabilities: about as good, quicker, and for all tools.
    """
    if (output is None) == (arpa is None):
        raise click.UsageError("give -o OUT for a mixture, or --arpa OUT for one n-gram model")
    if len(model_names) < 2:
        raise click.UsageError("a mixture has at least two models; give another MODEL")
    if heldout is None and weights is None:
        raise click.UsageError(
            "give --heldout FILE, a text to learn the weights on, or --weights, such as 0.7,0.3"
        )
    if was_given("buckets") and (arpa or weights):
        raise click.UsageError("--buckets is for weights of a mixture that are learned; leave it out")
    given = None if weights is None else check_weights(_numbers(weights), len(model_names))
    check_inputs([*model_names, *([heldout] if heldout else [])])
    place = output or arpa or ""
    if output and is_arpa_name(output):
        raise click.UsageError(f"-o {output}: --arpa merges n-gram models; a mixture is a model file")
    check_output(place, model_names, arpa=arpa is not None, force=force)
    console.steps = len(model_names) + (2 if heldout else 1) + 1
    models = [_as_read(read_model(name, console, reading), reading) for name in model_names]
    require_same_format(models, model_names)
    ngrams = [ngram_model(*both) for both in zip(models, model_names, strict=True)] if arpa else []
    equal = Gate.constant(np.full(len(models), 1 / len(models)))
    mixture = Mixture(tuple(models), equal, training_format=_text_format(models, reading))
    _note_lacking(mixture, model_names, console)
    corpus = None if heldout is None else read_test(mixture, [heldout], reading, console)
    mixed: Model
    opened = dict(zip(model_names, models, strict=True))
    if corpus is not None and given is None:
        models = [model.fit_unknown(corpus) for model in models]
    with console.step("mixing" if arpa is None else "merging") as progress:
        if given is not None:
            mixture = replace(mixture, gate=Gate.constant(np.array(given)))
        elif corpus is not None:
            kind = "none" if arpa else buckets
            fitted = Mixture.fit(models, corpus, buckets=kind, progress=progress)
            ngrams = [one for model in models if (one := model.word_ngrams) is not None] if arpa else []
            mixture = replace(fitted, **mixture.origin)
            given = [part["weight"] for part in fitted.training_info["parts"]]
        mixed = mixture
        if ngrams and given is not None:
            merged = merge_ngrams(ngrams, given, progress=progress)
            mixed = replace(merged, **mixture.origin)
    if corpus is not None:
        _show_figures(mixture, opened, corpus, console)
        if mixed is not mixture:
            console.info(f"      {perplexity(mixed.perplexity(corpus))}  merged into one n-gram model")
        _show_gain(mixed, opened, corpus, console, learned=weights is None)
    inputs = [("model", name) for name in model_names] + ([("held-out", heldout)] if heldout else [])
    write_output(mixed, place, inputs, console, arpa=arpa is not None, force=force)


def _numbers(weights: str) -> list[float]:
    try:
        return [float(weight) for weight in weights.replace(",", " ").split()]
    except ValueError:
        raise click.UsageError(f"--weights {weights!r}: expected numbers such as 0.7,0.3") from None


def _as_read(model: Model, reading: ReadingOptions) -> Model:
    """Return a model that reads text as it was chosen on the command line, else as in its training."""
    known = model.training_format
    return model if known is None else replace(model, training_format=known.override(reading.format))


def _text_format(models: Sequence[Model], reading: ReadingOptions) -> TextFormat:
    """Return how text is read: as in the training of the first model of which that is known."""
    known = next((model.training_format for model in models if model.training_format is not None), None)
    formats = (model.text_format for model in models)
    of_words = next((one for one in formats if one.split == "ascii"), TextFormat())
    return known or of_words.override(reading.format)


def _note_lacking(mixture: Mixture, names: Sequence[str], console: Console) -> None:
    """Show how many words each model lacks, and whether it leaves them to the others."""
    for name, part in zip(names, mixture.parts, strict=True):
        lacking = len(mixture.vocabulary) - len(part.vocabulary)
        if lacking:
            unknown = float(part.distribution(part.start())[UNKNOWN])
            fate = (
                "share its <unk>" if unknown > _NO_PROBABILITY else "are impossible by it, as it has no <unk>"
            )
            console.info(f"      {name} lacks {plural(lacking, 'word')} of the others, which {fate}")


def _show_figures(mixture: Mixture, opened: Mapping[str, Model], corpus: Corpus, console: Console) -> None:
    """Show weights, and perplexities on the held-out text."""
    if mixture.training_info:
        console.tables(heldout_tables(mixture, None))
    else:
        scores = mixture.score(corpus)
        rows = [(part.name, perplexity(part.perplexity), percent(part.weight)) for part in scores.parts]
        columns = "Part", Column("Alone", "number"), Column("Weight", "number")
        mixed_row = "mixture", perplexity(scores.perplexity), ""
        console.tables([display_table("On the held-out text", columns, [*rows, mixed_row])])
    alone = ", ".join(f"{name} {perplexity(model.perplexity(corpus))}" for name, model in opened.items())
    console.info(
        "      These are perplexities in the vocabulary of the mixture. Perplexities of the original models "
        f"in their own vocabularies (as in eval): {alone}"
    )


def _show_gain(
    mixed: Model, opened: Mapping[str, Model], corpus: Corpus, console: Console, *, learned: bool
) -> None:
    """Show how the mixture differs from the best of the models as given, on words that all know."""
    scores = {name: model.score(corpus) for name, model in opened.items()}
    unknown = reduce(np.logical_or, (one.unknown for one in scores.values()))
    best = max(scores, key=lambda name: float(scores[name].log_probs[~unknown].sum()))
    # Differences are those from the first.
    found = compare_scores({best: scores.pop(best), "": mixed.score(corpus), **scores})
    first, gain, *_ = found.models
    why = " (the weights were learned on it)" if learned else ""
    kind = "mixture" if isinstance(mixed, Mixture) else "merged model"
    console.info(
        f"      known words of the held-out text{why}: {kind} {perplexity(gain.perplexity_known)}, best "
        f"model ({best}) {perplexity(first.perplexity_known)}: {gain.difference_known or 'infinite'}"
    )
