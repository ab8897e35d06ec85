from __future__ import annotations

import json
import random
import subprocess
import sys
from math import log2
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("resource", reason="the benchmarks measure processes as Unix does")

ROOT = Path(__file__).resolve().parents[2]
STEPS = ROOT / "benchmarks" / "steps.py"
KINDS = (("the", "a"), ("cat", "dog", "cow"), ("sat", "ran"))


def write_text(place: Path, sentences: int, seed: int) -> Path:
    chance = random.Random(seed)
    lines = (" ".join(chance.choice(kind) for kind in KINDS) for _ in range(sentences))
    place.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return place


def _entropy(p: float) -> float:
    return -p * log2(p) - (1 - p) * log2(1 - p)


def bench(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture
def texts(tmp_path: Path) -> list[str]:
    train = write_text(tmp_path / "train.txt", 400, seed=1)
    test = write_text(tmp_path / "test.txt", 40, seed=2)
    return ["--train", str(train), "--test", str(test)]


@pytest.mark.slow
def test_all_parts_run_and_agree_with_each_other(texts: list[str], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    one_class = "tr ' ' '\\n' < {text} | sort -u | awk '{print $1 \"\\t\" {k}}'"
    options = ["--k", "3", "--efforts", "fast", "--repeats", "1", "--seeds", "1", "--json", str(record)]
    arpa = "cat > /dev/null; echo order {order}"
    done = bench(*texts, *options, "--peer", one_class, "--peer", arpa, "--orders", "2", "--memory", "300M")
    assert done.returncode == 0, done.stderr
    found = json.loads(record.read_text())

    def rows(part: str, table: int = 0) -> list[dict[str, Any]]:
        taken: list[dict[str, Any]] = found["parts"][part][table]["rows"]
        return taken

    assert found["train"]["events"] == 1600
    assert {row["threads"] for row in rows("reading")} == {1, 2}
    assert all(row["CPU s"] > 0 for row in rows("reading") if row["step"].startswith("the same"))
    ours, theirs = rows("classes")
    assert ours["words"] == 7
    # Three classes and the sentence end follow each other in a circle: two bits say where in it a word is.
    assert ours["AMI"] == pytest.approx(2.0, abs=1e-9)
    # One class: a sentence end is never, a word in two of three cases followed by a word.
    assert theirs["AMI"] == pytest.approx(_entropy(1 / 4) - 3 / 4 * _entropy(1 / 3), abs=1e-9)
    (ratios,) = rows("classes", 1)
    assert ratios["AMI gain"] == ours["AMI"] - theirs["AMI"]
    assert ratios["test PP ratio"] == ours["test PP"] / theirs["test PP"] < 1
    assert [row["program"] for row in rows("ngrams")] == ["stategram", "stategram --memory 300M", "cat"]
    assert rows("ngrams")[2]["model MB"] == len("order 2\n") / 1e6
    assert [row["peer"] for row in rows("ngrams", 1)] == ["cat", "cat"]
    assert rows("ngrams", 2)[-1] == {**rows("ngrams", 2)[-1], "program": "kenlm full_scores", "order": 2}
    assert rows("ngrams", 2)[-1]["times full_scores"] == 1.0
    assert [(row["way"], row["candidates"]) for row in rows("clustering")] == [
        ("tree", 16),
        ("flat", 16),
        ("tree", "all"),
    ]
    assert [row["events"] for row in rows("clustering", 1)] == [400, 800, 1600]
    assert [row["events"] for row in rows("growth")] == [400, 800, 1600]
    assert [row["k"] for row in rows("growth", 1)] == [3]
    assert rows("startup")[0]["wall ratio"] == 1.0
    assert "| stategram fast |" in done.stdout
    assert "growth: 1 of 1" in done.stderr


def test_peers_get_the_same_cut_text_and_their_failure_is_told(texts: list[str], tmp_path: Path) -> None:
    seen = tmp_path / "seen.txt"
    peer = f"cat > '{seen}'; echo sorry >&2; exit 3"
    options = ["--k", "2", "--efforts", "fast", "--seeds", "1", "--vocab", "5"]
    done = bench("classes", *texts, *options, "--peer", peer)
    assert done.returncode == 1
    assert "ended with 3:\n  sorry" in done.stderr
    words = seen.read_text().split()
    assert len(words) == 1200
    assert len(set(words)) == 6
    assert "<unk>" in words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["classes", "--train", str(STEPS)], "--test"),
        (["reading", "--train", "no-such-file.txt"], "no-such-file.txt: there is no such file"),
        (["speed"], "there is no part 'speed'"),
        (["reading", "--repeats", "0"], "--repeats"),
    ],
)
def test_what_cannot_be_measured_is_said(arguments: list[str], message: str) -> None:
    done = bench(*arguments)
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
