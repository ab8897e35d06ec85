"""Options of several commands.

A decorator adds the options of one group. The command gets them as one parameter: ``text: TextOptions``,
``reading: ReadingOptions`` or ``console: Console``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeVar, cast

import click

from stategram.cli.console import Console
from stategram.models import HISTORIES, UNKNOWN_CHOICES
from stategram.resources import use_resources
from stategram.text import (
    SPLITS,
    TOKENIZE_FORMS,
    Normalization,
    Split,
    TokenizeForm,
    Vocabulary,
    text_settings,
)

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class TextOptions:
    """How a training text is read: its vocabulary, and what is done with its words."""

    vocab: int | None
    vocab_file: str | None
    lowercase: bool
    digits: str | None
    encoding_errors: Literal["strict", "replace"]
    document_mark: str | None = None
    split: Split = "unicode"
    tokenize: TokenizeForm | None = None

    def __post_init__(self) -> None:
        if self.vocab and self.vocab_file:
            raise click.UsageError("--vocab and --vocab-file both choose the words; give one of them")

    @property
    def settings(self) -> dict[str, Any]:
        """How the text is read, as manifests have it."""
        return text_settings(
            self.normalization,
            vocabulary_size=self.vocab,
            vocabulary_file=self.vocab_file,
            encoding_errors=self.encoding_errors,
            document_mark=self.document_mark,
        )

    @property
    def normalization(self) -> Normalization:
        """What is done with words before they are looked up."""
        return Normalization(self.lowercase, self.digits, self.split, self.tokenize)

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], vocabulary: Vocabulary) -> TextOptions:
        """Return the options of a text that was read with these settings."""
        normalization = Normalization.from_recipe(settings, vocabulary)
        errors: Literal["strict", "replace"] = (
            "replace" if settings.get("encoding_errors") == "replace" else "strict"
        )
        return cls(
            settings.get("vocabulary_size"),
            settings.get("vocabulary_file"),
            normalization.lowercase,
            normalization.digits,
            errors,
            settings.get("document_mark"),
            normalization.split,
            normalization.tokenize,
        )


@dataclass(frozen=True)
class ReadingOptions:
    """How a model is opened, and what is done with the text that it is given; None: as in training."""

    no_verify: bool
    lowercase: bool | None
    digits: str | None
    encoding_errors: Literal["strict", "replace"] = "strict"
    document_mark: str | None = None
    history_name: str = "sentence"
    split: Split | None = None
    tokenize: TokenizeForm | None = None
    no_tokenize: bool = False

    def __post_init__(self) -> None:
        if self.tokenize and self.no_tokenize:
            raise click.UsageError("--tokenize and --no-tokenize contradict each other; give one of them")


@dataclass(frozen=True)
class ApproximationOptions:
    """Which back-off n-gram model approximates a model."""

    order: int | None
    max_ngrams: int | None
    max_size: str | None
    prune: float | None
    text: str | None

    def __post_init__(self) -> None:
        if sum(limit is not None for limit in (self.max_ngrams, self.max_size, self.prune)) > 1:
            raise click.UsageError(
                "--max-ngrams, --max-size and --prune all limit the size; give one of them"
            )

    @property
    def is_given(self) -> bool:
        """Whether a model of n-grams is to be approximated too."""
        return any(getattr(self, field.name) is not None for field in fields(self))


class GroupedCommand(click.Command):
    """A command with many options: each group has a title; those without a group come first."""

    def __init__(self, *arguments: Any, groups: dict[str, tuple[str, ...]], **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.groups = groups

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options of each group, in the order of the command."""
        titles = {name: title for title, names in self.groups.items() for name in names}
        records: dict[str, list[tuple[str, str]]] = {title: [] for title in ("Options", *self.groups)}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                records[titles.get(parameter.name or "", "Options")].append(record)
        for title, rows in records.items():
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


TEXT_OPTIONS = tuple(field.name for field in fields(TextOptions))
"""The names of the options that say how a training text is read."""


