"""Texts in other encodings, and texts without spaces: what is said about them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import run
from stategram import NgramModel, open_model, read_corpus
from stategram.errors import BadDataError
from stategram.text import TextFormat, Vocabulary, conversion_advice

ENGLISH, RUSSIAN, FRENCH = "the cat sat\n" * 9, "как твои дела\n" * 9, "le caf\xe9 est bon\n" * 9


@pytest.mark.parametrize(
    ("text", "encoding", "expected"),
    [
        (ENGLISH, "utf-16", "it looks like UTF-16: convert it with iconv -f utf-16 -t utf-8"),
        (RUSSIAN, "utf-16", "iconv -f utf-16 -t utf-8"),
        ("\ufeff" + ENGLISH, "utf-16-be", "iconv -f utf-16 -t utf-8"),
        ("\ufeff" + ENGLISH, "utf-32-be", "iconv -f utf-32 -t utf-8"),
        (ENGLISH, "utf-16-le", "iconv -f utf-16le -t utf-8"),
        (ENGLISH, "utf-16-be", "iconv -f utf-16be -t utf-8"),
        (ENGLISH, "utf-32-le", "iconv -f utf-32le -t utf-8"),
        (ENGLISH, "utf-32-be", "iconv -f utf-32be -t utf-8"),
        (
            FRENCH,
            "latin-1",
            "if it is Latin-1 or Windows-1252, convert it with iconv -f windows-1252 -t utf-8",
        ),
        (RUSSIAN, "koi8-r", "convert it to UTF-8 with iconv -f ENCODING -t utf-8"),
        ("a b\0c\n", "utf-8", "convert the file to UTF-8 text"),
    ],
)
def test_how_to_convert(text: str, encoding: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(text.encode(encoding))
    with pytest.raises(BadDataError, match=f"text:1: .*{expected}") as found:
        read_corpus(tmp_path / "text")
    may_replace = "it looks like" not in str(found.value)
    assert ("--encoding-errors replace" in str(found.value)) == may_replace
    # Other files have no such option.
    with pytest.raises(BadDataError, match=f"text:1: .*{expected}(?!.*--encoding-errors)"):
        Vocabulary.from_file(tmp_path / "text")


def test_the_sample_is_where_the_bad_byte_is() -> None:
    data = RUSSIAN.encode() * 200 + b"caf\xe9" + ENGLISH.encode() * 200
    assert "windows-1252" in conversion_advice(data, data.index(b"\xe9") + 2000)


CHINESE = [
    "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u6211\u4eec\u53bb\u516c\u56ed",
    "\u4ed6\u4eec\u5728\u5b66\u4e60\u8bed\u8a00",
]
THAI = "\u0e20\u0e32\u0e29\u0e32\u0e44\u0e17\u0e22\u0e40\u0e1b\u0e47\u0e19\u0e20\u0e32\u0e29\u0e32"


@pytest.mark.parametrize(
    ("sentences", "looks_unsegmented"),
    [
        (CHINESE, True),
        ([f"{one}, {two} ok" for one in CHINESE for two in CHINESE], True),
        ([" ".join(one) for one in CHINESE], False),
        ([f"a cat and a dog met {one}" for one in CHINESE], False),
        ([THAI[:8]], False),
        ([THAI * 2], True),
        ([" ".join(THAI)], False),
        (["Donaudampfschifffahrtsgesellschaft"], False),
    ],
)
def test_text_without_spaces_is_noted(
    sentences: list[str], looks_unsegmented: bool, caplog: pytest.LogCaptureFixture
) -> None:
    model = NgramModel.train(sentences, order=1)
    assert ["it looks unsegmented; segment it first" in message for message in caplog.messages] == (
        [True] * looks_unsegmented
    )
    caplog.clear()
    model.score(sentences)
    assert not caplog.messages


def test_a_text_for_a_model_is_read_as_its_training_text(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text, model = tmp_path / "text", tmp_path / "model"
    text.write_bytes(b"= caf\xe9 =\nThe caf\xe9 is 12 years old\n")
    given = ("--encoding-errors", "replace", "--lowercase", "--digits", "N", "--document-mark", "^=")
    assert run("train", text, "-o", model, *given, capfd=capfd)[0] == 0
    expected = TextFormat(lowercase=True, digits="N", encoding_errors="replace", document_mark="^=")
    assert open_model(model).text_format == expected
    status, out, err = run("eval", model, text, "--json", capfd=capfd)
    assert (status, json.loads(out)["unknown"]) == (0, 0)
    for note in ("words in lower case", "N for numbers", "U+FFFD for bytes that are not UTF-8"):
        assert f"      {note}, as in training\n" in err
    status, out, err = run("eval", model, text, "--json", "--no-lowercase", "--digits", "", capfd=capfd)
    assert (status, json.loads(out)["unknown"], "lower case" in err) == (0, 2, False)
    assert run("eval", model, text, "--encoding-errors", "strict", capfd=capfd)[0] == 3
