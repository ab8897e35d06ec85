"""`stategram export`: a model for other tools."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import click

from stategram.cli.checks import check_inputs, check_output_apart, option_name, was_given
from stategram.cli.console import Console
from stategram.cli.options import (
    ReadingOptions,
    arpa_option,
    budget_options,
    force_option,
    format_option,
    order_option,
    train_option,
    training_options,
    work_options,
)
from stategram.cli.outputs import check_not_there, note_order
from stategram.cli.reading import read_model, read_test
from stategram.display import plural
from stategram.errors import BadDataError
from stategram.formats import (
    EPSILON,
    MODEL_CLASS_FORMATS,
    class_lm_files,
    fst_files,
    write_arpa,
    write_class_lm,
    write_fst,
    write_model_classes,
    write_states,
)
from stategram.models import (
    Budget,
    CategoryNgramModel,
    ClusteredModel,
    Model,
    NgramModel,
    approximate,
    close_suffixes,
    word_categories,
)
from stategram.progress import Progress, subprogress
from stategram.storage import check_place
from stategram.tables import choose_format
from stategram.text import Corpus

# What is written, and the options that go with it alone.
_OUTPUTS = {
    "arpa": ("closed", "order", "max_ngrams", "max_size", "prune", "train"),
    "class_lm": (),
    "fst": ("backoff_symbol",),
    "classes": ("format",),
    "states": (),
}

_M = TypeVar("_M", bound=Model)


@dataclass(frozen=True)
class _Source:
    """The model that is exported."""

    model: Model
    name: str
    part: int | None

    def part_with(self, kind: type[_M], what: str) -> _M:
        """Return the part of a kind that --part names, or the only one."""
        return self.chosen({i: one for i, one in self.parts.items() if isinstance(one, kind)}, what)

    @property
    def parts(self) -> dict[int, Model]:
        """The parts of a mixture, or the model itself, numbered from 1."""
        return dict(enumerate(self.model.parts or (self.model,), 1))

    def chosen(self, fitting: Mapping[int, _M], what: str) -> _M:
        """Return the part that --part names of those that have `what`, or the only one."""
        if not fitting:
            raise BadDataError(
                f"{self.name}: {self.model!r}; it has no {what.removeprefix('a ')}: train with --recipe or "
                "--context"
            )
        listed = "; ".join(f"{i}: {one!r}" for i, one in fitting.items())
        if self.part is None and len(fitting) > 1:
            raise click.UsageError(
                f"several parts of {self.name} have {what}; choose one by --part: {listed}"
            )
        if self.part is not None and self.part not in fitting:
            raise click.UsageError(f"--part {self.part}: these parts of {self.name} have {what}: {listed}")
        return fitting[self.part if self.part is not None else next(iter(fitting))]


@click.command(
    epilog="""\b
