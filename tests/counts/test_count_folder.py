"""Counts that are kept: what is trained from them, how they are continued, what is refused."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import run
from counted_texts import files_of, make_story
from naive import runs as naive
from packed import COMPRESSORS
from stategram import (
    BadDataError,
    NgramModel,
    StategramError,
    UsageError,
    WordClasses,
    count_text,
    open_counts,
    read_corpus,
    train_recipe,
)
from stategram.counts import (
    Counting,
    Reading,
    blobs,
    check_counts,
    count_folder,
    is_counts,
    sharded_text,
    shards,
    trie_numbers,
)
from stategram.counts.blobs import Blobs
from stategram.storage import manifest_bytes
from stategram.text import BEGIN, END, TextFormat, WordChoice


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_story(tmp_path_factory.mktemp("story"))


@pytest.fixture(scope="module")
def counts(story: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    place = str(tmp_path_factory.mktemp("counts") / "counts")
    count_text(story, place, 3, shard_size=20_000)
    return place


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("kind", ["txt", "gz", "zst"])
def test_a_model_of_counts_has_the_bytes_of_that_of_the_text(
    story: Path, tmp_path: Path, order: int, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / f"text.{kind}"
    compress: dict[str, Callable[[bytes], bytes]] = {
        "txt": bytes,
        "gz": gzip.compress,
        "zst": COMPRESSORS["zstd"],
    }
    text.write_bytes(compress[kind](story.read_bytes()))
    assert run("train", text, "-o", tmp_path / "model", "--order", order, capfd=capfd)[0] == 0
    for size in ("7k", "40k", "64M"):
        place = tmp_path / f"counts{size}"
        assert run("count", text, "-o", place, "--order", order, "--shard-size", size, capfd=capfd)[0] == 0
        assert run("train", place, "-o", tmp_path / size, capfd=capfd)[0] == 0
        assert (tmp_path / size).read_bytes() == (tmp_path / "model").read_bytes()


def test_a_lower_order_is_that_of_the_text(story: Path, counts: str) -> None:
    found, corpus = open_counts(counts), read_corpus(story)
    for order in (1, 2, 3):
        expected = NgramModel.train(corpus, order).score(corpus).log_probs
        assert np.array_equal(NgramModel.train(found, order).score(corpus).log_probs, expected)
    with pytest.raises(
        UsageError, match="up to 3 words were counted, not of 4; count the text with --order 4"
    ):
        NgramModel.train(found, 4)


def test_the_text_comes_back(story: Path, counts: str) -> None:
    found, corpus = open_counts(counts).corpus(), read_corpus(story)
    assert found.ids.tolist() == corpus.ids.tolist()
    assert found.sentence_starts.tolist() == corpus.sentence_starts.tolist()
    assert found.document_starts.tolist() == corpus.document_starts.tolist()
    assert found.stats == corpus.stats
    assert found.vocabulary.counts.tolist() == corpus.vocabulary.counts.tolist()


def test_classes_and_recipes_take_counts(story: Path, counts: str) -> None:
    corpus = read_corpus(story)
    assert WordClasses(9).fit(open_counts(counts)).as_dict() == WordClasses(9).fit(corpus).as_dict()
    heldout = ["w1 w2 w3", "w4 w1"]
    expected = train_recipe(corpus, heldout, "fast").score(corpus).log_probs
    assert np.array_equal(
        train_recipe(open_counts(counts), heldout, "fast").score(corpus).log_probs, expected
    )


def test_how_the_text_was_read_is_kept(
    story: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = tmp_path / "words"
    words.write_text("w1\nw7\nw3\n")
    given: list[list[object]] = [
        ["--vocab", 20, "--lowercase"],
        ["--vocab-file", words],
        ["--tokenize", "words", "--digits", "N"],
    ]
    for number, options in enumerate(given):
        model, counted, again = (tmp_path / f"{name}{number}" for name in ("model", "counts", "again"))
        assert run("train", story, "-o", model, *options, capfd=capfd)[0] == 0
        assert run("count", story, "-o", counted, "--order", 3, *options, capfd=capfd)[0] == 0
        assert run("train", counted, "-o", again, capfd=capfd)[0] == 0
        assert model.read_bytes() == again.read_bytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"case": "lower"}, r"Object contains unknown field `case` - at `\$\.text_format`"),
        ({"lowercase": "no"}, r"Expected `bool`, got `str` - at `\$\.text_format\.lowercase`"),
        ({"digits": "a b"}, r"digits is 'a b'; it must be one word, such as N - at `\$\.text_format`"),
    ],
)
def test_a_text_format_that_is_none_is_refused(
    counts: str, tmp_path: Path, change: dict[str, object], message: str
) -> None:
    place = shutil.copytree(counts, tmp_path / "counts")
    manifest = json.loads((place / "manifest.json").read_bytes())
    assert manifest["text_format"] == TextFormat().remembered
    manifest["text_format"] |= change
    data = manifest_bytes(manifest, "counts", manifest["files"], listed="files")
    (place / "manifest.json").write_bytes(data)
    with pytest.raises(BadDataError, match=rf"counts: not counts \({message}\); count again"):
        open_counts(place)


def test_counts_are_smaller_than_twice_the_text(story: Path, tmp_path: Path) -> None:
    count_text(story, str(tmp_path / "counts"), 5)
    assert sum(map(len, files_of(tmp_path / "counts").values())) < 2 * story.stat().st_size + 20_000


@pytest.mark.parametrize(
    "files", [9, *(pytest.param(files, marks=pytest.mark.slow) for files in (1, 3, 20, 40))]
)
def test_what_is_left_of_a_killed_run_is_continued(story: Path, tmp_path: Path, files: int) -> None:
    """Killed at whatever moment, the same command ends with the counts of an uninterrupted one."""
    expected = tmp_path / "expected"
    count_text(story, str(expected), 4, shard_size=3000)
    command = [sys.executable, "-m", "stategram", "count", str(story), "-o", "counts", "--order", "4"]
    command += ["--shard-size", "3000", "-q"]
    place = tmp_path / "run"
    place.mkdir()
    process = subprocess.Popen(command, cwd=place)
    while process.poll() is None and sum(1 for _ in place.glob("counts/*")) < files:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait()
    if not is_counts(str(place / "counts")):
        with pytest.raises(StategramError, match=r"not complete|there are no counts"):
            open_counts(str(place / "counts"))
    finished = subprocess.run(
        command if not is_counts(str(place / "counts")) else [*command, "--force"],
        cwd=place,
        check=False,
        capture_output=True,
    )
    assert finished.returncode == 0, finished.stderr
    assert files_of(place / "counts") == files_of(expected)


def test_finished_shards_are_not_read_again(story: Path, tmp_path: Path) -> None:
    place = tmp_path / "counts"
    text = tmp_path / "text"
    shutil.copy(story, text)
    count_text(text, str(place), 2, shard_size=3000)
    expected = files_of(place)
    # Only the manifest is missing: all n-grams are there, by their names.
    (place / "manifest.json").unlink()
    names = {name: (place / name).stat().st_mtime_ns for name in expected if name.endswith(".ngrams")}
    count_text(text, str(place), 2, shard_size=3000)
    assert files_of(place) == expected
    assert {name: (place / name).stat().st_mtime_ns for name in names} == names


class _Interrupted(Exception):
    pass


@pytest.mark.parametrize("after", [1, 5, 10, 15, 16, 25, 40, 45])
def test_what_is_finished_is_not_done_again(
    story: Path, tmp_path: Path, expected: dict[str, bytes], after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many blobs are written before the end, each is written once."""
    written: Counter[str] = Counter()
    place = str(tmp_path / "counts")
    put = Blobs.put

    def fail_later(self: Blobs, name: str, data: bytes) -> None:
        if len(written) == after and name not in written:
            raise _Interrupted
        written[name] += 1
        put(self, name, data)

    monkeypatch.setattr(Blobs, "put", fail_later)
    with pytest.raises(_Interrupted):
        count_text(story, place, 2, shard_size=5000)
    assert not is_counts(place)
    after = -1
    before = Counter(written)
    count_text(story, place, 2, shard_size=5000)
    unfinished = {name for name in before if name.endswith(".shard")} - _listed(tmp_path, before)
    assert {name for name, n in written.items() if n > 1} <= unfinished
    monkeypatch.undo()
    assert files_of(place) == expected


