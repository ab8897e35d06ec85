"""Tables in files and in memory are texts: those in one of their columns."""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, ipc, parquet

from command_line import manifest_of, run
from stategram import (
    Corpus,
    NgramModel,
    WordClasses,
    corpus_from_sentences,
    count_text,
    evaluate,
    read_corpus,
)
from stategram.errors import BadDataError, UsageError
from stategram.text.rows import arrow_tables, delimited_rows

TEXTS = ["the cat sat", 'a "big" dog, too\nthe cat ran', "", None, "the end\tof it; all"]
PLAIN = 'the cat sat\na "big" dog, too\nthe cat ran\n\n\nthe end\tof it; all\n'


def table() -> pa.Table:
    """Return the texts, in a table with another column."""
    return pa.table({"id": list(range(len(TEXTS))), "text": TEXTS})


def write_stream(path: Path) -> None:
    with ipc.new_stream(path, table().schema) as writer:
        writer.write_table(table(), max_chunksize=2)


def delimited(separator: str) -> bytes:
    cells = ((str(row), '"' + (text or "").replace('"', '""') + '"') for row, text in enumerate(TEXTS))
    return "".join(f"{id}{separator}{text}\n" for id, text in [("id", "text"), *cells]).encode()


def jsonl() -> bytes:
    return b"".join(json.dumps({"id": row, "text": text}).encode() + b"\n" for row, text in enumerate(TEXTS))


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.jsonl": lambda path: path.write_bytes(b"\xef\xbb\xbf" + jsonl()),
    "a.ndjson.gz": lambda path: path.write_bytes(gzip.compress(jsonl())),
    "a.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + delimited(",")),
    "b.csv": lambda path: path.write_bytes(delimited(";")),
    "a.tsv.gz": lambda path: path.write_bytes(gzip.compress(delimited("\t"))),
    "a.parquet": lambda path: parquet.write_table(table(), path),
    "plain.parquet": lambda path: parquet.write_table(
        table(), path, use_dictionary=False, column_encoding={"text": "DELTA_BYTE_ARRAY", "id": "PLAIN"}
    ),
    "coded.parquet": lambda path: parquet.write_table(
        table().set_column(
            1, "text", pa.chunked_array([table()["text"].combine_chunks().dictionary_encode()])
        ),
        path,
        row_group_size=2,
    ),
    "a.arrow": write_stream,
    "a.feather": lambda path: feather.write_feather(table(), path),
}


