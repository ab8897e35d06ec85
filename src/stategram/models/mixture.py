"""A linear interpolation of models: p(w | c) = sum_i weight_i(c) p_i(w | c)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.display import Description, plural
from stategram.errors import UsageError
from stategram.models.alignment import AlignedPart, require_same_format
from stategram.models.approximation.targets import MixtureTargets, Targets
from stategram.models.distributions import Distributions
from stategram.models.gate import Gate, GateEntries
from stategram.models.mixture_fitting import MAX_ITERATIONS, TOLERANCE, FitSettings, HeldOut, fit_gate
from stategram.models.model import (
    HISTORIES,
    Model,
    Text,
    draw_from,
    require_model,
    scoring_threads,
)
from stategram.models.model_files import ModelFiles
from stategram.models.ngrams.model import NgramModel
from stategram.models.scores import PartScores, Scores, State
from stategram.progress import Progress, subprogress
from stategram.storage import Archive, Entries, Fraction, Natural, Positive
from stategram.text import END, UNKNOWN, Corpus, Sentences, Vocabulary, as_corpus

_log = logging.getLogger(__name__)
# Weights that are learned on fewer held-out events depend on chance.
_FEW_EVENTS = 1000
# How many words a mixture may have for each word of a part: as many as a mixture of 16 models can have.
_WORDS_PER_PART, _MANY_WORDS = 16, 1 << 20
_SAME_IDS = np.empty(0, np.uint32)


class _Manifest(Entries, frozen=True):
    gate: GateEntries


class _PartInfo(Entries, frozen=True):
    perplexity: Positive | None
    weight: Fraction
    without: Positive | None


class _Candidate(Entries, frozen=True):
    kind: str
    perplexity: Positive | None


class _Info(Entries, frozen=True):
    events: Natural
    perplexity: Positive
    parts: tuple[_PartInfo, ...]
    candidates: tuple[_Candidate, ...] = ()


@dataclass(frozen=True, eq=False)
class Mixture(Model):
    """A linear interpolation of models; `fit` learns its weights.

    Parameters
    ----------
    parts
        The models, at least two. The vocabulary has the words of all: first those of the first. Words that a
        part lacks share one half of the probability of its ``<unk>`` evenly, and ``<unk>`` keeps the other
        half, so that its probabilities still sum to one. By a part without ``<unk>``, such as an ARPA file
        that has none, they are impossible.
    gate
        The weights, which may depend on the history.
    training_info
        What `fit` found. ``parts``: for each its ``perplexity`` alone, its ``weight`` without buckets, and
        the perplexity ``without`` it. ``candidates``: the cross-validated perplexity of each kind of gate.
    metadata
        See `Model`.

    """

    kind: ClassVar[str] = "mixture"
    kind_title: ClassVar[str] = "mixture"
    info_entries: ClassVar[type[Entries]] = _Info

    vocabulary: Vocabulary = field(init=False, repr=False)
    parts: tuple[Model, ...] = field()
    gate: Gate

    @classmethod
    def fit(
        cls,
        models: Iterable[Model],
        heldout: Corpus | Sentences,
        *,
        buckets: str = "auto",
        max_iterations: int = MAX_ITERATIONS,
        tolerance: float = TOLERANCE,
        progress: Progress | None = None,
    ) -> Mixture:
        """Learn the weights of models on held-out text, which none of them was trained on.

        Parameters
        ----------
        models
            The parts, at least two.
        heldout
            A corpus, or sentences.
        buckets
            Which histories have weights of their own: ``none``; ``length``: by the number of words that the
            first n-gram model knows; ``backoff``: by that and its back-off weight; ``category``: by the
            category of the last word in the first category n-gram model; ``state``: by the state of the first
            clustered model; ``all``: by all of these and the count buckets of contexts; ``auto``: what
            predicts one half of the text best when it is learned on the other half, both ways.
        max_iterations, tolerance
            Stop when no other weights could gain `tolerance` nats per event, or after so many iterations.
        progress
            Called with the fraction done and a few words.

        Examples
        --------
        >>> from stategram import Mixture, NgramModel
        >>> text = ["the cat sat", "the dog sat", "a cat ran"]
        >>> models = [NgramModel.train(text, order) for order in (1, 2)]
        >>> mixture = Mixture.fit(models, ["the dog ran", "a dog sat"])
        >>> [part["weight"] > 0.1 for part in mixture.training_info["parts"]]
        [False, True]

        """
        if isinstance(models, Model | str):
            raise TypeError(f"found {models!r:.60}; expected a list of models")
        parts = tuple(models)
        for model in parts:
            require_model(model)
        _require_several(parts)
        require_same_format(parts)
        settings = FitSettings(max_iterations, tolerance)
        equal = Gate.constant(np.full(len(parts), 1 / len(parts)))
        mixture = cls(parts, equal, **parts[0].origin)
        heldout = as_corpus(mixture.vocabulary, heldout)
        if heldout.n_events < _FEW_EVENTS:
            _log.warning(
                "weights learned on %s of %s only may fit no other text; give a held-out text of some "
                "thousand words",
                plural(heldout.n_events, "event"),
                plural(heldout.n_sentences, "sentence"),
            )
        log_probs, features = np.empty((len(parts), heldout.n_events)), []
        for number, part in enumerate(mixture._aligned):
            if progress:
                progress(0.3 * number / len(parts), f"scoring by part {number + 1}")
            names = part.model.feature_names if buckets != "none" else ()
            scores = part.score(heldout, names, part.model.start())
            log_probs[number] = scores.log_probs
            features.append(scores.features)
        possible = log_probs.max(axis=0) > -np.inf
        if not mixture.predicts_unknown:
            possible &= heldout.ids != UNKNOWN
        log_probs = log_probs[:, possible]
        middle = heldout.sentence_starts[np.searchsorted(heldout.sentence_starts, heldout.n_events / 2)]
        gate, info = fit_gate(
            HeldOut.from_log_probs(
                log_probs, [{name: values[possible] for name, values in of.items()} for of in features]
            ),
            int(np.count_nonzero(possible[:middle])),
            buckets,
            list(map(repr, parts)),
            log_probs.sum(axis=1).tolist(),
            settings,
            subprogress(progress, 0.3, 1.0),
        )
        info |= {
            "sentences": heldout.n_sentences,
            "unknown": heldout.n_unknown,
            "zero_probability": int(np.count_nonzero(~possible)),
        }
        return replace(mixture, gate=gate, training_info=info)

    def __post_init__(self) -> None:
        _require_several(self.parts)
        vocabulary = Vocabulary.union(part.vocabulary for part in self.parts)
        object.__setattr__(self, "vocabulary", vocabulary)
        if self.gate.n_parts != len(self.parts):
            raise UsageError(f"weights of {self.gate.n_parts} parts for {len(self.parts)}")
        for part, names in self.gate.needs.items():
            known = self.parts[part].feature_names if 0 <= part < len(self.parts) else ()
            if not names <= set(known):
                raise UsageError(f"its weights depend on what part {part + 1} does not know of histories")

    def __repr__(self) -> str:
        kind = "" if self.gate.kind == "none" else f", weights by {self.gate.kind}"
        return f"Mixture({plural(len(self.parts), 'model')}{kind})"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"mixture of {plural(len(self.parts), 'model')}"

    @property
    def order(self) -> int:
        """The greatest order of a part."""
        return max(part.order for part in self.parts)

    @property
    def parameters(self) -> int:
        """The parameters of all parts, and the weights."""
        return sum(part.parameters for part in self.parts) + self.gate.parameters

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features that any part knows; of equal names, that of the first part."""
        return tuple(dict.fromkeys(name for part in self.parts for name in part.feature_names))

    @property
    def histories(self) -> tuple[str, ...]:
        """Those that make a difference to any part."""
        known = {name for part in self.parts for name in part.histories}
        return tuple(name for name in HISTORIES if name in known)

    def with_history(self, history: str) -> Mixture:
        """Return the mixture of the parts with another history; the weights stay the same."""
        return replace(self, parts=tuple(part.with_history(history) for part in self.parts))

    def fit_unknown(self, heldout: Text) -> Mixture:
        """Return the mixture of parts with the probability of ``<unk>`` fitted; the weights stay the same."""
        text = self._corpus(heldout)
        return replace(self, parts=tuple(part.fit_unknown(text) for part in self.parts))

    def _map_ngrams(self, function: Callable[[NgramModel], NgramModel]) -> Mixture:
        return replace(self, parts=tuple(part._map_ngrams(function) for part in self.parts))

    def _targets(self, ids: NDArray[np.uint32]) -> Targets:
        parts = {
            number: part._targets(ids)
            for number, part in enumerate(self.parts)
            if part.parts or not part.looks_back
        }
        if not parts or any(part.vocabulary != self.vocabulary for part in self.parts):
            return super()._targets(ids)
        return MixtureTargets(self, parts)

    @property
    def looks_back(self) -> bool:
        """Whether the probabilities of any part depend on earlier sentences."""
        return any(part.looks_back for part in self.parts)

    @property
    def notes(self) -> list[str]:
        """Those of the parts."""
        return [note for part in self.parts for note in part.notes]

    def describe(self) -> Description:
        """Return the number of its parts and weights."""
        facts = (
            ("Parts", len(self.parts)),
            ("Weights by", self.gate.kind),
            ("Weights", self.gate.parameters),
        )
        return Description(facts)

    def start(self, *, sentence_start: bool = True) -> State:
        """Return the states of all parts at the start of a sentence, or else without any words."""
        return State(tuple(part.start(sentence_start=sentence_start) for part in self.parts))

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        sources = {
            name: next(number for number, part in enumerate(self.parts) if name in part.feature_names)
            for name in features
        }
        requested = [set(self.gate.needs.get(number, ())) for number in range(len(self.parts))]
        for name, number in sources.items():
            requested[number].add(name)
        states = list(state.value)
        log_probs = np.empty(corpus.n_events)
        found = {name: np.empty(corpus.n_events, np.float32) for name in features}
        part_log_probs, part_weights = np.zeros(len(self.parts)), np.zeros(len(self.parts))
        by_sentence = np.empty((len(self.parts), corpus.n_sentences))
        predicts = [part.predicts_unknown for part in self.parts]
        sentence = 0
        for begin, piece in corpus.pieces():
            scored = [
                part.score(piece, names, state)
                for part, names, state in zip(self._aligned, requested, states, strict=True)
            ]
            log_sums, weight_sums = _core.mix_events(
                self.gate.kernel,
                [one.log_probs for one in scored],
                [[scored[of.part].features[name] for name in of.names] for of in self.gate.buckets],
                log_probs[begin : begin + piece.n_events],
                scoring_threads(piece.n_events),
            )
            part_weights += weight_sums
            for number, one in enumerate(scored):
                sums, total = one.sentence_log_probs, log_sums[number]
                if not predicts[number]:
                    sums = piece.sentence_sums(np.where(piece.ids == UNKNOWN, 0.0, one.log_probs))
                    total = sums.sum()
                part_log_probs[number] += total
                by_sentence[number, sentence : sentence + piece.n_sentences] = sums
            sentence += piece.n_sentences
            states = [one.state for one in scored]
            for name, number in sources.items():
                found[name][begin : begin + piece.n_events] = scored[number].features[name]
        n = max(corpus.n_events, 1)
        n_known = max(corpus.n_events - corpus.n_unknown, 1)
        with np.errstate(over="ignore"):
            perplexities = np.exp(-part_log_probs / np.where(predicts, n, n_known))
        weights = (part_weights / n).tolist()
        figures = zip(self._part_names, perplexities.tolist(), weights, by_sentence, predicts, strict=True)
        return Scores(
            corpus,
            log_probs,
            State(tuple(states)),
            features=found,
            parts=tuple(PartScores(*of_part) for of_part in figures),
            predicts_unknown=self.predicts_unknown,
        )

    def _distribution(self, state: State) -> NDArray[np.float64]:
        total = np.zeros(len(self.vocabulary))
        for weight, part, of_part in zip(self._weights_after(state), self._aligned, state.value, strict=True):
            total += weight * part.distribution(of_part)
        return total

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        of_parts = self._event_weights(corpus, state)
        parts = [
            part.distributions(corpus, of_part)
            for part, of_part in zip(self._aligned, state.value, strict=True)
        ]

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            for number, part in enumerate(parts):
                part.add(events, weights * of_parts[events, number], rows)

        keys = [part.keys for part in parts if part.keys is not None]
        keys.append(np.ascontiguousarray(of_parts).view(np.uint32))
        return Distributions(np.hstack(keys) if len(keys) > len(parts) else None, add)

    def _event_weights(self, corpus: Corpus, state: State) -> NDArray[np.float64]:
        """Return the weights of the parts before each event of a text: a row for each event."""
        features = {
            number: self._aligned[number].score(corpus, names, state.value[number]).features
            for number, names in self.gate.needs.items()
        }
        return self.gate.weights(features, corpus.n_events)

    def _draw(self, state: State, random: np.random.Generator) -> int:
        """Draw a part by its weight, and the next word from that part alone."""
        number = draw_from(self._weights_after(state), random)
        return self._aligned[number].draw(state.value[number], random)

    def _weights_after(self, state: State) -> NDArray[np.float64]:
        # Any word may stand for the next one: features do not depend on it.
        weights: NDArray[np.float64] = self._event_weights(self._one_event(END), state)[0]
        return weights

    def _sample_history(self, random: np.random.Generator) -> tuple[str, ...]:
        return self.parts[int(random.integers(0, len(self.parts)))]._sample_history(random)

    def check(self) -> None:
        """Check every part; BadDataError if the model is inconsistent."""
        for part in self.parts:
            part.check()

    def _to_files(self) -> ModelFiles:
        return ModelFiles(
            {"gate": self.gate.to_json()},
            {"weights": self.gate.arrays()},
            self.parts,
        )

    @classmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> Mixture:
        manifest = msgspec.convert(archive.manifest, _Manifest)
        gate = Gate.from_entries(manifest.gate, archive.arrays("weights"), len(parts))
        mixture = cls(parts, gate, **common)
        gate.kernel  # noqa: B018  that refuses tables that do not fit together
        # Each part gets an array with a number for each word of the mixture.
        known = sum(len(part.vocabulary) for part in parts)
        if len(parts) * len(mixture.vocabulary) > _WORDS_PER_PART * known + _MANY_WORDS:
            raise ValueError("it has too many parts with different vocabularies")
        if mixture.training_info and len(mixture.training_info["parts"]) != len(parts):
            raise ValueError("its training information is that of other parts")
        return mixture

    @cached_property
    def stepper(self) -> _core.Stepper | None:
        """The model word by word for decoders, if all parts can be used so."""
        steppers = [part.stepper for part in self.parts if part.stepper is not None]
        if len(steppers) < len(self.parts):
            return None
        return _core.MixtureStepper(
            steppers,
            [_SAME_IDS if part.ids is None else part.ids for part in self._aligned],
            [part.shares for part in self._aligned],
            self.gate.kernel,
        )

    @cached_property
    def _part_names(self) -> tuple[str, ...]:
        return tuple(self.part_titles)

    @cached_property
    def _aligned(self) -> tuple[AlignedPart, ...]:
        return tuple(AlignedPart.create(part, self.vocabulary) for part in self.parts)


