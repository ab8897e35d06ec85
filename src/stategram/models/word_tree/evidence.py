"""All that gives evidence at the nodes of word trees: trees, values, chains with their counts, caches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import Workspace
from stategram.errors import BadDataError
from stategram.models.model import HISTORIES
from stategram.models.word_tree.chains import Cache, Chain
from stategram.models.word_tree.counting import LevelCounts, count_chain
from stategram.models.word_tree.tree import WordTree
from stategram.models.word_tree.values import Past, Stream, Value, ValueSources, values_of
from stategram.models.word_tree.vector_states import (
    Lesson,
    VectorShape,
    VectorState,
    learn_vector_states,
    unlearned_states,
)
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.text import Corpus

# From how many n-grams of a level discounts are estimated. They are in the order of hashes: a random sample.
_SAMPLE = 1 << 20
# The rate of Adagrad with which adaptive scoring goes on learning weights.
_ADAPTIVE_RATE = 0.01
# How many nodes of a tree have weights of their own.
_FREQUENT_NODES = 400


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known at the nodes of word trees.

    Parameters
    ----------
    trees
        The trees.
    sources
        Where the values of contexts come from.
    chains
        Those that know of nothing but the sentence come first.
    counts
        The counts of each chain, level by level.
    caches
        The caches of the words so far.
    word_counts, word_contexts
        How often each word occurs, and after how many different words.
    vectors
        The vector states.

    """

    trees: tuple[WordTree, ...]
    sources: ValueSources
    chains: tuple[Chain, ...]
    counts: tuple[tuple[LevelCounts, ...], ...]
    caches: tuple[Cache, ...]
    word_counts: NDArray[np.uint32]
    word_contexts: NDArray[np.uint32]
    vectors: tuple[VectorState, ...] = ()

    @classmethod
    def count(
        cls,
        corpus: Corpus,
        trees: Sequence[WordTree],
        sources: ValueSources,
        chains: Sequence[Chain],
        caches: Sequence[Cache],
        word_contexts: NDArray[np.uint32],
        *,
        progress: Progress | None = None,
    ) -> Evidence:
        """Count the contexts of all chains in a text."""
        ordered = sorted(chains, key=lambda chain: chain.crosses_sentences)
        workspace, counts = Workspace(), []
        for number, chain in enumerate(ordered):
            step = subprogress(progress, number / len(ordered), (number + 1) / len(ordered))
            levels = count_chain(chain, corpus, sources, trees, progress=step)
            _core.trim_memory()  # the many small lists of a level leave gaps
            workspace.spill_when_scarce(sum(level.n_bytes for level in levels))
            counts.append(tuple(level.moved_to(workspace) for level in levels))
            del levels
        found = cls(
            tuple(trees),
            sources,
            tuple(ordered),
            tuple(counts),
            tuple(caches),
            corpus.word_counts.astype(np.uint32),
            word_contexts,
        )
        return found._with_node_discounts()

    def _with_node_discounts(self) -> Evidence:
        discounts = iter(self.kernel.node_discounts(_SAMPLE, Resources.current().threads))
        counts = tuple(
            tuple(replace(level, node_discounts=np.array(next(discounts), np.float32)) for level in levels)
            for levels in self.counts
        )
        return replace(self, counts=counts)

    def __getstate__(self) -> dict[str, Any]:
        # Without the kernel, which is made again where it is needed.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def with_vectors(
        self,
        shapes: Sequence[VectorShape],
        corpus: Corpus,
        left_out: Sequence[tuple[int, int]],
        *,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Evidence:
        """Return the evidence with vector states learned on a text without some ranges of its sentences."""
        bias = [self.kernel.root_log_odds(number) for number in range(len(self.trees))]
        lesson = Lesson.of(corpus, left_out, seed)
        vectors = learn_vector_states(shapes, lesson, self.trees, bias, seed=seed, progress=progress)
        return replace(self, vectors=vectors)

    def with_unlearned_vectors(self, shapes: Sequence[VectorShape]) -> Evidence:
        """Return the evidence with vector states that learned nothing."""
        bias = [self.kernel.root_log_odds(number) for number in range(len(self.trees))]
        return replace(self, vectors=unlearned_states(shapes, self.trees, bias))

    @cached_property
    def values(self) -> list[Value]:
        """The distinct values of all contexts."""
        return list(dict.fromkeys(values_of(self.chains, self.caches)))

    @cached_property
    def reach(self) -> int:
        """How many words of the sentence contexts depend on."""
        return self.sources.reach(self.values)

    @cached_property
    def n_classes(self) -> int:
        """The number of classes of the last word, with one for none."""
        labels = self.sources.labels.get("g1")
        return 1 if labels is None else int(labels.max()) + 2

    @cached_property
    def histories(self) -> tuple[str, ...]:
        """The histories that make a difference."""
        crosses = bool(self.vectors) or any(chain.crosses_sentences for chain in self.chains)
        adapts = bool(self.caches) or any(one.shape.kind == "linear" for one in self.vectors)
        return tuple(name for name, used in zip(HISTORIES, (True, crosses, adapts), strict=True) if used)

    @cached_property
    def kernel(self) -> _core.TreeModelKernel:
        """The kernel over all counts."""
        try:
            return self.make_kernel()
        except (TypeError, ValueError) as error:
            raise BadDataError(f"a damaged word tree model ({error}); write it again") from error

    def make_kernel(self) -> _core.TreeModelKernel:
        """Return a kernel over all counts; ValueError if they do not fit together."""
        places = {value: number for number, value in enumerate(self.values)}
        return _core.TreeModelKernel(
            [(tree.codes, tree.lengths) for tree in self.trees],
            [
                ([places[value] for value in chain.values], chain.uses_continuation, chain.crosses_sentences)
                for chain in self.chains
            ],
            [level.for_kernel() for levels in self.counts for level in levels],
            len(self.values),
            self.word_counts,
            self.word_contexts,
            _FREQUENT_NODES,
            self.n_classes,
            [([places[value] for value in cache.values], cache.decay) for cache in self.caches],
            [one.for_kernel(len(self.word_counts)) for one in self.vectors],
            _ADAPTIVE_RATE,
        )

    def inputs(self, corpus: Corpus, past: Past) -> tuple[list[Stream], Stream, NDArray[np.uint8]]:
        """Return the values of all events of a text, the class of the last word before each, and starts.

        The starts are 1 at the first event of a sentence, 2 at that of a document, and 0 elsewhere.
        """
        streams = self.sources.streams(self.values, corpus, past)
        starts = np.zeros(corpus.n_events, np.uint8)
        first = corpus.sentence_starts[:-1]
        first = first[first < corpus.n_events]
        starts[first] = 1
        starts[first[corpus.document_starts[corpus.document_starts < len(first)]]] = 2
        if past.words or not past.is_start:
            starts[:1] = 0
        if self.n_classes == 1:
            return streams, np.zeros(corpus.n_events, np.uint32), starts
        (classes,) = self.sources.streams([Value("g1", 1)], corpus, past)
        return streams, np.minimum(classes, np.uint32(self.n_classes - 1)), starts

    def initial_weights(self, history: str) -> list[NDArray[np.float32]]:
        """Return weights to begin with for each tree: each chain counts the same, no set is special."""
        number = HISTORIES.index(history)
        buckets = _core.N_COUNT_BUCKETS
        weights = np.zeros(self.kernel.n_weights(number), np.float32)
        n_estimates = sum(1 + chain.uses_continuation for chain in self.chains)
        weights[: self.kernel.n_inputs(number) * buckets] = 1 / max(3, n_estimates)
        weights[:buckets], weights[buckets : 2 * buckets] = 1.0, 0.0
        weights[2 * buckets : (2 + len(self.vectors)) * buckets] = 0.5 / max(1, len(self.vectors))
        return [weights.copy() for _ in self.trees]

    def describe_counts(self) -> list[dict[str, Any]]:
        """Return for each chain its values, contexts, n-grams and bytes."""
        return [
            {
                "chain": str(chain),
                "contexts": sum(level.contexts for level in levels),
                "ngrams": sum(level.ngrams for level in levels),
                "bytes": sum(level.n_bytes for level in levels),
            }
            for chain, levels in zip(self.chains, self.counts, strict=True)
        ]
