"""Whether a model and a text have anything to do with each other."""

from __future__ import annotations

import numpy as np

from stategram.errors import BadDataError
from stategram.text.corpus import Corpus
from stategram.text.vocabulary import END

__all__ = ["check_known_words"]


def check_known_words(corpus: Corpus) -> None:
    """Refuse a text without any word of a model's vocabulary, in which it was put before."""
    if corpus.n_events == 0:
        raise BadDataError("the text has no words; give a text with a sentence a line")
    if corpus.n_unknown == np.count_nonzero(corpus.ids != END):
        raise BadDataError(
            f"the text has no word of the model's vocabulary ({len(corpus.vocabulary):,} words); "
            "check that both are of the same language, case and tokenisation"
        )
