"""Whether a text is a piece of another one."""

from __future__ import annotations

import numpy as np

from stategram.text.corpus import Corpus

# So many sentences in a row are not the same by chance.
_LEAST_SENTENCES = 20
# A place where so many events are the same is worth a look at all.
_LOOK_AT = 64
_MOST_PLACES = 100


def is_piece_of(piece: Corpus, whole: Corpus) -> bool:
    """Whether a text is the whole of another, or at least twenty sentences in a row of it.

    Both have the same vocabulary.

    Examples
    --------
    >>> from stategram.text import corpus_from_sentences
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat"])
    >>> is_piece_of(corpus, corpus), is_piece_of(corpus.sentences(0, 1), corpus)
    (True, False)

    """
    if piece.n_sentences < _LEAST_SENTENCES:
        return np.array_equal(piece.ids, whole.ids)
    starts = whole.sentence_starts[:-1]
    places = starts[starts + piece.n_events <= whole.n_events]
    for at in range(min(_LOOK_AT, piece.n_events)):
        places = places[whole.ids[places + at] == piece.ids[at]]
    return any(
        np.array_equal(whole.ids[place : place + piece.n_events], piece.ids)
        for place in places[:_MOST_PLACES].tolist()
    )
