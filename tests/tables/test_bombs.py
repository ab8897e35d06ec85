"""Small tables that unpack to much: they take little memory, or are refused."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from stategram import read_corpus
from stategram.errors import BadDataError
from stategram.tables import read_items
from stategram.text.rows import arrow_tables

LONG = "word " * 50_000


def coded(path: Path, rows: int) -> Path:
    """Write one long text that is there in all rows, once in the file."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * rows, pa.int32()), pa.array([LONG]))
    pq.write_table(pa.table({"text": texts}), path, compression="zstd")
    assert path.stat().st_size < 2000
    return path


def shared(path: Path, rows: int) -> Path:
    """Write long texts of which each begins as the one before it."""
    texts = [LONG + "x" * row for row in range(rows)]
    pq.write_table(
        pa.table({"text": texts}),
        path,
        compression="zstd",
        use_dictionary=False,
        column_encoding={"text": "DELTA_BYTE_ARRAY"},
    )
    return path


@pytest.mark.parametrize("write", [coded, shared])
def test_rows_are_unpacked_some_at_a_time(tmp_path: Path, write: object) -> None:
    path = write(tmp_path / "bomb.parquet", 200)  # type: ignore[operator]
    tables = (table for table, _ in arrow_tables("bomb", str(path), "parquet"))
    sizes = [table["text"].cast(pa.string()).nbytes for table in tables]
    assert sum(sizes) >= 200 * len(LONG)
    assert max(sizes) < 5_000_000
    assert read_corpus(path, vocabulary_size=1).n_sentences == 200


def test_short_texts_are_read_many_at_a_time(tmp_path: Path) -> None:
    texts = [f"the cat number {row}" for row in range(20_000)]
    path = tmp_path / "short.parquet"
    coding = {"text": "DELTA_BYTE_ARRAY"}
    pq.write_table(pa.table({"text": texts}), path, use_dictionary=False, column_encoding=coding)
    tables = [table["text"].to_pylist() for table, _ in arrow_tables("short", str(path), "parquet")]
    assert [text for table in tables for text in table] == texts
    assert len(tables) < 50


@pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as Linux has it")
def test_memory_is_that_of_some_rows(tmp_path: Path) -> None:
    coded(tmp_path / "bomb.parquet", 1 << 14)  # of four gigabytes
    code = (
        "import resource, sys\n"
        "from stategram.text import RowFile\n"
        "next(blocks := RowFile(sys.argv[1], 'bomb', 'parquet').read(texts_only=True))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert sum(len(block.texts[0]) for block, _ in zip(blocks, range(50))) == 50 * 250_000\n"
        "grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before\n"
        "assert grown < 200_000, grown\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "bomb.parquet")], check=True)


def test_what_is_read_at_once_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"bomb\.parquet: its rows unpack from .* to more than"):
        read_items(coded(tmp_path / "bomb.parquet", 1000))
    one = pa.table({"text": ["x" * (300 << 20)]})
    pq.write_table(one, tmp_path / "one.parquet", compression="zstd", use_dictionary=False)
    with pytest.raises(BadDataError, match=r"one\.parquet: the column 'text' unpacks from .* bytes at once"):
        read_corpus(tmp_path / "one.parquet")


def test_names_of_columns_that_cannot_be_used(tmp_path: Path) -> None:
    pq.write_table(pa.table({"text": ["a"], "texx": ["b"]}), tmp_path / "a.parquet", store_schema=False)
    data = (tmp_path / "a.parquet").read_bytes()
    for name, message in (
        (b"text", "two columns have the same name"),
        (b"te\xff\xff", "can't decode byte 0xff"),
    ):
        (tmp_path / "a.parquet").write_bytes(data.replace(b"texx", name))
        for read in (read_corpus, read_items):
            with pytest.raises(BadDataError, match=message):
                read(tmp_path / "a.parquet")


def test_a_text_that_is_not_utf_8(tmp_path: Path) -> None:
    bad = pa.table({"text": pa.array([b"\xff"], pa.binary()).view(pa.string())})
    pq.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(BadDataError, match=r"bad\.parquet: a text in it is not UTF-8"):
        read_items(tmp_path / "bad.parquet")
