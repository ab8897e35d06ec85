"""Every example in a docstring does what it shows."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import stategram

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(stategram.__path__, "stategram.")
    if not module.name.endswith(("__main__", "._core"))
)


@pytest.mark.parametrize("name", ["stategram", *MODULES])
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
