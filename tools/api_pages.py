"""Writes docs/api/: the public names of stategram, one page for each room that they live in.

Usage: python tools/api_pages.py [--check]
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import stategram

FOLDER = Path(__file__).parent.parent / "docs" / "api"
STUB = Path(stategram.__file__).parent / "__init__.pyi"

# Rooms in the order of a reader, not of imports; what users find in the room beside the names at the top.
ROOMS = {
    "text": ("Text", "ReadStats"),
    "clustering": (
        "Word classes and states",
        "build_hierarchy Checkpoint ClusteringSettings LevelResult SweepRecord",
    ),
    "contexts": (
        "Contexts and tags",
        "build_tree ContextDefinition ContextTree ContextValue TagCounts TagMap",
    ),
    "counts": (
        "Counts",
        "BigramCounts CompressedCounts count_bigrams count_ngrams CountedText NgramCounts ShardedText",
    ),
    "models": ("Models", "GeneratedSentence open_sentence score_parts state_after WordTree"),
    "recipes": (
        "Recipes",
        "CachePart CategoryNgramPart ClusteredPart MixturePart NgramPart RECIPES WordTreePart",
    ),
    "paper": ("The paper's tables", "Reproduction RowResult"),
    "evaluation": (
        "Evaluation",
        "average_mutual_information class_bigram_perplexity ClassBigramFigures ComparedModel Difference "
        "HistoryFigures OrderFigures PartFigures Resampling rescore Rescored WordErrors",
    ),
    "scoring": ("Surprisal", ""),
    "formats": ("Files", "ModelInfo read_nbest read_references write_best"),
    "tables": ("Tables", "Items read_items TableWriter TextColumn"),
    "selection": ("Selection", "select Selection"),
    "resources": ("Resources", "Resources"),
    "workers": ("Workers", ""),
    "errors": ("Errors", ""),
}


def public_names() -> Iterator[tuple[str, list[str]]]:
    """Return each room with its public names: those at the top, as the stub lists them, and further ones."""
    imports = re.findall(r"^from \.(\w+) import \((.*?)\)", STUB.read_text(), re.M | re.S)
    top = {room: re.findall(r"(\w+) as \1", names) for room, names in imports}
    if unknown := set(top) - set(ROOMS):
        sys.exit(f"tools/api_pages.py has no page for {', '.join(sorted(unknown))}; add it to ROOMS")
    for room, (_, further) in ROOMS.items():
        yield room, [*top.get(room, []), *(f"{room}.{name}" for name in further.split())]


def api_pages() -> dict[str, str]:
    """Return the text of each page, by the name of its file."""
    pages = {
        f"{room}.md": f"# {ROOMS[room][0]}\n\n" + "\n".join(map(_directive, names))
        for room, names in public_names()
    }
    pages["kenlm.md"] = "# In place of KenLM\n\n" + _rst("automodule:: stategram.kenlm", "members:")
    entries = "".join(f"{name.removesuffix('.md')}\n" for name in pages)
    pages["index.md"] = (
        "# Python\n\nEvery public name: those at the top, such as `stategram.NgramModel`, and those of a "
        "room, such as `stategram.recipes.NgramPart`. `import stategram` loads each when it is used. "
        "`make docs` writes these pages from the docstrings; their examples are tests.\n\n"
        f"```{{toctree}}\n{entries}```\n"
    )
    return pages


def _directive(path: str) -> str:
    room, _, name = path.rpartition(".")
    value = getattr(import_module(f"stategram.{room}".rstrip(".")), name)
    if not inspect.isclass(value):
        if callable(value):
            return _rst(f"autofunction:: stategram.{path}")
        # A mapping has the docstring of its type, which says nothing of it.
        listed = ", ".join(f"``{key}``" for key in value)
        return _rst(f"py:data:: stategram.{path}", f"type: {type(value).__name__}", "", f"   Holds {listed}.")
    if issubclass(value, Exception):
        return _rst(f"autoexception:: stategram.{path}")
    return _rst(f"autoclass:: stategram.{path}", "members:")


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
        sys.exit("docs/api is not what stategram/__init__.pyi and tools/api_pages.py list; run: make docs")
