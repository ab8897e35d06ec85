"""`stategram filter`: a model of fewer words."""

from __future__ import annotations

import click

from stategram.cli.checks import check_inputs
from stategram.cli.console import Console
from stategram.cli.options import no_verify_option, work_options
from stategram.cli.outputs import (
    check_output,
    force_option,
    is_arpa_name,
    ngram_model,
    output_option,
    write_output,
)
from stategram.cli.reading import read_model
from stategram.errors import BadDataError
from stategram.text import SPECIAL_WORDS, Normalization, Vocabulary
from stategram.wording import plural


@click.command(
    epilog="""\b
Examples:
  stategram filter model --vocab-file words.txt -o smaller
  stategram filter other.arpa.gz --vocab-file lexicon.txt -o smaller.arpa""",
)
@click.argument("model_name", metavar="MODEL")
@click.option(
    "--vocab-file",
    required=True,
    metavar="WORDS",
    help="The words to keep, one per line; further columns are ignored.",
)
@output_option
@force_option
@no_verify_option
@work_options
def filter(
    model_name: str, vocab_file: str, output: str, force: bool, no_verify: bool, console: Console
) -> None:
    """Keep only the words of MODEL, a model file or an ARPA file, that are in WORDS too.

    <unk>, <s> and </s> are always kept. After any history of the words that are kept, these are as probable
    as before, and <unk> is as probable as it was together with all dropped words: everything still sums to
    one. For that, h <unk> is an n-gram wherever n-grams h v of dropped words v were.

    In a category n-gram model, words that are kept have all of the probability of their category, and the
    categories of which none is kept go to <unk>. Other models cannot be filtered: filter the parts of a
    mixture and mix them again.
    """
    check_inputs([model_name, vocab_file])
    arpa = is_arpa_name(output)
    check_output(output, [model_name, vocab_file], arpa=arpa, force=force)
    console.steps = 3
    model = read_model(model_name, console, verify=not no_verify)
    split = Normalization.from_recipe(model.metadata, model.vocabulary).split
    words = Vocabulary.from_file(vocab_file, split=split, repeats=True)
    if arpa:
        ngram_model(model, model_name)
    with console.step("filtering"):
        filtered = model.filter(words)
    kept, before, wanted = (
        len(vocabulary) - len(SPECIAL_WORDS) for vocabulary in (filtered.vocabulary, model.vocabulary, words)
    )
    if kept == 0:
        raise BadDataError(
            f"{vocab_file}: none of its {plural(wanted, 'word')} is in {model_name}; check that both are "
            "of the same language, case and tokenization"
        )
    console.info(
        f"      {kept:,} of {plural(before, 'word')} kept; {wanted - kept:,} of the list are not in it"
    )
    inputs = [("model", model_name), ("vocabulary", vocab_file)]
    write_output(filtered, output, inputs, console, arpa=arpa, force=force)
