"""Tags from Brill's lexicon, and of words that it does not have."""

from __future__ import annotations

import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram.contexts import brill as brill_module
from stategram.contexts import parse_tags, tags_from_brill
from stategram.contexts.brill import BrillRules, read_brill_lexicon
from stategram.errors import BadDataError, UsageError
from stategram.text import Vocabulary, corpus_from_sentences

LEXICON = read_brill_lexicon()
CASED = BrillRules(LEXICON, Vocabulary.from_words(["The", "Cat", "7"]))
LOWER = BrillRules(LEXICON, Vocabulary.from_words(["the", "cat", "N"]))


@pytest.mark.parametrize(
    ("words", "tag"),
    [
        ("the a this", "DT"),
        ("cat time web-site mother-child website", "NN"),
        ("cats years well-wishers zorblings", "NNS"),
        ("I it he", "PRP"),
        ("12 3.5 1,024 -7 10-12 $5 £1,000 95% 3:45 .5 1984 ½ 2 4 twenty-five 1990-91 #5 5km NUM", "CD"),
        ("1st 22nd 103rd 20th", "JJ"),
        ("1890s '60s 747s", "NNS"),
        ("can't won't couldn't", "MD"),
        ("don't aren't haven't", "VBP"),
        ("wasn't didn't weren't", "VBD"),
        ("isn't doesn't it's that's who's", "VBZ"),
        ("country's boys' Kowalewski's Kowalewski\u2019s", "POS"),
        ("I'm they're they've", "VBP"),
        ("somebody'll they'd", "MD"),
        (". ! ? ?!", "."),
        ("( [ {", "("),
        (") ] }", ")"),
        ("; : -- - — …", ":"),
        ("\" '' ”", "''"),
        ("$ £ € ₹", "$"),
        ("@-@ @,@ @.@ = ~ ☃ <>", "SYM"),
        ("high-speed blue-eyed 40-hour anti-blorkian", "JJ"),
        ("zorbly unblorkily", "RB"),
        ("zorbing emailing", "VBG"),
        ("zorbed emailed", "VBN"),
        ("zorbable zorbible zorbous zorbful zorbless zorbic zorbative zorbial", "JJ"),
        ("zorbation zorbness zorbment zorbity zorbism", "NN"),
        ("oftenest gloomiest", "JJS"),
        ("gloomier", "JJR"),
        ("www.example.org http://x.y a@b.cd", "ADD"),
        ("戦場の Москва חזק", "FW"),
    ],
)
def test_words_have_plausible_tags_in_any_case(words: str, tag: str) -> None:
    for word in words.split():
        assert (word, CASED.tag(word)[0]) == (word, tag)
        if word == word.lower():
            assert (word, LOWER.tag(word)[0]) == (word, tag)


@pytest.mark.parametrize(
    ("words", "tag"),
    [
        ("London Kowalewski ScrewAttack WWF J. J.R.R. Jean-Zorb US Zorblings", "NNP"),
        ("Americans Estonians", "NNPS"),
        ("Whereupon Of", "IN"),
    ],
)
def test_capitals_are_names_where_there_are_capitals(words: str, tag: str) -> None:
    for word in words.split():
        assert (word, CASED.tag(word)[0]) == (word, tag)


def test_names_are_found_in_lower_case() -> None:
    for word in ("london", "england", "dr.", "johannesburg"):
        assert (word, LOWER.tag(word)) == (word, ("NNP", "lexicon"))
    assert LOWER.tag("may") == ("MD", "lexicon")
    assert CASED.tag("asia")[0] == "NNP"


def test_a_capital_at_the_start_of_a_sentence_is_no_name() -> None:
    frequent = corpus_from_sentences(["Forged forged forged Bogus", "Emailing emailing", "Tantrum"])
    rules = BrillRules(LEXICON, frequent.vocabulary)
    assert rules.tag("Forged")[0] == LEXICON["forged"]
    assert rules.tag("Emailing")[0] == "VBG"
    assert "Tantrum" not in LEXICON
    assert LEXICON["tantrum"] == "NN"
    assert rules.tag("Tantrum")[0] == "NNP"  # never without its capital


def test_n_stands_for_numbers_where_few_are_left() -> None:
    assert LOWER.tag("N") == ("CD", "rule")
    assert CASED.tag("N")[0] == LEXICON["N"]
    replaced = corpus_from_sentences(["N cats N", "N Dogs 7"])
    assert BrillRules(LEXICON, replaced.vocabulary).tag("N") == ("CD", "rule")


def test_the_report_counts_words_and_tokens() -> None:
    vocabulary = corpus_from_sentences(["the the the cat zorbly zorbly qqq", "the 12"]).vocabulary
    tags = tags_from_brill(vocabulary)
    assert {name: (share.words, share.tokens) for name, share in tags.source.items()} == {
        "lexicon": (2, 5),
        "rule": (2, 3),
        "fallback": (1, 1),
    }
    assert tags.tag(vocabulary.id("qqq")) == "NN"
    assert tags.tags == ("<unk>", "<s>", "</s>", "CD", "DT", "NN", "RB")


def test_the_vocabulary_may_be_without_words() -> None:
    assert tags_from_brill(Vocabulary.from_words([])).tags == ("<unk>", "<s>", "</s>")


@given(st.text(min_size=1, max_size=9).filter(lambda word: word.split() == [word]))
def test_any_word_has_a_tag(word: str) -> None:
    for rules in (CASED, LOWER):
        tag, source = rules.tag(word)
        assert tag.split() == [tag]
        assert source in ("lexicon", "rule", "fallback")


def test_capitals_that_have_no_lower_case() -> None:
    word = "\U0001d400\U0001d401"  # mathematical letters
    tags_from_brill(Vocabulary.from_words([word, "The", "A"]))


def test_textblob_is_read_but_not_imported() -> None:
    code = (
        "import sys; from stategram import Vocabulary, tags_from_brill; "
        "tags_from_brill(Vocabulary.from_words(['cat'])); print({'textblob', 'nltk'} & set(sys.modules))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"


def test_without_textblob_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brill_module, "find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r"textblob, which is not installed; pip install 'stategram\[tags\]'"
    ):
        parse_tags("brill", Vocabulary.from_words(["cat"]))


def test_a_damaged_lexicon_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    spec = ModuleSpec("textblob", None, is_package=True)
    spec.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr(brill_module, "find_spec", lambda _: spec)
    (tmp_path / "en").mkdir()
    (tmp_path / "en" / "en-lexicon.txt").write_text(";;; c\ncat NN|VB\ndog\n")
    with pytest.raises(BadDataError, match="the line 'dog' is not a word and a tag; install textblob again"):
        read_brill_lexicon()


def test_the_lexicon_has_one_plain_tag_a_word() -> None:
    assert len(LEXICON) > 90_000
    assert not any("|" in tag for tag in LEXICON.values())
    assert not {"NP", "PP", '"'} & set(LEXICON.values())
