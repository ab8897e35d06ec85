"""Which clusters are shown, and how contexts are written."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from stategram import ClusteredModel, Corpus, cluster, corpus_from_sentences
from stategram.contexts.tags import tag_words
from stategram.experiments.gallery import gallery
from stategram.experiments.telling import effective_number, information
from story import sentences

NOUNS = set("cat dog house tree river king queen ship bird stone road horse child garden".split())
ADJECTIVES = {"old", "new", "red", "small", "great", "dark"}
VERBS = {"sees", "likes", "finds", "leaves", "knows", "wants", "follows"}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_from_sentences(sentences(1500, seed=4))


def test_clusters_have_what_belongs_together(corpus: Corpus) -> None:
    model = ClusteredModel.train(cluster(corpus, "w-2,w-1", states=12, categories=12))
    found = gallery(model, "key")
    assert found.key == "key"
    shown = [{one.word for one in category.examples} for category in found.categories]
    assert any(len(words) >= 5 and words <= NOUNS for words in shown)
    assert any(len(words) >= 3 and words <= VERBS for words in shown)
    for category in found.categories:
        probabilities = [one.probability for one in category.examples]
        assert probabilities == sorted(probabilities, reverse=True)
        assert 0 < sum(probabilities) <= 1 + 1e-9
        assert len(category.examples) <= category.words
    tables = model.counts[-1]
    for state in found.states:
        assert state.events == tables[state.number].sum()
        assert state.contexts == np.count_nonzero(model.tree.levels[-1].states == state.number)
        counts = [one.count for one in state.examples]
        assert counts == sorted(counts, reverse=True)
    before_nouns = [state for state in found.states if {one.word for one in state.next_words} <= NOUNS]
    assert before_nouns
    last = {one.context.split()[-1] for state in before_nouns for one in state.examples}
    assert last <= ADJECTIVES


def test_contexts_are_in_reading_order_and_counted(corpus: Corpus) -> None:
    model = ClusteredModel.train(cluster(corpus, "w-2,w-1", states=12, categories=12))
    seen = Counter(
        f"{before} {last}"
        for line in sentences(1500, seed=4)
        for before, last in pairwise(["<s>", "<s>", *line.split()])
    )
    shown = {one.context: one.count for state in gallery(model, "").states for one in state.examples}
    assert shown
    assert shown == {context: seen[context] for context in shown}


def test_gaps_classes_and_tags(corpus: Corpus) -> None:
    words = corpus.vocabulary.words
    kinds = ["DT" if word in ("the", "a", "this") else "NN" if word in NOUNS else "X" for word in words[3:]]
    tags = tag_words(corpus.vocabulary, [(kind, "lexicon") for kind in kinds])
    model = ClusteredModel.train(cluster(corpus, "t-3,w-1", states=8, categories=8, tags=tags))
    named = [one.context for s in gallery(model, "", tag_names=tags.tags).states for one in s.examples]
    assert any(context.startswith("DT … ") for context in named)
    unnamed = [one.context for state in gallery(model, "").states for one in state.examples]
    assert any(context.startswith(("{the|a|…} … ", "{a|the|…} … ")) for context in unnamed)
    assert any(context.startswith("<s> … ") for context in unnamed)
    classes = np.array([word in VERBS for word in words], np.int64)
    model = ClusteredModel.train(cluster(corpus, "g-2,g-1", states=2, categories=8, classes=classes))
    grouped = {one.context for state in gallery(model, "").states for one in state.examples}
    verbs = sorted(VERBS, key=lambda word: -int(corpus.vocabulary.counts[corpus.vocabulary.id(word)]))
    assert any(f"{{{verbs[0]}|{verbs[1]}|…}}" in context for context in grouped)


def test_not_more_clusters_than_asked_for(corpus: Corpus) -> None:
    model = ClusteredModel.train(cluster(corpus, "w-1", states=10, categories=10))
    found = gallery(model, "", clusters=2)
    assert len(found.categories) == len(found.states) == 2


def test_a_text_too_small_for_states() -> None:
    model = ClusteredModel.train(
        cluster(corpus_from_sentences(["a b c", "b c d"]), "w-2,w-1", states=2, categories=2)
    )
    assert gallery(model, "").states == ()


def test_information_is_that_of_the_formula() -> None:
    counts = np.array([[3, 1], [0, 4]])
    expected = [[3 * np.log2(3 * 8 / (4 * 3)), np.log2(8 / (4 * 5))], [0, 4 * np.log2(4 * 8 / (4 * 5))]]
    np.testing.assert_allclose(information(counts), expected)
    share = np.array([0.2, 0.8])
    np.testing.assert_allclose(
        effective_number(np.array([1, 1, 0, 2]), np.array([1, 4, 0, 7]), 3),
        [1, 2 ** -(share * np.log2(share)).sum(), 1],
    )
