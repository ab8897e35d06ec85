"""Items are read from files of every kind and from Python, and errors name their place."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stategram.errors import BadDataError, UsageError
from stategram.tables import Items, Table, TextColumn, read_items, read_rows

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

COLUMNS: dict[str, list[Any]] = {
    "item": [3, 4, 5],
    "condition": ["NA", 'say "so"', "c"],
    "sentence": ["the cat sat", "", "a\tb, c"],
    "rating": [0.5, None, 2.25],
}
NAMES = {"text_column": "sentence", "id_column": "item"}
CSV = b'item,condition,sentence,rating\n3,NA,the cat sat,0.5\n\n4,"say ""so""",,\n5,c,"a\tb, c",2.25\n'


def carried(items: Items) -> dict[str, Any]:
    return {name: column.tolist() for name, column in items.columns.items()}


def test_csv_is_carried_through_as_it_was() -> None:
    items = read_items(io.BytesIO(b"\xef\xbb\xbf" + CSV), **NAMES)
    assert items.texts == ("the cat sat", "", "a\tb, c")
    assert items.sentences.tolist() == [0, 1, 2]
    assert carried(items) == {
        "item": ["3", "4", "5"],
        "condition": ["NA", 'say "so"', "c"],
        "rating": ["0.5", "", "2.25"],
    }
    file = io.BytesIO()
    Table(items.columns).write(file, "csv")
    assert file.getvalue() == b'item,condition,rating\n3,NA,0.5\n4,"say ""so""",""\n5,c,2.25\n'


