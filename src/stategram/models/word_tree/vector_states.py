"""Vector states: networks that map the words so far to a point, and give evidence at all nodes of word trees.

A *linear* state is a sum of the vectors of the last words and of decayed sums of all words of the document; a
*recurrent* state is the hidden vector of an LSTM. Both learn to predict the nodes of the same trees.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.errors import UsageError
from stategram.models.word_tree.tree import WordTree
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.text import Corpus

_log = logging.getLogger(__name__)

MAX_WIDTH = 1024
# A linear state: words that have a position, and decays of its sums per word.
_POSITIONS = 10
_DECAYS = (0.8, 0.95, 0.99, 0.998)
# Sentences at which states start anew, so that they serve with and without earlier sentences.
_RESETS = 0.3
_EVENTS_PER_CALL = 1 << 16
_SECONDS_PER_REPORT = 0.5


# What files and kernels have of a network.
NETWORK_ARRAYS = {
    "linear": ("near", "near-scales", "far", "far-scales", "positions", "sums", "decays"),
    "recurrent": ("words", "word-scales", "matrix", "bias"),
}
NodeArrays: TypeAlias = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]


@dataclass(frozen=True)
class VectorShape:
    """What kind of vector state it is, and how many numbers it has.

    >>> str(VectorShape.parse("linear 256"))
    'linear 256'
    """

    kind: str
    width: int

    @classmethod
    def parse(cls, text: str) -> VectorShape:
        """Parse a shape such as ``recurrent 160``."""
        found, step = re.fullmatch(r"(\S+) ([1-9][0-9]{0,3})", text), _core.VECTOR_PADDING
        kind, width = (found[1], int(found[2])) if found else ("", 0)
        if kind not in NETWORK_ARRAYS or width > MAX_WIDTH or width % step:
            raise UsageError(
                f"{text!r} is no vector state: expected linear or recurrent and a multiple of {step} up to "
                f"{MAX_WIDTH}, such as linear 256"
            )
        return cls(kind, width)

    def __str__(self) -> str:
        return f"{self.kind} {self.width}"


@dataclass(frozen=True, eq=False)
class VectorState:
    """A network, and for each tree the vectors of its nodes.

    Parameters
    ----------
    shape
        Its kind and width.
    network
        The arrays of the network, by name.
    nodes
        For each tree the vectors of its nodes in 4 bits, their scales and biases.

    """

    shape: VectorShape
    network: Mapping[str, NDArray[Any]]
    nodes: tuple[NodeArrays, ...]

    @property
    def parameters(self) -> int:
        """The numbers of the network and of the vectors of nodes."""
        arrays = [array for name, array in self.network.items() if not name.endswith("scales")]
        arrays += [array for vectors, _, bias in self.nodes for array in (vectors, bias)]
        numbers = _core.VECTOR_PADDING / _core.BLOCK_BYTES
        return sum(round(array.size * (numbers if array.dtype == np.uint8 else 1)) for array in arrays)

    @property
    def n_bytes(self) -> int:
        """The bytes of all arrays."""
        of_nodes = (one for nodes in self.nodes for one in nodes)
        return sum(one.nbytes for one in (*self.network.values(), *of_nodes))

    def for_kernel(self, n_words: int) -> tuple[_core.VectorNetwork, list[NodeArrays]]:
        """Return what the kernel takes."""
        made = _core.LinearNetwork if self.shape.kind == "linear" else _core.RecurrentNetwork
        arrays = [self.network[name] for name in NETWORK_ARRAYS[self.shape.kind]]
        arrays = [one.astype(np.float32) if one.dtype == np.float16 else one for one in arrays]
        return made(n_words, *arrays), list(self.nodes)


@dataclass(frozen=True)
class Lesson:
    """A text to learn from: its words, and where states start anew."""

    words: NDArray[np.uint32]
    resets: NDArray[np.uint8]

    @classmethod
    def of(cls, corpus: Corpus, left_out: Sequence[tuple[int, int]], seed: int) -> Lesson:
        """Return a text without some ranges of sentences."""
        n = corpus.n_sentences
        kept = np.ones(n, bool)
        for begin, end in left_out:
            kept[begin:end] = False
        resets = np.random.default_rng(seed).random(n) < _RESETS
        resets[corpus.document_starts[corpus.document_starts < n]] = True
        resets[1:] |= ~kept[:-1]
        lengths = np.diff(corpus.sentence_starts)
        starts = np.zeros(corpus.n_events, np.uint8)
        first = corpus.sentence_starts[:-1][lengths > 0]
        starts[first] = resets[lengths > 0]
        here = np.repeat(kept, lengths)
        words, starts = corpus.ids[here], starts[here]
        starts[:1] = 1
        return cls(words, starts)


def learn_vector_states(
    shapes: Sequence[VectorShape],
    lesson: Lesson,
    trees: Sequence[WordTree],
    bias: Sequence[NDArray[np.float32]],
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[VectorState, ...]:
    """Learn vector states on a text, each in a thread of its own."""
    codes = [(tree.codes, tree.lengths) for tree in trees]
    reports = [(0.0, "vector states")] * len(shapes)
    stop = threading.Event()

    def learn(number: int) -> VectorState:
        def report(fraction: float, message: str) -> None:
            if stop.is_set():
                raise KeyboardInterrupt
            reports[number] = (fraction, message)

        shape, started = shapes[number], time.monotonic()
        found = _LEARN[shape.kind](shape, lesson, codes, list(bias), seed + number, report)
        _log.info("vector state %s: %.1f s", shape, time.monotonic() - started)
        return found

    if progress:
        progress(0.0, "vector states")
    with ThreadPoolExecutor(max(1, min(Resources.current().threads, len(shapes)))) as pool:
        futures = [pool.submit(learn, number) for number in range(len(shapes))]
        try:
            while (now := wait(futures, _SECONDS_PER_REPORT)).not_done:
                for one in now.done:
                    one.result()  # an error ends the others
                if progress:
                    under_way = [one for one in reports if one[0] < 1.0]
                    progress(float(np.mean([one[0] for one in reports])), min(under_way or reports)[1])
        except BaseException:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return tuple(future.result() for future in futures)


def unlearned_states(
    shapes: Sequence[VectorShape], trees: Sequence[WordTree], bias: Sequence[NDArray[np.float32]]
) -> tuple[VectorState, ...]:
    """Return vector states that learned nothing: they are as large as any others."""
    nothing = Lesson(np.zeros(0, np.uint32), np.zeros(0, np.uint8))
    codes = [(tree.codes, tree.lengths) for tree in trees]
    return tuple(_LEARN[shape.kind](shape, nothing, codes, list(bias), 0, None) for shape in shapes)


def _learn_linear(
    shape: VectorShape, lesson: Lesson, trees: Any, bias: Any, seed: int, progress: Progress | None
) -> VectorState:
    n = len(lesson.words)
    learner = _core.LinearLearner(trees, bias, shape.width, _POSITIONS, list(_DECAYS), seed)
    n_passes = 2

    def call(begin: int, end: int, at: Callable[[int], float]) -> list[float]:
        rates = [0.1 - 0.09 * at(event) for event in (begin, end)]
        return learner.learn(lesson.words, lesson.resets, begin, end, *rates)

    _passes(shape, n_passes, n, _EVENTS_PER_CALL, 1, call, progress)
    (near, near_scales), (far, far_scales) = learner.near_vectors(), learner.far_vectors()
    network: dict[str, NDArray[Any]] = {
        "near": near,
        "near-scales": near_scales,
        "far": far,
        "far-scales": far_scales,
        "positions": learner.positions(),
        "sums": learner.sums(),
        "decays": np.array(_DECAYS, np.float32),
    }
    return VectorState(shape, network, tuple(learner.nodes()))


def _learn_recurrent(
    shape: VectorShape, lesson: Lesson, trees: Any, bias: Any, seed: int, progress: Progress | None
) -> VectorState:
    n = len(lesson.words)
    # The more text, the less of it has to be hidden, and the fewer passes it takes.
    size = float(np.clip((np.log(max(n, 1)) - np.log(2e6)) / np.log(4), 0, 1))
    dropout = (0.2 - 0.15 * size, 0.35 - 0.25 * size)
    n_passes = int(np.clip(round(4 * (2e6 / max(n, 1)) ** 0.5), 1, 12))
    learner = _core.RecurrentLearner(trees, bias, shape.width, *dropout, seed)
    n_batches = learner.n_batches(n)

    def call(begin: int, end: int, at: Callable[[int], float]) -> list[float]:
        first, last = (
            (4e-3 + (5e-5 - 4e-3) * at(one), 0.12 + (0.005 - 0.12) * at(one)) for one in (begin, end)
        )
        return learner.learn(lesson.words, lesson.resets, begin, end, first, last)

    size_of_batch = learner.EVENTS_PER_BATCH
    # A call takes about a second, whatever the width.
    per_call = max(1, _EVENTS_PER_CALL * 256**2 // max(shape.width, 256) ** 2 // size_of_batch)
    _passes(shape, n_passes, n_batches, per_call, size_of_batch, call, progress)
    words, scales = learner.word_vectors()
    network: dict[str, NDArray[Any]] = {
        "words": words,
        "word-scales": scales,
        "matrix": learner.matrix().astype(np.float16),
        "bias": learner.bias(),
    }
    return VectorState(shape, network, tuple(learner.nodes()))


_LEARN = {"linear": _learn_linear, "recurrent": _learn_recurrent}


def _passes(
    shape: VectorShape,
    n_passes: int,
    n_steps: int,
    per_call: int,
    events_per_step: int,
    call: Callable[[int, int, Callable[[int], float]], list[float]],
    progress: Progress | None,
) -> None:
    """Call a learner for all of its steps in each pass; `at` is the fraction done of all passes."""
    for number in range(n_passes):

        def at(step: int, number: int = number) -> float:
            return (number + step / max(n_steps, 1)) / n_passes

        for begin in range(0, n_steps, per_call):
            end = min(n_steps, begin + per_call)
            sums = call(begin, end, at)
            if progress:
                perplexity = np.exp(-np.mean(sums) / ((end - begin) * events_per_step))
                found = f"perplexity {perplexity:,.1f} of the training text"
                progress(at(end), f"vector state {shape}: pass {number + 1} of {n_passes}, {found}")
