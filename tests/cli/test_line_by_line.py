"""`score -` and `predict -` answer each line of a pipe before the next one is there."""

from __future__ import annotations

import bz2
import gzip
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_line import TEST, make_models, run
from stategram import NgramModel, Recipe, open_model, train_recipe
from story import sentences, word_tree_part


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = make_models(tmp_path_factory.mktemp("made"))
    tree = train_recipe(sentences(300, seed=1), sentences(60, seed=2), Recipe(part=[word_tree_part()]))
    tree.save(place / "tree")
    return place


class Conversation:
    """A command to which lines are written, and whose lines are read, in turn."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self, lines: int) -> bytes:
        assert self.process.stdout is not None
        return b"".join(self.process.stdout.readline() for _ in range(lines))

    def finish(self) -> bytes:
        return self.process.communicate(timeout=60)[0]


@contextmanager
def conversation(*arguments: object) -> Iterator[Conversation]:
    command = [sys.executable, "-m", "stategram", *map(str, arguments), "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        yield Conversation(process)
    assert process.returncode == 0


# A line is lost in a deadlock, not in a wrong answer: the suite's time limit is the only sign of it.
def test_score_answers_line_by_line(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = run("score", made / "model", made / "TEST", "-q", capfd=capfd)[1].encode()
    with conversation("score", made / "model", "-") as talk:
        found = b""
        for line in TEST.splitlines():
            words = len(line.split())
            talk.write(line.encode()[:3])  # a line that is not complete yet is waited for
            talk.write(line.encode()[3:] + b"\n")
            found += talk.read(words + 1 + (not found) if words else 0)
        assert found == whole
        assert talk.finish() == b""


def test_histories_go_on_from_line_to_line(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    lines = [*sentences(4, seed=5), "", *sentences(3, seed=6), sentences(4, seed=5)[0]]
    (tmp_path / "text").write_text("\n".join(lines))
    for history in ("document", "adaptive"):
        options = ("--by", "sentence", "--history", history)
        whole = run("score", made / "tree", tmp_path / "text", *options, "-q", capfd=capfd)[1]
        with conversation("score", made / "tree", "-", *options) as talk:
            found = b""
            for line in lines:
                talk.write(f"{line}\n".encode())
                found += talk.read(bool(line) + (not found))
            talk.finish()
        assert found.decode() == whole
    assert whole != run("score", made / "tree", tmp_path / "text", *options[:2], "-q", capfd=capfd)[1]


@pytest.mark.parametrize("options", [["--top", "2"], ["--top", "2", "--json"]])
def test_predict_answers_line_by_line(made: Path, options: list[str]) -> None:
    model = open_model(made / "model", NgramModel)
    with conversation("predict", made / "model", "-", *options) as talk:
        for line in ("the", "", "a cat", "THE"):
            talk.write(f"{line}\n".encode())
            answer = talk.read(1 if "--json" in options else 2)
            for word, _ in model.predict(line.lower(), 2):
                assert word.encode() in answer
        assert talk.finish() == b""


def test_what_comes_at_once_is_scored_as_before(made: Path, tmp_path: Path) -> None:
    text = "the cat sat on 7 mats\n\nA dog ran\n" * 10_000 + "the end"
    (tmp_path / "text").write_text(text)
    command = [sys.executable, "-m", "stategram", "score", str(made / "model"), "--by", "sentence", "-q"]

    def scored(data: bytes) -> bytes:
        return subprocess.run(command, input=data, capture_output=True, check=True).stdout

    whole = subprocess.run([*command, str(tmp_path / "text")], capture_output=True, check=True).stdout
    assert whole.count(b"\n") == 20_002
    for packed in (text.encode(), gzip.compress(text.encode()), bz2.compress(text.encode())):
        assert scored(packed) == whole
    with (tmp_path / "text").open("rb") as file:
        assert subprocess.run(command, stdin=file, capture_output=True, check=True).stdout == whole
    # Words that look like the beginning of a compressed file.
    for start in (b"BZh\n", b"BZh9 1AY\n"):
        assert len(scored(start + b"the cat\n").splitlines()) == 3


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
def test_a_keyboard(made: Path) -> None:
    import pty
    import tty

    keyboard, terminal = pty.openpty()
    tty.setcbreak(terminal)
    command = [sys.executable, "-m", "stategram", "score", str(made / "model"), "--by", "sentence"]
    with subprocess.Popen(
        command, stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        for number in (1, 2):
            os.write(keyboard, b"the cat sat\n")
            if number == 1:
                assert process.stdout.readline().startswith(b"sentence\t")
            assert process.stdout.readline().startswith(b"%d\t3\t0\t" % number)
        process.kill()
    os.close(keyboard)
    os.close(terminal)


@pytest.mark.skipif(sys.platform == "win32", reason="terminals")
@pytest.mark.parametrize(
    ("command", "typed", "status"),
    [
        ("score MODEL", b"the cat\n", 0),
        ("count - --format srilm --order 1 -o -", b"the cat\n", 0),
        ("predict MODEL -", b"", 3),
    ],
)
def test_one_end_ends_the_keyboard(made: Path, command: str, typed: bytes, status: int) -> None:
    import pty

    keyboard, terminal = pty.openpty()
    arguments = command.replace("MODEL", str(made / "model")).split(" ")
    with subprocess.Popen(
        [sys.executable, "-m", "stategram", *arguments],
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stderr is not None
        while b"reading from the keyboard; Ctrl-D ends" not in process.stderr.readline():
            assert process.poll() is None
        os.write(keyboard, typed + b"\x04")
        out, _ = process.communicate(timeout=60)
    os.close(keyboard)
    os.close(terminal)
    assert (process.returncode, b"cat" in out) == (status, status == 0)
