"""`stategram rescore`: n-best lists, rescored by a model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from stategram.cli.checks import check_inputs, check_outputs
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, history_options, work_options
from stategram.cli.reading import format_for, read_model
from stategram.display import Column, display_table, json_text, table_text
from stategram.evaluation import Rescored, WordErrors
from stategram.evaluation import rescore as rescore_lists
from stategram.formats import NBEST_NAMES, read_nbest, read_references, write_best, write_nbest
from stategram.wording import plural


@click.command(
    epilog="""\b
Examples:
  stategram rescore model nbest.txt --lm-weight 0.5 -o best.txt
  stategram rescore model dev.nbest --references dev.txt --tune
  stategram rescore model test.nbest --lm-weight 0.61 --word-bonus 1.2 --references test.txt -o best.txt
  stategram rescore model nbest.gz --scores 2 --score-weights "1 0.3" --costs --lm-weight 12 --nbest-out -""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("nbest", default="-", metavar="[NBEST]")
@click.option("--lm-weight", type=float, metavar="W", help="Weight of the natural-log probability.")
@click.option(
    "--word-bonus", type=float, metavar="W", help="What each word of a hypothesis adds.  [default: 0]"
)
@click.option(
    "--scores",
    "columns",
    type=click.IntRange(1, 99),
    default=1,
    show_default=True,
    metavar="N",
    help="Number of scores on each line.",
)
@click.option(
    "--score-weights", metavar="WEIGHTS", help='Weight of each score, such as "1 0.3".  [default: 1]'
)
@click.option("--costs", is_flag=True, help="The scores are costs, as Kaldi's: lower is better.")
@click.option(
    "--names",
    type=click.Choice(NBEST_NAMES),
    default="auto",
    show_default=True,
    help="Names of hypotheses: the same for all of an utterance, or numbered as Kaldi does (utt-1, utt-2); "
    "auto: numbered if all names end so, and each utterance has the numbers 1 to n.",
)
@click.option("--references", metavar="FILE", help="What was said: lines of utterance and text.")
@click.option(
    "--tune",
    is_flag=True,
    help="Find the weights that are not given: those with the fewest word errors on --references.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the best hypothesis of each utterance; - is stdout, the default without --references and "
    "--nbest-out.",
)
@click.option("--nbest-out", metavar="FILE", help="Write all hypotheses with their totals, the best first.")
@click.option("--json", "as_json", is_flag=True, help="With --references: weights and errors as JSON.")
@history_options
@work_options
def rescore(
    model_name: str,
    nbest: str,
    lm_weight: float | None,
    word_bonus: float | None,
    columns: int,
    score_weights: str | None,
    costs: bool,
    names: str,
    references: str | None,
    tune: bool,
    output: str | None,
    nbest_out: str | None,
    as_json: bool,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Choose the best of the hypotheses in NBEST, lines of "utterance score text", with the help of MODEL.

    The hypothesis with the highest score + lm-weight * ln p(text) + word-bonus * words is chosen.

    Scores are logarithms, higher ones better. With --references, word error rates are printed: of the best
    scores, of the best totals, and the lowest that any choice can reach. Weights that are tuned fit these
    references; measure the error rate on others, with --lm-weight and --word-bonus.
    """
    if output is None and references is None and nbest_out is None:
        output = "-"
    _check(model_name, nbest, references, [place for place in (output, nbest_out) if place is not None])
    if as_json and (references is None or "-" in (output, nbest_out)):
        raise click.UsageError("--json is for --references, and goes to stdout alone")
    if tune and references is None:
        raise click.UsageError("--tune needs --references, on which errors are counted")
    if lm_weight is None and not tune:
        raise click.UsageError("give --lm-weight, or --references and --tune")
    given_weights = _weights(score_weights, columns)
    console.steps = 3
    model = read_model(model_name, console, verify=not reading.no_verify, history=reading.history_name)
    text_format = format_for(model, reading, console)
    with console.step("reading"):
        lists = read_nbest(nbest, columns=columns, costs=costs, names=names)
        said = None if references is None else read_references(references)
    console.info(
        f"      {plural(len(lists.texts), 'hypothesis', 'hypotheses')} of {plural(len(lists), 'utterance')}"
    )
    if said is not None and len(said) > len(lists):
        console.info(
            f"      note: {len(said) - len(lists):,} references are of utterances without hypotheses"
        )
    with console.step("rescoring") as progress:
        found = rescore_lists(
            model,
            lists,
            lm_weight=lm_weight,
            word_bonus=word_bonus,
            score_weights=given_weights,
            references=said,
            tune=tune,
            text_format=text_format,
            progress=progress,
        )
    if tune:
        console.info("      note: the weights were tuned on these references; measure errors on others")
    if output is not None:
        write_best(found, output)
    if nbest_out is not None:
        write_nbest(found, nbest_out)
    if references is not None:
        shown = json_text(_as_json(found, tune)) if as_json else _as_table(found)
        # stdout is for one thing.
        click.echo(shown, err="-" in (output, nbest_out))


def _check(model_name: str, nbest: str, references: str | None, places: Sequence[str]) -> None:
    """Refuse inputs that are not there, and outputs that cannot be written or would overwrite an input."""
    inputs = [nbest, *([references] if references is not None else [])]
    check_inputs([*inputs, *([model_name] if model_name == "-" else [])])
    check_outputs(places, [*inputs, model_name])


def _weights(given: str | None, columns: int) -> list[float] | None:
    if given is None:
        return None
    try:
        weights = [float(weight) for weight in given.replace(",", " ").split()]
    except ValueError:
        weights = []
    if len(weights) != columns:
        raise click.UsageError(
            f"--score-weights {given!r}: expected {plural(columns, 'number')}, one for each score (--scores)"
        )
    return weights


def _errors(found: Rescored) -> dict[str, WordErrors]:
    named = {"before": found.before, "after": found.after, "oracle": found.oracle}
    return {name: errors for name, errors in named.items() if errors is not None}


def _as_json(found: Rescored, tuned: bool) -> dict[str, Any]:
    return {
        "lm_weight": found.lm_weight,
        "word_bonus": found.word_bonus,
        "score_weights": found.score_weights,
        "tuned": tuned,
        "utterances": len(found.nbest),
        "hypotheses": len(found.nbest.texts),
        **{
            name: {**asdict(errors), "errors": errors.errors, "word_error_rate": errors.rate}
            for name, errors in _errors(found).items()
        },
    }


def _as_table(found: Rescored) -> str:
    lines = [f"--lm-weight {found.lm_weight:.6g} --word-bonus {found.word_bonus:.6g}"]
    if len(found.score_weights) > 1:
        lines[0] += f' --score-weights "{" ".join(f"{weight:.6g}" for weight in found.score_weights)}"'
    columns = ("", Column("word error rate", "number"), "errors", "substituted", "deleted", "inserted")
    rows = [
        (name, f"{one.rate:.2%}", one.errors, one.substitutions, one.deletions, one.insertions)
        for name, one in _errors(found).items()
    ]
    words = plural(next(iter(_errors(found).values())).words, "word")
    return "\n".join([*lines, table_text(display_table("", columns, rows, [f"of {words}"]))])
