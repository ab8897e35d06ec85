"""`stategram export`: a model for other tools."""

from __future__ import annotations

from typing import Any

import click

from stategram.cli.checks import check_output_apart, check_shared_options
from stategram.cli.console import Console, many
from stategram.cli.options import no_verify_option, work_options
from stategram.cli.reading import read_model
from stategram.errors import BadDataError
from stategram.formats import write_arpa
from stategram.models import NgramModel
from stategram.storage import check_place

__all__ = ["export"]

_LEAST_ORDER_OF_KENLM = 2
_USUAL_ORDER_OF_KENLM = 6


@click.command(
    short_help="Write a model as an ARPA file.",
    epilog="""\b
Examples:
  stategram export model --arpa model.arpa
  stategram export model --arpa model.arpa.gz
  stategram export model --arpa - | build_binary /dev/stdin model.binary""",
)
@click.argument("model_name", metavar="MODEL")
@click.option(
    "--arpa",
    required=True,
    metavar="OUT",
    help="The ARPA file to write; - is stdout. .gz .xz .bz2 .zst are compressed.",
)
@no_verify_option
@work_options
def export(model_name: str, arpa: str, **options: Any) -> None:
    """Write MODEL, a model folder or an ARPA file, as an ARPA file, which KenLM, SRILM and others read."""
    check_shared_options(options)
    check_output_apart(arpa, model_name)
    check_place(arpa)
    console = Console(quiet=options["quiet"], verbose=options["verbose"], steps=2)
    model = read_model(model_name, options, console)
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
            threads=options["threads"],
            progress=lambda done, total: report(done / total, f"{done:,} of {total:,} n-grams"),
        )
    console.say(f"      {many(sum(model.trie.sizes), 'n-gram')}")
