"""What the documents say is what the program does."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stategram

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documents are not here")
def test_the_help_pages_are_those_of_the_commands() -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "help_pages.py", "--check"], check=True)


@pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="the documents are not here")
def test_the_page_of_recipes_is_that_of_the_program(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "recipe_page.py", "--check"], check=True)
    page = (ROOT / "docs" / "recipes.md").read_text()
    found = re.findall(r"^## The recipe (\w+)\n\n```toml\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert [name for name, _ in found] == list(stategram.recipes.RECIPES)
    for name, data in found:
        (tmp_path / f"{name}.toml").write_text(data)
        assert stategram.read_recipe(tmp_path / f"{name}.toml") == stategram.recipes.RECIPES[name]


def test_the_public_door_gives_all_it_names() -> None:
    stub = (Path(stategram.__file__).parent / "__init__.pyi").read_text()
    assert sorted(stategram.__all__) == sorted(re.findall(r"(\w+) as \1", stub))
    rooms = {name for name in stategram.__all__ if inspect.ismodule(getattr(stategram, name))}
    assert 50 < len(stategram.__all__) - len(rooms) <= 60
    for name in stategram.__all__:
        assert getattr(stategram, name) is not None
    assert set(stategram.__all__) <= set(dir(stategram))
    with pytest.raises(AttributeError, match="attribute nothing"):
        _ = getattr(stategram, "nothing")  # noqa: B009


def test_importing_stategram_loads_nothing_heavy() -> None:
    code = "import sys, stategram; print(sorted({'numpy', 'click', 'rich'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"
    code = "import sys, stategram.cli; print(sorted({'numpy', 'rich'} & set(sys.modules)))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_the_version_is_that_of_the_package() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    found = re.search(r'^version = "(.+)"$', project, re.MULTILINE)
    assert found is not None
    assert found[1] == stategram.__version__
