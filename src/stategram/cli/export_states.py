"""The states of a clustered model, as a table of their contexts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.models import ClusteredModel
from stategram.storage import atomic_write
from stategram.text import Vocabulary
from stategram.wording import plural


def export_states(model: ClusteredModel, place: str) -> str:
    """Write the contexts of each state, the most frequent states and contexts first; say what was written.

    Contexts that were too rare to move on their own are not kept in a model.
    """
    tree = model.tree
    last = tree.levels[-1]
    nodes = np.arange(len(last.values), dtype=np.uint32)
    columns: list[NDArray[np.object_]] = []
    for number in range(tree.depth - 1, -1, -1):
        kind = tree.definition.values[number].kind
        if kind == "t" and model.tag_names:
            names = np.array(model.tag_names, object)
        else:
            names = _names(tree.maps[number], model.vocabulary, kind)
        columns.append(names[tree.levels[number].values[nodes]])
        if number > 0:
            nodes = tree.levels[number - 1].parents[nodes]
    values = [str(value) for value in reversed(tree.definition.values)]
    totals = np.bincount(last.states, last.counts, model.n_states)
    order = np.lexsort((-last.counts.astype(np.int64), last.states, -totals[last.states]))
    columns = [last.states.astype(str).astype(object), last.counts.astype(str).astype(object), *columns]
    rows = zip(*(column[order].tolist() for column in columns), strict=True)
    lines = ["\t".join(("state", "events", *values)), *map("\t".join, rows)]
    atomic_write(place, ("\n".join(lines) + "\n").encode())
    states = plural(int(np.count_nonzero(totals)), "state")
    return f"{states} of {plural(len(order), 'context')}: {model!r}"


def _names(values: NDArray[np.uint32], vocabulary: Vocabulary, kind: str) -> NDArray[np.object_]:
    """Give a name for each value: the word, or ~ and the most frequent word with that tag or class."""
    frequent = np.argsort(-vocabulary.counts.astype(np.int64), kind="stable")
    found, first = np.unique(values[frequent], return_index=True)
    names = np.full(int(values.max()) + 1, "", object)
    words = vocabulary.words
    prefix = "" if kind == "w" else "~"
    names[found] = [prefix + words[id] for id in frequent[first].tolist()]
    return names
