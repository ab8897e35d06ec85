"""Texts as lists of word ids: random ones, a long one, and the corpora made of them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from stategram.text import Corpus, Vocabulary

Sentences = list[list[int]]
Text = tuple[Sentences, int]


def make_corpus(sentences: Sentences, n_words: int) -> Corpus:
    ids = np.array([id for sentence in sentences for id in sentence], np.uint32)
    starts = np.concatenate(([0], np.cumsum([len(sentence) for sentence in sentences]))).astype(np.int64)
    return Corpus(ids, starts, Vocabulary.from_words(f"w{i}" for i in range(3, n_words)))


def endless_corpus() -> Corpus:
    """2^31 events, which take no memory: one more than can be counted."""
    ids = np.broadcast_to(np.uint32(3), 2**31)
    return Corpus(ids, np.array([0, 2**31], np.int64), Vocabulary.from_words(["a"]))


@st.composite
def texts(draw: st.DrawFn) -> Text:
    n_words = draw(st.integers(3, 12))
    words = st.sampled_from([id for id in range(n_words) if id not in (1, 2)])
    sentences = draw(st.lists(st.lists(words, min_size=1, max_size=12), min_size=1, max_size=25))
    return [[*sentence, 2] for sentence in sentences], n_words


def long_text(n_events: int = 4000, n_words: int = 30) -> Text:
    """A text with enough rare n-grams for all discounts: each word depends on the last but one."""
    random = np.random.default_rng(5)
    sentences, sentence = [], [3]
    for step in random.zipf(1.5, n_events):
        word = 3 + (sentence[-2 if len(sentence) > 1 else -1] + int(step)) % (n_words - 3)
        sentence.append(word)
        if step % 7 == 0:
            sentences.append([*sentence, 2])
            sentence = [3 + int(step) % 5]
    return [*sentences, [*sentence, 2]], n_words


def histories(corpus: Corpus, order: int) -> list[list[str]]:
    """Histories of the text, and random ones that it lacks."""
    random = np.random.default_rng(1)
    words = corpus.vocabulary.words
    found = []
    for i in random.integers(0, corpus.n_events, 40).tolist():
        sentence = int(np.searchsorted(corpus.sentence_starts, i, "right")) - 1
        start = int(corpus.sentence_starts[sentence])
        found.append([words[id] for id in corpus.ids[max(start, i - order) : i].tolist()])
    predicted = [word for word in words if not word.startswith(("<s", "</"))]
    for length in range(order + 2):
        found.append(random.choice(predicted, length).tolist())
    return found
