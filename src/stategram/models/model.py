"""What every model can do.

A kind of model defines what it is (`kind`, `title`, `describe`, `parameters`, `order`), where a sentence
starts (`start`), and how probable a text is (`score`, `distribution_after`); everything else follows.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.display import Description
from stategram.errors import UnknownWordsWarning, UsageError, warn_caller
from stategram.models.approximation.targets import AnyTargets, Targets
from stategram.models.distributions import Distributions, entropies_of
from stategram.models.model_files import MODEL_KINDS, ModelFiles, write_model
from stategram.models.scores import Scores, State, Step
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.storage import Archive, Entries
from stategram.text import (
    BEGIN,
    END,
    SPECIAL_WORDS,
    UNKNOWN,
    Corpus,
    Sentences,
    TextFormat,
    UnknownCount,
    Vocabulary,
    check_words,
    spelled_corpus,
    split_line,
    words_of,
)
from stategram.wording import plural

if TYPE_CHECKING:
    from stategram.models.clusters import ModelClasses, ModelStates
    from stategram.models.ngrams.model import NgramModel

Text: TypeAlias = "Corpus | str | Sentences"
"""A corpus, one sentence, or sentences."""

Words: TypeAlias = "str | Sequence[str] | Sequence[int]"
"""Words in a string, or in a list, which may be of the ids of a tokenizer."""

History: TypeAlias = "Words | State"
"""The words so far, or the state after them."""

HISTORIES = ("sentence", "document", "adaptive")
"""How far back a model may look: inside the sentence, to earlier ones of the document, into caches too."""

# A pool of threads costs more than scoring so few events.
_EVENTS_FOR_THREADS = 4096


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """Anything that gives p(w | history).

    Parameters
    ----------
    vocabulary
        The words it knows; all others are ``<unk>``.
    training_info
        How it was trained and what was found: anything that JSON can hold.
    metadata
        What it was trained with, as far as it is known.
    training_format
        How its training text was read, if that is known.

    """

    kind: ClassVar[str]
    """The name of the kind of model in manifests."""
    kind_title: ClassVar[str] = "model"
    """What models of the kind are called in charts."""
    info_entries: ClassVar[type[Entries]] = Entries
    """What is used of the training information in a file: it must have these types, if it is not empty."""

    vocabulary: Vocabulary
    parts: tuple[Model, ...] = field(default=(), init=False, repr=False)
    """The models that it is made of, if it is a mixture."""
    training_info: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    metadata: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    training_format: TextFormat | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls):  # a class derived from a kind of model is no kind of its own
            MODEL_KINDS[cls.kind] = cls

    def __getstate__(self) -> dict[str, Any]:
        # Without what was derived from these: a reader of mapped arrays can be neither pickled nor copied.
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self.vocabulary.id(word) != UNKNOWN

    @property
    def text_format(self) -> TextFormat:
        """How text for the model is read: as its training text, as far as that is known."""
        return self.training_format or TextFormat.of_words(self.vocabulary)

    @property
    def options(self) -> dict[str, Any]:
        """What it was trained with and how its training text was read, as far as that is known, as JSON."""
        known = self.training_format
        return {**self.metadata, **({} if known is None else msgspec.to_builtins(known))}

    @property
    def origin(self) -> dict[str, Any]:
        """What a model that is made from this one has in common with it."""
        return {"metadata": self.metadata, "training_format": self.training_format}

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is, in a few words, for tables."""

    @property
    def part_titles(self) -> list[str]:
        """The titles of its parts; equal ones are numbered."""
        titles = [part.title for part in self.parts]
        total, met = Counter(titles), Counter[str]()
        numbered = []
        for title in titles:
            met[title] += 1
            numbered.append(f"{title} ({met[title]})" if total[title] > 1 else title)
        return numbered

    @property
    @abstractmethod
    def order(self) -> int:
        """The number of words of its longest n-grams or contexts, the predicted word included."""

    @property
    @abstractmethod
    def parameters(self) -> int:
        """The number of its probabilities and weights."""

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The features of histories that `score` can return."""
        return ()

    @property
    def word_categories(self) -> NDArray[Any] | None:
        """The category of each word by its id; None if the model predicts none."""
        return next((one.labels for one in self.class_sets if one.word_probs is not None), None)

    @property
    def leaves(self) -> dict[str, Model]:
        """The models in it that have no parts, by their place: ``0``, or ``1.2`` in mixtures of mixtures."""
        if not self.parts:
            return {"0": self}
        return {
            str(number) if place == "0" else f"{number}.{place}": leaf
            for number, part in enumerate(self.parts, 1)
            for place, leaf in part.leaves.items()
        }

    @property
    def class_sets(self) -> tuple[ModelClasses, ...]:
        """The sets of word classes that it has."""
        return ()

    @property
    def state_sets(self) -> tuple[ModelStates, ...]:
        """The sets of context states that it has."""
        return ()

    @property
    def word_ngrams(self) -> NgramModel | None:
        """The model itself if it is made of n-grams of words and nothing else."""
        return None

    @property
    def shorter_histories(self) -> tuple[str, ...]:
        """Names for the model limited to the last 0, 1, 2, ... words; empty if it is not shown like that."""
        return ()

    def targets(self, ids: NDArray[np.uint32]) -> Targets:
        """Return what a back-off model in its place should predict, for the words of these ids."""
        return AnyTargets(self, ids)

    def contributions(self, history: History, word: str) -> dict[str, float]:
        """Return what each context adds to the log-odds of a word, in nats; empty if that is not known."""
        return {}

    def event_weights(self, corpus: Corpus, state: State | None = None) -> NDArray[np.float64]:
        """Return the weights of the parts before each event of a text: a row for each event."""
        return np.empty((corpus.n_events, 0))

    @property
    def sum_tolerance(self) -> float:
        """How far sums of probabilities may be from one, because values are rounded."""
        return max((part.sum_tolerance for part in self.parts), default=1e-6)

    @property
    def histories(self) -> tuple[str, ...]:
        """Which of `HISTORIES` make a difference: for most models ``sentence`` alone."""
        return HISTORIES[:1]

    def with_history(self, history: str) -> Self:
        """Return the model with another history, or with the nearest smaller one that makes a difference."""
        if history not in HISTORIES:
            raise UsageError(f"no history {history!r}: there are {', '.join(HISTORIES)}")
        return self

    def map_ngrams(self, function: Callable[[NgramModel], NgramModel]) -> Self:
        """Return the model with what a function makes of each n-gram model in it; most have none."""
        return self

    def filter(self, vocabulary: Vocabulary) -> Self:
        """Return the model of the words that are in a vocabulary too."""
        raise UsageError(
            f"{self!r} cannot be pruned to a list of words, only n-gram and category n-gram models can; "
            "prune the parts of a mixture and mix them again (stategram mix), or train with --vocab-file"
        )

    @property
    def predicts_unknown(self) -> bool:
        """Whether unknown words have a probability; in an ARPA file without ``<unk>`` they have none."""
        return not self.parts or any(part.predicts_unknown for part in self.parts)

    @property
    def looks_back(self) -> bool:
        """Whether its probabilities depend on earlier sentences."""
        return False

    @property
    def stepper(self) -> _core.Stepper | None:
        """The model word by word for decoders, as `stategram.kenlm` uses it; None if it has none."""
        return None

    @property
    def notes(self) -> list[str]:
        """What a user should know before relying on its probabilities."""
        return []

    @abstractmethod
    def describe(self) -> Description:
        """Return what the model is made of, for reports."""

    @abstractmethod
    def check(self) -> None:
        """Check every part; BadDataError if the model is inconsistent."""

    @abstractmethod
    def to_files(self) -> ModelFiles:
        """Return the content of a model file besides what all kinds have."""

    @classmethod
    @abstractmethod
    def from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> Self:
        """Inverse of `to_files`; `common` has `training_info`, `metadata` and `training_format`."""

    @abstractmethod
    def start(self, *, sentence_start: bool = True) -> State:
        """Return the state at the start of a sentence, or else the state that knows of no words."""

    @abstractmethod
    def score(self, text: Text, *, features: Collection[str] = (), state: State | None = None) -> Scores:
        """Return the log-probabilities of a text, in one walk over it.

        Parameters
        ----------
        text
            A corpus, one sentence, or sentences. Words that the model does not know are ``<unk>``.
        features
            What else to return of the history before each event: some of `feature_names`. Features do not
            depend on the event itself, so that a mixture may choose its weights by them.
        state
            The state from which the first sentence goes on, as `start`, `advance` and `Scores.state` return
            it; the start of a sentence by default.

        """

    @abstractmethod
    def distribution_after(self, state: State) -> NDArray[np.float64]:
        """Return the probability of each word of the vocabulary after a state, by its id."""

    def distributions(self, corpus: Corpus, state: State) -> Distributions:
        """Return the distributions before the events of a text, which is in the vocabulary of the model."""
        raise UsageError(f"{self!r} has no entropies; take another kind of model")

    def entropies(
        self, text: Text, *, state: State | None = None, progress: Progress | None = None
    ) -> NDArray[np.float64]:
        """Return the entropy, in nats, of the distribution of the next word before each event of a text.

        Parameters
        ----------
        text, state
            As in `score`.
        progress
            Called with the fraction done and a message.

        Examples
        --------
        >>> from stategram import NgramModel
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
        >>> model.entropies("the cat sat").round(2)
        array([1.75, 1.73, 1.73, 1.48])

        """
        corpus, state = self._to_score(text, (), state)
        found = np.empty(corpus.n_events)
        for begin, piece in corpus.pieces():
            end = begin + piece.n_events
            n_events = max(corpus.n_events, 1)
            step = subprogress(progress, begin / n_events, end / n_events)
            found[begin:end] = self._piece_entropies(piece, state, step)
            state = self.score(piece, state=state).state if self.looks_back else self.start()
        return found

    def _piece_entropies(
        self, corpus: Corpus, state: State, progress: Progress | None
    ) -> NDArray[np.float64]:
        """Return entropies from whole distributions; kinds of models that know a shorter way override it."""
        n_words = len(self.vocabulary)
        found = self.distributions(corpus, state)
        return entropies_of(found, corpus.n_events, np.ones(n_words), np.zeros(n_words), progress)

    def draw(self, state: State, random: np.random.Generator) -> int:
        """Draw the next word after a state; return its id, or -1 where probabilities sum to less than one."""
        return draw_from(self.distribution_after(state), random)

    def advance(self, state: State, word: str) -> Step:
        """Return the log-probability of a word after a state, and the state after the word.

        After ``</s>`` the next sentence starts.
        """
        scores = self.score(self._one_event(self._id(word)), state=state)
        order = None if scores.orders is None else int(scores.orders[0])
        return Step(float(scores.log_probs[0]), scores.state, order)

    def state_after(self, history: Words, *, sentence_start: bool = True) -> State:
        """Return the state after the words of a history, which begins a sentence by default."""
        return self._state_after(self.history_words(history), sentence_start)

    def history_words(self, history: Words) -> list[str]:
        """Return the words of a history; warn if most are unknown."""
        words = split_words(history, self.vocabulary)
        if 2 * sum(word not in self.vocabulary for word in words) >= max(len(words), 1):
            text = spelled_corpus(self.vocabulary, [words])
            warn_of_unknown(self, text, text.in_vocabulary(self.vocabulary))
        return words

    def _state_after(self, words: list[str], sentence_start: bool) -> State:
        if sentence_start and words[:1] == [SPECIAL_WORDS[BEGIN]]:
            words = words[1:]
        return self.score_words(words, self.start(sentence_start=sentence_start)).state

    def score_words(self, words: Words, state: State) -> Scores:
        """Score the words that follow a state; ``</s>`` is a word like any other, and is not added."""
        words = split_words(words, self.vocabulary)
        ids = np.fromiter(map(self.vocabulary.id, words), np.uint32, len(words))
        return self.score(Corpus(ids, np.array([0, len(ids)]), self.vocabulary), state=state)

    def state_features(self, state: State, names: Collection[str]) -> dict[str, float]:
        """Return features of the history that led to a state."""
        # Any word may stand for the next one: features do not depend on it.
        features = self.score(self._one_event(END), features=names, state=state).features
        return {name: float(values[0]) for name, values in features.items()}

    def log_probs(self, text: Text) -> NDArray[np.float64]:
        """Return the natural-log probability of each event of a text."""
        return self.score(text).log_probs

    def part_log_probs(self, text: Text, *, state: State | None = None) -> list[NDArray[np.float64]]:
        """Return the natural-log probabilities of a text by each part alone; no parts, no arrays."""
        return []

    def perplexity(self, text: Text) -> float:
        """Return the perplexity of a text, ``<unk>`` counted as a word."""
        return self.score(text).perplexity

    def distribution(self, history: History, *, sentence_start: bool = True) -> NDArray[np.float64]:
        """Return the probability of each word of the vocabulary after a history, by its id.

        Parameters
        ----------
        history
            The words so far, of which unknown ones count as ``<unk>``, or the state after them.
        sentence_start
            Whether words begin a sentence.

        """
        if not isinstance(history, State):
            history = self.state_after(history, sentence_start=sentence_start)
        return self.distribution_after(history)

    def predict(
        self, history: History, top: int = 10, *, sentence_start: bool = True
    ) -> list[tuple[str, float]]:
        """Return the most probable next words with their probabilities, the most probable first."""
        if top < 1:
            raise UsageError(f"top is {top}; it must be at least 1")
        probabilities = self.distribution(history, sentence_start=sentence_start)
        best = np.argsort(-probabilities, kind="stable")[:top]
        return [(self.vocabulary.word(id), float(probabilities[id])) for id in best.tolist()]

    def sample_history(self, random: np.random.Generator) -> tuple[str, ...]:
        """Return a random history, to check that probabilities sum to one: any words of the vocabulary."""
        ids = random.integers(0, len(self.vocabulary), max(self.order - 1, 1))
        return tuple(map(self.vocabulary.word, ids.tolist()))

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        manifest: Mapping[str, Any] | None = None,
        overwrite: bool = True,
    ) -> None:
        """Write the model to a file, which appears atomically; `open_model` opens it.

        Parameters
        ----------
        path
            The file, by custom with the suffix ``.safetensors``. A model that is there is replaced.
        manifest
            Further entries of the manifest.
        overwrite
            Replace a model that is there. Without it, the new model is then kept as ``path-2``,
            ``path-3``, ..., and StategramError says so.

        """
        write_model(path, self, manifest or {}, overwrite=overwrite)

    def _corpus(self, text: Text) -> Corpus:
        """Return a text in the vocabulary of the model."""
        if isinstance(text, Corpus):
            return text.in_vocabulary(self.vocabulary)
        text = spelled_corpus(self.vocabulary, [text] if isinstance(text, str) else text)
        corpus = text.in_vocabulary(self.vocabulary)
        warn_of_unknown(self, text, corpus)
        return corpus

    def _id(self, word: str) -> int:
        """Return the id of a word; refuse one that holds white space."""
        id = self.vocabulary.id(word)
        if id == UNKNOWN:
            check_words([word], self.vocabulary.split)
        return id

    def _to_score(self, text: Text, features: Collection[str], state: State | None) -> tuple[Corpus, State]:
        """Return a text in the vocabulary of the model and the state in which it starts; check the rest."""
        if state is not None:
            require_state(state)
        for name in features:
            if name not in self.feature_names:
                known = ", ".join(self.feature_names) or "none"
                raise UsageError(f"no feature {name!r} of histories: {self!r} has {known}")
        return self._corpus(text), self.start() if state is None else state

    def _open_sentence(self, corpus: Corpus, first: State) -> tuple[State, NDArray[np.uint32]]:
        """Return the words of the sentence with which a text ends before its ``</s>``, and the state before.

        `first` is the state in which the text starts.
        """
        if corpus.n_events == 0:
            return first, corpus.ids
        if corpus.ids[-1] == END:
            return self.start(), corpus.ids[:0]
        before = first if corpus.n_sentences == 1 else self.start()
        return before, corpus.sentence(corpus.n_sentences - 1)

    def _one_event(self, id: int) -> Corpus:
        return Corpus(np.array([id], np.uint32), np.array([0, 1]), self.vocabulary)


def require_state(state: object) -> None:
    """Refuse what is not a state."""
    if not isinstance(state, State):
        raise UsageError(f"found {state!r:.40}; expected a State, as start, advance and score return it")


def split_words(history: Words, vocabulary: Vocabulary) -> list[str]:
    """Return the words of a history in a vocabulary."""
    if isinstance(history, str):
        return split_line(history, vocabulary.split)
    words = words_of(history)
    if words is None:
        raise TypeError(
            f"found {history!r:.40}; expected words: a string, or a list of strings or of integers"
        )
    check_words(words, vocabulary.split)
    return words


def warn_of_unknown(model: Model, text: Corpus, corpus: Corpus) -> None:
    """Warn if most words of a text are unknown, or have no probability; once for each model.

    `corpus` is the text in the vocabulary of the model.
    """
    if "_has_warned" in vars(model):
        return
    count = UnknownCount()
    count.add(text, corpus)
    note = count.note
    if note is None and count.unknown and not model.predicts_unknown:
        note = (
            f"the model has no probability for unknown words, here {count.unknown:,} of "
            f"{plural(count.words, 'word')}: they are left out of perplexities"
        )
    if note is not None:
        vars(model)["_has_warned"] = True
        warn_caller(note, UnknownWordsWarning)


def draw_from(probabilities: NDArray[np.float64], random: np.random.Generator) -> int:
    """Draw from probabilities; return -1 with that which their sum lacks to one."""
    place = int(np.searchsorted(np.cumsum(probabilities), random.random(), "right"))
    return place if place < len(probabilities) else -1


def scoring_threads(n_events: int) -> int:
    """Return how many threads score so many events."""
    return Resources.current().threads if n_events >= _EVENTS_FOR_THREADS else 1
