"""Random sentences, drawn from a model word by word."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from stategram.errors import BadDataError, UsageError
from stategram.models.model import Model, draw_from, history_words, open_sentence, require_model
from stategram.models.scores import State
from stategram.text import BEGIN, END, SPECIAL_WORDS, UNKNOWN

# So many words that may not be drawn come in a row only where nearly all probability is theirs.
_MAX_TRIES = 20


class GeneratedSentence(NamedTuple):
    """A random sentence."""

    words: list[str]
    is_complete: bool
    """Whether the model ended it; False if it was cut after the last word that was allowed."""


def generate(
    model: Model,
    n_sentences: int = 10,
    *,
    seed: int = 0,
    max_words: int = 200,
    temperature: float = 1.0,
    prefix: str | Sequence[str] = "",
    unknown: bool = False,
    running: bool = False,
) -> Iterator[GeneratedSentence]:
    """Draw random sentences from a model.

    Parameters
    ----------
    model
        Any model.
    n_sentences
        The number of sentences.
    seed
        Sentence ``i`` depends on the seed and on ``i`` alone, unless it is `running` text.
    max_words
        Sentences that are longer are cut.
    temperature
        Probabilities are raised to 1 / temperature and normalized: below 1, likely words get likelier.
    prefix
        The words with which each sentence starts.
    unknown
        Whether ``<unk>`` may be drawn.
    running
        Whether each sentence continues from the state after the last one, for models that look back further
        than the sentence.

    Examples
    --------
    >>> from stategram import NgramModel, generate
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=2)
    >>> [" ".join(sentence.words) for sentence in generate(model, 2, seed=1, prefix="the", temperature=0.2)]
    ['the dog sat', 'the dog sat']

    """
    require_model(model)
    words = history_words(model, prefix)
    if n_sentences < 0:
        raise UsageError(f"{n_sentences} sentences; give 0 or more")
    if not 0 < temperature < math.inf:
        raise UsageError(f"the temperature is {temperature}; it must be above 0, such as 0.8")
    if max_words < max(len(words), 1):
        raise UsageError(f"at most {max_words} words, but the prefix has {len(words)}; allow more words")
    if marked := set(words) & {SPECIAL_WORDS[BEGIN], SPECIAL_WORDS[END]}:
        raise UsageError(f"{marked.pop()} is in the prefix; give words only")

    def sentences() -> Iterator[GeneratedSentence]:
        state = model.start()
        for number in range(n_sentences):
            random = np.random.default_rng([seed, number])
            state = state if running else model.start()
            if words:
                state = model.score(open_sentence(model, words), state=state).state
            drawn, is_complete = list(words), False
            while not is_complete and len(drawn) < max_words:
                id = _draw(model, state, random, temperature, [BEGIN] if unknown else [BEGIN, UNKNOWN])
                state = model.advance(state, model.vocabulary.word(id)).state
                is_complete = id == END
                if not is_complete:
                    drawn.append(model.vocabulary.word(id))
            if not is_complete:
                state = model.advance(state, SPECIAL_WORDS[END]).state
            yield GeneratedSentence(drawn, is_complete)

    return sentences()


def _draw(
    model: Model, state: State, random: np.random.Generator, temperature: float, excluded: list[int]
) -> int:
    """Return the id of the next word, which is none of the excluded ones."""
    for _ in range(_MAX_TRIES if temperature == 1.0 else 0):
        id = model._draw(state, random)
        if id >= 0 and id not in excluded:
            return id
    probabilities = model.distribution(state)
    probabilities[excluded] = 0.0
    if not np.isfinite(probabilities).all():
        raise BadDataError("the model has probabilities that are no numbers; write it again")
    if not probabilities.max() > 0:
        raise BadDataError("the model gives no probability to any word but <unk>; allow <unk>")
    # The likeliest word has 1: powers of the others do not all become 0.
    probabilities = (probabilities / probabilities.max()) ** (1.0 / temperature)
    id = draw_from(probabilities / probabilities.sum(), random)
    return id if id >= 0 else int(np.argmax(probabilities))


def random_history(model: Model, random: np.random.Generator, *, any_words: bool = False) -> tuple[str, ...]:
    """Return a random history: one that the model knows, such as an n-gram, or any words."""
    return Model._sample_history(model, random) if any_words else model._sample_history(random)
