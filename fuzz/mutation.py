"""Seeded damage: to bytes, to JSON values, to arrays."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PIECES = (
    *(
        b"\0",
        b"\xff",
        b"\xc3",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xef\xbb\xbf",
        b"\xff\xfe",
        b"\r\n",
        b"\r",
    ),
    *(
        b"\n",
        b"\n\n",
        b"\t",
        b" ",
        b"  ",
        b"\x1b[31m",
        b"\xc2\xa0",
        b"\xe2\x80\xa8",
        b'"',
        b"'",
        b"\\",
        b"#",
        b"/",
    ),
    *(
        b"-",
        b"-1",
        b"0",
        b"1e400",
        b"-1e400",
        b"nan",
        b"inf",
        b"-inf",
        b"1e-400",
        b"4294967296",
        b"-99",
        b"99",
    ),
    *(b"18446744073709551616", b"9" * 400, b"<s>", b"</s>", b"<unk>", b"\\data\\", b"\\end\\", b"\\1-grams:"),
    *(
        b"\\99-grams:",
        b"ngram 2=5",
        b"ngram 1=99999999999",
        b"[[parts]]",
        b"[",
        b"{",
        b"{}",
        b"null",
        b"x" * 9000,
    ),
)
_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 255, 2**31, 2**32, 2**53, 2**63, 2**64, 10**30, -(2**63)),
    *(
        0.5,
        -0.5,
        1e308,
        float("inf"),
        float("nan"),
        "",
        "x",
        "\x1b[31m",
        "\0",
        "\ud800",
        "<script>",
        "w-1",
        "../x",
    ),
    *([], {}, [[]], [None], ["x", 1], {"x": 1}, "x" * 10_000, list(range(1000))),
)


def damage_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return bytes with one to four pieces changed."""
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        data = chance.choice(_OF_BYTES)(data, chance)
    return data


def _at(data: bytes, chance: random.Random) -> int:
    return chance.randrange(len(data) + 1)


def _flip(data: bytes, chance: random.Random) -> bytes:
    at = _at(data, chance)
    return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]


def _insert(data: bytes, chance: random.Random) -> bytes:
    at = _at(data, chance)
    return data[:at] + chance.choice(_PIECES) + data[at:]


def _cut_off(data: bytes, chance: random.Random) -> bytes:
    return data[: _at(data, chance)]


def _remove(data: bytes, chance: random.Random) -> bytes:
    at = _at(data, chance)
    return data[:at] + data[at + chance.choice((1, 4, 50, 1000)) :]


def _repeat(data: bytes, chance: random.Random) -> bytes:
    at = _at(data, chance)
    piece = data[at : at + chance.choice((1, 10, 100))]
    return data[:at] + piece * chance.choice((2, 3, 100)) + data[at:]


def _on_lines(
    change: Callable[[list[bytes], random.Random], None],
) -> Callable[[bytes, random.Random], bytes]:
    def changed(data: bytes, chance: random.Random) -> bytes:
        lines = data.split(b"\n")
        change(lines, chance)
        return b"\n".join(lines)

    return changed


def _swap_lines(lines: list[bytes], chance: random.Random) -> None:
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _double_line(lines: list[bytes], chance: random.Random) -> None:
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))


def _replace_field(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    if fields := lines[at].split():
        lines[at] = lines[at].replace(chance.choice(fields), chance.choice(_PIECES), 1)


_OF_BYTES = (
    *(_flip, _insert, _cut_off, _remove, _repeat),
    *map(_on_lines, (_swap_lines, _double_line, _replace_field, _replace_field)),
)


def damage_json(value: Any, chance: random.Random) -> Any:
    """Return a JSON value with one value in it replaced, removed, or put elsewhere."""
    if isinstance(value, dict) and value and chance.random() < 0.9:
        return _damage_object(value, chance)
    if isinstance(value, list) and value and chance.random() < 0.8:
        return _damage_list(value, chance)
    if isinstance(value, int | float) and not isinstance(value, bool) and chance.random() < 0.4:
        return chance.choice((value - 1, value + 1, value + 0.5, -value, 2 * value, 1000 * value))
    return _nested() if chance.random() < 0.05 else chance.choice(_VALUES)


def _damage_object(value: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    key = chance.choice(sorted(value))
    if chance.random() < 0.1:
        return {name: entry for name, entry in value.items() if name != key}
    return {**value, key: damage_json(value[key], chance)}


def _damage_list(value: list[Any], chance: random.Random) -> list[Any]:
    at = chance.randrange(len(value))
    kind = chance.random()
    if kind < 0.1:
        return value[:at] + value[at + 1 :]
    if kind < 0.2:
        return [*value, value[at]]
    return [*value[:at], damage_json(value[at], chance), *value[at + 1 :]]


def _nested() -> Any:
    nested: Any = 0
    for _ in range(900):
        nested = [nested]
    return nested


def damage_array(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    """Return an array with other values, another shape or another type."""
    return chance.choice(_OF_ARRAYS)(array, chance)


def _set_values(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    array = array.copy()
    flat = array.reshape(-1)
    for _ in range(chance.choice((1, 1, 3, 20))):
        if flat.size:
            flat[chance.randrange(flat.size)] = chance.choice(_extremes(array.dtype))
    return array


def _shift_values(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    array = array.copy()
    flat = array.reshape(-1)
    for _ in range(chance.choice((1, 1, 3))):
        if flat.size:
            at = chance.randrange(flat.size)
            with np.errstate(all="ignore"):
                flat[at] += np.array(chance.choice((1, -1, 2, 100))).astype(array.dtype)
    return array


def _swap_values(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    array = array.copy()
    flat = array.reshape(-1)
    if flat.size:
        a, b = chance.randrange(flat.size), chance.randrange(flat.size)
        flat[a], flat[b] = flat[b], flat[a]
    return array


def _shorten(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    return array[: chance.randrange(len(array) + 1)] if array.ndim else array.reshape(1)


def _lengthen(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    return np.concatenate([array, array[: chance.choice((1, 2, 100))]]) if array.ndim else array.reshape(1)


def _reshape(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    return array.reshape(chance.choice(((-1, 1), (1, -1), (-1,), (1, -1, 1))))


def _retype(array: NDArray[Any], chance: random.Random) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return array.astype(chance.choice(("u1", "i1", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "?")))


def _extremes(dtype: np.dtype[Any]) -> tuple[Any, ...]:
    if dtype.kind == "f":
        return (np.nan, np.inf, -np.inf, 0.0, -0.0, -1.0, 1e30, -1e30, 1e-30, 100.0, -100.0)
    if dtype.kind == "b":
        return (True, False)
    info = np.iinfo(dtype)
    return (0, 1, 2, info.max, info.max - 1, info.max // 2, info.min, info.min // 2)


_OF_ARRAYS = (
    *(_set_values, _set_values, _set_values, _shift_values, _shift_values, _swap_values),
    *(_shorten, _lengthen, _reshape, _retype),
)
