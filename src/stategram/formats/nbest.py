"""N-best lists and references in text files, as Kaldi and ESPnet write them.

A line of an n-best list is ``utterance score text``; a line of references, or of best hypotheses, is
``utterance text``. A text may be empty. The hypotheses of an utterance have the same name, or are numbered as
Kaldi does it: ``utterance-1``, ``utterance-2``, ....
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence

from stategram.errors import BadDataError
from stategram.storage import Place, atomic_write
from stategram.text import check_utf8, display_name, read_all

# ASCII white space: whether other white space separates words is a setting of the model.
_SPACES = " \t\r\v\f"
_SPACE = re.compile(f"[{_SPACES}]+")
_NUMBERED = re.compile(r"(.+)-([1-9][0-9]{0,8})")
_EXPECTED = "expected the utterance, its score and the text"


def read_nbest(place: Place, *, costs: bool = False) -> dict[str, list[tuple[float, str]]]:
    r"""Read the score and the text of each hypothesis of each utterance.

    Parameters
    ----------
    place
        A path, ``-`` for standard input, or a binary stream; plain or compressed.
    costs
        Whether lower scores are better, as those of Kaldi are; their signs are changed.

    Notes
    -----
    Names are numbered if all end in ``-1``, ``-2``, ..., and each utterance has the numbers 1 to n.

    Examples
    --------
    >>> import io
    >>> read_nbest(io.BytesIO(b"u-1 -1.5 the cat\nu-2 -2 a cat\n"))
    {'u': [(-1.5, 'the cat'), (-2.0, 'a cat')]}

    """
    lines = []
    for where, line in _lines(place, _EXPECTED):
        name, *fields = _SPACE.split(line, 2)
        if not fields:
            raise BadDataError(f"{where}: found {line[:60]!r}; {_EXPECTED}: correct the line")
        score = _score(fields[0], where) * (-1 if costs else 1)
        lines.append((name, score, "".join(fields[1:])))
    is_numbered = _are_numbered([name for name, _, _ in lines])
    lists: dict[str, list[tuple[float, str]]] = {}
    for name, score, text in lines:
        lists.setdefault(name.rpartition("-")[0] if is_numbered else name, []).append((score, text))
    return lists


def read_references(place: Place) -> dict[str, str]:
    r"""Read the true words of each utterance: lines of its name and its words.

    Examples
    --------
    >>> import io
    >>> read_references(io.BytesIO(b"u1 the cat sat\nu2\n"))
    {'u1': 'the cat sat', 'u2': ''}

    """
    references: dict[str, str] = {}
    for where, line in _lines(place, "expected an utterance and its words"):
        name, *text = _SPACE.split(line, 1)
        if name in references:
            raise BadDataError(f"{where}: duplicate line of {name!r}; remove one of the two")
        references[name] = "".join(text)
    return references


def write_best(best: Mapping[str, str], place: Place) -> None:
    """Write a text for each utterance: lines of its name and its words, as `read_references` reads them."""
    atomic_write(place, "".join(f"{name} {text}".rstrip(" ") + "\n" for name, text in best.items()).encode())


def _lines(place: Place, expected: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file that are not blank, each with its place; at least one."""
    source = os.fspath(place) if isinstance(place, os.PathLike) else place
    name, data = display_name(source), read_all(source)
    check_utf8(name, data)
    text = data.decode().removeprefix("\ufeff")
    if not text.strip():
        raise BadDataError(f"{name}: no lines in it; {expected} on each line")
    for number, line in enumerate(text.split("\n"), 1):
        if words := line.strip(_SPACES):
            yield f"{name}:{number}", words


def _score(field: str, where: str) -> float:
    try:
        score = float(field)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BadDataError(
            f"{where}: the score {field[:60]!r} is not a finite number; {_EXPECTED}: correct the line"
        )
    return score


def _are_numbered(names: Sequence[str]) -> bool:
    """Whether all names end in numbers, and those of an utterance are 1 to n."""
    matches = [_NUMBERED.fullmatch(name) for name in names]
    numbers: dict[str, list[int]] = {}
    for match in matches:
        if match is None:
            return False
        numbers.setdefault(match[1], []).append(int(match[2]))
    return all(sorted(found) == list(range(1, len(found) + 1)) for found in numbers.values())
