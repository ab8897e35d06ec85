"""`select`: rows of a pool that are like a text, scored, chosen and copied as they are."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.selection import best_rows, row_score
from stategram import (
    BadDataError,
    CacheModel,
    NgramModel,
    StategramError,
    UsageError,
    Vocabulary,
    corpus_from_sentences,
    read_corpus,
    use_resources,
    write_arpa,
)
from stategram.selection import select
from stategram.selection.models import sample_texts
from stategram.selection.pool import PoolFile, PoolWriter
from stategram.selection.row_scores import ROW, find_limit, keys_of
from stategram.selection.select import parse_keep
from stategram.text import TextFormat

SEA = [
    "the ship sails the sea",
    "a ship at sea",
    "the sea and a deep wave",
    "a wave and the ship",
    "deep sea",
]
LAND = [
    "the road is long",
    "a horse and a cart",
    "the cart is on the road",
    "a long dry road",
    "the dry horse",
]


def sentences(n: int, seed: int) -> list[str]:
    """Sentences of which some are of the sea, some of the land, and some have words of neither."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        words = draw.choice([SEA[0], LAND[0], "zebra dances"]).split()
        words += draw.choice(SEA + LAND).split()[: draw.randrange(1, 5)]
        draw.shuffle(words)
        found.append(" ".join(words))
    return found


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("texts")
    (place / "sea.txt").write_text("\n".join(SEA * 2) + "\n")
    (place / "land.txt").write_text("\n".join(LAND * 2) + "\n")
    (place / "pool.txt").write_text("\n".join(sentences(300, 0)) + "\n")
    return place


@pytest.fixture(scope="module")
def models(texts: Path) -> tuple[NgramModel, NgramModel]:
    """The two models that `select` trains."""
    sea = read_corpus(texts / "sea.txt", min_count=2)
    return NgramModel.train(sea), NgramModel.train(read_corpus(texts / "land.txt", vocabulary=sea.vocabulary))


def written(*arguments: Any, **options: Any) -> bytes:
    output = io.BytesIO()
    select(*arguments, output=output, **options)
    return output.getvalue()


def scores_of(pool: Path, *arguments: Any, **options: Any) -> list[float]:
    """The scores of the lines of a pool, nan where there is none."""
    lines = written(pool, *arguments, scores=True, **options).decode().splitlines()
    return [float(line.split("\t")[0] or "nan") for line in lines]


