"""What every model can do, and what a kind of model defines.

A kind has a name (`kind`) and implements the abstract methods of `Model`: what it is (`title`, `order`,
`parameters`, `describe`), the state at the start of a sentence (`start`), the probability of a text
(`_score`) and of all words before each event (`_distributions`), its files (`_to_files`, `_from_files`) and
their `check`. All else follows. A kind overrides

- where it is faster: `advance`, `_distribution`, `_likeliest`, `_draw`, `_entropies`, for decoders `stepper`;
- what it knows of histories: `feature_names`, `histories` and `with_history`, `looks_back`,
  `predicts_unknown`, `sum_tolerance`, `_sample_history`;
- what it is made of, for users, pages and the explorer: `notes`, `class_sets`, `state_sets`, `word_ngrams`,
  `shorter_histories`, `contributions`;
- how other models are made of it: `filter`, `_map_ngrams`, `_targets`.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.display import Description, plural
from stategram.errors import UnknownWordsWarning, UsageError, warn_caller
from stategram.models.approximation.targets import Targets
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
        return {**self.metadata, **({} if known is None else known.remembered)}

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

    def contributions(self, history: History, word: str) -> dict[str, float]:
        """Return what each context adds to the log-odds of a word, in nats; empty if that is not known."""
        return {}

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

    def filter(self, vocabulary: Vocabulary) -> Self:
        """Return the model of the words that are in a vocabulary too."""
        raise UsageError(
            f"{self!r} cannot be pruned to a list of words, only n-gram and category n-gram models can; "
            "prune the parts of a mixture and mix them again (stategram mix), or train with --vocab-file"
        )

    def fit_unknown(self, heldout: Text) -> Self:
        """Return the model with the probability of ``<unk>`` fitted to held-out text, if it has n-grams.

        One number is learned: by how much the odds of ``<unk>`` after every history are multiplied, so that
        it is as frequent as expected. The other words keep their proportions. Mixtures fit their n-gram
        models of words; what learns ``<unk>`` in another way stays as it is, and so does a model that is
        compact, or whose ``<unk>`` has probability 1, with a note, or if the text has no unknown words.

        Examples
        --------
        >>> from stategram import NgramModel
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
        >>> fitted = model.fit_unknown(["the cat slept", "a zebra ran", "the dog ran"])
        >>> float(model.distribution("the")[0].round(3)), float(fitted.distribution("the")[0].round(3))
        (0.031, 0.147)

        """
        return self

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
    def start(self, *, sentence_start: bool = True) -> State:
        """Return the state at the start of a sentence, or the empty state (no known words)."""

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

        Examples
        --------
        >>> from stategram import NgramModel
        >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=3)
        >>> scores = model.score("the cat slept", features=["length"])
        >>> scores.log_probs.round(2)
        array([-0.94, -0.88, -4.16, -1.82])
        >>> scores.orders, scores.features["length"]
        (array([2, 3, 1, 1], dtype=uint8), array([1., 2., 2., 0.], dtype=float32))

        """
        for name in features:
            if name not in self.feature_names:
                known = ", ".join(self.feature_names) or "none"
                raise UsageError(f"no feature {name!r} of histories: {self!r} has {known}")
        return self._score(*self._to_score(text, state), features)

    def perplexity(self, text: Text) -> float:
        """Return the perplexity of a text, ``<unk>`` counted as a word."""
        return self.score(text).perplexity

    def advance(self, state: State, word: str) -> Step:
        """Return the log-probability of a word after a state, and the state after the word.

        After ``</s>`` the next sentence starts.
        """
        scores = self.score(self._one_event(self._id(word)), state=state)
        order = None if scores.orders is None else int(scores.orders[0])
        return Step(float(scores.log_probs[0]), scores.state, order)

    def distribution(self, history: History, *, sentence_start: bool = True) -> NDArray[np.float64]:
        """Return the probability of each word of the vocabulary after a history, by its id.

        Parameters
        ----------
        history
            The words so far, of which unknown ones count as ``<unk>``, or the state after them.
        sentence_start
            Whether words begin a sentence.

        """
        return self._distribution(self._state(history, sentence_start))

    def predict(
        self, history: History, top: int = 10, *, sentence_start: bool = True
    ) -> list[tuple[str, float]]:
        """Return the most probable next words with their probabilities, the most probable first."""
        if top < 1:
            raise UsageError(f"top is {top}; it must be at least 1")
        ids, probabilities = self._likeliest(self._state(history, sentence_start), top)
        words = map(self.vocabulary.word, ids.tolist())
        return list(zip(words, probabilities.tolist(), strict=True))

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
        corpus, state = self._to_score(text, state)
        found = np.empty(corpus.n_events)
        for begin, piece in corpus.pieces():
            end = begin + piece.n_events
            n_events = max(corpus.n_events, 1)
            step = subprogress(progress, begin / n_events, end / n_events)
            found[begin:end] = self._entropies(piece, state, step)
            state = self.score(piece, state=state).state if self.looks_back else self.start()
        return found

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

    @abstractmethod
    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        """Return the log-probabilities of a text in the vocabulary, and features that the model has."""

    @abstractmethod
    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        """Return the distributions before the events of a text in the vocabulary."""

    @abstractmethod
    def _to_files(self) -> ModelFiles:
        """Return the content of a model file besides what all kinds have."""

    @classmethod
    @abstractmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> Self:
        """Inverse of `_to_files`; `common` has `training_info`, `metadata` and `training_format`."""

    def _likeliest(self, state: State, top: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the ids of the most probable next words, and their probabilities."""
        probabilities = self._distribution(state)
        best = np.argsort(-probabilities, kind="stable")[:top]
        return best, probabilities[best]

    def _draw(self, state: State, random: np.random.Generator) -> int:
        """Draw the next word after a state; return its id, or -1 where probabilities sum to less than one."""
        return draw_from(self._distribution(state), random)

    def _distribution(self, state: State) -> NDArray[np.float64]:
        """Return the probability of each word after a state, by its id, in a new array."""
        row = np.zeros(len(self.vocabulary))
        # Any word may stand for the next one: distributions do not depend on it.
        self._distributions(self._one_event(END), state).add(np.zeros(1, np.int64), np.ones(1), row[None])
        return row

    def _entropies(self, corpus: Corpus, state: State, progress: Progress | None) -> NDArray[np.float64]:
        """Return the entropies before the events of a text of moderate size."""
        n_words = len(self.vocabulary)
        found = self._distributions(corpus, state)
        return entropies_of(found, corpus.n_events, np.ones(n_words), np.zeros(n_words), progress)

    def _sample_history(self, random: np.random.Generator) -> tuple[str, ...]:
        """Return a random history: any words of the vocabulary."""
        ids = random.integers(0, len(self.vocabulary), max(self.order - 1, 1))
        return tuple(map(self.vocabulary.word, ids.tolist()))

    def _map_ngrams(self, function: Callable[[NgramModel], NgramModel]) -> Self:
        """Return the model with what a function makes of each n-gram model in it; most have none."""
        return self

    def _targets(self, ids: NDArray[np.uint32]) -> Targets:
        """Return what a back-off model in its place should predict, for the words of these ids."""
        return Targets(self, ids)

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

    def _state(self, history: History, sentence_start: bool) -> State:
        if isinstance(history, State):
            return history
        return state_after(self, history, sentence_start=sentence_start)

    def _to_score(self, text: Text, state: State | None) -> tuple[Corpus, State]:
        """Return a text in the vocabulary of the model, and the state in which it starts."""
        if state is not None:
            require_state(state)
        return self._corpus(text), self.start() if state is None else state

    def _last_sentence(self, corpus: Corpus, first: State) -> tuple[State, NDArray[np.uint32]]:
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


def state_after(model: Model, history: Words, *, sentence_start: bool = True) -> State:
    """Return the state after words, which begin a sentence by default; warn if most are unknown.

    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> state_after(model, "the cat") == model.advance(state_after(model, "the"), "cat").state
    True
    """
    words = history_words(model, history)
    if sentence_start and words[:1] == [SPECIAL_WORDS[BEGIN]]:
        words = words[1:]
    state = model.start(sentence_start=sentence_start)
    return model.score(open_sentence(model, words), state=state).state if words else state


def open_sentence(model: Model, words: Words) -> Corpus:
    """Return the words of a sentence that goes on, to score them without a ``</s>`` at the end."""
    words = split_words(words, model.vocabulary)
    ids = np.fromiter(map(model.vocabulary.id, words), np.uint32, len(words))
    return Corpus(ids, np.array([0, len(ids)]), model.vocabulary)


def history_words(model: Model, history: Words) -> list[str]:
    """Return the words of a history; warn if most are unknown."""
    words = split_words(history, model.vocabulary)
    if 2 * sum(word not in model.vocabulary for word in words) >= max(len(words), 1):
        text = spelled_corpus(model.vocabulary, [words])
        warn_of_unknown(model, text, text.in_vocabulary(model.vocabulary))
    return words


def require_model(model: object, kind: type[Model] = Model) -> None:
    """Refuse what is no model, or one of another kind."""
    if isinstance(model, str | os.PathLike):
        raise TypeError(f"found {model!r}; expected a model: open_model({str(model)!r}) opens it")
    if not isinstance(model, kind):
        expected = "a model" if kind is Model else f"a {kind.__name__}"
        raise TypeError(f"found {model!r:.60}; expected {expected}")


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
