"""Results that a change of structure must not change: what each kind of model gives a fixed text.

A change that is meant to change results replaces the figures, and says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from stategram import (
    Budget,
    CacheModel,
    CategoryNgramModel,
    ClusteredModel,
    Corpus,
    Model,
    NgramModel,
    WordClasses,
    approximate,
    cluster,
    compact_model,
    corpus_from_sentences,
    prune_model,
    read_recipe,
    train_recipe,
)
from story import RECIPE, WORD_TREE, sentences


@cache
def texts() -> tuple[Corpus, Corpus, Corpus]:
    train = corpus_from_sentences(sentences(900, seed=11))
    others = (corpus_from_sentences(sentences(n, seed=n), vocabulary=train.vocabulary) for n in (200, 150))
    return (train, *others)  # type: ignore[return-value]


def _clustered(context: str, **options: object) -> Model:
    train, heldout, _ = texts()
    classes = WordClasses(8).fit(train)
    found = cluster(train, context, states=12, categories=10, classes=classes, **options)  # type: ignore[arg-type]
    return ClusteredModel.train(found, heldout)


@cache
def _of_file(text: str) -> Model:
    with TemporaryDirectory() as folder:
        file = Path(folder, "recipe.toml")
        file.write_text(text)
        return train_recipe(*texts()[:2], read_recipe(file))


def _ngram(order: int, smoothing: str = "kneser-ney", prune: float = 0.0) -> NgramModel:
    return NgramModel.train(texts()[0], order, smoothing=smoothing, prune=prune)


MODELS: dict[str, Callable[[], Model]] = {
    "kneser-ney 4": lambda: _ngram(4),
    "kneser-ney 3, pruned": lambda: _ngram(3, prune=1e-5),
    "kneser-ney 4, pruned later": lambda: prune_model(_ngram(4), Budget(prune=1e-5)),
    "kneser-ney 4, compact": lambda: compact_model(_ngram(4)),
    "katz 3": lambda: _ngram(3, "katz"),
    "absolute 3": lambda: _ngram(3, "absolute"),
    "witten-bell 3": lambda: _ngram(3, "witten-bell"),
    "category 4": lambda: CategoryNgramModel.train(texts()[0], WordClasses(8).fit(texts()[0]), 4),
    "cache": lambda: CacheModel.train(texts()[0]),
    "clustered, paper": lambda: _clustered("w-2,w-1", effort="paper"),
    "clustered, normal": lambda: _clustered("g-3,g-2,w-1"),
    "clustered, best": lambda: _clustered("w-2,w-1", effort="best"),
    "clustered, leaving-one-out": lambda: _clustered("w-2,w-1", criterion="leave-one-out"),
    "recipe of a file": lambda: _of_file(RECIPE),
    "word tree, sentence": lambda: _of_file(WORD_TREE).with_history("sentence"),
    "word tree, document": lambda: _of_file(WORD_TREE).with_history("document"),
    "word tree, adaptive": lambda: _of_file(WORD_TREE).with_history("adaptive"),
    "approximated": lambda: approximate(_of_file(RECIPE), Budget(max_ngrams=2000), order=3),
}

# The sum of the log-probabilities of the test text, and a sum that depends on their order.
FIGURES = {
    "kneser-ney 4": (-2721.6352071, -29.0886343073),
    "kneser-ney 3, pruned": (-2703.29333009, -29.0149059202),
    "kneser-ney 4, pruned later": (-2716.78355016, -25.3663448447),
    "kneser-ney 4, compact": (-2722.24335283, -28.9000652085),
    "katz 3": (-2617.69684015, -24.0888194279),
    "absolute 3": (-2773.27850241, -33.1031278487),
    "witten-bell 3": (-2708.38264138, -28.8769920271),
    "category 4": (-2496.80253187, -17.8553748567),
    "cache": (-3971.302169, -28.5236268663),
    "clustered, paper": (-2555.51032186, -11.2745294774),
    "clustered, normal": (-2564.56506981, -19.5000133791),
    "clustered, best": (-2575.04597679, -21.1091451299),
    "clustered, leaving-one-out": (-2567.14096353, -23.4888380937),
    "recipe of a file": (-2465.55151095, -17.713446409),
    "word tree, sentence": (-2512.98369682, -13.3460490713),
    "word tree, document": (-2511.28762143, -12.5121306913),
    "word tree, adaptive": (-2514.31322889, -12.4629341497),
    "approximated": (-2577.59938596, -14.4983111571),
}


@pytest.mark.parametrize("name", MODELS)
def test_results_are_those_of_before(name: str) -> None:
    log_probs = MODELS[name]().score(texts()[2]).log_probs
    found = (log_probs.sum(), (log_probs * np.sin(np.arange(len(log_probs)))).sum())
    assert found == pytest.approx(FIGURES[name], rel=1e-7)
