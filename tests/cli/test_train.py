"""`stategram train`: what is in the model, what is refused, what an end in the middle leaves."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import check_error, manifest_of, run
from stategram import NgramModel, open_model, read_corpus
from stategram.storage import write_archive

TEXT = "The cat sat\nthe dog sat on 3 mats\na cat ran\na dog ran\n" * 5


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_a_model_and_its_manifest(text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model"
    status, out, err = run("train", text, "-o", f"{path}/", "--lowercase", "--digits", "N", "-v", capfd=capfd)
    assert (status, out) == (0, "")
    for line in ("[1/3] reading", "[2/3] training: 3-gram model (kneser-ney)", "[3/3] writing"):
        assert line in err
    assert "NgramModel(order 3, 12 + " in err
    assert "discounts of n-grams of 3 words: " in err
    model = open_model(path, NgramModel)
    assert {"the", "N"} < set(model.vocabulary.words)
    assert "The" not in model
    manifest = manifest_of(path)
    assert manifest["recipe"] == {
        "model": "ngram",
        "name": "ngram",
        "seed": 0,
        "order": 3,
        "smoothing": "kneser-ney",
        "min_counts": [1, 1, 1],
        "prune": 0.0,
        "vocabulary_size": None,
        "vocabulary_file": None,
    }
    assert manifest["text_format"] == {
        "lowercase": True,
        "digits": "N",
        "split": "unicode",
        "tokenize": None,
        "encoding_errors": "strict",
        "document_mark": None,
        "tokenizer": None,
    }
    assert manifest["inputs"] == [
        {
            "use": "training",
            "name": str(text),
            "bytes": len(TEXT),
            "sha256": hashlib.sha256(TEXT.encode()).hexdigest(),
        }
    ]
    assert manifest["figures"]["events"] == read_corpus(text).n_events
    assert manifest["figures"]["parameters"] == model.parameters


def test_fallbacks_are_told_without_being_asked(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("a b\n")
    err = run("train", tmp_path / "text.txt", "-o", tmp_path / "model", capfd=capfd)[2]
    assert "note: n-grams of 3 words: " in err
    assert run("train", tmp_path / "text.txt", "-o", tmp_path / "other", "-q", capfd=capfd)[2] == ""


def test_the_same_command_gives_the_same_bytes(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, threads in (("one", 1), ("two", 2)):
        arguments = ("train", text, "-o", tmp_path / name, "--threads", threads, "--smoothing", "katz")
        assert run(*arguments, capfd=capfd)[0] == 0
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    ("given", "order", "expected"),
    [
        ("1 1 2", 3, [1, 1, 2]),
        ("1,2,2,3", 4, [1, 2, 2, 3]),
        ("3", 4, [1, 1, 3, 3]),
        ("1", 2, [1, 1]),
        ("1", 1, [1]),
    ],
)
def test_min_count(
    text: Path,
    tmp_path: Path,
    given: str,
    order: int,
    expected: list[int],
    capfd: pytest.CaptureFixture[str],
) -> None:
    arguments = ("train", text, "-o", tmp_path / "m", "--order", order, "--min-count", given)
    assert run(*arguments, capfd=capfd)[0] == 0
    assert open_model(tmp_path / "m").metadata["min_counts"] == expected


def test_pruning_and_cut_offs_make_a_model_smaller(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"w{i % 7} w{i * i % 11} w{i * 7 % 13} w{i % 5}\n" for i in range(400)))
    sizes = []
    for name, *options in (("all",), ("pruned", "--prune", "1e-3"), ("cut", "--min-count", "9")):
        assert run("train", text, "-o", tmp_path / name, *options, capfd=capfd)[0] == 0
        sizes.append(open_model(tmp_path / name, NgramModel).trie.sizes)
    assert sizes[1][2] < sizes[0][2]
    assert sizes[2][2] < sizes[0][2]


@pytest.mark.parametrize("what", ["model", "damaged", "link"])
def test_a_model_is_replaced_only_when_told(
    text: Path, tmp_path: Path, what: str, capfd: pytest.CaptureFixture[str]
) -> None:
    model = place = tmp_path / "model"
    if what == "link":
        place = tmp_path / "link"
        place.symlink_to(model)
    assert run("train", text, "-o", place, "--order", 2, capfd=capfd)[0] == 0
    if what == "damaged":
        model.write_bytes(model.read_bytes()[:-1])
    check_error(tmp_path, ["train", text, "-o", place], 2, "--force replaces it", capfd=capfd)
    assert run("train", text, "-o", place, "--force", capfd=capfd)[0] == 0
    assert open_model(model, NgramModel).order == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted({"model", "text.txt", place.name})
    assert place.is_symlink() == (what == "link")


def test_two_trainings_into_one_file_lose_nothing(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    command = [sys.executable, "-m", "stategram", "train", "-", "-o", str(model), "--order", "2"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
        assert first.stderr is not None
        assert "reading" in first.stderr.readline()
        assert run("train", text, "-o", model, capfd=capfd)[0] == 0
        _, err = first.communicate(TEXT)
    assert first.returncode == 1
    assert f"another process has written {model} meanwhile; this file is {model}-2" in " ".join(err.split())
    assert (open_model(model).order, open_model(f"{model}-2").order) == (3, 2)


def test_stdin_has_no_checksum(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "stategram", "train", "-", "-o", str(tmp_path / "model"), "-q"]
    subprocess.run(command, input=TEXT, text=True, check=True)
    manifest = manifest_of(tmp_path / "model")
    assert manifest["inputs"] == [{"use": "training", "name": "-", "bytes": None, "sha256": None}]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["TEXT"], 2, "Missing option '-o'"),
        (["-o", "OUT"], 2, "Missing argument"),
        (["TEXT", "-o", "OUT", "--order", "0"], 2, "0 is not in the range"),
        (["TEXT", "-o", "OUT", "--order", "10"], 2, "10 is not in the range"),
        (["TEXT", "-o", "OUT", "--smoothing", "magic"], 2, "'magic' is not one of"),
        (["TEXT", "-o", "OUT", "--min-count", "1 2"], 2, "expected 3 numbers"),
        (["TEXT", "-o", "OUT", "--min-count", "2 2 2"], 2, "the first of them 1"),
        (["TEXT", "-o", "OUT", "--min-count", "two"], 2, "expected numbers"),
        (["TEXT", "-o", "OUT", "--min-count", "2", "--order", "2"], 2, "give a number for each length"),
        (["TEXT", "-o", "OUT", "--min-count", "2 1 1"], 2, "(--min-count) 2 1 1: expected 3 numbers"),
        (["TEXT", "-o", "OUT", "--min-count", 5000 * "9"], 2, "expected numbers of up to 9 digits"),
        (["TEXT", "-o", "OUT", "--memory", 400 * "9" + "G"], 2, "is not a size"),
        (["TEXT", "-o", "OUT", "--memory", "5M"], 2, "5M of memory (--memory) is too little"),
        (["TEXT", "-o", "OUT", "--prune", "-1"], 2, "not in the range"),
        (["TEXT", "-o", "OUT", "--prune", "nan"], 2, "--prune must be a number"),
        (["TEXT", "-o", "OUT", "--memory", "lots"], 2, "is not a size"),
        (["TEXT", "-o", "OUT", "--tmp", "NOFOLDER"], 1, "cannot write temporary files"),
        (["TEXT", "-o", "OUT", "--vocab", "3", "--vocab-file", "TEXT"], 2, "give one of them"),
        (["TEXT", "-o", "OUT", "-q", "-v"], 2, "contradict each other"),
        (["-", "-", "-o", "OUT"], 2, "only once"),
        (["no such file", "-o", "OUT"], 1, "no such file"),
        (["TEXT", "-o", ""], 2, "is empty"),
        (["TEXT", "-o", "NOFOLDER/OUT"], 1, "there is no folder"),
        (["TEXT", "-o", "TEXT"], 2, "is an input too"),
        (["TEXT", "-o", "LATIN1", "--force"], 1, "is not a file of stategram"),
        (["FOLDER/TEXT", "-o", "FOLDER", "--force"], 1, "is a folder"),
        (["TEXT", "-o", "FOLDER", "--force"], 1, "is a folder"),
        (["TEXT", "-o", "CLUSTERING", "--force"], 1, "exists and is not a model"),
        (["EMPTY", "-o", "OUT"], 3, "no words in"),
        (["LATIN1", "-o", "OUT"], 3, ":2:"),
    ],
)
def test_errors_say_what_is_wrong_and_leave_nothing(
    tmp_path: Path, arguments: list[str], status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "TEXT").write_text(TEXT)
    (tmp_path / "EMPTY").write_text("")
    (tmp_path / "LATIN1").write_bytes("fine\ncaf\xe9\n".encode("latin-1"))
    (tmp_path / "FOLDER").mkdir()
    (tmp_path / "FOLDER" / "TEXT").write_text(TEXT)
    write_archive(tmp_path / "CLUSTERING", kind="clustering checkpoint")
    check_error(tmp_path, ["train", *arguments], status, message, capfd=capfd)


# A training that says when it writes its files and then waits, so that it can be ended right there.
_WAITING = """
import sys, time
import os
from stategram.cli import main

