"""N-best lists and references in text files, as Kaldi and ESPnet have them.

A line of an n-best list is ``utterance score text``, or has several scores, as many on each line; a line of
references, or of best hypotheses, is ``utterance text``. A text may be empty. The hypotheses of an utterance
have the same name, or are numbered as Kaldi does it: ``utterance-1``, ``utterance-2``, ....
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence

import numpy as np

from stategram.errors import BadDataError, UsageError
from stategram.evaluation import NBestLists, Rescored
from stategram.storage import Place, atomic_write
from stategram.text import check_utf8, display_name, read_all

NBEST_NAMES = ("auto", "same", "numbered")
"""How the hypotheses of an utterance are named."""

# That of ASCII: whether words hold other white space is for the model to say.
_SPACES = " \t\r\v\f"
_SPACE = re.compile(f"[{_SPACES}]+")
_NUMBERED = re.compile(r"(.+)-([1-9][0-9]{0,8})")


def read_nbest(place: Place, *, columns: int = 1, costs: bool = False, names: str = "auto") -> NBestLists:
    r"""Read n-best lists.

    Parameters
    ----------
    place
        A path, ``-`` for standard input, or a binary stream; plain or compressed.
    columns
        The number of scores of each hypothesis.
    costs
        Whether lower scores are better, as those of Kaldi are; their signs are changed.
    names
        ``same``: all hypotheses of an utterance have its name. ``numbered``: their names end in ``-1``,
        ``-2``, .... ``auto``: numbered, if all names end so and each utterance has the numbers 1 to n.

    Examples
    --------
    >>> import io
    >>> nbest = read_nbest(io.BytesIO(b"u-1 -1.5 the cat\nu-2 -2 a cat\n"))
    >>> nbest.utterances, nbest.texts, nbest.scores[:, 0]
    (('u',), ['the cat', 'a cat'], array([-1.5, -2. ]))

    """
    if names not in NBEST_NAMES:
        raise UsageError(f"no such names {names!r}: there are {', '.join(NBEST_NAMES)}")
    if columns < 1:
        raise UsageError(f"{columns} scores; a hypothesis has at least one")
    given, scores, texts = [], [], []
    expected = f"expected the utterance, {'its score' if columns == 1 else f'{columns} scores'} and the text"
    for where, line in _lines(place, expected):
        fields = _SPACE.split(line, columns + 1)
        if len(fields) < columns + 1:
            raise BadDataError(f"{where}: found {line[:60]!r}; {expected}: correct the line")
        given.append(fields[0])
        scores.append([_score(field, where, expected) for field in fields[1 : columns + 1]])
        texts.append(fields[columns + 1] if len(fields) > columns + 1 else "")
    numbered = names == "numbered" or (names == "auto" and _are_numbered(given))
    if numbered:
        given = [_utterance(name) for name in given]
    return NBestLists.from_lines(given, np.array(scores) * (-1 if costs else 1), texts, numbered=numbered)


def read_references(place: Place) -> dict[str, str]:
    r"""Read what was said in each utterance: lines of its name and its words.

    Examples
    --------
    >>> import io
    >>> read_references(io.BytesIO(b"u1 the cat sat\nu2\n"))
    {'u1': 'the cat sat', 'u2': ''}

    """
    found: dict[str, str] = {}
    for where, line in _lines(place, "expected an utterance and its words"):
        name, *text = _SPACE.split(line, 1)
        if name in found:
            raise BadDataError(f"{where}: a second line of {name!r}; remove one of the two")
        found[name] = text[0] if text else ""
    return found


def write_best(rescored: Rescored, place: Place) -> None:
    """Write the best hypothesis of each utterance: its name and its words."""
    _write(place, [f"{name} {text}" for name, text in rescored.best.items()])


def write_nbest(rescored: Rescored, place: Place) -> None:
    """Write all hypotheses with their total, the best of each utterance first, named as they were read."""
    nbest = rescored.nbest
    order, ranks = (
        nbest.order(rescored.totals),
        np.arange(len(nbest.texts)) - nbest.starts[nbest.utterance_of],
    )
    lines = []
    for i, utterance, rank in zip(order.tolist(), nbest.utterance_of.tolist(), ranks.tolist(), strict=True):
        name = nbest.utterances[utterance] + (f"-{rank + 1}" if nbest.numbered else "")
        lines.append(f"{name} {rescored.totals[i]:.10g} {nbest.texts[i]}")
    _write(place, lines)


def _write(place: Place, lines: Sequence[str]) -> None:
    atomic_write(place, "".join(line.rstrip(" ") + "\n" for line in lines).encode())


def _lines(place: Place, expected: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a file that are not blank, each with its place; at least one."""
    source = os.fspath(place) if isinstance(place, os.PathLike) else place
    name, data = display_name(source), read_all(source)
    check_utf8(name, data)
    if not data.strip():
        raise BadDataError(f"{name}: no lines in it; {expected} on each line")
    for number, line in enumerate(data.decode().removeprefix("\ufeff").split("\n"), 1):
        if words := line.strip(_SPACES):
            yield f"{name}:{number}", words


def _score(field: str, where: str, expected: str) -> float:
    try:
        score = float(field)
    except ValueError:
        score = math.nan
    if not math.isfinite(score):
        raise BadDataError(
            f"{where}: the score {field[:60]!r} is no finite number; {expected}: correct the line"
        )
    return score


def _are_numbered(names: Sequence[str]) -> bool:
    """Whether all names end in numbers, and those of an utterance are 1 to n."""
    numbers: dict[str, set[int]] = {}
    for name in names:
        found = _NUMBERED.fullmatch(name)
        if found is None:
            return False
        number, of_utterance = int(found[2]), numbers.setdefault(found[1], set())
        if number in of_utterance:
            return False
        of_utterance.add(number)
    return all(max(found) == len(found) for found in numbers.values())


def _utterance(name: str) -> str:
    found = _NUMBERED.fullmatch(name)
    if found is None:
        raise BadDataError(
            f"the name {name[:60]!r} has no number; expected utterance-1, utterance-2, ..., or names that "
            "are the same for all hypotheses of an utterance (names='same', --names same)"
        )
    return found[1]
