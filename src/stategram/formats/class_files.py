r"""Word classes in the files of ClusterCat, mkcls, SRILM and Brown clustering, and in JSON.

``tsv``, ``csv``, ``jsonl``, ``parquet``
    Tables with the columns ``word``, ``class`` and ``count``, a line of these names first in tsv and csv;
    docs/tables.md says how words are written so that other programs read them.
``clustercat``
    ``word<TAB>class<TAB>count`` and no line of names; read with two or three columns, as ClusterCat and mkcls
    write it.
``mkcls``
    ``word<TAB>class``, words in the order of their bytes, classes from 2: GIZA++ keeps 0 and 1 for itself.
    A file of two columns is read as ``clustercat``, which gives the same classes.
``srilm``
    ``CLASS-00012 p word`` with p = N(word)/N(class), SRILM's classes-format; read with or without p.
``brown``
    ``bits<TAB>word<TAB>count``; the bits are the way to the class from the root of a hierarchy.
``json``
    ``{"version": 1, "n_classes": 1, "classes": [{"class": 0, "count": 9, "bits": "0", "words":
    [{"word": "a", "count": 9}]}]}``; ``bits`` only where they are known. Empty classes are listed too.

Columns are separated by ASCII white space; a word is anything without it. Without a given format, a file is

0. a table if its first line names the columns ``word``, ``class`` and another one, or is a JSON object with
   the first two, or if it is a parquet file;
1. ``json`` if it begins with ``{`` and ends with ``}``, or begins as our own JSON does;
2. ``srilm`` if every line begins with ``CLASS`` and has two columns, or three with a probability second;
3. ``brown`` if every line has three columns, the first of bits only and the third an integer;
4. ``srilm`` if every line has three columns with a probability second, and some third column is no number;
5. ``clustercat`` otherwise.

What these rules cannot tell apart (a file of ``clustercat`` all of whose words are bits, say) needs a given
format. Given ``tsv``, a file without a line of names is read as ``clustercat``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.storage import Place, atomic_write
from stategram.tables import TABLE_FORMATS, Rows, Table, TextColumn, word_table
from stategram.text import check_utf8, display_name, read_all

CLASS_FORMATS = (*TABLE_FORMATS, "clustercat", "mkcls", "srilm", "brown", "json")

_EXPECTED = {
    "tsv": "word<TAB>class, or word<TAB>class<TAB>count",
    "clustercat": "word<TAB>class, or word<TAB>class<TAB>count",
    "mkcls": "word<TAB>class",
    "srilm": "CLASS p word, or CLASS word",
    "brown": "bits<TAB>word<TAB>count",
}
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_PROBABILITY = re.compile(rb"(0*\.\d+|0+\.?|0*1(\.0*)?|\d(\.\d*)?[eE]-\d+)([eE]-\d+)?")
_BITS = re.compile(rb"[01]+")
_INTEGER = re.compile(rb"\d+")
_FIRST_CLASS_OF_MKCLS = 2


def write_classes(
    words: Sequence[str],
    labels: ArrayLike,
    counts: ArrayLike,
    place: Place,
    *,
    format: str = "tsv",
    bit_paths: Sequence[str] | None = None,
) -> None:
    """Write the class of each word, class by class, the most frequent words first; ``mkcls`` by word.

    Parameters
    ----------
    place
        A path, ``-`` for standard output, or a binary stream. A file is written beside its place and then
        renamed, so that it is never half there; one named ``.gz`` is packed.
    words, labels, counts
        Each word, the number of its class, and how often it occurs.
    format
        One of ``tsv``, ``csv``, ``jsonl``, ``parquet``, ``clustercat``, ``mkcls``, ``srilm``, ``brown``,
        ``json``; see the module.
    bit_paths
        For each class its path in a hierarchy: needed for ``brown``, welcome in ``json``.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_classes(["cat", "the", "dog"], [1, 0, 1], [1, 9, 3], file, format="srilm")
    >>> print(file.getvalue().decode(), end="")
    CLASS-00000 1.0 the
    CLASS-00001 0.75 dog
    CLASS-00001 0.25 cat

    """
    if format not in CLASS_FORMATS:
        raise UsageError(
            f"there is no class file format {format!r}; choose one of {', '.join(CLASS_FORMATS)}"
        )
    label = np.asarray(labels, dtype=np.int64)
    count = np.asarray(counts, dtype=np.int64)
    if not len(words) == len(label) == len(count):
        raise UsageError(
            f"{len(words)} words, {len(label)} classes and {len(count)} counts were given; "
            "one class and one count for each word are needed"
        )
    if len(label) and (label.min() < 0 or count.min() < 0):
        raise UsageError("a class or a count is below 0; give classes 0, 1, ... and counts of 0 or more")
    highest = int(label.max(initial=-1))
    if bit_paths is None and format == "brown":
        raise UsageError(
            "the brown format needs the bit paths of a class hierarchy; build one, or choose tsv"
        )
    if bit_paths is not None and len(bit_paths) <= highest:
        raise UsageError(f"class {highest} has no bit path: only {len(bit_paths)} were given, one a class")
    _check_words(words)
    order = np.lexsort((-count, label))
    if format == "brown" and bit_paths is not None:
        place_of_path = np.argsort(np.argsort(np.array([*bit_paths, ""]), kind="stable"))
        order = np.lexsort((-count, place_of_path[label]))
    word = [words[i] for i in order.tolist()]
    label, count = label[order], count[order]
    if format in TABLE_FORMATS:
        Table({"word": TextColumn.from_strings(word), "class": label, "count": count}).write(place, format)
        return
    if format == "json":
        atomic_write(place, _json(word, label, count, bit_paths))
        return
    rows = zip(word, label.tolist(), count.tolist(), strict=True)
    if format == "clustercat":
        lines = [f"{w}\t{g}\t{n}\n" for w, g, n in rows]
    elif format == "mkcls":
        rows_by_word = sorted(rows, key=lambda row: row[0].encode())
        lines = [f"{w}\t{g + _FIRST_CLASS_OF_MKCLS}\n" for w, g, _ in rows_by_word]
    elif format == "brown" and bit_paths is not None:
        lines = [f"{bit_paths[g]}\t{w}\t{n}\n" for w, g, n in rows]
    else:
        fractions = _fractions(label, count).tolist()
        lines = [f"CLASS-{g:05d} {p} {w}\n" for (w, g, _), p in zip(rows, fractions, strict=True)]
    atomic_write(place, "".join(lines).encode())


def read_classes(place: Place, *, format: str | None = None) -> dict[str, str]:
    r"""Read the class of each word; a class is named as the file names it, or by its bits.

    Parameters
    ----------
    place
        A path, ``-`` for standard input, or a binary stream; plain or compressed.
    format
        One of `CLASS_FORMATS`; by default it is detected as the module says.

    Raises
    ------
    BadDataError
        If a line is not of the format, is not UTF-8, or gives a word a second class; or if there is no line.

    Examples
    --------
    >>> import io
    >>> read_classes(io.BytesIO(b"CLASS-1 0.75 dog\nCLASS-1 0.25 cat\n"))
    {'dog': 'CLASS-1', 'cat': 'CLASS-1'}
    >>> read_classes(io.BytesIO(b"0110\tthe\t9\n1\tcat\t1\n"))
    {'the': '0110', 'cat': '1'}

    """
    if format is not None and format not in CLASS_FORMATS:
        raise UsageError(
            f"there is no class file format {format!r}; choose one of {', '.join(CLASS_FORMATS)}"
        )
    source = os.fspath(place) if isinstance(place, os.PathLike) else place
    name = display_name(source)
    data = read_all(source).removeprefix(b"\xef\xbb\xbf")
    text = data.strip()
    if not text:
        raise BadDataError(f"{name}:1: the class file is empty; expected at least one word with its class")
    if format is None or format in TABLE_FORMATS:
        table = word_table(name, data, "class")
        if table is not None:
            return _classes_of(table)
        if format not in (None, "tsv"):
            raise BadDataError(
                f"{name}:1: not a {format} table of word, class and count; write it again, or leave the "
                "format out"
            )
    check_utf8(name, data)
    if format == "json" or (format is None and _looks_like_json(text)):
        return _read_json(name, data)
    lines = [line.split() for line in data.split(b"\n")]
    rows = [line for line in lines if line]
    found = format or _detect(rows)
    if format is not None or found == "clustercat":  # the others were found by looking at every line
        _check_rows(name, lines, found)
    pairs = [_word_and_class(row, found) for row in rows]
    classes = {word.decode(): label.decode() for word, label in pairs}
    if len(classes) < len(pairs):
        _find_second(name, lines, found)
    return classes


def _classes_of(table: Rows) -> dict[str, str]:
    classes: dict[str, str] = {}
    first: dict[str, int] = {}
    for row, (word, label) in enumerate(zip(table.columns["word"], table.columns["class"], strict=True)):
        if classes.setdefault(word, label) != label:
            raise BadDataError(
                f"{table.where(row)}: {word!r} has the class {label}, but {table.where(first[word])} gave it "
                f"{classes[word]}; a word has one class: remove one of the two rows"
            )
        first.setdefault(word, row)
    return classes


def _looks_like_json(text: bytes) -> bool:
    """Return whether a file is JSON, complete or cut off; its first line alone is no row of a class file."""
    return text.startswith(b"{") and (text.endswith(b"}") or b'"classes"' in text[:200])


def _detect(rows: list[list[bytes]]) -> str:
    widths = set(map(len, rows))
    if widths <= {2, 3} and all(
        row[0].startswith(b"CLASS") and (len(row) == 2 or _PROBABILITY.fullmatch(row[1])) for row in rows
    ):
        return "srilm"
    if widths == {3}:
        if all(_BITS.fullmatch(row[0]) and _INTEGER.fullmatch(row[2]) for row in rows):
            return "brown"
        if all(_PROBABILITY.fullmatch(row[1]) for row in rows) and not all(
            _NUMBER.fullmatch(row[2]) for row in rows
        ):
            return "srilm"
    return "clustercat"


def _is_row(row: list[bytes], format: str) -> bool:
    if format == "brown":
        return len(row) == 3 and bool(_BITS.fullmatch(row[0])) and bool(_INTEGER.fullmatch(row[2]))
    if format == "srilm":
        return len(row) == 2 or (len(row) == 3 and bool(_PROBABILITY.fullmatch(row[1])))
    return len(row) == 2 or (format != "mkcls" and len(row) == 3 and bool(_NUMBER.fullmatch(row[2])))


def _check_rows(name: str, lines: list[list[bytes]], format: str) -> None:
    for number, line in enumerate(lines, 1):
        if line and not _is_row(line, format):
            shown = b" ".join(line[:6]).decode()
            raise BadDataError(
                f"{name}:{number}: found {plural(len(line), 'column')}, {shown[:80]!r}; a {format} class "
                f"file has {_EXPECTED[format]} on each line: correct the line"
            )


def _word_and_class(row: list[bytes], format: str) -> tuple[bytes, bytes]:
    if format in ("tsv", "clustercat", "mkcls"):
        return row[0], row[1]
    return (row[1] if format == "brown" else row[-1]), row[0]


def _find_second(name: str, lines: list[list[bytes]], format: str) -> None:
    """Raise if a duplicate word has two classes; a duplicate line does no harm."""
    seen: dict[bytes, tuple[bytes, int]] = {}
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        word, label = _word_and_class(line, format)
        first, where = seen.setdefault(word, (label, number))
        if first != label:
            raise BadDataError(
                f"{name}:{number}: {word.decode()!r} has the class {label.decode()}, but line {where} gave "
                f"it {first.decode()}; a word has one class: remove one of the two lines"
            )


def _check_words(words: Sequence[str]) -> None:
    """Refuse words that would not come back from a file of columns as they were."""
    try:
        encoded = [word.encode() for word in words]
    except UnicodeEncodeError as error:
        raise BadDataError(
            f"the word {error.object!r} cannot be written as UTF-8; read the text as UTF-8"
        ) from error
    if b" ".join(encoded).split() != encoded:
        bad = next(word for word, code in zip(words, encoded, strict=True) if code.split() != [code])
        raise BadDataError(
            f"the word {bad!r} is empty or holds white space; a class file needs words without it"
        )
    if len(set(encoded)) < len(encoded):
        seen: set[str] = set()
        duplicate = next(word for word in words if word in seen or seen.add(word))  # type: ignore[func-returns-value]
        raise BadDataError(f"the word {duplicate!r} is a duplicate; a word has one class")


def _fractions(label: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.float64]:
    """p(word | class); alike for the words of a class without events."""
    total = np.bincount(label, weights=count)[label] if len(label) else np.zeros(0)
    alike = 1.0 / np.bincount(label)[label] if len(label) else np.zeros(0)
    return np.where(total > 0, count / np.maximum(total, 1), alike)


class _Word(msgspec.Struct):
    word: str
    count: int = 0


class _Class(msgspec.Struct, rename={"label": "class"}, omit_defaults=True, kw_only=True):
    label: int | str
    count: int
    bits: str | None = None
    words: list[_Word]


class _Classes(msgspec.Struct):
    version: int
    n_classes: int
    classes: list[_Class]


def _json(
    words: list[str], label: NDArray[np.int64], count: NDArray[np.int64], bit_paths: Sequence[str] | None
) -> bytes:
    n_classes = max(int(label.max(initial=-1)) + 1, len(bit_paths or ()))
    ends = np.searchsorted(label, np.arange(n_classes + 1)).tolist()
    numbers = count.tolist()
    classes = [
        _Class(
            label=g,
            count=sum(numbers[begin:end]),
            bits=None if bit_paths is None else bit_paths[g],
            words=list(map(_Word, words[begin:end], numbers[begin:end])),
        )
        for g, (begin, end) in enumerate(pairwise(ends))
    ]
    return msgspec.json.encode(_Classes(1, n_classes, classes)) + b"\n"


def _read_json(name: str, data: bytes) -> dict[str, str]:
    try:
        found = msgspec.json.decode(data, type=_Classes)
    except msgspec.ValidationError as error:
        raise BadDataError(
            f'{name}:1: {error}; expected {{"version", "n_classes", "classes": [{{"class", "count", '
            '"words": [{"word", "count"}]}]}: write the file again'
        ) from error
    except msgspec.DecodeError as error:
        at = re.search(r"byte (\d+)", str(error))
        number = data.count(b"\n", 0, int(at[1]) if at else len(data)) + 1
        raise BadDataError(
            f"{name}:{number}: not JSON ({error}); it may be cut off: write the file again"
        ) from error
    if found.version != 1:
        raise BadDataError(
            f"{name}:1: the class file has version {found.version}; this stategram reads version 1: update it"
        )
    classes: dict[str, str] = {}
    for entry in found.classes:
        label = str(entry.label)
        for word in entry.words:
            if classes.setdefault(word.word, label) != label:
                raise BadDataError(
                    f"{name}:1: {word.word!r} has the classes {classes[word.word]} and {label}; "
                    "a word has one class: remove one of the two"
                )
    return classes
