"""Writes docs/api/: the public names of stategram, one page for each room that they live in.

Usage: python tools/api_pages.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import stategram

FOLDER = Path(__file__).parent.parent / "docs" / "api"
STUB = Path(stategram.__file__).parent / "__init__.pyi"

# Rooms in the order of a reader, not of imports.
TITLES = {
    "text": "Text",
    "clustering": "Word classes and states",
    "contexts": "Contexts and tags",
    "counts": "Counts",
    "models": "Models",
    "recipes": "Recipes",
    "paper": "The paper's tables",
    "evaluation": "Evaluation",
    "scoring": "Surprisal",
    "formats": "Files",
    "tables": "Tables",
    "resources": "Resources",
    "errors": "Errors",
}


def rooms() -> dict[str, list[str]]:
    """Return the public names of each room, as the stub lists them."""
    found = {
        room: re.findall(r"(\w+) as \1", names)
        for room, names in re.findall(r"^from \.([\w.]+) import \((.*?)\)", STUB.read_text(), re.M | re.S)
    }
    return {room: found[room] for room in sorted(found, key=lambda room: ([*TITLES, room].index(room), room))}


def api_pages() -> dict[str, str]:
    """Return the text of each page, by the name of its file."""
    pages = {}
    for room, names in rooms().items():
        title = TITLES.get(room, room.capitalize())
        pages[f"{room.replace('.', '-')}.md"] = f"# {title}\n\n" + "\n".join(map(_directive, names))
    pages["kenlm.md"] = "# In place of KenLM\n\n" + _rst("automodule:: stategram.kenlm", "members:")
    entries = "".join(f"{name.removesuffix('.md')}\n" for name in pages)
    pages["index.md"] = (
        "# Python\n\nEvery public name; `import stategram` loads each when it is used. `make docs` writes "
        f"these pages, from the docstrings; their examples are tests.\n\n```{{toctree}}\n{entries}```\n"
    )
    return pages


def _directive(name: str) -> str:
    value = getattr(stategram, name)
    if not inspect.isclass(value):
        if callable(value):
            return _rst(f"autofunction:: stategram.{name}")
        # A mapping has the docstring of its type, which says nothing of it.
        listed = ", ".join(f"``{key}``" for key in value)
        return _rst(f"py:data:: stategram.{name}", f"type: {type(value).__name__}", "", f"   Holds {listed}.")
    if issubclass(value, Exception):
        return _rst(f"autoexception:: stategram.{name}")
    return _rst(f"autoclass:: stategram.{name}", "members:")


def _rst(directive: str, *options: str) -> str:
    lines = [f"   :{one}" if one and not one.startswith(" ") else one for one in options]
    return "```{eval-rst}\n" + "\n".join([f".. {directive}", *lines]) + "\n```\n"


if __name__ == "__main__":
    pages = api_pages()
    if "--check" not in sys.argv:
        FOLDER.mkdir(exist_ok=True)
        for stale in {path.name for path in FOLDER.glob("*.md")} - set(pages):
            (FOLDER / stale).unlink()
        for name, text in pages.items():
            (FOLDER / name).write_text(text, encoding="utf-8")
    elif {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")} != pages:
        sys.exit("docs/api is not what stategram/__init__.pyi lists; run: make docs")
