"""The store of finished steps: what is found again, what is computed again, what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage import (
    OtherVersionError,
    Store,
    check_store,
    content_key,
    input_files,
    is_fresh,
    is_store,
    lock,
    open_archive,
    write_archive,
)

RUN = content_key("a run")
KEY = content_key("a step")


def _open(folder: Path) -> Any:
    return Store.open(folder, RUN, kind="training")


def _save(place: Path, number: int) -> None:
    write_archive(place, kind="number", arrays={"a": {"n": np.array([number])}})


def _load(place: Path) -> int:
    return int(open_archive(place, kind="number").arrays("a", mmap=False)["n"][0])


def test_keys_depend_on_content_alone(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"text")
    (tmp_path / "two").write_bytes(b"text")
    same = [
        ({"b": [1, 2.5], "a": None}, {"a": None, "b": [1, 2.5]}),
        (np.arange(3), np.arange(6)[::2] // 2),
        (tmp_path / "one", tmp_path / "two"),
    ]
    for one, other in same:
        assert content_key(one) == content_key(other)
    (tmp_path / "two").write_bytes(b"TEXT")
    different: list[tuple[object, ...]] = [
        (),
        (1,),
        ("1",),
        (b"1",),
        ([1],),
        (1, 2),
        ([1, 2],),
        (np.arange(2),),
        (np.arange(1), np.arange(1)),
        (tmp_path / "one",),
        (tmp_path / "two",),
    ]
    assert len({content_key(*inputs) for inputs in different}) == len(different)


def test_finished_steps_are_found_again(tmp_path: Path) -> None:
    with _open(tmp_path / "run") as store:
        assert store.get("number", KEY, _load) is None
        _save(store.place("number", KEY), 7)
        store.put_json("figures", KEY, {"x": [1, 2]})
    with _open(tmp_path / "run") as store:
        assert store.get("number", KEY, _load) == 7
        assert store.get("number", content_key("another step"), _load) is None
        assert store.get("other", KEY, _load) is None
        assert store.get_json("figures", KEY) == {"x": [1, 2]}
        assert store.get_json("figures", RUN) is None
        store.remove("number", KEY)
        store.remove("number", KEY)
        assert store.get("number", KEY, _load) is None


def test_all_entries_of_a_name_can_be_removed(tmp_path: Path) -> None:
    with _open(tmp_path / "run") as store:
        for name in ("number", "number-more"):
            for key in (KEY, RUN):
                _save(store.place(name, key), 1)
        store.remove_all("number")
        names = [one.name.rpartition("-")[0] for one in store.path.glob("*.safetensors")]
        assert names == ["number-more", "number-more"]


def test_what_is_damaged_is_computed_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with _open(tmp_path / "run") as store:
        place = store.place("number", KEY)
        _save(place, 7)
        place.write_bytes(place.read_bytes()[:-1] + b"x")
        store.put_json("figures", KEY, 1)
        (json,) = store.path.glob("figures-*.json")
        json.write_text("{")
        assert store.get("number", KEY, _load) is None
        assert store.get_json("figures", KEY) is None
        assert not place.exists()
    assert [str(place) in caplog.messages[0], str(json) in caplog.messages[1]] == [True, True]
    assert all(record.levelname == "WARNING" for record in caplog.records)


def test_what_another_version_has_written_is_not_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _open(tmp_path / "run") as store:
        place = store.place("number", KEY)
        _save(place, 7)
        monkeypatch.setattr("stategram.storage.manifest.FORMAT_VERSION", 99)
        with pytest.raises(OtherVersionError, match="format version 1, this stategram reads 99"):
            store.get("number", KEY, _load)
        assert place.exists()


def test_a_killed_run_leaves_nothing_and_loses_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with _open(folder) as store:
        place = store.place("number", KEY)
        _save(place, 7)
    Path(f"{place}.0123456789abcdef.partial").write_text("half")
    (folder / "figures-1.json.0123456789abcdef.partial").write_text("{")
    (folder / "thesis.partial").write_text("years of work")
    with _open(folder) as store:
        assert store.get("number", KEY, _load) == 7
    assert {one.name for one in folder.iterdir()} == {place.name, "run.json", "run.lock", "thesis.partial"}


def test_a_store_belongs_to_one_run(tmp_path: Path) -> None:
    with _open(tmp_path / "run"):
        pass
    with (
        pytest.raises(UsageError, match="belongs to another training"),
        Store.open(tmp_path / "run", KEY, kind="training"),
    ):
        pass
    with (
        lock(tmp_path / "run" / "run.lock"),
        pytest.raises(StategramError, match="another process is at work"),
        _open(tmp_path / "run"),
    ):
        pass
    (tmp_path / "run" / "run.json").write_text("[]")
    with pytest.raises(BadDataError, match="damaged; remove the folder"), _open(tmp_path / "run"):
        pass


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    assert is_fresh(tmp_path / "new")
    (tmp_path / "run.lock").touch()
    (tmp_path / "run.json.0123456789abcdef.partial").touch()
    assert is_fresh(tmp_path)
    check_store(tmp_path, "training")
    (tmp_path / "thesis.tex").touch()
    assert not is_fresh(tmp_path)
    assert not is_store(tmp_path)
    with pytest.raises(UsageError, match="exists and is not a training; choose another folder"):
        check_store(tmp_path, "training")
    with pytest.raises(UsageError, match="is not a training"), _open(tmp_path):
        pass
    with pytest.raises(UsageError, match="is not a training"):
        check_store(tmp_path / "thesis.tex", "training")


def test_inputs_are_named_with_their_checksums(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"abc")
    reported: list[float] = []
    found = input_files(
        [("training", str(tmp_path / "text")), ("held-out", "-")],
        lambda fraction, _message: reported.append(fraction),
    )
    assert [(one.use, one.bytes) for one in found] == [("training", 3), ("held-out", None)]
    assert found[0].sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert found[1].sha256 is None
    assert reported == [1.0]
