"""The evidence of a word tree model in a model file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from stategram import _core
from stategram.contexts import ContextDefinition
from stategram.models.state_tree import StateLevel, StateTree
from stategram.models.word_tree.chains import Cache, Chain
from stategram.models.word_tree.counting import LevelCounts
from stategram.models.word_tree.evidence import Evidence
from stategram.models.word_tree.tree import WordTree
from stategram.models.word_tree.values import ValueSources, values_of
from stategram.models.word_tree.vector_states import NETWORK_ARRAYS, VectorShape, VectorState
from stategram.storage import Archive, Entries, Natural, array_of

_Arrays = dict[str, dict[str, NDArray[Any]]]
_MAX_DISCOUNT = 3
_NODE_ARRAYS = ("node-vectors", "node-scales", "node-bias")
_Discount = Annotated[float, Meta(ge=0, le=_MAX_DISCOUNT)]


class _LevelEntries(Entries, frozen=True):
    contexts: Natural
    ngrams: Natural
    discount: _Discount


class _ChainEntries(Entries, frozen=True):
    chain: str
    levels: tuple[_LevelEntries, ...]


class _StatesEntries(Entries, frozen=True):
    tree_order: str


class _Manifest(Entries, frozen=True):
    trees: Annotated[int, Meta(ge=1, lt=2**31)]
    labels: tuple[str, ...]
    states: tuple[_StatesEntries, ...]
    chains: tuple[_ChainEntries, ...]
    vectors: tuple[str, ...]
    caches: tuple[str, ...]


def write_evidence(evidence: Evidence) -> tuple[dict[str, Any], _Arrays]:
    """Return its entries in the manifest, and its arrays."""
    sources = evidence.sources
    words: dict[str, NDArray[Any]] = {
        "counts": evidence.word_counts,
        "contexts": evidence.word_contexts,
        "is_rare": sources.is_rare,
        **{f"labels-{name}": labels for name, labels in sources.labels.items()},
    }
    arrays: _Arrays = {
        "words": words,
        "trees": {
            f"{name}-{number}": array
            for number, tree in enumerate(evidence.trees)
            for name, array in (("codes", tree.codes), ("lengths", tree.lengths))
        },
    }
    for number, states in enumerate(sources.states):
        arrays[f"states-{number}"] = _write_states(states)
    for number, vectors in enumerate(evidence.vectors):
        arrays[f"vectors-{number}"] = {
            **vectors.network,
            **{
                f"{name}-{tree}": array
                for tree, nodes in enumerate(vectors.nodes)
                for name, array in zip(_NODE_ARRAYS, nodes, strict=True)
            },
        }
    chains = []
    for number, (one, levels) in enumerate(zip(evidence.chains, evidence.counts, strict=True)):
        arrays[f"chain-{number}"] = _write_levels(levels)
        of_levels = [
            {"contexts": level.contexts, "ngrams": level.ngrams, "discount": level.discount}
            for level in levels
        ]
        chains.append({"chain": str(one), "levels": of_levels})
    manifest = {
        "trees": len(evidence.trees),
        "labels": list(sources.labels),
        "states": [{"tree_order": states.definition.tree_order} for states in sources.states],
        "chains": chains,
        "vectors": [str(one.shape) for one in evidence.vectors],
        "caches": list(map(str, evidence.caches)),
    }
    return manifest, arrays


def read_evidence(archive: Archive, n_words: int) -> Evidence:
    """Inverse of `write_evidence`; KeyError, TypeError or ValueError for anything else."""
    manifest = msgspec.convert(archive.manifest, _Manifest)
    words, trees = archive.arrays("words"), archive.arrays("trees")
    states = tuple(
        _read_states(entries, archive.arrays(f"states-{number}"), n_words)
        for number, entries in enumerate(manifest.states)
    )
    labels = {name: array_of(words, f"labels-{name}", np.uint32, n_words) for name in manifest.labels}
    if any(int(one.max()) >= 2**31 for one in labels.values()):
        raise ValueError("a word has no possible class")
    sources = ValueSources(labels, states, array_of(words, "is_rare", np.bool_, n_words))
    chains = tuple(Chain.parse(entries.chain) for entries in manifest.chains)
    caches = tuple(map(Cache.parse, manifest.caches))
    sources.check(values_of(chains, caches))
    word_trees = tuple(
        WordTree(
            array_of(trees, f"codes-{number}", np.uint32, n_words),
            array_of(trees, f"lengths-{number}", np.uint8, n_words),
        )
        for number in range(manifest.trees)
    )
    counts = tuple(
        _read_levels(one, entries.levels, archive.arrays(f"chain-{number}"), manifest.trees)
        for number, (one, entries) in enumerate(zip(chains, manifest.chains, strict=True))
    )
    evidence = Evidence(
        word_trees,
        sources,
        chains,
        counts,
        caches,
        array_of(words, "counts", np.uint32, n_words),
        array_of(words, "contexts", np.uint32, n_words),
        tuple(
            _read_vectors(
                VectorShape.parse(text), archive.arrays(f"vectors-{number}"), n_words, manifest.trees
            )
            for number, text in enumerate(manifest.vectors)
        ),
    )
    if archive.is_verified:  # else it is made when it is needed: the file is open at once
        evidence.kernel  # noqa: B018  that refuses arrays that do not fit together
    return evidence


def _read_vectors(
    shape: VectorShape, arrays: Mapping[str, NDArray[Any]], n_words: int, n_trees: int
) -> VectorState:
    network = {name: arrays[name] for name in NETWORK_ARRAYS[shape.kind]}
    n_bytes = n_words * shape.width // _core.VECTOR_PADDING * _core.BLOCK_BYTES
    if next(iter(network.values())).size != n_bytes:
        raise ValueError("the vectors of a vector state do not have its width")
    nodes = [tuple(arrays[f"{name}-{tree}"] for name in _NODE_ARRAYS) for tree in range(n_trees)]
    return VectorState(shape, network, tuple(nodes))  # type: ignore[arg-type]


def _write_levels(levels: tuple[LevelCounts, ...]) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for number, level in enumerate(levels):
        arrays[f"directory-{number}"] = level.directory
        arrays[f"entries-{number}"] = level.entries
        arrays[f"discounts-{number}"] = level.node_discounts
        for tree, lists in enumerate(level.long_lists):
            arrays[f"begins-{number}-{tree}"], arrays[f"bytes-{number}-{tree}"] = lists
    return arrays


def _read_levels(
    chain: Chain,
    entries: tuple[_LevelEntries, ...],
    arrays: Mapping[str, NDArray[Any]],
    n_trees: int,
) -> tuple[LevelCounts, ...]:
    return tuple(
        LevelCounts(
            arrays[f"directory-{number}"],
            arrays[f"entries-{number}"],
            tuple(
                (arrays[f"begins-{number}-{tree}"], arrays[f"bytes-{number}-{tree}"])
                for tree in range(n_trees)
            ),
            entry.contexts,
            entry.ngrams,
            entry.discount,
            _node_discounts(arrays, number, n_trees),
        )
        for number, (entry, _) in enumerate(zip(entries, chain.values, strict=True))
    )


def _node_discounts(arrays: Mapping[str, NDArray[Any]], number: int, n_trees: int) -> NDArray[np.float32]:
    discounts = array_of(arrays, f"discounts-{number}", np.float32, n_trees, 3)
    if not ((discounts >= 0) & (discounts <= _MAX_DISCOUNT)).all():
        raise ValueError("a discount is not a number from 0 to 3")
    return discounts


def _write_states(states: StateTree) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}
    for number, (labels, level) in enumerate(zip(states.maps, states.levels, strict=True)):
        arrays |= {
            f"map-{number}": labels,
            f"values-{number}": level.values,
            f"first_child-{number}": level.first_child,
            f"states-{number}": level.states,
            f"counts-{number}": level.counts,
            f"inherited-{number}": level.inherited,
        }
    return arrays


def _read_states(entries: _StatesEntries, arrays: Mapping[str, NDArray[Any]], n_words: int) -> StateTree:
    definition = ContextDefinition.parse(entries.tree_order, entries.tree_order)
    names = ("values", "first_child", "states", "counts", "inherited")
    levels = tuple(
        StateLevel(*(arrays[f"{name}-{number}"] for name in names))
        for number in range(len(definition.values))
    )
    maps = tuple(arrays[f"map-{number}"] for number in range(len(definition.values)))
    states = StateTree(definition, maps, levels)
    if not states.is_sound(n_words, 2**32):
        raise ValueError("its context states are inconsistent")
    return states
