"""A cache: p(w | c) from how often w occurred in the text so far, and after the last words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram import _core
from stategram.display import Description
from stategram.errors import UsageError
from stategram.models.clusters import require_word_probs
from stategram.models.distributions import Distributions
from stategram.models.model import Model
from stategram.models.model_files import ModelFiles
from stategram.models.scores import Scores, State
from stategram.storage import Archive, Entries, Finite, array_of
from stategram.text import BEGIN, END, Corpus, Sentences, Vocabulary, corpus_from_sentences

DECAYS = (0.997, 0.999, 0.9995)
"""The decays of words, bigrams and trigrams; chosen on the validation text of WikiText-2."""

_COUNTED = ("words", "words and bigrams", "words, bigrams and trigrams")
# The older half is forgotten at once: even with a decay of 0.9999 each of its words counts 0.0014 or less.
_CAPACITY = 1 << 17
# What is added to the count of each word of the training text, so that all words have a probability.
_ADDED = 0.5


class _Manifest(Entries, frozen=True):
    decays: tuple[Finite, ...]


@dataclass(frozen=True, eq=False)
class CacheModel(Model):
    """A cache of the text that is being scored, as a part of mixtures: recent words come again.

    Parameters
    ----------
    vocabulary, training_info, metadata
        See `Model`.
    word_probs
        For each word, its probability while the cache is empty; 0 for ``<s>``.
    decays
        By how much each further word of the text reduces what earlier ones count: those of words, of
        bigrams and of trigrams, or the first of these.

    Notes
    -----
    Kuhn and De Mori (1990), "A cache-based natural language model for speech recognition". With the decayed
    counts c of words, bigrams and trigrams in the text so far::

        p1(w) = (c(w) + 5 p(w)) / (sum of all c(v) + 5)
        p2(w) = (c(w-1 w) + p1(w)) / (c(w-1) + 1)
        p3(w) = (c(w-2 w-1 w) + p2(w)) / (c(w-2 w-1) + 1)

    ``</s>`` is a word like any other, and ``<s>`` is the history of the first word of a sentence. The counts
    go on from sentence to sentence, in a `State` too, until `start` empties the cache. At least the last
    65,536 words are kept, and less than twice as many. `score` is linear in the text, but copies the counts
    once (a few milliseconds when it is full), and so does `advance` for each word.

    """

    kind: ClassVar[str] = "cache"
    kind_title: ClassVar[str] = "cache"

    word_probs: NDArray[np.float64]
    decays: tuple[float, ...] = DECAYS

    @classmethod
    def train(
        cls,
        corpus: Corpus | Sentences,
        order: int = 3,
        *,
        decays: Sequence[float] | None = None,
    ) -> CacheModel:
        """Return an empty cache for texts with the vocabulary of a corpus.

        Parameters
        ----------
        corpus
            A corpus, or sentences: gives the vocabulary, and the probabilities of words without a cache.
        order
            Whether single words are counted (1), bigrams too (2), or trigrams too (3).
        decays
            A number above 0 and up to 1 for each length of n-grams; 1: all words count the same.

        Examples
        --------
        >>> from stategram import CacheModel
        >>> cache = CacheModel.train(["the cat sat", "the dog ran", "a cat ran"])
        >>> [word for word, _ in cache.predict("a dog sat", top=3)]
        ['sat', 'dog', 'a']
        >>> cache.score(["a dog sat", "a dog sat", "a dog sat"]).sentence_log_probs.round(1)
        array([-9.6, -1. , -0.4])

        """
        decays = DECAYS[:order] if decays is None else tuple(map(float, decays))
        check_decays(decays, order)
        if not isinstance(corpus, Corpus):
            corpus = corpus_from_sentences(corpus)
        counts = corpus.word_counts + _ADDED
        counts[BEGIN] = 0.0
        return cls(corpus.vocabulary, counts / counts.sum(), decays)

    def __repr__(self) -> str:
        return f"CacheModel(order {self.order}, decays {', '.join(map(str, self.decays))})"

    @property
    def title(self) -> str:
        """What it is, in a few words."""
        return f"cache of {_COUNTED[self.order - 1]}"

    @property
    def order(self) -> int:
        """The maximum order of the counted n-grams."""
        return len(self.decays)

    @property
    def parameters(self) -> int:
        """The number of probabilities of words, and of decays."""
        return int(np.count_nonzero(self.word_probs)) + self.order

    @property
    def looks_back(self) -> bool:
        """Whether its probabilities depend on earlier sentences: always."""
        return True

    def describe(self) -> Description:
        """Return its order and its decays."""
        return Description((("Order", self.order), ("Decays", ", ".join(map(str, self.decays)))))

    def start(self, *, sentence_start: bool = True) -> State:
        """Return an empty cache, at the start of a sentence or else without any words."""
        words = np.array([BEGIN] if sentence_start else [], np.uint32)
        return State(_core.WordCache(self.decays, BEGIN, END, _CAPACITY, words))

    def _score(self, corpus: Corpus, state: State, features: Collection[str]) -> Scores:
        """Return the log-probabilities of a text: each word is added to the cache when it is scored."""
        log_probs, after = state.value.score(corpus.ids, corpus.sentence_starts, self.word_probs)
        return Scores(corpus, log_probs, State(after))

    def _distributions(self, corpus: Corpus, state: State) -> Distributions:
        cache, starts = state.value, corpus.sentence_starts

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            nonlocal cache  # each word changes it
            if not len(events):
                return
            begin, end = int(events[0]), int(events[-1]) + 1
            inner = starts[(starts > begin) & (starts < end)] - begin
            # What begins with a sentence goes on from none.
            first = [0, 0] if begin > 0 and begin in starts else [0]
            own_starts = np.concatenate((first, inner, [end - begin])).astype(np.int64)
            cache = cache.add_rows(
                corpus.ids[begin:end], own_starts, self.word_probs, weights, rows.reshape(-1)
            )

        return Distributions(None, add)

    def check(self) -> None:
        """Check the probabilities of words; BadDataError if they are inconsistent."""
        require_word_probs(self.word_probs, np.zeros(len(self.word_probs), np.uint32))

    def _to_files(self) -> ModelFiles:
        return ModelFiles({"decays": list(self.decays)}, {"words": {"word_probs": self.word_probs}})

    @classmethod
    def _from_files(
        cls, archive: Archive, vocabulary: Vocabulary, parts: tuple[Model, ...], **common: Any
    ) -> CacheModel:
        word_probs = array_of(archive.arrays("words"), "word_probs", np.float64, len(vocabulary))
        decays = msgspec.convert(archive.manifest, _Manifest).decays
        check_decays(decays, len(decays))
        model = cls(vocabulary, word_probs, decays, **common)
        model.check()
        return model


def check_decays(decays: Sequence[float], order: int) -> None:
    """Refuse impossible orders and decays of a cache: UsageError."""
    if not 1 <= order <= len(DECAYS):
        raise UsageError(f"the order of a cache is {order}; possible: 1 to {len(DECAYS)}")
    shown = ", ".join(map(str, decays))
    if len(decays) != order:
        raise UsageError(f"the decays {shown or 'of a cache'} are {len(decays)} numbers; give {order}")
    if not all(0 < decay <= 1 for decay in decays):
        raise UsageError(f"the decays {shown} are not all above 0 and up to 1")
