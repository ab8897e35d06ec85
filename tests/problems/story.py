"""Random sentences with some grammar, and a recipe for them."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

from stategram.recipes.word_tree_part import WordTreePart

_NOUNS = "cat dog house tree river king queen ship bird stone road horse child garden".split()
_NAMES = "anna peter maria john".split()
_VERBS = "sees likes finds leaves knows wants follows".split()
_ADJECTIVES = "old new red small great dark".split()
_PLACES = "near behind under over".split()

# A mixture of one part of each kind, small enough for these sentences.
RECIPE = """
[[part]]
model = "ngram"
order = 3
[[part]]
model = "category-ngram"
classes = 8
[[part]]
model = "clustered"
context = "g-2,w-1"
context_classes = 8
states = 12
categories = 10
anneal = 4
"""

# A word tree model that has all histories.
WORD_TREE = """
[[part]]
model = "word-tree"
trees = [5, 3]
classes = [4]
states = []
chains = ["w-1 w-2", "counts: g1-1", "counts: r-1"]
caches = ["0.99"]
rare = 0.03
events = 500
"""


def sentences(n: int, *, seed: int) -> list[str]:
    """Return `n` sentences, always the same for a seed."""
    draw = random.Random(seed)

    def noun() -> str:
        if draw.random() < 0.25:
            return draw.choice(_NAMES)
        between = [draw.choice(_ADJECTIVES)] if draw.random() < 0.4 else []
        return " ".join([draw.choice(("the", "a", "this")), *between, draw.choice(_NOUNS)])

    def sentence() -> str:
        end = [draw.choice(_PLACES), noun()] if draw.random() < 0.5 else []
        return " ".join([noun(), draw.choice(_VERBS), noun(), *end])

    return [sentence() for _ in range(n)]


def write_texts(folder: Path) -> Path:
    """Write the texts ``train``, ``held`` and ``test``; return their folder."""
    for name, number, seed in (("train", 300, 1), ("held", 60, 2), ("test", 60, 3)):
        (folder / name).write_text("\n".join(sentences(number, seed=seed)) + "\n")
    return folder


def word_tree_part() -> WordTreePart:
    """Return the part of `WORD_TREE`."""
    (keys,) = tomllib.loads(WORD_TREE)["part"]
    del keys["model"]
    return WordTreePart(**keys)