def wait(path):
    print("waiting", flush=True)
    time.sleep(600)

os.fsync = wait
main(sys.argv[1:])
"""


def _end_while_it_writes(text: Path, model: Path, how: int) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _WAITING, "train", str(text), "-o", str(model)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "waiting\n"
        process.send_signal(how)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(command, process.returncode, out, err)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_leaves_nothing(text: Path, tmp_path: Path) -> None:
    ended = _end_while_it_writes(text, tmp_path / "model", signal.SIGINT)
    assert ended.returncode == 130
    assert "interrupted; nothing was written" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == [text]


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_kill_leaves_no_model_and_the_next_run_works(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model"
    assert _end_while_it_writes(text, model, signal.SIGKILL).returncode == -signal.SIGKILL
    assert not model.exists()
    (left,) = tmp_path.glob("model.*.partial")
    assert run("train", text, "-o", model, capfd=capfd)[0] == 0
    assert not left.exists()
    assert open_model(model, NgramModel).order == 3
    # The same for a model that is to be replaced.
    whole = model.read_bytes()
    ended = subprocess.run(
        [sys.executable, "-c", _KILLED_AT_SYNC, "train", str(text), "-o", str(model), "--force"],
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    assert model.read_bytes() == whole


_KILLED_AT_SYNC = """
import os, signal, sys
from stategram.cli import main

os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
main(sys.argv[1:])
"""
