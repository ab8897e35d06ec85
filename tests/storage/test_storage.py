"""Folders: there whole or not at all, refused when damaged."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load_file

from stategram.errors import BadDataError, StategramError
from stategram.storage import (
    holds_only_our_files,
    lock,
    open_folder,
    temporary_files,
    write_folder,
)
from stategram.text import Corpus, corpus_from_sentences


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "folder"
    corpus_from_sentences(["the cat", "the é dog"], vocabulary_size=2).save(path)
    return path


@pytest.mark.parametrize("mmap", [True, False])
def test_corpus_roundtrip(folder: Path, mmap: bool) -> None:
    corpus = corpus_from_sentences(["the cat", "the é dog"], vocabulary_size=2)
    loaded = Corpus.load(folder, mmap=mmap)
    assert loaded.ids.tolist() == corpus.ids.tolist()
    assert loaded.sentence_starts.tolist() == corpus.sentence_starts.tolist()
    assert loaded.ids.dtype == np.uint32
    assert loaded.sentence_starts.dtype == np.int64
    assert loaded.vocabulary == corpus.vocabulary
    assert loaded.vocabulary.counts.tolist() == corpus.vocabulary.counts.tolist()
    assert loaded.stats == corpus.stats
    assert not loaded.ids.flags.writeable


def test_every_kind_of_array(tmp_path: Path) -> None:
    arrays = {
        str(np.dtype(kind)): np.arange(6, dtype=kind).reshape(2, 3)
        for kind in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")
    }
    arrays["empty"] = np.empty((0, 3), np.float32)
    arrays["strided"] = np.arange(10)[::3]
    arrays["bool"] = np.array([True, False])
    write_folder(tmp_path / "f", kind="x", arrays={"a": arrays})
    loaded = open_folder(tmp_path / "f", kind="x").arrays("a")
    assert loaded.keys() == arrays.keys()
    for name, array in arrays.items():
        assert loaded[name].dtype == array.dtype
        np.testing.assert_array_equal(loaded[name], array)


def test_nothing_else_is_left_behind(folder: Path) -> None:
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]
    names = {"manifest.json", "corpus.safetensors", "vocabulary.txt"}
    assert {path.name for path in folder.iterdir()} == names
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["files"].keys() | {"manifest.json"} == names


def test_same_content_same_bytes(folder: Path, tmp_path: Path) -> None:
    corpus_from_sentences(["the cat", "the é dog"], vocabulary_size=2).save(tmp_path / "again")
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


@pytest.mark.parametrize("name", ["corpus.safetensors", "vocabulary.txt", "manifest.json"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "missing"])
def test_damage_is_refused_with_the_name(folder: Path, name: str, damage: str) -> None:
    file = folder / name
    data = bytearray(file.read_bytes())
    if damage == "missing":
        file.unlink()
    else:
        if damage == "cut":
            del data[len(data) // 2 :]
        else:
            data[0] ^= 1
        file.write_bytes(data)
    with pytest.raises(BadDataError, match=name.replace(".", r"\.")):
        Corpus.load(folder)


def test_any_flipped_bit_of_the_manifest_is_refused(folder: Path) -> None:
    file = folder / "manifest.json"
    data = file.read_bytes()
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1 << place % 8
        file.write_bytes(damaged)
        with pytest.raises(BadDataError, match=r"manifest\.json|missing"):
            Corpus.load(folder)


def test_others_can_read_the_arrays(tmp_path: Path) -> None:
    arrays: dict[str, NDArray[Any]] = {
        "words": np.arange(5, dtype=np.uint8),
        "rows": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        "none": np.empty((0, 2), np.int64),
        "big_endian": np.arange(3, dtype=">i4"),
    }
    write_folder(tmp_path / "folder", kind="example", arrays={"a": arrays})
    found = load_file(tmp_path / "folder" / "a.safetensors")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)


@pytest.mark.parametrize("keep", [0, 5, 20, -1])
def test_cut_arrays_are_refused_even_unverified(folder: Path, keep: int) -> None:
    file = folder / "corpus.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(BadDataError, match=r"corpus\.safetensors"):
        Corpus.load(folder, verify=False)


def test_kind_and_version(folder: Path) -> None:
    with pytest.raises(BadDataError, match="a corpus folder, expected a model folder"):
        open_folder(folder, kind="model")
    file = folder / "manifest.json"
    file.write_text(file.read_text().replace('"format_version": 1', '"format_version": 99'))
    with pytest.raises(BadDataError, match="format version 99"):
        Corpus.load(folder)


def test_replaced_but_nothing_foreign_overwritten(folder: Path) -> None:
    corpus_from_sentences(["new"]).save(folder)
    assert Corpus.load(folder).n_events == 2
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]
    foreign = folder.parent / "foreign"
    foreign.mkdir()
    (foreign / "thesis.tex").touch()
    with pytest.raises(StategramError, match="not a folder of stategram"):
        corpus_from_sentences(["new"]).save(foreign)
    assert (foreign / "thesis.tex").exists()


def test_folders_that_are_not_ours_are_left_alone(folder: Path) -> None:
    theirs = [folder.with_name("folder.partial"), folder.with_name("folder.replaced")]
    for other in theirs:
        other.mkdir()
        (other / "precious").touch()
    corpus_from_sentences(["new"]).save(folder)
    assert all((other / "precious").exists() for other in theirs)
    assert sorted(folder.parent.iterdir()) == sorted([folder, *theirs])


@pytest.mark.parametrize("fails", ["stategram.storage.folder.save_arrays", "pathlib.Path.rename"])
def test_a_failed_write_leaves_the_old_folder(
    folder: Path, fails: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed = Path.rename

    def save(*_: object) -> None:
        raise OSError("disk full")

    def rename(old: Path, new: Path) -> Path:
        if old.name.endswith(".partial"):
            raise OSError("disk full")
        return renamed(old, new)

    monkeypatch.setattr(fails, save if "save" in fails else rename)
    with pytest.raises(StategramError, match=r"cannot write the folder .*: disk full"):
        corpus_from_sentences(["new"]).save(folder)
    monkeypatch.undo()
    assert Corpus.load(folder).n_events > 0
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.skipif(sys.platform == "win32", reason="modes")
def test_all_files_can_be_read_by_whom_the_folder_can(folder: Path) -> None:
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {folder.stat().st_mode & 0o666}


def test_unwritable_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StategramError, match="there is no folder"):
        write_folder(tmp_path / "file" / "folder", kind="x")
    with pytest.raises(StategramError, match="there is no folder"):
        write_folder(tmp_path / "no" / "folder", kind="x")
    assert not (tmp_path / "no").exists()


def test_not_a_folder(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"no manifest\.json"):
        Corpus.load(tmp_path)


def test_a_file_the_manifest_does_not_name(folder: Path) -> None:
    with pytest.raises(BadDataError, match="names no file 'other'"):
        open_folder(folder, kind="corpus").text("other")


def test_only_names_of_ours_are_left_overs(folder: Path) -> None:
    for name in (
        "folder.partial",
        "folder.my.partial",
        "other.12.partial",
        "folder.12.partial.txt",
        "folder.12.partial",
    ):
        folder.with_name(name).mkdir()
    assert temporary_files(folder) == []


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


def test_a_folder_with_other_files_is_not_only_ours(folder: Path) -> None:
    (folder / "manifest.json").write_text("x")
    assert holds_only_our_files(folder)
    (folder / "notes.txt").touch()
    assert not holds_only_our_files(folder)
    assert not holds_only_our_files(folder / "vocabulary.txt")
    assert not holds_only_our_files(folder / "nothing")
