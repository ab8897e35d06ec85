"""A corpus cut into pieces and put into other words."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stategram import Vocabulary, corpus_from_sentences

SENTENCES = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), min_size=1, max_size=12)


@given(SENTENCES, st.integers(1, 30))
def test_pieces_are_the_whole(sentences: list[list[str]], events: int) -> None:
    corpus = corpus_from_sentences(sentences)
    pieces = list(corpus.pieces(events))
    assert np.concatenate([piece.ids for _, piece in pieces]).tolist() == corpus.ids.tolist()
    for begin, piece in pieces:
        assert corpus.ids[begin : begin + piece.n_events].tolist() == piece.ids.tolist()
        assert piece.n_events <= events or piece.n_sentences == 1
        assert (piece.sentence_starts[0], piece.sentence_starts[-1]) == (0, piece.n_events)
    for (_, one), (_, following) in itertools.pairwise(pieces):
        assert one.n_events + len(following.sentence(0)) > events


@given(SENTENCES)
def test_words_of_another_vocabulary(sentences: list[list[str]]) -> None:
    corpus = corpus_from_sentences(sentences)
    other = Vocabulary.from_words(["d", "x", "b"])
    moved = corpus.in_vocabulary(other)
    expected = [word if word in "bd" else "<unk>" for sentence in sentences for word in [*sentence, "</s>"]]
    expected = ["</s>" if corpus.ids[i] == 2 else word for i, word in enumerate(expected)]
    assert [other.word(id) for id in moved.ids.tolist()] == expected
    assert moved.sentence_starts is corpus.sentence_starts
    assert corpus.in_vocabulary(corpus.vocabulary) is corpus
