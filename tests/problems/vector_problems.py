"""Small networks and word trees, and kernels that score by a vector state alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import naive.vector_states as naive
from naive.word_tree import Cache, Chain
from stategram import _core
from word_tree_problems import Problem, ids, random_paths, random_words, tree_of, words_before

DECAYS = (0.5, 0.9)
N_WORDS = 12
Arrays = tuple[NDArray[Any], ...]


def words_of(n_events: int, seed: int, n_words: int = N_WORDS) -> list[int]:
    return random_words(n_events, n_words, seed)


def random_resets(n_events: int, seed: int) -> NDArray[np.uint8]:
    return (np.random.default_rng(seed).random(n_events) < 0.15).astype(np.uint8)


def random_bias(paths: Sequence[str], seed: int) -> NDArray[np.float32]:
    return np.random.default_rng(seed).normal(0, 1, len(list(filter(None, paths)))).astype(np.float32)


def random_rounded(rows: int, width: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    random = np.random.default_rng(seed)
    scales = random.uniform(0.0002, 0.0008, rows).astype(np.float32)
    return random.integers(0, 256, rows * width // 32 * 17, np.uint8), scales


def node_arrays(paths: Sequence[str], width: int, seed: int) -> Arrays:
    """Vectors of nodes in 4 bits, their scales and biases."""
    return (*random_rounded(len(list(filter(None, paths))), width, seed), random_bias(paths, seed))


def twin_nodes(paths: Sequence[str], arrays: Arrays) -> naive.Nodes:
    vectors, scales, bias = arrays
    rows, zeros = naive.unrounded(vectors, scales), np.zeros(len(bias))
    return naive.Nodes(paths, rows, bias.astype(float), zeros, zeros.copy())


@dataclass(frozen=True, eq=False)
class Network:
    """The arrays of a network, for the kernel and its twin."""

    kind: str
    arrays: Arrays

    @classmethod
    def random(cls, kind: str, seed: int, *, width: int = 32, n_words: int = N_WORDS) -> Network:
        random = np.random.default_rng(seed)

        def normal(*shape: int) -> NDArray[np.float32]:
            return random.normal(0, 0.5, shape).astype(np.float32).reshape(-1)

        near, far = (random_rounded(n_words, width, seed + one) for one in (1, 2))
        if kind == "recurrent":
            return cls(kind, (*near, normal(2 * width, 4 * width) / 4, normal(4 * width)))
        decays = np.array(DECAYS, np.float32)
        return cls(kind, (*near, *far, normal(3, width), normal(2, width), decays))

    def kernel(self, n_words: int = N_WORDS) -> _core.VectorNetwork:
        made = _core.LinearNetwork if self.kind == "linear" else _core.RecurrentNetwork
        return made(n_words, *self.arrays)

    def twin(self) -> Any:
        """Return a `naive.Linear` or a `naive.Recurrent`."""
        if self.kind == "recurrent":
            words, scales, matrix, bias = self.arrays
            width = len(bias) // 4
            return naive.Recurrent(
                naive.unrounded(words, scales),
                matrix.reshape(2 * width, -1).astype(float),
                bias.astype(float),
            )
        near, near_scales, far, far_scales, positions, sums, decays = self.arrays
        of_near, of_far = naive.unrounded(near, near_scales), naive.unrounded(far, far_scales)
        a, b = (one.astype(float).reshape(-1, of_near.shape[1]) for one in (positions, sums))
        return naive.Linear(of_near, of_far, a, b, decays.astype(float).tolist())


@dataclass(frozen=True, eq=False)
class VectorProblem:
    """A word tree model with a chain, and networks with random vectors of nodes."""

    networks: Sequence[Network]
    n_trees: int = 2
    n_words: int = N_WORDS
    caches: Sequence[Cache] = ()
    adaptive_rate: float = 0.02

    @property
    def trees(self) -> list[list[str]]:
        return [random_paths(self.n_words, seed) for seed in range(self.n_trees)]

    @property
    def problem(self) -> Problem:
        events = words_before(words_of(150, 3, self.n_words))
        return Problem(events, self.trees, [Chain((0,))], list(self.caches), adaptive_rate=self.adaptive_rate)

    def nodes(self, network: int) -> list[Arrays]:
        width = len(self.networks[network].arrays[0]) // self.n_words // 17 * 32
        return [node_arrays(paths, width, 10 * network + tree) for tree, paths in enumerate(self.trees)]

    def twin_nodes(self, network: int) -> list[naive.Nodes]:
        return [twin_nodes(*one) for one in zip(self.trees, self.nodes(network), strict=True)]

    def arguments(self) -> dict[str, Any]:
        vectors = [(one.kernel(self.n_words), self.nodes(k)) for k, one in enumerate(self.networks)]
        return self.problem.arguments() | {"vectors": vectors}

    def kernel(self) -> _core.TreeModelKernel:
        return _core.TreeModelKernel(**self.arguments())

    def weights_of(self, kernel: _core.TreeModelKernel, history: int, inputs: Sequence[int]) -> Any:
        """Weights by which some inputs, besides what is known without a context, are all that counts."""
        weights = np.zeros(kernel.n_weights(history), np.float32)
        for one in (0, 1, *inputs):
            weights[one * _core.N_COUNT_BUCKETS : (one + 1) * _core.N_COUNT_BUCKETS] = 1.0
        return [weights] * self.n_trees


def score(
    kernel: _core.TreeModelKernel,
    words: Sequence[int],
    starts: Sequence[int],
    history: int,
    weights: Any,
    state: _core.TextState | None = None,
    threads: int = 1,
) -> NDArray[np.float64]:
    """Return the log-probabilities of words, a row for each tree; carry the state on."""
    unknown = np.full(len(words), _core.NO_VALUE, np.uint32)
    state = state or kernel.start(history, True)
    found = kernel.score(
        ids(words), [unknown] * 5, np.zeros(len(words), np.uint32), np.array(starts, np.uint8),
        history, weights, state, threads,
    )  # fmt: skip
    return found.reshape(len(weights), -1)


def tree_arrays(trees: Sequence[Sequence[str]]) -> list[tuple[NDArray[np.uint32], NDArray[np.uint8]]]:
    return [tree_of(paths) for paths in trees]
