"""A back-off n-gram model."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.counts import NgramCounts, ShardedText, count_ngrams
from stategram.display import Description, DisplayTable, display_table, plural
from stategram.errors import BadDataError, UsageError
from stategram.models.approximation.targets import NgramTargets
from stategram.models.distributions import Distributions
from stategram.models.model import (
    Model,
    Text,
    require_state,
    scoring_threads,
)
from stategram.models.model_files import ModelFiles
from stategram.models.ngrams.estimate import SMOOTHINGS, check_min_counts, default_min_counts, estimate
from stategram.models.ngrams.packed import NgramTrie, assemble
from stategram.models.ngrams.plain import PlainTrie, filter_trie, scale_unknown
from stategram.models.ngrams.worth import prune as prune_estimates
from stategram.models.scores import Scores, State, Step
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.storage import Archive, Entries, Name, Natural, Positive, array_of
from stategram.text import (
    BEGIN,
    END,
    SPECIAL_WORDS,
    UNKNOWN,
    Corpus,
    Sentences,
    Vocabulary,
    corpus_from_sentences,
)

_log = logging.getLogger(__name__)
_BEGIN, _END = SPECIAL_WORDS[BEGIN], SPECIAL_WORDS[END]
_LN_10 = math.log(10.0)
_NO_WORDS = State(b"")
# ARPA files have -99 for log10(0), and KenLM gives -100 to unknown words if a file has no <unk>.
_NO_LOG10_PROB = -99.0


def damage_error(path: Path | None, error: _core.DamagedModel | str) -> BadDataError:
    """Return the error of a model that contradicts itself; it was opened without checking its checksums."""
    where = f"{path}: " if path else ""
    return BadDataError(f"{where}{error}; write it again (stategram info --verify finds the damage)")


class _Manifest(Entries, frozen=True):
    smoothing: Name
    closed: bool


class _Info(Entries, frozen=True):
    added_words: tuple[str, ...] = ()
    inserted_starts: Natural = 0
    unknown_factor: Positive | None = None


@dataclass(frozen=True, eq=False)
class NgramModel(Model):
    """A back-off n-gram model.

    Parameters
    ----------
    vocabulary, training_info, metadata
        See `Model`.
    trie
        Its n-grams.
    smoothing
        The name of the way in which its probabilities were estimated.
    path
        Where it was opened, None if it was not: the name in errors.

    Notes
    -----
    Probabilities and weights are stored as float32 logarithms; their sums are float64, so that nothing more
    is lost. The value of a `State` is what `NgramTrie` calls one, as bytes.

    """

    kind: ClassVar[str] = "ngram"
    kind_title: ClassVar[str] = "n-gram model"
    info_entries: ClassVar[type[Entries]] = _Info

    trie: NgramTrie
    smoothing: str = "unknown"
    path: Path | None = None

    @classmethod
    def train(
        cls,
        corpus: Corpus | ShardedText | Sentences,
        order: int = 3,
        *,
        smoothing: str = "kneser-ney",
        min_counts: Sequence[int] | None = None,
        prune: float = 0.0,
        progress: Progress | None = None,
    ) -> NgramModel:
        """Train a model on a text.

        Parameters
        ----------
        corpus
            A corpus, a text in shards or its counts (`count_text`), or sentences.
        order
            The maximum n-gram order, 1 to 9.
        smoothing
            ``kneser-ney`` (interpolated, modified), ``katz`` (back-off with Good-Turing discounts),
            ``absolute`` (interpolated absolute discounting) or ``witten-bell`` (interpolated).
        min_counts
            For each length of n-grams, how often one must occur to be kept; they do not decrease, and the
            first is 1. By default all are kept, but for ``katz`` those of 3 and more words must occur twice.
        prune
            Drop n-grams without which the perplexity rises by less than this fraction, such as 1e-8 (Stolcke
            1998).
        progress
            Called with the fraction done and a few words.

        Examples
        --------
        >>> from stategram import NgramModel
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
        >>> model.predict("the", top=1)[0][0]
        'dog'

        """
        min_counts = _check_options(order, smoothing, min_counts, prune)
        if not isinstance(corpus, Corpus | ShardedText):
            corpus = corpus_from_sentences(corpus)
        if corpus.n_events == 0:
            raise BadDataError("the text has no words; give sentences of words separated by white space")
        counts = count_ngrams(corpus, order, progress=subprogress(progress, 0.0, 0.6))
        del corpus  # which frees its memory, if the caller has no more use for it
        return cls.from_counts(
            counts,
            smoothing=smoothing,
            min_counts=min_counts,
            prune=prune,
            progress=subprogress(progress, 0.6, 1.0),
        )

    @classmethod
    def from_counts(
        cls,
        counts: NgramCounts,
        *,
        smoothing: str = "kneser-ney",
        min_counts: Sequence[int] | None = None,
        prune: float = 0.0,
        progress: Progress | None = None,
    ) -> NgramModel:
        """Train a model on n-gram counts, which are used up. The parameters are those of `train`."""
        min_counts = _check_options(counts.order, smoothing, min_counts, prune)
        estimates = estimate(counts, smoothing, min_counts, progress=subprogress(progress, 0.0, 0.7))
        if prune > 0:
            prune_estimates(estimates, prune)
        info = {
            **counts.report,
            "min_counts": list(min_counts),
            "prune": prune,
            "discounts": estimates.discounts,
            "notes": estimates.notes,
        }
        if progress:
            progress(0.8, "assembling the model")
        return cls(counts.vocabulary, assemble(estimates), smoothing, training_info=info)

    @classmethod
    def from_plain(
        cls, vocabulary: Vocabulary, trie: PlainTrie, smoothing: str = "unknown", **common: Any
    ) -> NgramModel:
        """Make a model of plain n-grams; `common` is what all models have."""
        return cls(vocabulary, NgramTrie.from_plain(trie), smoothing, **common)

    def __repr__(self) -> str:
        sizes = " + ".join(f"{size:,}" for size in self.trie.sizes)
        return f"NgramModel(order {self.order}, {sizes} n-grams, {self.smoothing})"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        known = "" if self.smoothing == "unknown" else f", {self.smoothing}"  # as in ARPA files
        return f"{self.order}-gram model{known}"

    @property
    def order(self) -> int:
        """The maximum n-gram order."""
        return self.trie.order

    @property
    def parameters(self) -> int:
        """The number of probabilities and back-off weights."""
        return sum(self.trie.sizes) + sum(self.trie.sizes[:-1])

    @property
    def sum_tolerance(self) -> float:
        """How far sums of probabilities may be from one: more if the model is compact."""
        return 0.02 if self.trie.is_compact else super().sum_tolerance

    @cached_property
    def predicts_unknown(self) -> bool:
        """Whether unknown words have a probability; in an ARPA file without ``<unk>`` they have none."""
        with self._damage():
            log10_prob, _, _ = self._reader.advance(_NO_WORDS.value, int(self.trie.numbers[UNKNOWN]))
        return log10_prob > _NO_LOG10_PROB

    @property
    def feature_names(self) -> tuple[str, ...]:
        """``length``: the words of the history that the model knows; ``backoff``: log10 of their weight.

        The weight is that of all words that were never seen after the history: the smaller it is, the surer
        the model is there.
        """
        return ("length", "backoff")

    @property
    def word_ngrams(self) -> NgramModel:
        """The model itself."""
        return self

    @property
    def shorter_histories(self) -> tuple[str, ...]:
        """The names of the lower orders."""
        longer = (f"{order}-gram" for order in range(4, self.order + 1))
        return ("unigram", "bigram", "trigram", *longer)[: self.order - 1]

    def _targets(self, ids: NDArray[np.uint32]) -> NgramTargets:
        return NgramTargets(self.plain(), ids)

    def plain(self, *, compact: bool = False) -> PlainTrie:
        """Return its n-grams as plain arrays that were checked; UsageError if they are `compact` unasked.

        Rounded values are no good to make other n-grams of them.
        """
        if self.trie.is_compact and not compact:
            raise UsageError(
                f"{self!r} is compact, its values are rounded; take the model that it was made from"
            )
        with self._damage():
            trie = self.trie.plain()
            trie.check()
        return trie

    def _map_ngrams(self, function: Callable[[NgramModel], NgramModel]) -> NgramModel:
        return function(self)

    def fit_unknown(self, heldout: Text) -> NgramModel:
        """Return the model with the probability of ``<unk>`` fitted to held-out text; see `Model`."""
        text = self._corpus(heldout)
        if not text.n_unknown or not self.predicts_unknown:
            return self
        name = self.path or self
        if self.trie.is_compact:
            _log.warning("%s is compact; its p(<unk>) is not fitted", name)
            return self
        trie, scores = self.plain(), self.score(text)
        # With the odds of <unk> as they are in the text, about, log Z is seen well: it follows which
        # probability <unk> has before each event.
        odds = text.n_unknown / (text.n_events - text.n_unknown)
        unigram = float(np.float64(10.0) ** trie.log_probs[1 + trie.numbers[UNKNOWN]])
        factor = None
        if 0.0 < unigram < 1.0 and np.isfinite(scores.log_probs).all():
            trial = max(odds * (1.0 / unigram - 1.0), 2.0)
            tried = self._with_trie(scale_unknown(trie, trial)).score(text)
            log_z = scores.log_probs - tried.log_probs + math.log(trial) * scores.unknown
            unknown_probs = np.clip(np.expm1(log_z) / (trial - 1.0), 0.0, 1.0)
            factor = unknown_factor(unknown_probs, text.n_unknown)
        if factor is None:
            _log.warning("%s: p(<unk>) is not fitted: it, or that of a held-out word, is 0 or 1", name)
            return self
        fitted = self._with_trie(scale_unknown(trie, factor))
        probability = float(fitted._distribution(_NO_WORDS)[UNKNOWN])
        _log.info("p(<unk>) fitted to held-out text: %.2g, before %.2g", probability, unigram)
        factor *= float(self.training_info.get("unknown_factor", 1.0))
        return replace(fitted, training_info={**self.training_info, "unknown_factor": factor})

    def _with_trie(self, trie: PlainTrie) -> NgramModel:
        """Return the model of the same n-grams with other values."""
        return replace(self, trie=NgramTrie.from_plain(trie, closed=self.trie.closed), path=None)

    def filter(self, vocabulary: Vocabulary) -> NgramModel:
        """Return the model of the words that are in a vocabulary too.

        After histories of these words their probabilities stay as they are; those of all others go to
        ``<unk>``, so that sums stay the same.

        Examples
        --------
        >>> from stategram import NgramModel, Vocabulary
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
        >>> few = model.filter(Vocabulary.from_words(["the", "cat", "sat"]))
        >>> few.vocabulary.words
        ('<unk>', '<s>', '</s>', 'cat', 'sat', 'the')
        >>> round(few.perplexity("the cat sat"), 4) == round(model.perplexity("the cat sat"), 4)
        True

        """
        kept = self.vocabulary.subset(vocabulary)
        return NgramModel.from_plain(
            self.vocabulary.take(kept),
            filter_trie(self.plain(), kept),
            self.smoothing,
            training_info={**self.training_info, "filtered": {"from": len(self.vocabulary)}},
            **self.origin,
        )

    @property
    def notes(self) -> list[str]:
        """What an ARPA file lacked, as far as it changes probabilities."""
        notes = []
        missing = [word for word in (_BEGIN, _END) if word in self.training_info.get("added_words", ())]
        if _BEGIN in missing:
            notes.append(f"the model has no {_BEGIN}: it knows nothing of how sentences begin")
        if not self.predicts_unknown:
            notes.append("the model has no <unk>: unknown words have no probability")
        if _END in missing:
            notes.append(f"the model has no {_END}: sentence ends have no probability")
        if inserted := self.training_info.get("inserted_starts", 0):
            were = "was" if inserted == 1 else "were"
            notes.append(
                f"{plural(inserted, 'n-gram')} with which longer ones start {were} missing and added, with "
                "the probability that backing off gives"
            )
        return notes

    def describe(self) -> Description:
        """Return its order, its smoothing, its n-grams by their length and their discounts."""
        facts: list[tuple[str, str | int | float]] = [
            ("Order", self.order),
            ("Smoothing", self.smoothing),
        ]
        if (factor := self.training_info.get("unknown_factor")) is not None:
            facts.append(("Odds of <unk>", f"times {factor:.4g}, fitted to held-out text"))
        if self.trie.is_compact:
            facts.append(("Values", "rounded (compact)"))
        facts.append(("N-grams", sum(self.trie.sizes)))
        return Description(tuple(facts), (self.sizes_table("word"), self.discounts_table("word")))

    def sizes_table(self, unit: str, units: str | None = None) -> DisplayTable:
        """Return how many n-grams of each length there are; they are made of a `unit`, or several `units`."""
        rows = tuple((plural(order, unit, units), size) for order, size in enumerate(self.trie.sizes, 1))
        return display_table("N-grams by their length", ("Length", "N-grams"), rows)

    def discounts_table(self, unit: str, units: str | None = None) -> DisplayTable:
        """Return what was taken from the counts of n-grams of each length; no rows if it is not known."""
        known = self.training_info.get("discounts")
        found = [tuple(one) for one in known if isinstance(one, list)] if isinstance(known, list) else []
        widest = max(map(len, found), default=0)
        if self.smoothing == "katz":
            title, last = "Counts are multiplied by", ""
        else:
            title, last = "Discounts of counts", " and more"
        columns = (f"Count {r}{last if r == widest else ''}" for r in range(1, widest + 1))
        rows = tuple(
            (
                plural(length, unit, units),
                *(f"{value:.3f}" if isinstance(value, float) else None for value in values),
                *[None] * (widest - len(values)),
            )
            for length, values in enumerate(found, 1)
            if any(values)
        )
        return display_table(title, ("Length", *columns), rows)

    def start(self, *, sentence_start: bool = True) -> State:
        """Return the state at the start of a sentence, or the empty state (no known words)."""
        return self._sentence_start if sentence_start else _NO_WORDS

    @cached_property
    def _sentence_start(self) -> State:
        return State(self._after(_NO_WORDS.value, self.trie.numbers[[BEGIN]]))

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        with self._damage():
            log_probs, orders, lengths, backoffs = self._reader.score_events(
                corpus.ids,
                corpus.sentence_starts,
                self.trie.numbers,
                self.start().value,
                state.value,
                bool(features),
                scoring_threads(corpus.n_events),
            )
        log_probs *= _LN_10  # of log10
        # No more words than these matter; with fewer of them, so does the state before them.
        before, words = self._last_sentence(corpus, state)
        last = words[max(0, len(words) - self.order + 1) :]
        first = before.value if len(last) == len(words) else _NO_WORDS.value
        known = {"length": lengths, "backoff": backoffs}
        return Scores(
            corpus,
            log_probs,
            State(self._after(first, self.trie.numbers[last])),
            orders,
            {name: known[name] for name in features},
            predicts_unknown=self.predicts_unknown,
        )

    def advance(self, state: State, word: str) -> Step:
        """Return the log-probability of a word after a state, the state after it, and the n-gram length."""
        require_state(state)
        try:
            number = self._numbers_by_word.get(word)
            if number is None:
                number = int(self.trie.numbers[self._id(word)])
            log10_prob, after, order = self._reader.advance(state.value, number)
        except _core.DamagedModel as error:
            raise damage_error(self.path, error) from error
        return Step(log10_prob * _LN_10, State(after) if word != _END else self._sentence_start, order)

    def _distribution(self, state: State) -> NDArray[np.float64]:
        with self._damage():
            probabilities = self._reader.distribution(state.value)
        probabilities[BEGIN] = 0.0
        return probabilities

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        keys, (unigram, ids) = self._states_before(corpus, state), self._unigram

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            states, threads = keys[events].reshape(-1), Resources.current().threads
            with self._damage():
                self._reader.add_rows(states, weights, unigram, ids, rows.reshape(-1), threads)

        return Distributions(keys, add)

    def _states_before(self, corpus: Corpus, state: State) -> NDArray[np.uint32]:
        """Return the state before each event of a text, as a row of numbers."""
        with self._damage():
            states = self._reader.histories(
                corpus.ids,
                corpus.sentence_starts,
                self.trie.numbers,
                self.start().value,
                state.value,
                scoring_threads(corpus.n_events),
            )
        return states.reshape(corpus.n_events, self.order - 1)

    def _entropies(self, corpus: Corpus, state: State, progress: Progress | None) -> NDArray[np.float64]:
        n_words = len(self.vocabulary)
        return self.weighted_entropies(corpus, state, np.ones(n_words), np.zeros(n_words))

    def weighted_entropies(
        self,
        corpus: Corpus,
        state: State,
        masses: NDArray[np.float64],
        word_entropies: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        """Return the entropies before the events of a text, with masses and entropies as `entropies_of`."""
        states, (_, ids) = self._states_before(corpus, state), self._unigram
        masses, threads = masses.copy(), scoring_threads(len(states))
        masses[BEGIN] = 0.0
        with self._damage():
            return self._reader.entropies(
                states.reshape(-1), len(states), masses[ids], word_entropies[ids], threads
            )

    @cached_property
    def _unigram(self) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
        """The distribution without a history, and the id of each of the trie's numbers."""
        return self._distribution(_NO_WORDS), np.argsort(self.trie.numbers).astype(np.uint32)

    def _sample_history(self, random: np.random.Generator) -> tuple[str, ...]:
        """Return a random n-gram but of the greatest length: first a length is drawn, then one of it."""
        sizes = (1, *self.trie.sizes[:-1])
        lengths = [
            length for length, size in enumerate(sizes) if size > 0
        ]  # pruning can leave none of a length
        length = lengths[random.integers(0, len(lengths))]
        node = int(random.integers(0, sizes[length]))
        if length == 0:
            return ()
        ids = (np.flatnonzero(self.trie.numbers == number) for number in self._reader.ngram(length, node))
        return tuple(self.vocabulary.word(int(id[0])) for id in ids)

    def check(self) -> None:
        """Check every n-gram; BadDataError if the model is inconsistent."""
        try:
            self._reader.check(Resources.current().threads)
        except ValueError as error:
            raise BadDataError(f"invalid n-gram model: {error}; write it again") from error

    def _to_files(self) -> ModelFiles:
        return ModelFiles(
            {"order": self.order, "smoothing": self.smoothing, "closed": self.trie.closed},
            {"trie": self.trie.arrays()},
        )

    @classmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> NgramModel:
        manifest, arrays = msgspec.convert(archive.manifest, _Manifest), archive.arrays("trie")
        array_of(arrays, "numbers", np.uint32, len(vocabulary))
        trie = NgramTrie(**{name: arrays[name] for name in NgramTrie.ARRAYS}, closed=manifest.closed)
        model = cls(vocabulary, trie, manifest.smoothing, archive.path, **common)
        model._reader  # noqa: B018  that refuses arrays which do not fit together
        return model

    @cached_property
    def _reader(self) -> _core.TrieReader:
        return self.trie.reader()

    @cached_property
    def stepper(self) -> _core.Stepper:
        """The model word by word for decoders."""
        with self._damage():
            return self.trie.stepper()

    @cached_property
    def _numbers_by_word(self) -> dict[str, int]:
        return dict(zip(self.vocabulary.words, self.trie.numbers.tolist(), strict=True))

    def _after(self, state: bytes, numbers: NDArray[np.uint32]) -> bytes:
        with self._damage():
            return self._reader.state_after(state, numbers)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        """Name the model in errors of kernels, which meet damage where they read it."""
        try:
            yield
        except _core.DamagedModel as error:
            raise damage_error(self.path, error) from error


