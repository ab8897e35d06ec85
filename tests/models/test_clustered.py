"""The clustered model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from stategram import ClusteredModel, Corpus, Mixture, NgramModel, open_model
from stategram.clustering import ClusteringSettings, cluster_tree
from stategram.contexts import ContextDefinition, build_tree
from stategram.evaluation import evaluate, history_sums
from texts import long_text, make_corpus


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_corpus(*long_text(1000))


@pytest.fixture(scope="module")
def model(corpus: Corpus) -> ClusteredModel:
    tree = build_tree(corpus, ContextDefinition.parse("w-2,w-1"))
    settings = ClusteringSettings(states=6, categories=4, min_count=2)
    return ClusteredModel.train(cluster_tree(tree, settings), corpus)


def test_probabilities_sum_to_one(model: ClusteredModel) -> None:
    assert max(one.error for one in history_sums(model)) < 1e-9


def test_texts_and_distributions_agree(model: ClusteredModel, corpus: Corpus) -> None:
    log_probs = model.log_probs(corpus)
    assert np.isfinite(log_probs).all()
    assert evaluate(model, corpus).perplexity == pytest.approx(np.exp(-log_probs.mean()))
    begin, end = corpus.sentence_starts[:2].tolist()
    ids = corpus.ids[begin:end].tolist()
    words = [corpus.vocabulary.word(id) for id in ids]
    for i, id in enumerate(ids):
        assert np.log(model.distribution(words[:i])[id]) == pytest.approx(log_probs[begin + i])


def test_a_saved_clustered_model_is_the_same(model: ClusteredModel, corpus: Corpus, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = open_model(tmp_path / "model", ClusteredModel)
    assert np.array_equal(loaded.log_probs(corpus), model.log_probs(corpus))
    assert loaded.parameters == model.parameters


def test_it_is_a_part_of_mixtures(model: ClusteredModel, corpus: Corpus) -> None:
    mixture = Mixture.fit([NgramModel.train(corpus, 2), model], corpus, buckets="state")
    assert max(one.error for one in history_sums(mixture)) < 1e-6
