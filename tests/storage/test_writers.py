"""What every writer of files does: they appear whole or not at all, and nothing else is touched."""

from __future__ import annotations

import errno
import io
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from stategram.counts import count_ngrams
from stategram.errors import StategramError
from stategram.formats import write_arpa, write_best, write_classes, write_counts
from stategram.models import NgramModel
from stategram.storage import atomic_open, atomic_write, temporary_files, write_archive
from stategram.tables import Table
from stategram.text import corpus_from_sentences, read_all

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links, modes and pipes")
SUFFIXES = ("", ".gz", ".xz", ".bz2", ".zst")
SENTENCES = ["the cat", "the é dog"]


@cache
def _model() -> NgramModel:
    return NgramModel.train(SENTENCES, 2)


def _pieces(place: Any) -> None:
    with atomic_open(place) as file:
        for _ in range(1000):
            file.write(b"0123456789" * 10)


class Writer(NamedTuple):
    write: Callable[[Any], object]
    is_ours: bool = False
    """Only files of stategram are replaced, and none is packed."""
    streams: bool = True


WRITERS = {
    "bytes": Writer(lambda place: atomic_write(place, b"content")),
    "pieces": Writer(_pieces, streams=False),
    "archive": Writer(
        lambda place: write_archive(place, kind="x", arrays={"a": {"x": np.arange(9)}}), True, False
    ),
    "model": Writer(lambda place: _model().save(place), True, False),
    "arpa": Writer(lambda place: write_arpa(_model(), place)),
    "counts": Writer(lambda place: write_counts(count_ngrams(corpus_from_sentences(SENTENCES), 2), place)),
    "classes": Writer(lambda place: write_classes(["the", "cat"], [0, 1], [2, 1], place)),
    "best": Writer(lambda place: write_best({"u1": "the cat"}, place)),
    "table": Writer(lambda place: Table({"n": [1, 2], "word": ["a", "b"]}).write(place, "tsv")),
}


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> Writer:
    return WRITERS[request.param]


def only(folder: Path, *names: str) -> None:
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)


def test_a_file_is_replaced_and_nothing_is_left_beside_it(writer: Writer, tmp_path: Path) -> None:
    writer.write(tmp_path / "file")
    expected = (tmp_path / "file").read_bytes()
    writer.write(str(tmp_path / "file"))
    assert (tmp_path / "file").read_bytes() == expected != b""
    only(tmp_path, "file")
    assert temporary_files(tmp_path / "file") == []


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_files_are_packed_by_their_suffix(writer: Writer, tmp_path: Path, suffix: str) -> None:
    plain, packed = tmp_path / "file", tmp_path / f"file{suffix}"
    writer.write(plain)
    writer.write(packed)
    assert (packed.read_bytes() == plain.read_bytes()) == writer.is_ours
    if not writer.is_ours:
        assert read_all(str(packed)) == plain.read_bytes()
    only(tmp_path, plain.name, packed.name)


def test_streams_get_the_bytes_of_files(writer: Writer, tmp_path: Path) -> None:
    if not writer.streams:
        pytest.skip("it writes files only")
    writer.write(tmp_path / "file")
    stream = io.BytesIO()
    writer.write(stream)
    assert stream.getvalue() == (tmp_path / "file").read_bytes()
    assert not stream.closed


@pytest.mark.parametrize("fails", ["os.fsync", "pathlib.Path.replace"])
def test_a_failed_write_leaves_the_old_file(
    writer: Writer, tmp_path: Path, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def disk_full(*_: object, **__: object) -> Any:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "file"
    path.touch() if writer.is_ours else path.write_bytes(b"old")
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(fails, disk_full)
        with pytest.raises(StategramError, match=r"cannot write .*file: No space left on device; free some"):
            writer.write(path)
    assert path.read_bytes() == before
    only(tmp_path, "file")


@ON_POSIX
def test_links_are_followed_and_modes_are_kept(writer: Writer, tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.touch()
    target.chmod(0o640)
    link.symlink_to("target")
    writer.write(link)
    assert link.is_symlink()
    assert target.stat().st_size > 0
    assert target.stat().st_mode & 0o777 == 0o640
    only(tmp_path, "target", "link")


def test_places_where_nothing_can_be_written(writer: Writer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StategramError, match="it is a folder"):
        writer.write(tmp_path)
    for name in ("file/file", "no/file"):
        with pytest.raises(StategramError, match=r"there is no folder|Not a directory|permission denied"):
            writer.write(tmp_path / name)
    only(tmp_path, "file")


def test_files_of_others_are_left_alone(writer: Writer, tmp_path: Path) -> None:
    names = ("file.partial", "file.my.partial", "other.12.partial", "file.12.partial.txt", "file.12.partial")
    for name in names:
        (tmp_path / name).write_text("precious")
    writer.write(tmp_path / "file")
    assert all((tmp_path / name).read_text() == "precious" for name in names)
    only(tmp_path, "file", *names)
    if writer.is_ours:
        with pytest.raises(StategramError, match="exists and is not a file of stategram"):
            writer.write(tmp_path / names[0])
        assert (tmp_path / names[0]).read_text() == "precious"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux only")
def test_a_full_device_is_reported(writer: Writer) -> None:
    with pytest.raises(StategramError, match=r"/dev/full(: No space left on device; free| exists and is)"):
        writer.write("/dev/full")
