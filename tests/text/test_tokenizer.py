"""Raw text to words, and prose to sentences."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import run
from stategram import NgramModel, corpus_from_sentences, open_model, read_corpus, tokenize, tokenize_prose
from stategram.errors import BadDataError, UsageError
from stategram.evaluation import rescore
from stategram.text import (
    Corpus,
    TextFormat,
    read_line_blocks,
)
from stategram.text.tokenizer import Tokenizer

RAW = "Mr. Smith said “no”. He isn't here!\n\nThe U.S. economy -- up 1,000.5% -- is in the U.S.\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Senate's act, (so-called), failed!", "The Senate 's act , ( so-called ) , failed !"),
        ("We don't; they've won.", "We don't ; they've won ."),
        ("the States' rights", "the States ' rights"),
        ("$1,000.50, or 10% of .5", "$ 1,000.50 , or 10 % of .5"),
        ("the 20th-century 5-year plan of 1941–45", "the 20th-century 5-year plan of 1941-45"),
        ("Covid-19 at 10:30 a.m. today", "Covid-19 at 10:30 a.m. today"),
        ("He said—no.", "He said -- no ."),
        ("No. 5, and no. 7; he said no. Art is art.", "No. 5 , and no. 7 ; he said no . Art is art ."),
        ("of the U.S.", "of the U.S ."),
        ("5 per cent. per annum, at 5 per cent.", "5 per cent. per annum , at 5 per cent ."),
        ("“Don’t” … ‘so’ „was“ «bon»", '" Don\'t " ... \' so \' " was " « bon »'),
        ("José's café: snake_case a@b.org", "José 's café : snake_case a @ b.org"),
        ("<unk> </s> </t>", "<unk> </s> < / t >"),
        # Finnish, Russian, Greek, Arabic, Hindi, Hebrew.
        ("EU:n päätös oli ½ hyvä.", "EU:n päätös oli ½ hyvä ."),
        ("Это я, А. С. Пушкин, и т.д. и так.", "Это я , А. С. Пушкин , и т.д. и так ."),
        ("Πού είναι; Εδώ· ναι.", "Πού είναι ; Εδώ · ναι ."),
        ("هذا كتاب، صحيح؟", "هذا كتاب ، صحيح ؟"),
        ("यह हिन्दी है। क्या?", "यह हिन्दी है । क्या ?"),
        ('צה"ל כאן', 'צה"ל כאן'),
        # Scripts without spaces; zero-width spaces separate words.
        ("我们5月去。", "我 们 5 月 去 。"),
        ("คำ\u200bไทย", "คำ ไ ท ย"),
        # Emoji, combining marks, soft hyphens.
        ("👩‍👩‍👧🇫🇷👍🏽!", "👩‍👩‍👧 🇫🇷 👍🏽 !"),
        ("cafe\u0301 co\u00adop\ufeff", "cafe\u0301 coop"),
        ("", ""),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert tokenize(text) == expected.split()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We stayed.", ["It rained .", "We stayed ."]),
        ("Mr. Smith met Mrs. Jones.", ["Mr. Smith met Mrs. Jones ."]),
        ("John F. Kennedy spoke. He won.", ["John F. Kennedy spoke .", "He won ."]),
        ("He is taller than I. We know.", ["He is taller than I .", "We know ."]),
        ("The U.S. Army left the U.S. The rest.", ["The U.S. Army left the U.S .", "The rest ."]),
        (
            "It ended at 5 p.m. on Friday (in the U.S.). So?",
            ["It ended at 5 p.m. on Friday ( in the U.S. ) .", "So ?"],
        ),
        ("See No. 5, vol. 2. He said no. All left.", ["See No. 5 , vol. 2 .", "He said no .", "All left ."]),
        ("It cost $3.50. Then 4.25.", ["It cost $ 3.50 .", "Then 4.25 ."]),
        ('"Stop!" he said. "Why?" She left.', ['" Stop ! " he said .', '" Why ? "', "She left ."]),
        ("He waited . . . and left… Then no.", ["He waited . . . and left ...", "Then no ."]),
        ("1. Build ships. II. Sail.\nII. Sail.", ["1 . Build ships .", "II .", "Sail .", "II . Sail ."]),
        ("यह है। क्या? हाँ।", ["यह है ।", "क्या ?", "हाँ ।"]),
        ("هذا كتاب؟ نعم. لا", ["هذا كتاب ؟", "نعم .", "لا"]),
        ("  \n\n ", []),
    ],
)
def test_sentences_of_prose(text: str, expected: list[str]) -> None:
    assert [" ".join(words) for words in tokenize_prose(text)] == expected


LETTERS = st.text(alphabet="aAbMrIUS.?!'\"-(5,1 \n…—é_’\u0301\u00a0\u200d日ก👩🇫\t", max_size=60)
TYPOGRAPHIC = str.maketrans(dict(zip("…—’", ("...", "--", "'"), strict=True)))


@given(LETTERS)
def test_nothing_is_lost_or_added(text: str) -> None:
    expected = "".join(piece.translate(TYPOGRAPHIC).replace("''", '"') for piece in text.split())
    assert "".join(tokenize(text)) == expected
    assert "".join(word for words in tokenize_prose(text) for word in words) == expected


@given(st.text(max_size=60))
def test_words_survive_being_written_and_read(text: str) -> None:
    words = tokenize(text)
    assert " ".join(words).split() == words


@given(st.lists(LETTERS.map(lambda text: text.replace("\n", " ")), max_size=5), st.integers(0, 5))
def test_blocks_of_lines_do_not_matter(lines: list[str], at: int) -> None:
    for form in ("words", "prose"):
        tokenizer = Tokenizer(form)
        blocks = ["".join(f"{line}\n" for line in part) for part in (lines[:at], lines[at:])]
        found = "".join(map(tokenizer.lines, blocks))
        assert [line.split() for line in found.split("\n")] == [
            line.split() for line in Tokenizer(form).lines("".join(blocks)).split("\n")
        ]
        if form == "words":
            assert found.count("\n") == len(lines)


def words_of(corpus: Corpus) -> list[list[str]]:
    return [[corpus.vocabulary.word(id) for id in corpus.sentence(i)[:-1]] for i in range(corpus.n_sentences)]


def test_files_and_sentences_are_tokenized_alike(tmp_path: Path) -> None:
    (tmp_path / "raw.gz").write_bytes(gzip.compress(RAW.encode()))
    for form in ("words", "prose"):
        lines = [tokenize(line) for line in RAW.split("\n") if line]
        expected = lines if form == "words" else tokenize_prose(RAW)
        corpus = read_corpus(tmp_path / "raw.gz", TextFormat(tokenize=form))
        assert (
            words_of(corpus)
            == words_of(corpus_from_sentences(RAW.split("\n"), TextFormat(tokenize=form)))
            == expected
        )
        assert corpus.document_starts.tolist() == [len(expected) - 1]
        marked = read_corpus(
            tmp_path / "raw.gz", TextFormat(tokenize=form, document_mark="^The", lowercase=True, digits="N")
        )
        assert words_of(marked)[-1][:8] == ["the", "u.s.", "economy", "--", "up", "N", "%", "--"]
        assert marked.document_starts.tolist() == [len(expected) - 1]


def test_lines_keep_their_numbers(tmp_path: Path) -> None:
    (tmp_path / "raw").write_text("\ufeffOne. Two.\n\n\u00ad\nThree <s>, 4.\n<s>\nEnd", encoding="utf-8")
    (block,) = read_line_blocks(str(tmp_path / "raw"), TextFormat(lowercase=True, tokenize="prose"))
    assert block.lines.tolist() == [1, 4, 6]
    assert [block.spelling.word(id) for id in block.corpus.sentence(0)] == ["One", ".", "Two", ".", "</s>"]
    assert block.corpus.vocabulary.word(int(block.corpus.sentence(0)[0])) == "one"


def test_bad_bytes_are_found_before_the_text_is_tokenized(tmp_path: Path) -> None:
    (tmp_path / "bad").write_bytes(b"fine.\nd\xe9j\xe0, a\0b \xef\xbf\xbd and so on\n")
    with pytest.raises(
        BadDataError, match=r"bad:2: byte 0xe9, .*offset 7\); if it is Latin-1 .*windows-1252"
    ):
        read_corpus(tmp_path / "bad", TextFormat(tokenize="words"))
    corpus = read_corpus(tmp_path / "bad", TextFormat(tokenize="words", encoding_errors="replace"))
    assert (
        corpus.stats.n_replaced
        == read_corpus(tmp_path / "bad", TextFormat(encoding_errors="replace")).stats.n_replaced
        == 3
    )
    assert words_of(corpus)[1] == [
        "d",
        "\ufffd",
        "j",
        "\ufffd",
        ",",
        "a",
        "\ufffd",
        "b",
        "\ufffd",
        "and",
        "so",
        "on",
    ]
    with pytest.raises(BadDataError, match="sentence 2: a NUL"):
        corpus_from_sentences(["a", "b\0"], TextFormat(tokenize="words"))
    assert tokenize("a\0b") == ["a", "\ufffd", "b"]


def test_what_cannot_be_tokenized() -> None:
    with pytest.raises(UsageError, match="tokenize is 'letters'; possible: words, prose"):
        corpus_from_sentences(["a"], TextFormat(tokenize="letters"))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="leave one of the two out"):
        corpus_from_sentences(["a"], TextFormat(tokenize="words", split="ascii"))
    # Words that are separated already stay as they are.
    assert words_of(corpus_from_sentences([["a.", "b"], "a."], TextFormat(tokenize="prose"))) == [
        ["a.", "b"],
        ["a", "."],
    ]


def test_a_long_piece_takes_no_long_time() -> None:
    # Its length squared would be many minutes.
    for letter in ("\u0301", "🇫", "é", "1.", "a-"):
        assert "".join(tokenize(letter * 50_000)) == letter * 50_000


def test_other_rules_are_noted() -> None:
    assert TextFormat(tokenize="prose").tokenizer_note is None
    older = TextFormat(tokenize="prose", tokenizer="rules 99 with regex 1")
    assert "by rules 99 with regex 1 in training" in (older.tokenizer_note or "")
    # Text that is tokenized anew is not by those rules.
    assert older.override({"tokenize": "words"}).tokenizer_note is None
    assert older.override({"lowercase": True}).tokenizer_note == older.tokenizer_note
    assert older.override({"tokenize": None}) == TextFormat()


def test_the_model_remembers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    raw, model = tmp_path / "raw", tmp_path / "model"
    raw.write_text(RAW * 5, encoding="utf-8")
    status, _, err = run("train", raw, "-o", model, "--tokenize", "prose", "--lowercase", capfd=capfd)
    assert (status, "120 words in 15 sentences" in err) == (0, True)
    assert open_model(model).text_format == TextFormat(tokenize="prose", lowercase=True)
    _, out, err = run("eval", model, raw, "--json", capfd=capfd)
    assert "raw text is tokenized, as in training" in err
    assert [json.loads(out)[key] for key in ("events", "unknown", "sentences")] == [135, 0, 15]
    _, out, _ = run("score", model, raw, "-q", capfd=capfd)
    rows = [row.split("\t") for row in out.split("\n")]
    assert [row[2] for row in rows[1:6]] == ["Mr.", "Smith", "said", '""""', "no"]
    assert (rows[-2][0], {row[6] for row in rows[1:-1]}) == ("15", {"0"})
    # A history may end in an abbreviation.
    _, out, _ = run("predict", model, "He isn't Mr.", "--json", "-q", capfd=capfd)
    assert json.loads(out)["history"] == ["he", "isn't", "mr."]
    _, out, _ = run("score", model, raw, "-q", "--tokenize", "none", "--by", "sentence", capfd=capfd)
    assert out.split("\n")[1].split("\t")[1:3] == ["7", "2"]
    _, out, _ = run("eval", model, raw, "-q", "--json", "--tokenize", "words", capfd=capfd)
    assert json.loads(out)["sentences"] == 10
    assert run("eval", model, raw, "--split", "ascii", capfd=capfd)[0] == 2


