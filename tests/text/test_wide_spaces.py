"""Words that are, or hold, white space outside ASCII: nothing drops, splits or merges them without a note."""

from __future__ import annotations

import io
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import run
from stategram import (
    NgramModel,
    corpus_from_sentences,
    open_model,
    read_arpa,
    read_classes,
    read_counts,
    tags_from_file,
    write_arpa,
    write_classes,
    write_counts,
)
from stategram.counts import count_ngrams
from stategram.evaluation import rescore
from stategram.formats import read_nbest
from stategram.text import TextFormat, Vocabulary

# White space that str.split knows, alone and within a word: as NeMo makes of ids (chr(id + 100)), and as
# typesetters put between a number and its unit.
WIDE = [*"\x85\xa0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000", "5\xa0%", "a\u3000b"]
WORDS = ["k", *WIDE]
SENTENCES = [["k", word, "k"] for word in WIDE]


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return NgramModel.train(corpus_from_sentences(SENTENCES, TextFormat(split="ascii")), order=2)


def by_arpa(model: NgramModel, place: Path) -> list[str]:
    write_arpa(model, place / "model.arpa")
    return [*read_arpa(place / "model.arpa").vocabulary.words]


def by_file(model: NgramModel, place: Path) -> list[str]:
    model.save(place / "model")
    return [*open_model(place / "model").vocabulary.words]


def by_counts(model: NgramModel, place: Path) -> list[str]:
    write_counts(
        count_ngrams(corpus_from_sentences(SENTENCES, TextFormat(split="ascii")), 2), place / "counts"
    )
    return [*read_counts(place / "counts").vocabulary.words]


def by_class_file(format: str) -> Callable[[NgramModel, Path], list[str]]:
    def read(model: NgramModel, place: Path) -> list[str]:
        labels, paths = [i % 2 for i in range(len(WORDS))], ["0", "1"] if format == "brown" else None
        write_classes(WORDS, labels, [1] * len(WORDS), place / "classes", format=format, bit_paths=paths)
        return [*read_classes(place / "classes", format=format)]

    return read


def by_vocabulary_file(model: NgramModel, place: Path) -> list[str]:
    (place / "words").write_text("".join(f"{word} 3\n" for word in WORDS), encoding="utf-8", newline="\n")
    return [*Vocabulary.from_file(place / "words", split="ascii").words]


def by_tag_file(model: NgramModel, place: Path) -> list[str]:
    (place / "tags").write_text("".join(f"{word}\tT\n" for word in WORDS), encoding="utf-8", newline="\n")
    tags = tags_from_file(place / "tags", model.vocabulary, guess=False)
    of_word = zip(model.vocabulary.words, tags.labels.tolist(), strict=True)
    return [word for word, label in of_word if tags.tags[label] == "T"]


@pytest.mark.parametrize(
    "door",
    [
        by_arpa,
        by_file,
        by_counts,
        by_class_file("tsv"),
        by_class_file("srilm"),
        by_class_file("brown"),
        by_class_file("json"),
        by_vocabulary_file,
        by_tag_file,
    ],
)
def test_words_come_back_as_they_were(
    door: Callable[[NgramModel, Path], list[str]], model: NgramModel, tmp_path: Path
) -> None:
    found = [word for word in door(model, tmp_path) if word not in ("<unk>", "<s>", "</s>")]
    assert sorted(found) == sorted(WORDS)


def test_arpa_of_kenlm_splits_at_spaces_and_tabs_only() -> None:
    text = "\\data\\\nngram 1=4\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n-0.5\t5\xa0%\n-0.6 a\u2028b\n\n\\end\\\n"
    assert read_arpa(io.BytesIO(text.encode())).vocabulary.words[3:] == ("5\xa0%", "a\u2028b")


def test_n_best_lists_keep_them(model: NgramModel) -> None:
    lines = "".join(f"u{i} -1 {' '.join(words)}\n" for i, words in enumerate(SENTENCES))
    lists = read_nbest(io.BytesIO(lines.encode()))
    assert [text.split(" ") for ((_, text),) in lists.values()] == SENTENCES
    found = rescore(model, lists, lm_weight=0.0, word_bonus=1.0, text_format=TextFormat(split="ascii"))
    assert found.totals.tolist() == [3.0 - 1.0] * len(WIDE)
    assert found.log_probs[0] == pytest.approx(model.score([SENTENCES[0]]).log_prob)


def test_what_splits_them_says_so(
    model: NgramModel, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "words").write_text("k\n\xa0 3\n5\xa0%\n", encoding="utf-8", newline="\n")
    assert Vocabulary.from_file(tmp_path / "words").words[3:] == ("k", "3", "5")
    assert f"{tmp_path}/words:2: white space outside ASCII" in caplog.messages[0]
    caplog.clear()
    (tmp_path / "words").write_text("\xe9 \xa03\n", encoding="utf-8", newline="\n")
    assert Vocabulary.from_file(tmp_path / "words").words[3:] == ("\xe9",)
    assert not caplog.messages
    rescore(model, {"u": [(0.0, "5\xa0% k")]}, lm_weight=1.0, text_format=TextFormat(split="unicode"))
    assert "sentence 1: 1 white space character outside ASCII" in caplog.messages[0]
    assert caplog.records[0].levelno == logging.WARNING


def test_prune_reads_its_words_as_the_model_does(
    model: NgramModel, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model.save(tmp_path / "model")
    (tmp_path / "words").write_text("k\n\xa0\n5\xa0% 7\n", encoding="utf-8", newline="\n")
    run(
        "prune",
        tmp_path / "model",
        "--vocab-file",
        tmp_path / "words",
        "-o",
        tmp_path / "small",
        capfd=capfd,
    )
    assert set(open_model(tmp_path / "small").vocabulary.words[3:]) == {"k", "\xa0", "5\xa0%"}
