"""The word tree model: a word is a walk down a binary tree, and all contexts give evidence at each node."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import count_bigrams
from stategram.display import Description, display_table, plural
from stategram.errors import BadDataError, UsageError
from stategram.models.budget import NO_LIMIT, Budget
from stategram.models.clusters import ModelClasses, ModelStates
from stategram.models.distributions import Distributions
from stategram.models.mixture_fitting import fit_weights, interpolate
from stategram.models.model import (
    HISTORIES,
    History,
    Model,
    draw_from,
    scoring_threads,
)
from stategram.models.model_files import ModelFiles, model_size
from stategram.models.scores import PartScores, Scores, State
from stategram.models.word_tree.chains import Cache, Chain
from stategram.models.word_tree.counting import count_chain
from stategram.models.word_tree.evidence import Evidence
from stategram.models.word_tree.files import read_evidence, write_evidence
from stategram.models.word_tree.learning import choose_blocks, learn_weights
from stategram.models.word_tree.max_size import Extent, extents, largest_extent, vectors_within
from stategram.models.word_tree.stepping import make_stepper
from stategram.models.word_tree.tree import WordTree
from stategram.models.word_tree.values import Past, ValueSources, values_of
from stategram.models.word_tree.vector_states import VectorShape
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.storage import Archive, Entries, Finite, array_of
from stategram.text import BEGIN, UNKNOWN, Corpus, Vocabulary, as_corpus

# Vector states learn from what is not left out for the weights: nineteen twentieths of a text, at least half
# of a small one.
_LEFT_OUT, _SMALL = 0.05, 20_000
# What a manifest has of the training of a model, besides the numbers of its contexts; at most.
_REPORT_BYTES = 8192


class _Tuning(Entries, frozen=True):
    while_tuning: dict[str, Finite]


class _Info(Entries, frozen=True):
    tuning: _Tuning | None = None


@dataclass(frozen=True, eq=False)
class WordTreeModel(Model):
    """A model in which many contexts give evidence at the nodes of binary trees of words.

    Parameters
    ----------
    vocabulary, training_info, metadata
        See `Model`.
    evidence
        The trees, and the counts of all contexts.
    weights
        For each history and tree, the weights of the evidence.
    tree_weights
        The weight of each tree.
    history
        How far back evidence may come from: ``sentence``, ``document`` or ``adaptive``; see `with_history`.

    Notes
    -----
    p(w | c) is the product of the decisions on the way to w. At each node the log-odds of all contexts are
    added up, with weights that were learned on text left out of the counts; whatever the weights are, p is a
    proper distribution. Several trees are interpolated.

    """

    kind: ClassVar[str] = "word-tree"
    kind_title: ClassVar[str] = "word tree model"
    info_entries: ClassVar[type[Entries]] = _Info

    evidence: Evidence = field(repr=False)
    weights: Mapping[str, Sequence[NDArray[np.float32]]] = field(repr=False)
    tree_weights: Mapping[str, NDArray[np.float64]] = field(repr=False)
    history: str = "sentence"

    @classmethod
    def train(
        cls,
        corpus: Corpus,
        heldout: Corpus | Iterable[str] | None,
        trees: Sequence[WordTree],
        sources: ValueSources,
        chains: Sequence[Chain],
        caches: Sequence[Cache] = (),
        vectors: Sequence[VectorShape] = (),
        *,
        n_predecessors: NDArray[np.uint32] | None = None,
        n_events: int = 300_000,
        budget: Budget = NO_LIMIT,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> WordTreeModel:
        """Count the contexts of a text and learn the weights of their evidence.

        Parameters
        ----------
        corpus
            The text.
        heldout
            Further text, on which the weights are tuned; None for none.
        trees
            The trees; their predictions are interpolated.
        sources, chains, caches
            The contexts that give evidence.
        vectors
            The vector states that give evidence.
        n_predecessors
            Before how many different words each word occurs; counted if None.
        n_events
            The number of events of the text from which weights are learned; with vector states, which must
            not know them, at most a twentieth of the text, or half of a small one.
        budget
            How large the file of the model may be. Vector states that need more than half of it are left
            out, then chains and trees from the last on (`max_size.py`). UsageError if ``max_size`` is too
            small.
        seed
            The seed of the choice of events.
        progress
            Called with the fraction done and a message.

        """
        if not trees or not chains:
            raise UsageError("a word tree model needs at least one tree and one chain")
        sources.check(values_of(chains, caches))
        heldout = None if heldout is None else as_corpus(corpus.vocabulary, heldout)
        if n_predecessors is None:
            n_predecessors = np.diff(count_bigrams(corpus).predecessors.offsets).astype(np.uint32)
        if budget.max_size is not None:
            chains, trees, vectors = _largest_within(
                budget.max_size,
                budget.reserved + _REPORT_BYTES,
                corpus,
                trees,
                sources,
                chains,
                caches,
                vectors,
                subprogress(progress, 0.0, 0.2),
            )
            sources, progress = sources.only(values_of(chains, caches)), subprogress(progress, 0.2, 1.0)
        evidence = Evidence.count(
            corpus,
            trees,
            sources,
            chains,
            caches,
            n_predecessors,
            progress=subprogress(progress, 0.0, 0.03 if vectors else 0.4, "contexts"),
        )
        if vectors:
            n = corpus.n_events
            n_events = min(n_events, max(int(_LEFT_OUT * n), min(n // 2, _SMALL)))
        blocks = choose_blocks(corpus, n_events, seed)
        if vectors:
            left_out = [(one.begin, one.end) for one in blocks]
            step = subprogress(progress, 0.03, 0.9)
            evidence = evidence.with_vectors(vectors, corpus, left_out, seed=seed, progress=step)
        step = subprogress(progress, 0.9 if vectors else 0.4, 1.0)
        learned = learn_weights(evidence, corpus, heldout, blocks, seed=seed, progress=step)
        equal = np.full(len(trees), 1 / len(trees))
        info = {"chains": evidence.describe_counts(), **learned.info}
        model = cls(
            corpus.vocabulary,
            evidence,
            learned.by_history,
            dict.fromkeys(learned.by_history, equal),
            training_info=info,
        )
        return model if heldout is None or len(trees) == 1 else model._with_tree_weights(heldout)

    def _with_tree_weights(self, heldout: Corpus) -> WordTreeModel:
        weights = {}
        for history in self.histories:
            model = self.with_history(history)
            log_probs, _ = model._tree_log_probs(heldout, model.start())
            weights[history] = fit_weights(list(log_probs))
        return replace(self, tree_weights=weights)

    def __repr__(self) -> str:
        history = "" if self.history == "sentence" else f", {self.history}"
        return (
            f"WordTreeModel({plural(len(self.evidence.trees), 'tree')}, "
            f"{plural(len(self.evidence.chains), 'chain')}{self._and_vectors}{history})"
        )

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        trees = plural(len(self.evidence.trees), "tree")
        return f"word tree model ({trees}, {plural(len(self.evidence.chains), 'chain')}{self._and_vectors})"

    @property
    def _and_vectors(self) -> str:
        vectors = self.evidence.vectors
        return f", {plural(len(vectors), 'vector state')}" if vectors else ""

    @property
    def order(self) -> int:
        """One more than the number of words of the sentence that contexts reach back."""
        return self.evidence.reach + 1

    @property
    def parameters(self) -> int:
        """The n-grams of all chains, the numbers of vector states, and the weights."""
        ngrams = sum(level.ngrams for levels in self.evidence.counts for level in levels)
        return (
            ngrams
            + sum(one.parameters for one in self.evidence.vectors)
            + sum(one.size for of_history in self.weights.values() for one in of_history)
        )

    @property
    def class_sets(self) -> tuple[ModelClasses, ...]:
        """The classes that are values of contexts."""
        labels = self.evidence.sources.labels
        return tuple(
            ModelClasses(f"classes {name} of the {self.title}", labels[name], name=name)
            for name in labels
            if name.startswith("g")
        )

    @property
    def state_sets(self) -> tuple[ModelStates, ...]:
        """The states that are values of contexts; what follows them is not kept."""
        sources = self.evidence.sources
        categories = sources.labels.get("g1", np.zeros(len(self.vocabulary), np.uint32))
        return tuple(
            ModelStates(
                f"states s{number} of the {self.title}",
                tree,
                tree.n_states,
                categories,
                name=f"s{number}",
            )
            for number, tree in enumerate(sources.states, 1)
        )

    @property
    def shorter_histories(self) -> tuple[str, ...]:
        """The first few; each is a sum over the vocabulary."""
        return ("no words", "last word", "last 2 words", "last 3 words")

    def contributions(self, history: History, word: str) -> dict[str, float]:
        """Return what each kind of evidence adds to the log-odds on the way to a word, in nats."""
        sums: dict[str, float] = {}
        for step in self.explain(history, word):
            for name, nats in step.evidence.items():
                sums[name] = sums.get(name, 0.0) + nats
        return sums

    @property
    def histories(self) -> tuple[str, ...]:
        """The histories that it was trained for."""
        return self.evidence.histories

    @property
    def looks_back(self) -> bool:
        """Whether its probabilities depend on earlier sentences: unless its history is ``sentence``."""
        return self.history != HISTORIES[0]

    def with_history(self, history: str) -> WordTreeModel:
        """Return the model with another history; a model that is saved opens with ``sentence``."""
        super().with_history(history)
        # Where a text has no documents, or a model no caches, the nearest that makes a difference is meant.
        known = [name for name in HISTORIES[: HISTORIES.index(history) + 1] if name in self.histories]
        return replace(self, history=known[-1])

    @cached_property
    def stepper(self) -> _core.Stepper | None:
        """The model word by word for decoders, where it knows nothing but the sentence."""
        if self.history != HISTORIES[0]:
            return None
        return make_stepper(self.evidence, self.weights[self.history], self.tree_weights[self.history])

    def describe(self) -> Description:
        """Return its trees, chains and caches."""
        rows = tuple(
            (entry["chain"], entry["contexts"], entry["ngrams"], entry["bytes"])
            for entry in self.evidence.describe_counts()
        )
        lengths = self.evidence.word_counts / max(int(self.evidence.word_counts.sum()), 1)
        facts: tuple[tuple[str, str | int | float], ...] = (
            ("Trees", len(self.evidence.trees)),
            ("Decisions per word", round(float((self.evidence.trees[0].lengths * lengths).sum()), 2)),
            ("Chains", len(self.evidence.chains)),
            ("Vector states", ", ".join(str(one.shape) for one in self.evidence.vectors) or "none"),
            ("Caches", ", ".join(map(str, self.evidence.caches)) or "none"),
            ("Histories", ", ".join(self.histories)),
            ("N-grams", sum(row[2] for row in rows)),
            ("Weights", sum(one.size for of_history in self.weights.values() for one in of_history)),
        )
        return Description(facts, (display_table("Chains", ("Chain", "Contexts", "N-grams", "Bytes"), rows),))

    def start(self, *, sentence_start: bool = True) -> State:
        """Return the state at the start of a sentence, or the empty state (no known words)."""
        made = self.evidence.kernel.start(HISTORIES.index(self.history), bool(sentence_start))
        return self._state_after_words(Past(is_start=sentence_start), made)

    def _state_after_words(self, past: Past, words: _core.TextState) -> State:
        if self.history == "adaptive":
            return State((past, _Words(words, self.evidence, self.weights)))
        return State((past, words.vectors()))

    def _past(self, state: State) -> tuple[Past, _core.TextState]:
        """Return what a state of this model and history holds, as copies."""
        past, words = (
            state.value if isinstance(state.value, tuple) and len(state.value) == 2 else (None, None)
        )
        if not isinstance(past, Past) or not isinstance(words, _Words | bytes):
            raise UsageError(f"the state is that of another model than {self!r}; begin with its start()")
        if isinstance(words, _Words):
            fits = self.history == "adaptive" and words.evidence is self.evidence
            fits = fits and words.weights is self.weights  # the state goes on learning them
            made = words.state.copy()
        else:
            made = _core.TextState(words)
            fits = self.history != "adaptive" and len(words) == self.evidence.kernel.n_vector_bytes()
        if not fits:
            raise UsageError(f"the state is not one of {self!r}; begin with its start()")
        return past, made

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        by_tree, after = self._tree_log_probs(corpus, state)
        weights = self.tree_weights[self.history]
        parts: tuple[PartScores, ...] = ()
        if len(by_tree) > 1 and corpus.n_events:
            perplexities = np.exp(-by_tree.mean(axis=1)).tolist()
            names = [f"tree {number}" for number in range(1, len(by_tree) + 1)]
            sums = map(corpus.sentence_sums, by_tree)
            parts = tuple(map(PartScores, names, perplexities, weights.tolist(), sums))
        return Scores(corpus, interpolate(list(by_tree), weights), after, parts=parts)

    def _tree_log_probs(self, corpus: Corpus, state: State) -> tuple[NDArray[np.float64], State]:
        """Return the log-probabilities of a text by each tree, and the state after it."""
        past, words = self._past(state)
        n_trees = len(self.evidence.trees)
        found = np.empty((n_trees, corpus.n_events))
        for begin, piece in corpus.pieces(1 << 14):  # Ctrl-C is seen between pieces, of about a second
            if begin:  # a piece begins with a sentence
                past = Past(rare=past.rare)
            streams, classes, starts = self.evidence.inputs(piece, past)
            is_begin = piece.ids == BEGIN  # which is never predicted
            with _damage_as_bad_data():
                log_probs = self.evidence.kernel.score(
                    np.where(is_begin, np.uint32(UNKNOWN), piece.ids),
                    streams,
                    classes,
                    starts,
                    HISTORIES.index(self.history),
                    list(self.weights[self.history]),
                    words,
                    scoring_threads(piece.n_events * 16),
                )
            found[:, begin : begin + piece.n_events] = log_probs.reshape(n_trees, -1)
            found[:, begin : begin + piece.n_events][:, is_begin] = -np.inf
            past = self.evidence.sources.after(piece, past, self.evidence.reach)
            if self.history == "sentence":  # equal states have the same future
                past = replace(past, rare=())
                if past == Past():
                    words = self.evidence.kernel.start(0, True)
        if self.looks_back and corpus.document_starts[-1:].tolist() == [corpus.n_sentences]:
            self.evidence.kernel.start_document(words)  # a document ends with the text
        return found, self._state_after_words(past, words)

    def _distribution(self, state: State) -> NDArray[np.float64]:
        probabilities = np.zeros(len(self.vocabulary))
        for weight, of_tree in zip(
            self.tree_weights[self.history],
            self._kernel_after(state, _core.TreeModelKernel.distributions, Resources.current().threads),
            strict=True,
        ):
            probabilities += weight * of_tree
        return probabilities

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        past, words = self._past(state)
        streams, classes, starts = self.evidence.inputs(corpus, past)
        reads_all = bool(self.evidence.vectors) or self.history == "adaptive"

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            ids = corpus.ids[events]
            self.evidence.kernel.add_rows(
                np.where(ids == BEGIN, np.uint32(UNKNOWN), ids),  # <s> is never predicted
                [stream[events] for stream in streams],
                classes[events],
                starts[events],
                HISTORIES.index(self.history),
                list(self.weights[self.history]),
                words,
                self.tree_weights[self.history],
                weights,
                rows.reshape(-1),
                Resources.current().threads,
            )

        return Distributions(None if reads_all else np.column_stack([*streams, classes]), add)

    def _draw(self, state: State, random: np.random.Generator) -> int:
        """Draw a tree by its weight, and the next word on a walk from its root."""
        tree = max(draw_from(self.tree_weights[self.history], random), 0)
        word: int = self._kernel_after(state, _core.TreeModelKernel.draw, tree, random.random())
        return word

    def _likeliest(self, state: State, top: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the most probable next words, found by best-first search."""
        weights, n = self.tree_weights[self.history], min(top, len(self.vocabulary) - 1)
        words, probabilities = self._kernel_after(state, _core.TreeModelKernel.likeliest, weights, n)
        return words, probabilities

    def explain(
        self, history: History, word: str, *, tree: int = 0, sentence_start: bool = True
    ) -> list[WalkStep]:
        """Return the walk to a word after a history: each decision, and what each context says of it.

        Parameters
        ----------
        history
            The words so far, or the state after them.
        word
            The word.
        tree
            Which tree to walk down.
        sentence_start
            Whether words begin a sentence.

        """
        if not 0 <= tree < len(self.evidence.trees):
            raise UsageError(f"no tree {tree}: there are {len(self.evidence.trees)}, from 0")
        past, words = self._past(self._state(history, sentence_start))
        id = self._id(word)
        if id == BEGIN:
            raise UsageError("<s> is never predicted; give another word")
        streams, classes, _ = self.evidence.inputs(self._one_event(BEGIN), past)
        kernel, weights = self.evidence.kernel, list(self.weights[self.history])
        with _damage_as_bad_data():
            found = kernel.contributions(
                tree,
                id,
                streams,
                int(classes[0]),
                HISTORIES.index(self.history),
                weights,
                words,
            )
        path = self.evidence.trees[tree].path(id)
        vectors = [f"{one.shape} state" for one in self.evidence.vectors]
        names = ["no context", *vectors, *map(str, self.evidence.chains), "text so far"]
        firsts = [0, *kernel.first_inputs()]
        steps = []
        for bit, row in zip(path, found.reshape(len(path), -1), strict=True):
            sums = {
                name: float(row[begin:end].sum())
                for name, begin, end in zip(names, firsts[:-1], firsts[1:], strict=True)
                if begin < len(row)
            }
            log_odds = float(np.clip(row.sum(), -16, 16))
            steps.append(WalkStep(int(bit), 1 / (1 + math.exp(-log_odds)), sums))
        return steps

    def _kernel_after(self, state: State, method: Any, *arguments: Any) -> Any:
        past, words = self._past(state)
        # Any word may stand for the next one: values do not depend on it.
        streams, classes, _ = self.evidence.inputs(self._one_event(BEGIN), past)
        with _damage_as_bad_data():
            return method(
                self.evidence.kernel,
                streams,
                int(classes[0]),
                HISTORIES.index(self.history),
                list(self.weights[self.history]),
                words,
                *arguments,
            )

    def check(self) -> None:
        """Check the weights and every list of followers; BadDataError if the model is inconsistent."""
        weights = (one for of_history in self.weights.values() for one in of_history)
        if not all(np.isfinite(one).all() for one in weights):
            raise BadDataError("a weight is not a number; train the model again")
        try:
            self.evidence.kernel.check(Resources.current().threads)
        except ValueError as error:
            raise BadDataError(f"its counts are inconsistent ({error}); train the model again") from error

    def _to_files(self) -> ModelFiles:
        manifest, arrays = write_evidence(self.evidence)
        for history in self.histories:
            arrays[f"weights-{history}"] = {
                **{f"tree-{number}": one for number, one in enumerate(self.weights[history])},
                "trees": self.tree_weights[history],
            }
        return ModelFiles(manifest, arrays)

    @classmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> WordTreeModel:
        evidence = read_evidence(archive, len(vocabulary))
        weights, tree_weights = {}, {}
        for history in evidence.histories:
            arrays = archive.arrays(f"weights-{history}")
            n_trees = len(evidence.trees)
            weights[history] = [
                array_of(arrays, f"tree-{number}", np.float32, None) for number in range(n_trees)
            ]
            tree_weights[history] = of_trees = array_of(arrays, "trees", np.float64, n_trees)
            if archive.is_verified:
                n_weights = evidence.kernel.n_weights(HISTORIES.index(history))
                if any(len(one) != n_weights for one in weights[history]):
                    raise ValueError("its weights do not fit its inputs")
            if not (of_trees >= 0).all() or not np.isclose(of_trees.sum(), 1, atol=1e-9):
                raise ValueError("the weights of its trees do not sum to one")
        return cls(vocabulary, evidence, weights, tree_weights, **common)


