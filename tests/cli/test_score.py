"""`stategram eval` and `stategram score`: figures of a text, of its words and of its sentences."""

from __future__ import annotations

import gzip
import json
import math
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from command_line import TEST, WITHOUT_UNKNOWN, make_models, run
from stategram import CacheModel, NgramModel, evaluate, open_model, read_corpus
from stategram.text import TextFormat


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_models(tmp_path_factory.mktemp("made"))


def test_eval_treats_words_as_in_training(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("eval", made / "model", made / "TEST", "--json", capfd=capfd)
    assert status == 0
    assert "words in lower case, as in training" in err
    assert "N for numbers, as in training" in err
    figures = json.loads(out)
    model = open_model(made / "model", NgramModel)
    expected = evaluate(model, read_corpus(made / "TEST", TextFormat(lowercase=True, digits="N")))
    assert figures["perplexity"] == expected.perplexity
    assert figures["orders"][2]["events"] == expected.orders[2].events
    assert (figures["events"], figures["sentences"], figures["unknown"]) == (11, 2, 1)
    as_it_is = ("eval", made / "model", made / "TEST", "--json", "--no-lowercase", "--digits", "")
    _, out, err = run(*as_it_is, capfd=capfd)
    assert json.loads(out)["unknown"] == 3
    assert "as in training" not in err


def test_eval_prints_a_table(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    figures = json.loads(run("eval", made / "model", made / "TEST", "--json", capfd=capfd)[1])
    status, out, err = run("eval", made / "model", made / "TEST", "-q", capfd=capfd)
    assert (status, err) == (0, "")
    rows = {line[:23].strip(): line[23:].split() for line in out.splitlines()}
    assert rows["Events"][0] == "11"
    assert rows["Unknown words"][:2] == ["1", "(11.1%"]
    assert rows["Perplexity"][0] == f"{figures['perplexity']:.2f}"
    assert rows["without unknown words"][0] == f"{figures['perplexity_known']:.2f}"
    assert rows["Bits per event"] == [f"{figures['bits']:.4f}"]
    assert [line.split()[0] for line in out.splitlines()[-3:]] == ["3", "2", "1"]


def test_eval_of_several_files_is_that_of_all_together(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(tmp_path / "more.gz", "wb") as file:
        file.write(b"the dog ran\n")
    out = run("eval", made / "model", made / "TEST", tmp_path / "more.gz", "--json", capfd=capfd)[1]
    assert json.loads(out)["events"] == 15


def test_an_arpa_file_is_a_model_too(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--lowercase", "--digits", "N", "--json"]
    ours = json.loads(run("eval", made / "model", made / "TEST", *words, capfd=capfd)[1])
    arpa = json.loads(run("eval", made / "model.arpa.gz", made / "TEST", *words, capfd=capfd)[1])
    assert arpa["perplexity"] == pytest.approx(ours["perplexity"], rel=1e-6)


def test_eval_says_how_many_events_a_model_rules_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arpa = WITHOUT_UNKNOWN.replace(b"1=3", b"1=4").replace(b"\n\n\\end", b"\n-99\tdog\n\n\\end")
    (tmp_path / "model.arpa").write_bytes(arpa)
    (tmp_path / "test.txt").write_text("cat dog cat\n")
    status, out, _ = run("eval", tmp_path / "model.arpa", tmp_path / "test.txt", capfd=capfd)
    assert status == 0
    assert re.search("^Perplexity +infinite, ", out, re.MULTILINE)
    assert re.search("^Zero probability +1 event ", out, re.MULTILINE)
    out = run("eval", tmp_path / "model.arpa", tmp_path / "test.txt", "--json", capfd=capfd)[1]
    assert json.loads(out)["perplexity"] is None
    assert json.loads(out)["zero_probability"] == 1


def test_score_gives_a_line_a_word(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("score", made / "model", made / "TEST", capfd=capfd)
    assert status == 0
    header, *lines = [line.split("\t") for line in out.splitlines()]
    assert header == ["sentence", "position", "word", "log10_prob", "surprisal_bits", "order", "unknown"]
    # The words as they are in the text, the numbers of its lines.
    assert [line[2] for line in lines] == [*"The cat ran on 12 mats </s> a zebra sat </s>".split()]
    assert [line[0] for line in lines] == ["1"] * 7 + ["4"] * 4
    assert [line[1] for line in lines] == [*"1234567", *"1234"]
    model = open_model(made / "model", NgramModel)
    expected = [
        (event.log_prob / np.log(10.0), event.order, event.unknown)
        for sentence in model.score(["the cat ran on N mats", "a zebra sat"]).sentences()
        for event in sentence
    ]
    for line, (log10_prob, order, unknown) in zip(lines, expected, strict=True):
        # Six digits after the point.
        assert float(line[3]) == pytest.approx(log10_prob, abs=0.51e-6)
        assert float(line[4]) == pytest.approx(-log10_prob * math.log2(10), abs=0.51e-6)
        assert line[5:] == [str(order), str(int(unknown))]


def test_score_gives_a_line_a_sentence(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "scores.tsv.gz"
    arguments = ("score", made / "model", made / "TEST", "--by", "sentence", "-o", place, "-q")
    assert run(*arguments, capfd=capfd) == (0, "", "")
    header, *lines = [line.split("\t") for line in gzip.decompress(place.read_bytes()).decode().splitlines()]
    assert header == ["sentence", "words", "unknown", "log10_prob", "perplexity"]
    model = open_model(made / "model", NgramModel)
    assert [line[:3] for line in lines] == [["1", "6", "0"], ["4", "3", "1"]]
    assert float(lines[1][3]) == pytest.approx(model.score("a zebra sat").log10_prob, abs=0.51e-6)
    assert float(lines[1][4]) == pytest.approx(model.perplexity("a zebra sat"), abs=0.51e-6)


@pytest.mark.parametrize("by", ["token", "word", "sentence"])
def test_several_texts_are_one_table_each_scored_for_itself(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    CacheModel.train(["the cat sat", "the dog ran", "a cat ran"]).save("cache")  # which looks back
    names = [f"{number}.gz" for number in range(3)]
    for name, text in zip(
        names, ("the cat sat\n\na zebra ran\n", "the dog ran\n" * 40, "a cat\n"), strict=True
    ):
        with gzip.open(name, "wt") as file:
            file.write(text)
    alone = [run("score", "cache", name, "--by", by, capfd=capfd)[1].splitlines() for name in names]
    expected = [f"file\t{alone[0][0]}"]
    for name, lines in zip(names, alone, strict=True):
        expected += [f"{name}\t{line}" for line in lines[1:]]
    assert len(expected) == 1 + {"token": 8 + 160 + 3, "word": 6 + 120 + 2, "sentence": 2 + 40 + 1}[by]
    status, out, err = run("score", "cache", *names, "--by", by, capfd=capfd)
    assert (status, out.splitlines()) == (0, expected)
    assert run("score", "cache", *names, "--by", by, "-o", "scores.tsv.gz", "-q", capfd=capfd) == (0, "", "")
    with gzip.open("scores.tsv.gz", "rt") as file:
        assert file.read() == out
    if by == "token":
        parquet = pytest.importorskip("pyarrow.parquet")
        assert run("score", "cache", *names, "-o", "scores.parquet", capfd=capfd)[0] == 0
        words = parquet.read_table("scores.parquet").select(["file", "word"]).to_pylist()
        rows = [line.split("\t") for line in expected[1:]]
        assert [(word["file"], word["word"]) for word in words] == [(row[0], row[3]) for row in rows]
        status, _, err = run("score", "cache", *names, "--id-column", "a", capfd=capfd)
        assert (status, "a table with --id-column or --region-column is scored alone" in err) == (2, True)


def test_words_of_tables_have_the_numbers_of_their_rows(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    NgramModel.train(["the cat sat", "a dog ran"]).save(tmp_path / "model")
    names = [tmp_path / name for name in ("a.jsonl", "b.csv")]
    names[0].write_text('{"text": "the cat sat\\na dog"}\n{"text": ""}\n\n{"text": "a cat"}\n')
    names[1].write_text('id,text\n1,the dog\n2,"a\ncat"\n')
    tables = {}
    for by in ("token", "word"):
        columns = ("--by", by, "--columns", "sentence,position,word,surprisal")
        status, out, err = run("score", tmp_path / "model", *names, *columns, "-q", capfd=capfd)
        assert (status, err) == (0, "")
        tables[by] = [line.split("\t")[1:5] for line in out.splitlines()]
    assert tables["word"] == [row for row in tables["token"] if row[2] != "</s>"]
    assert [row[:2] for row in tables["word"][1:8]] == [
        *(["1", "1"], ["1", "2"], ["1", "3"], ["1", "1"], ["1", "2"]),
        *(["4", "1"], ["4", "2"]),
    ]


def test_score_reads_stdin_by_default(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = run("score", made / "model", made / "TEST", capfd=capfd)[1]
    piped = subprocess.run(
        [sys.executable, "-m", "stategram", "score", str(made / "model")],
        input=TEST,
        text=True,
        capture_output=True,
        check=True,
    )
    assert piped.stdout == whole


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_says_that_scores_are_not_complete(made: Path, tmp_path: Path) -> None:
    with (
        (tmp_path / "scores.tsv").open("wb") as scores,
        subprocess.Popen(
            [sys.executable, "-m", "stategram", "score", str(made / "model"), "-"],
            stdin=subprocess.PIPE,
            stdout=scores,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"the cat sat\n" * 1_000_000)  # more than is scored at a time
        process.stdin.flush()
        while not (tmp_path / "scores.tsv").stat().st_size:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
        assert b"interrupted; the output is not complete" in process.stderr.read()
    lines = (tmp_path / "scores.tsv").read_bytes().split(b"\n", 5)
    assert lines[1].startswith(b"1\t1\tthe\t")
