"""`stategram score` with columns, formats, items and regions."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from command_line import check_error, make_models, run
from stategram import open_model, surprisal


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_models(tmp_path_factory.mktemp("made"))


def test_columns_and_base(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    options = (
        "--columns",
        "word,surprisal,entropy_nats,entropy_reduction",
        "--base",
        "e",
        "--format",
        "csv",
        "-q",
    )
    status, out, _ = run("score", made / "model", made / "TEST", *options, capfd=capfd)
    assert status == 0
    header, *rows = csv.reader(io.StringIO(out))
    assert header == ["word", "surprisal_nats", "entropy_nats", "entropy_reduction_nats"]
    items = (made / "TEST").read_text().splitlines()
    expected = surprisal(
        made / "model", items, columns=["surprisal", "entropy", "entropy_reduction"], base="e"
    )
    assert len(rows) == len(expected)
    for name, found in zip(header[1:], list(zip(*rows, strict=True))[1:], strict=True):
        for text, value in zip(found, expected[name].tolist(), strict=True):
            assert text == "" if value is None else float(text) == pytest.approx(value, abs=0.51e-6)


def test_all_columns_in_json(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = run(
        "score", made / "model", made / "TEST", "--columns", "all", "--format", "jsonl", "-q", capfd=capfd
    )[1]
    rows = [json.loads(line) for line in out.splitlines()]
    assert rows[-1]["length"] is None
    assert rows[-1]["entropy_reduction_bits"] is None
    assert [row["unknown"] for row in rows] == [row["word"] == "zebra" for row in rows]


def test_items_keep_their_ids(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    items = tmp_path / "items.csv"
    items.write_text('id,note,text\n7,"a,b",The cat\n8,,\n9,NA,"a ""dog"" ran"\n')
    options = ("--text-column", "text", "--id-column", "id", "--format", "csv", "-q")
    _, out, _ = run("score", made / "model", items, *options, capfd=capfd)
    header, *rows = csv.reader(io.StringIO(out))
    assert header[:4] == ["id", "note", "sentence", "position"]
    assert [row[:3] for row in rows] == [["7", "a,b", "1"]] * 3 + [["9", "NA", "3"]] * 4
    _, out, _ = run("score", made / "model", items, *options, "--by", "sentence", capfd=capfd)
    assert [row[:3] for row in csv.reader(io.StringIO(out))] == [
        ["id", "note", "sentence"],
        ["7", "a,b", "1"],
        ["9", "NA", "3"],
    ]
    items.write_text("id,text\n7,The cat\n7,sat\n")
    status, _, err = run("score", made / "model", items, *options[:-1], capfd=capfd)
    assert (status, "note: ids of id are there several times" in err) == (0, True)


def test_regions_without_words(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "items.csv").write_text("id,region,text\n1,a,\n1,b,\n")
    names = ("--text-column", "text", "--id-column", "id", "--region-column", "region")
    status, out, err = run("score", made / "model", tmp_path / "items.csv", *names, "-q", capfd=capfd)
    assert (status, err) == (0, "")
    assert [line.split("\t")[-2:] for line in out.splitlines()[1:]] == [["", "0"]] * 2


def test_regions(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    items = tmp_path / "regions.jsonl"
    rows = [("x", "np", "the cat"), ("x", "vp", "sat on 3 mats"), ("y", "np", "a dog")]
    items.write_text("".join(json.dumps({"id": a, "part": b, "text": c}) + "\n" for a, b, c in rows))
    options = ("--text-column", "text", "--id-column", "id", "--region-column", "part", "-q")
    status, out, _ = run("score", made / "model", items, *options, capfd=capfd)
    assert status == 0
    header, *lines = [line.split("\t") for line in out.splitlines()]
    assert header == "id part sentence position log10_prob surprisal_bits unknown tokens".split()
    assert [[*line[:4], line[-1]] for line in lines] == [
        ["x", "np", "1", "1", "2"],
        ["x", "vp", "1", "2", "4"],
        ["y", "np", "2", "1", "2"],
    ]
    model = open_model(made / "model")
    log_probs = model.score("the cat sat on N mats").log_probs
    assert float(lines[1][5]) == pytest.approx(-log_probs[2:6].sum() / math.log(2), abs=1e-6)


def test_words_between_white_space(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text("The cat sat.\n\nA dog ran.\n")
    (tmp_path / "raw.txt").write_text("The cat sat. The dog sat. A cat ran. The dog ran.\n")
    status, _, _ = run(
        "train", "raw.txt", "--tokenize", "prose", "--lowercase", "-o", "raw", "-q", capfd=capfd
    )
    assert status == 0
    chosen = ("--columns", "sentence,position,word,surprisal", "-q")
    _, out, _ = run("score", "raw", "text", "--by", "word", *chosen, capfd=capfd)
    header, *lines = [line.split("\t") for line in out.splitlines()]
    assert header == ["sentence", "position", "word", "surprisal_bits", "tokens"]
    words = [line[:3] + line[4:] for line in lines]
    assert words[2:4] == [["1", "3", "sat.", "2"], ["3", "1", "A", "1"]]
    _, out, _ = run("score", "raw", "text", *chosen, capfd=capfd)
    tokens = [float(line.split("\t")[3]) for line in out.splitlines()[1:]]
    assert float(lines[2][3]) == pytest.approx(sum(tokens[2:4]), abs=2e-6)
    # The same rows, and what the table has beside them.
    (tmp_path / "items.csv").write_text("id,part,text\n7,a,The cat\n7,b,sat.\n8,a,A dog ran.\n")
    names = ("--text-column", "text", "--id-column", "id", "--region-column", "part", "--by", "word")
    _, out, _ = run("score", "raw", "items.csv", *names, *chosen, capfd=capfd)
    found = [line.split("\t") for line in out.splitlines()[1:]]
    assert [row[:2] for row in found] == [["7", "a"], ["7", "a"], ["7", "b"], *[["8", "a"]] * 3]
    assert [row[3:] for row in found] == [line[1:] for line in lines]


def test_unknown_words(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    def cells(choice: str) -> list[str]:
        options = ("--columns", "word,surprisal", "--unknown", choice, "-q")
        out = run("score", made / "model", made / "TEST", *options, capfd=capfd)[1]
        return next(line.split("\t")[1:] for line in out.splitlines() if line.startswith("zebra"))

    assert cells("exclude") == [""]
    assert float(cells("spell")[0]) > float(cells("unk")[0])
    out = run(
        "score", made / "model", made / "TEST", "--by", "sentence", "--unknown", "exclude", "-q", capfd=capfd
    )[1]
    known = open_model(made / "model").score("a zebra sat").log_probs[[0, 2, 3]]
    assert float(out.splitlines()[-1].split("\t")[4]) == pytest.approx(math.exp(-known.mean()), abs=1e-6)


def test_a_text_of_unknown_words_gets_a_note(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("zebra giraffe\n")
    assert "note: 2 of 2 words are unknown" in run("score", made / "model", tmp_path / "text", capfd=capfd)[2]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_output_to_a_named_pipe_line_by_line(made: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [sys.executable, "-m", "stategram", "score", str(made / "model"), "-q"]
    with subprocess.Popen([*command, "-o", str(pipe)], stdin=subprocess.PIPE) as process:
        # If lines were kept back, this would wait for ever.
        stop = threading.Timer(60, process.kill)
        stop.start()
        assert process.stdin is not None
        with pipe.open("rb") as answers:
            for number in range(3):
                process.stdin.write(b"the cat\n")
                process.stdin.flush()
                header = [answers.readline().split(b"\t")[2]] if number == 0 else [b"word"]
                words = [answers.readline().split(b"\t")[2] for _ in range(3)]
                assert header + words == [b"word", b"the", b"cat", b"</s>"]
            process.stdin.close()
        stop.cancel()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--columns", "bits"), "no column 'bits'"),
        (("--columns", "state"), "has no states"),
        (("--columns", "word,suprisal"), "did you mean surprisal?"),
        (("--columns", ""), "no column ''"),
        (("--columns", "word", "--by", "sentence"), "--columns cannot be combined with --by sentence"),
        (("--by", "sentence", "--base", "e"), "--base cannot be combined with --by sentence"),
        (("--text-column", "text", "--document-mark", "x"), "--document-mark cannot be combined"),
        (
            ("--text-column", "text", "--by", "region"),
            "(--by region) requires a region column (--region-column)",
        ),
        (("--region-column", "region"), "id column"),
        (("--id-column", "id"), "no column 'id'"),
    ],
)
def test_options_without_effect_are_refused(
    made: Path, tmp_path: Path, options: tuple[str, ...], message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "ITEMS.csv").write_text("text\nthe cat\n")
    check_error(tmp_path, ["score", made / "model", "ITEMS.csv", *options], 2, message, capfd=capfd)


def test_what_may_not_be_meant_is_noted(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "items.txt").write_text("the <s> cat sat\n")
    err = run("score", made / "model", tmp_path / "items.txt", "--columns", "word, position", capfd=capfd)[2]
    assert "1 sentence marker <s> or </s> dropped" in err


def test_all_columns_of_regions(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "items.csv").write_text("id,region,text\n1,a,the cat\n1,b,sat\n")
    names = ("--text-column", "text", "--id-column", "id", "--region-column", "region", "--columns", "all")
    status, out, _ = run("score", made / "model", tmp_path / "items.csv", *names, "-q", capfd=capfd)
    assert status == 0
    assert {"entropy_bits", "length", "tokens"} < set(out.splitlines()[0].split("\t"))
