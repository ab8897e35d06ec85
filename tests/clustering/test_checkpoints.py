"""A clustering that was cut off and taken up again ends as if nothing had happened."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clustering_problems import (
    CRITERIA,
    SHORT_SEARCH,
    bytes_of,
    figures_of,
    run_with_checkpoints,
    short_search,
    text,
)
from hostile import HostileFile
from stategram import BadDataError, UsageError
from stategram.clustering import (
    Checkpoint,
    Clustering,
    cluster,
    cluster_tree,
)
from stategram.clustering.context_clustering import fingerprint
from stategram.resources import use_resources
from stategram.storage import open_archive


class PowerCut(Exception):
    pass


class Cut:
    """Raises when progress was reported so often."""

    def __init__(self, moment: int) -> None:
        self.left = moment

    def __call__(self, fraction: float, message: str) -> None:
        self.left -= 1
        if self.left < 0:
            raise PowerCut


def figures_of_levels(found: Clustering) -> list[tuple[Any, ...]]:
    return [(one.level, one.nodes, one.movable, one.sweeps, one.criterion) for one in found.levels]


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_cut_off_at_any_moment(criterion: str, tree: bool, tmp_path: Path) -> None:
    options: dict[str, Any] = {"criterion": criterion, "tree": tree}
    whole = cluster(text(), "w-2,w-1", **SHORT_SEARCH, **options)
    assert bytes_of(run_with_checkpoints(tmp_path / "whole", **options)) == bytes_of(whole)
    messages: list[str] = []
    cluster(
        text(), "w-2,w-1", **SHORT_SEARCH, **options, progress=lambda _, message: messages.append(message)
    )
    resumed = 0
    for moment in range(0, len(messages) - 3, 3):
        file = tmp_path / str(moment)
        with pytest.raises(PowerCut):
            run_with_checkpoints(file, **options, progress=Cut(moment))
        resumed += file.exists()
        found = run_with_checkpoints(file, **options)
        assert bytes_of(found) == bytes_of(whole)
        assert figures_of(found) == figures_of(whole)
        assert figures_of_levels(found) == figures_of_levels(whole)
    # Most moments are later than the first checkpoint.
    assert resumed > len(messages) // 6


def test_cut_off_again_and_again(tmp_path: Path) -> None:
    whole = cluster(text(), "w-2,w-1", **SHORT_SEARCH)
    randomly = random.Random(2)
    for _ in range(6):
        with pytest.raises(PowerCut), use_resources(threads=2):
            # Enough for a few sweeps: something is gained each time.
            run_with_checkpoints(tmp_path / "c", progress=Cut(randomly.randrange(1, 9)))
    found = run_with_checkpoints(tmp_path / "c")
    assert bytes_of(found) == bytes_of(whole)
    assert figures_of(found) == figures_of(whole)
    seconds = [sweep.seconds for sweep in found.history]
    assert seconds == sorted(seconds)


PROGRAM = """
import sys
from pathlib import Path
from clustering_problems import run_with_checkpoints
run_with_checkpoints(Path(sys.argv[1]), progress=lambda _, message: print(message, flush=True))
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no kill -9")
def test_killed(tmp_path: Path) -> None:
    whole = cluster(text(), "w-2,w-1", **SHORT_SEARCH)
    for messages in (1, 9, 5, 13):
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(tmp_path / "c")],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        ) as process:
            assert process.stdout is not None
            assert all(process.stdout.readline() for _ in range(messages))
            process.send_signal(signal.SIGKILL)
    assert bytes_of(run_with_checkpoints(tmp_path / "c")) == bytes_of(whole)


def test_it_is_not_written_more_often_than_asked(tmp_path: Path) -> None:
    cluster_tree(*short_search(), checkpoint=Checkpoint(tmp_path / "c"))
    # Where a level begins it always is.
    position = open_archive(tmp_path / "c", kind="clustering checkpoint").manifest["position"]
    assert (position["level"], position["sweep"]) == (2, 0)


def test_another_text_or_other_options(tmp_path: Path) -> None:
    run_with_checkpoints(tmp_path / "c")
    for options in ({"states": 14}, {"seed": 5}, {"criterion": "leave-one-out"}, {"tree": False}):
        with pytest.raises(UsageError, match="of another text, or of other options"):
            run_with_checkpoints(tmp_path / "c", **options)
    keeper = Checkpoint(tmp_path / "c")
    other = text().sentences(0, text().n_sentences - 1)
    for corpus, context in ((other, "w-2,w-1"), (text(), "w-1"), (text(), "w-3,w-1")):
        with pytest.raises(UsageError, match="of another text"):
            cluster_tree(*short_search(corpus, context), checkpoint=keeper)


def test_contexts_that_differ_in_their_groups_alone_are_another_text(tmp_path: Path) -> None:
    """Their leaves have the same values and the same words, under other nodes of level 1."""
    whole = run_with_checkpoints(tmp_path / "c")
    first, leaves = whole.tree.levels
    shifted = first.first_child.copy()
    shifted[len(shifted) // 2] += 1
    other = replace(whole.tree, levels=(replace(first, first_child=shifted), leaves))
    for tree, fits in ((whole.tree, True), (other, False)):
        mark = fingerprint(tree, whole.settings)
        if fits:
            assert Checkpoint(tmp_path / "c").restore(mark, tree, whole.settings) is not None
        else:
            with pytest.raises(UsageError, match="of another text"):
                Checkpoint(tmp_path / "c").restore(mark, tree, whole.settings)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("position", None),
        ("position", {"level": 3, "sweep": 0, "reached": None}),
        ("position", {"level": 1, "sweep": 0, "reached": None}),
        ("position", {"level": 2, "sweep": "first", "reached": None}),
        ("levels", [{}]),
        ("history", 3),
        ("states1", np.zeros(3, np.uint32)),
        ("states1", np.full(83, 10**9, np.uint32)),
        ("states2", np.zeros(3, np.uint32)),
        ("inherited1", np.zeros(3, np.uint32)),
        ("inherited2", np.full(15, 10**9, np.uint32)),
        ("categories", np.full(80, 10**9, np.uint32)),
        ("categories", np.zeros(80, np.float64)),
    ],
)
def test_one_that_makes_no_sense_is_refused(part: str, value: Any, tmp_path: Path) -> None:
    run_with_checkpoints(tmp_path / "c")
    file = HostileFile(tmp_path / "c")
    if f"clusters/{part}" in file.arrays:
        file.write(arrays={**file.arrays, f"clusters/{part}": value})
    else:
        file.change(**{part: value})
    with pytest.raises(BadDataError, match=r"c: not a checkpoint \(.*\); start over"):
        run_with_checkpoints(tmp_path / "c")