@pytest.fixture(params=WRITERS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a table in a file of each format."""
    path: Path = tmp_path / request.param
    WRITERS[request.param](path)
    return path


def same(one: Corpus, other: Corpus) -> bool:
    """Return whether two texts have the same words, sentences and documents."""
    return (
        one.vocabulary == other.vocabulary
        and one.ids.tolist() == other.ids.tolist()
        and one.document_starts.tolist() == other.document_starts.tolist()
    )


def test_a_table_is_read_as_its_lines(file: Path, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text(PLAIN)
    expected = read_corpus(tmp_path / "plain.txt")
    assert same(read_corpus(file), expected)
    assert same(read_corpus([file, tmp_path / "plain.txt"]), read_corpus([tmp_path / "plain.txt"] * 2))
    counted = count_text(file, tmp_path / "counts", 2, shard_size=1 << 10)
    assert same(counted.corpus(), expected)
    assert b"text_column" not in Path(tmp_path, "counts", "manifest.json").read_bytes()


def test_a_column_that_is_not_there(file: Path) -> None:
    with pytest.raises(UsageError, match=r"no column 'body'; there are 'id', 'text'.*--text-column"):
        read_corpus(file, {"text_column": "body"})
    if file.suffix in (".parquet", ".arrow", ".feather", ".jsonl"):
        with pytest.raises(BadDataError, match="the column 'id'"):
            read_corpus(file, {"text_column": "id"})


@pytest.mark.parametrize("name", ["a.txt", "data", "a.json"])
def test_other_files_are_plain_text(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("id,text\n1,the cat\n")
    assert "id,text" in read_corpus(tmp_path / name).vocabulary


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"id": range(len(TEXTS)), "text": TEXTS}),
        pd.DataFrame({"id": range(len(TEXTS)), "text": pd.array(TEXTS, "string")}),
        pl.DataFrame({"id": range(len(TEXTS)), "text": TEXTS}),
        table(),
        table().to_batches()[0],
        pa.RecordBatchReader.from_batches(table().schema, table().to_batches()),
    ],
    ids=["pandas", "pandas-string", "polars", "arrow", "batch", "reader"],
)
def test_tables_in_memory(frame: Any, tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text(PLAIN)
    assert same(corpus_from_sentences(frame), read_corpus(tmp_path / "plain.txt"))


class Dataset:
    """What a data set of Hugging Face has: columns by name, and rows that are mappings."""

    column_names = ("id", "text")

    def __getitem__(self, name: str) -> list[Any]:
        return [row[name] for row in self]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(table().to_pylist())


def test_all_that_takes_sentences_takes_tables() -> None:
    words = set(" ".join(filter(None, TEXTS)).split())
    model = NgramModel.train(Dataset(), order=2)
    assert set(model.vocabulary.words[3:]) == words
    assert set(WordClasses(n_classes=2).fit(Dataset()).words_) == words
    lines = [line for text in TEXTS for line in (text or "").split("\n")]
    assert evaluate(model, Dataset()).events == evaluate(model, lines).events
    assert model.score(Dataset()).log_probs.tolist() == model.score(lines).log_probs.tolist()
    tokens = pa.table({"text": [["the", "cat"], ["a", "dog"]]})
    assert corpus_from_sentences(tokens).n_sentences == 2
    chosen = corpus_from_sentences(pd.DataFrame({"body": ["the cat"]}), {"text_column": "body"})
    assert chosen.vocabulary.words[3:] == ("cat", "the")


@pytest.mark.parametrize("column", [pa.array(TEXTS[:3]), pa.chunked_array([TEXTS[:1], TEXTS[1:3]])])
def test_arrow_arrays_are_lists_of_sentences(column: Any) -> None:
    assert same(corpus_from_sentences(column), corpus_from_sentences([text or "" for text in TEXTS[:3]]))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text": ["the cat"]}, "got dict, a mapping"),
        ([{"text": "the cat"}], r"sentence 1: found \{'text': 'the cat'\}.*give the texts of the rows"),
        (["the cat", {"text": "the cat"}], "sentence 2: found"),
    ],
)
def test_mappings_are_no_sentences(given: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        NgramModel.train(given)
    with pytest.raises(TypeError, match=message):
        evaluate(NgramModel.train(["the cat"], order=1), given)


def test_a_frame_without_the_column() -> None:
    with pytest.raises(UsageError, match=r"DataFrame: no column 'text'; there are 'txt'.*mean 'txt'"):
        NgramModel.train(pd.DataFrame({"txt": ["the cat"]}))


def test_all_commands_take_tables(file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "plain.txt").write_text(PLAIN)
    (tmp_path / "heldout.txt").write_text("the cat sat\n")
    texts = {"table": file, "plain": tmp_path / "plain.txt"}

    def run_both(*arguments: object) -> None:
        """Run a command on the table and on the plain text: what it prints and writes is the same."""
        found = []
        for name, text in texts.items():
            given = [text if one == "TEXT" else one for one in arguments]
            code, out, err = run(*given, "-o", tmp_path / name, "--force", "-q", capfd=capfd)
            assert code == 0, err
            found.append((out, (tmp_path / name).read_bytes() if (tmp_path / name).is_file() else b""))
        assert found[0][0] == found[1][0]

    run_both("train", "TEXT", "--order", "2")
    run_both("train", "TEXT", "--heldout", tmp_path / "heldout.txt", "--context", "w-1")
    outputs = [run("eval", tmp_path / "plain", text, "-q", capfd=capfd) for text in texts.values()]
    assert outputs[0] == outputs[1]
    assert outputs[0][0] == 0
    classes = [run("classes", text, "-k", "2", "-q", capfd=capfd)[1] for text in texts.values()]
    assert classes[0] == classes[1] != ""
    code, _, err = run("train", file, "-o", tmp_path / "other", "--text-column", "body", "-q", capfd=capfd)
    assert (code, "no column 'body'" in err) == (2, True)


def test_what_select_writes_is_trained_on(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    pool = tmp_path / "pool.jsonl"
    rows = [{"id": row, "body": f"the cat sat on mat {row % 7}"} for row in range(60)]
    pool.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "mine.csv").write_text("body\nthe cat sat\nthe cat sat on mat 3\n")
    chosen, column = tmp_path / "chosen.jsonl", ("--text-column", "body", "-q")

    def works(*arguments: object) -> str:
        code, out, err = run(*arguments, *column, capfd=capfd)
        assert code == 0, err
        return out

    works("select", pool, "--in-domain", tmp_path / "mine.csv", "--keep", "60", "-o", chosen)
    heldout = ("--heldout", tmp_path / "mine.csv", "--context", "w-1")
    works("train", chosen, *heldout, "-o", tmp_path / "model")
    works("count", chosen, "-o", tmp_path / "counts", "--order", "3")
    works("train", tmp_path / "counts", *heldout, "-o", tmp_path / "again")
    works(
        "mix",
        tmp_path / "model",
        tmp_path / "again",
        "--heldout",
        tmp_path / "mine.csv",
        "-o",
        tmp_path / "mixed",
    )
    for model in ("model", "again", "mixed"):
        assert "text_column" not in manifest_of(tmp_path / model)["text_format"]
    lines = works("score", tmp_path / "model", chosen, "--by", "sentence").splitlines()
    assert len(lines) == 1 + len(chosen.read_text().splitlines())


def test_errors_name_the_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "a"}\n{"text": "\\ud800"}\n')
    with pytest.raises(BadDataError, match=r"a\.jsonl:2: half of a UTF-16 surrogate pair"):
        read_corpus(path)
    path.write_bytes(b'{"text": "a\\nb"}\n{"text": 1}\n')
    with pytest.raises(BadDataError, match=r"a\.jsonl:2: the column 'text' has 1, which is not a text"):
        read_corpus(path)
    (tmp_path / "b.csv").write_bytes(b'text\n"a\nb"\n\xff\n')
    with pytest.raises(BadDataError, match=r"b\.csv:4: byte 0xff, which is not UTF-8 there; "):
        read_corpus(tmp_path / "b.csv")
    assert read_corpus(tmp_path / "b.csv", {"encoding_errors": "replace"}).n_sentences == 3
    bad = pa.table({"text": pa.array([b"a", b"\xff"], pa.binary()).view(pa.string())})
    parquet.write_table(bad, tmp_path / "c.parquet")
    with pytest.raises(BadDataError, match=r"c\.parquet:2: byte 0xff"):
        read_corpus(tmp_path / "c.parquet")


@given(st.lists(st.text("ab \n\u00e9", max_size=20), max_size=30), st.integers(1, 5))
def test_a_piece_of_parquet_has_the_rows_of_the_whole(texts: list[str], size: int) -> None:
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.table({"text": texts}), sink, row_group_size=size, data_page_size=16)
    found = [
        text
        for part, _ in arrow_tables("x", sink.getvalue().to_pybytes(), "parquet")
        for text in part["text"].to_pylist()
    ]
    assert found == texts


@pytest.mark.parametrize("name", ["text.csv", "text.tsv"])
def test_a_table_without_columns(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(BadDataError, match=rf"{name}:1: no columns in the file; expected a line"):
        read_corpus(tmp_path / name)


def test_two_columns_of_texts_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text,text\nthe cat,a dog\n")
    with pytest.raises(UsageError, match=r"a\.csv:1: several columns 'text'; rename all but one"):
        read_corpus(tmp_path / "a.csv")
    frame = pd.DataFrame([["the cat", "a dog"]], columns=["text", "text"])
    for twice in (frame, pa.table([["the cat"], ["a dog"]], names=["text", "text"])):
        with pytest.raises(UsageError, match="several columns 'text'"):
            corpus_from_sentences(twice)


def test_a_nul_is_the_same_in_all_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"text\nthe c\0at\n")
    (tmp_path / "a.jsonl").write_bytes(b'{"text": "the c\\u0000at"}\n')
    assert same(read_corpus(tmp_path / "a.csv"), read_corpus(tmp_path / "a.jsonl"))


def test_tables_read_in_alternation_have_long_fields() -> None:
    first = delimited_rows("a", iter(["text\n"]), "csv")
    second = delimited_rows("b", iter(["text\n", "a" * 200_000 + "\n"]), "csv")
    assert [next(first), next(second), *first, *second] == [
        (1, ["text"]),
        (1, ["text"]),
        (2, ["a" * 200_000]),
    ]
