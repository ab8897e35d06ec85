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
from backports import zstd

from command_line import run
from counted_texts import files_of, make_story
from stategram import NgramModel, StategramError, count_text, open_cluster, open_counts, read_corpus

pytest.importorskip("distributed", reason="Dask runs the tasks")
pytestmark = [
    # Of Dask, when processes are killed; what goes wrong shows in the results.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::RuntimeWarning", "ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_story(tmp_path_factory.mktemp("story"))


KINDS: dict[str, Callable[[bytes], bytes]] = {"txt": bytes, "gz": gzip.compress, "zst": zstd.compress}
SIZES = (5000, 20_000, 10**6)


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_workers_change_nothing(story: Path, tmp_path: Path, workers: int) -> None:
    """Orders 1 to 5 with each kind of file, and with each size of shards."""
    texts = {kind: tmp_path / f"story.{kind}" for kind in KINDS}
    for kind, text in texts.items():
        text.write_bytes(KINDS[kind](story.read_bytes()))
    cases = [(order, kind, SIZES[order % 3]) for order in range(1, 6) for kind in KINDS]
    cases += [(order, "txt", size) for order in range(1, 6) for size in SIZES if size != SIZES[order % 3]]
    with open_cluster(f"local:{workers}"):
        for order, kind, size in cases:
            found, expected = (tmp_path / f"{name}-{order}-{kind}-{size}" for name in ("found", "expected"))
            count_text(texts[kind], found, order, shard_size=size)
            _count_here(texts[kind], str(expected), order, size)
            assert files_of(found) == files_of(expected)
            model, other = (tmp_path / f"{name}-{order}-{kind}-{size}" for name in ("model", "other"))
            NgramModel.train(open_counts(found), order).save(model)
            NgramModel.train(read_corpus(story), order).save(other)
            assert model.read_bytes() == other.read_bytes()


def _count_here(story: Path, place: str, order: int, size: int) -> None:
    """Count in this process, whatever cluster is open."""
    thread = threading.Thread(target=lambda: count_text(story, place, order, shard_size=size))
    thread.start()  # a thread has resources of its own
    thread.join()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_killed_worker_changes_nothing(story: Path, tmp_path: Path) -> None:
    _count_here(story, str(tmp_path / "expected"), 4, 1000)
    killed: list[int] = []

    def kill(client: Any) -> None:
        """Kill a worker that has a task."""
        processes = client.run(os.getpid)
        deadline = time.monotonic() + 30
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


def test_errors_of_tasks_are_those_of_one_process(story: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(story.read_bytes()[:60_000] + b"\xff\n")
    line = bad.read_bytes().count(b"\n")
    with open_cluster("local:1"), pytest.raises(StategramError, match=rf"bad\.txt:{line}: byte 0xff"):
        count_text([story, bad], str(tmp_path / "counts"), 2, shard_size=5000)


def test_stdin_and_pipes_are_refused_on_workers(
    story: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run("count", story, "-", "-o", tmp_path / "c", "--cluster", "local:1", capfd=capfd)
    assert (code, "workers cannot read <stdin>" in err) == (2, True)


def test_select_on_workers_writes_the_same(
    story: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    domain = tmp_path / "domain.txt"
    domain.write_text("".join(story.read_text().splitlines(keepends=True)[:300]))
    written = []
    for cluster in ([], ["--cluster", "local:2"]):
        place = tmp_path / f"chosen{len(cluster)}"
        options = ["--in-domain", domain, "--keep", "20%", "-o", place, *cluster]
        assert run("select", story, story, *options, capfd=capfd)[0] == 0
        written.append(place.read_bytes())
    assert written[0] == written[1]
    assert 0.1 < len(written[0]) / (2 * story.stat().st_size) < 0.3
