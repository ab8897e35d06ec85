"""What a clustering is given: tags, classes, numbers of clusters, and what it refuses."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from clustering_problems import bytes_of, text
from planted import planted_text
from stategram import UsageError, corpus_from_sentences
from stategram.clustering import WordClasses, by_size, cluster
from stategram.clustering.number_of_clusters import _divide, smallest_nearly_best, try_numbers
from stategram.contexts import parse_tags


def test_tags_and_classes_as_they_come() -> None:
    sentences = planted_text()
    corpus = corpus_from_sentences(sentences)
    classes = WordClasses(n_classes=6).fit(corpus)
    of_words = dict(zip(classes.words_, classes.labels_.tolist(), strict=True))
    found = cluster(corpus, "g-1", classes=classes)
    assert bytes_of(found) == bytes_of(cluster(corpus, "g-1", classes=of_words))
    tags = parse_tags("brill", corpus.vocabulary)
    assert bytes_of(cluster(corpus, "t-1", tags="brill")) == bytes_of(cluster(corpus, "t-1", tags=tags))


def test_numbers_by_the_size_of_the_text() -> None:
    corpus = text()
    found = cluster(corpus, "w-1", max_sweeps=1)
    assert found.n_states == by_size("size", corpus.n_events)
    half = cluster(corpus, "w-1", states="0.5 size", categories=7, max_sweeps=1)
    assert (half.n_states, half.n_categories) == (by_size("0.5 size", corpus.n_events), 7)
    assert repr(half) == f"Clustering(w-1, {half.n_states} states, 7 categories)"
    assert cluster(["a b c d"], "w-1").n_categories == 2


def test_numbers_of_clusters_are_chosen() -> None:
    sentences = planted_text()
    found = cluster(sentences, "w-1", states="auto", categories="auto", max_sweeps=2)
    # Six classes and the sentence boundary: of 5, 10, 25, ... the next that is large enough.
    assert (found.n_states, found.n_categories) == (10, 10)
    one = cluster(sentences, "w-1", states="auto", categories=9, max_sweeps=2)
    assert (one.n_states, one.n_categories) == (10, 9)
    other = cluster(sentences, "w-1", states=9, categories="auto", max_sweeps=2)
    assert (other.n_states, other.n_categories) == (9, 10)
    with pytest.raises(UsageError, match="too short to choose"):
        cluster(["a b c"], "w-1", states="auto", categories=2)


@pytest.mark.parametrize(
    ("start", "perplexities", "tried", "chosen"),
    [
        (100, {100: 100.0, 200: 99.0, 350: 98.0, 500: 98.5}, [100, 200, 350, 500], 350),
        (100, {100: 100.0, 200: 99.7, 350: 99.6, 500: 99.8}, [100, 200, 350, 500], 100),
        (100, {100: 100.0, 200: 101.0, 50: 100.3, 25: 100.4, 10: 102.0}, [100, 200, 50, 25, 10], 25),
        (100, {100: 100.0, 200: 101.0, 50: 101.0}, [100, 200, 50], 100),
        (1, {5: 100.0, 10: 101.0}, [5, 10], 5),
        (3000, {3000: 100.0, 4000: 90.0}, [3000, 4000], 4000),
    ],
)
def test_of_nearly_equal_numbers_the_smallest_is_taken(
    start: float, perplexities: dict[int, float], tried: list[int], chosen: int
) -> None:
    found = try_numbers(start, perplexities.__getitem__)
    assert list(found) == tried
    assert smallest_nearly_best(found) == chosen


def test_classes_of_a_file_are_values_of_contexts() -> None:
    corpus = corpus_from_sentences(["a b c", "b a c", "c a b"] * 3)
    found = cluster(corpus, "g-1", states=3, categories=3, classes={"a": "x", "b": "x"})
    numbers = found.tree.maps[0].tolist()
    of = Counter(numbers)
    assert numbers[corpus.vocabulary.id("a")] == numbers[corpus.vocabulary.id("b")]
    # Words that the file lacks share one; the boundaries are alone.
    assert numbers[corpus.vocabulary.id("c")] == numbers[0]
    assert of[numbers[1]] == of[numbers[2]] == 1
    shifted = np.array(numbers) * 1000 - 500
    again = cluster(corpus, "g-1", states=3, categories=3, classes=shifted)
    assert bytes_of(again)[-1] == bytes_of(found)[-1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"states": 0}, "states is 0; it must be at least 1"),
        ({"categories": "many"}, "categories is 'many'"),
        ({"effort": "slow"}, "no effort 'slow': there are paper, fast"),
        ({"criterion": "map"}, "criterion is 'map'; possible: ml, leave-one-out"),
        ({"min_count": 0}, "min_count is 0"),
        ({"tolerance": 1.0}, "tolerance is 1.0"),
        ({"max_sweeps": 0}, "max_sweeps is 0"),
        ({"anneal": -1}, "anneal is -1"),
        ({"candidates": -1}, "candidates is -1"),
        ({"seed": -1}, "seed is -1; expected `int` >= 0"),
        ({"min_count": 2.5}, "min_count is 2.5; expected `int`"),
        ({"minimum": 2}, "there is no option 'minimum' of a clustering; there are states, categories, tree"),
        ({"classes": np.zeros(3)}, "not a number for each .* give WordClasses, or a dict"),
        ({"tags": ["NN"]}, "tags are a list; give a TagMap, 'brill' or the name of a file"),
        ({"states": "many"}, "at least 1, 'size' or 'auto'"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        cluster(["a b", "b c"], "w-1", **options)


def test_sentences_set_aside_keep_their_documents() -> None:
    # Documents start at the sentences 0, 5, 9, 10 and 25; every tenth is set aside: 9, 19 and 29.
    sentences = [f"w{i}" for i in range(30)]
    for start in (25, 10, 9, 5, 0):
        sentences.insert(start, "")
    kept, aside = _divide(corpus_from_sentences(sentences))
    assert (kept.n_sentences, kept.document_starts.tolist()) == (27, [0, 5, 9, 23])
    assert (aside.n_sentences, aside.document_starts.tolist()) == (3, [0, 1, 2])
