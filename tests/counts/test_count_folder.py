"""Counts that are kept: what is trained from them, how they are continued, what is refused."""

from __future__ import annotations

import gzip
import json
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
from stategram.counts import check_counts, count_folder, is_counts, sharded_text, shards
from stategram.counts.blobs import Blobs
from stategram.counts.count_folder import place_of_counts
from stategram.storage import manifest_bytes
from stategram.text import TextFormat


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
    write = Blobs.write

    def fail_later(self: Blobs, name: str, data: bytes) -> None:
        if len(written) == after and name not in written:
            raise _Interrupted
        written[name] += 1
        write(self, name, data)

    monkeypatch.setattr(Blobs, "write", fail_later)
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


def _interrupted(story: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave all work of a count behind, but the manifest."""

    def fail(*arguments: object, **options: object) -> bytes:
        raise _Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(count_folder, "manifest_bytes", fail)
        with pytest.raises(_Interrupted):
            count_text(story, str(place), 2, shard_size=5000)


@pytest.mark.parametrize("suffix", [".shard", ".part"])
def test_lost_and_cut_work_is_done_again(
    story: Path, tmp_path: Path, expected: dict[str, bytes], suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for change in ("remove", "cut"):
        place = tmp_path / change
        _interrupted(story, place, monkeypatch)
        for file in [file for file in place.iterdir() if file.name.endswith(suffix)]:
            if change == "remove":
                file.unlink()
            else:
                file.write_bytes(file.read_bytes()[:-3])
        count_text(story, str(place), 2, shard_size=5000)
        assert files_of(place) == expected


@pytest.mark.parametrize("suffix", [".ids", ".run"])
def test_damaged_work_is_named(
    story: Path, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _interrupted(story, tmp_path / "counts", monkeypatch)
    for file in (tmp_path / "counts").iterdir():
        if file.name.endswith((".run", ".ngrams", ".text")) and suffix == ".ids":
            file.unlink()
        elif file.name.endswith((suffix, ".ngrams")):
            file.write_bytes(file.read_bytes()[:-3]) if file.name.endswith(suffix) else file.unlink()
    with pytest.raises(BadDataError, match=rf"{suffix}.*damaged.*count again|{suffix}: .*expected at least"):
        count_text(story, str(tmp_path / "counts"), 2, shard_size=5000)


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


def test_one_process_counts_in_a_place(story: Path, tmp_path: Path) -> None:
    with (
        place_of_counts(str(tmp_path / "counts")),
        pytest.raises(StategramError, match="another process is counting in"),
    ):
        count_text(story, str(tmp_path / "counts"), 2)
    count_text(story, str(tmp_path / "counts"), 2)


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
    code, _, err = run("count", story, "-o", "memory://cli/counts", capfd=capfd)
    assert (code, "would be gone when the command ends" in err) == (2, True)
