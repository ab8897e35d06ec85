"""Folders that are replaced while others read or write them, and what killed runs leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stategram.errors import BadDataError, StategramError
from stategram.storage import (
    atomic_write,
    open_folder,
    recover,
    restore_replaced,
    temporary_files,
    write_folder,
)
from stategram.storage import folder as storage_folder
from stategram.storage.locks import hold
from stategram.storage.manifest import read_manifest
from stategram.storage.temporary import new_temporary

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="handles of folders, signals")
NUMBER = "0123456789abcdef"


def write(path: Path, number: int, **options: Any) -> None:
    # Files of different names, so that one folder cannot stand in for another.
    arrays = {"a": {"n": np.array([number])}, f"b{number % 3}": {"n": np.array([number])}}
    write_folder(path, kind="x", arrays=arrays, texts={"t.txt": b"%d" % number}, **options)


def read(path: Path, *, verify: bool = True) -> int:
    opened = open_folder(path, kind="x", verify=verify)
    found = {int(opened.text("t.txt"))}
    for name in opened.manifest["files"]:
        if name.endswith(".safetensors"):
            found.add(int(opened.arrays(name.removesuffix(".safetensors"))["n"][0]))
    (number,) = found
    return number


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "folder", 0)
    return tmp_path / "folder"


_WRITER = """
import sys
from pathlib import Path
import stategram.storage.renaming as renaming
from test_replacing import write
if sys.argv[2] == "two renamings":
    renaming._exchange = lambda *_: False
print("begun", flush=True)
for number in range(1, 61):
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
@pytest.mark.parametrize("how", ["one step", "two renamings"])
def test_a_reader_beside_writers_finds_one_folder_whole(folder: Path, how: str) -> None:
    """No error, no file of one folder beside one of another; two writers at once do no harm either."""
    seen: list[int] = []
    with _start(_WRITER, folder, how) as one, _start(_WRITER, folder, how) as other:
        for writer in (one, other):
            assert writer.stdout is not None
            writer.stdout.readline()
        while one.poll() is None or other.poll() is None:
            seen.append(read(folder, verify=len(seen) % 2 == 0))
    assert (one.returncode, other.returncode) == (0, 0)
    assert len(set(seen)) > 2
    assert read(folder) == 60
    assert temporary_files(folder) == []


@ON_POSIX
@pytest.mark.parametrize("verify", [True, False])
def test_what_was_opened_is_read_whatever_has_its_name(folder: Path, verify: bool) -> None:
    opened = open_folder(folder, kind="x", verify=verify)
    write(folder, 3)
    assert opened.text("t.txt") == b"0"
    assert opened.arrays("a")["n"].tolist() == opened.arrays("b0", mmap=False)["n"].tolist() == [0]
    assert read(folder) == 3


@ON_POSIX
def test_a_folder_that_is_replaced_while_it_is_opened_is_opened_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter([4, 5])

    def read_and_replace(file: Any) -> Any:
        manifest = read_manifest(file)
        for number in numbers:
            write(folder, number)
            break
        return manifest

    monkeypatch.setattr("stategram.storage.folder.read_manifest", read_and_replace)
    assert read(folder) == 5


@ON_POSIX
def test_a_folder_that_is_always_replaced_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stategram.storage.handles.OpenFolder.has_its_name", lambda _: False)
    (folder / "t.txt").unlink()
    with pytest.raises(StategramError, match="replaced again and again"):
        read(folder)


_KILLED = """
import os, signal, sys
from pathlib import Path
import stategram.storage.renaming as renaming
from test_replacing import write

def killed_after(function):
    def call(*arguments):
        function(*arguments)
        os.kill(os.getpid(), signal.SIGKILL)
    return call

if sys.argv[2] == "exchange":
    renaming._exchange = killed_after(renaming._exchange)
else:
    renaming._exchange = lambda *_: False
    rename, killed = Path.rename, killed_after(Path.rename)
    Path.rename = lambda old, new: (killed if str(new).endswith(sys.argv[2]) else rename)(old, new)
write(Path(sys.argv[1]), 7)
"""


@ON_POSIX
@pytest.mark.parametrize("at", ["exchange", ".replaced"])
def test_a_kill_while_a_folder_is_replaced_loses_nothing(folder: Path, at: str) -> None:
    with _start(_KILLED, folder, at) as process:
        pass
    assert process.returncode == -signal.SIGKILL
    left = [one.suffix for one in temporary_files(folder)]
    assert (folder.exists(), left) == (
        (True, [".partial"]) if at == "exchange" else (False, [".partial", ".replaced"])
    )
    assert read(folder) == (7 if at == "exchange" else 0)
    write(folder, 8)
    assert read(folder) == 8
    assert list(folder.parent.iterdir()) == [folder]


def test_an_old_folder_is_restored_before_a_new_one_is_refused(folder: Path) -> None:
    folder.rename(f"{folder}.{NUMBER}.replaced")
    with pytest.raises(
        StategramError, match=r"folder was written by another process meanwhile; .* is in .*-2"
    ):
        write(folder, 1, overwrite=False)
    assert (read(folder), read(Path(f"{folder}-2"))) == (0, 1)