Examples:
  stategram export model --arpa model.arpa
  stategram export model --arpa model.arpa.gz
  stategram export model --arpa - | build_binary /dev/stdin model.binary
  stategram export model --arpa model.arpa --closed
  stategram export mixture --arpa mixture.arpa --order 3 --max-ngrams 2000000
  stategram export mixture --arpa mixture.arpa.gz --max-size 100M
  stategram export word-tree --arpa tree.arpa --order 3 --train train.txt
  stategram export mixture --arpa ngrams.arpa --part 1
  stategram export mixture --class-lm classes --part 2
  stategram export model --fst G --backoff-symbol "#0"
  stategram export model --classes classes.tsv --part 2
  stategram export model --states states.tsv""",
)
@click.argument("model_name", metavar="MODEL")
@arpa_option("ARPA file to write.")
@click.option(
    "--class-lm",
    metavar="PREFIX",
    help="Instead: a category n-gram for SRILM, as PREFIX.arpa, an ARPA file of classes, and PREFIX.classes, "
    "the words of each with their probabilities (ngram -lm PREFIX.arpa -classes PREFIX.classes -unk).",
)
@click.option(
    "--fst",
    metavar="PREFIX",
    help="Instead: an n-gram model as an acceptor for OpenFst, as PREFIX.fst.txt (fstcompile reads it) and "
    "PREFIX.syms, the words of its labels.",
)
@click.option(
    "--classes",
    metavar="FILE",
    help="Instead: a class file to write, with the categories of a clustered model or a category n-gram.",
)
@click.option(
    "--states",
    metavar="OUT",
    help="Instead: a table to write, with the contexts of each state of a clustered model.",
)
@click.option(
    "--part",
    type=click.IntRange(min=1),
    metavar="N",
    help="Which part of a mixture, the first being 1.  [default: the only one that can be written so; with "
    "--arpa all of them]",
)
@force_option
@order_option("  [default: that of the n-gram model in MODEL]", min=2)
@budget_options("prune", "max_ngrams", "max_size")
@train_option
@click.option(
    "--closed",
    is_flag=True,
    help="Add suffixes of n-grams that pruning has taken, for readers that expect them (NeMo's "
    "NGPU-LM). No probability changes.",
)
@click.option(
    "--backoff-symbol",
    default=EPSILON,
    show_default=True,
    metavar="SYMBOL",
    help="With --fst: the input of back-off arcs, such as #0 for Kaldi's recipes.",
)
@format_option(MODEL_CLASS_FORMATS)
@training_options
@work_options
def export(
    model_name: str,
    arpa: str | None,
    class_lm: str | None,
    fst: str | None,
    classes: str | None,
    states: str | None,
    part: int | None,
    force: bool,
    order: int | None,
    budget: Budget,
    train: tuple[str, ...],
    closed: bool,
    backoff_symbol: str,
    format: str | None,
    reading: ReadingOptions,
    console: Console,
) -> None:
    """Write MODEL, a model file or an ARPA file, as an ARPA file, which KenLM, SRILM and others read.

    A model that is not one of n-grams is approximated by the back-off model of some size that comes closest
    to it: its n-grams are those that are most worthwhile, seen in training or not. It takes histories from
    the n-gram model that is a part of the model; if there is none, give the training text (--train). It needs
    no text otherwise. Caches are left out, and no history goes beyond the sentence. --order, --prune,
    --max-ngrams, --max-size, --train and --closed are for --arpa.

    Or write it in another form: a category n-gram for SRILM, an acceptor for OpenFst. Or write the classes of
    its words: the most frequent words first, class by class. Or the states of its contexts, with the events
    of each context; ~the is the class of the word "the", or its tag if the model has no names of tags.

    The shortest path of a sentence through the acceptor has the weight of its probability, or a smaller one
    where backing off costs less than an n-gram that is there; see docs/models.md.
    """
    places = {"arpa": arpa, "class_lm": class_lm, "fst": fst, "classes": classes, "states": states}
    output, place = _only_output(places)
    _check_files(output, place, model_name, force=force)
    class_format = choose_format(place, format, "tsv") if classes or states else "tsv"
    console.steps = 3 if train else 2
    if train:
        check_inputs([model_name, *train])
    source = _Source(read_model(model_name, console, reading), model_name, part)
    writing = f"writing {'to stdout' if place == '-' else place}"
    if arpa:
        model = source.model if part is None else source.chosen(source.parts, "probabilities")
        training = read_test(model, train, reading, console) if train else None
        with console.step(writing) as progress:
            ngram = _as_ngrams(model, budget, order, training, subprogress(progress, 0.0, 0.9))
            if closed:
                ngram = close_suffixes(ngram)
            write_arpa(ngram, place, progress=subprogress(progress, 0.9, 1.0))
        note_order(ngram, console)
        inserted = f", {ngram.training_info['inserted_suffixes']:,} of them inserted" if closed else ""
        console.info(f"      {plural(sum(ngram.trie.sizes), 'n-gram')}{inserted}")
    elif class_lm:
        category_ngram = source.part_with(CategoryNgramModel, "a category n-gram")
        note_order(category_ngram.ngram, console)
        with console.step(writing) as progress:
            write_class_lm(category_ngram, place, progress=progress)
        console.info(f"      {category_ngram!r}")
    elif fst:
        ngram = _ngram_model(source, "as an acceptor")
        with console.step(writing) as progress:
            n_states = write_fst(ngram, place, backoff_symbol=backoff_symbol, progress=progress)
        console.info(f"      {plural(n_states, 'state')}")
    elif states:
        clustered = source.part_with(ClusteredModel, "states")
        with console.step(writing):
            n_states, contexts = write_states(clustered, place)
        console.info(f"      {plural(n_states, 'state')} of {plural(contexts, 'context')}: {clustered!r}")
    else:
        with_classes = {i: one for i, one in source.parts.items() if word_categories(one) is not None}
        chosen = source.chosen(with_classes, "word classes")
        with console.step(writing):
            n_classes, words = write_model_classes(chosen, place, format=class_format)
        found = f"{plural(n_classes, 'class', 'classes')} of {plural(words, 'word')}"
        console.info(f"      {found}: {chosen!r}")


def _only_output(places: Mapping[str, str | None]) -> tuple[str, str]:
    """Return which output was asked for, and its place; check that the other options go with it."""
    given = {output: place for output, place in places.items() if place}
    if len(given) != 1:
        listed = ", ".join(f"{option_name(output)} {_metavar(output)}" for output in places)
        raise click.UsageError(f"give one of {listed}")
    ((output, place),) = given.items()
    for other, options in _OUTPUTS.items():
        for option in options:
            if other != output and was_given(option):
                raise click.UsageError(f"{option_name(option)} goes with {option_name(other)}; leave it out")
    return output, place


def _check_files(output: str, place: str, model_name: str, *, force: bool) -> None:
    """Refuse files that cannot be written, are inputs, or are there already."""
    files = {"class_lm": class_lm_files, "fst": fst_files}
    if output in files and place.endswith(("/", os.sep)):
        raise click.UsageError("PREFIX is a folder; give the beginning of a file name, such as FOLDER/model")
    for file in files[output](place) if output in files else (place,):
        check_output_apart(file, model_name)
        check_place(file)
        check_not_there(file, force=force)


def _metavar(output: str) -> str:
    return {"class_lm": "PREFIX", "fst": "PREFIX", "classes": "FILE"}.get(output, "OUT")


def _as_ngrams(
    model: Model, budget: Budget, order: int | None, text: Corpus | None, progress: Progress | None
) -> NgramModel:
    """Return a model as n-grams; one of n-grams as it is, unless options ask for others."""
    if model.word_ngrams is not None and not (budget.has_limit or order or text):
        return model.word_ngrams
    return approximate(model, budget, order=order, text=text, progress=progress)


def _ngram_model(source: _Source, form: str) -> NgramModel:
    """Return the model if it is one of n-grams, or the part that --part names."""
    if source.part is None and source.model.word_ngrams is None:
        fitting = [str(i) for i, one in source.parts.items() if one.word_ngrams is not None]
        hint = f", or one part of it: --part {' or '.join(fitting)}" if fitting else ""
        raise BadDataError(
            f"{source.name}: {source.model!r}; only a model of n-grams can be written {form}{hint}"
        )
    return source.part_with(NgramModel, "n-grams")
