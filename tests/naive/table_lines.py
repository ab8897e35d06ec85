"""A table as lines of tsv, csv or jsonl, cell by cell."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence

Cell = int | float | bool | str | None

MISSING_WORDS = {
    *("", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"),
    *("N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
}
VALUE = re.compile(r"(?=[0-9+.-]).*[0-9].*|[+-]?(t|f|true|false|inf|infinity|nan)", re.S | re.I | re.A)


def number(value: float) -> str:
    """Write a number with six digits after the point; from a hundred billion on in scientific notation."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return str(value)
    if abs(value) >= 1e11:
        return f"{value:.6e}"
    millionths = round(abs(value) * 1e6)
    sign = "-" if value < 0 and millionths else ""
    return f"{sign}{millionths // 10**6}.{millionths % 10**6:06}"


def json_cell(value: Cell) -> str:
    if isinstance(value, str):
        letters = (f"\\u{ord(c):04x}" if c < " " else f"\\{c}" if c in '"\\' else c for c in value)
        return f'"{"".join(letters)}"'
    if isinstance(value, float):
        return number(value) if math.isfinite(value) else "null"
    return json.dumps(value)


def needs_backslash(text: str) -> bool:
    return text in MISSING_WORDS or text.startswith("\\")


def is_text(text: str | None) -> bool:
    """Whether every reader takes a word for text once it is written."""
    if text is None or needs_backslash(text):
        return text is not None
    return not (VALUE.fullmatch(text) or text[:1].isspace())


def is_due(texts: Sequence[str | None], row: int) -> bool:
    """Whether a word needs a backslash because a reader would find nothing but values around it."""
    if is_text(texts[row]):
        return False
    before = [other for other in range(row) if is_text(texts[other])]
    if before:
        return (row - before[-1]) % 64 == 0
    if any(map(is_text, texts[:64])):
        return False
    there = [other for other, text in enumerate(texts[:64]) if text is not None]
    return (row - (there[0] if there else 64)) % 64 == 0


def text_cell(texts: Sequence[str | None], row: int, verbatim: bool, delimiter: str) -> str:
    text = texts[row]
    assert text is not None
    quoted = any(letter in text for letter in '"\r\n' + delimiter) or (verbatim and not text)
    if not verbatim and (needs_backslash(text) or is_due(texts, row)):
        text = "\\" + text
    return '"' + text.replace('"', '""') + '"' if quoted else text


def lines(columns: Mapping[str, Sequence[Cell]], format: str, verbatim: Sequence[str] = ()) -> str:
    rows = list(zip(*columns.values(), strict=True))
    if format == "jsonl":
        return "".join(
            "{"
            + ",".join(
                f"{json_cell(name)}:{json_cell(cell)}" for name, cell in zip(columns, row, strict=True)
            )
            + "}\n"
            for row in rows
        )
    delimiter = "," if format == "csv" else "\t"
    out = ""
    for number_of_row, row in enumerate(rows):
        cells = []
        for (name, column), cell in zip(columns.items(), row, strict=True):
            if cell is None:
                cells.append('""' if len(columns) == 1 else "")
            elif isinstance(cell, str):
                cells.append(text_cell(column, number_of_row, name in verbatim, delimiter))  # type: ignore[arg-type]
            else:
                cells.append(number(cell) if isinstance(cell, float) else str(int(cell)))
        out += delimiter.join(cells) + "\n"
    return out
