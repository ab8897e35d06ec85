"""Prints lists of requirements of pyproject.toml: build, an extra or a dependency group.

So that the Makefile can install what a step needs without building the package first.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path


def requirements(name: str) -> list[str]:
    """Return the list called `name`, in the words of pyproject.toml.

    >>> "ruff" in " ".join(requirements("check"))
    True
    """
    root = Path(__file__).resolve().parent.parent
    table = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    lists: dict[str, list[str]] = {
        "build": table["build-system"]["requires"],
        **table["project"]["optional-dependencies"],
        **table["dependency-groups"],
    }
    if name not in lists:
        raise SystemExit(f"pyproject.toml has no list of requirements {name!r}; it has {', '.join(lists)}")
    return lists[name]


if __name__ == "__main__":
    print("\n".join(line for name in sys.argv[1:] for line in requirements(name)))
