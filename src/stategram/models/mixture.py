"""A linear interpolation of models: p(w | c) = sum_i weight_i(c) p_i(w | c)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError, UsageError
from stategram.models.aligned_part import AlignedPart
from stategram.models.gate import Gate
from stategram.models.held_out import MAX_ITERATIONS, TOLERANCE, HeldOut, Settings
from stategram.models.mixture_report import fit_and_report
from stategram.models.packing import Packed
from stategram.models.protocol import Model, SharedMethods
from stategram.progress import Progress, subprogress
from stategram.storage import Folder
from stategram.text import Corpus, Vocabulary, corpus_from_sentences, require_known_words

# What all parts say of so many events is in memory at a time.
_EVENTS_A_PIECE = 1 << 20


@dataclass(frozen=True, eq=False)
class Mixture(SharedMethods):
    """A linear interpolation of models; `fit` learns its weights.

    Parameters
    ----------
    parts
        The models. The vocabulary is that of the first; the order of the words of the others may differ.
    gate
        The weights, which may depend on the history.
    allow_unknown
        Whether a part may lack words, or have more of them. Words that it lacks share the probability of its
        ``<unk>`` evenly; words that only it has are never predicted. Its probabilities, and those of the
        mixture, then sum to less than one.
    report
        What `fit` found. ``parts``: for each its ``perplexity`` alone, its ``weight`` without buckets, and
        the perplexity ``without`` it. ``candidates``: the cross-validated perplexity of each kind of gate.
    recipe
        What was done with words in training, as far as it is known.

    """

    parts: tuple[Model, ...]
    gate: Gate
    allow_unknown: bool = False
    report: Mapping[str, Any] = field(default_factory=dict)
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def fit(
        cls,
        models: Iterable[Model],
        heldout: Corpus | Iterable[str],
        *,
        buckets: str = "auto",
        allow_unknown: bool = False,
        max_iterations: int = MAX_ITERATIONS,
        tolerance: float = TOLERANCE,
        progress: Progress | None = None,
    ) -> Mixture:
        """Learn the weights of models on held-out text, which none of them was trained on.

        Parameters
        ----------
        models
            The parts.
        heldout
            A corpus, or sentences.
        buckets
            Which histories have weights of their own: ``none``; ``length``: by the number of words that the
            first n-gram model knows; ``backoff``: by that and its back-off weight; ``category``: by the
            category of the last word in the first category n-gram model; ``state``: by the state of the first
            clustered model; ``all``: by all of these and the sizes of contexts; ``auto``: what predicts one
            half of the text best when it is learned on the other half, both ways.
        allow_unknown
            See the class.
        max_iterations, tolerance
            Stop when no other weights could gain `tolerance` nats an event, or after so many iterations.
        progress
            Called with the share that is done and a few words on it.

        Examples
        --------
        >>> from stategram import Mixture, NgramModel
        >>> text = ["the cat sat", "the dog sat", "a cat ran"]
        >>> models = [NgramModel.train(text, order) for order in (1, 2)]
        >>> mixture = Mixture.fit(models, ["the dog ran", "a dog sat"])
        >>> [part["weight"] > 0.1 for part in mixture.report["parts"]]
        [False, True]

        """
        parts = tuple(models)
        if not parts:
            raise UsageError("a mixture of no models; give at least one")
        if max_iterations < 1 or not tolerance > 0:
            raise UsageError("max_iterations must be at least 1, and tolerance above 0")
        mixture = cls(
            parts,
            Gate.constant(np.full(len(parts), 1 / len(parts))),
            allow_unknown=allow_unknown,
            recipe=parts[0].recipe,
        )
        if not isinstance(heldout, Corpus):
            heldout = corpus_from_sentences(heldout, vocabulary=mixture.vocabulary)
        heldout = heldout.in_vocabulary(mixture.vocabulary)
        require_known_words(heldout)
        settings = Settings(max_iterations, tolerance, subprogress(progress, 0.3, 1.0))
        log_probs, features = np.empty((len(parts), heldout.n_events)), []
        for number, part in enumerate(mixture._aligned):
            if progress is not None:
                progress(0.3 * number / len(parts), f"asking part {number + 1}")
            log_probs[number] = part.log_probs(heldout)
            if buckets != "none":
                features.append(part.model.bucket_features(heldout))
        possible = log_probs.max(axis=0) > -np.inf
        features = [{name: values[possible] for name, values in of.items()} for of in features]
        middle = heldout.sentence_starts[np.searchsorted(heldout.sentence_starts, heldout.n_events / 2)]
        fitted, report = fit_and_report(
            HeldOut.of(log_probs[:, possible], features or [{}]),
            int(np.count_nonzero(possible[:middle])),
            buckets,
            list(map(repr, parts)),
            log_probs[:, possible].sum(axis=1).tolist(),
            settings,
        )
        report |= {
            "sentences": heldout.n_sentences,
            "unknown": heldout.n_unknown,
            "zero_probability": int(np.count_nonzero(~possible)),
        }
        return cls(parts, fitted.gate, allow_unknown, report, parts[0].recipe)

    def __post_init__(self) -> None:
        if self.gate.n_parts != len(self.parts):
            raise UsageError(f"weights of {self.gate.n_parts} parts for {len(self.parts)}")
        for part, names in self.gate.needs.items():
            known = self.parts[part].history_features([]) if 0 <= part < len(self.parts) else {}
            if not names <= set(known):
                raise UsageError(f"its weights depend on what part {part + 1} does not know of histories")
        self._aligned  # noqa: B018  that refuses parts whose vocabularies do not fit

    def __repr__(self) -> str:
        kind = "" if self.gate.kind == "none" else f", weights by {self.gate.kind}"
        return f"Mixture({len(self.parts)} model{'s' if len(self.parts) > 1 else ''}{kind})"

    @property
    def vocabulary(self) -> Vocabulary:
        """The words it knows: those of the first part."""
        return self.parts[0].vocabulary

    @property
    def parameters(self) -> int:
        """The parameters of all parts, and the weights."""
        return sum(part.parameters for part in self.parts) + self.gate.parameters

    def log_probs(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the natural logarithm of the probability of each event."""
        corpus = corpus.in_vocabulary(self.vocabulary)
        total = np.zeros(corpus.n_events)
        for begin, piece in corpus.pieces(_EVENTS_A_PIECE):
            of_piece = total[begin : begin + piece.n_events]
            weights = self.event_weights(piece)
            for i, part in enumerate(self._aligned):
                probabilities = part.log_probs(piece)
                np.exp(probabilities, out=probabilities)
                probabilities *= weights[:, i]
                of_piece += probabilities
        with np.errstate(divide="ignore"):
            return np.log(total, out=total)

    def part_log_probs(self, corpus: Corpus) -> list[NDArray[np.float64]]:
        """Give the natural logarithm of the probability of each event, for each part."""
        corpus = corpus.in_vocabulary(self.vocabulary)
        return [part.log_probs(corpus) for part in self._aligned]

    def event_weights(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the weights of the parts for each event: a row for each, with a weight for each part."""
        corpus = corpus.in_vocabulary(self.vocabulary)
        features = {
            part: self.parts[part].bucket_features(corpus, names) for part, names in self.gate.needs.items()
        }
        return self.gate.weights(features, corpus.n_events)

    def mean_weights(self, corpus: Corpus) -> NDArray[np.float64]:
        """Give the weight of each part, on average over the events of a corpus."""
        corpus = corpus.in_vocabulary(self.vocabulary)
        total = np.zeros(len(self.parts))
        for _, piece in corpus.pieces(_EVENTS_A_PIECE):
            total += self.event_weights(piece).sum(axis=0)
        return total / max(corpus.n_events, 1)

    def distribution(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> NDArray[np.float64]:
        """Give the probability of each word of the vocabulary after a history, by its id."""
        words = self._known(history)
        weights = self.gate.of_history(
            {
                part: self.parts[part].history_features(words, sentence_start=sentence_start)
                for part in self.gate.needs
            }
        )
        total = np.zeros(len(self.vocabulary))
        for weight, aligned in zip(weights.tolist(), self._aligned, strict=True):
            total += weight * aligned.distribution(words, sentence_start)
        return total

    def bucket_features(
        self, corpus: Corpus, names: Collection[str] | None = None
    ) -> dict[str, NDArray[np.float32]]:
        """Give what the parts know of the history of each event; of equal names, that of the first."""
        corpus = corpus.in_vocabulary(self.vocabulary)
        found: dict[str, NDArray[np.float32]] = {}
        for part in reversed(self.parts):
            found |= part.bucket_features(corpus, names)
        return found

    def history_features(
        self, history: str | Sequence[str], *, sentence_start: bool = True
    ) -> dict[str, float]:
        """Give what `bucket_features` gives, for a single history."""
        found: dict[str, float] = {}
        for part in reversed(self.parts):
            found |= part.history_features(self._known(history), sentence_start=sentence_start)
        return found

    def check(self) -> None:
        """Look at every part; BadDataError if the model makes no sense."""
        for part in self.parts:
            part.check()

    def pack(self) -> Packed:
        """Give what a model folder has to hold."""
        return Packed(
            self.vocabulary,
            {
                "model": "mixture",
                "gate": self.gate.to_json(),
                "allow_unknown": self.allow_unknown,
                "report": dict(self.report),
                "recipe": dict(self.recipe),
            },
            {"weights": self.gate.arrays()},
            parts=tuple(part.pack() for part in self.parts),
        )

    @classmethod
    def unpack(cls, folder: Folder, vocabulary: Vocabulary, parts: tuple[Model, ...]) -> Mixture:
        """Take what `pack` gave."""
        arrays, manifest = folder.arrays("weights"), folder.manifest
        try:
            return cls(
                parts,
                Gate.from_json(manifest["gate"], arrays),
                bool(manifest["allow_unknown"]),
                dict(manifest["report"]),
                dict(manifest["recipe"]),
            )
        except (KeyError, TypeError, ValueError, UsageError) as error:
            raise BadDataError(f"{folder.path}: not a mixture ({error}); write it again") from error

    @cached_property
    def _aligned(self) -> tuple[AlignedPart, ...]:
        return tuple(
            AlignedPart.of(part, self.vocabulary, allow_unknown=self.allow_unknown) for part in self.parts
        )

    def _known(self, history: str | Sequence[str]) -> list[str]:
        """Give the words of a history; what the vocabulary lacks is unknown, even to a part that knows it."""
        words = history.split() if isinstance(history, str) else history
        return [word if word in self.vocabulary else "<unk>" for word in words]
