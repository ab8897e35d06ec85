"""The clustered model: p(w | c) = p(G(w) | S(c)) p(w | G(w))."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar

import msgspec
import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from stategram import _core
from stategram.clustering import Clustering
from stategram.contexts import MAX_VALUES, ContextDefinition
from stategram.counts import cluster_counts
from stategram.display import Description, display_table, plural
from stategram.errors import BadDataError, UsageError
from stategram.models.approximation.targets import ClusteredTargets
from stategram.models.clusters import ModelClasses, ModelStates, category_sums, word_probabilities
from stategram.models.distributions import Distributions, entropies_of, of_words
from stategram.models.model import Model, scoring_threads
from stategram.models.model_files import ModelFiles
from stategram.models.scores import Scores, State
from stategram.models.state_counts import StateCounts, StateProbs
from stategram.models.state_tree import (
    N_COUNT_BUCKETS,
    ContextStates,
    StateLevel,
    StateTree,
    default_level_weights,
    learn_level_weights,
    state_tree,
)
from stategram.progress import Progress
from stategram.storage import Archive, Entries, Finite, Name, Natural, array_of
from stategram.text import BEGIN, UNKNOWN, Corpus, Vocabulary, as_corpus

_INCONSISTENT = "its arrays do not fit together"
# So many states may be without a context, and so many categories without a word.
_MAX_EMPTY = 1 << 16


class _Manifest(Entries, frozen=True):
    context: str
    tree_order: str
    states: Natural
    categories: Natural


class _Level(Entries, frozen=True):
    level: Annotated[int, Meta(ge=1, le=MAX_VALUES)]
    nodes: Natural
    movable: Natural
    sweeps: Natural
    criterion: Finite
    perplexity: Finite


class _Info(Entries, frozen=True):
    tags: tuple[Name, ...] = ()
    levels: tuple[_Level, ...] = ()


@dataclass(frozen=True, eq=False)
class ClusteredModel(Model):
    """A clustered model with context-equivalent states.

    Parameters
    ----------
    vocabulary, training_info, metadata
        See `Model`.
    tree
        The states of contexts.
    categories
        The category of each word.
    word_probs
        The probability of each word in its category; 0 for ``<s>``.
    counts
        For each level of the tree, how often each category follows each state.
    level_weights
        For each level and each count bucket of a context, the weight of its state against the level above.

    Notes
    -----
    Ueberla and Gransden (1996), "Clustered language models with context-equivalent states". On each level

        p_l(g | c) = t p(g | S_l(c)) + (1 - t) p_{l-1}(g | c),    t: the weight by level and count of c,

    p_0(g) being the frequency of the category; `strict` models have t = 0 on all levels but the last.
    p(g | s) has absolute discounts, and is interpolated with the fraction of states after which the category
    was seen, as Kneser and Ney (1995) do. The value of a `State` are the ids of the last words, as many as
    contexts reach back.

    """

    kind: ClassVar[str] = "clustered"
    kind_title: ClassVar[str] = "clustered model"
    info_entries: ClassVar[type[Entries]] = _Info

    tree: StateTree
    categories: NDArray[np.uint32]
    word_probs: NDArray[np.float64]
    counts: tuple[StateCounts, ...]
    level_weights: NDArray[np.float64]

    @classmethod
    def train(
        cls,
        clustering: Clustering,
        heldout: Corpus | Iterable[str] | None = None,
        *,
        strict: bool = False,
    ) -> ClusteredModel:
        """Train a model on a clustering.

        Parameters
        ----------
        clustering
            The result of `cluster`.
        heldout
            Text on which to learn the interpolation weights of the levels; default values without it.
        strict
            Equation 1 of the paper as printed: p(g | S(c)) of the state of the whole context alone, not
            interpolated with those of the levels above.

        """
        if not isinstance(clustering, Clustering):
            raise UsageError(
                f"a {type(clustering).__name__} is no clustering; give the result of cluster(text, ...)"
            )
        tree, vocabulary = clustering.tree, clustering.tree.vocabulary
        heldout = None if heldout is None else as_corpus(vocabulary, heldout)
        categories = _with_all_words(clustering.categories, tree.word_counts, clustering.settings.categories)
        word_probs, _ = word_probabilities(tree.word_counts, categories)
        word_probs /= np.bincount(categories, word_probs)[categories]  # <s> has no part in its category
        n_states, n_categories = clustering.settings.states, int(categories.max()) + 1
        counts = tuple(
            StateCounts.from_table(
                cluster_counts(
                    tree.events, tree.on_leaves(states, number), categories, (n_states, n_categories)
                )
            )
            for number, states in enumerate(clustering.states, 1)
        )
        model = cls(
            vocabulary,
            state_tree(clustering),
            categories,
            word_probs,
            counts,
            default_level_weights(tree.depth, strict=strict),
            training_info={
                "context": str(tree.definition),
                "states": n_states,
                "categories": clustering.settings.categories,
                # Without the seconds: the same training gives the same bytes.
                "levels": [
                    {name: value for name, value in asdict(level).items() if name != "seconds"}
                    for level in clustering.levels
                ],
                **({"tags": list(tree.tag_names)} if tree.tag_names else {}),
            },
        )
        return model if heldout is None else model._with_learned_weights(heldout)

    def __repr__(self) -> str:
        return (
            f"ClusteredModel({self.tree.definition}, {plural(self.n_states, 'state')}, "
            f"{plural(self.n_categories, 'category', 'categories')})"
        )

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"clustered model of {self.tree.definition}"

    @property
    def order(self) -> int:
        """The number of words of a context and the predicted word."""
        return self.tree.definition.width + 1

    @property
    def n_states(self) -> int:
        """The number of states."""
        return self.counts[-1].shape[0]

    @property
    def n_categories(self) -> int:
        """The number of categories."""
        return self.counts[-1].n_categories

    @property
    def parameters(self) -> int:
        """The number of probabilities of categories after states that are in use, and of words."""
        tables = (
            int(np.count_nonzero(np.diff(table.offsets)))
            for table, weights in zip(self.counts, self._known_weights, strict=True)
            if weights.any()
        )
        return sum(tables) * self.n_categories + int(np.count_nonzero(self.word_probs))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """``state``: that of the context; ``size-1``, ``size-2``, ...: its count bucket on each level."""
        return ("state", *(f"size-{number}" for number in range(1, self.tree.depth + 1)))

    @property
    def state_sets(self) -> tuple[ModelStates, ...]:
        """Its states, with the counts of the categories that follow."""
        title = f"states of the {self.title}"
        known = (self.categories, self.word_probs, self.counts, self.tag_names)
        return (ModelStates(title, self.tree, self.n_states, *known),)

    @property
    def class_sets(self) -> tuple[ModelClasses, ...]:
        """The categories, with the states that they follow."""
        title, (states,) = f"categories of the {self.title}", self.state_sets
        return (ModelClasses(title, self.categories, states=states, word_probs=self.word_probs),)

    def _targets(self, ids: NDArray[np.uint32]) -> ClusteredTargets:
        return ClusteredTargets(self, ids)

    @property
    def tag_names(self) -> tuple[str, ...]:
        """The name of each tag; empty if contexts have none, or if they are not known."""
        return tuple(self.training_info.get("tags", ()))

    @property
    def is_tree_model(self) -> bool:
        """Whether contexts were clustered along a tree, as far as it is known."""
        return self.tree.depth > 1 and bool(self.metadata.get("tree", True))

    def describe(self) -> Description:
        """Return its context, the numbers of its clusters, and the levels of its tree."""
        shape = "along a context tree" if self.is_tree_model else "flat: single contexts from the start"
        facts = (
            ("Context", str(self.tree.definition)),
            ("States", self.n_states),
            ("Categories", self.n_categories),
            ("Clustered", shape),
            ("Parameters", self.parameters),
        )
        columns = {
            "Contexts": "nodes",
            "Moved on their own": "movable",
            "Sweeps": "sweeps",
            "Criterion": "criterion",
            "Training perplexity": "perplexity",
        }
        rows = tuple(
            (
                level["level"],
                str(self.tree.definition.values[level["level"] - 1]),
                *(level[name] for name in columns.values()),
            )
            for level in self.training_info.get("levels", ())
        )
        levels = display_table("Levels of the context tree", ("Level", "Refines by", *columns), rows)
        return Description(facts, (levels,) if rows else ())

    def start(self, *, sentence_start: bool = True) -> State:
        """Return the state at the start of a sentence, or the empty state (no known words)."""
        # What is not known before the first word is no sentence boundary, but no known word either.
        return State((BEGIN if sentence_start else UNKNOWN,) * self.tree.definition.width)

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        sizes = [f"size-{number}" for number in range(1, self.tree.depth + 1)]
        log_probs, states, buckets = self.stepper.score_text(
            corpus.ids,
            corpus.sentence_starts,
            np.array(state.value, np.uint32),
            "state" in features,
            [name in features for name in sizes],
            scoring_threads(corpus.n_events),
        )
        known = {"state": states, **dict(zip(sizes, buckets, strict=True))}
        found = {name: known[name] for name in features}
        before, words = self._last_sentence(corpus, state)
        width = len(before.value)
        after = State((*before.value, *words[-width:].tolist())[-width:])
        return Scores(corpus, log_probs, after, features=found)

    def _find(self, corpus: Corpus, history: tuple[int, ...]) -> list[ContextStates]:
        """Look up the contexts of a text whose first sentence goes on from a history."""
        if history == self.start().value:
            return self.tree.find(corpus)
        ids = np.concatenate((np.array(history, np.uint32), corpus.ids))
        starts = corpus.sentence_starts + len(history)
        starts[0] = 0
        found = self.tree.find(replace(corpus, ids=ids, sentence_starts=starts))
        return [(states[len(history) :], buckets[len(history) :]) for states, buckets in found]

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        found = self._category_distributions(corpus, state)
        return of_words(found, self.n_categories, self.categories, self.word_probs)

    def _category_distributions(self, corpus: Corpus, state: State) -> Distributions:
        levels = self._find(corpus, state.value)

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            found = np.tile(self._frequencies, (len(events), 1))
            for of_buckets, table, (states, buckets) in self._weighted(levels):
                found += of_buckets[buckets[events]][:, None] * (table.rows(states[events]) - found)
            rows += weights[:, None] * found

        keys = np.column_stack([states for states, _ in levels] + [buckets for _, buckets in levels])
        return Distributions(keys.astype(np.uint32), add)

    def _entropies(self, corpus: Corpus, state: State, progress: Progress | None) -> NDArray[np.float64]:
        sums = category_sums(self.word_probs, self.categories, self.n_categories)
        return entropies_of(self._category_distributions(corpus, state), corpus.n_events, *sums, progress)

    def category_distributions(self, corpus: Corpus, events: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the probability of each category at events of a text: a row for each event."""
        rows = np.tile(self._frequencies.astype(np.float32), (len(events), 1))
        for weights, table, (states, buckets) in self._weighted(self.tree.find(corpus)):
            weight = weights[buckets[events]].astype(np.float32)[:, None]
            rows += weight * (table.rows(states[events]).astype(np.float32) - rows)
        return rows

    def check(self) -> None:
        """Check every part; BadDataError if the model is inconsistent."""
        if not self._is_consistent():
            raise BadDataError(f"invalid clustered model: {_INCONSISTENT}; write it again")

    def _is_consistent(self) -> bool:
        n_states, n_categories = self.counts[-1].shape
        n_words = len(self.vocabulary)
        fine = (
            len(self.categories) == len(self.word_probs) == n_words
            and all(array.dtype == np.float64 for array in (self.word_probs, self.level_weights))
            and self.categories.dtype == np.uint32
            and int(self.categories.max()) < n_categories
            and len(self.counts) == self.tree.depth
            and self.level_weights.shape == (self.tree.depth, N_COUNT_BUCKETS)
            and bool(((self.level_weights >= 0) & (self.level_weights <= 1)).all())
            and self.word_probs[BEGIN] == 0
            and bool((self.word_probs >= 0).all())
            and all(table.shape == (n_states, n_categories) and len(table.counts) for table in self.counts)
        )
        if fine:
            sums = np.bincount(self.categories, self.word_probs, n_categories)
            # A category without words has no events; the words of all others sum to one.
            fine = bool(np.isclose(sums, 1, rtol=0, atol=1e-9)[self.categories].all()) and not any(
                table.of_categories[sums == 0].any() for table in self.counts
            )
        return fine and self.tree.is_sound(n_words, n_states) and self._tags_have_names()

    def _to_files(self) -> ModelFiles:
        arrays: dict[str, dict[str, NDArray[Any]]] = {
            "words": {
                "categories": self.categories,
                "word_probs": self.word_probs,
                "trust": self.level_weights,
            }
        }
        for number, (level, counts) in enumerate(zip(self.tree.levels, self.counts, strict=True), 1):
            arrays[f"level{number}"] = {
                "map": self.tree.maps[number - 1],
                "values": level.values,
                "first_child": level.first_child,
                "states": level.states,
                "node_counts": level.counts,
                "inherited": level.inherited,
                **counts.arrays(),
            }
        manifest = {
            "context": str(self.tree.definition),
            "tree_order": self.tree.definition.tree_order,
            "states": self.n_states,
            "categories": self.n_categories,
        }
        return ModelFiles(manifest, arrays)

    @classmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> ClusteredModel:
        manifest = msgspec.convert(archive.manifest, _Manifest)
        definition = ContextDefinition.parse(manifest.context, manifest.tree_order)
        if any(one["level"] > len(definition.values) for one in common["training_info"].get("levels", ())):
            raise ValueError("its training information is that of another context")
        maps, levels, tables = [], [], []
        for number in range(1, len(definition.values) + 1):
            arrays = archive.arrays(f"level{number}")
            maps.append(array_of(arrays, "map", np.uint32, len(vocabulary)))
            lengths = dict.fromkeys(("values", "first_child", "states", "node_counts"))
            lengths |= {"inherited": manifest.states if number > 1 else 1}
            levels.append(StateLevel(*(array_of(arrays, name, np.uint32, n) for name, n in lengths.items())))
            if (
                manifest.states > len(levels[-1].states) + _MAX_EMPTY
                or manifest.categories > len(vocabulary) + _MAX_EMPTY
            ):
                raise ValueError("it has fewer contexts or words than its manifest has clusters of them")
            tables.append(StateCounts.from_arrays(arrays, manifest.states, manifest.categories))
        words = archive.arrays("words")
        model = cls(
            vocabulary,
            StateTree(definition, tuple(maps), tuple(levels)),
            array_of(words, "categories", np.uint32, len(vocabulary)),
            array_of(words, "word_probs", np.float64, len(vocabulary)),
            tuple(tables),
            array_of(words, "trust", np.float64, len(levels), N_COUNT_BUCKETS),
            **common,
        )
        if not model._is_consistent():
            raise ValueError(_INCONSISTENT)
        return model

    @cached_property
    def stepper(self) -> _core.ClusteredStepper:
        """The model word by word for decoders, and for whole texts."""
        return _core.ClusteredStepper(
            self.tree.for_kernel(),
            [table.for_kernel() for table in self._tables],
            self._known_weights,
            self._frequencies,
            self.categories,
            self.word_probs,
        )

    @cached_property
    def _known_weights(self) -> NDArray[np.float64]:
        """Return the weights of levels; nothing that is not known on the first one counts."""
        weights = self.level_weights.copy()
        weights[0, 0] = 0.0
        return weights

    @cached_property
    def _frequencies(self) -> NDArray[np.float64]:
        """Return p(g)."""
        return self._fractions(self.counts[-1].of_categories)

    @cached_property
    def _tables(self) -> tuple[StateProbs, ...]:
        """Return p(g | s) of each level."""
        return tuple(
            counts.smoothed(self._fractions(np.bincount(counts.columns, minlength=counts.n_categories)))
            for counts in self.counts
        )

    def _fractions(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the fraction of each category; one without a count that has words counts as a half."""
        words = np.bincount(self.categories, self.word_probs, len(counts))
        known = np.where((counts == 0) & (words > 0), 0.5, counts)
        fractions: NDArray[np.float64] = known / known.sum()
        return fractions

    def _weighted(
        self, levels: list[ContextStates]
    ) -> Iterator[tuple[NDArray[np.float64], StateProbs, ContextStates]]:
        """Return for each level its weights by count bucket, its table, and the states found there."""
        return zip(self._known_weights, self._tables, levels, strict=True)

    def _tags_have_names(self) -> bool:
        """Whether all tags have one, if any has."""
        kinds = [value.kind for value in self.tree.definition.values]
        numbers = [int(map.max()) for map, kind in zip(self.tree.maps, kinds, strict=True) if kind == "t"]
        return not self.tag_names or max(numbers, default=-1) < len(self.tag_names)

    def _with_learned_weights(self, heldout: Corpus) -> ClusteredModel:
        """Learn the interpolation weights of the levels on a text in the vocabulary."""
        categories, found = self.categories[heldout.ids], self.tree.find(heldout)
        own = [table.at(states, categories) for table, (states, _) in zip(self._tables, found, strict=True)]
        buckets = [of_level for _, of_level in found]
        weights = learn_level_weights(self.level_weights, self._frequencies[categories], own, buckets)
        return replace(self, level_weights=weights)


def _with_all_words(
    categories: NDArray[np.uint32], counts: NDArray[np.int64], n_categories: int
) -> NDArray[np.uint32]:
    """Put words that never occur into the category with most words that occur once, or with most words."""
    labels = categories.astype(np.int64)
    once = np.bincount(labels[counts == 1], minlength=n_categories)
    words = np.bincount(labels[counts > 0], minlength=n_categories)
    # <s> is among them; in a category of its own it would be all of nothing.
    labels[counts == 0] = int((once if once.any() else words).argmax())
    return labels.astype(np.uint32)
