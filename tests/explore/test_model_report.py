"""Reports of models: whatever a model is made of, its report is sound and says so."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from html_structure import structure_of
from stategram import (
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
from stategram.explore.pages import model_html
from stategram.explore.pages.rendering import unbroken
from story import sentences, word_tree_part

pytest.importorskip("vl_convert", reason="vl-convert draws the charts")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_from_sentences(sentences(300, seed=1))


def _clustered(corpus: Corpus, context: str, *, tree: bool = True) -> ClusteredModel:
    return ClusteredModel.train(cluster(corpus, context, states=6, categories=6, tree=tree))


def _ids(model: Model) -> list[str]:
    return structure_of(model_html(model, "it")).ids


def test_a_single_model_has_no_parts(corpus: Corpus) -> None:
    page = model_html(_clustered(corpus, "w-2,w-1"), "it")
    ids = structure_of(page).ids
    assert "model-1" in ids
    assert not {"parts", "test", "weights", "training"} & set(ids)
    assert "Levels of the context tree" in page
    assert "along a context tree" in page
    flat = replace(_clustered(corpus, "w-2,w-1", tree=False), metadata={"tree": False})
    assert "flat: single contexts from the start" in model_html(flat, "it")
    assert "along a context tree" not in model_html(_clustered(corpus, "w-1"), "it")


def test_a_mixture_of_mixtures(corpus: Corpus) -> None:
    heldout = sentences(60, seed=2)
    inner = Mixture.fit([NgramModel.train(corpus, 1), _clustered(corpus, "w-1")], heldout)
    outer = Mixture.fit([NgramModel.train(corpus, 2), inner], heldout)
    page = model_html(outer, "it", test=evaluate(outer, sentences(60, seed=3)))
    ids = structure_of(page).ids
    assert {"model-1", "model-2", "model-3", "parts", "weights", "test"} <= set(ids)
    assert "Mixture of 2 models: clustered model of w-1" in page
    on_test = page.partition("Parts on the text")[2].partition("</table>")[0]
    titles = re.findall(r'<th scope="row" class="">([^<]*)<', on_test)
    assert titles == [unbroken("2-gram model, kneser-ney"), "mixture of 2 models"]


def test_parts_that_are_alike_have_numbers(corpus: Corpus) -> None:
    classes = {word: number % 5 for number, word in enumerate(corpus.vocabulary.words)}
    categories = CategoryNgramModel.train(corpus, classes)
    models: list[Model] = [NgramModel.train(corpus, 2), NgramModel.train(corpus, 2), categories]
    page = model_html(Mixture.fit(models, sentences(60, seed=2)), "it")
    structure_of(page)
    assert unbroken("2-gram model, kneser-ney (1)") in page
    assert unbroken("2-gram model, kneser-ney (2)") in page
    assert unbroken(f"-gram model of {categories.n_categories} categories") in page
    lengths = re.findall(r'<th scope="row" class="">(\d (?:word|categor)\w*)<', page)
    words, of_categories = (
        ["1 word", "2 words"],
        [f"{n} categor{'ies' if n > 1 else 'y'}" for n in range(1, 6)],
    )
    assert lengths == words * 4 + of_categories * 2  # how many there are, and their discounts
    assert unbroken(f"<dt>N-grams</dt><dd>{sum(categories.ngram.trie.sizes):,}</dd>") in page


def test_one_model(corpus: Corpus) -> None:
    """What a training found out about the held-out text is in the manifest."""
    model, test = NgramModel.train(corpus, 2), sentences(60, seed=3)
    manifest = {"figures": {"events": 5, "heldout_perplexity": 12.5}}
    page = model_html(model, "it", test=evaluate(model, test), manifest=manifest)
    ids = structure_of(page).ids
    assert {"model-1", "test"} <= set(ids)
    assert not {"parts", "alone", "weights"} & set(ids)
    assert "mixture" not in page.lower().split("<body", 1)[1].split("how it was trained")[0]
    assert unbroken(model.title) in page
    assert "<dt>Held-out perplexity</dt><dd>12.5" in page


def test_a_word_tree_model_with_its_histories(corpus: Corpus) -> None:
    heldout, test = (corpus_from_sentences(sentences(60, seed=n)) for n in (2, 3))
    model = train_recipe(corpus, heldout.in_vocabulary(corpus.vocabulary), Recipe(part=[word_tree_part()]))
    page = model_html(model, "it", test=evaluate(model, test, all_histories=True))
    assert structure_of(page).ids.count("model-1") == 1
    for words in ("By history", "to earlier sentences of the document, too", "Decisions per word", "Chains"):
        assert words in page
    assert "tree 2" in page  # trees alone, on the test text
    several = Mixture.fit([NgramModel.train(corpus, 2), model], heldout)
    page = model_html(several, "it", test=evaluate(several, test, all_histories=True))
    assert {"parts", "weights", "alone", "model-2"} <= set(structure_of(page).ids)
    assert "By history" in page


def test_the_title_says_what_a_mixture_gains(corpus: Corpus) -> None:
    fitted = Mixture.fit([NgramModel.train(corpus, n) for n in (1, 3)], sentences(60, seed=2))
    info = fitted.training_info
    tried = [{"kind": fitted.gate.kind, "strength": 0, "perplexity": 6.0}]
    for alone, gain in ((8.0, ", perplexity 25.0% below its best part"), (5.0, "")):
        parts = [{**part, "perplexity": alone + number} for number, part in enumerate(info["parts"])]
        known = replace(fitted, training_info={**info, "parts": parts, "candidates": tried})
        assert f"<h1>it: mixture of 2 models{gain}</h1>" in model_html(known, "it")
    figures = evaluate(fitted, sentences(60, seed=3))
    best = min(part.perplexity for part in figures.parts)
    gain = f", perplexity {1 - figures.perplexity / best:.1%} below" if figures.perplexity < best else "</h1>"
    assert f"<h1>it: mixture of 2 models{gain}" in model_html(fitted, "it", test=figures)


def test_a_mixture_of_which_nothing_is_known(corpus: Corpus) -> None:
    fitted = Mixture.fit([NgramModel.train(corpus, n) for n in (1, 2)], sentences(60, seed=2))
    assert "parts" not in _ids(replace(fitted, training_info={}))


def test_the_cross_validated_perplexity_comes_first(corpus: Corpus) -> None:
    fitted = Mixture.fit([NgramModel.train(corpus, n) for n in (1, 2)], sentences(60, seed=2))
    kind = fitted.gate.kind
    tried = [{"kind": kind, "strength": n, "perplexity": 777.7 + n} for n in range(3)]
    tried += [{"kind": "state", "strength": 0, "perplexity": 5.5}, {**tried[0], "perplexity": None}]
    own = f"{fitted.training_info['perplexity']:,.2f}"
    page = model_html(replace(fitted, training_info={**fitted.training_info, "candidates": tried}), "it")
    assert f"<dd>777.70 cross-validated; {own} with weights learned on the same text</dd>" in page
    page = model_html(replace(fitted, training_info={**fitted.training_info, "candidates": []}), "it")
    assert f"<dd>{own}, on the text that its weights were learned on</dd>" in page


def test_terms_are_explained_where_they_are_used(corpus: Corpus) -> None:
    assert "{a|b|…}" in model_html(_clustered(corpus, "w-1"), "it")
    assert "{a|b|…}" not in model_html(NgramModel.train(corpus, 2), "it")


def test_a_part_that_rules_events_out(corpus: Corpus) -> None:
    fitted = Mixture.fit([NgramModel.train(corpus, n) for n in (1, 2)], sentences(60, seed=2))
    first, second = fitted.training_info["parts"]
    for field, times in (("perplexity", 1), ("without", 2)):
        impossible = {**fitted.training_info, "parts": [{**first, field: None}, second]}
        page = model_html(replace(fitted, training_info=impossible), "it")
        structure_of(page)
        assert page.count(">infinite<") == times


def test_names_are_escaped(corpus: Corpus) -> None:
    recipe = {"vocabulary_file": "</pre><script>alert(1)</script>"}
    files = [{"use": "training", "name": "<q>", "bytes": None, "sha256": None}]
    manifest = {"inputs": files, "stategram_version": "<i>"}
    page = model_html(replace(NgramModel.train(corpus, 1), metadata=recipe), "<u>", manifest=manifest)
    assert structure_of(page).met.count("script") == 1
    for tag in ("<q>", "<i>", "<u>"):
        assert tag not in page
