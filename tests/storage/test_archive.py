"""Archives: there whole or not at all, refused when damaged, read by others."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open

from stategram.errors import BadDataError, StategramError
from stategram.storage import archive_size, is_archive, lock, open_archive, write_archive


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    write_archive(
        path,
        kind="text",
        arrays={"text": {"ids": np.arange(9, dtype=np.uint32), "starts": np.array([0, 4, 9])}},
        texts={"words": "the é\n".encode()},
        manifest={"lines": 2},
    )
    return path


ARRAYS: dict[str, NDArray[Any]] = {
    **{
        str(np.dtype(kind)): np.arange(6, dtype=kind).reshape(2, 3)
        for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")
    },
    "empty": np.empty((0, 3), np.float32),
    "strided": np.arange(10)[::3],
    "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
    "bool": np.array([True, False]),
    "big-endian": np.arange(3, dtype=">i4"),
}


def test_every_kind_of_array(tmp_path: Path) -> None:
    write_archive(tmp_path / "f", kind="x", arrays={"a": ARRAYS})
    loaded = open_archive(tmp_path / "f", kind="x").arrays("a")
    assert loaded.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert loaded[name].dtype == array.dtype.newbyteorder("<")
        np.testing.assert_array_equal(loaded[name], array)
        assert loaded[name].flags.aligned
        assert not (array.size and loaded[name].flags.writeable)  # it is mapped


def test_others_can_read_it(tmp_path: Path) -> None:
    """The library of the format finds arrays, manifest and texts."""
    write_archive(
        tmp_path / "f", kind="x", arrays={"a": ARRAYS}, texts={"t": b"text"}, manifest={"n": [1, "é\n"]}
    )
    with safe_open(tmp_path / "f", "np") as opened:
        assert json.loads(opened.metadata()["manifest"])["n"] == [1, "é\n"]
        assert set(opened.keys()) == {*(f"a/{name}" for name in ARRAYS), "t"}
        assert opened.get_tensor("t").tobytes() == b"text"
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(opened.get_tensor(f"a/{name}"), array)


def test_the_size_is_known_before(tmp_path: Path) -> None:
    content: dict[str, Any] = {
        "arrays": {"a": ARRAYS},
        "texts": {"t": b"text"},
        "manifest": {"n": [1, "é\n"]},
    }
    write_archive(tmp_path / "f", kind="x", **content)
    assert archive_size(kind="x", **content) == (tmp_path / "f").stat().st_size


def test_groups_texts_and_parts(tmp_path: Path) -> None:
    arrays = {name: {"x": np.arange(n)} for n, name in enumerate(("a", "ab", "0/a", "0/1/a", "10/a"))}
    parts = [{"n": 0, "parts": [{}, {"n": 1}]}, {}]
    write_archive(tmp_path / "f", kind="x", arrays=arrays, texts={"0/t": b"t"}, manifest={"parts": parts})
    opened = open_archive(tmp_path / "f", kind="x")
    first = opened.parts()[0]
    inner = first.parts()[1]
    assert [len(of.arrays("a")["x"]) for of in (opened, first, inner)] == [0, 2, 3]
    assert (first.manifest["n"], inner.manifest["n"], first.text("t")) == (0, 1, b"t")
    assert [opened.has("a"), opened.has("b"), opened.has("t"), first.has("t"), inner.has("a")] == [
        True, False, False, True, True,
    ]  # fmt: skip
    assert (opened.bytes, first.bytes, inner.bytes) == ((tmp_path / "f").stat().st_size, 41, 24)
    with pytest.raises(BadDataError, match="it has no array '0/other'"):
        first.text("other")
    assert opened.parts()[1].arrays("a") == {}


def test_any_flipped_bit_is_refused(file: Path) -> None:
    data = file.read_bytes()
    header = 8 + int.from_bytes(data[:8], "little")
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1 << at % 8
        file.write_bytes(damaged)
        with pytest.raises(BadDataError, match=r"damaged|not a text of stategram"):
            open_archive(file, kind="text")
        if at < header:
            assert is_archive(file) == (at < 8 or damaged[8:35] == data[8:35])


def test_a_flipped_bit_of_an_array_is_refused_with_its_name(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(BadDataError, match=r"file: damaged, the SHA-256 of its array words does not"):
        open_archive(file, kind="text")


def test_any_cut_is_refused_even_unverified(file: Path) -> None:
    data = file.read_bytes()
    for length in range(len(data)):
        file.write_bytes(data[:length])
        with pytest.raises(BadDataError, match=r"damaged|not a text of stategram"):
            open_archive(file, kind="text", verify=False)
    file.write_bytes(data + b"\0")
    with pytest.raises(BadDataError, match="damaged, it is longer than its arrays"):
        open_archive(file, kind="text", verify=False)


def test_kind_and_version(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadDataError, match="a text, expected a model of stategram"):
        open_archive(file, kind="model")
    monkeypatch.setattr("stategram.storage.manifest.FORMAT_VERSION", 99)
    with pytest.raises(BadDataError, match="format version 1, this stategram reads 99"):
        open_archive(file, kind="text")


def peak_rss(program: str, *arguments: object) -> int:
    """Return the peak of the memory of a program in bytes, without pages mapped from files."""
    text = f"{program}\nprint(open('/proc/self/status').read())"
    ended = subprocess.run(
        [sys.executable, "-c", text, *map(str, arguments)], capture_output=True, text=True, check=True
    )
    (line,) = (line for line in ended.stdout.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) << 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux only")
def test_memory_of_writing_and_opening_is_bounded(tmp_path: Path) -> None:
    start = "import sys\nimport numpy as np\nfrom stategram.storage import open_archive, write_archive\n"
    write_archive(tmp_path / "large", kind="x", arrays={"a": {"x": np.zeros(2**25)}})  # 268 MB
    opened = start + "opened = open_archive(sys.argv[1], kind='x')"
    copied = opened + "\nwrite_archive(sys.argv[2], kind='x', arrays={'a': opened.arrays('a')})"
    least = peak_rss(start)
    for program in (opened, copied):
        assert peak_rss(program, tmp_path / "large", tmp_path / "copy") - least < 2**27
    assert (tmp_path / "copy").stat().st_size == (tmp_path / "large").stat().st_size


_HOLD = """
import sys
from pathlib import Path
from stategram.storage import lock
with lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_lock_is_held_by_one_process_until_it_ends(tmp_path: Path) -> None:
    place = tmp_path / "lock"
    with subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"held"
        with pytest.raises(StategramError, match="another process is at work in"), lock(place):
            pass
        process.kill()
    with lock(place), pytest.raises(StategramError, match="wait until it ends"), lock(place):
        pass
    with lock(place):
        pass
    with pytest.raises(StategramError, match="cannot write"), lock(tmp_path / "none" / "lock"):
        pass
