"""Options of several commands.

A decorator adds the options of one group. The command gets them as one parameter: ``text: TextOptions``,
``reading: ReadingOptions`` or ``console: Console``.
"""

from __future__ import annotations

import errno
import functools
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast, get_args

import click
import msgspec
from msgspec import inspect

from stategram.cli.checks import option_name
from stategram.cli.console import Console
from stategram.counts import MAX_ORDER
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
    verify: bool = True
    history: str = HISTORIES[0]


_FORMAT = {one.name: one for one in msgspec.structs.fields(TextFormat) if one.name != "tokenizer"}
FORMAT_OPTIONS = tuple(_FORMAT)
"""The names of the options that say how text is read."""
TEXT_OPTIONS = (*(name for name in FORMAT_OPTIONS if name != "text_column"), "vocab", "vocab_file")
"""The names of the options that say how a training text is read; the column may be that of a held-out one."""
_TRAINING_FORMAT = tuple(name for name in _FORMAT if name != "document_mark")
_WORDS = ("lowercase", "digits", "split", "tokenize")


def _record(parameter: str, make: Callable[[dict[str, Any]], Any], *options: Callable[[Any], Any]) -> Any:
    """Add options that a command gets as one parameter, which `make` builds from their values."""

    def add(command: F) -> F:
        @functools.wraps(command)
        def with_record(**values: Any) -> Any:
            given = {name: values.pop(name) for name in names}
            return command(**{parameter: make(given)}, **values)

        with_options = _add(cast("F", with_record), *options)
        declared: list[click.Option] = with_options.__click_params__  # type: ignore[attr-defined]
        names = [one.name for one in reversed(declared[-len(options) :])]
        return with_options

    return add


def _text(values: dict[str, Any]) -> TextOptions:
    vocab, vocab_file = values.pop("vocab"), values.pop("vocab_file")
    # More words than a number of JSON can have are all words.
    return TextOptions(TextFormat(**values), vocab and min(vocab, 2**63 - 1), vocab_file)


def _reading(values: dict[str, Any]) -> ReadingOptions:
    verify, history = not values.pop("no_verify"), values.pop("history", HISTORIES[0])
    given = {name: value for name, value in values.items() if value is not None}
    override = {name: None if value == _none_of(name) else value for name, value in given.items()}
    return ReadingOptions(override, verify, history)


def _budget(values: dict[str, Any]) -> Budget:
    given = {name: value for name, value in values.items() if value is not None}
    limits = [name for name in given if name != "compact"]
    if len(limits) > 1:
        both = " and ".join(map(option_name, limits))
        raise click.UsageError(f"{both} limit the size of the same model; give one of them")
    for name in limits:
        if not given[name] < math.inf:
            raise click.UsageError(f"{option_name(name)} must be a number; it is {given[name]}")
    return Budget(**given)


_NONE = "none"


def _none_of(name: str) -> str:
    """Return the value of an option that stands for a format's None; any other text may be a word."""
    return _NONE if _literals(_FORMAT[name].type) else ""


def _format_option(name: str, *, of_model: bool = False) -> Callable[[Any], Any]:
    """Return the option of a field of `TextFormat`; that for a model has no default, but may say none.

    The column of a table is that of the text at hand, whatever the model was trained on.
    """
    declared = _FORMAT[name]
    if not of_model or name == "text_column":
        given = declared.type is not bool and declared.default is not None
        return setting_option(name, declared.type, default=declared.default, show_default=given)
    note = "  [default: as in training]"
    if declared.default is not None:
        return setting_option(name, declared.type, note=note, default=None, negated=True)
    return setting_option(name, declared.type, note=note, none=_NONE)


class _Size(click.ParamType[int]):
    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        return value if isinstance(value, int) else parse_size(value)


