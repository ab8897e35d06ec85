"""A corpus cut into pieces and put into other words."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram import (
    TextFormat,
    UsageError,
    Vocabulary,
    corpus_from_sentences,
    read_corpus,
)


def test_a_format_may_be_given_by_its_settings(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("The 12 Cats\n")
    for settings in ({"lowercase": True}, TextFormat(lowercase=True)):
        for corpus in (
            read_corpus(tmp_path / "text", settings),
            corpus_from_sentences(["The 12 Cats"], settings),
        ):
            assert corpus.vocabulary.words[3:] == ("12", "cats", "the")
    with pytest.raises(UsageError, match="text has no setting 'lower'; there are lowercase, digits"):
        read_corpus(tmp_path / "text", {"lower": True})
    with pytest.raises(TypeError, match="text_format is 'lowercase'; expected a TextFormat or a mapping"):
        read_corpus(tmp_path / "text", "lowercase")  # type: ignore[arg-type]


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


@given(st.lists(st.sampled_from(["a b", "c", ""])), st.data())
def test_documents_of_a_piece_start_where_they_did(sentences: list[str], data: st.DataObject) -> None:
    corpus = corpus_from_sentences(sentences)
    begin = data.draw(st.integers(0, corpus.n_sentences))
    end = data.draw(st.integers(begin, corpus.n_sentences))
    last = end if end < corpus.n_sentences else end + 1  # what follows the text may start a document
    expected = [start - begin for start in corpus.document_starts.tolist() if begin <= start < last]
    assert corpus.sentences(begin, end).document_starts.tolist() == expected
    n_sentences = 0
    found: list[int] = []
    for _, piece in corpus.pieces(4):
        found += (piece.document_starts + n_sentences).tolist()
        n_sentences += piece.n_sentences
    assert found == (corpus.document_starts.tolist() if corpus.n_sentences else [])


def test_documents_in_other_words() -> None:
    corpus = corpus_from_sentences(["a", "", "b", "c", "", "d", ""])
    assert corpus.document_starts.tolist() == [1, 3, 4]
    assert corpus.in_vocabulary(Vocabulary.from_words("da")).document_starts.tolist() == [1, 3, 4]