def test_a_name_that_is_taken_is_not_restored(folder: Path) -> None:
    write(Path(f"{folder}.{NUMBER}.replaced"), 1)
    assert restore_replaced(folder)
    assert read(folder) == 0
    assert not restore_replaced(folder.with_name("other"))
    assert not restore_replaced(folder.with_name("no") / "other")


@pytest.mark.parametrize("damage", ["manifest.json", "t.txt"])
def test_what_is_not_whole_is_not_restored_and_not_removed(folder: Path, damage: str) -> None:
    replaced = folder.rename(f"{folder}.{NUMBER}.replaced")
    (replaced / damage).unlink()
    assert not restore_replaced(folder)
    with pytest.raises(BadDataError, match="no such folder"):
        read(folder)
    recover(folder)
    assert replaced.exists()


def test_of_several_the_latest_is_restored(folder: Path) -> None:
    for at, name in enumerate(["0c", "0a", "0b"]):
        left = folder.with_name(f"folder.{name * 8}.replaced")
        write(left, at)
        os.utime(left / "manifest.json", (at % 2, at % 2))
    folder.rename(folder.with_name("away"))
    assert restore_replaced(folder)
    assert read(folder) == 1


@ON_POSIX
def test_stale_files_are_removed_but_not_those_of_the_living(folder: Path, tmp_path: Path) -> None:
    names = [f"{name}.{number * 8}.partial" for name in ("folder", "file") for number in ("0a", "0b")]
    for name in (
        *names,
        f"other.{NUMBER}.partial",
        "folder.partial",
        "folder.12.partial",
        f"folder.{NUMBER}.part",
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.txt").touch()
    (tmp_path / f"file.{NUMBER}.partial").touch()
    (tmp_path / f"folder.{NUMBER}.partial").symlink_to(tmp_path / "folder.partial")
    before = set(tmp_path.iterdir())
    held = [hold(tmp_path / name) for name in names[::2]]
    write(folder, 1)
    atomic_write(tmp_path / "file", b"x")
    stale = {tmp_path / name for name in (*names[1::2], f"file.{NUMBER}.partial")}
    assert set(tmp_path.iterdir()) == before - stale | {tmp_path / "file"}
    for descriptor in held:
        assert descriptor is not None
        os.close(descriptor)
    write(folder, 1)
    atomic_write(tmp_path / "file", b"x")
    assert set(tmp_path.iterdir()) == before - stale - {tmp_path / name for name in names} | {
        tmp_path / "file"
    }


@ON_POSIX
def test_what_is_being_written_is_held(tmp_path: Path) -> None:
    with new_temporary(tmp_path / "name", is_folder=True) as made:
        with pytest.raises(BlockingIOError):
            hold(made)
        recover(tmp_path / "name")
        assert made.exists()
    assert not made.exists()
    with pytest.raises(FileNotFoundError):
        hold(made)


def test_nothing_is_overwritten_unasked_and_nothing_is_lost(folder: Path) -> None:
    for number in (2, 3):
        with pytest.raises(StategramError, match=rf"this x is in .*folder-{number}$"):
            write(folder, number, overwrite=False)
        assert read(folder.with_name(f"folder-{number}")) == number
    assert read(folder) == 0
    write(folder.with_name("new"), 1, overwrite=False)
    assert sorted(one.name for one in folder.parent.iterdir()) == ["folder", "folder-2", "folder-3", "new"]


@pytest.mark.parametrize("overwrite", [True, False])
def test_an_empty_folder_is_filled(tmp_path: Path, overwrite: bool) -> None:
    place = tmp_path / "empty"
    place.mkdir(mode=0o700)
    write(place, 1, overwrite=overwrite)
    assert read(place) == 1
    if sys.platform != "win32":
        assert place.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == [place]


@ON_POSIX
@pytest.mark.parametrize("there", [True, False])
def test_what_a_link_leads_to_is_replaced(folder: Path, there: bool) -> None:
    link = folder.parent / "somewhere" / "link"
    link.parent.mkdir()
    target = folder if there else folder.with_name("new")
    link.symlink_to(target)
    write(link, 6)
    assert link.readlink() == target
    assert (read(link), read(target)) == (6, 6)
    assert list(link.parent.iterdir()) == [link]


def test_a_folder_that_is_renamed_while_it_is_looked_at_is_ours(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process gives the folder another name just before its manifest is looked for."""
    write(folder, 1)
    is_file = Path.is_file

    def rename_first(path: Path) -> bool:
        if path == folder / "manifest.json" and path.exists():
            folder.rename(folder.with_name("elsewhere"))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", rename_first)
    assert not storage_folder._is_foreign(folder)
    monkeypatch.undo()
    folder.mkdir()
    (folder / "mine").touch()
    assert storage_folder._is_foreign(folder)
