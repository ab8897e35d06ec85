"""What reports show of n-gram models: frequent n-grams, what follows them, categories, a sentence."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from stategram import CategoryNgramModel, NgramModel, TextFormat, corpus_from_sentences
from stategram.explore.pages import model_html
from stategram.explore.views import examples
from stategram.models import frequent_ngrams, word_frequencies
from stategram.text import block_of_sentences
from story import sentences

TEXT = sentences(400, seed=1)


def test_frequent_words_and_bigrams_are_those_of_the_text() -> None:
    """Probabilities of bigrams are nearly relative frequencies here; so are the words that they lead to."""
    model = NgramModel.train(TEXT, 2, smoothing="absolute")
    words, bigrams = frequent_ngrams(model, 2, 5)
    split = [line.split() for line in TEXT]
    n_events = sum(len(one) + 1 for one in split)
    counted = Counter(word for one in split for word in one)
    for one in words:
        assert one.frequency == pytest.approx(counted[model.vocabulary.word(one.ids[0])] / n_events, rel=0.1)
    pairs = Counter(pair for one in split for pair in pairwise(one))
    found = [tuple(map(model.vocabulary.word, one.ids)) for one in bigrams]
    assert set(found) <= {pair for pair, _ in pairs.most_common(8)}
    assert word_frequencies(model)[3:].sum() == pytest.approx(1 - len(TEXT) / n_events, rel=0.02)


def test_a_model_of_words_alone_has_no_continuations() -> None:
    (frequent,) = examples(NgramModel.train(TEXT, 1))
    assert len(frequent.groups) == 1


def test_continuations_are_what_the_model_predicts() -> None:
    model = NgramModel.train(TEXT, 3)
    _, following = examples(model)
    for group in following.groups:
        found = model.predict(group.ngrams[0], top=len(group.next_words), sentence_start=False)
        assert [one.word for one in group.next_words] == [word for word, _ in found]
        assert [one.probability for one in group.next_words] == pytest.approx([prob for _, prob in found])


def test_words_of_an_example_share_their_category() -> None:
    corpus = corpus_from_sentences(TEXT)
    model = CategoryNgramModel.train(corpus, {w: i % 6 for i, w in enumerate(corpus.vocabulary.words)}, 2)
    (found,) = examples(model, corpus)
    assert len(found.groups) > 2
    for group in found.groups:
        ids = [corpus.vocabulary.id(one.word) for one in group.words]
        (category,) = {int(model.categories[id]) for id in ids}
        n_words, n_events = map(int, re.findall(r"\d+", group.note.replace(",", "")))
        assert n_words == np.count_nonzero(model.categories == category)
        assert n_events == np.count_nonzero(model.categories[corpus.ids] == category)


def test_a_sentence_word_by_word() -> None:
    model = NgramModel.train(TEXT, 3)
    corpus = corpus_from_sentences([TEXT[0]], vocabulary=model.vocabulary)
    page = model_html(model, "it", sentences=block_of_sentences([TEXT[0]], TextFormat()))
    chart = page.partition('<figure id="surprisal">')[2].partition("</figure>")[0]
    shown = re.findall(r"<bdi>([^<]*)</bdi>.*?<b>([\d.]*)</b>", chart)
    bits = model.score(corpus).log_probs / -np.log(2)
    assert shown == [(w, f"{one:.1f}") for w, one in zip([*TEXT[0].split(), "&lt;/s&gt;"], bits, strict=True)]
    assert "A sentence that the model made up" in model_html(model, "it")
    assert model_html(model, "it") == model_html(model, "it")


def test_discounts_are_shown_where_they_are_known() -> None:
    for smoothing, title in (("kneser-ney", "Discounts of counts"), ("katz", "Counts are multiplied by")):
        model = NgramModel.train(TEXT, 3, smoothing=smoothing)
        page = model_html(model, "it")
        assert title in page
        for discounts in model.training_info["discounts"]:
            assert all(f"<span>{one:.3f}</span>" in page for one in discounts)
    assert "Discounts" not in model_html(NgramModel.train(TEXT, 3, smoothing="witten-bell"), "it")
