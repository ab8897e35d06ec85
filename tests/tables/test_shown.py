"""What notebooks show of a table."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np

from stategram import Table

_HOSTILE = ["<script>alert(1)</script>", "</td></table>", '"onload="x', "&amp;", "\u202eabc", "\x1b[2J"]
_TAGS = {"p", "table", "thead", "tbody", "tr", "th", "td"}


class _Reader(HTMLParser):
    """Collects the texts of cells; refuses tags and attributes that no table has, and those left open."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS
        assert all(name == "style" and re.fullmatch("text-align: (left|right)", v or "") for name, v in attrs)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def _rows(shown: Table) -> list[list[str]]:
    reader = _Reader()
    reader.feed(shown._repr_html_())
    reader.close()
    assert not reader._open
    return reader.rows


def test_cells_are_those_of_the_table() -> None:
    table = Table({"word": ["the", "cat", None], "n": [1, 2, 30], "bits": np.array([0.5, 1 / 3, np.nan])})
    assert _rows(table) == [
        ["word", "n", "bits"],
        ["the", "1", "0.5"],
        ["cat", "2", "0.333333"],
        ["", "30", "nan"],
    ]
    assert table._repr_html_().count("text-align: left") == 4


def test_hostile_texts_are_harmless() -> None:
    table = Table(
        {name: _HOSTILE[i:] + _HOSTILE[:i] for i, name in enumerate(_HOSTILE)} | {"\ud800": _HOSTILE}
    )
    head, first, *_ = _rows(table)  # which have only the tags of tables
    assert head == [*_HOSTILE[:4], r"\u202eabc", r"\x1b[2J", "\N{REPLACEMENT CHARACTER}"]
    assert first == [*head[:-1], head[0]]
    html = table._repr_html_()
    assert not re.search('<script|\u202e|\x1b|style="(?!text-align)', html)
    html.encode()


def test_long_tables_and_cells_are_cut() -> None:
    table = Table({"n": np.arange(1000), "word": ["x" * 100] * 1000})
    rows = _rows(table)
    assert len(rows) == 21
    assert rows[-1] == ["19", "x" * 59 + "…"]
    assert "… 1,000 rows" in table._repr_html_()
    assert "rows" not in table.head(20)._repr_html_()
