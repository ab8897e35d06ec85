"""Files about the project: they can be read, and agree with the package."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import stategram

_ROOT = Path(__file__).parents[2]
# The source distribution has no hidden files.
_CHECKOUT = pytest.mark.skipif(not (_ROOT / ".github").is_dir(), reason="not a checkout")


def _yaml(name: str) -> Any:
    pytest.importorskip("yaml")
    return import_module("yaml").safe_load((_ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_is_that_of_this_version() -> None:
    found = _yaml("CITATION.cff")
    # What version 1.2.0 of the format requires.
    assert found["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= found.keys()
    assert found["version"] == stategram.__version__
    assert found["license"] == "Apache-2.0"
    (paper,) = found["references"]
    assert {"type", "title", "authors"} <= paper.keys()
    assert paper["title"] in (_ROOT / "README.md").read_text(encoding="utf-8")


@_CHECKOUT
@pytest.mark.parametrize("name", ["bug", "feature"])
def test_issue_forms_have_what_they_need(name: str) -> None:
    form = _yaml(f".github/ISSUE_TEMPLATE/{name}.yml")
    assert {"name", "description", "body"} <= form.keys()
    ids = [part["id"] for part in form["body"] if part["type"] != "markdown"]
    assert len(ids) == len(set(ids)) > 1
    for part in form["body"]:
        assert ("value" if part["type"] == "markdown" else "label") in part["attributes"]


@_CHECKOUT
def test_hooks_call_what_make_check_calls() -> None:
    (local,) = _yaml(".pre-commit-config.yaml")["repos"]
    makefile = (_ROOT / "Makefile").read_text(encoding="utf-8")
    check = makefile.partition("\ncheck:")[2].partition("\n\n")[0]
    programs = set(re.findall(r"\$\(BIN\)/(\S+)", check))
    entries = [hook["entry"] for hook in local["hooks"]]
    assert {one for entry in entries for one in re.findall(r"\.venv/bin/(\S+)", entry)} == programs


@_CHECKOUT
@pytest.mark.parametrize("name", ["test", "wheels"])
def test_workflows_can_be_read(name: str) -> None:
    found = _yaml(f".github/workflows/{name}.yml")
    assert found["name"] == name
    for job in found["jobs"].values():
        assert job["timeout-minutes"] <= 360
        assert job["steps"]
