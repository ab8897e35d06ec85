"""`stategram reproduce`."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from command_line import run
from reproductions import sample
from stategram.paper import Reproduction, summary
from stategram.paper.page import report_html
from story import sentences, write_texts


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_texts(tmp_path)


SMALL = ["--tags", "none", "--vocab", "30"]


def _texts() -> list[str]:
    return ["--train", "train", "--heldout", "held", "--test", "test"]


def test_tables_on_stdout_and_steps_on_stderr(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("reproduce", *_texts(), "-o", "out", capfd=capfd)
    assert status == 0, err
    for number in range(1, 6):
        assert f"Table {number}. " in out
    assert re.search(
        r"w-2,w-1 tree, smoothed over its levels +\d+ × \d+ +[\d.]+ +158 +[-+][\d.]+% +-12.2% .*\n"
        r".*paper: 2,000 × 2,000 +[\d.]+ to [\d.]+ +against flat\n +\S+% to \S+%\n",
        out,
    )
    assert "The claims of the paper" in out
    assert "paired bootstrap" in out
    assert "scale quick: " in err
    numbers = re.findall(r"^\[(\d+)/(\d+)\]", err, re.MULTILINE)
    assert numbers[-1][0] == numbers[-1][1]
    found = msgspec.json.decode((place / "out" / "tables.json").read_bytes(), type=Reproduction)
    assert found.complete
    assert {row.key for row in found.rows if row.gallery} >= {"w-2,w-1 tree", "g-2,g-1 tree"}
    assert '<section id="claims">' in (place / "out" / "report.html").read_text(encoding="utf-8")
    assert {file.name for file in (place / "out").iterdir()} == {"tables.json", "report.html", "work"}
    status, again, err = run("reproduce", *_texts(), "-o", "out", capfd=capfd)
    assert (status, again) == (0, out)
    assert "nothing is computed again" in err


def test_memory_is_said_in_one_unit_if_it_is_known() -> None:
    found = sample()
    assert summary(found).endswith("\n36 min 57 s in all, 1 h 07 min of processor time, 3.2 GB at most.")
    assert "<dt>Peak memory</dt><dd>3.2 GB</dd>" in report_html(found)
    unknown = msgspec.structs.replace(found, run=msgspec.structs.replace(found.run, peak_bytes=0))
    assert summary(unknown).endswith("\n36 min 57 s in all, 1 h 07 min of processor time.")
    assert "Peak memory" not in report_html(unknown)


def test_json_and_quiet(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ["reproduce", *_texts(), "-o", "out", "--json", "-q", "--scale", "0.005", "--vocab", "30"]
    status, out, err = run(*given, capfd=capfd)
    assert (status, err) == (0, "")
    assert json.loads(out) == json.loads((place / "out" / "tables.json").read_bytes())
    assert json.loads(out)["scale"] == "0.005"
    assert json.loads(out)["vocabulary"] == 30


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are UTF-8 there")
def test_a_name_that_is_not_utf8(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    name = os.fsdecode(b"caf\xe9")
    (place / name).write_text("\n".join(sentences(10, seed=1)))
    given = [
        "reproduce",
        "--train",
        name,
        "--heldout",
        "held",
        "--test",
        "test",
        "-o",
        os.fsdecode(b"\xe9"),
        *SMALL,
    ]
    monkeypatch.setattr(sys, "argv", ["stategram", *given])
    status, out, err = run(*given, "--json", capfd=capfd)
    assert status == 0, err
    assert json.loads(out)["inputs"][0]["name"] == "caf\N{REPLACEMENT CHARACTER}"
    assert "--train 'caf\N{REPLACEMENT CHARACTER}'" in json.loads(out)["run"]["command"]


def test_the_demo_has_its_own_texts(
    place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from stategram.text.sotu import SotuCorpus

    few = SotuCorpus(*(sentences(number, seed=number) for number in (200, 40, 30)))
    monkeypatch.setattr("stategram.cli.reproduce.load_sotu", lambda: few)
    status, out, err = run("reproduce", "--demo", "-o", "out", "--json", *SMALL, capfd=capfd)
    assert status == 0, err
    found = msgspec.json.decode(out, type=Reproduction)
    assert [text.sentences for text in found.texts] == [200, 40, 30]
    assert {one.name for one in found.inputs} == {"State of the Union addresses (package sotu)"}


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        (["--train", "train", "-o", "out"], 2, "give --train, --heldout and --test"),
        (["--demo", "--train", "train", "-o", "out"], 2, "leave --train out"),
        (["--demo", "--lowercase", "-o", "out"], 2, "leave --lowercase out"),
        ([*_texts()], 2, "--output"),
        ([*_texts(), "-o", ""], 2, "the name of the output is empty"),
        ([*_texts(), "-o", "train"], 2, "is a file"),
        ([*_texts(), "-o", "."], 2, "not a reproduction"),
        ([*_texts(), "-o", "no/out"], 1, "there is no folder"),
        ([*_texts(), "-o", "out", "--scale", "huge"], 2, "the scale is 'huge'"),
        ([*_texts(), "-o", "out", "--tags", "nothing.tsv"], 1, "nothing.tsv"),
        ([*_texts()[:-1], "train", "-o", "out"], 2, "is in the"),
        ([*_texts()[:-1], "missing", "-o", "out"], 1, "no such file"),
    ],
)
def test_what_cannot_be_is_refused(
    place: Path, given: list[str], status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    found, out, err = run("reproduce", *given, capfd=capfd)
    assert (found, out) == (status, ""), err
    assert message in err
    assert not (place / "out").exists()


def test_a_mistake_is_found_before_anything_is_read(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for mistake in (["--scale", "huge"], ["--tags", "nothing.tsv"], ["--vocab-file", "nothing"]):
        _, _, err = run("reproduce", *_texts(), "-o", "out", *mistake, capfd=capfd)
        assert "reading" not in err


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
def test_a_terminal_shows_a_table(place: Path) -> None:
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "stategram", "reproduce", *_texts(), "-o", "out"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "110", "LINES": "40"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # at its end, a terminal gives an error
        while part := os.read(ours, 65536):
            shown += part
    out, _ = process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert b"Table 5" in out
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert re.search(r"row 46 of 46, recipe fast, adaptive: perplexity [\d.]+, [\d.]+ m?s", text)
    assert re.search(r"computing the tables .* row \d+ of 46, ", text)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupted_run_says_how_to_go_on(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "stategram", "reproduce", *_texts(), "-o", "out", *SMALL]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if "row 5 of 33" in line:
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate()
    assert (process.returncode, out) == (130, "")
    assert "the same command continues" in err
    status, _, err = run("reproduce", *_texts(), "-o", "out", *SMALL, capfd=capfd)
    assert status == 0
    assert re.search(r"continuing: [1-9]\d* of 33 rows are done already", err)
