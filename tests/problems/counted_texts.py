"""A text to count, and what counting leaves in a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

LINES = 4000


def make_story(place: Path) -> Path:
    random = np.random.default_rng(2)
    lines = [" ".join(f"w{w}" for w in random.zipf(1.3, n) % 300) for n in random.integers(1, 12, LINES)]
    lines[::50] = ["" for _ in lines[::50]]  # documents
    file = place / "story.txt"
    file.write_text("\n".join(lines) + "\n")
    return file


def files_of(folder: Path | str) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}