def text_options(command: F) -> F:
    """Add how a training text is read: ``text: TextOptions``."""
    return _add(
        _as_record(command, "text", TextOptions),
        click.option(
            "--vocab",
            type=click.IntRange(min=1),
            metavar="N",
            help="Keep the N most frequent words; the others become <unk>.",
        ),
        click.option("--vocab-file", metavar="FILE", help="Vocabulary file, one word per line."),
        click.option("--lowercase", is_flag=True, help="Lowercase all words."),
        click.option("--digits", metavar="WORD", help="Replace each number by WORD, such as N."),
        click.option(
            "--split",
            type=click.Choice(SPLITS),
            default="unicode",
            show_default=True,
            help="White space between words: unicode includes no-break spaces and U+0085, ascii does not.",
        ),
        click.option(
            "--tokenize",
            type=click.Choice(TOKENIZE_FORMS),
            help="Raw text: split punctuation from words, by the rules of Unicode; prose splits lines into "
            "sentences too. Models and counts remember it.",
        ),
        _ENCODING_ERRORS,
    )


def model_options(command: F) -> F:
    """Add how a model is opened and how a text for it is read: ``reading: ReadingOptions``."""
    command = _as_record(command, "reading", ReadingOptions)
    return _add(
        command,
        _HISTORY,
        no_verify_option,
        *_WORDS,
        _ENCODING_ERRORS,
        click.option(
            "--document-mark",
            metavar="REGEX",
            help='Lines that match REGEX start documents; "": lines after a blank one.  '
            "[default: as in training]",
        ),
    )


def heldout_options(command: F) -> F:
    """Add the same for models that are given a held-out text: ``reading: ReadingOptions``."""
    return _add(_as_record(command, "reading", ReadingOptions), no_verify_option, *_WORDS, _ENCODING_ERRORS)


def approximation_options(command: F) -> F:
    """Add which n-grams approximate a model: ``approximation: ApproximationOptions``."""
    return _add(
        _as_record(command, "approximation", ApproximationOptions),
        click.option(
            "--order",
            type=click.IntRange(min=2, max=9),
            metavar="N",
            help="With --arpa: length of the longest n-grams.  [default: that of the n-gram model in MODEL]",
        ),
        click.option(
            "--max-ngrams",
            type=click.IntRange(min=1),
            metavar="N",
            help="With --arpa: at most N n-grams.  [default: as many as the n-gram model in MODEL has up to "
            "this order]",
        ),
        click.option(
            "--max-size",
            metavar="SIZE",
            help="With --arpa: at most SIZE bytes before compression, such as 100M.",
        ),
        click.option(
            "--prune",
            type=click.FloatRange(min=0, min_open=True),
            metavar="T",
            help="With --arpa: only n-grams without which the perplexity would rise by at least the fraction "
            "T, such as 1e-8.",
        ),
        click.option(
            "--text",
            metavar="FILE",
            help="With --arpa: the training text, to take histories from; needed if no part of MODEL is an "
            "n-gram model of this order or more.",
        ),
    )


def history_options(command: F) -> F:
    """Add the same for words that are not in a file: ``reading: ReadingOptions``."""
    return _add(_as_record(command, "reading", ReadingOptions), _HISTORY, *_WORDS, no_verify_option)


def format_option(formats: Sequence[str], default: str = "tsv") -> Callable[[F], F]:
    """Add the option of the format of an output, which the name of a file gives too."""
    return click.option(
        "--format",
        type=click.Choice(formats),
        help=f"Output format.  [default: as FILE is named, {default} otherwise]",
    )


def common_options(command: F) -> F:
    """Add the seed, and what `work_options` adds."""
    return _add(
        _in_console(command),
        _THREADS,
        click.option(
            "--seed",
            type=click.IntRange(0, 2**63 - 1),
            default=0,
            show_default=True,
            metavar="N",
            help="Random seed.",
        ),
        _QUIET,
        _VERBOSE,
    )


def work_options(command: F) -> F:
    """Add --threads, --quiet and --verbose: ``console: Console``, with resources and messages set up."""
    return _add(_in_console(command), _THREADS, _QUIET, _VERBOSE)


def quiet_option(command: F) -> F:
    """Add --quiet alone: ``console: Console``."""
    return _add(_in_console(command), _QUIET)


def memory_options(command: F) -> F:
    """Add --memory and --tmp, for a command with `work_options` or `common_options`."""
    return _add(
        command,
        click.option(
            "--memory",
            metavar="SIZE",
            help="Memory limit, such as 2G; what does not fit goes to temporary files.",
        ),
        click.option(
            "--tmp", metavar="FOLDER", help="Folder for temporary files.  [default: the system's folder]"
        ),
    )


def cluster_options(command: F) -> F:
    """Add --cluster, the executor of the resources of a command with `work_options` or `common_options`."""
    return _add(
        command,
        click.option(
            "--cluster",
            metavar="WHERE",
            help="Workers for independent parts of the work: local:N, N processes on this machine; "
            "tls://HOST:PORT, the scheduler of a Dask cluster, with certificates of Dask's configuration; "
            "tcp://127.0.0.1:PORT, one on this machine without encryption. --threads is then that of each "
            "worker.",
        ),
    )


