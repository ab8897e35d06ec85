"""`stategram rescore`: n-best lists, rescored by a model."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from stategram.cli.checks import check_inputs, check_output_file
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, history_options, json_option, output_option, work_options
from stategram.cli.reading import format_for, read_model
from stategram.display import Column, display_table, json_text, plural, table_text
from stategram.evaluation import Rescored, WordErrors
from stategram.evaluation import rescore as rescore_lists
from stategram.formats import read_nbest, read_references, write_best


@click.command(
    epilog="""\b
Examples:
  stategram rescore model nbest.txt --lm-weight 0.5 -o best.txt
  stategram rescore model dev.nbest --references dev.txt --tune
  stategram rescore model test.nbest --lm-weight 0.61 --word-bonus 1.2 --references test.txt -o best.txt
  stategram rescore model nbest.gz --costs --lm-weight 12 > best.txt""",
)
@click.argument("model_name", metavar="MODEL")
@click.argument("nbest", default="-", metavar="[NBEST]")
@click.option("--lm-weight", type=float, metavar="W", help="Weight of the natural-log probability.")
@click.option(
    "--word-bonus", type=float, metavar="W", help="What each word of a hypothesis adds.  [default: 0]"
)
@click.option("--costs", is_flag=True, help="The scores are costs, as Kaldi's: lower is better.")
@click.option("--references", metavar="FILE", help="True words: lines of utterance and text.")
@click.option(
    "--tune",
    is_flag=True,
    help="Tune the weights that are not set: search a grid for the fewest word errors on --references.",
)
@output_option(
    "Write the best hypothesis of each utterance; - is stdout, the default without --references.",
    required=False,
)
@json_option
@history_options
@work_options
def rescore(
    model_name: str,
    nbest: str,
    lm_weight: float | None,
    word_bonus: float | None,
    costs: bool,
    references: str | None,
    tune: bool,
    output: str | None,
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
    if output is None and references is None:
        output = "-"
    inputs = [nbest, *([references] if references is not None else [])]
    check_inputs([*inputs, *([model_name] if model_name == "-" else [])])
    check_output_file(output, [*inputs, model_name])
    if as_json and (references is None or output == "-"):
        raise click.UsageError("--json is for --references, and goes to stdout alone")
    if tune and references is None:
        raise click.UsageError("--tune needs --references, on which errors are counted")
    if lm_weight is None and not tune:
        raise click.UsageError("give --lm-weight, or --references and --tune")
    console.steps = 3
    model = read_model(model_name, console, reading)
    text_format = format_for(model, reading, console)
    with console.step("reading"):
        lists = read_nbest(nbest, costs=costs)
        said = None if references is None else read_references(references)
    n_hypotheses = sum(map(len, lists.values()))
    console.info(
        f"      {plural(n_hypotheses, 'hypothesis', 'hypotheses')} of {plural(len(lists), 'utterance')}"
    )
    if said is not None and len(said) > len(lists):
        console.info(
            f"      note: {len(said) - len(lists):,} references are of utterances without hypotheses"
        )
    with console.step("rescoring") as progress:
        result = rescore_lists(
            model,
            lists,
            lm_weight=lm_weight,
            word_bonus=word_bonus,
            references=said,
            tune=tune,
            text_format=text_format,
            progress=progress,
        )
    if tune:
        console.info("      note: the weights were tuned on these references; measure errors on others")
    if output is not None:
        write_best(result.best, output)
    if references is not None:
        if as_json:
            counts = {"tuned": tune, "utterances": len(lists), "hypotheses": n_hypotheses}
            shown = json_text(_as_json(result) | counts)
        else:
            shown = _as_table(result)
        click.echo(shown, err=output == "-")  # stdout is for one thing


def _errors(result: Rescored) -> dict[str, WordErrors]:
    named = {"before": result.before, "after": result.after, "oracle": result.oracle}
    return {name: errors for name, errors in named.items() if errors is not None}


def _as_json(result: Rescored) -> dict[str, Any]:
    return {
        "lm_weight": result.lm_weight,
        "word_bonus": result.word_bonus,
        **{name: {**asdict(one), "word_error_rate": one.rate} for name, one in _errors(result).items()},
    }


def _as_table(result: Rescored) -> str:
    columns = ("", Column("word error rate", "number"), "errors", "words")
    rows = [(name, f"{one.rate:.2%}", one.errors, one.words) for name, one in _errors(result).items()]
    weights = f"--lm-weight {result.lm_weight:.6g} --word-bonus {result.word_bonus:.6g}"
    return f"{weights}\n{table_text(display_table('', columns, rows))}"
