"""The weights of evidence, learned on left-out training text and tuned on held-out text.

Blocks of the training text are left out of the counts, one at a time, and predicted by the rest: what is
learned there holds for text that was never seen. Then the weights are tuned on the held-out text, if that
pays: each of its events is predicted before it is learned from, and the tuned weights are kept if they
predicted better than the weights before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.models.model import HISTORIES
from stategram.models.word_tree.evidence import Evidence
from stategram.models.word_tree.values import Past, Stream
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.text import Corpus

_log = logging.getLogger(__name__)

# The rate of Adagrad in each pass over the blocks, and in the passes over the held-out text.
_RATES = (0.03, 0.006)
_TUNING_RATES = (0.02,)
_EVENTS_PER_BLOCK = 4000
_MIN_BLOCK = 200
_EVENTS_PER_TUNING_BLOCK = 500
# Enough to tune on: the beginning of a longer held-out text is taken.
_TUNING_EVENTS = 250_000
# Words that the rest of the text has fewer times than that would be unknown to it, or nearly.
_MIN_LEFT = 3
# Caches are filled with so many words before each block.
_WARM_UP = 3000
# So many events are gathered for one call of the kernel.
_EVENTS_PER_CALL = 16384


@dataclass(frozen=True, eq=False)
class Weights:
    """The learned weights for each history and tree, and what was found."""

    by_history: dict[str, list[NDArray[np.float32]]]
    info: dict[str, object]


@dataclass(frozen=True)
class Block:
    """Some sentences of a text, and those before that fill the caches."""

    warm: int
    begin: int
    end: int

    def n_events(self, corpus: Corpus) -> int:
        """Return the number of events of the sentences."""
        return int(corpus.sentence_starts[self.end] - corpus.sentence_starts[self.begin])


def choose_blocks(corpus: Corpus, n_events: int, seed: int) -> list[Block]:
    """Choose blocks of the training text with about `n_events` events, in random order."""
    # Of a small text, a block is a small part too.
    blocks = _blocks(corpus, min(_EVENTS_PER_BLOCK, max(_MIN_BLOCK, corpus.n_events // 20)))
    order = np.random.default_rng(seed).permutation(len(blocks))
    sizes = np.array([one.n_events(corpus) for one in blocks])
    n_blocks = int(np.searchsorted(np.cumsum(sizes[order]), n_events)) + 1
    return [blocks[number] for number in order[:n_blocks].tolist()]


def learn_weights(
    evidence: Evidence,
    corpus: Corpus,
    heldout: Corpus | None,
    chosen: list[Block],
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> Weights:
    """Learn the weights of all histories on some blocks of the training text, left out of the counts."""
    learner = _Learner(evidence, seed)
    info: dict[str, object] = {"events": sum(one.n_events(corpus) for one in chosen), "blocks": len(chosen)}
    for number, rate in enumerate(_RATES):
        title = f"weights, pass {number + 1} of {len(_RATES)}"
        step = subprogress(progress, number * 0.4, (number + 1) * 0.4, title)
        result = learner.learn(corpus, chosen, rate, leave_out=True, progress=step)
        info["left_out_perplexity"] = learner.perplexities(result)
    if result.events == 0:
        _log.warning(
            "no weights could be learned from the training text: without a part of it, too few of its words "
            "are left; give a longer text, of more than one sentence"
        )
    if heldout is not None:
        info["tuning"] = _tune(learner, heldout, subprogress(progress, 0.8, 1.0, "tuning"))
    return Weights(learner.by_history(), info)


def _tune(learner: _Learner, heldout: Corpus, progress: Progress | None) -> dict[str, dict[str, float]]:
    """Go on learning on the held-out text, where that pays; return the perplexity before and after."""
    n_sentences = int(np.searchsorted(heldout.sentence_starts, _TUNING_EVENTS, "right")) - 1
    heldout = heldout.sentences(0, max(n_sentences, min(1, heldout.n_sentences)))
    blocks = _blocks(heldout, _EVENTS_PER_TUNING_BLOCK)
    before = learner.copy()
    # A rate of 0 learns nothing: what is returned is how well the weights predict.
    result = learner.learn(heldout, blocks, 0.0, leave_out=False, progress=subprogress(progress, 0.0, 0.4))
    static = result
    for number, rate in enumerate(_TUNING_RATES):
        step = subprogress(progress, 0.4, 1.0)
        tuned = learner.learn(heldout, blocks, rate, leave_out=False, progress=step)
        if number == 0:
            result = tuned  # of events that were not yet learned from
    for place, (old, new) in enumerate(zip(static.log_probs, result.log_probs, strict=True)):
        if new <= old:
            learner.restore(place, before)
    found = {"before": learner.perplexities(static), "while_tuning": learner.perplexities(result)}
    changes = (
        f"{name} {found['before'][name]:.1f} -> {found['while_tuning'][name]:.1f}" for name in learner.names
    )
    _log.info(
        "perplexity of a single tree on the held-out text, before and while tuning: %s", ", ".join(changes)
    )
    return found


@dataclass(frozen=True)
class _Result:
    """The sum of log-probabilities by each history and tree, and the number of events."""

    log_probs: list[float]
    events: int


class _Learner:
    """The weights of all histories and trees while they are learned."""

    def __init__(self, evidence: Evidence, seed: int) -> None:
        self.evidence, self.seed = evidence, seed
        most = HISTORIES.index(evidence.histories[-1])
        # The kernel learns every history up to the farthest.
        self.names = HISTORIES[: most + 1]
        self.weights = [one for name in self.names for one in evidence.initial_weights(name)]
        self.squares = [np.ones_like(one) for one in self.weights]
        self.calls = 0

    def copy(self) -> list[NDArray[np.float32]]:
        return [one.copy() for one in self.weights]

    def restore(self, place: int, weights: list[NDArray[np.float32]]) -> None:
        self.weights[place] = weights[place]

    def by_history(self) -> dict[str, list[NDArray[np.float32]]]:
        n = len(self.evidence.trees)
        found = {name: self.weights[i * n : (i + 1) * n] for i, name in enumerate(self.names)}
        return {name: found[name] for name in self.evidence.histories}

    def perplexities(self, result: _Result) -> dict[str, float]:
        """Return the perplexity of each history, of an average tree."""
        sums = np.array(result.log_probs).reshape(len(self.names), -1).mean(axis=1)
        perplexities = np.exp(-sums / max(result.events, 1))
        return {name: round(float(one), 3) for name, one in zip(self.names, perplexities, strict=True)}

    def learn(
        self, corpus: Corpus, blocks: list[Block], rate: float, *, leave_out: bool, progress: Progress | None
    ) -> _Result:
        """Learn from blocks of a text in turn."""
        sums, events, done = np.zeros(len(self.weights)), 0, 0
        # The blocks of a held-out text follow each other.
        state = None if leave_out else self.evidence.kernel.start(len(self.names) - 1, True)
        for batch in _batches(corpus, blocks):
            gathered = _gather(self.evidence, corpus, batch, leave_out=leave_out)
            sums += self.evidence.kernel.learn(
                *gathered, self.weights, self.squares, rate, leave_out, self.seed + self.calls, state,
                Resources.current().threads,
            )  # fmt: skip
            events += int(np.count_nonzero(gathered[-1]))
            self.calls += 1
            done += len(batch)
            if progress:
                perplexity = self.perplexities(_Result(sums.tolist(), events))[self.names[-1]]
                of = "left-out training text" if leave_out else "the held-out text"
                progress(done / len(blocks), f"perplexity {perplexity:,.1f} of {events:,} events of {of}")
        return _Result(sums.tolist(), events)


_Gathered = tuple[
    Stream,
    list[Stream],
    Stream,
    NDArray[np.uint8],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.int64],
    NDArray[np.uint8],
]


def _gather(evidence: Evidence, corpus: Corpus, blocks: list[Block], *, leave_out: bool) -> _Gathered:
    """Return what the kernel needs of some blocks: their events, with those before that fill the caches."""
    words, streams, classes, starts, used = [], [], [], [], []
    cache_begins, begins, ends = [], [], []
    at = 0
    for block in blocks:
        piece = corpus.sentences(block.warm, block.end)
        of_piece, of_class, of_starts = evidence.inputs(piece, Past())
        warm = int(corpus.sentence_starts[block.begin] - corpus.sentence_starts[block.warm])
        if not leave_out:  # the state knows of the events before
            piece, of_piece = corpus.sentences(block.begin, block.end), [one[warm:] for one in of_piece]
            of_class, of_starts, warm = of_class[warm:], of_starts[warm:], 0
        words.append(piece.ids)
        streams.append(of_piece)
        classes.append(of_class)
        starts.append(of_starts)
        use = np.zeros(piece.n_events, np.uint8)
        use[warm:] = 1
        if leave_out:
            distinct, places, numbers = np.unique(piece.ids[warm:], return_inverse=True, return_counts=True)
            use[warm:] = (evidence.word_counts[distinct] - numbers >= _MIN_LEFT)[places]
        used.append(use)
        cache_begins.append(at)
        begins.append(at + warm)
        at += piece.n_events
        ends.append(at)
    return (
        np.concatenate(words),
        [np.concatenate(of_value) for of_value in zip(*streams, strict=True)],
        np.concatenate(classes),
        np.concatenate(starts),
        np.array(begins),
        np.array(ends),
        np.array(cache_begins),
        np.concatenate(used),
    )


def _batches(corpus: Corpus, blocks: list[Block]) -> Iterator[list[Block]]:
    batch: list[Block] = []
    events = 0
    for block in blocks:
        batch.append(block)
        events += int(corpus.sentence_starts[block.end] - corpus.sentence_starts[block.begin])
        if events >= _EVENTS_PER_CALL:
            yield batch
            batch, events = [], 0
    if batch:
        yield batch


def _blocks(corpus: Corpus, size: int) -> list[Block]:
    """Divide a text into blocks of about `size` events: short documents together, parts of long ones."""
    starts = corpus.sentence_starts
    is_document = np.zeros(corpus.n_sentences, bool)
    is_document[corpus.document_starts[corpus.document_starts < corpus.n_sentences]] = True
    of_document = np.maximum.accumulate(np.where(is_document, starts[:-1], 0))
    part = (starts[:-1] - of_document) // size
    is_new = (np.diff(of_document // size) != 0) | (np.diff(part) != 0)
    begins = np.concatenate(([0], np.flatnonzero(is_new) + 1))
    ends = np.append(begins[1:], corpus.n_sentences)
    warm = np.searchsorted(starts, np.maximum(starts[begins] - _WARM_UP, 0))
    return [Block(*one) for one in zip(warm.tolist(), begins.tolist(), ends.tolist(), strict=True)]
