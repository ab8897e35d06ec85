"""`stategram export`: a model for other tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import click

from stategram.cli.checks import check_output_apart, was_given
from stategram.cli.console import Console
from stategram.cli.options import no_verify_option, work_options
from stategram.cli.reading import read_model
from stategram.errors import BadDataError
from stategram.formats import MODEL_CLASS_FORMATS, write_arpa, write_model_classes, write_states
from stategram.models import ClusteredModel, Model, NgramModel
from stategram.storage import check_place
from stategram.wording import plural

_MIN_ORDER_OF_KENLM = 2
_DEFAULT_MAX_ORDER_OF_KENLM = 6

_M = TypeVar("_M", bound=Model)


@click.command(
    epilog="""\b
Examples:
  stategram export model --arpa model.arpa
  stategram export model --arpa model.arpa.gz
  stategram export model --arpa - | build_binary /dev/stdin model.binary
  stategram export model --classes classes.tsv --part 2
  stategram export model --states states.tsv""",
)
@click.argument("model_name", metavar="MODEL")
@click.option(
    "--arpa",
    metavar="OUT",
    help="The ARPA file to write; - is stdout. .gz .xz .bz2 .zst are compressed.",
)
@click.option(
    "--classes",
    metavar="OUT",
    help="Instead: the class file to write, with the categories of a clustered model or a category n-gram.",
)
@click.option(
    "--states",
    metavar="OUT",
    help="Instead: the table to write, with the contexts of each state of a clustered model.",
)
@click.option(
    "--format",
    type=click.Choice(MODEL_CLASS_FORMATS),
    default="tsv",
    show_default=True,
    help="With --classes.",
)
@click.option(
    "--part",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --classes or --states: which part of a mixture, the first being 1.  [default: the only one "
    "with some]",
)
@no_verify_option
@work_options
def export(
    model_name: str,
    arpa: str | None,
    classes: str | None,
    states: str | None,
    format: str,
    part: int | None,
    no_verify: bool,
    console: Console,
) -> None:
    """Write MODEL, a model folder or an ARPA file, as an ARPA file, which KenLM, SRILM and others read.

    Or write the classes of its words: the most frequent words first, class by class. Or the states of its
    contexts, with the events of each context; ~the is the class of the word "the", or its tag if the model
    has no names of tags.
    """
    places = [place for place in (arpa, classes, states) if place]
    if len(places) != 1:
        raise click.UsageError("give --arpa OUT, --classes OUT or --states OUT, one of them")
    place = places[0]
    if was_given("format") and not classes:
        raise click.UsageError("--format goes with --classes; leave it out")
    if arpa and part:
        raise click.UsageError("--part goes with --classes or --states; leave it out")
    check_output_apart(place, model_name)
    check_place(place)
    console.steps = 2
    model = read_model(model_name, console, verify=not no_verify)
    writing = f"writing {'to stdout' if place == '-' else place}"
    parts = dict(enumerate(model.parts or (model,), 1))
    if arpa:
        ngram = _ngram_model(model, model_name, console)
        with console.step(writing) as progress:
            write_arpa(place, ngram, progress=progress)
        console.info(f"      {plural(sum(ngram.trie.sizes), 'n-gram')}")
    elif states:
        with_states = {i: one for i, one in parts.items() if isinstance(one, ClusteredModel)}
        clustered = _chosen_part(with_states, part, "states", model, model_name)
        with console.step(writing):
            n_states, contexts = write_states(place, clustered)
        console.info(f"      {plural(n_states, 'state')} of {plural(contexts, 'context')}: {clustered!r}")
    else:
        with_classes = {i: one for i, one in parts.items() if one.word_categories is not None}
        chosen = _chosen_part(with_classes, part, "word classes", model, model_name)
        with console.step(writing):
            n_classes, words = write_model_classes(place, chosen, format=format)
        found = f"{plural(n_classes, 'class', 'classes')} of {plural(words, 'word')}"
        console.info(f"      {found}: {chosen!r}")


def _ngram_model(model: Model, model_name: str, console: Console) -> NgramModel:
    """Return the model if it can be an ARPA file; note what KenLM does not read."""
    if not isinstance(model, NgramModel):
        raise BadDataError(f"{model_name}: {model!r}; only a model of n-grams can be written as an ARPA file")
    if model.order < _MIN_ORDER_OF_KENLM:
        console.info("      note: KenLM reads models of at least bigrams; train with --order 2 or more")
    elif model.order > _DEFAULT_MAX_ORDER_OF_KENLM:
        console.info(
            f"      note: KenLM reads n-grams of up to {_DEFAULT_MAX_ORDER_OF_KENLM} words unless it was "
            f"built for more; for {model.order}: cmake -DKENLM_MAX_ORDER={model.order}"
        )
    return model


def _chosen_part(
    fitting: Mapping[int, _M], number: int | None, what: str, model: Model, model_name: str
) -> _M:
    """Return the part of that number, or the only one that has `what`."""
    if not fitting:
        raise BadDataError(f"{model_name}: {model!r}; it has no {what}: train with --recipe or --context")
    listed = "; ".join(f"{i}: {one!r}" for i, one in fitting.items())
    if number is None and len(fitting) > 1:
        raise click.UsageError(f"several parts of {model_name} have {what}; choose one by --part: {listed}")
    if number is not None and number not in fitting:
        raise click.UsageError(f"--part {number}: these parts of {model_name} have {what}: {listed}")
    return fitting[number if number is not None else next(iter(fitting))]
