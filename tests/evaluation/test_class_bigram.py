from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.class_bigram import UNKNOWN, figures
from stategram.counts import count_bigrams
from stategram.errors import UsageError
from stategram.evaluation import average_mutual_information, class_bigram_perplexity
from stategram.text import Vocabulary, corpus_from_sentences

WORDS = [UNKNOWN, "a", "b", "c", "d", "e", "f"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=8)


@given(
    train=texts.filter(any),
    test=texts,
    classes=st.dictionaries(st.sampled_from(WORDS), st.integers(0, 5)),
    whole=st.booleans(),
)
def test_figures_are_those_of_the_formulas(
    train: list[list[str]], test: list[list[str]], classes: dict[str, int], whole: bool
) -> None:
    seen = {w for s in train for w in s}
    # `whole`: a vocabulary that also knows words without training events.
    vocabulary = Vocabulary.from_words([w for w in WORDS[1:] if whole or w in seen])
    corpus, test_corpus = (corpus_from_sentences(text, vocabulary=vocabulary) for text in (train, test))
    labels = [classes.get(w, -1) for w in vocabulary.words]
    found = class_bigram_perplexity(count_bigrams(corpus), labels, test_corpus.ids)
    # The same sums in another order: relative error within a few thousand roundings.
    assert asdict(found) == pytest.approx(figures(train, classes, test), rel=1e-11, abs=1e-11, nan_ok=True)


@given(st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=1, max_size=6))
def test_mutual_information_is_that_of_the_formula(table: list[list[int]]) -> None:
    n = np.array(table)
    total = n.sum()
    expected = sum(
        n[a, b] / total * np.log2(n[a, b] * total / (n[a].sum() * n[:, b].sum()))
        for a, b in np.argwhere(n > 0)
    )
    assert average_mutual_information(n) == pytest.approx(expected, abs=1e-12)


def test_labels_must_fit_the_bigrams() -> None:
    bigrams = count_bigrams(corpus_from_sentences(["a"]))
    with pytest.raises(UsageError, match="3 class labels were given for 4 word ids"):
        class_bigram_perplexity(bigrams, [0, 0, 0], [3, 2])
    with pytest.raises(UsageError, match="ids up to 4"):
        class_bigram_perplexity(bigrams, [0, 0, 0, 0], [4, 2])


def test_a_training_text_without_words_is_refused() -> None:
    bigrams = count_bigrams(corpus_from_sentences(["", ""], vocabulary=Vocabulary.from_words(["a"])))
    with pytest.raises(UsageError, match="no events"):
        class_bigram_perplexity(bigrams, [0, 0, 0, 0], [3, 2])
