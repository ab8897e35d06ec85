"""Tokens that are no words of a language: ids of a tokenizer, and words with white space outside ASCII."""

from __future__ import annotations

import io
import json
import logging
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from stategram import NgramModel, WordClasses, corpus_from_sentences, open_model, read_arpa, read_corpus
from stategram.errors import BadDataError, UsageError
from stategram.formats import write_arpa
from stategram.models import state_after
from stategram.text import TextFormat, Vocabulary

# As NeMo writes the ids 33, 60 and 7 of a tokenizer: chr(id + 100).
WIDE = "\x85 \xa0 k \x85\nk \xa0\n"


def test_ids_are_words_of_digits() -> None:
    sentences = [[5, 17, 5], [17, 5], [3]]
    model = NgramModel.train(sentences, order=2)
    assert set(model.vocabulary.words[3:]) == {"3", "5", "17"}
    expected = NgramModel.train(["5 17 5", "17 5", "3"], order=2).score(["5 3"]).log_probs
    for given in ([[5, 3]], [np.array([5, 3])], np.array([[5, 3]], np.int32), [["5", "3"]]):
        np.testing.assert_array_equal(model.score(given).log_probs, expected)
    assert model.predict([17], top=1) == model.predict("17", top=1)
    assert WordClasses(2).fit(sentences).predict(["5"]).shape == (1,)
    for wrong in ([5, 17], [[5, "a"]], [[5.0]], [[True]], [b"ab"]):
        with pytest.raises(TypeError, match="expected a string, or a list of words or of integers"):
            corpus_from_sentences(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected words"):
        model.predict([1.5])  # type: ignore[arg-type]


def test_words_may_hold_white_space_that_is_not_ascii() -> None:
    corpus = corpus_from_sentences(WIDE.split("\n"), TextFormat(split="ascii"))
    assert corpus.vocabulary.words[3:] == ("k", "\x85", "\xa0")
    assert corpus.vocabulary.split == "ascii"
    model = NgramModel.train(corpus, order=2)
    # A vocabulary that has such words tells how text in it is split.
    assert model.score("\xa0 k").unknown.tolist() == [False, False, False]
    assert model.score([["\xa0", "k"]]).unknown.tolist() == [False, False, False]
    assert model.predict("k", top=2) == model.predict(["k"], top=2)
    assert state_after(model, "k \x85") == state_after(model, ["k", "\x85"])
    file = io.BytesIO()
    write_arpa(model, file)
    again = read_arpa(io.BytesIO(file.getvalue()))
    assert again.perplexity("\xa0 k") == pytest.approx(model.perplexity("\xa0 k"), rel=1e-5)


def test_white_space_that_splits_words_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "plain").write_text("a b\n")
    (tmp_path / "text").write_text("a b\n5\xa0% c\u3000\n\xa0\n", encoding="utf-8")
    for mark in (None, "^a"):
        caplog.clear()
        corpus = read_corpus([tmp_path / "plain", tmp_path / "text"], TextFormat(document_mark=mark))
        (record,) = caplog.records
        n_spaces = 3 if mark is None else 2
        assert (corpus.stats.n_wide_spaces, corpus.stats.first_wide_space) == (n_spaces, f"{tmp_path}/text:2")
        assert record.levelno == logging.WARNING
        assert record.getMessage().startswith(f"{tmp_path}/text:2: {n_spaces} white space characters outside")
    caplog.clear()
    model = NgramModel.train(["a b", "5\xa0%"], order=1)
    assert "sentence 2: 1 white space character outside ASCII" in caplog.messages[0]
    model.score("5\xa0%")
    read_corpus(tmp_path / "text", TextFormat(split="ascii"))
    assert len(caplog.messages) == 1


def test_words_that_would_be_split_are_refused_by_default() -> None:
    with pytest.raises(
        UsageError, match="or make a corpus with TextFormat\\(split='ascii'\\) to keep the word"
    ):
        corpus_from_sentences([["5\xa0%"]])
    with pytest.raises(UsageError, match=r"to have it split$"):
        corpus_from_sentences([["5 %"]], TextFormat(split="ascii"))
    with pytest.raises(UsageError, match="split is 'words'; possible: unicode, ascii"):
        corpus_from_sentences(["a"], TextFormat(split="words"))  # type: ignore[arg-type]
    with pytest.raises(BadDataError, match="not a word"):
        Vocabulary.from_words(["a b"])


def test_the_commands(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, vocab = tmp_path / "text", tmp_path / "vocab"
    text.write_text(WIDE * 20, encoding="utf-8", newline="\n")
    vocab.write_text("k 3\n\xa0 2\n", encoding="utf-8", newline="\n")
    status, _, err = run("train", text, "-o", tmp_path / "split", capfd=capfd)
    assert status == 0
    assert "80 white space characters outside ASCII" in err
    for name, options in (("model", []), ("listed", ["--vocab-file", vocab])):
        status, _, err = run("train", text, "-o", tmp_path / name, "--split", "ascii", *options, capfd=capfd)
        assert (status, "outside ASCII" in err) == (0, False)
        model = open_model(tmp_path / name)
        assert model.text_format.split == "ascii"
        assert len(model.vocabulary) == (6 if name == "model" else 5)
    status, out, err = run("eval", tmp_path / "model", text, "--json", capfd=capfd)
    assert "words split at ASCII white space, as in training" in err
    assert (json.loads(out)["events"], json.loads(out)["unknown"]) == (160, 0)
    status, out, _ = run("score", tmp_path / "model", text, "--by", "sentence", capfd=capfd)
    assert [row.split("\t")[:3] for row in out.split("\n")[1:3]] == [["1", "4", "0"], ["2", "2", "0"]]
    status, out, err = run("score", tmp_path / "model", text, "--split", "unicode", capfd=capfd)
    assert (out.count("\n"), err.count("80 white space characters")) == (81, 1)
    status, out, _ = run("predict", tmp_path / "model", "k \x85", "--json", capfd=capfd)
    assert json.loads(out)["history"] == ["k", "\x85"]
    status, out, _ = run("classes", text, "-k", "2", "--split", "ascii", "-q", capfd=capfd)
    assert {line.split("\t")[0] for line in out.rstrip("\n").split("\n")} == {"word", "k", "\x85", "\xa0"}