def unknown_factor(unknown_probs: NDArray[np.float64], n_unknown: int) -> float | None:
    """Return the factor a of the odds of ``<unk>`` that predicts a text best; None if it has no bounds.

    `unknown_probs` are q_i = p(<unk> | h_i) before each event i. Where n log a - sum_i log(1 + (a - 1) q_i)
    is greatest, there are as many unknown words as are expected: n = sum_i a q_i / (1 + (a - 1) q_i).

    >>> round(unknown_factor(np.array([0.1, 0.1, 0.1, 0.1]), 2), 6)
    9.0
    """
    low, high = -300.0, 300.0  # log a: the sum rises with it, and p(<unk>) is 1e-99 or more
    for _ in range(64):
        middle = (low + high) / 2
        scaled = math.exp(middle) * unknown_probs
        is_low = float((scaled / (1.0 - unknown_probs + scaled)).sum()) < n_unknown
        low, high = (middle, high) if is_low else (low, middle)
    return math.exp(high) if abs(high) < 299.0 else None


def _check_options(
    order: int, smoothing: str, min_counts: Sequence[int] | None, prune: float
) -> Sequence[int]:
    """Refuse inconsistent options before hours of work; return the minimum counts."""
    if smoothing not in SMOOTHINGS:
        raise UsageError(f"no smoothing {smoothing!r}: there are {', '.join(SMOOTHINGS)}")
    if not 0 <= prune < math.inf:
        raise UsageError(f"prune is {prune}; it must be 0 or more, such as 1e-8")
    if min_counts is None:
        return default_min_counts(smoothing, order)
    check_min_counts(min_counts, order)
    return min_counts
