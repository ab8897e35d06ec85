"""Which clusters are shown, and how contexts are written."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from stategram import (
    BadDataError,
    ClusteredModel,
    Corpus,
    cluster,
    corpus_from_sentences,
    open_model,
)
from stategram.contexts.tags import tag_words
from stategram.explore.content import ClassSet, ClusterGallery, gallery, representative_members
from stategram.explore.content.examples import effective_number, information
from stategram.formats import write_states
from story import sentences

NOUNS = set("cat dog house tree river king queen ship bird stone road horse child garden".split())
ADJECTIVES = {"old", "new", "red", "small", "great", "dark"}
VERBS = {"sees", "likes", "finds", "leaves", "knows", "wants", "follows"}


def gallery_of(model: ClusteredModel, **options: int) -> ClusterGallery:
    found = gallery(model, "key", **options)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return corpus_from_sentences(sentences(1500, seed=4))


def test_clusters_have_what_belongs_together(corpus: Corpus) -> None:
    # More states share the contexts before nouns, and are too rare to be shown.
    model = ClusteredModel.train(cluster(corpus, "w-2,w-1", states=8, categories=12))
    found = gallery_of(model)
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
        assert state.events == tables.row(state.number).sum()
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
    shown = {one.context: one.count for state in gallery_of(model).states for one in state.examples}
    assert shown
    assert shown == {context: seen[context] for context in shown}


def test_gaps_classes_and_tags(corpus: Corpus) -> None:
    words = corpus.vocabulary.words
    kinds = ["DT" if word in ("the", "a", "this") else "NN" if word in NOUNS else "X" for word in words[3:]]
    tags = tag_words(corpus.vocabulary, [(kind, "lexicon") for kind in kinds])
    model = ClusteredModel.train(cluster(corpus, "t-3,w-1", states=8, categories=8, tags=tags))
    named = [one.context for state in gallery_of(model).states for one in state.examples]
    assert any(context.startswith("DT … ") for context in named)
    model = replace(model, training_info={})
    unnamed = [one.context for state in gallery_of(model).states for one in state.examples]
    assert any(context.startswith(("{the|a|…} … ", "{a|the|…} … ")) for context in unnamed)
    assert any(context.startswith("<s> … ") for context in unnamed)
    classes = np.array([word in VERBS for word in words], np.int64)
    model = ClusteredModel.train(cluster(corpus, "g-2,g-1", states=2, categories=8, classes=classes))
    grouped = {one.context for state in gallery_of(model).states for one in state.examples}
    verbs = sorted(VERBS, key=lambda word: -int(corpus.vocabulary.counts[corpus.vocabulary.id(word)]))
    assert any(f"{{{verbs[0]}|{verbs[1]}|…}}" in context for context in grouped)


def test_a_model_file_keeps_the_names_of_tags(corpus: Corpus, tmp_path: Path) -> None:
    tags = tag_words(corpus.vocabulary, [("X", "lexicon")] * (len(corpus.vocabulary) - 3))
    model = ClusteredModel.train(cluster(corpus, "t-2,w-1", states=8, categories=8, tags=tags))
    model.save(tmp_path / "model")
    kept = open_model(tmp_path / "model", ClusteredModel)
    assert tuple(kept.tag_names) == tags.tags == ("<unk>", "<s>", "</s>", "X")
    assert gallery_of(kept) == gallery_of(model)
    write_states(kept, str(tmp_path / "states"))
    head, *rows = (tmp_path / "states").read_text().splitlines()
    assert head == "state\tevents\tt-2\tw-1"
    assert {row.split("\t")[2] for row in rows} <= set(tags.tags)
    with pytest.raises(BadDataError, match="invalid clustered model"):
        replace(model, training_info={"tags": ["<unk>", "<s>", "</s>"]}).check()
    assert ClusteredModel.train(cluster(corpus, "w-1", states=4, categories=4, tags=tags)).tag_names == ()


@pytest.mark.parametrize(("often", "shown"), [(6, "{we|you|…}"), (4, "{we|…}"), (0, "{we|…}")])
def test_a_rare_word_does_not_stand_for_its_class(often: int, shown: str) -> None:
    text = ["we see it"] * 50 + ["you see it"] * often + ["thou see it", "it sees we"]
    corpus = corpus_from_sentences(text)
    people = np.array([word in ("we", "you", "thou") for word in corpus.vocabulary.words], np.int64)
    classes = np.where(people, len(people), np.arange(len(people)))
    model = ClusteredModel.train(cluster(corpus, "g-1", states=2, categories=20, classes=classes))
    nodes = [one.context for state in gallery_of(model).states for one in state.examples]
    assert shown in nodes


def test_not_more_clusters_than_asked_for(corpus: Corpus) -> None:
    model = ClusteredModel.train(cluster(corpus, "w-1", states=10, categories=10))
    found = gallery_of(model, clusters=2)
    assert len(found.categories) == len(found.states) == 2


def test_a_text_too_small_for_states() -> None:
    model = ClusteredModel.train(
        cluster(corpus_from_sentences(["a b c", "b c d"]), "w-2,w-1", states=2, categories=2)
    )
    assert gallery_of(model).states == ()


def test_information_is_that_of_the_formula() -> None:
    counts = np.array([[3, 1], [0, 4]])
    rows, columns = np.nonzero(counts)
    expected = [3 * np.log2(3 * 8 / (4 * 3)), np.log2(8 / (4 * 5)), 4 * np.log2(4 * 8 / (4 * 5))]
    np.testing.assert_allclose(information(rows, columns, counts[rows, columns]), expected)
    share = np.array([0.2, 0.8])
    np.testing.assert_allclose(
        effective_number(np.array([1, 1, 0, 2]), np.array([1, 4, 0, 7]), 3),
        [1, 2 ** -(share * np.log2(share)).sum(), 1],
    )


def test_representative_members_determine_what_follows_and_are_several() -> None:
    # After a1 and a2 is x always; u, v and w come in any order.
    noise = ["u v w", "v u u", "w w v", "u w v", "v v u", "w u w"]
    corpus = corpus_from_sentences([*noise, "a1 x b1", "a2 x b2", "a1 x b2", "a2 x b1"])
    vocabulary = corpus.vocabulary
    labels = np.array(["xabuvw".find(word[0]) for word in vocabulary.words])
    labels[:3], labels[labels > 3] = 4, 3  # boundaries; u, v and w
    followers = np.zeros((5, 5))
    before = np.append(1, corpus.ids[:-1])  # </s> is of the class of <s>
    np.add.at(followers, (labels[before], labels[corpus.ids]), 1 / corpus.n_events)
    found = ClassSet("", vocabulary, labels, vocabulary.counts / corpus.n_events, followers)
    first, *others = representative_members(found, 9)
    assert {vocabulary.word(int(id)) for id in found.members[first]} == {"a1", "a2"}
    assert labels[vocabulary.id("x")] not in others  # a single word
    assert len(representative_members(found, 1)) == 1
