"""The scripts and the notebook of examples/, run as a reader would run them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from story import sentences

_EXAMPLES = Path(__file__).parents[2] / "examples"
_NOTEBOOK = _EXAMPLES / "tour.ipynb"
_EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
sys.stdout.buffer.write(nbformat.writes(notebook).encode())
"""


def _run(name: str, *arguments: object) -> str:
    command = [sys.executable, str(_EXAMPLES / name), *map(str, arguments)]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, encoding="utf-8")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_class_features_help_with_words_that_have_no_tag(tmp_path: Path) -> None:
    def accuracies(*arguments: object) -> dict[str, list[float]]:
        rows = [line.split("\t") for line in _run("class_features.py", *arguments).splitlines()[1:]]
        return {name: [float(cell.rstrip("%")) for cell in cells] for name, *cells in rows}

    found = accuracies()
    # Without classes nothing is known of such words but which tag is likely; five tags are possible.
    assert found["words"][1] < 60
    assert found["words and classes"][0] > found["words"][0]
    assert found["words and classes"][1] > 90
    text = tmp_path / "plain.txt"
    text.write_text("\n".join(sentences(50, seed=1)))
    assert accuracies("--plain", text, "--classes", 30, "--seed", 1).keys() == found.keys()


def test_the_regression_finds_what_was_simulated(tmp_path: Path) -> None:
    def rows(*arguments: object) -> list[list[float]]:
        lines = _run("surprisal_regression.py", *arguments).splitlines()[2:]
        return [list(map(float, line.split("\t")[1:])) for line in lines]

    found = rows()
    assert len(found) == 4
    for value, error, true in found:
        assert 0 < error < true
        assert abs(value - true) < 4 * error  # the noise has a fixed seed
    train, items = tmp_path / "train.txt", tmp_path / "items.txt"
    train.write_text("\n".join(sentences(300, seed=1)))
    items.write_text("\n".join(sentences(200, seed=2)))
    assert [row[2] for row in rows(train, items)] == [row[2] for row in found]


def test_the_notebook_runs_and_has_the_outputs_of_such_a_run() -> None:
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    command = [sys.executable, "-c", _EXECUTE, str(_NOTEBOOK)]
    ended = subprocess.run(command, check=False, capture_output=True)
    assert ended.returncode == 0, ended.stderr.decode()
    then, now = (
        [cell["outputs"] for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
        for text in (_NOTEBOOK.read_bytes(), ended.stdout)
    )
    assert len(then) == 7
    for before, after in zip(then, now, strict=True):
        (one,), (other,) = before, after
        assert one["output_type"] == other["output_type"] == "execute_result"
        assert one["data"].keys() == other["data"].keys()
    # Classes, surprisal, mixture and comparison are tables.
    assert ["text/html" in one["data"] for (one,) in then] == [False, True, False, False, True, True, True]
    assert then[0] == now[0]


def test_the_notebook_has_no_traces_of_a_machine() -> None:
    text = _NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 30_000
    assert not re.search(r"/(home|tmp|Users|root|usr)/|[A-Z]:\\\\|<ipython-input|0x[0-9a-f]{6}", text)
    assert set(json.loads(text)["metadata"]) == {"kernelspec", "language_info"}