def _listed(place: Path, written: Counter[str]) -> set[str]:
    """Return the shards of the parts that were finished; those of a part under way are written again."""
    parts = {name.removesuffix(".part") for name in written if name.endswith(".part")}
    return {name for name in written if name.rpartition("-")[0] in parts}


@pytest.fixture(scope="module")
def expected(story: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of counts that were made without interruption."""
    place = tmp_path_factory.mktemp("expected") / "counts"
    count_text(story, place, 2, shard_size=5000)
    return files_of(place)


def _fail(*_: object, **__: object) -> bytes:
    raise _Interrupted


def _interrupted(story: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all work of a count behind, but the manifest."""
    with monkeypatch.context() as patch:
        patch.setattr(count_folder, "manifest_bytes", _fail)
        with pytest.raises(_Interrupted):
            count_text(story, str(place), 2, shard_size=5000)


@pytest.fixture(scope="module")
def work(story: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that a run left that was killed before it wrote the manifest."""
    place = tmp_path_factory.mktemp("work") / "counts"
    with pytest.MonkeyPatch.context() as patch:
        _interrupted(story, place, patch)
    return place


def _flip(file: Path, place: int = -50) -> None:
    """Change one bit of a file; by default of the data of its last piece."""
    data = bytearray(file.read_bytes())
    data[max(place, -len(data))] ^= 16
    file.write_bytes(data)


def _cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-3])


def _cut_piece(file: Path) -> None:
    """Cut off the last piece of a file, or all of it."""
    kept = Blobs(file.parent).kept(file.name)
    assert kept is not None
    file.write_bytes(file.read_bytes()[: kept[0][-2]])


def _extend(file: Path) -> None:
    file.write_bytes(file.read_bytes() + file.read_bytes())


@pytest.mark.parametrize("change", [Path.unlink, _flip, _cut, _cut_piece, _extend])
@pytest.mark.parametrize("suffix", ["part", "shard", "ids", "run", "ngrams", "text"])
def test_work_that_is_lost_or_damaged_is_done_again(
    story: Path,
    tmp_path: Path,
    expected: dict[str, bytes],
    work: Path,
    suffix: str,
    change: Callable[[Path], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    place = shutil.copytree(work, tmp_path / "counts")
    changed = sorted(place.glob(f"*.{suffix}"))
    assert changed
    for file in changed:
        change(file)
    count_text(story, place, 2, shard_size=5000)
    assert files_of(place) == expected
    noted = [f"damaged, made again: {file}" for file in changed] if change != Path.unlink else []
    assert sorted(one for one in caplog.messages if one.startswith("damaged")) == noted


def test_work_that_is_damaged_while_it_is_used_is_refused(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for suffix in ("shard", "ids", "run"):
        place = tmp_path / suffix
        put = Blobs.put

        def damage(self: Blobs, name: str, data: bytes, put: Any = put, suffix: str = suffix) -> None:
            put(self, name, data)
            if name.endswith(f".{suffix}"):
                _flip(Path(self.place, name))

        with monkeypatch.context() as patch:
            patch.setattr(Blobs, "put", damage)
            message = rf"{suffix}: damaged, its checksum does not match; remove it, and run the same command"
            with pytest.raises(BadDataError, match=message) as found:
                count_text(story, place, 2, shard_size=5000)
        Path(str(found.value).partition(": ")[0]).unlink()
        count_text(story, place, 2, shard_size=5000)
        check_counts(open_counts(place))


@pytest.mark.parametrize("suffix", ["ngrams", "text", "vocabulary", "counts", "json"])
def test_finished_counts_are_believed_only_as_they_were_written(
    story: Path, tmp_path: Path, expected: dict[str, bytes], suffix: str, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "counts"
    command = ("count", story, "-o", place, "--order", 2, "--shard-size", 5000)
    assert run(*command, capfd=capfd)[0] == 0
    assert files_of(place) == expected
    for change in (_flip, _cut, Path.unlink):
        file = min(place.glob(f"*.{suffix}"))
        change(file)
        if file.name == "manifest.json" and not file.exists():
            assert run(*command, capfd=capfd)[0] == 0
        else:
            code, _, err = run(*command, capfd=capfd)
            assert (code, "--force" in err) == (3, True), err
        assert run(*command, "--force", capfd=capfd)[0] == 0
        assert files_of(place) == expected


def test_force_believes_nothing(
    story: Path, tmp_path: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a text changed, but not its size and time, work of the old one has the right names and checksums."""
    text, place = tmp_path / "text", tmp_path / "counts"
    shutil.copy(story, text)
    was = text.stat()
    count_text(text, tmp_path / "before", 2, shard_size=5000)
    _interrupted(text, place, monkeypatch)
    text.write_bytes(story.read_bytes().replace(b"w1 w2", b"w2 w1"))
    os.utime(text, ns=(was.st_atime_ns, was.st_mtime_ns))
    arguments = Reading([str(text)], TextFormat(), WordChoice(), 5000), 2
    Counting(*arguments).run(str(place), replaces=True)
    assert open_counts(place).corpus().ids.tolist() == read_corpus(text).ids.tolist()
    check_counts(open_counts(place))
    Counting(*arguments).run(str(tmp_path / "before"), replaces=True)
    assert files_of(tmp_path / "before") == files_of(place)


def test_counts_that_are_replaced_stay_until_the_new_ones_are_complete(
    story: Path, counts: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "counts"
    shutil.copytree(counts, place)
    before = files_of(place)
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"a \xff\n")
    for options in ([story, "--document-mark", "["], [bad]):
        assert run("count", *options, "-o", place, "--force", capfd=capfd)[0] != 0
        check_counts(open_counts(str(place)))
        assert files_of(place).items() >= before.items()


def test_the_same_counts_are_not_made_again(
    story: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "counts"
    command = ["count", story, "-o", place, "--order", 2]
    assert run(*command, capfd=capfd)[0] == 0
    before = {file.name: file.stat().st_mtime_ns for file in place.iterdir()}
    code, _, err = run(*command, capfd=capfd)
    assert (code, "is complete already" in err) == (0, True)
    assert {file.name: file.stat().st_mtime_ns for file in place.iterdir()} == before
    assert count_text(story, str(place), 2).n_events == read_corpus(story).n_events
    for other in (["--order", 3], ["--lowercase"], ["--vocab", 9]):
        code, _, err = run(*command, *other, capfd=capfd)
        assert (code, "there are counts in" in err) == (1, True)
    code, _, err = run(*command, "--force", "--shard-size", 1, capfd=capfd)
    assert (code, "at least 1024 bytes" in err) == (2, True)


def test_many_small_files_are_few_shards(story: Path, tmp_path: Path) -> None:
    names = []
    for number, line in enumerate(story.read_text().splitlines(keepends=True)[:300]):
        names.append(str(tmp_path / f"{number:03}.txt"))
        Path(names[-1]).write_text(line)
    counted = count_text(names, tmp_path / "counts", 3, shard_size=2000)
    assert len(counted.shards) < 10
    assert open_counts(tmp_path / "counts").n_events == counted.n_events
    check_counts(counted)
    found, corpus = counted.corpus(), read_corpus(names)
    assert found.ids.tolist() == corpus.ids.tolist()
    assert found.document_starts.tolist() == corpus.document_starts.tolist()


@pytest.mark.parametrize("scheme", ["", "file://", "local://"])
def test_one_process_counts_in_a_folder(story: Path, tmp_path: Path, scheme: str) -> None:
    for other in (str(tmp_path / "counts"), f"file://{tmp_path}/counts"):
        with (
            Blobs(f"{scheme}{tmp_path}/counts").hold("a"),
            pytest.raises(StategramError, match="another process is counting in"),
        ):
            count_text(story, other, 2)
    count_text(story, str(tmp_path / "counts"), 2)


@pytest.mark.parametrize("place", ["memory://held", "folder"])
def test_one_run_counts_where_there_are_no_locks(
    story: Path, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "hold", lambda _: None)  # as in a folder of a network
    monkeypatch.chdir(tmp_path)
    here, get = Blobs(place), Blobs.get
    with here.hold("a"):
        (theirs,) = here.sizes()
        with here.hold("a"):  # the same command, twice at once: the first to end leaves the other's
            assert len(here.sizes()) == 2
        assert list(here.sizes()) == [theirs]
        with pytest.raises(StategramError, match="is counting something else"):
            count_text(story, place, 1)
        with monkeypatch.context() as patch:  # it ends just now
            patch.setattr(Blobs, "get", lambda self, name: self.remove(name) or get(self, name))
            with here.hold("b"):
                assert theirs not in here.sizes()
    assert here.sizes() == {}
    here.put(theirs, b"process 7 on other.example")  # of a run that was killed, or goes on
    message = (
        rf"^process 7 on other\.example is counting something else in .*; if it was .* remove .*{theirs}$"
    )
    with pytest.raises(StategramError, match=message):
        count_text(story, place, 1)
    assert list(here.sizes()) == [theirs]
    here.remove(theirs)
    count_text(story, place, 1)
    assert here.sizes().keys() == {*open_counts(place).manifest.files, "manifest.json"}


@pytest.mark.parametrize("place", ["memory://continued", "folder"])
def test_a_killed_run_is_continued_where_there_are_no_locks(
    story: Path, tmp_path: Path, expected: dict[str, bytes], place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blobs, "hold", lambda _: None)
    monkeypatch.chdir(tmp_path)
    here = Blobs(place)
    with monkeypatch.context() as patch:
        patch.setattr(Blobs, "remove", lambda *_: None)
        patch.setattr(count_folder, "manifest_bytes", _fail)
        with pytest.raises(_Interrupted):
            count_text(story, place, 2, shard_size=5000)
    (running,) = (name for name in here.sizes() if name.endswith(".running"))
    for _ in range(2):  # the second time they are complete
        count_text(story, place, 2, shard_size=5000)
        assert {name: here.get(name) for name in here.sizes() if name != running} == expected


def test_a_place_with_counts_is_named_without_secrets(story: Path) -> None:
    count_text(story, "memory://me:secret@counted", 1)
    with pytest.raises(StategramError, match="there are counts in memory://counted already"):
        count_text(story, "memory://me:secret@counted", 2)


def test_counts_that_another_run_took_away_are_not_complete(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be locked, a run may remove what it does not know."""
    place = tmp_path / "counts"
    for last in ("vocabulary", "json"):
        put = Blobs.put

        def remove_after(self: Blobs, name: str, data: bytes, put: Any = put, last: str = last) -> None:
            put(self, name, data)
            if name.endswith(f".{last}"):
                min(place.glob("*.ngrams")).unlink()

        with monkeypatch.context() as patch:
            patch.setattr(Blobs, "put", remove_after)
            with pytest.raises(BadDataError, match=r"ngrams is missing.*; count again with --force"):
                count_text(story, place, 1)
        assert is_counts(str(place)) == (last == "json")
    with pytest.raises(BadDataError, match=r"ngrams is missing.*; count again with --force"):
        count_text(story, place, 1)


def test_what_a_killed_run_left_goes_when_the_counts_are_complete(story: Path, tmp_path: Path) -> None:
    place = tmp_path / "counts"
    count_text(story, place, 2, shard_size=5000)
    complete = files_of(place)
    manifest = place / "manifest.json"
    hidden = manifest.rename(tmp_path / "hidden")
    kept = {name: data for name, data in complete.items() if name != "manifest.json"}
    with pytest.MonkeyPatch.context() as patch:
        _interrupted(story, place, patch)
    hidden.rename(manifest)  # as if the run was killed as soon as it had written that
    stale = [f"{min(kept)}.{'0' * 16}.partial", f"manifest.json.{'0' * 16}.partial"]
    for name in stale:
        (place / name).write_bytes(b"half")
    assert len(files_of(place)) > len(complete) + 2
    count_text(story, place, 2, shard_size=5000)
    assert files_of(place) == complete


def test_a_place_that_ends_with_the_process_is_refused(
    story: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("count", story, "-o", "memory://gone", capfd=capfd)
    assert (code, "memory:// is lost when the command ends" in err) == (2, True)


def test_the_last_shard_has_no_time_left(story: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    count_text(story, tmp_path / "c", 1, progress=lambda _, message: messages.append(message))
    assert "1 of 1 shards" in messages
    assert not any("left" in message for message in messages if "1 of 1" in message)


def test_a_file_that_changes_while_it_is_read_is_refused(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    shutil.copy(story, text)
    read_parts = shards.read_parts

    def cut_before(*arguments: Any) -> Iterator[Any]:
        yield from read_parts(*arguments)
        text.write_text("all else is gone\n")

    monkeypatch.setattr(sharded_text, "read_parts", cut_before)
    with pytest.raises(BadDataError, match=r"text\.txt: the file changed while it was read"):
        count_text(text, str(tmp_path / "counts"), 2, shard_size=5000)


def test_a_text_that_is_given_twice_counts_twice(story: Path, tmp_path: Path) -> None:
    count_text([story, story], str(tmp_path / "counts"), 2, shard_size=20_000)
    found, corpus = open_counts(str(tmp_path / "counts")), read_corpus([story, story])
    check_counts(found)
    assert found.corpus().ids.tolist() == corpus.ids.tolist()
    expected = NgramModel.train(corpus, 2).score(["w1 w2"]).log_probs
    assert np.array_equal(NgramModel.train(found, 2).score(["w1 w2"]).log_probs, expected)


def test_a_place_with_other_files_or_counts_is_refused(
    story: Path, counts: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.txt").write_text("a text of mine")
    code, _, err = run("count", story, "-o", tmp_path, capfd=capfd)
    assert (code, "not a file of stategram count" in err) == (1, True)
    for name in ("notes.text", "a.ngrams", "vocabulary.txt", "mine.run"):
        place = tmp_path / f"{name}.folder"
        place.mkdir()
        (place / name).write_text("mine")
        code, _, err = run("count", story, "-o", place, capfd=capfd)
        assert (code, "not a file of stategram count" in err) == (1, True)
        assert (place / name).read_text() == "mine"
    code, _, err = run("count", story, "-o", story, capfd=capfd)
    assert (code, "is a file; name a folder" in err) == (2, True)
    code, _, err = run("count", story, "-o", counts, "--order", 4, capfd=capfd)
    assert (code, "replace them (--force)" in err) == (1, True)
    again = tmp_path / "again"
    shutil.copytree(counts, again)
    assert run("count", story, "-o", again, "--force", "--order", 2, capfd=capfd)[0] == 0
    assert open_counts(str(again)).order == 2


def test_options_of_the_text_are_refused_with_counts(
    story: Path, counts: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("train", counts, "-o", tmp_path / "m", "--lowercase", capfd=capfd)
    assert (code, "was counted already" in err) == (2, True)
    code, _, err = run("train", counts, story, "-o", tmp_path / "m", capfd=capfd)
    assert (code, "counts are given alone" in err) == (2, True)
    (tmp_path / "empty").mkdir()
    code, _, err = run("train", tmp_path / "empty", "-o", tmp_path / "m", capfd=capfd)
    assert (code, "there are no counts" in err) == (1, True)


def test_damage_is_named(counts: str, tmp_path: Path) -> None:
    for name in sorted(file.name for file in Path(counts).iterdir()):
        place = tmp_path / name
        shutil.copytree(counts, place)
        data = bytearray((place / name).read_bytes())
        data[len(data) // 2] ^= 1
        (place / name).write_bytes(data)
        with pytest.raises(BadDataError, match=r"damaged|not counts"):
            _read_everything(str(place))
        (place / name).unlink()
        with pytest.raises(StategramError, match=r"missing|no counts"):
            _read_everything(str(place))


def _read_everything(place: str) -> None:
    found = open_counts(place)
    NgramModel.train(found, 3)
    found.corpus()


def test_counts_are_verified_and_described(
    story: Path, counts: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run("info", counts, "--verify", capfd=capfd)
    assert (code, out.count("OK")) == (0, 2)
    assert f"{len(files_of(counts)) - 1} checksums" in out
    assert "events 2" in run("info", counts, capfd=capfd)[1]
    found = open_counts(counts)
    check_counts(found)
    word_counts = found.word_counts.copy()
    word_counts[5] += 1
    with pytest.raises(BadDataError, match="n-grams are not those of the word counts"):
        check_counts(replace(found, word_counts=word_counts))
    with pytest.raises(BadDataError, match="text is not that of the word counts"):
        check_counts(replace(found, shards=found.shards[1:]))
    (tmp_path / "none").mkdir()
    assert run("info", tmp_path / "none", "--verify", capfd=capfd)[0] != 0


def test_what_cannot_be_trained_from_is_not_verified(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, place = tmp_path / "text", tmp_path / "counts"
    text.write_text("a b c\n")
    counted = count_text(text, place, 3)
    a, b, c = (counted.vocabulary.id(word) for word in "abc")
    keys = Counter([(BEGIN, a, b), (a, b, c), (b, END), (c, END), (END,)])  # b c is missing
    (ngrams,) = (name for name in counted.manifest.files if name.endswith(".ngrams"))
    numbers = trie_numbers(len(counted.vocabulary)).tolist()
    bounds, sha256 = Blobs(place).write(ngrams, naive.run(keys, numbers))
    manifest = json.loads((place / "manifest.json").read_bytes())
    manifest["files"][ngrams] = sha256
    manifest["runs"]["parts"] = [[[ngrams, 0, bounds[-1]]]]
    (place / "manifest.json").write_bytes(
        manifest_bytes(manifest, "counts", manifest["files"], listed="files")
    )
    message = "the counts are damaged: an n-gram lacks its suffix; count again with --force"
    with pytest.raises(BadDataError, match=message):
        NgramModel.train(open_counts(place), 3)
    code, _, err = run("info", place, "--verify", "--memory", "1G", capfd=capfd)
    assert (code, message in err) == (3, True)


def test_an_empty_text_and_a_missing_file_are_errors(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").touch()
    code, _, err = run("count", tmp_path / "empty", "-o", tmp_path / "counts", capfd=capfd)
    assert (code, "no words in" in err) == (3, True)
    assert not is_counts(str(tmp_path / "counts"))
    code, _, err = run("count", tmp_path / "none", "-o", tmp_path / "counts", capfd=capfd)
    assert (code, "no such file" in err) == (1, True)
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"a b c\n" * 1000)[:30])
    code, _, err = run("count", cut, "-o", tmp_path / "counts", capfd=capfd)
    assert (code, "cut.gz: the gzip data is truncated" in err) == (3, True)


def test_counts_at_a_url_on_the_command_line(
    story: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    place = (tmp_path / "counts").as_uri()
    assert run("count", story, "-o", place, "--order", 2, capfd=capfd)[0] == 0
    assert run("train", place, "-o", tmp_path / "of-url", capfd=capfd)[0] == 0
    assert run("train", story, "-o", tmp_path / "of-text", "--order", 2, capfd=capfd)[0] == 0
    assert (tmp_path / "of-url").read_bytes() == (tmp_path / "of-text").read_bytes()
    assert run("info", place, "--verify", capfd=capfd)[0] == 0