def setting_option(
    name: str,
    declared: Any,
    *,
    note: str = "",
    none: str | None = None,
    negated: bool = False,
    **options: Any,
) -> Callable[[F], F]:
    """Return the option of a field of a struct with a declared type, as its `Meta` describes it.

    `note` ends the help; `none` is a further choice, for other values it is ``""``;
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
    help = f"{meaning[:1].upper()}{meaning[1:]}"
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


_INTEGER = click.IntRange(min=1)
vocab_file_option = click.option("--vocab-file", metavar="FILE", help="Vocabulary file, one word per line.")
_NO_VERIFY = click.option(
    "--no-verify", is_flag=True, help="Open a model file without verifying its checksums."
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
force_option = click.option("--force", is_flag=True, help="Replace an existing OUT.")
train_option = click.option(
    "--train", multiple=True, metavar="FILE", help="Training text; may be repeated for several files."
)
unknown_option = click.option(
    "--unknown",
    type=click.Choice(UNKNOWN_CHOICES),
    default=UNKNOWN_CHOICES[0],
    show_default=True,
    help="How to score out-of-vocabulary words: as <unk>; not at all; or as <unk> times the probability of "
    "their spelling by a character model.",
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**63 - 1),
    default=0,
    show_default=True,
    metavar="N",
    help="Random seed.",
)
threads_option = click.option(
    "--threads",
    type=_INTEGER,
    metavar="N",
    help="Number of threads; results do not depend on it.  [default: all processors]",
)
_TMP = click.option(
    "--tmp", metavar="FOLDER", help="Folder for temporary files.  [default: the system's folder]"
)
quiet_option = click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
_VERBOSE = click.option("-v", "--verbose", is_flag=True, help="Print details.")
_MEMORY = click.option(
    "--memory",
    metavar="SIZE",
    help="Memory limit, such as 2G (K, M and G are powers of 1024); larger arrays go to temporary files.",
)
_HISTORY = click.option(
    "--history",
    type=click.Choice(HISTORIES),
    default=HISTORIES[0],
    show_default=True,
    help="Context available to a word tree model: the sentence, the document, or also caches of everything "
    "scored so far. A cache in a mixture always looks back.",
)
_VOCAB = click.option(
    "--vocab",
    type=_INTEGER,
    metavar="N",
    help="Keep the N most frequent words; the others become <unk>.",
)


def once(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> str | None:
    """Return an option that is declared as multiple; refuse repetition, as click would use the last value."""
    if len(value) > 1:
        raise click.UsageError(f"{param.opts[0]} is given {len(value)} times; give it once")
    return value[0] if value else None


heldout_option = click.option(
    "--heldout",
    multiple=True,
    callback=once,
    metavar="FILE",
    help="Held-out text, on which weights and the probability of <unk> are learned.",
)


def tags_option(note: str = "") -> Callable[[F], F]:
    """Return the option of the source of tags; `note` has its default."""
    return click.option(
        "--tags",
        multiple=True,
        callback=once,
        metavar="SOURCE",
        help="Part-of-speech tags of contexts: brill (English), a file of words and tags, or "
        f"FILE.conllu[:upos|:xpos].{note}",
    )


def output_option(help: str, **options: Any) -> Callable[[F], F]:
    """Return the option of the output, required unless there is a default."""
    return click.option("-o", "--output", metavar="OUT", help=help, **({"required": True} | options))


def arpa_option(help: str) -> Callable[[F], F]:
    """Return the option of an ARPA file to write."""
    return click.option(
        "--arpa", metavar="OUT", help=f"{help} - is stdout; .gz .xz .bz2 .zst are compressed."
    )


def order_option(note: str = "", *, min: int = 1, **options: Any) -> Callable[[F], F]:
    """Return the option of the maximum order; `note` has its default."""
    kind = click.IntRange(min, MAX_ORDER)
    return click.option("--order", type=kind, metavar="N", help=f"Maximum n-gram order.{note}", **options)


def format_option(
    formats: Sequence[str], default: str = "tsv", *, of: str = "Output format"
) -> Callable[[F], F]:
    """Return the option of the format of an output, by default that of its name."""
    return click.option(
        "--format",
        type=click.Choice(formats),
        help=f"{of}.  [default: by the name of OUT, else {default}]",
    )


_OPTIONS_OF_BUDGET = {
    one.name: setting_option(one.name, one.type)
    for one in msgspec.structs.fields(Budget)
    if one.name != "reserved"
}


def budget_options(*names: str) -> Callable[[F], F]:
    """Add how large a model may be: ``budget: Budget``; by default all options, else those of `names`."""
    chosen = [_OPTIONS_OF_BUDGET[name] for name in names or _OPTIONS_OF_BUDGET]
    return cast("Callable[[F], F]", _record("budget", _budget, *chosen))


def _reading_options(names: Sequence[str], *options: Callable[[Any], Any]) -> Callable[[F], F]:
    of_format = (_format_option(name, of_model=True) for name in names)
    return cast("Callable[[F], F]", _record("reading", _reading, *options, _NO_VERIFY, *of_format))


def _text_options(names: Sequence[str]) -> Callable[[F], F]:
    of_format = map(_format_option, names)
    return cast("Callable[[F], F]", _record("text", _text, _VOCAB, vocab_file_option, *of_format))


text_options = _text_options(_TRAINING_FORMAT)
"""Add how a training text is read: ``text: TextOptions``."""
document_text_options = _text_options(FORMAT_OPTIONS)
"""Add the same, and where documents start, for models that look back further than the sentence."""
model_options = _reading_options(FORMAT_OPTIONS, _HISTORY)
"""Add how a model is opened and how a text for it is read: ``reading: ReadingOptions``."""
heldout_options = _reading_options(_TRAINING_FORMAT)
"""Add the same for models that are given a held-out text."""
opening_options = _reading_options(())
"""Add how a model is opened alone."""
training_options = _reading_options(("text_column",))
"""Add the same, and the column of a training text, which is read as it was in training."""
history_options = _reading_options(_WORDS, _HISTORY)
"""Add the same for words that are not in a file."""


def work_options(command: F) -> F:
    """Add --threads, --quiet and --verbose: ``console: Console``, with resources and messages set up."""
    return _add(_in_console(command), threads_option, quiet_option, _VERBOSE)


def common_options(command: F) -> F:
    """Add the same, and --seed."""
    return _add(_in_console(command), threads_option, seed_option, quiet_option, _VERBOSE)


def console_options(command: F) -> F:
    """Add --quiet alone: ``console: Console``."""
    return _add(_in_console(command), quiet_option)


def memory_options(command: F) -> F:
    """Add --memory and --tmp, for a command with `work_options` or `common_options`."""
    return _add(command, _MEMORY, _TMP)


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
        with use_resources(**resources), console.log_messages():
            try:
                return command(console=console, **options)
            except OSError as error:
                if error.errno == errno.ENOSPC and error.filename is None:
                    folder = resources["tmp"] or tempfile.gettempdir()
                    error.filename = f"the output, or a temporary file in {folder} (--tmp)"
                raise

    return cast("F", in_console)
