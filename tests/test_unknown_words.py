"""Unknown words: the probability of their spelling, and how many there are."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.spelling import CODE_POINTS, NaiveSpelling
from stategram import NgramModel, UsageError, Vocabulary, corpus_from_sentences, read_arpa
from stategram.models import SpellingModel, UnknownWords
from stategram.text import UnknownCount

WORDS = ["ab", "aab", "ba", "b", "abb", "bba"]
# An ARPA file as SRILM writes it by default.
NO_UNK = b"""\\data\\
ngram 1=4

\\1-grams:
-99\t<s>
-0.30103\t</s>
-0.60206\tcat
-0.60206\tsat

\\end\\
"""


def test_spellings_sum_to_one_over_all_unknown_words() -> None:
    """Over all strings of a, b and ?, which stands for each other character."""
    vocabulary, naive = Vocabulary.from_words(WORDS), NaiveSpelling(WORDS)
    spelling = SpellingModel.learn(vocabulary)
    total = 0.0
    longest = 6
    for length in range(1, longest + 1):
        words = ["".join(letters) for letters in itertools.product("ab?", repeat=length)]
        shares = np.exp(spelling.log_probs(words)) * np.power(CODE_POINTS - 2.0, [w.count("?") for w in words])
        if length == longest:  # and all that begin like these
            shares /= [naive.after(list(word), "</s>") for word in words]
        total += shares[[word not in vocabulary for word in words]].sum()
    # The special words are in the vocabulary too, but of other characters: they have next to nothing.
    assert total == pytest.approx(1.0, abs=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.text("abcé日", min_size=1, max_size=5), min_size=1, max_size=8, unique=True), st.data())
def test_spelling_equals_its_twin(words: list[str], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.text("abcdé日\N{PILE OF POO}", min_size=1, max_size=8), min_size=1))
    others = [word for word in others if word not in words] or ["zz"]
    found = SpellingModel.learn(Vocabulary.from_words(words)).log_probs(others)
    assert found == pytest.approx([NaiveSpelling(words).log_prob(word) for word in others], abs=1e-3)


def test_unknown_words_as_chosen() -> None:
    model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], 2)
    text = corpus_from_sentences(["the cats <unk> sat"])
    scores = model.score(text)
    assert UnknownWords(model).log_probs(scores, text) is scores.log_probs
    excluded = UnknownWords(model, "exclude").log_probs(scores, text)
    assert np.isnan(excluded).tolist() == [False, True, True, False, False]
    spell = UnknownWords(model, "spell")
    spelled = spell.log_probs(scores, text)
    naive = NaiveSpelling(list(model.vocabulary.words[3:]))
    assert spelled[1] == pytest.approx(scores.log_probs[1] + naive.log_prob("cats"), abs=1e-4)
    assert np.isnan(spelled).tolist() == [False, False, True, False, False]  # <unk> has no spelling
    assert spelled[[0, 3, 4]].tolist() == scores.log_probs[[0, 3, 4]].tolist()
    assert "only 6 words" in spell.notes[0]
    with pytest.raises(UsageError, match="the spelling of unknown words is lost"):
        spell.log_probs(scores, scores.corpus)
    with pytest.raises(UsageError, match="one of unk, exclude, spell"):
        UnknownWords(model, "ignore")


def test_a_model_without_unk_leaves_unknown_words_out() -> None:
    model = read_arpa(io.BytesIO(NO_UNK))
    assert not model.predicts_unknown
    text = corpus_from_sentences(["cat slept"])
    for choice in ("unk", "spell"):
        unknown = UnknownWords(model, choice)
        assert unknown.choice == "exclude" and "left out" in unknown.notes[0]
        assert np.isnan(unknown.log_probs(model.score(text), text)).tolist() == [False, True, False]
    given = NO_UNK.replace(b"1=4", b"1=5").replace(b"-0.60206\tcat", b"-0.9\t<unk>\n-0.60206\tcat")
    assert read_arpa(io.BytesIO(given)).predicts_unknown


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("The CAT", "2 of 2 words are unknown to the model; in lower case all are known: lowercase"),
        ('"cat" sat, (cat!)', "3 of 3 words are unknown to the model; without punctuation all are known"),
        ("le chat", "2 of 2 words are unknown to the model; check that both have the same language"),
        ("the chien", None),
    ],
)
def test_many_unknown_words_are_explained(text: str, note: str | None) -> None:
    count, corpus = UnknownCount(), corpus_from_sentences([text])
    count.add(corpus, corpus.in_vocabulary(Vocabulary.from_words(["the", "cat", "sat"])))
    assert note is None if count.note is None else note is not None and count.note.startswith(note)
