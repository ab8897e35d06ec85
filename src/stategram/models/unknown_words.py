"""Words that a model does not know: their probability, or none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.models.model import Model
from stategram.models.ngrams.model import NgramModel
from stategram.models.scores import Scores
from stategram.text import END, SPECIAL_WORDS, UNKNOWN, Corpus, Vocabulary

UNKNOWN_CHOICES = ("unk", "exclude", "spell")
"""The probability of an unknown word: that of ``<unk>``, none, or that of ``<unk>`` and of its spelling."""

# The spellings of fewer words say little about those of others.
_FEW_WORDS = 1000
_SPELLING_ORDER = 7
# All but surrogates, NUL and the white space of ASCII.
_CODE_POINTS = 0x110000 - 0x800 - 1 - len(" \t\n\r\v\f")


class UnknownWords:
    """The probabilities of the unknown words in texts that a model scores.

    ``unk``: all unknown words are one word, ``<unk>``. ``exclude``: they have no probability, as always if
    the model has none for them. ``spell``: p(<unk> | history) times the probability of their spelling, by a
    model of characters that is learned from the vocabulary; so that probabilities of models with different
    vocabularies can be compared.

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


@dataclass(frozen=True, eq=False)
class SpellingModel:
    """The probabilities of the spellings of words that are not in a vocabulary.

    The words of the vocabulary, each once, are the sentences of a Kneser-Ney model of characters, in which
    the end of a word is predicted. Of its probability q(w) the words of the vocabulary have a part, which is
    shared out over all others::

        p(w | w is unknown) = q(w) / (1 - sum of q(v) for all v in the vocabulary)

    What the model of characters has for unseen ones is shared evenly by all other code points that a word may
    hold, and the first character is not the end of the word: so p sums to one over all unknown words.

    >>> from stategram import Vocabulary
    >>> words = ["walk", "walked", "walking", "talk", "talked", "talking", "jump", "jumped", "jumping"]
    >>> spelling = SpellingModel.learn(Vocabulary.from_words(words))
    >>> likely, unlikely = spelling.log_probs(["jalked", "dgjkxq"])
    >>> bool(likely > unlikely + 10)
    True
    """

    characters: NgramModel
    log_scale: float
    """What is added to the log-probability of each word, so that those of all unknown ones sum to one."""

    @classmethod
    def learn(cls, vocabulary: Vocabulary) -> SpellingModel:
        """Learn from the words of a vocabulary, each once; BadDataError if it has none."""
        n_special = len(SPECIAL_WORDS)
        first = int(vocabulary.offsets[n_special])
        words = Vocabulary.from_letters(vocabulary.letters[first:], vocabulary.offsets[n_special:] - first)
        points = _code_points(words)
        if len(points) == 0:
            raise BadDataError("the vocabulary has no words to learn from how words are spelled")
        distinct = np.unique(points)
        alphabet = Vocabulary.from_encoded(
            [word.encode() for word in (*SPECIAL_WORDS, *map(chr, distinct.tolist()))]
        )
        corpus = Corpus(*_sentences(points, words.lengths, distinct), alphabet)
        characters = NgramModel.train(corpus, _SPELLING_ORDER)
        without_end = -np.log1p(-np.exp(characters.advance(characters.start(), SPECIAL_WORDS[END]).log_prob))
        model = cls(characters, float(without_end))
        known = float(np.exp(model._log_probs(vocabulary)).sum())
        if not known < 1.0:
            raise BadDataError("its words take all probability of the model of their characters")
        return cls(characters, float(without_end - np.log1p(-known)))

    def log_probs(self, words: Sequence[str]) -> NDArray[np.float64]:
        """Return the natural-log probability of each of some words, if it is not in the vocabulary."""
        return self._log_probs(Vocabulary.from_encoded([word.encode() for word in words]))

    def _log_probs(self, words: Vocabulary) -> NDArray[np.float64]:
        alphabet = self.characters.vocabulary
        known = np.array([ord(letter) for letter in alphabet.words[len(SPECIAL_WORDS) :]], np.uint32)
        ids, starts = _sentences(_code_points(words), words.lengths, known)
        scores = self.characters.score(Corpus(ids, starts, alphabet))
        n_unseen = np.add.reduceat(np.append(ids == UNKNOWN, False), starts[:-1], dtype=np.int64)
        log_share = -np.log(_CODE_POINTS - len(known))
        log_probs: NDArray[np.float64] = scores.sentence_log_probs + self.log_scale + n_unseen * log_share
        return log_probs


def _code_points(words: Vocabulary) -> NDArray[np.uint32]:
    return np.frombuffer(words.letters.tobytes().decode().encode("utf-32-le"), np.uint32)


def _sentences(
    points: NDArray[np.uint32], lengths: NDArray[np.int64], alphabet: NDArray[np.uint32]
) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
    """Return words as sentences of characters: their ids, with ends, and where each word begins."""
    places = np.minimum(np.searchsorted(alphabet, points), len(alphabet) - 1)
    ids = np.where(alphabet[places] == points, places + len(SPECIAL_WORDS), UNKNOWN)
    ids = np.insert(ids, np.cumsum(lengths), END).astype(np.uint32)
    return ids, np.concatenate(([0], np.cumsum(lengths + 1)))
