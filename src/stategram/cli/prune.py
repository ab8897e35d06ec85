"""`stategram prune`: a smaller model that is nearly as good."""

from __future__ import annotations

import click

from stategram.cli.checks import check_inputs
from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    budget_options,
    force_option,
    opening_options,
    output_option,
    vocab_file_option,
    work_options,
)
from stategram.cli.outputs import (
    check_output,
    is_arpa_name,
    ngram_model,
    size_in,
    write_output,
)
from stategram.cli.reading import read_model
from stategram.display import plural
from stategram.errors import BadDataError
from stategram.models import NO_LIMIT, Budget, Model, prune_model
from stategram.text import SPECIAL_WORDS, Vocabulary


@click.command(
    epilog="""\b
Examples:
  stategram prune model -o smaller --max-size 50M
  stategram prune model -o small.arpa.gz --max-ngrams 1000000
  stategram prune other.arpa -o small.arpa --prune 3e-8
  stategram prune mixture -o smaller --max-size 200M
  stategram prune other.arpa.gz -o smaller.arpa --vocab-file lexicon.txt
  stategram prune model -o smaller --compact""",
)
@click.argument("model_name", metavar="MODEL")
@output_option(
    "Model file to write; or an ARPA file if named .arpa, .arpa.gz, .arpa.xz, .arpa.bz2 or .arpa.zst; - is "
    "an ARPA file on stdout."
)
@force_option
@budget_options()
@vocab_file_option
@opening_options
@work_options
def prune(
    model_name: str,
    output: str,
    force: bool,
    budget: Budget,
    vocab_file: str | None,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Drop the n-grams that MODEL, a model file or an ARPA file, can best do without (Stolcke 1998).

    MODEL is an n-gram model, a category n-gram model, or a mixture with such parts, whose n-grams all have
    the same threshold; its weights stay. The n-grams that are kept are as probable as before; back-off
    weights are computed again, so that all sums to one. Training with the same --prune gives the same model.
    How often histories are met is taken from bigrams, not from the unigrams of Kneser-Ney models, which leads
    to better small models than SRILM's.

    Words are dropped only by --vocab-file, before n-grams: it keeps the words of the file (one per line,
    further columns are ignored), <unk>, <s> and </s>. After any history of them they are as probable as
    before, and <unk> is as probable as it was together with all dropped words. In a category n-gram model,
    words that are kept have all of the probability of their category, and the categories of which none is
    kept go to <unk>. Other models cannot lose words: prune the parts of a mixture and mix them again.
    """
    if budget == NO_LIMIT and not vocab_file:
        raise click.UsageError(
            "give one of --prune FRACTION, --max-ngrams N and --max-size SIZE; or --vocab-file FILE "
            "alone; or --compact alone, which drops nothing"
        )
    inputs = [("model", model_name), *([("vocabulary", vocab_file)] if vocab_file else [])]
    names = [name for _, name in inputs]
    check_inputs(names)
    arpa = is_arpa_name(output)
    if arpa and budget.compact:
        raise click.UsageError("an ARPA file cannot be compact; give OUT as a model file")
    check_output(output, names, arpa=arpa, force=force)
    console.steps = 2 + bool(vocab_file) + (budget != NO_LIMIT)
    model = read_model(model_name, console, reading)
    if arpa:
        ngram_model(model, model_name)
    if vocab_file:
        model = _with_words(model, model_name, vocab_file, console)
    if budget != NO_LIMIT:
        with console.step("pruning") as progress:
            size_of = size_in(output, names, arpa=arpa)
            pruned = prune_model(model, budget, size_of=size_of, progress=progress)
        if pruned is model:
            console.info("      nothing had to be dropped")
        model = pruned
    write_output(model, output, inputs, console, arpa=arpa, force=force)


def _with_words(model: Model, model_name: str, vocab_file: str, console: Console) -> Model:
    """Return the model of the words of a file."""
    split = model.text_format.split
    words = Vocabulary.from_file(vocab_file, split=split, repeats=True)
    with console.step("dropping words"):
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
    return filtered
