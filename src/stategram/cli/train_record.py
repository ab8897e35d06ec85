"""What a model folder says of its making: options and inputs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stategram.cli.console import Report
from stategram.models import NgramModel

__all__ = ["inputs_of", "recipe_of"]

_BLOCK_SIZE = 1 << 22


def recipe_of(model: NgramModel, options: dict[str, Any]) -> dict[str, Any]:
    """Give the options that shaped a model, defaults filled in."""
    return {
        "order": model.order,
        "smoothing": model.smoothing,
        "min_counts": list(model.report["min_counts"]),
        "prune": options["prune"],
        "vocabulary_size": options["vocab"],
        "vocabulary_file": options["vocab_file"],
        "lowercase": options["lowercase"],
        "digits": options["digits"],
        "encoding_errors": options["encoding_errors"],
    }


def inputs_of(names: Sequence[str], report: Report) -> list[dict[str, Any]]:
    """Give the SHA-256 of each file; it is None for stdin and pipes, which can be read only once."""
    files = {name: Path(name).stat().st_size for name in names if name != "-" and Path(name).is_file()}
    total = sum(files.values())
    done = 0
    inputs = []
    for name in names:
        digest = None
        if name in files:
            sha256 = hashlib.sha256()
            with Path(name).open("rb") as file:
                while block := file.read(_BLOCK_SIZE):
                    sha256.update(block)
                    done += len(block)
                    report(min(0.5 * done / max(total, 1), 0.5), f"checksum of {name}")
            digest = sha256.hexdigest()
        inputs.append({"name": name, "bytes": files.get(name), "sha256": digest})
    report(0.5, "writing")
    return inputs
