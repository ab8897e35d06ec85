"""Whether a model and a text have anything to do with each other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from stategram.errors import BadDataError
from stategram.text.corpus import Corpus
from stategram.text.encoding import corpus_from_sentences
from stategram.text.vocabulary import END, Vocabulary


def as_corpus(vocabulary: Vocabulary, text: Corpus | Iterable[str | Iterable[str]]) -> Corpus:
    """Give a corpus, or sentences, in a vocabulary; refuse them as `require_known_words` does."""
    if not isinstance(text, Corpus):
        text = corpus_from_sentences(text, vocabulary=vocabulary)
    found = text.in_vocabulary(vocabulary)
    require_known_words(found)
    return found


def require_known_words(corpus: Corpus) -> None:
    """Refuse a text without any word of a model's vocabulary, in which it was put before."""
    if corpus.n_events == 0:
        raise BadDataError("the text has no words; give a text with a sentence a line")
    if corpus.n_unknown == np.count_nonzero(corpus.ids != END):
        raise BadDataError(
            f"the text has no word of the model's vocabulary ({len(corpus.vocabulary):,} words); "
            "check that both are of the same language, case and tokenisation"
        )
