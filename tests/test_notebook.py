"""What notebooks show of corpora, clusterings, models and figures."""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

import numpy as np
import pytest

from model_kinds import ALL_KINDS, DOCUMENT, corpora, model_of
from stategram import (
    Mixture,
    NgramModel,
    Table,
    WordClasses,
    class_bigram_perplexity,
    cluster,
    compare,
    corpus_from_sentences,
    evaluate,
)
from stategram.counts import count_bigrams
from stategram.models import Gate
from stategram.notebook import card, columns_of

_HOSTILE = ["<script>alert(1)</script>", "</td></table>", '"onload="x', "&amp;", "\u202eabc", "\x1b[2J"]
_TAGS = {"div", "strong", "p", "table", "thead", "tbody", "tr", "th", "td"}


class _Reader(HTMLParser):
    """Collects the texts of cells; refuses tags and attributes that no card has, and those left open."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS
        assert all(name == "style" and re.fullmatch("text-align: (left|right)", v or "") for name, v in attrs)
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data

    @property
    def facts(self) -> dict[str, str]:
        return {row[0]: row[1] for row in self.rows if len(row) == 2}


def _read(shown: object) -> _Reader:
    reader = _Reader()
    reader.feed(shown._repr_html_())  # type: ignore[attr-defined]
    reader.close()
    assert not reader._open
    return reader


@pytest.mark.parametrize("kind", [*ALL_KINDS, DOCUMENT])
def test_every_kind_of_model_shows_its_description(kind: str) -> None:
    model = model_of(kind)
    found = _read(model)
    assert f"{type(model).__name__}: {model.title}" in found.texts
    assert found.facts["Words"] == f"{len(model.vocabulary):,}"
    assert found.facts["Parameters"] == f"{model.parameters:,}"
    described = model.describe()
    assert found.facts.keys() >= dict(described.facts).keys()
    for table in described.tables:
        assert (list(table.columns) in found.rows) == (table.title in found.texts) == bool(table.rows)


def test_a_mixture_shows_its_parts_with_their_weights() -> None:
    mixture = model_of("mixture")
    found = _read(mixture)
    assert found.rows[-5][:2] == ["Part", "Weight"]
    parts = mixture.training_info["parts"]
    for row, title, part in zip(found.rows[-4:], mixture.part_titles, parts, strict=True):
        assert row[0] == title
        numbers = [float(cell.replace(",", "")) for cell in row[1:]]
        # Six digits are shown.
        assert numbers == pytest.approx([part["weight"], part["perplexity"], part["without"]], rel=5e-6)


def test_a_mixture_that_was_not_fitted_shows_the_weights_it_has() -> None:
    parts = model_of("ngram"), model_of("unigram")
    found = _read(Mixture(parts, Gate.constant([0.25, 0.75])))
    assert [row[1] for row in found.rows[-3:]] == ["Weight", "0.25", "0.75"]
    assert found.rows[-2][0] == parts[0].title
    # Where weights depend on the history there is no one weight.
    aligned = model_of("aligned")
    assert [row[1:] for row in _read(aligned).rows[-3:]] == [[""]] * 3


def test_a_corpus_shows_its_sizes_and_first_sentences() -> None:
    text = [
        "the cat sat",
        "the dog ran",
        "",
        *["a b c d e f g h i j k l m n o p q r s t u v w x y z 0 1 2 3"] * 3,
    ]
    corpus = corpus_from_sentences(text, vocabulary=corpus_from_sentences(text[1:]).vocabulary)
    found = _read(corpus)
    assert found.facts == {
        "Events (words and sentence ends)": str(corpus.n_events),
        "Sentences": "5",
        "Documents": "2",
        "Words of the vocabulary": str(len(corpus.vocabulary)),
        "Unknown words of the text": "2",
    }
    first, second, third = (row[0] for row in found.rows[-3:])
    assert (first, second) == ("the <unk> <unk> </s>", "the dog ran </s>")
    assert third.startswith("a b c")
    assert third.endswith("…")
    assert len(third) == 60
    assert _read(corpus.sentences(0, 0)).facts["Sentences"] == "0"


def test_word_classes_show_the_most_frequent_classes() -> None:
    words = WordClasses(3)
    assert "WordClasses, not fitted" in _read(words).texts
    words.fit(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 3)
    found = _read(words)
    assert (found.facts["Classes"], found.facts["Words"]) == ("3", "6")
    assert float(found.facts["Training perplexity"]) == pytest.approx(words.perplexity_, rel=5e-6)
    assert [row[1:3] for row in found.rows[-3:]] == [["12", "2"]] * 3
    assert [row[3].split() for row in found.rows[-3:]] == [list(members) for members in words.classes_]
    # Classes to begin with may be many.
    assert _read(WordClasses(init={"a": 1, "b": 1})).facts["init"] == "classes of 2 words"


def test_a_clustering_shows_its_levels_and_categories() -> None:
    found = cluster(corpora()[0], "w-2,w-1", states=8, categories=6)
    shown = _read(found)
    assert (shown.facts["Context"], shown.facts["States"], shown.facts["Categories"]) == ("w-2,w-1", "8", "6")
    levels = [row for row in shown.rows if len(row) == 6]
    assert [row[0] for row in levels] == ["Level", "1", "2"]
    assert [row[1] for row in levels[1:]] == [f"{level.nodes:,}" for level in found.levels]
    categories = [row for row in shown.rows if len(row) == 4][1:]
    assert len(categories) == 6
    counts = found.tree.word_counts
    assert sum(int(row[1].replace(",", "")) for row in categories) == counts.sum()
    for number, row in enumerate(categories):
        members = found.categories == number
        assert int(row[2]) == np.count_nonzero(members)
        most = int(np.argmax(np.where(members, counts, -1)))
        assert row[3].split()[0] == found.tree.vocabulary.word(most)


def test_evaluations_show_perplexities_with_intervals() -> None:
    heldout = corpora()[1]
    figures = evaluate(model_of("mixture"), heldout)
    found = _read(figures)
    assert found.facts["Perplexity"] == f"{figures.perplexity:,.2f} (95%: {figures.interval})"
    assert found.facts["95% intervals"] == str(figures.resampling)
    assert [row[0] for row in found.rows[-4:]] == [part.name for part in figures.parts]
    best = [row[-1] for row in found.rows[-4:]].index("")
    assert figures.parts[best].difference is None
    assert any(row[:2] == ["Words", "Events"] for row in _read(evaluate(model_of("ngram"), heldout)).rows)
    of_histories = evaluate(model_of(DOCUMENT), heldout, all_histories=True)
    shown = [row[0] for row in _read(of_histories).rows if row[0] in ("sentence", "document", "adaptive")]
    assert shown == [one.history for one in of_histories.histories]
    assert len(shown) > 1
    spelled = evaluate(NgramModel.train(["a b", "b a"], 2), ["a b zebra"], unknown="spell")
    assert "Bits per character" in _read(spelled).facts
    assert _read(spelled).facts["95% intervals"].endswith("over 1 sentence, too few to be reliable")


def test_a_comparison_shows_all_models() -> None:
    models = {"first <b>": model_of("unigram"), "second": model_of("ngram")}
    found = compare(models, corpora()[1])
    assert _read(found).facts["95% intervals"] == str(found.resampling)
    first, second = _read(found).rows[-2:]
    assert (first[0], first[-1]) == ("first <b>", "")
    assert (second[0], second[-1]) == ("second", str(found.models[1].difference))


def test_class_bigrams_show_all_their_models() -> None:
    train, heldout = corpora()
    labels = np.arange(len(train.vocabulary)) % 5
    figures = class_bigram_perplexity(count_bigrams(train).successors, labels, heldout.ids)
    rows = _read(figures).rows
    assert float(rows[-3][1].replace(",", "")) == pytest.approx(figures.perplexity_kn, rel=5e-6)
    assert "Kneser-Ney" in rows[-3][0]


_TEXT = [" ".join(_HOSTILE[i:] + _HOSTILE[:i]) for i in range(len(_HOSTILE))] * 9
_HOSTILE_OBJECTS: dict[str, Callable[[], object]] = {
    "corpus": lambda: corpus_from_sentences(_TEXT),
    "word classes": lambda: WordClasses(2).fit(_TEXT),
    "clustering": lambda: cluster(corpus_from_sentences(_TEXT), "w-1", states=2, categories=2),
    "comparison": lambda: compare(dict.fromkeys(_HOSTILE, model_of("unigram")), corpora()[1]),
    "table": lambda: Table({_HOSTILE[0]: _HOSTILE}),
}


@pytest.mark.parametrize("name", _HOSTILE_OBJECTS)
def test_hostile_words_are_harmless(name: str) -> None:
    shown = _HOSTILE_OBJECTS[name]()
    found = _read(shown)  # which has only the tags of cards
    assert any("<script>" in text or "</td>" in text for text in found.texts)
    html = shown._repr_html_()  # type: ignore[attr-defined]
    assert not re.search('<script|\u202e|\x1b|style="(?!text-align)', html)


def test_a_title_of_a_model_is_harmless() -> None:
    # The name of a smoothing comes from a file.
    html = card("<script>", [("<b>", "<i>")], [("<u>", columns_of(["<s>"], [["\ud800<a>"]]))])
    reader = _Reader()
    reader.feed(html)
    assert reader.rows == [["<b>", "<i>"], ["<s>"], ["\N{REPLACEMENT CHARACTER}<a>"]]
    html.encode()


def test_long_tables_are_cut() -> None:
    html = card("t", [], [("rows", columns_of(["n"], [[i] for i in range(1000)])), ("no rows", [])])
    assert html.count("<tr>") == 21
    assert "… 1,000 rows" in html
    assert "no rows" not in html
