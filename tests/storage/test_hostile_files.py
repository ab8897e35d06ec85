"""Folders that somebody made to do harm: refused with a clear error, nothing else of theirs is read."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile import change_manifest
from stategram.errors import BadDataError, UsageError
from stategram.storage import folder_kind, open_folder, write_folder

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and devices")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    write_folder(path, kind="x", arrays={"a": {"x": np.arange(3)}}, texts={"t.txt": b"text"})
    return path


def test_what_is_forged_well_is_read(folder: Path) -> None:
    change_manifest(
        folder, n=2**63 - 1, report={"perplexity": float("inf")}, parts=[{"figures": [float("nan")]}]
    )
    assert open_folder(folder, kind="x").manifest["n"] == 2**63 - 1


def _nested(depth: int) -> list[Any]:
    found: list[Any] = []
    for _ in range(depth):
        found = [found]
    return found


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"deep": _nested(80)}, "nested more than 64 levels"),
        ({"n": 2**64}, "number that is too large"),
        ({"n": {"m": [10**400]}}, "number that is too large"),
        ({"n": -(2**70)}, "number that is too large"),
        ({"n": float("inf")}, "not finite"),
        ({"parts": [{"n": float("nan")}]}, "not finite"),
        ({"files": ["t.txt"]}, "its files are not names"),
        ({"files": {"t.txt": 3}}, "its files are not names"),
        ({"files": None}, "its files are not names"),
        ({"files": ...}, "its files are not names"),
        ({"files": {"../folder/t.txt": "0"}}, "is not a name of a file"),
        ({"files": {"/etc/passwd": "0"}}, "is not a name of a file"),
        ({"files": {"": "0"}}, "is not a name of a file"),
        ({"files": {"a\x1b[2J": "0"}}, "is not a name of a file"),
        ({"files": {"a\0": "0"}}, "is not a name of a file"),
        ({"files": {"\ud800": "0"}}, "is not a name of a file"),
        ({"files": {"a" * 300: "0"}}, "is not a name of a file"),
        ({"files": {"manifest.json": "0"}}, "is not a name of a file"),
        ({"kind": 3}, "its kind is not a name"),
        ({"kind": "x\x1b[2J"}, "its kind is not a name"),
        ({"kind": ...}, "its kind is not a name"),
        ({"format_version": "1"}, "its format version"),
        ({"format_version": True}, "its format version"),
        ({"format_version": ...}, "its format version"),
        ({"format_version": 10**60}, r"format version 1000000000.{,60}, this stategram reads 1"),
    ],
)
def test_manifests_with_right_checksums(folder: Path, changes: dict[str, Any], message: str) -> None:
    change_manifest(folder, **changes)
    for verify in (True, False):
        with pytest.raises(BadDataError, match=message) as error:
            open_folder(folder, kind="x", verify=verify)
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 500
    assert folder_kind(folder) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        '"x"',
        "null",
        "{",
        "[" * 990,
        "[" * 990 + "]" * 990,
        "[" * 10**6,
        "{}" + " " * 2**24,
        '{"format_version": 1, "a": ' + "9" * 5000 + "}",
        '{"format_version": 1, "format_version": 1}',
        "\xff",
    ],
)
def test_manifests_that_are_none(folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text, encoding="latin-1")
    with pytest.raises(BadDataError, match=r"manifest\.json: damaged"):
        open_folder(folder, kind="x")


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    for manifest in ({"n": 2**63}, {"n": float("nan")}, {"n": _nested(80)}, {"n": "x" * 2**24}):
        with pytest.raises(UsageError, match="cannot be written: its manifest"):
            write_folder(tmp_path / "new", kind="x", manifest=manifest)
    with pytest.raises(UsageError, match="is not a name of a file"):
        write_folder(tmp_path / "new", kind="x", texts={"../outside": b""})
    assert not list(tmp_path.iterdir())


def _header(**changes: Any) -> bytes:
    return json.dumps({"x": {"dtype": "I64", "shape": [3], "data_offsets": [0, 24], **changes}}).encode()


@pytest.mark.parametrize(
    "header",
    [
        b"",
        b"[]",
        b"3",
        b"[" * 990 + b"]" * 990,
        b"[" * 100_000,
        b'{"x": ' + b"[" * 990 + b"]" * 990 + b"}",
        b'{"x": 3}',
        b'{"x": {}}',
        b'{"x": {}, "x": {}}',
        b'{"__metadata__": {}, "x": [1, 2]}',
        b" " * 2**21,
        _header(shape=[2**64]),
        _header(shape=[10**400]),
        _header(shape=[0, 2**64], data_offsets=[0, 0]),
        _header(shape=[2**47] * 1000),
        _header(shape=[1] * 65 + [3]),
        _header(shape=[-3, -1]),
        _header(shape=[3.0]),
        _header(shape=[float("inf")]),
        _header(shape=[True, 3]),
        _header(shape="3"),
        _header(shape={"3": 3}),
        _header(shape=None),
        _header(data_offsets=[0, 2**64]),
        _header(data_offsets=[-24, 0]),
        _header(data_offsets=[8, 32]),
        _header(data_offsets=[0.0, 24.0]),
        _header(data_offsets=[0]),
        _header(data_offsets=24),
        _header(dtype="I64", data_offsets=[1, 9], shape=[1]),
        _header(dtype="F128"),
        _header(dtype=["I64"]),
        _header(dtype=None),
    ],
)
@pytest.mark.parametrize("mmap", [True, False])
def test_headers_of_arrays(folder: Path, header: bytes, mmap: bool) -> None:
    header += b" " * (-len(header) % 8)
    data = len(header).to_bytes(8, "little") + header + np.arange(3).tobytes()
    (folder / "a.safetensors").write_bytes(data)
    with pytest.raises(BadDataError, match=r"a\.safetensors: not a complete safetensors file"):
        open_folder(folder, kind="x", verify=False).arrays("a", mmap=mmap)


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**40, 10**6])
def test_lengths_of_headers(folder: Path, length: int) -> None:
    (folder / "a.safetensors").write_bytes(length.to_bytes(8, "little") + b"{}" * 100)
    with pytest.raises(BadDataError, match="its header is cut off"):
        open_folder(folder, kind="x", verify=False).arrays("a")


def _link_to_copy(file: Path) -> None:
    outside = file.parent.parent / "outside"
    file.rename(outside)
    file.symlink_to(outside)


def _link_inside(file: Path) -> None:
    file.rename(file.with_name("other"))
    file.symlink_to("other")


def _link_to(target: str) -> Callable[[Path], None]:
    def replace(file: Path) -> None:
        file.unlink()
        file.symlink_to(target)

    return replace


def _pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def _socket(file: Path) -> None:
    file.unlink()
    here = Path.cwd()
    os.chdir(file.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(file.name)
    finally:
        os.chdir(here)


@ON_POSIX
@pytest.mark.parametrize("name", ["manifest.json", "t.txt", "a.safetensors"])
@pytest.mark.parametrize(
    "replace",
    [_link_to_copy, _link_inside, _link_to("/dev/zero"), _link_to("nothing"), _pipe, _folder, _socket],
)
def test_only_files_are_read(folder: Path, name: str, replace: Callable[[Path], None]) -> None:
    replace(folder / name)
    for verify in (True, False):
        with pytest.raises(BadDataError, match=rf"{name}: a .*, not a file of this folder"):
            open_folder(folder, kind="x", verify=verify)


@ON_POSIX
def test_a_link_to_a_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert open_folder(tmp_path / "link", kind="x").text("t.txt") == b"text"


def test_what_is_no_folder(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match="folder-2: no such folder; expected a x folder of stategram"):
        open_folder(tmp_path / "folder-2", kind="x")
    with pytest.raises(BadDataError, match="a file; expected a folder of stategram"):
        open_folder(folder / "t.txt", kind=None)
