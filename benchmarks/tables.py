"""Tables in GitHub's Markdown, ready to be pasted, and the same rows for machines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

Value = str | int | float | None
Row = dict[str, Value]


@dataclass(frozen=True)
class Table:
    """Rows with the same columns, unrounded; `digits` says how many decimals of each column are shown."""

    title: str
    rows: Sequence[Row]
    digits: dict[str, int]
    notes: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        columns = list(self.rows[0]) if self.rows else []
        cells = [[_shown(row[name], self.digits.get(name, 0)) for name in columns] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
        left = [isinstance(self.rows[0][name], str) for name in columns]

        def line(texts: Sequence[str]) -> str:
            padded = (
                text.ljust(width) if to_left else text.rjust(width)
                for text, width, to_left in zip(texts, widths, left, strict=True)
            )
            return f"| {' | '.join(padded)} |"

        rules = [
            "-" * (width + 1) + ("-" if to_left else ":") for width, to_left in zip(widths, left, strict=True)
        ]
        lines = [f"### {self.title}", ""]
        if self.rows:
            lines += [line(columns), f"|{'|'.join(rules)}|", *map(line, cells), ""]
        return "\n".join(lines + [f"{note}\n" for note in self.notes])


def _shown(value: Value, digits: int) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else f"{value:,.{digits}f}"
