"""Counts made by workers, real processes, against those of one process."""

from __future__ import annotations

import gzip
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from command_line import run
from counted_texts import files_of, make_story
from packed import COMPRESSORS
from stategram import StategramError, count_text, open_cluster, open_counts
from stategram.resources import Executor, use_resources

pytest.importorskip("distributed", reason="Dask runs the tasks")
pytestmark = [
    # Of Dask, when processes are killed; what goes wrong shows in the results.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::RuntimeWarning", "ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_story(tmp_path_factory.mktemp("story"))


KINDS: dict[str, Callable[[bytes], bytes]] = {"txt": bytes, "gz": gzip.compress, "zst": COMPRESSORS["zstd"]}
SIZES = (5000, 20_000, 10**6)


CASES = [(order, kind, SIZES[order % 3]) for order in range(1, 6) for kind in KINDS]
CASES += [(order, "txt", size) for order in range(1, 6) for size in SIZES if size != SIZES[order % 3]]


def assert_that_workers_change_nothing(
    story: Path, place: Path, workers: Executor, cases: list[tuple[int, str, int]]
) -> None:
    texts = {kind: place / f"story.{kind}" for kind in KINDS}
    for kind, text in texts.items():
        text.write_bytes(KINDS[kind](story.read_bytes()))
    for order, kind, size in cases:
        found, expected = (place / f"{name}-{order}-{kind}-{size}" for name in ("found", "expected"))
        with use_resources(executor=workers):
            count_text(texts[kind], found, order, shard_size=size)
        _count_here(texts[kind], str(expected), order, size)
        # What is trained from counts is in tests/counts.
        assert files_of(found) == files_of(expected)


def test_workers_change_nothing(story: Path, tmp_path: Path, local: Executor) -> None:
    """Each order, kind of file and size of shards."""
    cases = [(1, "gz", 20_000), (2, "txt", 10**6), (3, "zst", 5000), (4, "txt", 20_000), (5, "gz", 10**6)]
    assert_that_workers_change_nothing(story, tmp_path, local, cases)


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2, 4])
def test_numbers_of_workers_change_nothing(story: Path, tmp_path: Path, workers: int) -> None:
    """Orders 1 to 5 with each kind of file, and with each size of shards."""
    with open_cluster(f"local:{workers}") as cluster:
        assert_that_workers_change_nothing(story, tmp_path, cluster, CASES)


def _count_here(story: Path, place: str, order: int, size: int) -> None:
    """Count in this process, whatever cluster is open."""
    thread = threading.Thread(target=lambda: count_text(story, place, order, shard_size=size))
    thread.start()  # a thread has resources of its own
    thread.join()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_worker_changes_nothing(story: Path, tmp_path: Path) -> None:
    _count_here(story, str(tmp_path / "expected"), 4, 1000)
    killed: list[int] = []

    def kill(client: Any) -> None:
        """Kill a worker that has a task."""
        processes = client.run(os.getpid)
        deadline = time.monotonic() + 600
        while not killed and time.monotonic() < deadline:
            busy = [worker for worker, tasks in client.processing().items() if tasks]
            if busy:
                killed.append(processes[busy[0]])
                os.kill(killed[0], signal.SIGKILL)

    with open_cluster("local:2") as executor:
        thread = threading.Thread(target=kill, args=[executor._client])  # type: ignore[attr-defined]
        thread.start()
        count_text(story, str(tmp_path / "found"), 4, shard_size=1000)
        thread.join()
    assert killed
    assert files_of(tmp_path / "found") == files_of(tmp_path / "expected")


def test_errors_of_tasks_are_those_of_one_process(story: Path, tmp_path: Path, local: Executor) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(story.read_bytes()[:60_000] + b"\xff\n")
    line = bad.read_bytes().count(b"\n")
    with use_resources(executor=local), pytest.raises(StategramError, match=rf"bad\.txt:{line}: byte 0xff"):
        count_text([story, bad], str(tmp_path / "counts"), 2, shard_size=5000)


def test_stdin_and_pipes_are_refused_on_workers(
    story: Path, tmp_path: Path, local: Executor, capfd: pytest.CaptureFixture[str]
) -> None:
    with use_resources(executor=local):
        code, _, err = run("count", story, "-", "-o", tmp_path / "c", capfd=capfd)
    assert (code, "workers cannot read <stdin>" in err) == (2, True)


def test_relative_names_are_those_of_the_driver(
    story: Path, tmp_path: Path, local: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_bytes(story.read_bytes() + "a\u00a0b\n".encode())
    monkeypatch.chdir(tmp_path)  # workers are elsewhere
    with use_resources(executor=local, tmp="."):
        count_text("text", "found", 2, shard_size=20_000)
    _count_here(Path("text"), "expected", 2, 20_000)
    assert files_of("found") == files_of("expected")
    assert [one.name for one in open_counts("found").manifest.inputs] == ["text"]
