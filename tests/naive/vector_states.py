"""Vector states by their formulas: they map words so far to a point c, which predicts nodes of word trees.

A tree is a list of the paths to its words, as in `word_tree.py`. The log-odds of the right side of node n
after c are z_n = u_n . c + bias_n. Where the kernels count in 32 bits, this counts in 64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log1p, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

END = 2
MAX_LOG_ODDS = 15.0
MIN_ERROR = 1e-3  # of a decision: a smaller one teaches nothing
Values = NDArray[np.float64]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def log_sigmoid(x: float) -> float:
    return -log1p(np.exp(-x)) if x > 0 else x - log1p(np.exp(x))


# ---- random numbers


class Random:
    """SplitMix64."""

    def __init__(self, seed: int) -> None:
        self.state = np.uint64(seed)

    def parts(self, n: int) -> NDArray[np.int64]:
        """Return the next `n` numbers of 64 bits as rows of four of 16 bits, the lowest first."""
        golden = np.uint64(0x9E3779B97F4A7C15)
        with np.errstate(over="ignore"):
            x = self.state + golden * np.arange(1, n + 1, dtype=np.uint64)
            self.state = x[-1] if n else self.state
            x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
            x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
            x ^= x >> np.uint64(31)
        return np.stack([(x >> np.uint64(16 * i)) & np.uint64(0xFFFF) for i in range(4)], 1).astype(np.int64)

    def normal(self, *shape: int) -> Values:
        """Sums of four uniform numbers, of mean 0 and variance 1."""
        sums: Values = self.parts(int(np.prod(shape))).sum(axis=1).reshape(shape) - 131070.0
        return sums * (sqrt(3) / 65536)

    def mask(self, dropout: float, *shape: int) -> Values:
        """0 where an element is dropped, else what keeps the mean."""
        dropped = self.parts(int(np.prod(shape)) // 4).reshape(shape) < int(dropout * 65536)
        return np.where(dropped, 0.0, 1 / (1 - dropout))


# ---- rounding to 4 bits


def blocks(data: NDArray[np.uint8]) -> tuple[Values, Values]:
    """For each 32 numbers a scale, and -7.5, -6.5, ..., 7.5: the first 16 are the low halves of bytes."""
    of_blocks = data.reshape(-1, 17)
    halves = np.concatenate([of_blocks[:, 1:] & 15, of_blocks[:, 1:] >> 4], axis=1)
    return of_blocks[:, 0].astype(float), halves - 7.5


def unrounded(data: NDArray[np.uint8], scales: NDArray[Any]) -> Values:
    of_blocks, numbers = blocks(data)
    rows: Values = (of_blocks[:, None] * numbers).reshape(len(scales), -1) * scales.astype(float)[:, None]
    return rows


# ---- nodes


def node_numbers(paths: Sequence[str]) -> dict[str, int]:
    """The number of a node is how many words are left of its right side."""
    leaves = sorted(filter(None, paths))
    nodes = {path[:depth] for path in leaves for depth in range(len(path))}
    return {node: sum(leaf < node + "1" for leaf in leaves) for node in nodes}


@dataclass(frozen=True, eq=False)
class Nodes:
    """The vectors of the nodes of a tree, a row for each number, and the squares of their gradients."""

    paths: Sequence[str]
    vectors: Values
    bias: Values
    squares: Values
    bias_squares: Values
    close_calls: list[float] = field(default_factory=list)
    """How far errors were from the least one that teaches."""

    @classmethod
    def new(cls, paths: Sequence[str], width: int, bias: NDArray[Any]) -> Nodes:
        n = len(bias)
        return cls(paths, np.zeros((n, width)), bias.astype(float), np.zeros(n), np.zeros(n))

    @cached_property
    def numbers(self) -> dict[str, int]:
        return node_numbers(self.paths)

    def walk(self, word: int) -> Iterator[tuple[int, bool]]:
        """The nodes on the way to a word, and whether it goes to the right."""
        for depth, bit in enumerate(self.paths[word]):
            yield self.numbers[self.paths[word][:depth]], bit == "1"

    def log_odds(self, node: int, c: Values) -> float:
        z = float(self.vectors[node] @ c + self.bias[node])
        return min(max(z, -MAX_LOG_ODDS), MAX_LOG_ODDS)

    def log_prob(self, word: int, c: Values) -> float:
        odds = [(self.log_odds(node, c), right) for node, right in self.walk(word)]
        return sum(log_sigmoid(z if right else -z) for z, right in odds)

    def learn(self, word: int, c: Values, rate: float) -> tuple[float, Values]:
        """One step for each node on the way; return log p before it, and the gradient of c."""
        log_prob, gradient = self.log_prob(word, c), np.zeros(len(c))
        for node, right in self.walk(word) if rate else ():
            error = float(right) - sigmoid(self.log_odds(node, c))
            self.close_calls.append(abs(abs(error) - MIN_ERROR))
            if abs(error) < MIN_ERROR:
                continue
            gradient += error * self.vectors[node]
            step = adagrad(self.squares, node, error * c, rate, 0.1)
            self.vectors[node] += step * error * c
            self.bias[node] += error * adagrad(self.bias_squares, node, np.array([error]), rate, 1.0)
        return log_prob, gradient


def adagrad(squares: Values, row: int, gradient: Values, rate: float, start: float) -> float:
    """The rate of a row, which has one accumulator: the sum of the mean squares of its gradients."""
    squares[row] += np.mean(gradient**2)
    return rate / sqrt(squares[row] + start)


# ---- linear states


@dataclass(frozen=True, eq=False)
class Linear:
    """c = sum_j a_j * e(w_-j) + sum_k b_k * s_k, where * multiplies element by element.

    a_j are `positions`, b_k `sums`, e `near` vectors of words; s_k <- d_k s_k + r(w) with `far` vectors r.
    """

    near: Values
    far: Values
    positions: Values
    sums: Values
    decays: Sequence[float]

    @classmethod
    def new(
        cls, n_words: int, width: int, n_positions: int, decays: Sequence[float], random: Random
    ) -> Linear:
        near, far = (0.1 * random.normal(n_words, width) for _ in range(2))
        of_position = 1 / np.arange(1, n_positions + 1)
        of_sum = 1 - np.array(decays, float)
        return cls(near, far, np.outer(of_position, np.ones(width)), np.outer(of_sum, np.ones(width)), decays)

    def near_words(self, read: Sequence[int]) -> list[int]:
        """The last words, the nearest first."""
        return [*reversed(read)][: len(self.positions)]

    def states(self, read: Sequence[int]) -> Values:
        """Return the decayed sums of words since a start."""
        s = np.zeros((len(self.decays), self.near.shape[1]))
        for word in read:
            s = np.array(self.decays)[:, None] * s + self.far[word]
        return s

    def vector(self, read: Sequence[int]) -> Values:
        """Return the vector after some words since a start."""
        c: Values = (self.sums * self.states(read)).sum(axis=0)
        for a, word in zip(self.positions, self.near_words(read), strict=False):
            c = c + a * self.near[word]
        return c


class LinearLearner:
    """A linear state while it learns the events of a text, one after the other."""

    CHUNK = 32  # events through which gradients of sums are carried back

    def __init__(self, of: Linear, nodes: Sequence[Nodes]) -> None:
        self.of, self.nodes = of, nodes
        n_words = len(of.near)
        self.near_squares, self.far_squares = np.zeros(n_words), np.zeros(n_words)
        self.position_squares, self.sum_squares = np.ones_like(of.positions), np.ones_like(of.sums)
        self.read: list[int] = []
        self.s = of.states([])

    def learn(
        self, words: Sequence[int], resets: Sequence[int], begin: int, end: int, rates: tuple[float, float]
    ) -> list[float]:
        """Learn events; return the sum of log-probabilities by each tree."""
        log_probs = np.zeros(len(self.nodes))
        for first in range(begin, end, self.CHUNK):
            rate = rates[0] + (rates[1] - rates[0]) * (first - begin) / (end - begin)
            log_probs += self._learn_chunk(words, resets, first, min(end, first + self.CHUNK), rate)
        return log_probs.tolist()

    def _learn_chunk(
        self, words: Sequence[int], resets: Sequence[int], begin: int, end: int, rate: float
    ) -> Values:
        of, events = self.of, []
        log_probs = np.zeros(len(self.nodes))
        for event in range(begin, end):
            if resets[event]:
                self.read, self.s = [], of.states([])
            last = END if resets[event] or event == 0 else words[event - 1]
            self.read.append(last)
            self.s = np.array(of.decays)[:, None] * self.s + of.far[last]
            near = of.near_words(self.read)
            c = (of.sums * self.s).sum(axis=0)
            c = c + sum(a * of.near[word] for a, word in zip(of.positions, near, strict=False))
            learned = [one.learn(words[event], c, rate) for one in self.nodes]
            log_probs += [log_prob for log_prob, _ in learned]
            gradient = sum((g for _, g in learned), np.zeros(len(c)))
            events.append((last, self.s, gradient, bool(resets[event])))
            for j, word in enumerate(near if rate else ()):
                of_row = gradient * of.positions[j]
                step_by_element(
                    of.positions[j], self.position_squares[j], gradient * of.near[word], 0.3 * rate
                )
                of.near[word] += adagrad(self.near_squares, word, of_row, rate, 0.1) * of_row
        if rate:
            self._carry_back(events, rate)
        return log_probs

    def _carry_back(self, events: Sequence[tuple[int, Values, Values, bool]], rate: float) -> None:
        """The gradient of r(w), of all later events of the chunk: G_k <- d_k G_k + g * b_k."""
        of = self.of
        carried = np.zeros_like(of.sums)
        for word, s, gradient, is_reset in reversed(events):
            carried = np.array(of.decays)[:, None] * carried + gradient * of.sums
            for k in range(len(of.decays)):
                step_by_element(of.sums[k], self.sum_squares[k], gradient * s[k], 0.03 * rate)
            of_row = carried.sum(axis=0)
            of.far[word] += adagrad(self.far_squares, word, of_row, rate, 0.1) * of_row
            if is_reset:
                carried = np.zeros_like(of.sums)


def step_by_element(weights: Values, squares: Values, gradient: Values, rate: float) -> None:
    squares += gradient**2
    weights += rate * gradient / np.sqrt(squares)


class AdaptiveLinear:
    """A linear state that goes on learning while it scores; sums of squares begin anew."""

    RATE = 0.1

    def __init__(self, of: Linear, nodes: Sequence[Nodes]) -> None:
        self.of = Linear(of.near.copy(), of.far, of.positions, of.sums, of.decays)
        self.near_squares = np.zeros(len(of.near))
        self.nodes = [replace(one, vectors=one.vectors.copy(), bias=one.bias.copy()) for one in nodes]
        self.start()

    def start(self) -> None:
        self.read = [END]

    def learn(self, word: int) -> list[float]:
        """Return log p of the next word by each tree, and learn it."""
        c = self.of.vector(self.read)
        learned = [one.learn(word, c, self.RATE) for one in self.nodes]
        gradient = sum(g for _, g in learned) / len(learned)
        for a, near in zip(self.of.positions, self.of.near_words(self.read), strict=False):
            of_row = gradient * a
            self.of.near[near] += adagrad(self.near_squares, near, of_row, self.RATE, 0.1) * of_row
        self.read.append(word)
        return [log_prob for log_prob, _ in learned]


# ---- similar histories

MIN_COSINE, MAX_HISTORIES = 0.5, 1000


def cosines(vectors: Sequence[Values]) -> Values:
    """Return the cosine of the last vector and each before it."""
    *before, last = (v / (np.sqrt(v @ v) or 1.0) for v in vectors)
    return np.array([last @ v for v in before])


def similar_masses(
    vectors: Sequence[Values], words: Sequence[int], paths: Sequence[str], node: str
) -> tuple[float, float]:
    """m(side) = sum of exp(10 (cos - 1)) over the last 1000 words that went there."""
    masses = [0.0, 0.0]
    for cosine, word in list(zip(cosines(vectors), words, strict=True))[-MAX_HISTORIES:]:
        if cosine > MIN_COSINE and paths[word].startswith(node):
            masses[paths[word][len(node)] == "1"] += float(np.exp(10 * (cosine - 1)))
    return masses[0], masses[1]


# ---- recurrent states


@dataclass(frozen=True, eq=False)
class Recurrent:
    """An LSTM; `matrix` has rows for the vector of a word, then the hidden vector, and columns for gates."""

    words: Values
    matrix: Values
    bias: Values

    @classmethod
    def new(cls, n_words: int, width: int, random: Random) -> Recurrent:
        words = 0.1 * random.normal(n_words, width)
        matrix = random.normal(2 * width, 4 * width) / sqrt(2 * width)
        return cls(words, matrix, np.repeat([0.0, 1.0, 0.0, 0.0], width))

    @property
    def width(self) -> int:
        return int(self.words.shape[1])

    def step(self, x: Values, hidden: Values, cell: Values) -> tuple[Values, ...]:
        """Return the hidden vector and the cell after an input, tanh of the cell, and the gates."""
        gates = np.concatenate((x, hidden), axis=-1) @ self.matrix + self.bias
        first = 3 * self.width
        gates = np.concatenate((sigmoid(gates[..., :first]), np.tanh(gates[..., first:])), axis=-1)
        let_in, keep, let_out, value = np.split(gates, 4, axis=-1)
        cell = keep * cell + let_in * value
        return let_out * np.tanh(cell), cell, np.tanh(cell), gates

    def state(self, read: Sequence[int]) -> tuple[Values, Values]:
        """Return the hidden vector and the cell after some words since a start."""
        hidden = cell = np.zeros(self.width)
        for word in read:
            hidden, cell, *_ = self.step(self.words[word], hidden, cell)
        return hidden, cell

    def vector(self, read: Sequence[int]) -> Values:
        return self.state(read)[0]

    def forward(self, inputs: Values, resets: NDArray[np.bool_], hidden: Values, cell: Values) -> Steps:
        """Read steps of several streams at once; where a stream is reset, it begins with zeros."""
        steps = []
        for x, is_reset in zip(inputs, resets, strict=True):
            keep = 1.0 - is_reset[:, None]
            before, cell_before = hidden * keep, cell * keep
            hidden, cell, tanh_cell, gates = self.step(x, before, cell_before)
            steps.append((hidden, cell, tanh_cell, gates, before, cell_before))
        columns = [np.array(of) for of in zip(*steps, strict=True)]
        return Steps(self, inputs, resets, *columns)


@dataclass(frozen=True, eq=False)
class Steps:
    """What is known after some steps, by step and stream."""

    of: Recurrent
    inputs: Values
    resets: NDArray[np.bool_]
    hidden: Values
    cell: Values
    tanh_cell: Values
    gates: Values
    before: Values
    cell_before: Values

    def backward(self, gradient: Values) -> tuple[Values, Values, Values]:
        """From the gradients of the hidden vectors to those of the matrix, the bias and the inputs."""
        later = of_cell = np.zeros_like(gradient[0])
        of_gates = np.zeros_like(self.gates)
        for t in reversed(range(len(gradient))):
            let_in, keep, let_out, value = np.split(self.gates[t], 4, axis=-1)
            g = gradient[t] + later
            of_cell = of_cell + g * let_out * (1 - self.tanh_cell[t] ** 2)
            of_gates[t] = np.concatenate(
                (
                    of_cell * value * let_in * (1 - let_in),
                    of_cell * self.cell_before[t] * keep * (1 - keep),
                    g * self.tanh_cell[t] * let_out * (1 - let_out),
                    of_cell * let_in * (1 - value**2),
                ),
                axis=-1,
            )
            # Nothing goes back beyond a reset.
            through = 1.0 - self.resets[t][:, None]
            later = of_gates[t] @ self.of.matrix[self.of.width :].T * through
            of_cell = of_cell * keep * through
        rows = np.concatenate((self.inputs, self.before), axis=-1)
        of_matrix = np.einsum("tsi,tsj->ij", rows, of_gates)
        return of_matrix, of_gates.sum(axis=(0, 1)), of_gates @ self.of.matrix[: self.of.width].T


class RecurrentLearner:
    """An LSTM while it learns, from 32 parts of a text side by side, 32 words of each at a time."""

    STREAMS = STEPS = 32
    MAX_GRADIENT = 1.0

    def __init__(self, of: Recurrent, nodes: Sequence[Nodes], dropout: tuple[float, float], random: Random):
        self.of, self.nodes, self.dropout, self.random = of, nodes, dropout, random
        self.word_squares = np.zeros(len(of.words))
        self.moments: Mapping[str, list[Values]] = {
            name: [np.zeros_like(getattr(of, name)) for _ in range(2)] for name in ("matrix", "bias")
        }
        self.n_updates = 0
        self.hidden = self.cell = np.zeros((self.STREAMS, of.width))
        self.gradients: dict[str, Values] = {}

    def learn(
        self, words: Sequence[int], resets: Sequence[int], batch: int, matrix_rate: float, row_rate: float
    ) -> list[float]:
        """Learn a batch; return the sum of log-probabilities by each tree."""
        of, n = self.of, len(words) // self.STREAMS
        events = batch * self.STEPS + np.arange(self.STEPS)[:, None] + n * np.arange(self.STREAMS)
        is_reset = (np.array(resets)[events] != 0) | (events % n == 0)
        last = np.where(is_reset, END, np.array(words)[events - 1])
        shape = (self.STEPS, self.STREAMS, of.width)
        input_mask, output_mask = (self.random.mask(one, *shape) for one in self.dropout)
        steps = of.forward(of.words[last] * input_mask, is_reset, self.hidden, self.cell)
        self.hidden, self.cell = steps.hidden[-1], steps.cell[-1]
        # Nodes learn at once; their gradients go to the network on average of the trees.
        gradient, log_probs = np.zeros(shape), np.zeros(len(self.nodes))
        for place in np.ndindex(self.STEPS, self.STREAMS):
            c, word = steps.hidden[place] * output_mask[place], words[int(events[place])]
            for t, one in enumerate(self.nodes):
                log_prob, of_c = one.learn(word, c, row_rate)
                log_probs[t] += log_prob
                gradient[place] += of_c / len(self.nodes)
        of_matrix, of_bias, of_inputs = steps.backward(gradient * output_mask)
        of_inputs = of_inputs * input_mask
        for place in np.ndindex(self.STEPS, self.STREAMS):
            g, word = of_inputs[place], int(last[place])
            of.words[word] += adagrad(self.word_squares, word, g, row_rate, 0.05) * g
        self._adam({"matrix": of_matrix, "bias": of_bias}, matrix_rate)
        return log_probs.tolist()

    def _adam(self, gradients: Mapping[str, Values], rate: float) -> None:
        """A step up the mean gradient, which is made shorter where it is longer than 1."""
        mean = {name: one / (self.STEPS * self.STREAMS) for name, one in gradients.items()}
        norm = sqrt(sum(float((one**2).sum()) for one in mean.values()))
        self.n_updates += 1
        for name, one in mean.items():
            g = self.gradients[name] = one * min(1.0, self.MAX_GRADIENT / norm) if norm else one
            first, second = self.moments[name]
            first += (1 - 0.9) * (g - first)
            second += (1 - 0.99) * (g**2 - second)
            unbiased = first / (1 - 0.9**self.n_updates)
            weights: Values = getattr(self.of, name)
            weights += rate * unbiased / (np.sqrt(second / (1 - 0.99**self.n_updates)) + 1e-8)


# ---- scoring


def log_probs(
    vector: Callable[[Sequence[int]], Values],
    nodes: Sequence[Nodes],
    words: Sequence[int],
    is_start: Sequence[bool],
    read: Sequence[int] = (END,),
) -> Values:
    """Return log p of each word, a row for each tree; words so far begin anew where `is_start` is true."""
    found = np.zeros((len(nodes), len(words)))
    so_far = list(read)
    for place, word in enumerate(words):
        if is_start[place]:
            so_far = [END]
        c = vector(so_far)
        found[:, place] = [one.log_prob(word, c) for one in nodes]
        so_far.append(word)
    return found
