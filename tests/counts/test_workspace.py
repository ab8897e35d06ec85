from __future__ import annotations

import errno
import os
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import numpy as np
import pytest
from numpy.typing import NDArray

from stategram.counts import Workspace
from stategram.counts.workspace import memory_in_use
from stategram.errors import StategramError, UsageError
from stategram.resources import Resources, parse_size, use_resources


@pytest.mark.parametrize("size", ["", "G", "-1G", "2X", "0", "1e9", "2 3G", "nan", 400 * "9" + "G"])
def test_sizes_that_are_none(size: str) -> None:
    with pytest.raises(UsageError, match="write it as 2G or 512M"):
        parse_size(size)


def test_files_have_no_names_and_arrays_outlive_the_workspace(tmp_path: Path) -> None:
    workspace = use_resources(tmp=tmp_path)(Workspace)()
    workspace.spill(1000)
    array = workspace.empty(1000, np.uint32)
    array[:] = np.arange(1000)
    growing = workspace.growing(np.uint8)
    for part in (b"abc", b"", b"de"):
        growing.append(np.frombuffer(part, np.uint8))
    grown = growing.finish()
    assert list(tmp_path.iterdir()) == []
    assert list(workspace.chunks(5_000_000))[-1][1] == 5_000_000
    del workspace
    assert array.tolist() == list(range(1000))
    assert grown.tobytes() == b"abcde"


def test_what_was_in_memory_when_files_began_is_not_lost(tmp_path: Path) -> None:
    workspace = use_resources(tmp=tmp_path)(Workspace)()
    growing = workspace.growing(np.uint8)
    growing.append(np.array([1, 2], np.uint8))
    workspace.spill(0)
    growing.append(np.array([3], np.uint8))
    empty = workspace.growing(np.uint8)
    assert growing.finish().tolist() == [1, 2, 3]
    assert empty.finish().tolist() == []
    assert workspace.empty(0, np.uint32).size == 0


def test_arrays_are_moved_to_files_when_half_of_the_memory_is_in_use(tmp_path: Path) -> None:
    large, small = np.arange(2**20, dtype=np.uint32), np.arange(9)
    for memory, is_scarce in ((memory_in_use(), True), (4 * memory_in_use(), False), (None, False)):
        workspace = use_resources(tmp=tmp_path, memory=memory)(Workspace)()
        workspace.spill_when_scarce(1000)
        assert workspace.spilling == is_scarce
        moved = workspace.moved(large)
        assert np.array_equal(moved, large)
        assert (moved is large) != is_scarce
        assert workspace.moved(small) is small
    with (
        use_resources(tmp=tmp_path, memory=1),
        pytest.raises(StategramError, match="not enough space for temporary files"),
    ):
        Workspace().spill_when_scarce(2**60)


def test_a_full_disk_is_said_with_needed_and_free_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = use_resources(tmp=tmp_path)(Workspace)()
    with pytest.raises(StategramError, match=rf"{tmp_path}: .* needed, .* free; .* --tmp"):
        workspace.spill(2**60)

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    free = shutil.disk_usage(tmp_path).free
    assert free > 0
    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    with pytest.raises(StategramError, match="4M needed"):
        workspace.empty(1_000_000, np.uint32)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="blocks of files")
def test_room_is_taken_at_once_where_the_system_has_no_call_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    workspace = use_resources(tmp=tmp_path)(Workspace)()
    workspace.spill(0)
    blocks = []

    def look(file: IO[bytes], _: object) -> NDArray[np.uint8]:
        blocks.append(os.fstat(file.fileno()).st_blocks)
        return np.empty(0, np.uint8)

    monkeypatch.setattr(workspace, "map", look)
    workspace.empty(3_000_001, np.uint8)
    assert 512 * blocks[0] >= 3_000_001  # no hole


def test_without_proc_the_peak_stands_for_the_memory_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    in_use = memory_in_use()

    def missing(*_: object, **__: object) -> str:
        raise FileNotFoundError

    monkeypatch.setattr(Path, "read_text", missing)
    assert memory_in_use() >= (0 if sys.platform == "win32" else in_use // 2)
    assert sys.platform == "win32" or memory_in_use() > 1_000_000


def test_a_folder_that_cannot_be_used(tmp_path: Path) -> None:
    with (
        use_resources(tmp=tmp_path / "none"),
        pytest.raises(StategramError, match="choose another folder with --tmp"),
    ):
        Workspace()


@pytest.mark.parametrize("threads", [0, 513])
def test_numbers_of_threads_that_make_no_sense(threads: int) -> None:
    with (
        pytest.raises(UsageError, match=f"threads is {threads}; it must be 1 to 512"),
        use_resources(threads=threads),
    ):
        pass


def test_inner_resources_keep_what_outer_ones_gave() -> None:
    with use_resources(threads=1, memory="2G"):
        with use_resources(threads=3) as inner:
            assert (inner.threads, inner.memory) == (3, 2**31)
            assert Resources.current() is inner
        assert Resources.current().threads == 1
    assert Resources.current().memory is None


def test_tasks_come_back_in_their_order() -> None:
    with ThreadPoolExecutor(2) as executor, use_resources(executor=executor, memory="2G"):
        assert list(Resources.current().map(lambda x: 2 * x, range(9))) == list(range(0, 18, 2))
    assert list(Resources.current().map(lambda x: 2 * x, range(3))) == [0, 2, 4]
