"""Word tree models word by word, as decoders call them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import BadDataError
from stategram.models.word_tree.evidence import Evidence


def make_stepper(
    evidence: Evidence, weights: Sequence[NDArray[np.float32]], tree_weights: NDArray[np.float64]
) -> _core.TreeStepper:
    """Return a model of the history ``sentence`` word by word."""
    sources = evidence.sources
    n_words = len(evidence.word_counts)
    names = ["w", *sources.labels, *(f"s{number}" for number in range(1, len(sources.states) + 1))]
    places = {name: number for number, name in enumerate(names)} | {"r": -1}
    kernel = evidence.kernel
    try:
        return _core.TreeStepper(
            kernel,
            [np.arange(n_words, dtype=np.uint32), *sources.labels.values()],
            [tree.for_kernel() for tree in sources.states],
            [(places[value.source], value.distance) for value in evidence.values],
            sources.labels["g1"] if evidence.n_classes > 1 else np.empty(0, np.uint32),
            list(weights),
            tree_weights,
        )
    except ValueError as error:
        raise BadDataError(f"a damaged word tree model ({error}); write it again") from error
