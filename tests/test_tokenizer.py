from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram.text.tokeniser import sentences, split_sentences, tokenise


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained. We stayed.", ["It rained.", "We stayed."]),
        ("Mr. Smith met Mrs. Jones.", ["Mr. Smith met Mrs. Jones."]),
        ("John F. Kennedy spoke. He won.", ["John F. Kennedy spoke.", "He won."]),
        ("He is taller than I. We know.", ["He is taller than I.", "We know."]),
        ("The U.S. Army left the U.S. The rest stayed.", ["The U.S. Army left the U.S.", "The rest stayed."]),
        ("It ended at 5 p.m. on Friday.", ["It ended at 5 p.m. on Friday."]),
        ("See No. 5, vol. 2. He said no. All left.", ["See No. 5, vol. 2.", "He said no.", "All left."]),
        ("It cost $3.50. Then 4.25.", ["It cost $3.50.", "Then 4.25."]),
        ("In 1898. Then in 1901.", ["In 1898.", "Then in 1901."]),
        ('"Stop!" he said. "Why?" She left.', ['"Stop!" he said.', '"Why?"', "She left."]),
        ("He waited . . . and left.", ["He waited ... and left."]),
        ("He waited\u2026 Then he left.", ["He waited...", "Then he left."]),
        ("1. Build ships.\n\n2. Sail.", ["1. Build ships.", "2. Sail."]),
        ("A heading\n\nwith no end\nof line", ["A heading", "with no end of line"]),
        ("  \n\n ", []),
    ],
)
def test_where_sentences_end(text: str, expected: list[str]) -> None:
    assert split_sentences(text) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The Senate's act, (so-called), failed!", "the senate 's act , ( so-called ) , failed !"),
        ("We don't; they've won.", "we don't ; they've won ."),
        ("the States' rights", "the states ' rights"),
        ("$1,000.50, or 10% of .5", "$ 1,000.50 , or 10 % of .5"),
        ("the 20th-century 5-year plan of 1941-45", "the 20th-century 5-year plan of 1941-45"),
        ("Covid-19 at 10:30 a.m. today", "covid-19 at 10:30 a.m. today"),
        ("He said--no.", "he said -- no ."),
        ("of the U.S.", "of the u.s. ."),
        ("5 per cent. per annum", "5 per cent. per annum"),
        ("at 5 per cent.", "at 5 per cent ."),
        ("José's café", "josé 's café"),
        ("", ""),
    ],
)
def test_tokens(sentence: str, expected: str) -> None:
    assert tokenise(sentence) == expected.split()


def test_typographic_signs_are_made_plain() -> None:
    assert sentences("\u201cDon\u2019t\u201d\u2014never") == [['"', "don't", '"', "--", "never"]]


@given(st.text(alphabet="aAbMr.?!'\"-(5,1 \n\u2026\u2014é_", max_size=80))
def test_no_letter_or_digit_is_lost(text: str) -> None:
    kept = "".join(token for sentence in sentences(text) for token in sentence)
    assert [c for c in kept if c.isalnum()] == [c for c in text.lower() if c.isalnum()]


@given(st.text(max_size=80))
def test_tokens_can_be_written_one_sentence_a_line(text: str) -> None:
    for sentence in sentences(text):
        assert sentence
        assert " ".join(sentence).split() == sentence
