"""Files that somebody made to do harm: refused with a clear error, nothing else of theirs is read."""

from __future__ import annotations

import hashlib
import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile import HostileFile, forged, manifest_text
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage import archive_kind, is_archive, open_archive, write_archive

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links, pipes and devices")


@pytest.fixture
def file(tmp_path: Path) -> HostileFile:
    write_archive(tmp_path / "file", kind="x", arrays={"a": {"x": np.arange(3)}}, texts={"t": b"text"})
    return HostileFile(tmp_path / "file")


def test_what_is_forged_well_is_read(file: HostileFile) -> None:
    file.change(n=2**63 - 1, report={"perplexity": float("inf")}, parts=[{"figures": [float("nan")]}])
    assert open_archive(file.path, kind="x").manifest["n"] == 2**63 - 1
    file.write()
    assert open_archive(file.path, kind="x").text("t") == b"text"


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
        ({"arrays": ["t"]}, "its arrays are not names"),
        ({"arrays": {"t": 3}}, "its arrays are not names"),
        ({"arrays": None}, "its arrays are not names"),
        ({"arrays": ...}, "its arrays are not names"),
        ({"arrays": {"../t": "0"}}, "is not a valid name"),
        ({"arrays": {"/etc/passwd": "0"}}, "is not a valid name"),
        ({"arrays": {"": "0"}}, "is not a valid name"),
        ({"arrays": {"a\x1b[2J": "0"}}, "is not a valid name"),
        ({"arrays": {"a\0": "0"}}, "is not a valid name"),
        ({"arrays": {"\ud800": "0"}}, "is not a valid name"),
        ({"arrays": {"a" * 300: "0"}}, "is not a valid name"),
        ({"arrays": {"a/x": "0"}}, "its arrays are not those of its manifest"),
        ({"kind": 3}, "its kind is not a name"),
        ({"kind": "x\x1b[2J"}, "its kind is not a name"),
        ({"kind": ...}, "its kind is not a name"),
        ({"format_version": "1"}, "its format version"),
        ({"format_version": True}, "its format version"),
        ({"format_version": ...}, "its format version"),
        ({"format_version": 10**60}, r"format version 1000000000.{,60}, this stategram reads 1"),
    ],
)
def test_manifests_with_right_checksums(file: HostileFile, changes: dict[str, Any], message: str) -> None:
    file.change(**changes)
    for verify in (True, False):
        with pytest.raises(BadDataError, match=message) as error:
            open_archive(file.path, kind="x", verify=verify)
        assert str(error.value).isprintable()
        assert len(str(error.value)) < 500
    assert archive_kind(file.path) is None
    assert is_archive(file.path)


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
def test_manifests_that_are_none(file: HostileFile, text: str) -> None:
    file.path.write_bytes(forged(text, "", b""))
    with pytest.raises(BadDataError, match=r"file: damaged, (the checksum of )?its (manifest|header)"):
        open_archive(file.path, kind="x")


def test_what_could_not_be_read_is_not_written(tmp_path: Path) -> None:
    for manifest in ({"n": 2**63}, {"n": float("nan")}, {"n": _nested(80)}, {"n": "x" * 2**24}):
        with pytest.raises(UsageError, match="cannot be written: its manifest"):
            write_archive(tmp_path / "new", kind="x", manifest=manifest)
    with pytest.raises(UsageError, match="is not a valid name"):
        write_archive(tmp_path / "new", kind="x", texts={"../outside": b""})
    assert not list(tmp_path.iterdir())


def _entry(**changes: Any) -> bytes:
    return json.dumps({"dtype": "I64", "shape": [3], "data_offsets": [0, 24], **changes}).encode()


