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

# A cycle among the files of a package shows only when one of them comes first. These layers have the most
# to import from each other. They are tried from the bottom up: nothing imports from above, so what is below
# may be loaded already.
_LAYERS = ("evaluation", "formats", "recipes", "explore", "paper", "workers")
_SCRIPT = """
import importlib, os, sys
import click, msgspec, numpy, stategram.models
for layer in sys.argv[1:]:
    for name in layer.split():
        child = os.fork()
        if child == 0:
            try:
                importlib.import_module(name)
            except BaseException as error:
                print(f"{name}: {error!r}", flush=True)
                os._exit(1)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)
    for name in layer.split():
        importlib.import_module(name)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_every_module_can_come_first() -> None:
    found = [module.name for module in pkgutil.walk_packages(stategram.__path__, "stategram.")]
    layers = [[name for name in found if name.split(".")[1] == layer] for layer in _LAYERS]
    assert sum(map(len, layers)) > 30
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *map(" ".join, layers)], capture_output=True, text=True, check=False
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
