"""Words that a model does not know: their probability, or none."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.models.model import Model
from stategram.models.scores import Scores
from stategram.models.spelling import SpellingModel
from stategram.text import SPECIAL_WORDS, UNKNOWN, Corpus
from stategram.wording import plural

UNKNOWN_CHOICES = ("unk", "exclude", "spell")
"""The probability of an unknown word: that of ``<unk>``, none, or that of ``<unk>`` and of its spelling."""

# The spellings of fewer words say little about those of others.
_FEW_WORDS = 1000


class UnknownWords:
    """The probabilities of the unknown words in texts that a model scores.

    Parameters
    ----------
    model
        The model.
    choice
        ``unk``: all unknown words are one word, ``<unk>``. ``exclude``: they have no probability. ``spell``:
        p(<unk> | history) times the probability of their spelling, by a model of characters that is learned
        from the vocabulary; so that probabilities of models with different vocabularies can be compared.
        If unknown words have no probability in the model, as in an ARPA file without ``<unk>``, they are
        always excluded.

    Attributes
    ----------
    choice : str
        What is done with unknown words: ``exclude`` if the model has no probability for them.
    notes : list of str
        What a user should know of it.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> from stategram.text import corpus_from_sentences
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> text = corpus_from_sentences(["the cats sat"])
    >>> UnknownWords(model, "exclude").log_probs(model.score(text), text).round(2)
    array([-0.94,   nan, -1.82, -0.54])
    >>> UnknownWords(model, "spell").log_probs(model.score(text), text).round(1)
    array([ -0.9, -13.2,  -1.8,  -0.5])

    """

    def __init__(self, model: Model, choice: str = "unk") -> None:
        if choice not in UNKNOWN_CHOICES:
            raise UsageError(f"unknown is {choice!r}; it must be one of {', '.join(UNKNOWN_CHOICES)}")
        self._vocabulary = model.vocabulary
        self.choice = choice if model.predicts_unknown else "exclude"
        self.notes = []
        if self.choice != choice:
            self.notes.append("the model has no probability for unknown words: they are left out")
        n_words = len(model.vocabulary) - len(SPECIAL_WORDS)
        if self.choice == "spell" and n_words < _FEW_WORDS:
            self.notes.append(
                f"the model has only {plural(n_words, 'word')} to learn from how unknown ones are spelled"
            )

    def log_probs(self, scores: Scores, text: Corpus) -> NDArray[np.float64]:
        """Return the natural-log probability of each event of a text that was scored; nan for none.

        To spell words, `text` must have a vocabulary of its own, not that of the model. Words that are
        ``<unk>`` there have no spelling, and so no probability.
        """
        unknown = scores.unknown
        if self.choice == "unk" or not unknown.any():
            return scores.log_probs
        log_probs = scores.log_probs.copy()
        if self.choice == "exclude":
            log_probs[unknown] = np.nan
            return log_probs
        if text.vocabulary is self._vocabulary or text.vocabulary == self._vocabulary:
            raise UsageError(
                "the text has the vocabulary of the model, so that the spelling of unknown words is lost; "
                "read it without a vocabulary, or give sentences"
            )
        ids, places = np.unique(text.ids[unknown], return_inverse=True)
        words = [text.vocabulary.word(id) for id in ids.tolist()]
        spelled = self._spelling.log_probs(words)
        spelled[[word == SPECIAL_WORDS[UNKNOWN] for word in words]] = np.nan
        log_probs[unknown] += spelled[places]
        return log_probs

    @cached_property
    def _spelling(self) -> SpellingModel:
        return SpellingModel.learn(self._vocabulary)
