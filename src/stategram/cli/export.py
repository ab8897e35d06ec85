"""`stategram export`: a model for other tools."""

from __future__ import annotations

from typing import Any

import click

from stategram.cli.checks import check_output_apart, check_shared_options, was_given
from stategram.cli.console import Console
from stategram.cli.export_classes import EXPORTED_FORMATS, export_classes
from stategram.cli.export_part import chosen_part
from stategram.cli.export_states import export_states
from stategram.cli.options import no_verify_option, work_options
from stategram.cli.reading import read_model
from stategram.errors import BadDataError
from stategram.formats import write_arpa
from stategram.models import CategoryNgramModel, ClusteredModel, Model, NgramModel
from stategram.storage import check_place
from stategram.wording import plural

_LEAST_ORDER_OF_KENLM = 2
_USUAL_ORDER_OF_KENLM = 6


@click.command(
    short_help="Write a model, or its word classes, for other tools.",
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
    "--format", type=click.Choice(EXPORTED_FORMATS), default="tsv", show_default=True, help="With --classes."
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
    model_name: str, arpa: str | None, classes: str | None, states: str | None, **options: Any
) -> None:
    """Write MODEL, a model folder or an ARPA file, as an ARPA file, which KenLM, SRILM and others read.

    Or write the classes of its words: the most frequent words first, class by class. Or the states of its
    contexts, with the events of each context; ~the is the class of the word "the", or its tag if the model
    has no names of tags.
    """
    check_shared_options(options)
    places = [place for place in (arpa, classes, states) if place]
    if len(places) != 1:
        raise click.UsageError("give --arpa OUT, --classes OUT or --states OUT, one of them")
    place = places[0]
    if was_given("format") and not classes:
        raise click.UsageError("--format goes with --classes; leave it out")
    if arpa and options["part"]:
        raise click.UsageError("--part goes with --classes or --states; leave it out")
    check_output_apart(place, model_name)
    check_place(place)
    console = Console(quiet=options["quiet"], verbose=options["verbose"], steps=2)
    model = read_model(model_name, options, console)
    if arpa:
        _export_arpa(model, model_name, arpa, options, console)
        return
    writing = f"writing {'to stdout' if place == '-' else place}"
    if states:
        clustered = chosen_part(model, model_name, options["part"], (ClusteredModel,), "states")
        with console.step(writing):
            said = export_states(clustered, place)
    else:
        kinds: tuple[type[CategoryNgramModel | ClusteredModel], ...] = (CategoryNgramModel, ClusteredModel)
        with_classes = chosen_part(model, model_name, options["part"], kinds, "word classes")
        with console.step(writing):
            said = export_classes(with_classes, place, format=options["format"])
    console.say(f"      {said}")


def _export_arpa(model: Model, model_name: str, arpa: str, options: dict[str, Any], console: Console) -> None:
    if not isinstance(model, NgramModel):
        raise BadDataError(f"{model_name}: {model!r}; only a model of n-grams can be written as an ARPA file")
    if model.order < _LEAST_ORDER_OF_KENLM:
        console.say("      note: KenLM reads models of at least bigrams; train with --order 2 or more for it")
    elif model.order > _USUAL_ORDER_OF_KENLM:
        console.say(
            f"      note: KenLM reads n-grams of up to {_USUAL_ORDER_OF_KENLM} words unless it was built for "
            f"more; for {model.order}: cmake -DKENLM_MAX_ORDER={model.order}"
        )
    with console.step(f"writing {'to stdout' if arpa == '-' else arpa}") as report:
        write_arpa(
            arpa,
            model,
            progress=lambda done, total: report(done / total, f"{done:,} of {total:,} n-grams"),
        )
    console.say(f"      {plural(sum(model.trie.sizes), 'n-gram')}")
