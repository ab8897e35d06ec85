"""A random sample of a pool, which stands for general text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stategram.progress import Progress
from stategram.storage import atomic_open
from stategram.tables import PoolFile


@dataclass(frozen=True)
class SampleTask:
    """How much to draw from a file, and where the sample goes."""

    file: PoolFile
    n_bytes: int
    seed: tuple[int, int]
    path: str

    def __str__(self) -> str:
        return self.file.name


def sample_file(task: SampleTask, progress: Progress | None = None) -> str:
    """Write the texts of random rows of a file, about `n_bytes` of them, in one pass and in their order.

    Return the file of the sample. Each row has a random number; those with the lowest ones are the sample. As
    soon as it is twice too large, it is cut, and what is above its highest number need not be looked at any
    more.
    """
    random = np.random.default_rng(task.seed)
    numbers = np.zeros(0)
    texts: list[bytes] = []
    limit = 1.0
    size = 0
    for block in task.file.read(progress, texts_only=True):
        drawn = random.random(len(block))
        is_drawn = drawn < limit
        new = block.take(is_drawn).texts()
        numbers = np.append(numbers, drawn[is_drawn])
        texts += new
        size += sum(map(len, new))
        if size > 2 * task.n_bytes:
            numbers, texts = _lowest(numbers, texts, task.n_bytes)
            limit = float(numbers.max(initial=0.0))
            size = sum(map(len, texts))
    _, texts = _lowest(numbers, texts, task.n_bytes)
    with atomic_open(task.path) as written:
        written.write(b"".join(text + b"\n" for text in texts))
    return task.path


def _lowest(
    numbers: np.ndarray[tuple[int], np.dtype[np.float64]], texts: list[bytes], n_bytes: int
) -> tuple[np.ndarray[tuple[int], np.dtype[np.float64]], list[bytes]]:
    """Return the texts with the lowest numbers until they have `n_bytes`, in their order."""
    order = np.argsort(numbers, kind="stable")
    sizes = np.cumsum([len(texts[place]) for place in order.tolist()])
    chosen = np.sort(order[: int(np.searchsorted(sizes, n_bytes, "left")) + 1])
    return numbers[chosen], [texts[place] for place in chosen.tolist()]
