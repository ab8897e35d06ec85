"""Options of several commands.

A decorator adds the options of one group. The command gets them as one parameter: ``text: TextOptions``,
``reading: ReadingOptions`` or ``console: Console``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, get_args

import click
import msgspec
from msgspec import inspect

from stategram.cli.checks import option_name
from stategram.cli.console import Console
from stategram.models import HISTORIES, UNKNOWN_CHOICES, Budget
from stategram.resources import parse_size, use_resources
from stategram.text import TextFormat, Vocabulary, WordChoice

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class TextOptions:
    """How a training text is read, and which of its words are known."""

    format: TextFormat
    vocab: int | None
    vocab_file: str | None

    def __post_init__(self) -> None:
        if self.vocab and self.vocab_file:
            raise click.UsageError("--vocab and --vocab-file both choose the words; give one of them")

    @property
    def words(self) -> WordChoice:
        """The choice of words; reads the vocabulary file, if there is one."""
        return WordChoice(self.vocabulary, self.vocab)

    @property
    def vocabulary(self) -> Vocabulary | None:
        """The words of the vocabulary file, if there is one."""
        return Vocabulary.from_file(self.vocab_file, split=self.format.split) if self.vocab_file else None


@dataclass(frozen=True)
class ReadingOptions:
    """How a model is opened, and how the text that it is given is read unless it is as in training."""

    format: Mapping[str, Any] = field(default_factory=dict)
    no_verify: bool = False
    history_name: str = HISTORIES[0]


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


_FORMAT = {one.name: one for one in msgspec.structs.fields(TextFormat) if one.name != "tokenizer"}
FORMAT_OPTIONS = tuple(_FORMAT)
"""The names of the options that say how text is read."""
TEXT_OPTIONS = (*FORMAT_OPTIONS, "vocab", "vocab_file")
"""The names of the options that say how a training text is read."""
_TRAINING_FORMAT = tuple(name for name in _FORMAT if name != "document_mark")
_WORDS = ("lowercase", "digits", "split", "tokenize")


def text_options(command: F, *names: str) -> F:
    """Add how a training text is read: ``text: TextOptions``."""

    @functools.wraps(command)
    def with_text(*, vocab: int | None, vocab_file: str | None, **options: Any) -> Any:
        given = {name: options.pop(name) for name in _FORMAT if name in options}
        return command(text=TextOptions(TextFormat(**given), vocab, vocab_file), **options)

    return _add(
        cast("F", with_text),
        click.option(
            "--vocab",
            type=click.IntRange(min=1),
            metavar="N",
            help="Keep the N most frequent words; the others become <unk>.",
        ),
        click.option("--vocab-file", metavar="FILE", help="Vocabulary file, one word per line."),
        *(_format_option(name) for name in names or _TRAINING_FORMAT),
    )


def document_text_options(command: F) -> F:
    """Add the same, and where documents start, for models that look back further than the sentence."""
    return text_options(command, *_FORMAT)


def model_options(command: F) -> F:
    """Add how a model is opened and how a text for it is read: ``reading: ReadingOptions``."""
    return _reading_options(command, _HISTORY, no_verify_option, names=FORMAT_OPTIONS)


def heldout_options(command: F) -> F:
    """Add the same for models that are given a held-out text: ``reading: ReadingOptions``."""
    return _reading_options(command, no_verify_option, names=_TRAINING_FORMAT)


def history_options(command: F) -> F:
    """Add the same for words that are not in a file: ``reading: ReadingOptions``."""
    return _reading_options(command, _HISTORY, no_verify_option, names=_WORDS)


def _reading_options(command: F, *options: Callable[[Any], Any], names: Sequence[str]) -> F:
    @functools.wraps(command)
    def with_reading(**options: Any) -> Any:
        given = {name: options.pop(name) for name in names}
        opening = {name: options.pop(name) for name in ("no_verify", "history_name") if name in options}
        override = {
            name: None if value == _none_of(name) else value
            for name, value in given.items()
            if value is not None
        }
        return command(reading=ReadingOptions(override, **opening), **options)

    return _add(cast("F", with_reading), *options, *(_format_option(name, of_model=True) for name in names))


_NONE = "none"


def _none_of(name: str) -> str:
    """Return the value of an option that stands for a format's None; any other text may be a word."""
    return _NONE if _literals(_FORMAT[name].type) else ""