def of_file(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def test_files_of_every_kind_are_the_same_items(tmp_path: Path) -> None:
    frame = polars.DataFrame(COLUMNS)
    parquet = io.BytesIO()
    frame.write_parquet(parquet)
    jsonl = frame.write_ndjson().encode()
    sources: list[Any] = [
        of_file(tmp_path, "items.csv.gz", gzip.compress(CSV)),
        of_file(tmp_path, "no_name", frame.write_csv(separator="\t").encode()),
        of_file(tmp_path, "semicolons.csv", frame.write_csv(separator=";").encode()),
        of_file(tmp_path, "items.jsonl", jsonl),
        of_file(tmp_path, "unnamed", jsonl),
        of_file(tmp_path, "items.parquet", parquet.getvalue()),
        COLUMNS,
        frame,
        frame.to_arrow(),
        pandas.DataFrame(COLUMNS),
        Table({**COLUMNS, "rating": np.ma.array([0.5, 0, 2.25], mask=[False, True, False])}),
    ]
    for source in sources:
        items = read_items(source, **NAMES)
        assert items.texts == tuple(COLUMNS["sentence"]), source
        if isinstance(items.columns["rating"], TextColumn):
            assert carried(items)["rating"] == ["0.5", "", "2.25"]
        else:
            assert {name: COLUMNS[name] for name in items.columns} == carried(items), source


def test_lists_and_series_of_strings() -> None:
    texts = ["the cat sat", ""]
    for source in (texts, tuple(texts), np.array(texts), pandas.Series(texts), polars.Series(texts)):
        items = read_items(source)
        assert (items.texts, items.columns, items.n_sentences) == (tuple(texts), {}, 2)
    assert read_items([]).n_sentences == 0


def test_regions_of_a_sentence_are_rows_with_one_id() -> None:
    data = b"id\tregion\twords\n1\tnp\tthe cat\n1\tvp\tsat\n2\tnp\t\n2\tvp\tit ran\n"
    items = read_items(io.BytesIO(data), text_column="words", id_column="id", region_column="region")
    assert items.sentences.tolist() == [0, 0, 1, 1]
    assert items.texts == ("the cat", "sat", "", "it ran")
    assert carried(items)["region"] == ["np", "vp", "np", "vp"]


def test_long_fields_and_quoted_line_ends() -> None:
    long = "x" * 300_000
    data = f'n,text\n1,{long}\n2,"a\nb"\n3,c\n'.encode()
    assert read_items(io.BytesIO(data), text_column="text").texts == (long, "a\nb", "c")
    rows = read_rows(io.BytesIO(data))
    assert [rows.where(row) for row in range(3)] == ["<stream>:2", "<stream>:3", "<stream>:5"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.csv", b"item,text\n1,a\n2\n", r"a\.csv:3: found 1 field, but line 1 names 2 columns"),
        ("a.csv", b'item,text\n1,"a\n2,b\n', r"a\.csv:2: bad quoting \(unexpected end"),
        ("a.csv", b'item,text\n1,a\n2,"b" c\n', r"a\.csv:3: bad quoting"),
        ("a.csv", b"text,text\n1,a\n", r"a\.csv:1: two columns are named 'text'"),
        ("a.csv", b"", r"a\.csv:1: no columns"),
        ("a.jsonl", b'{"text": "a"}\n{"text": }\n', r"a\.jsonl:2: not JSON"),
        ("a.jsonl", b"[" * 100_000, r"a\.jsonl:1: not JSON"),
        ("a.jsonl", b'{"text": "a"}\n\n[1]\n', r"a\.jsonl:3: found '\[1\]'; expected a JSON object"),
        ("a.jsonl", b'{"text": "a"}\n{"item": 1}\n', r"a\.jsonl:2: the column 'text' has nothing"),
        ("a.jsonl", b'{"text": "a"}\n{"text": 5}\n', r"a\.jsonl:2: the column 'text' has 5"),
        ("a.parquet", b"PAR1 but no more", r"a\.parquet: not a parquet file"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    with pytest.raises(BadDataError, match=message):
        read_items(of_file(tmp_path, name, data), text_column="text")


def test_a_text_that_is_missing_in_a_data_frame() -> None:
    frame = pandas.DataFrame({"text": ["a", None], "n": [1, 2]})
    with pytest.raises(BadDataError, match="items, row 2: the column 'text' has nothing"):
        read_items(frame, text_column="text")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"text_column": "sentense"}, "no column 'sentense'; there are .*; did you mean 'sentence'?"),
        ({"text_column": "zzz"}, "there are 'item', 'condition', 'sentence', 'rating'$"),
        ({}, "which column has the texts"),
        ({"text_column": "sentence", "region_column": "condition"}, "needs an id column"),
        ({"text_column": "sentence", "id_column": "sentence"}, "named twice"),
    ],
)
def test_columns_that_are_not_there(arguments: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_items(COLUMNS, **arguments)


def test_rows_of_a_sentence_must_be_together() -> None:
    source = {"id": ["a", "b", "a"], "region": ["1", "1", "2"], "text": ["x", "y", "z"]}
    with pytest.raises(BadDataError, match=r"items, row 3: the id 'a' was there already \(items, row 1\)"):
        read_items(source, text_column="text", id_column="id", region_column="region")
    source["id"] = ["a", "", "b"]
    with pytest.raises(BadDataError, match="items, row 2: no id"):
        read_items(source, text_column="text", id_column="id", region_column="region")


def test_numbers_are_carried_with_all_their_digits() -> None:
    values = [1e-8, 312.123456789, None, 2.0**70]
    items = read_items(
        {"text": ["a"] * 4, "rt": values, "id": [2**63, 1, 2, 3]}, text_column="text", id_column="id"
    )
    table = Table(items.columns, exact=items.columns)
    for format, missing in (("tsv", ""), ("csv", ""), ("jsonl", None)):
        file = io.BytesIO()
        table.write(file, format=format)
        lines = file.getvalue().decode().splitlines()
        if format == "jsonl":
            rows = [json.loads(line) for line in lines]
            assert [row["rt"] for row in rows] == values
        else:
            rows = list(csv.DictReader(lines, delimiter="\t" if format == "tsv" else ","))
            assert [float(row["rt"]) if row["rt"] else None for row in rows] == values
        assert str(rows[0]["id"]) == str(2**63)
        assert rows[2]["rt"] == missing
