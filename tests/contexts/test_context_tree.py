"""The tree of the contexts of a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive.contexts as naive
from context_problems import classes_of, context_of, nodes_of, sentences_of, tags_of
from stategram import Corpus, UsageError, corpus_from_sentences
from stategram.contexts import ContextDefinition, ContextTree, ValueMap, build_tree, context_values
from stategram.counts import RANGE_SIZE
from stategram.resources import use_resources
from texts import Text, endless_corpus, long_text, make_corpus, texts

DEFINITIONS = [
    "w-1",
    "w-2,w-1",
    "w-3,w-1",
    "t-1,w-1",
    "t-3,t-1",
    "g-2,w-1",
    "g-2,t-2,w-2,w-9",
    "t-4,t-3,t-2,t-1",
]


def tree_of(corpus: Corpus, context: str, threads: int = 1, range_size: int = RANGE_SIZE) -> ContextTree:
    with use_resources(threads=threads):
        return build_tree(
            corpus,
            ContextDefinition.parse(context),
            tags=tags_of(corpus),
            classes=classes_of(corpus),
            range_size=range_size,
        )


def assert_like_the_twin(found: ContextTree, corpus: Corpus) -> None:
    expected = naive.count_contexts(sentences_of(corpus), context_of(found))
    assert found.depth == len(expected)
    for number, (level, nodes, rows) in enumerate(
        zip(found.levels, nodes_of(found), expected, strict=True), 1
    ):
        assert len(level) == len(nodes)
        each = np.arange(len(nodes), dtype=np.uint32), np.arange(len(nodes) + 1)
        offsets, words, counts = (array.tolist() for array in found.sum_events(number, *each))
        after = {
            node: dict(zip(words[begin:end], counts[begin:end], strict=True))
            for node, begin, end in zip(nodes, offsets, offsets[1:], strict=False)
        }
        # Level 1 has a node for every value, seen or not.
        assert {node: row for node, row in after.items() if row} == rows
        assert level.counts.tolist() == [sum(after[node].values()) for node in nodes]
        above = found.on_leaves(np.arange(len(nodes), dtype=np.uint32), number).tolist()
        assert [nodes[at] for at in above] == [leaf[:number] for leaf in nodes_of(found)[-1]]
    assert found.n_events == corpus.n_events
    assert found.word_counts.tolist() == np.bincount(corpus.ids, minlength=len(corpus.vocabulary)).tolist()


@given(texts(), st.sampled_from(DEFINITIONS))
def test_it_is_that_of_the_twin(text: Text, context: str) -> None:
    corpus = make_corpus(*text)
    assert_like_the_twin(tree_of(corpus, context), corpus)


def bytes_of(found: ContextTree) -> list[tuple[str, bytes]]:
    arrays: list[NDArray[Any]] = [*found.maps, *found.events, found.word_counts]
    for level in found.levels:
        arrays += [level.values, level.counts, level.first_child]
    return [(str(array.dtype), array.tobytes()) for array in arrays]


@pytest.mark.parametrize("context", DEFINITIONS)
def test_it_may_be_counted_by_ranges_and_with_threads(context: str) -> None:
    corpus = make_corpus(*long_text(2000))
    whole = tree_of(corpus, context)
    for range_size, threads in ((1, 2), (700, 3), (1500, 1)):
        parts = tree_of(corpus, context, threads, range_size)
        assert bytes_of(parts) == bytes_of(whole)
    assert_like_the_twin(parts, corpus)


def test_values_of_words_are_given_by_kind() -> None:
    corpus = make_corpus(*long_text(500))
    definition = ContextDefinition.parse("g-3,t-2,w-1")
    tags, classes = tags_of(corpus), classes_of(corpus)
    values = {"t": ValueMap(tags.labels, tags.tags), "g": ValueMap(10 * classes)}
    found = build_tree(corpus, definition, values)
    assert bytes_of(found) == bytes_of(build_tree(corpus, definition, tags=tags, classes=classes))
    assert found.value_names == {"t": tags.tags, "g": ()}
    assert found.tag_names == tags.tags
    assert context_values() == {}


@given(texts(), texts(), st.sampled_from(DEFINITIONS), st.sampled_from([1, 2, 3]))
def test_contexts_are_found_at_their_deepest_known_ancestor(
    text: Text, other: Text, context: str, threads: int
) -> None:
    n_words = max(text[1], other[1])
    corpus, asked = make_corpus(text[0], n_words), make_corpus(other[0], n_words)
    found = tree_of(corpus, context)
    nodes = nodes_of(found)
    twin = context_of(found)
    known = [set(level) for level in nodes]
    with use_resources(threads=threads):
        at, levels = found.find(asked)
    expected = [
        naive.find_context([dict.fromkeys(level) for level in known], twin.values(sentence, place))
        for sentence in sentences_of(asked)
        for place in range(len(sentence))
    ]
    assert [
        nodes[level - 1][node] if level else ()
        for node, level in zip(at.tolist(), levels.tolist(), strict=True)
    ] == expected


def test_every_context_of_the_text_is_known_to_the_last_level() -> None:
    corpus = make_corpus(*long_text(1000))
    found = tree_of(corpus, "w-2,w-1")
    at, levels = found.find(corpus)
    assert (levels == 2).all()
    assert np.bincount(at, minlength=len(found.levels[1])).tolist() == found.levels[1].counts.tolist()


def test_an_unseen_pair_falls_back_to_the_nearest_word() -> None:
    corpus = corpus_from_sentences(["a b c", "b b c"])
    found = build_tree(corpus, ContextDefinition.parse("w-2,w-1"))
    asked = corpus_from_sentences(["c b a"], vocabulary=corpus.vocabulary)
    at, levels = found.find(asked)
    # after <s> <s>; after <s> c, of which only c is known; after c b; after b a
    assert levels.tolist() == [2, 1, 1, 1]
    known = [corpus.vocabulary.word(id) for id in found.levels[0].values[at[1:]].tolist()]
    assert known == ["c", "b", "a"]


@pytest.mark.parametrize("context", DEFINITIONS)
def test_a_text_of_one_word(context: str) -> None:
    corpus = corpus_from_sentences(["a"])
    found = tree_of(corpus, context)
    assert_like_the_twin(found, corpus)
    assert found.n_events == 2


def test_what_is_refused() -> None:
    corpus = corpus_from_sentences(["a b"])
    with pytest.raises(UsageError, match="has no events"):
        build_tree(corpus_from_sentences([]), ContextDefinition.parse("w-1"))
    with pytest.raises(UsageError, match="has tags; say where"):
        build_tree(corpus, ContextDefinition.parse("t-1"))
    with pytest.raises(UsageError, match="has categories; give classes"):
        build_tree(corpus, ContextDefinition.parse("g-1"))
    with pytest.raises(UsageError, match="not those of the words"):
        build_tree(corpus, ContextDefinition.parse("g-1"), classes=np.zeros(3, np.uint32))
    with pytest.raises(UsageError, match="not those of the words"):
        build_tree(
            corpus, ContextDefinition.parse("t-1"), tags=tags_of(corpus_from_sentences(["a few more words"]))
        )
    with pytest.raises(UsageError, match="has 2,147,483,648 events, more than 2,147,483,647"):
        build_tree(endless_corpus(), ContextDefinition.parse("w-1"))