def _require_several(parts: tuple[Model, ...]) -> None:
    if len(parts) < 2:
        raise UsageError(f"a mixture of {plural(len(parts), 'model')}; give at least two")


def score_parts(
    model: Model, corpus: Corpus, state: State | None = None
) -> tuple[NDArray[np.float64], list[NDArray[np.float64]]]:
    """Return the weights of the parts of a mixture before each event, and the log-probabilities by each part.

    The weights have a row for each event, of no part if the model has none. Log-probabilities are natural,
    and not a number for unknown words where a part has no probability for them.

    >>> from stategram import NgramModel, corpus_from_sentences
    >>> parts = tuple(NgramModel.train(["the cat sat", "the dog sat"], order) for order in (1, 2))
    >>> mixture = Mixture(parts, Gate.constant([0.25, 0.75]))
    >>> text = corpus_from_sentences(["the cat sat"])
    >>> weights, log_probs = score_parts(mixture, text)
    >>> mixed = sum(weights[:, part] * np.exp(log_probs[part]) for part in range(2))
    >>> bool(np.allclose(np.log(mixed), mixture.score(text).log_probs))
    True
    """
    if not isinstance(model, Mixture):
        return np.empty((corpus.n_events, 0)), []
    corpus, first = model._to_score(corpus, state)
    features, log_probs = {}, []
    for number, (part, of_part) in enumerate(zip(model._aligned, first.value, strict=True)):
        scores = part.score(corpus, model.gate.needs.get(number, ()), of_part)
        features[number] = scores.features
        lacking = (corpus.ids == UNKNOWN) & (not part.model.predicts_unknown)
        log_probs.append(np.where(lacking, np.nan, scores.log_probs))
    return model.gate.weights(features, corpus.n_events), log_probs
