"""Modules can be imported in any order, and test modules do not import each other."""

from __future__ import annotations

import ast
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import stategram

# A cycle among the files of a package shows only when one of them comes first. The upper layers have the most
# to import from each other.
_LAYERS = (
    "stategram.workers.",
    "stategram.paper.",
    "stategram.recipes.",
    "stategram.explore.",
    "stategram.formats.",
    "stategram.evaluation.",
)
_SCRIPT = """
import importlib, os, sys
import click, msgspec, numpy  # once, not in every child
names, running = sys.argv[1:], 0
while names or running:
    if names and running < (os.cpu_count() or 1):
        name = names.pop()
        running += 1
        if os.fork() == 0:
            try:
                importlib.import_module(name)
            except BaseException as error:
                print(f"{name}: {error!r}", flush=True)
                os._exit(1)
            os._exit(0)
    else:
        running -= 1
        if os.wait()[1]:
            sys.exit(1)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_module_can_come_first() -> None:
    names = [
        found.name
        for found in pkgutil.walk_packages(stategram.__path__, "stategram.")
        if f"{found.name}.".startswith(_LAYERS)
    ]
    assert len(names) > 30
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *names], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_test_modules_do_not_import_each_other() -> None:
    modules = sorted(Path(__file__).parents[1].rglob("test_*.py"))
    assert len(modules) > 30
    imports = [
        f"{module.name}: {name}"
        for module in modules
        for node in ast.walk(ast.parse(module.read_text("utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    ]
    # Shared texts, problems and builders have modules of their own: texts, context_problems, story, ...
    assert [line for line in imports if line.split()[-1].startswith("test_")] == []