def test_the_scores_are_those_of_the_formula(texts: Path, models: tuple[NgramModel, NgramModel]) -> None:
    lines = (texts / "pool.txt").read_text().splitlines()
    expected = [row_score(models, line) for line in lines]
    found = written(texts / "pool.txt", texts / "sea.txt", texts / "land.txt", scores=True).decode()
    rows = [line.split("\t") for line in found.splitlines()]
    assert [line for _, line in rows] == lines
    # Rounded to float32, of sums in another order.
    np.testing.assert_allclose([float(score) for score, _ in rows], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(
        scores_of(texts / "pool.txt", texts / "sea.txt", by="perplexity"),
        [row_score(models[:1], line) for line in lines],
        rtol=1e-6,
    )


@pytest.mark.parametrize("keep", ["10%", "33.3%", "100%", 1, 50, 10_000, "120 words"])
def test_the_best_rows_are_kept_in_their_order(
    texts: Path, models: tuple[NgramModel, NgramModel], keep: str | int
) -> None:
    lines = (texts / "pool.txt").read_text().splitlines(keepends=True)
    scores = np.array(scores_of(texts / "pool.txt", *models), np.float32).tolist()
    words = [len(line.split()) for line in lines]
    amount, unit = parse_keep(keep)
    sizes = [1] * len(lines) if unit == "rows" else words
    kept = best_rows(scores, sizes, int(amount * sum(words) / 100) if unit == "%" else amount)
    assert kept
    output = io.BytesIO()
    selection = select(texts / "pool.txt", texts / "sea.txt", texts / "land.txt", output=output, keep=keep)
    assert output.getvalue().decode() == "".join(lines[i] for i in kept)
    assert (selection.rows, selection.words) == (len(lines), sum(words))
    assert (selection.kept_rows, selection.kept_words) == (len(kept), sum(words[i] for i in kept))
    assert selection.threshold is not None
    again = written(
        texts / "pool.txt", texts / "sea.txt", texts / "land.txt", threshold=selection.threshold
    ).decode()
    limit = np.float32(selection.threshold)
    assert limit == max(scores[i] for i in kept)
    below = [line for line, score in zip(lines, scores, strict=True) if score <= limit]
    assert again == "".join(below)
    everything = written(texts / "pool.txt", texts / "sea.txt", texts / "land.txt", threshold=1e300)
    assert everything == (texts / "pool.txt").read_bytes()


@given(
    rows=st.lists(
        st.tuples(
            st.one_of(
                st.sampled_from([0.0, -0.0, 0.5, float("nan"), float("inf"), -float("inf")]),
                st.floats(width=32),
            ),
            st.integers(1, 5),
        ),
        max_size=30,
    ),
    amount=st.integers(0, 40),
    by_words=st.booleans(),
    size=st.integers(1, 31),
)
def test_the_limit_is_that_of_sorted_scores(
    rows: list[tuple[float, int]], amount: int, by_words: bool, size: int
) -> None:
    scored = np.array(rows, ROW)
    pieces = [scored[i : i + size] for i in range(0, len(rows), size)]
    limit = find_limit(lambda: pieces, amount, by_words=by_words)
    chosen = ~np.isnan(scored["score"]) & (keys_of(scored["score"]) < limit)
    sizes = scored["words"].tolist() if by_words else [1] * len(rows)
    assert np.flatnonzero(chosen).tolist() == best_rows(scored["score"].tolist(), sizes, amount)


def test_lines_are_copied_byte_for_byte(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfthe deep sea \t\r\n\n   \nthe dry road\r\n  a ship at sea")
    with gzip.open(tmp_path / "b.txt.gz", "wb") as file:
        file.write("a deep\u00a0wave\nthe long road\n".encode())
    arguments = [tmp_path / "a.txt", tmp_path / "b.txt.gz"], texts / "sea.txt", texts / "land.txt"
    assert written(*arguments, threshold=0) == (
        b"\xef\xbb\xbfthe deep sea \t\r\n  a ship at sea\n" + "a deep\u00a0wave\n".encode()
    )
    assert written(*arguments, threshold=0, min_words=4) == b"  a ship at sea\n"
    scored = written(*arguments, scores=True)
    # Lines without words have no score.
    assert scored.split(b"\n")[1:3] == [b"\t", b"\t   "]
    select(*arguments, output=tmp_path / "out.gz", threshold=0)
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()) == written(*arguments, threshold=0)


JSONL = (
    b'{"id": 1,   "text": "the deep sea", "more": {"text": [1.50]}}\n'
    b'{"text": "the dry road\\na long road"}\n'
    b"\n"
    b'{"text": null}\n'
    b'{"text":"a ship at sea\\n\\na\\u0000wave" , "id":2 } \r\n'
    b'{"text": ""}'
)


def test_rows_of_jsonl(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "pool.jsonl").write_bytes(JSONL)
    lines = JSONL.split(b"\n")
    arguments = tmp_path / "pool.jsonl", texts / "sea.txt", texts / "land.txt"
    assert written(*arguments, threshold=0) == lines[0] + b"\n" + lines[4] + b"\n"
    scored = written(*arguments, scores=True).splitlines()
    assert scored[0].startswith(lines[0][:-1] + b', "score": -')
    plain = [msgspec.json.decode(line) for line in JSONL.splitlines() if line]
    found = [msgspec.json.decode(line) for line in scored]
    assert [{key: row[key] for key in row if key != "score"} for row in found] == plain
    assert [row["score"] is None for row in found] == [False, False, True, False, True]


def test_infinite_scores_are_null_in_json(tmp_path: Path) -> None:
    (tmp_path / "pool.jsonl").write_text('{"text": "a"}\n' * 3)
    file = PoolFile.of(str(tmp_path / "pool.jsonl"), scored=True)
    output = io.BytesIO()
    with PoolWriter(output) as writer:
        for block in file.read():
            writer.write(block, np.ones(3, np.bool_), np.array([np.inf, 0.1, -np.inf], np.float32))
    rows = [json.loads(line) for line in output.getvalue().splitlines()]
    assert [row["score"] for row in rows] == [None, 0.1, None]


def test_the_lines_of_a_text_are_its_sentences(
    texts: Path, tmp_path: Path, models: tuple[NgramModel, NgramModel]
) -> None:
    (tmp_path / "pool.jsonl").write_bytes(b'{"body": "a ship\\n\\nat sea\\n"}\n{"body": "a ship at sea"}\n')
    arguments = tmp_path / "pool.jsonl", texts / "sea.txt", texts / "land.txt"
    scored = written(*arguments, scores=True, text_format={"text_column": "body"})
    found = [json.loads(line)["score"] for line in scored.splitlines()]
    expected = [row_score(models, "a ship\n\nat sea\n"), row_score(models, "a ship at sea")]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert found[0] != found[1]


def test_rows_of_parquet(texts: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pyarrow.table(
        {
            "id": pyarrow.array([1, 2, None, 4], pyarrow.int16()),
            "text": pyarrow.array(
                ["the deep sea", "the dry road", None, "a ship\nat sea"]
            ).dictionary_encode(),
            "tags": [["a"], [], None, ["b", "c"]],
        }
    ).replace_schema_metadata({"made": "here"})
    parquet.write_table(table, tmp_path / "pool.parquet", row_group_size=3)
    arguments = [tmp_path / "pool.parquet"] * 2, texts / "sea.txt", texts / "land.txt"
    choices: list[dict[str, Any]] = [{"threshold": 0}, {"keep": 4}]
    for options in choices:
        select(*arguments, output=tmp_path / "out.parquet", **options)
        found = parquet.read_table(tmp_path / "out.parquet")
        assert found.schema.remove_metadata() == table.schema.remove_metadata()
        assert found.schema.metadata[b"made"] == b"here"
        assert found.to_pylist() == table.take([0, 3]).to_pylist() * 2
    select(*arguments, output=tmp_path / "scored.parquet", scores=True)
    scored = parquet.read_table(tmp_path / "scored.parquet")
    assert scored.drop_columns("score").to_pylist() == table.to_pylist() * 2
    assert [score is None for score in scored["score"].to_pylist()] == [False, False, True, False] * 2
    select(*arguments, output=tmp_path / "none.parquet", threshold=-99)
    assert parquet.read_table(tmp_path / "none.parquet").num_rows == 0
    with pytest.raises(UsageError, match=r"no column 'txt'.*did you mean 'text'"):
        written(*arguments, threshold=0, text_format={"text_column": "txt"})
    with pytest.raises(BadDataError, match="'id' is of type int16"):
        written(*arguments, threshold=0, text_format={"text_column": "id"})
    parquet.write_table(table.drop_columns("id"), tmp_path / "other.parquet")
    with pytest.raises(BadDataError, match=r"other\.parquet: its columns differ from those"):
        written([tmp_path / "pool.parquet", tmp_path / "other.parquet"], *arguments[1:], threshold=0)
    (tmp_path / "bad.parquet").write_bytes(b"PAR1nothing")
    with pytest.raises(BadDataError, match=r"bad\.parquet: not a parquet file"):
        written(tmp_path / "bad.parquet", texts / "sea.txt", texts / "land.txt", threshold=0)


def test_results_do_not_depend_on_threads(texts: Path, tmp_path: Path) -> None:
    files = []
    for number in range(3):
        files.append(tmp_path / f"{number}.txt")
        files[-1].write_text("\n".join(sentences(100 + number, number)) + "\n")
    options = ({"keep": "20%"}, {"threshold": 0.1, "scores": True}, {"keep": 30, "seed": 5})
    expected = [written(files, texts / "sea.txt", **option) for option in options]
    for threads in (1, 2, 3):
        with use_resources(threads=threads):
            assert [written(files, texts / "sea.txt", **option) for option in options] == expected


def test_a_sample_is_random_and_of_the_given_size(tmp_path: Path) -> None:
    lines = [f"line {number:05}" for number in range(20_000)]
    (tmp_path / "pool.txt").write_text("\n".join(lines))
    file = PoolFile.of(str(tmp_path / "pool.txt"))

    def sampled(n_bytes: int, seed: int) -> list[str]:
        return [text.decode() for text in sample_texts(file, n_bytes, (seed, 0))]

    means = []
    for seed in range(20):
        found = sampled(5000, seed)
        assert len(found) == 500
        assert found == sorted(set(found))
        assert set(found) <= set(lines)
        means.append(np.mean([int(line[5:]) for line in found]))
    assert found == sampled(5000, 19)
    # The mean of 10,000 draws of 0 to 19,999 has a standard deviation of 58.
    assert abs(np.mean(means) - 10_000) < 300
    assert sampled(10**9, 0) == lines


def test_models_are_opened_as_they_are(
    texts: Path, tmp_path: Path, models: tuple[NgramModel, NgramModel]
) -> None:
    sea, land = models
    sea.save(tmp_path / "sea")
    write_arpa(land, tmp_path / "land.gz")
    expected = written(texts / "pool.txt", texts / "sea.txt", texts / "land.txt", keep="20%")
    for pair in ((sea, land), (tmp_path / "sea", tmp_path / "land.gz"), (sea, texts / "land.txt")):
        assert written(texts / "pool.txt", *pair, keep="20%") == expected
    # Without its counts, the sample has a size of its own.
    assert written(texts / "pool.txt", tmp_path / "sea", keep="20%")


def test_words_that_one_model_does_not_know_count_in_neither(texts: Path, tmp_path: Path) -> None:
    sea, land = NgramModel.train(SEA, order=2), NgramModel.train(LAND, order=2)
    lines = [*(texts / "pool.txt").read_text().splitlines(), "zebra", "horse"]
    (tmp_path / "pool.txt").write_text("\n".join(lines))
    found = scores_of(tmp_path / "pool.txt", sea, land)
    np.testing.assert_allclose(found, [row_score((sea, land), line) for line in lines], rtol=1e-6, atol=1e-6)
    assert np.isnan(found[-2:]).all()


def test_the_order_of_a_vocabulary_does_not_matter(
    texts: Path, models: tuple[NgramModel, NgramModel]
) -> None:
    sea, land = models
    words = Vocabulary.from_words(sea.vocabulary.words[:2:-1])
    assert words != sea.vocabulary
    other = NgramModel.train(corpus_from_sentences(LAND * 2, vocabulary=words))
    pool = texts / "pool.txt"
    assert "zebra" in pool.read_text()
    np.testing.assert_allclose(scores_of(pool, sea, other), scores_of(pool, sea, land), rtol=1e-6)


def test_texts_are_normalized_as_those_of_the_models(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "pool.txt").write_text("The Sea, deep.\nThe Road is LONG\n")
    arguments = tmp_path / "pool.txt", texts / "sea.txt", texts / "land.txt"
    assert (
        written(*arguments, keep=1, text_format=TextFormat(lowercase=True, tokenize="words"))
        == b"The Sea, deep.\n"
    )
    (tmp_path / "pool.txt").write_text("The SEA, deep.\nThe ROAD IS LONG\n")
    with pytest.raises(BadDataError, match=r"pool.txt: all of its 7 words are unknown .* \(--lowercase\)"):
        written(*arguments, threshold=0)


@pytest.mark.parametrize(
    ("name", "data", "error", "message"),
    [
        ("p.jsonl", b'{"text": "a"}\n{"text": \n', BadDataError, r"p\.jsonl:2: not JSON"),
        ("p.jsonl", b'{"text": "a"}\n["text"]\n', BadDataError, r"p\.jsonl:2: found '\[\"text\"\]'"),
        (
            "p.jsonl",
            b'{"text": "a"}\n{"texts": "b"}\n',
            UsageError,
            r"p\.jsonl:2: no column 'text'.*'texts'\?",
        ),
        (
            "p.jsonl",
            b'{"text": "a"}\n{"text": 3}\n',
            BadDataError,
            r"p\.jsonl:2: .* has 3, which is not a text",
        ),
        (
            "p.jsonl",
            b'{"text": "a", "score": 1}\n',
            UsageError,
            r"p\.jsonl:1: there is a column 'score' already",
        ),
        ("p.txt", b"a ship\n\xe9\n", BadDataError, r"p\.txt:2: byte 0xe9"),
        ("p.txt", b"\n\n", BadDataError, r"no words in .*p\.txt"),
        ("p.txt", b"", BadDataError, r"no words in .*p\.txt"),
    ],
)
def test_bad_pools_are_refused(
    texts: Path, tmp_path: Path, name: str, data: bytes, error: type[Exception], message: str
) -> None:
    (tmp_path / name).write_bytes(data)
    choices: list[dict[str, Any]] = [{"scores": True}, {"keep": 1, "scores": True}]
    for options in choices:
        with pytest.raises(error, match=message):
            select(
                tmp_path / name,
                texts / "sea.txt",
                texts / "land.txt",
                output=tmp_path / f"out-{name}",
                **options,
            )
    with pytest.raises(error, match=message):
        written(tmp_path / name, texts / "sea.txt", keep=1, scores=True)
    assert [file.name for file in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "choose rows by keep .* or write all rows with their scores"),
        ({"keep": 1, "min_words": -1}, "min_words is -1; it must be at least 1"),
        ({"keep": "10%", "threshold": 0}, "both choose the rows"),
        ({"keep": "0%"}, "keep is '0%'; expected"),
        ({"keep": "many"}, "keep is 'many'; expected"),
        ({"keep": 0}, "keep is 0; expected"),
        ({"keep": "101%"}, "keep is '101%'; expected"),
        ({"keep": "2.5"}, "keep is '2.5'; expected"),
        ({"threshold": float("nan")}, "threshold is nan"),
        ({"keep": 1, "by": "size"}, "by is 'size'"),
        ({"keep": 1, "by": "perplexity", "general": "x"}, "in-domain model alone"),
        ({"keep": 1, "format": "xml"}, "pool.txt: xml is not a format"),
        ({"keep": 1, "format": "csv"}, "csv is not a format of rows .* one of text, jsonl, parquet"),
        (
            {"keep": 1, "format": "jsonl", "scores": True, "text_format": {"text_column": "score"}},
            "'score' has the texts",
        ),
        ({"keep": 1, "output": "out.parquet"}, "out.parquet is named as parquet"),
    ],
)
def test_options_that_cannot_be_used(texts: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        select(texts / "pool.txt", texts / "sea.txt", **({"output": io.BytesIO()} | options))


@pytest.mark.skipif(sys.platform == "win32", reason="pipes by their names")
@pytest.mark.parametrize("n_pipes", [1, 2, 3])
def test_pipes_are_read_once(texts: Path, n_pipes: int) -> None:
    files = [texts / f"{name}.txt" for name in ("pool", "sea", "land")]
    names: list[Path] = []
    with contextlib.ExitStack() as stack:
        for file in files[:n_pipes]:
            end, other_end = os.pipe()
            stack.callback(os.close, end)
            with os.fdopen(other_end, "wb") as pipe:
                pipe.write(file.read_bytes())
            names.append(Path(f"/dev/fd/{end}"))
        found = written(*names, *files[n_pipes:], keep="10%")
    assert found == written(*files, keep="10%")


def test_in_domain_texts_that_cannot_be_used(texts: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "greek.txt").write_text("\u03b7 \u03b8\u03b1\u03bb\u03b1\u03c3\u03c3\u03b1\n")
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n')
    pool = texts / "pool.txt"
    with pytest.raises(BadDataError, match=r"no words in .*empty\.txt"):
        written(pool, tmp_path / "empty.txt", keep=1)
    with pytest.raises(StategramError, match=r"nowhere\.txt"):
        written(pool, tmp_path / "nowhere.txt", keep=1)
    with pytest.raises(BadDataError, match="the sampled general text has no word of the vocabulary"):
        written(pool, tmp_path / "greek.txt", keep=1)
    with pytest.raises(UsageError, match=r"pool\.txt is both pool and in-domain text"):
        written([pool], pool, keep=1)
    with pytest.raises(UsageError, match=r"pool\.txt is text and .*a\.jsonl is jsonl"):
        written([pool, tmp_path / "a.jsonl"], texts / "sea.txt", keep=1)
    (tmp_path / "a.csv").write_text("id,text\n1,a\n")
    with pytest.raises(UsageError, match=r"a\.csv: csv is not a format of rows"):
        written(tmp_path / "a.csv", texts / "sea.txt", keep=1)
    cache = CacheModel.train(SEA)
    with pytest.raises(UsageError, match=r"in-domain: CacheModel.* looks back beyond the sentence"):
        written(pool, cache, keep=1)


def test_a_table_can_be_the_in_domain_text(texts: Path, tmp_path: Path) -> None:
    with (tmp_path / "sea.jsonl").open("w") as file:
        file.writelines(json.dumps({"text": "\n".join(SEA)}) + "\n" for _ in range(2))
    options = {"threshold": 0, "scores": True}
    assert written(texts / "pool.txt", tmp_path / "sea.jsonl", texts / "land.txt", **options) == written(
        texts / "pool.txt", texts / "sea.txt", texts / "land.txt", **options
    )


@pytest.mark.parametrize("rows", [299, 301])
def test_a_pool_that_changes_between_its_two_passes_is_refused(
    texts: Path, tmp_path: Path, rows: int
) -> None:
    pools = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for pool in pools:
        pool.write_text("\n".join(sentences(300, 0)) + "\n")

    def change(fraction: float, message: str) -> None:
        if fraction > 0.79:  # all of the pool is scored
            pools[0].write_text("\n".join(sentences(rows, 0)) + "\n")

    with pytest.raises(
        BadDataError, match=r"a\.txt: it has changed while it was read; run the command again"
    ):
        written(pools, texts / "sea.txt", texts / "land.txt", scores=True, progress=change)
