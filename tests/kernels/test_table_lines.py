"""The lines of a table equal those of the plain twin, for every number of threads."""

from __future__ import annotations

import io
import locale
import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from naive import table_lines as naive
from stategram import use_resources
from stategram.tables import Table, TableWriter, TextColumn

LINE_FORMATS = ("tsv", "csv", "jsonl")
words = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.sampled_from(
        [
            *sorted(naive.MISSING_WORDS),
            *'"\\\t,\r\n',
            "2019",
            "-.5",
            "+Inf",
            "T",
            "NAN",
            "12:30",
            "-",
            "٣",
            "\u2028",
            "\xa0",
            "“",
        ]
    ),
)
integers = st.integers(-(2**63), 2**63 - 1)
floats = st.one_of(
    st.floats(), st.sampled_from([0.0, -0.0, 1e-7, 5e-7, -0.0000005, 0.9999999, -1e11, -math.inf])
)
rows = st.tuples(st.none() | words, st.none() | words, st.none() | integers, floats, st.booleans())


def table_of(columns: Mapping[str, Sequence[naive.Cell]], verbatim: Sequence[str] = ()) -> Table:
    def column(name: str, cells: Sequence[naive.Cell]) -> TextColumn | NDArray[Any]:
        if name in ("words", "texts"):
            return TextColumn.from_strings(cells, verbatim=name in verbatim)  # type: ignore[arg-type]
        dtype = {"integers": np.int64, "floats": np.float64, "bools": np.bool_}[name]
        mask = [cell is None for cell in cells]
        return np.ma.array(np.array([cell or 0 for cell in cells], dtype), mask=mask)

    return Table({name: column(name, cells) for name, cells in columns.items()})


def written(tables: Sequence[Table], format: str) -> str:
    file = io.BytesIO()
    with TableWriter(file, format) as writer:
        for table in tables:
            writer.write(table)
    text = file.getvalue().decode()
    return text if format == "jsonl" else text.partition("\n")[2]  # without the names of columns


@pytest.mark.parametrize("format", LINE_FORMATS)
@given(st.lists(rows, max_size=8))
@example([("5", "NA", None, 1.5, True)] * 200)
@example([("5", "", 1, 1.5, True)] * 70 + [("a", None, 1, 1.5, True)] + [("F", "x", 1, 1.5, True)] * 150)
@example([(None, "", 1, 1.5, True), ("7", None, None, -0.0000015, False)])
def test_lines_are_those_of_the_twin(format: str, data: list[tuple[naive.Cell, ...]]) -> None:
    names = ("words", "texts", "integers", "floats", "bools")
    columns = {name: [row[i] for row in data] for i, name in enumerate(names)}
    expected = naive.lines(columns, format, verbatim=["texts"])
    assert written([table_of(columns, verbatim=["texts"])], format) == expected


@given(st.lists(st.none() | words, min_size=64, max_size=300), st.data())
def test_blocks_are_written_as_one_table(column: list[str | None], data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(64, len(column)), max_size=3)))
    bounds = [0, *cuts, len(column)]
    blocks = [table_of({"words": column[a:b]}) for a, b in pairwise(bounds)]
    assert written(blocks, "tsv") == naive.lines({"words": column}, "tsv")


@pytest.mark.parametrize("format", LINE_FORMATS)
def test_the_number_of_threads_does_not_matter(format: str) -> None:
    random = np.random.default_rng(0)
    # Stretches of numbers that are longer than what a thread writes at a time.
    choices = np.repeat(random.integers(0, 2, 6), 10_000)
    texts = TextColumn.from_strings(["12", "cat", "NA", '"'])
    ids = (choices * random.integers(1, 4, len(choices))).astype(np.uint32)
    table = Table(
        {
            "word": TextColumn(texts.letters, texts.offsets, ids),
            "surprisal": random.exponential(3.0, len(ids)),
            "order": np.ma.array(ids, mask=ids == 1),
        }
    )

    def with_threads(threads: int) -> str:
        with use_resources(threads=threads):
            return written([table], format)

    one = with_threads(1)
    assert one.count("\n") == len(ids)
    for threads in (2, 3, 7):
        assert with_threads(threads) == one


def test_large_numbers_have_a_point_in_any_locale() -> None:
    before = locale.setlocale(locale.LC_NUMERIC)
    for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
        try:
            locale.setlocale(locale.LC_NUMERIC, name)
        except locale.Error:
            continue
        try:
            assert written([table_of({"floats": [-1.5e11]})], "tsv") == "-1.500000e+11\n"
        finally:
            locale.setlocale(locale.LC_NUMERIC, before)