@pytest.mark.parametrize(
    "entry",
    [
        b"",
        b"[]",
        b"3",
        b"[" * 990 + b"]" * 990,
        b"[" * 100_000,
        b"{}",
        b'{}, "x": {}',
        _entry() + b', "a/x": ' + _entry(),
        _entry() + b', "a/y": ' + _entry(),
        _entry(shape=[2**64]),
        _entry(shape=[10**400]),
        _entry(shape=[0, 2**64], data_offsets=[0, 0]),
        _entry(shape=[2**47] * 1000),
        _entry(shape=[1] * 65 + [3]),
        _entry(shape=[-3, -1]),
        _entry(shape=[3.0]),
        _entry(shape=[float("inf")]),
        _entry(shape=[True, 3]),
        _entry(shape="3"),
        _entry(shape={"3": 3}),
        _entry(shape=None),
        _entry(data_offsets=[0, 2**64]),
        _entry(data_offsets=[-24, 0]),
        _entry(data_offsets=[8, 32]),
        _entry(data_offsets=[0.0, 24.0]),
        _entry(data_offsets=[0]),
        _entry(data_offsets=24),
        _entry(dtype="I64", data_offsets=[1, 9], shape=[1]),
        _entry(data_offsets=[0, 16], shape=[2]),
        _entry(dtype="F128"),
        _entry(dtype=["I64"]),
        _entry(dtype=None),
    ],
)
def test_entries_of_arrays(file: HostileFile, entry: bytes) -> None:
    data = np.arange(3).tobytes()
    digest = hashlib.sha256(data).hexdigest()
    manifest = manifest_text({**file.manifest, "arrays": {"a/x": digest}})
    file.path.write_bytes(forged(manifest, f',"a/x": {_entry().decode()}', data))
    assert open_archive(file.path, kind="x").arrays("a")["x"].tolist() == [0, 1, 2]
    file.path.write_bytes(forged(manifest, f',"a/x": {entry.decode()}', data))
    for verify in (True, False):
        with pytest.raises(BadDataError, match="file: damaged, it"):
            open_archive(file.path, kind="x", verify=verify)


@pytest.mark.parametrize("metadata", ["3", "{}", '{"sha256": 3}', '{"manifest": {}}'])
def test_safetensors_files_of_others_are_not_ours(tmp_path: Path, metadata: str) -> None:
    header = f'{{"__metadata__": {metadata}}}'.encode()
    (tmp_path / "theirs").write_bytes(len(header).to_bytes(8, "little") + header)
    assert is_archive(tmp_path / "theirs") is False
    with pytest.raises(BadDataError, match="theirs: not a x of stategram; check the name"):
        open_archive(tmp_path / "theirs", kind="x")


def test_files_without_data_are_not_ours(tmp_path: Path) -> None:
    for size in (0, 5, 20):
        (tmp_path / "short").write_bytes(b"\1" * size)
        assert is_archive(tmp_path / "short") is False
        with pytest.raises(BadDataError, match="short: not a x of stategram"):
            open_archive(tmp_path / "short", kind="x")


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**40, 2**26, 10**6, 20, 0])
def test_lengths_of_headers(file: HostileFile, length: int) -> None:
    file.path.write_bytes(length.to_bytes(8, "little") + file.path.read_bytes()[8:])
    with pytest.raises(BadDataError, match=r"file: damaged, (its|the SHA-256 of its) header"):
        open_archive(file.path, kind="x", verify=False)


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


@ON_POSIX
@pytest.mark.parametrize(
    "make",
    [os.mkfifo, _folder, _socket, lambda path: path.symlink_to("/dev/zero")],
    ids=["pipe", "folder", "socket", "device"],
)
def test_only_regular_files_are_read(tmp_path: Path, make: Callable[[Path], None]) -> None:
    path = tmp_path / "path"
    make(path)
    assert is_archive(path) is False
    with pytest.raises(StategramError, match=r"path: (a folder, a pipe or a device|No such device)"):
        open_archive(path, kind="x")
    if path.is_symlink():  # a failure would replace the device
        return
    with pytest.raises(StategramError, match=r"path: it is a folder|exists and is not a file of stategram"):
        write_archive(path, kind="x")


@ON_POSIX
def test_links_are_followed(file: HostileFile, tmp_path: Path) -> None:
    """The cache of a model hub: names are links to files that are named by their content."""
    (tmp_path / "snapshots").mkdir()
    (tmp_path / "snapshots" / "model").symlink_to("../file")
    assert open_archive(tmp_path / "snapshots" / "model", kind="x").text("t") == b"text"
    (tmp_path / "lost").symlink_to("nothing")
    with pytest.raises(BadDataError, match="lost: no such file; expected a x of stategram"):
        open_archive(tmp_path / "lost", kind="x")


def test_what_is_not_there(file: HostileFile, tmp_path: Path) -> None:
    for name in ("nothing", "file/model"):
        assert is_archive(tmp_path / name) is None
        with pytest.raises(BadDataError, match=f"{name}: no such file; expected a x of stategram"):
            open_archive(tmp_path / name, kind="x")
    with pytest.raises(BadDataError, match="file: a x, expected a model of stategram"):
        open_archive(file.path, kind="model")
