"""`stategram select` as a command."""

from __future__ import annotations

import gzip
import io
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import run
from stategram.selection import select

SEA = "the ship sails the sea\na ship at sea\nthe sea and a deep wave\n" * 3
LAND = "the road is long\na horse and a cart\nthe cart is on the road\n" * 3
POOL = "the deep sea\na long road\n\na ship and a wave\nthe cart and the horse\n" * 50


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("sea", SEA), ("land", LAND), ("pool", POOL)):
        Path(f"{name}.txt").write_text(text)
    return tmp_path


def test_select_keeps_the_best(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ("select", "pool.txt", "--in-domain", "sea.txt", "--general", "land.txt")
    status, out, err = run(*command, "--keep", "50%", "-o", "out.txt", capfd=capfd)
    assert (status, out) == (0, "")
    assert "in-domain text: 45 words, 0.0% unknown to a vocabulary of 9 words" in err
    kept = Path("out.txt").read_text()
    assert kept == "the deep sea\na ship and a wave\n" * 50
    assert "100 of 250 rows kept, 400 of 800 words, with a score of at most -" in err
    status, out, err = run(*command, "--keep", "50%", "-o", "out.txt", "--json", "-q", capfd=capfd)
    assert (status, err) == (0, "")
    figures = json.loads(out)
    assert figures["kept_rows"] == 100
    assert (figures["rows"], figures["words"], figures["kept_words"], figures["by"]) == (
        250, 800, 400, "difference",
    )  # fmt: skip
    threshold = run(*command, "--threshold", figures["threshold"], "-o", "-", "-q", capfd=capfd)
    assert threshold == (0, kept, "")


def test_select_reads_stdin(
    made: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = io.BytesIO()
    select("pool.txt", "sea.txt", output=expected, keep="30%", seed=3)
    for data in (POOL.encode(), gzip.compress(POOL.encode())):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        command = ("select", "-", "--in-domain", "sea.txt", "--keep", "30%", "--seed", 3, "-o", "-", "-q")
        assert run(*command, capfd=capfd) == (0, expected.getvalue().decode(), "")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "the deep sea"}\n')))
    of_json = ("select", "-", "--in-domain", "sea.txt", "--general", "land.txt", "--format", "jsonl")
    assert run(*of_json, "--threshold", 0, "-o", "-", "-q", capfd=capfd)[1] == '{"text": "the deep sea"}\n'


def test_select_refuses_what_cannot_be(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = ("select", "pool.txt", "--in-domain", "sea.txt")
    assert run(*command, "-o", "out.txt", capfd=capfd)[0] == 2
    assert run(*command, "--keep", "5", "-o", "pool.txt", capfd=capfd)[0] == 2
    assert run(*command, "--keep", "5", "-o", "sea.txt", capfd=capfd)[0] == 2
    assert run(*command, "--keep", "5", "-o", "-", "--json", capfd=capfd)[0] == 2
    status, _, err = run("select", "nowhere", "--in-domain", "sea.txt", "--keep", 5, "-o", "x", capfd=capfd)
    assert status == 1
    assert "nowhere: no such file" in err
    Path("bad.jsonl").write_text('{"text": "a"}\n{\n')
    status, _, err = run(
        "select", "bad.jsonl", "--in-domain", "sea.txt", "--general", "land.txt", "--scores", "-o", "x.jsonl",
        capfd=capfd,
    )  # fmt: skip
    assert status == 3
    assert "bad.jsonl:2: not JSON" in err
    assert sorted(file.name for file in made.iterdir()) == ["bad.jsonl", "land.txt", "pool.txt", "sea.txt"]


def test_a_selection_needs_a_choice(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, _, err = run("select", "pool.txt", "--in-domain", "sea.txt", "-o", "x.txt", capfd=capfd)
    assert (status, "choose rows by keep (--keep) or threshold (--threshold)" in " ".join(err.split())) == (
        2,
        True,
    ), err
    assert not (made / "x.txt").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_an_interrupted_selection_leaves_nothing(made: Path) -> None:
    (made / "tmp").mkdir()
    command = [
        sys.executable, "-m", "stategram", "select", "-", "--in-domain", "sea.txt", "--general", "land.txt",
        "--threshold", "0", "-o", "out.txt", "--tmp", "tmp",
    ]  # fmt: skip
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(POOL.encode())
        process.stdin.flush()
        until = time.monotonic() + 60
        while not list((made / "tmp").rglob("pool-*")):  # stdin is being copied
            assert time.monotonic() < until
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    assert b"interrupted; nothing was written" in err
    assert sorted(file.name for file in made.iterdir()) == ["land.txt", "pool.txt", "sea.txt", "tmp"]
    assert not list((made / "tmp").iterdir())


def test_errors_name_options_and_files(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "pool.txt").write_text("the cat\n")
    (tmp_path / "bad.jsonl").write_text('{"text": "a cat"}\n{"text": "\\ud800"}\n')
    given = (
        "select",
        tmp_path / "pool.txt",
        "--in-domain",
        tmp_path / "bad.jsonl",
        "-o",
        tmp_path / "out.txt",
    )
    status, _, err = run(*given, "--keep", "1", capfd=capfd)
    assert (status, "bad.jsonl:2: half of a UTF-16 surrogate pair" in " ".join(err.split())) == (3, True)
    assert "/stategram-select" not in err
    status, _, err = run(*given, "--keep", "1", "--text-column", "txt", capfd=capfd)
    assert (status, "choose the column of the texts with --text-column" in " ".join(err.split())) == (2, True)
    status, _, err = run(*given, "--keep", "1", "--threshold", "0", capfd=capfd)
    assert (
        status,
        "keep and threshold (--keep, --threshold) both choose the rows" in " ".join(err.split()),
    ) == (2, True)
