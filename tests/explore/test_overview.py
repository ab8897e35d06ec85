"""The overview: whatever a model is made of, its figures and its content are those of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from explorers import explorer
from stategram import (
    BadDataError,
    CategoryNgramModel,
    ClusteredModel,
    Corpus,
    Mixture,
    Model,
    NgramModel,
    Recipe,
    cluster,
    corpus_from_sentences,
    evaluate,
    train_recipe,
)
from stategram.display import percent, perplexity
from stategram.explore.app import ExploredModel, Explorer, saved_page
from stategram.models import frequent_ngrams, word_frequencies
from story import sentences, word_tree_part


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_from_sentences(sentences(300, seed=1))


class Overview:
    """An overview, its sections by their titles."""

    def __init__(
        self,
        model: Model,
        test: list[str] | None = None,
        manifest: Mapping[str, Any] | None = None,
        history: str = "",
    ) -> None:
        text = None if test is None else corpus_from_sentences(test)
        one = ExploredModel("it", model, text, manifest or {}, history=history)
        self.answer = Explorer([one]).answer("overview", {})
        self.facts = dict(self.answer["facts"])
        self.sections = {one["title"]: one for one in self.answer["sections"]}

    def facts_of(self, section: str) -> dict[str, str]:
        return dict(self.sections[section]["facts"])

    def rows(self, section: str, number: int = 0) -> list[list[str]]:
        rows: list[list[str]] = self.sections[section]["tables"][number]["rows"]
        return rows


def _clustered(corpus: Corpus, context: str, *, tree: bool = True) -> ClusteredModel:
    return ClusteredModel.train(cluster(corpus, context, states=6, categories=6, tree=tree))


def _two(corpus: Corpus) -> Mixture:
    return Mixture.fit([NgramModel.train(corpus, n) for n in (1, 2)], sentences(60, seed=2))


def test_a_single_model_has_no_parts(corpus: Corpus) -> None:
    model = _clustered(corpus, "w-2,w-1")
    found = Overview(model)
    title = "Clustered model of w-2,w-1"
    assert list(found.sections) == [title, "How it was made"]
    assert not found.sections[title]["folded"]
    assert found.sections[title]["tables"][0]["title"] == "Levels of the context tree"
    nodes = [f"{level['nodes']:,}" for level in model.training_info["levels"]]
    assert [row[2] for row in found.rows(title)] == nodes
    assert found.facts["Vocabulary"] == f"{len(model.vocabulary) - 3} words"
    assert found.facts["Parameters"] == f"{model.parameters:,}"


def test_a_mixture_of_mixtures(corpus: Corpus) -> None:
    heldout, test = sentences(60, seed=2), sentences(60, seed=3)
    inner = Mixture.fit([NgramModel.train(corpus, 1), _clustered(corpus, "w-1")], heldout)
    outer = Mixture.fit([NgramModel.train(corpus, 2), inner], heldout)
    found = Overview(outer, test)
    assert {title for title, one in found.sections.items() if one["folded"]} == {
        "2-gram model, kneser-ney",
        "Mixture of 2 models: 1-gram model, kneser-ney",
        "Mixture of 2 models: clustered model of w-1",
    }
    figures = evaluate(outer, test)
    for section, weights in (
        ("On the text", [part.weight for part in figures.parts]),
        ("Parts of the mixture", [part["weight"] for part in outer.training_info["parts"]]),
    ):
        assert found.sections[section]["titles"] == outer.part_titles
        assert found.sections[section]["weights"] == pytest.approx(weights)
    parts = found.rows("On the text", -1)
    assert [row[:2] for row in parts] == [
        [title, percent(part.weight)] for title, part in zip(outer.part_titles, figures.parts, strict=True)
    ]
    assert found.facts_of("On the text")["Perplexity"].startswith(perplexity(figures.perplexity))
    known = found.facts_of("On the text")["without unknown words"]
    assert known.startswith(perplexity(figures.perplexity_known))


def test_parts_that_are_alike_have_numbers(corpus: Corpus) -> None:
    classes = {word: number % 5 for number, word in enumerate(corpus.vocabulary.words)}
    categories = CategoryNgramModel.train(corpus, classes)
    models: list[Model] = [NgramModel.train(corpus, 2), NgramModel.train(corpus, 2), categories]
    found = Overview(Mixture.fit(models, sentences(60, seed=2)))
    assert {f"2-gram model, kneser-ney ({number})" for number in (1, 2)} < set(found.sections)
    of_categories = f"5-gram model of {categories.n_categories} categories"
    assert found.facts_of(of_categories)["N-grams"] == f"{sum(categories.ngram.trie.sizes):,}"
    lengths = [row[0] for row in found.rows(of_categories)]
    assert lengths == [f"{n} categor{'ies' if n > 1 else 'y'}" for n in range(1, 6)]


def test_what_a_manifest_says(corpus: Corpus) -> None:
    recipe = {"vocabulary_file": "</pre><script>alert(1)</script>\ud800"}
    files = [{"use": "training", "name": "<q>", "bytes": 1234, "sha256": "ab" * 32}]
    manifest = {
        "figures": {"events": 5, "sentences": 2, "heldout_perplexity": 12.5},
        "inputs": files,
        "stategram_version": "<i>",
        "seed": 7,
    }
    model = replace(NgramModel.train(corpus, 2), metadata=recipe)
    found = Overview(model, manifest=manifest)
    assert found.facts["Held-out perplexity"] == "12.50"
    assert found.facts["Trained on"] == "3 words in 2 sentences; 0 unknown words"
    assert found.facts_of("How it was made") == {"stategram": "<i>", "Seed": "7"}
    assert found.rows("How it was made") == [["<q>", "training", "1.2 kB", "ab" * 32]]
    assert "alert(1)" in found.sections["How it was made"]["text"]
    page = saved_page(Explorer([ExploredModel("<u>", model, manifest=manifest)]))
    for tag in ("<q>", "<i>", "<u>", "<script>alert"):
        assert tag not in page
    with pytest.raises(BadDataError, match="manifest cannot be shown"):
        Overview(model, manifest={"inputs": [{"name": 3}]})


def test_a_word_tree_model_with_its_histories(corpus: Corpus) -> None:
    heldout, test = (sentences(60, seed=n) for n in (2, 3))
    text = corpus_from_sentences(heldout, vocabulary=corpus.vocabulary)
    model = train_recipe(corpus, text, Recipe(part=[word_tree_part()]))
    several = Mixture.fit([NgramModel.train(corpus, 2), model], heldout)
    for one in (model, several):
        found, figures = Overview(one, test), evaluate(one, corpus_from_sentences(test), all_histories=True)
        histories = found.rows("On the text")
        assert [row[0] for row in histories] == list(one.histories)
        assert [row[1] for row in histories] == [perplexity(of.perplexity) for of in figures.histories]
        assert "History" not in found.facts_of("On the text")
    chosen = Overview(model.with_history("document"), test, history="document")
    assert chosen.facts_of("On the text")["History"] == "document"
    assert [row[0] for row in chosen.rows("On the text", -1)] == ["tree 1", "tree 2"]


def test_a_mixture_of_which_nothing_is_known(corpus: Corpus) -> None:
    assert "Parts of the mixture" not in Overview(replace(_two(corpus), training_info={})).sections


def test_the_cross_validated_perplexity_comes_first(corpus: Corpus) -> None:
    fitted = _two(corpus)
    tried = [{"kind": fitted.gate.kind, "strength": n, "perplexity": 777.7 + n} for n in range(3)]
    tried += [{"kind": "state", "strength": 0, "perplexity": 5.5}, {**tried[0], "perplexity": None}]
    own = f"{fitted.training_info['perplexity']:,.2f}"
    for candidates, expected in (
        (tried, f"777.70 cross-validated; {own} with weights learned on the same text"),
        ([], f"{own}, on the text that its weights were learned on"),
    ):
        info = {**fitted.training_info, "candidates": candidates}
        assert Overview(replace(fitted, training_info=info)).facts["Held-out perplexity"] == expected


def test_a_part_that_rules_events_out(corpus: Corpus) -> None:
    fitted = _two(corpus)
    first, second = fitted.training_info["parts"]
    for field, times in (("perplexity", 1), ("without", 2)):
        impossible = {**fitted.training_info, "parts": [{**first, field: None}, second]}
        rows = Overview(replace(fitted, training_info=impossible)).rows("Parts of the mixture")
        assert sum(row.count("infinite") for row in rows) == times


def test_a_text_with_many_unknown_words_or_no_others(corpus: Corpus) -> None:
    model = CategoryNgramModel.train(corpus, dict.fromkeys(corpus.vocabulary.words, 1))
    strangers = " ".join(f"stranger{number}" for number in range(500))
    found = Overview(model, [*sentences(60, seed=3), strangers])
    assert found.facts_of("On the text")["Unknown words"].startswith("500 ")
    found = Overview(model, [strangers])
    assert "no word of the model's vocabulary" in found.facts_of("On the text")["Perplexity"]


def test_discounts_are_shown_where_they_are_known(corpus: Corpus) -> None:
    for smoothing, title in (("kneser-ney", "Discounts of counts"), ("katz", "Counts are multiplied by")):
        model = NgramModel.train(corpus, 3, smoothing=smoothing)
        found = Overview(model)
        (own,) = (one for one in found.sections.values() if one["tables"])
        (table,) = (one for one in own["tables"] if title in one["title"])
        for row, discounts in zip(table["rows"], model.training_info["discounts"], strict=True):
            assert row[1 : 1 + len(discounts)] == [f"{one:.3f}" for one in discounts]


def test_frequent_words_and_bigrams_are_those_of_the_text(corpus: Corpus) -> None:
    """Probabilities of bigrams are nearly relative frequencies here; so are the words that they lead to."""
    model = NgramModel.train(corpus, 2, smoothing="absolute")
    split = [line.split() for line in sentences(300, seed=1)]
    n_events = sum(len(one) + 1 for one in split)
    counted = Counter(word for one in split for word in one)
    for one in frequent_ngrams(model, 2, 5)[0]:
        assert one.frequency == pytest.approx(counted[model.vocabulary.word(one.ids[0])] / n_events, rel=0.1)
    assert word_frequencies(model)[3:].sum() == pytest.approx(1 - len(split) / n_events, rel=0.02)
    words, bigrams = Overview(model).answer["ngrams"]
    assert set(words) <= {word for word, _ in counted.most_common(12)}
    pairs = Counter(" ".join(pair) for one in split for pair in pairwise(one))
    assert set(bigrams) <= {pair for pair, _ in pairs.most_common(12)}


def test_typical_clusters_are_those_of_their_views() -> None:
    answer = explorer().answer("overview", {})
    assert [one["source"] for one in answer["classes"]] == ["2", "3"]
    for one in answer["classes"]:
        for example in one["examples"]:
            request = {"source": one["source"], "number": example["number"]}
            members = [member["word"] for member in explorer().answer("class", request)["members"]]
            assert members[: len(example["words"])] == example["words"]
    (states,) = answer["states"]
    assert states["examples"]
    for example in states["examples"]:
        state = explorer().answer("state", {"source": "3", "number": example["number"]})
        assert [context["context"] for context in state["examples"]][:3] == example["contexts"]
        assert [word["word"] for word in state["next_words"]][:6] == example["words"]