def _largest_within(
    max_size: int,
    reserved: int,
    corpus: Corpus,
    trees: Sequence[WordTree],
    sources: ValueSources,
    chains: Sequence[Chain],
    caches: Sequence[Cache],
    vectors: Sequence[VectorShape],
    progress: Progress | None,
) -> tuple[Sequence[Chain], Sequence[WordTree], Sequence[VectorShape]]:
    """Return what the largest model of at most `max_size` bytes has, `reserved` included."""
    nothing, none = corpus.sentences(0, 0), np.zeros(len(corpus.vocabulary), np.uint32)

    def without_counts(extent: Extent) -> Evidence:
        kept = sources.only(values_of(extent.chains, caches))
        of_trees = trees[: extent.n_trees]
        evidence = Evidence.count(nothing, of_trees, kept, extent.chains, caches, none)
        return evidence.with_unlearned_vectors(extent.vectors)

    def size_without_counts(extent: Extent) -> int:
        evidence = without_counts(extent)
        weights = {name: evidence.initial_weights(name) for name in evidence.histories}
        of_trees = dict.fromkeys(weights, np.full(extent.n_trees, 1 / extent.n_trees))
        info = {"chains": evidence.describe_counts()}
        model = WordTreeModel(corpus.vocabulary, evidence, weights, of_trees, training_info=info)
        return model_size(model) + reserved

    smallest = list(extents(chains, 1))[-1]
    sizes = [one.n_bytes for one in without_counts(replace(smallest, vectors=tuple(vectors))).vectors]
    kept = vectors_within(sizes, vectors, max_size - size_without_counts(smallest))
    whole = Extent(tuple(chains), len(trees), tuple(vectors))
    chosen = largest_extent(
        list(dict.fromkeys((whole, *extents(chains, len(trees), kept)))),
        lambda chain: count_chain(chain, corpus, sources, trees, progress=progress),
        size_without_counts,
        max_size,
    )
    return chosen.chains, trees[: chosen.n_trees], chosen.vectors


@contextmanager
def _damage_as_bad_data() -> Iterator[None]:
    """Turn the errors of a kernel, which meets damage where it reads it, into those of bad data."""
    try:
        yield
    except BadDataError:
        raise
    except ValueError as error:
        raise BadDataError(
            f"a damaged word tree model ({error}); write it again (stategram info --verify finds the damage)"
        ) from error


class WalkStep(NamedTuple):
    """One decision on the way to a word."""

    bit: int
    """The side that was taken: 0 is left, 1 is right."""
    probability: float
    """The probability of that side."""
    evidence: dict[str, float]
    """What each chain and vector state, the text so far (adaptive), and no context add to its log-odds."""


@dataclass(frozen=True, eq=False)
class _Words:
    """The words so far with caches, never changed; the same object means the same words."""

    state: _core.TextState
    evidence: Evidence
    weights: Mapping[str, Sequence[NDArray[np.float32]]]

    def __deepcopy__(self, memo: object) -> _Words:
        return self
