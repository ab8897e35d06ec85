"""Files that are replaced while others read or write them, and what killed runs leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stategram.errors import StategramError
from stategram.storage import atomic_open, atomic_write, open_archive, temporary_files, write_archive
from stategram.storage.files import hold

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="open files are not renamed, signals")


def write(path: Path, number: int, **options: Any) -> None:
    # Arrays of different names and sizes, so that one file cannot stand in for another.
    arrays = {
        "a": {"n": np.full(1 + 997 * (number % 5), number)},
        f"b{number % 3}": {"n": np.array([number])},
    }
    write_archive(path, kind="x", arrays=arrays, texts={"t": b"%d" % number}, **options)


def read(path: Path, *, verify: bool = True) -> int:
    opened = open_archive(path, kind="x", verify=verify)
    numbers = {int(opened.text("t"))}
    for name in opened.manifest["arrays"]:
        if name != "t":
            numbers |= set(opened.arrays(name.partition("/")[0])["n"].tolist())
    (number,) = numbers
    return number


@pytest.fixture
def file(tmp_path: Path) -> Path:
    write(tmp_path / "file", 0)
    return tmp_path / "file"


_WRITER = """
import sys
from pathlib import Path
from test_replacing import write
print("begun", flush=True)
for number in range(1, 121):
    write(Path(sys.argv[1]), number)
"""


def _start(program: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent)},
    )


@ON_POSIX
def test_a_reader_beside_writers_finds_one_file_whole(file: Path) -> None:
    """No error, and no array of one file beside one of another; two writers at once do no harm either."""
    seen: list[int] = []
    with _start(_WRITER, file) as one, _start(_WRITER, file) as other:
        for writer in (one, other):
            assert writer.stdout is not None
            writer.stdout.readline()
        while one.poll() is None or other.poll() is None:
            seen.append(read(file, verify=len(seen) % 2 == 0))
    assert (one.returncode, other.returncode) == (0, 0)
    assert len(set(seen)) > 2
    assert read(file) == 120
    assert temporary_files(file) == []


@ON_POSIX
@pytest.mark.parametrize("verify", [True, False])
def test_what_was_opened_is_read_whatever_has_its_name(file: Path, verify: bool) -> None:
    opened = open_archive(file, kind="x", verify=verify)
    write(file, 3)
    assert opened.text("t") == b"0"
    assert opened.arrays("a")["n"].tolist() == opened.arrays("b0", mmap=False)["n"].tolist() == [0]
    assert read(file) == 3


_KILLED = """
import os, signal, sys
from pathlib import Path
from test_replacing import write

def killed(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[2] == "synced":
    os.fsync = killed
elif sys.argv[2] == "renamed":
    Path.replace = killed
else:
    replace = Path.replace
    Path.replace = lambda old, new: (replace(old, new), killed())
write(Path(sys.argv[1]), 7)
"""


@ON_POSIX
@pytest.mark.parametrize("before", ["synced", "renamed", "told"])
def test_a_kill_while_a_file_is_replaced_loses_nothing(file: Path, before: str) -> None:
    with _start(_KILLED, file, before) as process:
        pass
    assert process.returncode == -signal.SIGKILL
    assert len(temporary_files(file)) == (before != "told")
    assert read(file) == (7 if before == "told" else 0)
    write(file, 8)
    assert read(file) == 8
    assert list(file.parent.iterdir()) == [file]


@ON_POSIX
def test_stale_files_are_removed_but_not_those_of_the_living(file: Path, tmp_path: Path) -> None:
    names = [f"{name}.{number * 8}.partial" for name in ("file", "other") for number in ("0a", "0b")]
    for name in (*names, "file.partial", "file.12.partial", "file.0123456789abcdef.part"):
        (tmp_path / name).touch()
    (tmp_path / "file.0123456789abcdef.partial").mkdir()
    (tmp_path / "file.fedcba9876543210.partial").symlink_to(tmp_path / "file.partial")
    before = set(tmp_path.iterdir())
    held = [hold(tmp_path / name) for name in names[::2]]
    write(file, 1)
    atomic_write(tmp_path / "other", b"x")
    stale = {tmp_path / name for name in (*names[1::2], "file.0123456789abcdef.partial")}
    assert set(tmp_path.iterdir()) == before - stale | {tmp_path / "other"}
    for descriptor in held:
        assert descriptor is not None
        os.close(descriptor)
    write(file, 1)
    atomic_write(tmp_path / "other", b"x")
    assert set(tmp_path.iterdir()) == before - stale - {tmp_path / name for name in names} | {
        tmp_path / "other"
    }


@ON_POSIX
def test_what_is_being_written_is_held(tmp_path: Path) -> None:
    with atomic_open(tmp_path / "name") as file:
        file.write(b"y")
        (made,) = tmp_path.iterdir()
        with pytest.raises(BlockingIOError):
            hold(made)
        atomic_write(tmp_path / "name", b"x")
        assert made.exists()
    assert not made.exists()
    assert (tmp_path / "name").read_bytes() == b"y"
    with pytest.raises(FileNotFoundError):
        hold(made)


def test_nothing_is_overwritten_unasked_and_nothing_is_lost(file: Path) -> None:
    for number in (2, 3):
        with pytest.raises(StategramError, match=rf"written .*file meanwhile; this file is .*file-{number}$"):
            write(file, number, overwrite=False)
        assert read(file.with_name(f"file-{number}")) == number
    assert read(file) == 0
    write(file.with_name("new"), 1, overwrite=False)
    assert sorted(one.name for one in file.parent.iterdir()) == ["file", "file-2", "file-3", "new"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_an_empty_file_is_filled(tmp_path: Path, overwrite: bool) -> None:
    path = tmp_path / "empty"
    path.touch(mode=0o600)
    write(path, 1, overwrite=overwrite)
    assert read(path) == 1
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_without_hard_links_nothing_is_overwritten_either(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError("no hard links here")

    monkeypatch.setattr("os.link", refuse)
    with pytest.raises(StategramError, match=r"file-2$"):
        write(file, 2, overwrite=False)
    assert (read(file), read(file.with_name("file-2"))) == (0, 2)


@ON_POSIX
@pytest.mark.parametrize("there", [True, False])
def test_the_target_of_a_link_is_replaced(file: Path, there: bool) -> None:
    link = file.parent / "somewhere" / "link"
    link.parent.mkdir()
    target = file if there else file.with_name("new")
    link.symlink_to(target)
    write(link, 6)
    assert link.readlink() == target
    assert (read(link), read(target)) == (6, 6)
    assert list(link.parent.iterdir()) == [link]
