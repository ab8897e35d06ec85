"""Files that are there whole or not at all, and places that are no files."""

from __future__ import annotations

import errno
import os
import sys
import threading
from pathlib import Path

import pytest

from stategram.errors import StategramError, UsageError
from stategram.storage import atomic_open, atomic_write, check_place
from stategram.text import read_all


@pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes")
def test_a_pipe_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    atomic_write(pipe, b"data")
    reader.join()
    assert got == [b"data"]
    assert pipe.is_fifo()


def test_impossible_places_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(StategramError, match="it is a folder"):
        check_place(tmp_path)
    with pytest.raises(StategramError, match="there is no folder"):
        check_place(tmp_path / "no" / "file")
    with pytest.raises(UsageError, match="is empty"):
        check_place("")
    check_place("-")
    check_place(tmp_path / "file")


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz", ".bz2", ".zst"])
def test_pieces_are_a_file_only_when_all_are_there(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"file{suffix}"
    with atomic_open(path) as file:
        for _ in range(1000):
            file.write(b"0123456789" * 100)
        assert not path.exists()
    assert read_all(str(path)) == b"0123456789" * 100_000


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("bad"), OSError(errno.ENOSPC, "full")])
def test_pieces_that_break_off_leave_nothing(tmp_path: Path, suffix: str, error: BaseException) -> None:
    path = tmp_path / f"file{suffix}"

    def fill() -> None:
        with atomic_open(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(StategramError if isinstance(error, OSError) else type(error)):
        fill()
    assert list(tmp_path.iterdir()) == []


def test_what_another_run_writes_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda _: "0123")
    theirs = tmp_path / "file.0123.partial"
    theirs.write_bytes(b"precious")
    with pytest.raises(StategramError, match="File exists"):
        atomic_write(tmp_path / "file", b"new")
    assert theirs.read_bytes() == b"precious"
    assert list(tmp_path.iterdir()) == [theirs]


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_a_new_file_has_the_mode_of_any_other(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    atomic_write(tmp_path / "file", b"new")
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "other").stat().st_mode
