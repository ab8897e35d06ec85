"""Words between white space, and regions: however a sentence is divided, its parts sum to the whole."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_kinds import model_of
from stategram import NgramModel, TextFormat, UsageError, corpus_from_sentences, surprisal, tokenize
from stategram.scoring import TextScorer, WordColumns, score_texts

PROSE = ["He met Mr. Jaggers today.", "mr. jaggers fell", "She met 3 men, e.g. No. 5.", '"No," he said.']
# What the tokenizer splits, joins, changes or drops, and what the encoder drops.
PIECES = [
    *("He", "met", "Mr.", "Jaggers.", "fell.", "No.", "5", "U.S.", 'know,"', "(e.g.", "don’t", "“yes”…"),
    *("it's", "3,000.50", "日本語", "naïve", "İ", "a\u00adb", "\u00ad", "\u200b", "a\u200bb", "—", "``x''"),
    *("<unk>", "<s>", "</s>", "<S>", "\ufeffx", "...", "e\u0301", "😀!", "A.", "I."),
]
SPACES = [" ", "  ", "\t", "\n", "\u3000", "\x1c", "\xa0", "\r\n", "\x85"]
FORMATS = st.builds(
    TextFormat,
    lowercase=st.booleans(),
    digits=st.sampled_from([None, "N"]),
    tokenize=st.sampled_from([None, "words", "prose"]),
)
REGIONS = st.lists(
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(SPACES)).map("".join), max_size=3).map(
        "".join
    ),
    min_size=1,
    max_size=5,
)
NAMES: Any = {"text_column": "text", "id_column": "item", "region_column": "region"}


def model_of_format(text_format: TextFormat) -> NgramModel:
    corpus = corpus_from_sentences(PROSE, text_format)
    return replace(NgramModel.train(corpus, 3, smoothing="witten-bell"), training_format=text_format)


def bits(table: Any) -> list[float]:
    return [value or 0.0 for value in table["surprisal_bits"].tolist()]


@pytest.mark.filterwarnings("ignore::stategram.errors.UnknownWordsWarning")
@given(FORMATS, st.lists(REGIONS, min_size=1, max_size=3))
def test_regions_and_words_sum_to_the_sentence(text_format: TextFormat, items: list[list[str]]) -> None:
    model = model_of_format(text_format)
    rows = [(item, region, text) for item, texts in enumerate(items) for region, text in enumerate(texts)]
    table = dict(zip(("item", "region", "text"), map(list, zip(*rows, strict=True)), strict=True))
    # The whole sentence, read without any regions, is what they must sum to.
    whole = surprisal(model, [" ".join(texts) for texts in items])
    tokens = whole["word"].tolist()
    is_word = np.array([word != "</s>" for word in tokens], bool)
    regions = surprisal(model, table, **NAMES)
    words = surprisal(model, table, by="word", **NAMES)
    by_token = surprisal(model, table, by="token", **NAMES)
    assert by_token["word"].tolist() == tokens
    assert bits(by_token) == bits(whole)
    for number in range(1, len(items) + 1):
        total = np.array(bits(whole))[is_word & (whole["sentence"] == number)].sum()
        for found in (regions, words):
            part = np.array(bits(found))[found["sentence"] == number]
            assert part.sum() == pytest.approx(total, rel=1e-12, abs=1e-12)
    # Each word has the tokens that it has alone, but for a full stop that may be one of its own.
    assert words["word"].tolist() == [word for _, _, text in rows for word in text.split()]
    kept = iter([word for word in tokens if word != "</s>"])
    for word, n_tokens in zip(words["word"].tolist(), words["tokens"].tolist(), strict=True):
        alone = "" if word in ("<s>", "</s>") else "".join(tokenize(word)) if text_format.tokenize else word
        assert "".join(next(kept) for _ in range(n_tokens)) == alone
    # A region is what its words are.
    of_words = list(zip(words["item"].tolist(), words["region"].tolist(), bits(words), strict=True))
    for (item, region, _), value in zip(rows, bits(regions), strict=True):
        parts = [one for of_item, of_region, one in of_words if (of_item, of_region) == (item, region)]
        assert value == pytest.approx(sum(parts), rel=1e-12, abs=1e-12)


def test_an_abbreviation_before_a_region_stays_whole() -> None:
    model = model_of_format(TextFormat(tokenize="words", lowercase=True))
    table = {"item": [1, 1], "region": ["a", "b"], "text": ["He met Mr.", "Jaggers today."]}
    found = surprisal(model, table, **NAMES)
    assert found["tokens"].tolist() == [3, 3]
    whole = bits(surprisal(model, ["He met Mr. Jaggers today."]))
    assert bits(found) == pytest.approx([sum(whole[:3]), sum(whole[3:6])])


def test_columns_of_words() -> None:
    model = model_of_format(TextFormat(tokenize="words"))
    chosen = [
        "sentence",
        "position",
        "word",
        "length",
        "log10_frequency",
        "unknown",
        "entropy",
        "entropy_reduction",
    ]
    sentences = ["He met Mr. \u00ad Jaggers today.", "", "He fell…"]
    words = surprisal(model, sentences, by="word", columns=chosen)
    tokens = surprisal(model, sentences, columns=chosen)
    assert words["word"].tolist() == ["He", "met", "Mr.", "\u00ad", "Jaggers", "today.", "He", "fell…"]
    assert words["sentence"].tolist() == [1] * 6 + [3] * 2
    assert words["position"].tolist() == [1, 2, 3, 4, 5, 6, 1, 2]
    assert words["tokens"].tolist() == [1, 1, 1, 0, 1, 2, 1, 2]
    assert words["length"].tolist() == [2, 3, 3, 1, 7, 6, 2, 5]
    firsts, after = [0, 1, 2, 3, 4, 7, 8], [1, 2, 3, 4, 6, 8, 10]
    before = tokens["entropy_bits"].tolist()
    kept = [value for value in words["entropy_bits"].tolist() if value is not None]
    assert kept == [before[first] for first in firsts]
    reductions = [value for value in words["entropy_reduction_bits"].tolist() if value is not None]
    assert reductions == pytest.approx(
        [max(0, before[a] - before[b]) for a, b in zip(firsts, after, strict=True)]
    )
    assert words["entropy_bits"].tolist()[3] is None
    frequencies = tokens["log10_frequency"].tolist()
    assert words["log10_frequency"].tolist()[5] == min(frequencies[4:6])
    assert words["log10_frequency"].tolist()[7] is None  # ... is unknown
    assert words["unknown"].tolist()[7] == 1


@pytest.mark.filterwarnings("ignore::stategram.errors.UnknownWordsWarning")
@pytest.mark.parametrize("text_format", [TextFormat(tokenize="prose", lowercase=True), TextFormat()])
def test_words_of_a_file_are_those_of_its_lines(tmp_path: Path, text_format: TextFormat) -> None:
    model = model_of_format(text_format)
    lines = ["\ufeffHe met Mr. Jaggers.", "", "He <s> fell. No.\u00a05!", "\xad", "x"]
    text = tmp_path / "text"
    text.write_text("\n".join(lines), encoding="utf-8")
    columns = WordColumns.create(model, None, 2, "word")
    expected = surprisal(model, [lines[0][1:], *lines[1:]], by="word")
    score_texts(
        [str(text)], TextScorer(model), columns, "word", text_format, str(tmp_path / "out.jsonl"), "jsonl"
    )
    expected.write(tmp_path / "expected.jsonl")
    assert (tmp_path / "out.jsonl").read_text() == (tmp_path / "expected.jsonl").read_text()


def test_units_that_cannot_be_are_refused() -> None:
    model = model_of("ngram")
    with pytest.raises(UsageError, match="by is 'letter'; it must be one of token, word, sentence, region"):
        surprisal(model, ["w3"], by="letter")
    with pytest.raises(UsageError, match="requires a region column"):
        surprisal(model, ["w3"], by="region")
    with pytest.raises(UsageError, match="'order' is one of tokens, and a word may have several"):
        surprisal(model, ["w3"], by="word", columns=["order"])
    with pytest.raises(UsageError, match="have a column 'tokens'"):
        surprisal(model, {"text": ["w3"], "tokens": [1]}, text_column="text", by="word")


def test_sentences_have_rows_too() -> None:
    model = model_of("ngram")
    table = {"item": [1, 1, 2], "region": [1, 2, 1], "text": ["w3", "w4", "w5"]}
    found = surprisal(model, table, by="sentence", **NAMES)
    assert found["words"].tolist() == [2, 1]
    log10_prob = model.score("w3 w4").log_probs.sum() / math.log(10)
    assert found["log10_prob"].tolist()[0] == pytest.approx(log10_prob)


@pytest.mark.parametrize("name", ["items.csv", "items.tsv.gz", "a.parquet", "here"])
def test_the_name_of_a_file_is_no_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here").write_text("w3\n")
    with pytest.raises(UsageError, match=r"give pathlib\.Path\('.*a list, \['"):
        surprisal(model_of("ngram"), name)
    assert surprisal(model_of("ngram"), [name], columns=["word"])["word"].tolist() == [name, "</s>"]
