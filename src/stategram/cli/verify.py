"""`stategram verify`: the checksums and the consistency of a model."""

from __future__ import annotations

from pathlib import Path

import click

from stategram.cli.console import Console
from stategram.cli.options import work_options
from stategram.cli.reading import read_model_and_manifest
from stategram.counts import check_counts, is_counts, open_counts
from stategram.errors import BadDataError
from stategram.evaluation import history_sums
from stategram.progress import subprogress
from stategram.storage import is_url
from stategram.wording import plural

_TOLERANCE_OF_TEXT = 1e-4  # ARPA files have five to seven digits


@click.command(
    epilog="""\b
Examples:
  stategram verify model
  stategram verify model --samples 1000
  stategram verify other.arpa.gz
  stategram verify counts""",
)
@click.argument("model_name", metavar="MODEL")
@click.option(
    "--samples",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    metavar="N",
    help="Number of histories after which probabilities are summed.",
)
@work_options
def verify(model_name: str, samples: int, console: Console) -> None:
    """Verify MODEL, a model file or an ARPA file: checksums, structure, and probabilities that sum to one.

    Histories are random, but always the same; half of them are n-grams of the model. Sums may be off by
    0.000001, those of an ARPA file by 0.0001, those of a compact model by 0.02. The exit code is 3 if
    something is wrong.

    MODEL may also be the counts that stategram count keeps: n-grams and text are then read whole.
    """
    if (is_url(model_name) or Path(model_name).is_dir()) and is_counts(model_name):
        _verify_counts(model_name, console)
        return
    console.steps = 3
    model, manifest = read_model_and_manifest(model_name, console)
    is_text = manifest is None
    checked = "an ARPA file" if manifest is None else plural(len(manifest["arrays"]), "checksum")
    click.echo(f"OK  {model_name}: {checked}")
    with console.step("checking the structure"):
        try:
            model.check()
        except BadDataError as error:
            raise BadDataError(f"{model_name}: {error}") from error
    click.echo(f"OK  structure: {model!r}")
    with console.step("summing probabilities") as progress:
        n_histories = len(model.histories)
        worst = {
            name: max(
                history_sums(
                    model.with_history(name),
                    samples,
                    progress=subprogress(progress, number / n_histories, (number + 1) / n_histories),
                ),
                key=lambda one: one.error,
            )
            for number, name in enumerate(model.histories)
        }
    tolerance = _TOLERANCE_OF_TEXT if is_text else model.sum_tolerance
    for name, one in worst.items():
        where = "" if n_histories == 1 else f" (history {name})"
        words = " ".join(one.history) or "no words"
        if not one.error <= tolerance:
            advice = "train the model again, or ask whoever made it"
            if one.total < 1 and is_text:
                advice = (
                    "sums below one are what vocabulary filters make, such as KenLM's; scores can be used, "
                    "but <unk> lacks what the dropped words had (stategram prune --vocab-file gives it that)"
                )
            raise BadDataError(
                f"{model_name}: the probabilities after {words!r}{where} sum to {one.total:.8g}, which is "
                f"off by {one.error:.2g}; at most {tolerance:g} was expected: {advice}"
            )
        click.echo(f"OK  sums{where}: after {samples:,} histories, the worst is off by {one.error:.1e}")


def _verify_counts(name: str, console: Console) -> None:
    console.steps = 1
    with console.step(f"reading {name}") as progress:
        counted = open_counts(name)
        try:
            check_counts(counted, progress)
        except BadDataError as error:
            raise BadDataError(f"{name}: {error}") from error
    click.echo(f"OK  files: {plural(len(counted.manifest.files), 'checksum')}")
    click.echo(f"OK  counts: {counted!r}, n-grams of up to {plural(counted.order, 'word')}")
