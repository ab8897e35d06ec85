"""The standard streams of commands: closed ones, terminals, Ctrl-C before anything has begun."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import run
from stategram import NgramModel
from stategram.cli.streams import safe_streams
from stategram.errors import StategramError
from stategram.explore.pages import drawing

COMMAND = f"exec '{sys.executable}' -m stategram"
# A terminal that obeys this has another title, red letters, and what follows written from right to left.
ESCAPES = "\x1b]0;title\x07\x9b31m\u202e"
SHOWN = r"\x1b]0;title\x07\x9b31m\u202e"
posix = pytest.mark.skipif(os.name == "nt", reason="shells and terminals of POSIX")


def sh(command: str, place: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", command], cwd=place, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("streams")
    NgramModel.train([f"a {ESCAPES}b c", f"a {ESCAPES}b"], order=2).save(place / "model")
    (place / "text").write_text("a b c\n")
    return place


@posix
def test_what_cannot_be_written_is_an_error(place: Path) -> None:
    found = sh(f"{COMMAND} predict model a -q >&-", place)
    assert (found.returncode, found.stderr) == (
        1,
        "stategram: error: cannot write to stdout: it is closed; give it a file or a pipe\n",
    )


@posix
def test_a_closed_stderr_changes_nothing(place: Path) -> None:
    found = sh(f"{COMMAND} train text -o trained >&- 2>&-", place)
    assert (found.returncode, (place / "trained").is_file()) == (0, True)
    # Nothing that was opened later got the number of a closed stream.
    assert sh(f"{COMMAND} info trained --verify 2>&-", place).returncode == 0
    assert sh(f"{COMMAND} eval nothing text 2>&-", place).returncode == 1


def on_terminal(arguments: list[str]) -> tuple[str, int]:
    import pty

    pid, descriptor = pty.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, "-m", "stategram", *arguments])
    output = b""
    try:
        while block := os.read(descriptor, 65536):
            output += block
    except OSError:  # the other side is closed
        pass
    os.close(descriptor)
    return output.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@posix
# The process that forks has threads, of pytest-xdist; the child becomes another program at once.
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_terminal_obeys_no_word_and_no_name(place: Path) -> None:
    output, status = on_terminal(["predict", str(place / "model"), "a"])
    assert status == 0
    assert f"{SHOWN}b" in output
    assert not set("\x1b\x07\x9b\u202e") & set(output)
    output, status = on_terminal(["eval", str(place / ESCAPES), str(place / "text")])
    assert (status, SHOWN in output) == (1, True)
    assert not set("\x07\x9b\u202e") & set(output)


def test_data_in_a_pipe_stays_as_it_is(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("predict", place / "model", f"a {ESCAPES}x", capfd=capfd)
    assert status == 0
    assert f"{ESCAPES}b" in out
    assert f"not in the vocabulary: {SHOWN}x" in err  # a message, not data


def test_bytes_are_shown_as_text(capsys: pytest.CaptureFixture[str]) -> None:
    with safe_streams():
        data = f"é{ESCAPES}\n".encode()
        for at in range(len(data)):  # characters in two pieces, too
            sys.stderr.buffer.write(data[at : at + 1])
    assert capsys.readouterr().err == f"é{SHOWN}\n"


def test_an_early_interrupt_is_no_error() -> None:
    code = """
import sys

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt

from stategram.cli import main
# What is imported before `main` is called cannot be interrupted without a traceback.
assert not {"lazy_loader", "click", "msgspec", "numpy"} & set(sys.modules)
sys.meta_path.insert(0, Interrupt())
main(["--help"])
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (130, "", "")


@posix
@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGTRAP)", "vl-convert was ended by SIGTRAP"),
        ("raise ImportError('no memory')", "ImportError: no memory"),
        ("", "vl-convert gave no answer"),
    ],
)
def test_charts_that_cannot_be_drawn(program: str, reason: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_COMMAND", (sys.executable, "-c", program))
    drawing._process.cache_clear()
    with pytest.raises(StategramError, match=rf"the charts cannot be drawn \({reason}\); free memory"):
        drawing.draw_svg({}, "5.20")


def test_a_process_that_cannot_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "_COMMAND", ("no such program",))
    drawing._process.cache_clear()
    with pytest.raises(StategramError, match="cannot be drawn"):
        drawing.draw_svg({}, "5.20")