max_ngrams_option = click.option(
    "--max-ngrams",
    type=click.IntRange(min=1),
    metavar="N",
    help="Instead: keep the N n-grams that are worth most, words included.",
)
compact_option = click.option(
    "--compact",
    is_flag=True,
    help="Round probabilities and weights of n-grams to 8 to 12 bits: less than 5 bytes an n-gram in place "
    "of 8, a perplexity that is the same within 0.1%, sums that are off by less than 2%.",
)
unknown_option = click.option(
    "--unknown",
    type=click.Choice(UNKNOWN_CHOICES),
    default=UNKNOWN_CHOICES[0],
    show_default=True,
    help="Words that MODEL does not know: unk: all are the word <unk>; exclude: they are left out, as always "
    "if MODEL has no <unk>; spell: <unk>, times the probability of their spelling by a model of characters.",
)
no_verify_option = click.option(
    "--no-verify", is_flag=True, help="Open a model file without verifying its checksums."
)
document_mark_option = click.option(
    "--document-mark",
    metavar="REGEX",
    help="Lines that match REGEX start documents, for models that look back further than the sentence.  "
    "[default: lines after a blank one]",
)
guess_option = click.option(
    "--no-guess",
    is_flag=True,
    help="Tag words missing from a tag file as UNK-TAG. By default they get the tag of words with "
    "the same last three letters, if at least three agree.",
)
_WORDS = (
    click.option(
        "--lowercase/--no-lowercase",
        default=None,
        help="Lowercase all words, or keep their case.  [default: as in training]",
    ),
    click.option(
        "--digits",
        metavar="WORD",
        help='Replace each number by WORD; "" keeps numbers.  [default: as in training]',
    ),
    click.option(
        "--split",
        type=click.Choice(SPLITS),
        help="White space between words: ascii keeps no-break spaces and U+0085 within words.  "
        "[default: as in training]",
    ),
    click.option(
        "--tokenize",
        type=click.Choice(TOKENIZE_FORMS),
        help="Raw text: split punctuation from words; prose splits lines into sentences too.  "
        "[default: as in training]",
    ),
    click.option("--no-tokenize", is_flag=True, help="Words are separated in the text already."),
)
_HISTORY = click.option(
    "--history",
    "history_name",
    type=click.Choice(HISTORIES),
    default=HISTORIES[0],
    show_default=True,
    help="How far back MODEL may look: inside the sentence, to earlier sentences of the document too, or "
    "also into caches of all words so far. It is for word tree models; a cache in a mixture always looks "
    "back.",
)
_ENCODING_ERRORS = click.option(
    "--encoding-errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    show_default=True,
    help="Bytes that are not UTF-8: strict is an error, replace puts U+FFFD.",
)
_THREADS = click.option(
    "--threads",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of threads; results do not depend on it.  [default: all processors]",
)
_QUIET = click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Print details.")


def _add(command: F, *options: Callable[[Any], Any]) -> F:
    """Add options that --help shows in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _as_record(command: F, parameter: str, record: type[Any]) -> F:
    """Pass the options that are fields of a record as one parameter."""

    @functools.wraps(command)
    def with_record(**options: Any) -> Any:
        values = {field.name: options.pop(field.name) for field in fields(record) if field.name in options}
        return command(**options, **{parameter: record(**values)})

    return cast("F", with_record)


def _in_console(command: F) -> F:
    """Run a command within its resources, and show what the library logs meanwhile."""

    @functools.wraps(command)
    def in_console(*, quiet: bool, verbose: bool = False, **options: Any) -> Any:
        if quiet and verbose:
            raise click.UsageError("--quiet and --verbose contradict each other; give one of them")
        console = Console(quiet=quiet, verbose=verbose)
        resources = {name: options.pop(name, None) for name in ("threads", "memory", "tmp")}
        cluster = _cluster(options.pop("cluster", None), resources["threads"])
        with use_resources(**resources), console.log_messages(), cluster:
            return command(console=console, **options)

    return cast("F", in_console)


def _cluster(address: str | None, threads: int | None) -> AbstractContextManager[object]:
    """Return what opens a cluster, if one was asked for."""
    if address is None:
        return nullcontext()
    from stategram.workers import open_cluster

    return open_cluster(address, threads=threads)
