"""Probabilities of a model over a larger vocabulary than its own."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.distributions import Distributions
from stategram.models.model import Model, draw_from
from stategram.models.scores import Scores, State
from stategram.text import UNKNOWN, Corpus, Vocabulary

# Where texts have words that are <unk>, it stands for these far more often than for the words that a model
# lacks: an even share for each nearly rules them out (WikiText-2 in two halves: perplexity 376, not 233).
_SHARE_OF_UNKNOWN = 0.5


def require_same_format(models: Sequence[Model], names: Sequence[str] | None = None) -> None:
    """Refuse models that were trained on words that were read in different ways, as far as it is known."""
    names = names or list(map(repr, models))
    formats = ((name, model.training_format) for name, model in zip(names, models, strict=True))
    known = [(name, found) for name, found in formats if found is not None]
    for name, other in known[1:]:
        first, found = known[0]
        settings = ("lowercase", "digits", "split", "tokenize")
        values = [(setting, getattr(found, setting), getattr(other, setting)) for setting in settings]
        differing = [f"{one} is {a!r} in the first, {b!r} in the second" for one, a, b in values if a != b]
        if differing:
            raise UsageError(
                f"{first} and {name} read text in different ways: {'; '.join(differing)}. A mixture reads it "
                "in one way, and most words would be unknown to one of them. Train both with the same "
                "options, or say how text is read for both, such as --lowercase (training_format in Python)"
            )


def align(own: Vocabulary, vocabulary: Vocabulary) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
    """Return the id in a model's own vocabulary of each word of a larger one, and its share of that word.

    Words that the model lacks are its ``<unk>``, of whose probability they have one half, in even shares, and
    ``<unk>`` itself the other half: so the probabilities of all words still sum to one.

    >>> ids, shares = align(Vocabulary.from_words(["cat"]), Vocabulary.from_words(["dog", "cat", "cow"]))
    >>> ids, shares
    (array([0, 1, 2, 0, 3, 0], dtype=uint32), array([0.5 , 1.  , 1.  , 0.25, 1.  , 0.25]))
    """
    ids = np.fromiter(map(own.id, vocabulary.words), np.uint32, len(vocabulary))
    lacking = ids == UNKNOWN
    lacking[UNKNOWN] = False
    shares = np.ones(len(vocabulary))
    if lacking.any():
        shares[UNKNOWN] = _SHARE_OF_UNKNOWN
        shares[lacking] = (1 - _SHARE_OF_UNKNOWN) / np.count_nonzero(lacking)
    return ids, shares


@dataclass(frozen=True, eq=False)
class AlignedPart:
    """A part of a mixture, with its probabilities over the vocabulary of the mixture."""

    model: Model
    ids: NDArray[np.uint32] | None = None
    """The part's id of each word; None if all are the same."""
    shares: NDArray[np.float64] = field(default_factory=lambda: np.ones(0))
    """What each word has of the probability of the part's word."""

    @classmethod
    def create(cls, model: Model, vocabulary: Vocabulary) -> AlignedPart:
        """Look up the words of a vocabulary."""
        if model.vocabulary is vocabulary or model.vocabulary == vocabulary:
            return cls(model)
        return cls(model, *align(model.vocabulary, vocabulary))

    def score(self, corpus: Corpus, features: Collection[str], state: State) -> Scores:
        """Score a text in the vocabulary of the mixture."""
        if self.ids is None:
            return self.model.score(corpus, features=features, state=state)
        own = replace(corpus, ids=self.ids[corpus.ids], vocabulary=self.model.vocabulary)
        scores = self.model.score(own, features=features, state=state)
        scores.log_probs[:] += np.log(self.shares)[corpus.ids]
        return scores

    def distribution(self, state: State) -> NDArray[np.float64]:
        """Return the probability of each word of the vocabulary of the mixture."""
        probabilities = self.model.distribution(state)
        return probabilities if self.ids is None else probabilities[self.ids] * self.shares

    def distributions(self, corpus: Corpus, state: State) -> Distributions:
        """Return the distributions before the events of a text in the vocabulary of the mixture."""
        if self.ids is None:
            return self.model._distributions(corpus, state)
        own = replace(corpus, ids=self.ids[corpus.ids], vocabulary=self.model.vocabulary)
        own_distributions = self.model._distributions(own, state)

        def add(events: NDArray[np.int64], weights: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
            found = np.zeros((len(events), len(self.model.vocabulary)))
            own_distributions.add(events, weights, found)
            rows += found[:, self.ids] * self.shares

        return Distributions(own_distributions.keys, add)

    def draw(self, state: State, random: np.random.Generator) -> int:
        """Draw a word of the vocabulary of the mixture after a state; -1 as in models."""
        if self.ids is None:
            return self.model._draw(state, random)
        return draw_from(self.distribution(state), random)
