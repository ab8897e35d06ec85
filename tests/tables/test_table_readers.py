"""The plain calls of pandas, polars and Arrow read every row of a table, and no word as missing."""

from __future__ import annotations

import io
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

from naive.table_lines import MISSING_WORDS
from stategram.tables import Table, TextColumn

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
csv = pytest.importorskip("pyarrow.csv")
parquet = pytest.importorskip("pyarrow.parquet")

HOSTILE = [
    *(
        '"',
        '""',
        'say"so',
        '"quoted"',
        "\\",
        "\\\\",
        "\\NA",
        "\\n",
        "'",
        "`",
        "#",
        "#tag",
        "//",
        ";",
        ",",
        "a,b",
        "|",
    ),
    *(
        "x\u0085y",
        "\u2028",
        "\u2029",
        "a\xa0b",
        "\u202eabc",
        "\ufeff",
        "\x1b[2J",
        "\x0b",
        "日本",
        "👩‍👩‍👧",
        "e\u0301",
    ),
    *sorted(MISSING_WORDS - {"#N/A N/A", ""}),
    *(
        "true",
        "TRUE",
        "False",
        "T",
        "inf",
        "-inf",
        "Infinity",
        "1",
        "007",
        "1.50",
        "1e5",
        "0x1F",
        "2020-01-01",
        "12:30",
    ),
    *("=1+1", "@x", "-", "--", "+", ".", "...", "$1", "x" * 100_000, '"' * 1_000, "</s>", "<unk>"),
]
# Stretches that readers guess the type of a column from.
NUMBERS = ["7"] * 150
COLUMNS = {
    "hostile": HOSTILE,
    "numbers first": [*NUMBERS, *HOSTILE],
    "numbers last": [*HOSTILE, *NUMBERS],
    "nothing but numbers": NUMBERS,
    "nothing but missing words": ["NA"] * 70,
    "numbers and missing words": ["nan", "7"] * 70,
    "times": ["12:30", "2020-01-01"] * 50,
    "truth": ["true", "False"] * 50,
}

Reader = Callable[[io.BytesIO, str], list[Any]]


def column_of_pandas(file: io.BytesIO, separator: str) -> list[Any]:
    words: list[Any] = pandas.read_csv(file, sep=separator)["word"].tolist()
    return words


def column_of_polars(file: io.BytesIO, separator: str) -> list[Any]:
    words: list[Any] = polars.read_csv(file, separator=separator)["word"].to_list()
    return words


def column_of_arrow(file: io.BytesIO, separator: str) -> list[Any]:
    options = csv.ParseOptions(delimiter=separator)
    words: list[Any] = csv.read_csv(file, parse_options=options)["word"].to_pylist()
    return words


READERS: list[Reader] = [column_of_pandas, column_of_polars, column_of_arrow]
CALLS = list(product(["tsv", "csv"], READERS))


def table_of(words: list[str]) -> Table:
    return Table({"n": np.arange(len(words)), "word": words, "f": np.full(len(words), 0.5)})


def written(table: Table, format: str) -> io.BytesIO:
    file = io.BytesIO()
    table.write(file, format)
    file.seek(0)
    return file


@pytest.mark.parametrize(("format", "read"), CALLS)
@pytest.mark.parametrize("words", [pytest.param(c, id=name) for name, c in COLUMNS.items()])
def test_every_word_comes_back(words: list[str], format: str, read: Reader) -> None:
    found = read(written(table_of(words), format), "," if format == "csv" else "\t")
    # The rule of docs/tables.md: a backslash in front is not part of the word.
    assert [word.removeprefix("\\") for word in found] == words


@pytest.mark.parametrize(("format", "read"), CALLS)
def test_every_word_comes_back_alone(format: str, read: Reader) -> None:
    for word in HOSTILE:
        found = read(written(table_of([word]), format), "," if format == "csv" else "\t")
        assert [one.removeprefix("\\") for one in found] == [word]


@pytest.mark.parametrize("read", READERS)
def test_words_that_no_reader_mistakes_are_written_as_they_are(read: Reader) -> None:
    words = ["the", "2019", "T", '"', "true", "Na", "</s>", "#", "x\\"]
    assert read(written(table_of(words), "tsv"), "\t") == words


def test_jsonl_and_parquet_are_exact() -> None:
    table = Table(
        {"word": HOSTILE, "n": np.ma.array(np.arange(len(HOSTILE)), mask=np.arange(len(HOSTILE)) == 1)}
    )
    assert polars.read_ndjson(written(table, "jsonl"))["word"].to_list() == HOSTILE
    lines = pandas.read_json(written(table, "jsonl"), lines=True, dtype=False)
    assert lines["word"].tolist() == HOSTILE
    rows = parquet.read_table(written(table, "parquet"))
    assert rows["word"].to_pylist() == HOSTILE
    assert rows["n"].to_pylist() == [0, None, *range(2, len(HOSTILE))]


@pytest.mark.parametrize("format", ["tsv", "csv"])
def test_numbers_are_read_as_numbers(format: str) -> None:
    values = np.array([1.5, np.nan, np.inf, -np.inf, 2e12])
    counts = np.ma.array([1, 2, 3, 4, 5], mask=[False, True, False, False, False])
    table = Table({"word": list("abcde"), "value": values, "count": counts, "known": values > 1})
    separator = "," if format == "csv" else "\t"
    found = pandas.read_csv(written(table, format), sep=separator)
    np.testing.assert_array_equal(found["value"], values)
    assert found["count"].isna().tolist() == counts.mask.tolist()
    frame = polars.read_csv(written(table, format), separator=separator)
    np.testing.assert_array_equal(frame["value"].to_numpy(), values)
    assert frame["count"].to_list() == [1, None, 3, 4, 5]
    options = csv.ParseOptions(delimiter=separator)
    arrow = csv.read_csv(written(table, format), parse_options=options)
    assert arrow["value"].to_pylist() == [1.5, None, np.inf, -np.inf, 2e12]
    assert arrow["count"].to_pylist() == [1, None, 3, 4, 5]
    assert arrow["known"].to_pylist() == [1, 0, 1, 0, 1]


def test_columns_of_the_user_are_read_as_in_their_own_file() -> None:
    own = TextColumn.from_strings(["001", "NA", 'a "b"', "c\td"], verbatim=True)
    found = pandas.read_csv(written(Table({"item": own, "n": np.arange(4)}), "tsv"), sep="\t")
    assert found["item"].isna().tolist() == [False, True, False, False]
    assert found["item"].tolist()[2:] == ['a "b"', "c\td"]
    numbers = TextColumn.from_strings(["001", "002"], verbatim=True)
    found = pandas.read_csv(written(Table({"item": numbers, "n": np.arange(2)}), "tsv"), sep="\t")
    assert found["item"].tolist() == [1, 2]
