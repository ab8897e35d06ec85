"""What a model folder says of its making: options and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stategram.cli.console import Report
from stategram.models import NgramModel
from stategram.storage import file_sha256


def recipe_of(model: NgramModel, options: dict[str, Any]) -> dict[str, Any]:
    """Give the options that shaped a model, defaults filled in."""
    return {
        "order": model.order,
        "smoothing": model.smoothing,
        "min_counts": list(model.training_info["min_counts"]),
        "prune": options["prune"],
        **text_recipe(options),
    }


def text_recipe(options: dict[str, Any]) -> dict[str, Any]:
    """Give the options that say how the text was read."""
    return {
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

    def count(n_bytes: int) -> None:
        nonlocal done
        done += n_bytes
        report(min(0.5 * done / total, 0.5), "checksums of the texts")

    inputs = [
        {
            "name": name,
            "bytes": files.get(name),
            "sha256": file_sha256(Path(name), count) if name in files else None,
        }
        for name in names
    ]
    report(0.5, "writing")
    return inputs