def _format_option(name: str, *, of_model: bool = False) -> Callable[[Any], Any]:
    """Return the option of a field of `TextFormat`; that for a model has no default, but may say none."""
    declared = _FORMAT[name]
    if not of_model:
        given = declared.type is not bool and declared.default is not None
        return setting_option(name, declared.type, default=declared.default, show_default=given)
    note = "  [default: as in training]"
    if declared.default is not None:
        return setting_option(name, declared.type, note=note, default=None, negated=True)
    return setting_option(name, declared.type, note=note, none=_NONE)


def budget_options(*names: str, about: str = "") -> Callable[[F], F]:
    """Add how large a model may be: ``budget: Budget``; by default all options, else those of `names`.

    `about` begins the help of each.
    """
    declared = {one.name: one for one in msgspec.structs.fields(Budget) if one.name != "reserved"}
    names = names or tuple(declared)

    def add(command: F) -> F:
        @functools.wraps(command)
        def with_budget(**options: Any) -> Any:
            given = {name: value for name in names if (value := options.pop(name)) is not None}
            limits = [name for name in given if name != "compact"]
            if len(limits) > 1:
                both = " and ".join(map(option_name, limits))
                raise click.UsageError(f"{both} limit the size of the same model; give one of them")
            for name in limits:
                if not given[name] < math.inf:
                    raise click.UsageError(f"{option_name(name)} must be a number; it is {given[name]}")
            return command(budget=Budget(**given), **options)

        return _add(
            cast("F", with_budget), *(setting_option(n, declared[n].type, about=about) for n in names)
        )

    return add


class _Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return value if isinstance(value, int) else parse_size(value)


def setting_option(
    name: str,
    declared: Any,
    *,
    about: str = "",
    note: str = "",
    none: str | None = None,
    negated: bool = False,
    **options: Any,
) -> Callable[[F], F]:
    """Return the option of a field of a struct with a declared type, as its `Meta` describes it.

    `about` and `note` begin and end the help; `none` is a further choice, for other values it is ``""``;
    `negated` adds --no-NAME to a flag; `options` are those of click.
    """
    info, meaning, extra = inspect.type_info(declared), "", dict[str, Any]()
    while isinstance(info, inspect.Metadata | inspect.UnionType):
        if isinstance(info, inspect.UnionType):
            first, *others = (one for one in info.types if not isinstance(one, inspect.NoneType))
            info = inspect.StrType() if others else first
            continue
        meaning = (info.extra_json_schema or {}).get("description", meaning)
        extra |= info.extra or {}
        info = info.type
    help = f"{about}{meaning}" if about else f"{meaning[:1].upper()}{meaning[1:]}"
    flag = option_name(name)
    if isinstance(info, inspect.BoolType):
        options["is_flag"] = True
        return click.option(f"{flag}/--no-{name}" if negated else flag, help=f"{help}.{note}", **options)
    kind: Any = click.STRING
    if choices := extra.get("choices") or _literals(declared):
        kind = click.Choice([*choices, *([none] if none else [])])
    elif extra.get("metavar") == "SIZE":
        kind = _Size()
    elif isinstance(info, inspect.IntType):
        kind = click.IntRange(min=info.ge, max=info.le)
    elif isinstance(info, inspect.FloatType):
        least = info.ge if info.gt is None else info.gt
        kind = click.FloatRange(
            min=least, min_open=info.gt is not None, max=info.lt, max_open=info.lt is not None
        )
    elif none:
        help += '; "" for none'
    metavar = None if isinstance(kind, click.Choice) else extra.get("metavar", "N")
    return click.option(flag, type=kind, metavar=metavar, help=f"{help}.{note}", **options)


def _literals(declared: Any) -> list[str]:
    """Return the values of a literal type in their order, which msgspec does not keep."""
    arguments = get_args(declared)
    values = [one for one in arguments if isinstance(one, str)]
    return values or [value for one in arguments for value in _literals(one)]


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
guess_option = click.option(
    "--no-guess",
    is_flag=True,
    help="Tag words missing from a tag file as UNK-TAG. By default they get the tag of words with "
    "the same last three letters, if at least three agree.",
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
