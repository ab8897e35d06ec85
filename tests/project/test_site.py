"""The site has a place for every page, for every name at the top and for what the rooms export to users."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import stategram

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"

pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="the documents are not here")


def test_every_public_name_is_in_the_reference() -> None:
    subprocess.run([sys.executable, ROOT / "tools" / "api_pages.py", "--check"], check=True)
    text = "".join(page.read_text() for page in (DOCS / "api").glob("*.md"))
    listed = re.findall(r"^\.\. (?:auto\w+|py:data):: stategram\.([\w.]+)$", text, re.MULTILINE)
    assert len(listed) == len(set(listed))
    names = {path.rpartition(".")[2]: path for path in listed}
    assert len(names) == len(listed), "a name has two homes"
    rooms = {name for name in stategram.__all__ if inspect.ismodule(getattr(stategram, name))}
    assert {path for path in listed if "." not in path} == set(stategram.__all__) - rooms | {"kenlm"}
    assert {path.split(".")[0] for path in listed if "." in path} == rooms - {"kenlm"}


def test_every_page_is_in_a_table_of_contents() -> None:
    for folder in (DOCS, DOCS / "api"):
        trees = re.findall(
            r"^```{toctree}\n(.*?)^```", (folder / "index.md").read_text(), re.MULTILINE | re.DOTALL
        )
        listed = [line for tree in trees for line in tree.splitlines() if line and not line.startswith(":")]
        assert len(listed) == len(set(listed))
        pages = {page.stem for page in folder.glob("*.md")} - {"index"}
        assert {name for name in listed if "/" not in name} == pages
