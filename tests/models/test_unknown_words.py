"""Unknown words: the probability of their spelling, and how many there are."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import WITHOUT_UNKNOWN, run
from naive.spelling import CODE_POINTS, NaiveSpelling
from stategram import (
    Mixture,
    NgramModel,
    UnknownWordsWarning,
    UsageError,
    Vocabulary,
    compare,
    corpus_from_sentences,
    evaluate,
    read_arpa,
)
from stategram.models import SpellingModel, UnknownWords, score_parts
from stategram.text import UnknownCount

WORDS = ["ab", "aab", "ba", "b", "abb", "bba"]


def test_spellings_sum_to_one_over_all_unknown_words() -> None:
    """Over all strings of a, b and ?, which stands for each other character."""
    vocabulary, naive = Vocabulary.from_words(WORDS), NaiveSpelling(WORDS)
    spelling = SpellingModel.learn(vocabulary)
    total = 0.0
    longest = 6
    for length in range(1, longest + 1):
        words = ["".join(letters) for letters in itertools.product("ab?", repeat=length)]
        shares = np.exp(spelling.log_probs(words)) * np.power(
            CODE_POINTS - 2.0, [w.count("?") for w in words]
        )
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
    model = read_arpa(io.BytesIO(WITHOUT_UNKNOWN))
    assert not model.predicts_unknown
    text = corpus_from_sentences(["cat slept"])
    for choice in ("unk", "spell"):
        unknown = UnknownWords(model, choice)
        assert unknown.choice == "exclude"
        assert "left out" in unknown.notes[0]
        assert np.isnan(unknown.log_probs(model.score(text), text)).tolist() == [False, True, False]
    given = WITHOUT_UNKNOWN.replace(b"1=3", b"1=4").replace(b"-99\t<s>", b"-0.9\t<unk>\n-99\t<s>")
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


@pytest.fixture(scope="module")
def model_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "model"
    NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], 2).save(path)
    return path


@pytest.fixture(scope="module")
def without_unknown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("arpa") / "without.arpa"
    file.write_bytes(WITHOUT_UNKNOWN)
    return file


def test_evaluation_with_spelled_words() -> None:
    model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], 2)
    text = ["the cats sat", "a <unk> ran"]
    figures = evaluate(model, text, unknown="spell")
    corpus = corpus_from_sentences(text)
    log_probs = UnknownWords(model, "spell").log_probs(model.score(corpus), corpus)
    spelled = log_probs[~np.isnan(log_probs)]
    assert figures.unspelled == 1
    assert figures.perplexity_spelled == pytest.approx(np.exp(-spelled.mean()))
    n_characters = len("the cats sat\n") + len("a ran\n")
    assert figures.bits_per_character == pytest.approx(-spelled.sum() / np.log(2) / n_characters)
    assert figures.perplexity == evaluate(model, text).perplexity
    excluded = evaluate(model, text, unknown="exclude")
    assert excluded.perplexity == excluded.perplexity_known == figures.perplexity_known
    assert sum(order.events for order in excluded.orders) == excluded.events - excluded.unknown
    with pytest.raises(UsageError, match="spelling of unknown words is lost"):
        evaluate(model, corpus.in_vocabulary(model.vocabulary), unknown="spell")


def test_perplexity_of_a_model_without_unk() -> None:
    model = read_arpa(io.BytesIO(WITHOUT_UNKNOWN))
    with pytest.warns(UnknownWordsWarning, match="no probability for unknown words, here 1 of 3 words"):
        found = model.perplexity("cat slept cat")
    assert found == pytest.approx(2.0, rel=1e-5)
    assert found == pytest.approx(evaluate(model, ["cat slept cat"]).perplexity)
    mixture = Mixture.fit([model, NgramModel.train(["cat ran"], 1)], ["cat slept sat"], buckets="none")
    assert mixture.predicts_unknown
    assert not Mixture.fit([model, model], ["cat slept sat"]).predicts_unknown


def test_eval_command(
    model_file: Path, without_unknown: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat slept\n")
    _, out, err = run("eval", model_file, text, "--unknown", "spell", capfd=capfd)
    assert "with their spelling" in out
    assert "Bits per character" in out
    assert "note: the model has only 6 words" in err
    _, out, _ = run("eval", model_file, text, "--unknown", "exclude", capfd=capfd)
    assert "unknown words are left out" in out
    assert "<unk> counted" not in out
    text.write_text("cat slept cat\n")
    _, out, err = run("eval", without_unknown, text, capfd=capfd)
    assert "the model has no <unk>" in err
    assert out.splitlines()[3].split()[:3] == ["Perplexity", "2.00,", "unknown"]


def test_commands_note_that_most_words_are_unknown(
    model_file: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    note = "words are unknown to the model; in lower case all are known: lowercase the text (--lowercase)"
    _, out, err = run("predict", model_file, "The CAT", "--json", capfd=capfd)
    assert json.loads(out)["note"] == f"2 of 2 {note}"
    assert f"note: 2 of 2 {note}" in err
    assert json.loads(run("predict", model_file, "the cat", "--json", capfd=capfd)[1])["note"] is None
    assert note in run("generate", model_file, "--prefix", "The CAT", capfd=capfd)[2]
    lists = tmp_path / "nbest.txt"
    lists.write_text("u1 -1.0 THE CAT\nu1 -2.0 The CAT\n")
    assert f"4 of 4 {note}" in run("rescore", model_file, lists, "--lm-weight", "1", capfd=capfd)[2]
    text = tmp_path / "text.txt"
    text.write_text("THE CAT\n")
    code, _, err = run("eval", model_file, text, capfd=capfd)
    assert code == 3
    assert "in lower case all are known" in err


def test_models_without_unknown_words_are_compared_on_the_known_ones(tmp_path: Path) -> None:
    (tmp_path / "a.arpa").write_bytes(WITHOUT_UNKNOWN)
    models = [read_arpa(tmp_path / "a.arpa")] * 2
    found = compare(models, ["cat", "cat stranger"])
    assert (found.events, found.left_out) == (4, 1)
    assert found.models[0].perplexity == pytest.approx(2.0, rel=1e-4)


def test_a_part_without_unknown_words_leaves_them_out(tmp_path: Path) -> None:
    (tmp_path / "a.arpa").write_bytes(WITHOUT_UNKNOWN)
    part, other = read_arpa(tmp_path / "a.arpa"), NgramModel.train(["cat sat", "cat"], 1)
    mixture = Mixture.fit([part, other], ["cat", "cat stranger", "cat"])
    assert mixture.score(["cat stranger"]).parts[0].perplexity == pytest.approx(2.0, rel=1e-4)
    _, log_probs = score_parts(mixture, corpus_from_sentences(["stranger"]))
    assert np.isnan(log_probs[0]).tolist() == [True, False]


def test_spelled_words_are_compared_whatever_the_vocabularies_are() -> None:
    lines = ["the cat sat", "the dog sat", "a cat ran"] * 20
    small = NgramModel.train(corpus_from_sentences(lines, vocabulary_size=3), 2)
    models, text = {"all": NgramModel.train(lines, 2), "small": small}, ["the cat ran", "a dog jumped"]
    found = compare(models, text, unknown="spell")
    assert found.left_out == 0
    for name, one in zip(models, found.models, strict=True):
        assert one.perplexity == pytest.approx(
            evaluate(models[name], text, unknown="spell").perplexity_spelled
        )
    assert compare(models, text).left_out == 4  # ran, a, dog, jumped


def test_a_spelled_perplexity_has_an_interval() -> None:
    lines = ["the cat sat", "the dog sat", "a cat ran"] * 20
    figures = evaluate(NgramModel.train(lines, 2), ["the cat ran", "a dog jumped"] * 30, unknown="spell")
    assert figures.interval_spelled is not None
    assert figures.perplexity_spelled is not None
    assert figures.interval_spelled.low < figures.perplexity_spelled < figures.interval_spelled.high