def test_a_model_of_other_rules(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "raw"
    raw.write_text(RAW * 5, encoding="utf-8")
    run("train", raw, "-o", tmp_path / "model", "--tokenize", "words", capfd=capfd)
    model = open_model(tmp_path / "model")
    older = TextFormat(tokenize="words", tokenizer="rules 1 with regex 1")
    replace(model, training_format=older).save(tmp_path / "older")
    _, _, err = run("eval", tmp_path / "older", raw, capfd=capfd)
    assert "note: tokenized by rules 1 with regex 1 in training, by rules 1 with regex 2" in err
    both = (tmp_path / "model", tmp_path / "older")
    run("mix", *both, "--weights", "0.5,0.5", "-o", tmp_path / "mixed", capfd=capfd)
    assert open_model(tmp_path / "mixed").text_format == TextFormat(tokenize="words")


@pytest.mark.parametrize("command", [["count", "--order", "1", "-o", "-"], ["classes", "-k", "3"]])
def test_commands_that_read_raw_text(
    command: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    raw = tmp_path / "raw"
    raw.write_text(RAW * 5, encoding="utf-8")
    status, out, _ = run(command[0], raw, *command[1:], "--tokenize", "words", "-q", capfd=capfd)
    assert status == 0
    assert {"Mr.", "isn't", "1,000.5", "%"} <= {line.split("\t")[0] for line in out.split("\n")}


def test_hypotheses_are_tokenized_for_the_model() -> None:
    corpus = corpus_from_sentences(["It is here.", "It is there."], TextFormat(tokenize="words"))
    model = NgramModel.train(corpus, order=2)
    lists = {"u": [(-1.0, "It is here."), (-1.0, "")]}
    found = rescore(
        model,
        lists,
        lm_weight=0.0,
        word_bonus=1.0,
        references={"u": "It is there."},
        text_format=TextFormat(tokenize="prose"),
    )
    assert found.totals.tolist() == [3.0, -1.0]
    assert found.log_probs[0] == pytest.approx(model.score([["It", "is", "here", "."]]).log_prob)
    assert found.oracle is not None
    assert found.oracle.errors == 1
