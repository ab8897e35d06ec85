"""The clustered model: p(w | c) = p(G(w) | S(c)) p(w | G(w))."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.clustering import Clustering
from stategram.contexts import ContextDefinition
from stategram.counts import cluster_counts
from stategram.errors import BadDataError, UsageError
from stategram.models.category_words import word_probabilities
from stategram.models.packing import Packed
from stategram.models.protocol import SharedMethods
from stategram.models.state_tree import N_SIZES, StateLevel, StateTree, state_tree
from stategram.models.trust import learn_trust, usual_trust
from stategram.storage import Folder
from stategram.text import BEGIN, END, UNKNOWN, Corpus, Vocabulary, as_corpus

# What is taken from counts of 1, 2 and more. States are fitted to these very counts, which then say too much:
# the discounts are larger than those that counts of counts suggest. Chosen on held-out text, the same for two
# million and for 40 million words.
_DISCOUNTS = (0.7, 1.1, 1.5)
_EVENTS_A_PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class ClusteredModel(SharedMethods):
    """A clustered model with context-equivalent states.

    Parameters
    ----------
    vocabulary
        The words it knows; all others are ``<unk>``.
    tree
        The states of contexts.
    categories
        The category of each word.
    word_probs
        The probability of each word in its category; 0 for ``<s>``.
    counts
        For each level of the tree, how often each category follows each state: a row for each state.
    trust
        For each level and each size of a context, the weight of its state against the level above.
    report, recipe
        How it was trained.

    Notes
    -----
    Ueberla and Gransden (1996), "Clustered language models with context-equivalent states". On each level

        p_l(g | c) = t p(g | S_l(c)) + (1 - t) p_{l-1}(g | c),    t = trust of the size of c on that level,

    p_0(g) being the frequency of the category. p(g | s) has absolute discounts, and is interpolated with the
    share of states after which the category was seen, as Kneser and Ney (1995) do.

    """

    vocabulary: Vocabulary
    tree: StateTree
    categories: NDArray[np.uint32]
    word_probs: NDArray[np.float64]
    counts: tuple[NDArray[np.uint32], ...]
    trust: NDArray[np.float64]
    report: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def train(
        cls,
        clustering: Clustering,
        heldout: Corpus | Iterable[str] | None = None,
    ) -> ClusteredModel:
        """Make a model of a clustering.

        Parameters
        ----------
        clustering
            What `cluster` found.
        heldout
            Text on which to learn how much states are to be trusted; usual values by default.

        """
        if not isinstance(clustering, Clustering):
            raise UsageError(
                f"a {type(clustering).__name__} is no clustering; give what cluster(text, ...) found"
            )
        tree, vocabulary = clustering.tree, clustering.tree.vocabulary
        heldout = None if heldout is None else as_corpus(vocabulary, heldout)
        categories = _with_all_words(clustering.categories, tree.word_counts, clustering.settings.categories)
        word_probs, _ = word_probabilities(tree.word_counts, categories)
        word_probs /= np.bincount(categories, word_probs)[categories]  # <s> has no part in its category
        n_states, n_categories = clustering.settings.states, int(categories.max()) + 1
        counts = tuple(
            cluster_counts(
                tree.events, tree.on_leaves(states, number), categories, (n_states, n_categories)
            ).astype(np.uint32)
            for number, states in enumerate(clustering.states, 1)
        )
        model = cls(
            vocabulary,
            state_tree(clustering),
            categories,
            word_probs,
            counts,
            usual_trust(tree.depth),
            {
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
        if heldout is None:
            return model
        return model._trusting(heldout)

    def __repr__(self) -> str:
        states = "state" if self.n_states == 1 else "states"
        categories = "category" if self.n_categories == 1 else "categories"
        return (
            f"ClusteredModel({self.tree.definition}, {self.n_states} {states}, "
            f"{self.n_categories} {categories})"
        )

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.counts[-1])

    @property
    def n_categories(self) -> int:
        """The number of categories."""
        return int(self.counts[-1].shape[1])

    @property
    def parameters(self) -> int:
        """The number of probabilities of categories after states, and of words in categories."""
        return self.n_states * self.n_categories + int(np.count_nonzero(self.word_probs))

    @property
    def tag_names(self) -> Sequence[str]:
        """The name of each tag; empty if contexts have none, or if they are not known."""
        names: Sequence[str] = self.report.get("tags", ())
        return names

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event."""
        corpus = corpus.in_vocabulary(self.vocabulary)
        log_probs = np.empty(corpus.n_events)
        for begin, piece in corpus.pieces(_EVENTS_A_PIECE):
            probs = self._frequencies[self.categories[piece.ids]]
            for trust, table, (states, sizes) in self._levels(self.tree.find(piece)):
                weights = trust[sizes]
                probs += weights * (table[states, self.categories[piece.ids]] - probs)
            with np.errstate(divide="ignore"):
                log_probs[begin : begin + piece.n_events] = np.log(probs * self.word_probs[piece.ids])
        return log_probs

    def distribution(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a history, by its id."""
        probs = self._frequencies.copy()
        for trust, table, (states, sizes) in self._levels(self._find_one(history, sentence_start)):
            probs += trust[sizes[-1]] * (table[states[-1]] - probs)
        probabilities: NDArray[np.float64] = probs[self.categories] * self.word_probs
        return probabilities

    def bucket_features(
        self, corpus: Corpus, names: Collection[str] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Give the ``state`` of the history of each event, and the size of its context on each level."""
        numbers = range(1, self.tree.depth + 1)
        wanted = {"state", *(f"size-{number}" for number in numbers)}
        if names is not None:
            wanted &= set(names)
        if not wanted:
            return {}
        found = self.tree.find(corpus.in_vocabulary(self.vocabulary))
        features: dict[str, NDArray[Any]] = {"state": found[-1][0]}
        features |= {f"size-{number}": found[number - 1][1] for number in numbers}
        return {name: features[name].astype(np.float32) for name in sorted(wanted)}

    def history_features(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> dict[str, float]:
        """Give what `bucket_features` gives, for a single history."""
        found = self._find_one(history, sentence_start)
        features = {f"size-{number}": float(sizes[-1]) for number, (_, sizes) in enumerate(found, 1)}
        return {**features, "state": float(found[-1][0][-1])}

    def check(self) -> None:
        """Look at every part; BadDataError if the model makes no sense."""
        n_states, n_categories = self.counts[-1].shape
        n_words = len(self.vocabulary)
        fine = (
            len(self.categories) == len(self.word_probs) == n_words
            and all(array.dtype == np.float64 for array in (self.word_probs, self.trust))
            and self.categories.dtype == np.uint32
            and int(self.categories.max()) < n_categories
            and len(self.counts) == self.tree.depth
            and self.trust.shape == (self.tree.depth, N_SIZES)
            and bool(((self.trust >= 0) & (self.trust <= 1)).all())
            and self.word_probs[BEGIN] == 0
            and bool((self.word_probs >= 0).all())
            and all(table.shape == (n_states, n_categories) and table.any() for table in self.counts)
        )
        if fine:
            sums = np.bincount(self.categories, self.word_probs, n_categories)
            # A category without words has no events; all others have the whole of their words.
            fine = bool(np.isclose(sums, 1, rtol=0, atol=1e-9)[self.categories].all()) and not any(
                table[:, sums == 0].any() for table in self.counts
            )
        fine = fine and self.tree.is_sound(n_words, n_states) and self._tags_have_names()
        if not fine:
            raise BadDataError("not a clustered model: its arrays do not fit together; write it again")

    def pack(self) -> Packed:
        """Give what a model folder has to hold."""
        arrays: dict[str, dict[str, NDArray[Any]]] = {
            "words": {"categories": self.categories, "word_probs": self.word_probs, "trust": self.trust}
        }
        for number, (level, counts) in enumerate(zip(self.tree.levels, self.counts, strict=True), 1):
            rows, columns = np.nonzero(counts)
            arrays[f"level{number}"] = {
                "map": self.tree.maps[number - 1],
                "values": level.values,
                "first_child": level.first_child,
                "states": level.states,
                "node_counts": level.counts,
                "rows": rows.astype(np.uint32),
                "columns": columns.astype(np.uint32),
                "counts": counts[rows, columns],
            }
        manifest = {
            "model": "clustered",
            "context": str(self.tree.definition),
            "tree_order": self.tree.definition.tree_order,
            "states": self.n_states,
            "categories": self.n_categories,
            "report": dict(self.report),
            "recipe": dict(self.recipe),
        }
        return Packed(self.vocabulary, manifest, arrays)

    @classmethod
    def unpack(cls, folder: Folder, vocabulary: Vocabulary, parts: tuple[object, ...]) -> ClusteredModel:
        """Take what `pack` gave."""
        try:
            manifest = folder.manifest
            definition = ContextDefinition.parse(manifest["context"], manifest["tree_order"])
            words = folder.arrays("words")
            maps, levels, tables = [], [], []
            for number in range(1, len(definition.values) + 1):
                arrays = folder.arrays(f"level{number}")
                maps.append(arrays["map"])
                levels.append(
                    StateLevel(
                        arrays["values"], arrays["first_child"], arrays["states"], arrays["node_counts"]
                    )
                )
                tables.append(_table(arrays, int(manifest["states"]), int(manifest["categories"])))
            model = cls(
                vocabulary,
                StateTree(definition, tuple(maps), tuple(levels), int(manifest["states"]) - 1),
                words["categories"],
                words["word_probs"],
                tuple(tables),
                words["trust"],
                dict(manifest["report"]),
                dict(manifest["recipe"]),
            )
            model.check()
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise BadDataError(f"{folder.path}: not a clustered model ({error}); write it again") from error
        return model

    @cached_property
    def _frequencies(self) -> NDArray[np.float64]:
        """Give p(g)."""
        return self._shares(self.counts[-1].sum(axis=0, dtype=np.float64))

    @cached_property
    def _tables(self) -> tuple[NDArray[np.float64], ...]:
        """Give p(g | s) of each level."""
        return tuple(
            _smoothed(counts, self._shares(np.count_nonzero(counts, axis=0).astype(np.float64)))
            for counts in self.counts
        )

    def _shares(self, counts: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give the share of each category; one without a count that has words is counted for a half."""
        words = np.bincount(self.categories, self.word_probs, len(counts))
        counts = np.where((counts == 0) & (words > 0), 0.5, counts)
        shares: NDArray[np.float64] = counts / counts.sum()
        return shares

    def _levels(self, found: list[Any]) -> Iterable[tuple[NDArray[np.float64], NDArray[np.float64], Any]]:
        known = [np.where(np.arange(N_SIZES) > 0, self.trust[0], 0.0), *self.trust[1:]]
        return zip(known, self._tables, found, strict=True)

    def _tags_have_names(self) -> bool:
        """Whether all tags have one, if any has."""
        kinds = [value.kind for value in self.tree.definition.values]
        numbers = [int(map.max()) for map, kind in zip(self.tree.maps, kinds, strict=True) if kind == "t"]
        return not self.tag_names or max(numbers, default=-1) < len(self.tag_names)

    def _find_one(self, history: str | Sequence[str], sentence_start: bool) -> list[Any]:
        words = history.split() if isinstance(history, str) else list(history)
        ids = [self.vocabulary.id(word) for word in words]
        if not sentence_start:
            # What is not known before the first word is no sentence boundary, but no known word either.
            ids = [UNKNOWN] * self.tree.definition.width + ids
        # Any word may stand for the one that is to be predicted: it is no part of its context.
        one = Corpus(np.array([*ids, END], np.uint32), np.array([0, len(ids) + 1]), self.vocabulary)
        return self.tree.find(one)

    def _trusting(self, heldout: Corpus) -> ClusteredModel:
        """Learn on a text in the vocabulary how much states are to be trusted."""
        categories = self.categories[heldout.ids]
        found = self.tree.find(heldout)
        own = [table[states, categories] for table, (states, _) in zip(self._tables, found, strict=True)]
        sizes = [of_level for _, of_level in found]
        return replace(self, trust=learn_trust(self.trust, self._frequencies[categories], own, sizes))


def _with_all_words(
    categories: NDArray[np.uint32], counts: NDArray[np.int64], n_categories: int
) -> NDArray[np.uint32]:
    """Give words that never occur the category with most words that occur once, or else with most words."""
    labels = categories.astype(np.int64)
    once = np.bincount(labels[counts == 1], minlength=n_categories)
    words = np.bincount(labels[counts > 0], minlength=n_categories)
    # <s> is among them; in a category of its own it would be all of nothing.
    labels[counts == 0] = int((once if once.any() else words).argmax())
    return labels.astype(np.uint32)


def _table(arrays: Mapping[str, NDArray[Any]], n_states: int, n_categories: int) -> NDArray[np.uint32]:
    """Take the counts that `pack` gave; ValueError or IndexError if it did not."""
    rows, columns, counts = (arrays[name] for name in ("rows", "columns", "counts"))
    if any(array.dtype != np.uint32 or array.shape != counts.shape for array in (rows, columns, counts)):
        raise ValueError("its counts are not whole numbers, each with its place")
    table = np.zeros((n_states, n_categories), np.uint32)
    table[rows, columns] = counts
    return table


def _smoothed(counts: NDArray[np.uint32], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take discounts from counts, and give what was taken to all categories by these shares."""
    discounts = np.array([0.0, *_DISCOUNTS])[np.minimum(counts, 3)]
    total = counts.sum(axis=1, dtype=np.float64)
    safe = np.maximum(total, 1.0)
    taken = np.where(total > 0, discounts.sum(axis=1) / safe, 1.0)
    table: NDArray[np.float64] = (counts - discounts) / safe[:, None] + taken[:, None] * shares
    return table
