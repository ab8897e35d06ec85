from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.class_bigram import BOUNDARY, UNKNOWN, figures
from stategram import _core
from stategram.errors import UsageError
from stategram.evaluation import average_mutual_information, class_bigram_perplexity

WORDS = [UNKNOWN, "a", "b", "c", "d", "e", "f"]
texts = st.lists(st.lists(st.sampled_from(WORDS), max_size=6), max_size=8)


def ids_of(sentences: list[list[str]], vocabulary: list[str]) -> np.ndarray:
    number = {w: i for i, w in enumerate(vocabulary)}
    return np.array([number.get(w, 0) for s in sentences for w in [*s, BOUNDARY]], dtype=np.uint32)


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
    vocabulary = [UNKNOWN, "<s>", BOUNDARY, *(w for w in WORDS[1:] if whole or w in seen)]
    bigrams = _core.count_bigrams(ids_of(train, vocabulary), 2, len(vocabulary), 1)
    labels = [classes.get(w, -1) for w in vocabulary]
    found = class_bigram_perplexity(bigrams, labels, ids_of(test, vocabulary))
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
    bigrams = _core.count_bigrams(np.array([3, 2], np.uint32), 2, 4, 1)
    with pytest.raises(UsageError, match="3 class labels were given for 4 word ids"):
        class_bigram_perplexity(bigrams, [0, 0, 0], [3, 2])
    with pytest.raises(UsageError, match="ids up to 4"):
        class_bigram_perplexity(bigrams, [0, 0, 0, 0], [4, 2])


def test_a_training_text_without_words_is_refused() -> None:
    bigrams = _core.count_bigrams(np.array([2, 2], np.uint32), 2, 4, 1)
    with pytest.raises(UsageError, match="no events"):
        class_bigram_perplexity(bigrams, [0, 0, 0, 0], [3, 2])
