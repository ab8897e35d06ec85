"""Confidence intervals of perplexities and of their differences."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from stategram import Mixture, NgramModel, UsageError, compare, corpus_from_sentences, evaluate, use_resources
from stategram.evaluation import Resampling, Units, describe_comparison
from story import sentences


@pytest.fixture(scope="module")
def models() -> dict[str, NgramModel]:
    text = sentences(300, seed=1)
    return {f"{order}-gram": NgramModel.train(text, order) for order in (1, 2, 3)}


def _sample(random: np.random.Generator, units: int) -> tuple[np.ndarray, ...]:
    """Return events and log-probabilities by two models of sentences that are hard for both, or for none.

    The truth: 2 to 40 events, 21 on average. A sentence has a difficulty that grows with its length, so that
    the ratio matters; the second model is better by 0.05 nats per event, give or take.
    """
    events = random.integers(2, 41, units).astype(float)
    hard = -events * (5 + 0.02 * events + random.gamma(2.0, 0.7, units))
    return events, hard, hard + events * (0.05 + random.normal(0, 0.3, units))


def test_the_truth_is_in_nineteen_of_twenty_intervals() -> None:
    random = np.random.default_rng(5)
    # E[n] = 21, E[n^2] = 571; a gamma variable with shape 2 and scale 0.7 has the mean 1.4.
    truth = np.exp((6.4 * 21 + 0.02 * 571) / 21)
    difference = np.exp(-0.05) - 1
    trials, inside, decided = 400, np.zeros(2, int), 0
    for _ in range(trials):
        events, *of_models = _sample(random, 150)
        units = Units("sentence", np.arange(150))
        first, second = units.resample([(log_probs, events) for log_probs in of_models])
        assert first.interval is not None
        compared = second.difference(first)
        assert compared is not None
        inside += (
            first.interval.low <= truth <= first.interval.high,
            compared.low <= difference <= compared.high,
        )
        decided += compared.decided
    # Nominally 95%; the standard error of 400 trials is 1.1%.
    assert (inside >= 0.90 * trials).all()
    assert (inside <= 0.98 * trials).all()
    # A single perplexity varies by several times the difference; pairs tell the models apart all the same.
    assert decided > 0.3 * trials


def test_intervals_are_of_the_perplexities(models: dict[str, NgramModel]) -> None:
    test = corpus_from_sentences(sentences(200, seed=2))
    mixture = Mixture.fit(list(models.values()), sentences(80, seed=3), buckets="none")
    found = evaluate(mixture, test)
    assert found.resampling is not None
    assert (found.resampling.unit, found.resampling.units) == ("sentence", 200)
    for value, interval in (
        (found.perplexity, found.interval),
        (found.perplexity_known, found.interval_known),
        *((part.perplexity, part.interval) for part in found.parts),
    ):
        assert interval is not None
        assert interval.low < value < interval.high
        assert interval.high / interval.low < 1.5
    best = min(found.parts, key=lambda part: part.perplexity)
    assert [part.name for part in found.parts if part.difference is None] == [best.name]
    for part in found.parts:
        alone = evaluate(models[f"{found.parts.index(part) + 1}-gram"], test)
        assert part.interval is not None
        assert alone.interval is not None
        assert part.interval.low == pytest.approx(alone.interval.low, rel=1e-9)
        if part.difference is not None:
            assert part.difference.relative == pytest.approx(part.perplexity / best.perplexity - 1)
    assert found.difference is not None
    assert found.difference.relative == pytest.approx(found.perplexity / best.perplexity - 1)
    with use_resources(threads=2):
        assert evaluate(mixture, test) == found


@pytest.mark.parametrize(("documents", "few"), [(2, True), (22, True), (50, False), (100, False)])
def test_documents_are_drawn_if_there_are_several(
    documents: int, few: bool, models: dict[str, NgramModel]
) -> None:
    text = corpus_from_sentences(sentences(200, seed=2))
    starts = np.arange(documents) * 200 // documents
    # The first document has a mark or not; the last mark is that of a document after the text.
    for marks in (starts, starts[1:], [*starts, 200]):
        marked = replace(text, document_starts=np.array(marks, np.int64))
        assert Units.of(marked).starts.tolist() == starts.tolist()
    found = evaluate(models["2-gram"], marked)
    assert found.resampling is not None
    assert (found.resampling.unit, found.resampling.units) == ("document", documents)
    assert found.resampling.is_unreliable == few
    assert found.interval != evaluate(models["2-gram"], text).interval


def test_sentences_of_the_only_document_are_drawn() -> None:
    for lines in (["a", "b", "c"], ["", "a", "b", "c", ""]):
        assert Units.of(corpus_from_sentences(lines)).resampling == Resampling("sentence", 3)


def test_intervals_are_wider_if_sentences_of_a_document_are_alike(models: dict[str, NgramModel]) -> None:
    text = [line for one in sentences(22, seed=2) for line in [*[one] * 20, ""]]
    by_document = evaluate(models["2-gram"], text).interval
    by_sentence = evaluate(models["2-gram"], [line for line in text if line]).interval
    assert by_document is not None
    assert by_sentence is not None
    # The variance of the mean of 22 in place of 440: a ratio of 20 ** 0.5 = 4.5 but for the draws.
    assert 4 < np.log(by_document.high / by_document.low) / np.log(by_sentence.high / by_sentence.low) < 5


def test_long_texts_are_drawn_in_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stategram.evaluation.uncertainty._MAX_UNITS", 60)
    text = corpus_from_sentences(sentences(200, seed=2))
    units = Units.of(text)
    assert str(units.resampling) == "paired bootstrap over 60 runs of sentences"
    assert set(np.diff(units.starts, append=200).tolist()) == {3, 4}
    # Documents stay whole.
    documents = [0, 1, *range(2, 200, 2)]
    units = Units.of(replace(text, document_starts=np.array(documents)))
    assert units.resampling == Resampling("run of sentences", 60)
    assert set(np.diff(np.searchsorted(documents, units.starts), append=100).tolist()) == {1, 2}
    assert set(units.starts.tolist()) <= set(documents)


def test_few_sentences_are_unreliable_and_one_has_no_interval(models: dict[str, NgramModel]) -> None:
    found = evaluate(models["2-gram"], sentences(1, seed=2))
    assert found.resampling is not None
    assert found.resampling.is_unreliable
    assert found.interval is None
    other = compare(models, sentences(1, seed=2)).models[1]
    assert other.difference is not None
    assert not other.difference.decided


def test_an_infinite_perplexity_has_no_interval() -> None:
    whole = NgramModel.train(["a b", "b c"], 1)
    closed = replace(whole, vocabulary=whole.vocabulary)
    scores = closed.score(["a b"])
    scores.log_probs[0] = -np.inf
    units = Units.of(scores.corpus)
    events = np.array([3.0])
    infinite, finite = units.resample([(scores.sentence_log_probs, events), (np.array([-3.0]), events)])
    assert np.isinf(infinite.value)
    assert infinite.interval is None
    assert finite.difference(infinite) is None
    assert finite.value == pytest.approx(math.e)


def test_models_are_compared_with_the_first(models: dict[str, NgramModel]) -> None:
    text = sentences(300, seed=2)
    found = compare(models, text)
    assert [one.name for one in found.models] == list(models)
    assert found.left_out == 0
    first, second, _ = found.models
    assert first.difference is None
    assert second.difference is not None
    assert second.perplexity == pytest.approx(evaluate(models["2-gram"], text).perplexity)
    assert second.interval == evaluate(models["2-gram"], text).interval
    assert second.difference.relative == pytest.approx(second.perplexity / first.perplexity - 1)
    assert second.difference.decided
    assert second.difference.high < 0
    # Models that are the same differ by nothing, which decides nothing.
    (_, same) = compare([models["2-gram"], models["2-gram"]], text).models
    assert same.difference is not None
    assert (same.difference.low, same.difference.high, same.difference.decided) == (0, 0, False)


def test_known_words_have_figures_of_their_own() -> None:
    corpus = corpus_from_sentences(sentences(300, seed=1), vocabulary_size=12)
    text = [line.replace("maria", "joanna", 1) for line in sentences(200, seed=2)]
    first, second = NgramModel.train(corpus, 1), NgramModel.train(corpus, 3)
    found = compare([first, second], text)
    alone = [evaluate(model, text) for model in (first, second)]
    assert found.known == found.events - alone[0].unknown < found.events
    for one, expected in zip(found.models, alone, strict=True):
        assert one.perplexity_known == pytest.approx(expected.perplexity_known)
        assert one.interval_known == expected.interval_known
    difference = found.models[1].difference_known
    assert found.models[0].difference_known is None
    assert difference is not None
    assert difference.relative == pytest.approx(alone[1].perplexity_known / alone[0].perplexity_known - 1)
    assert difference != found.models[1].difference
    assert [table.title for table in describe_comparison(found).tables] == ["All events", "Known words only"]


def test_models_that_know_all_words_have_one_table(models: dict[str, NgramModel]) -> None:
    found = compare(models, sentences(60, seed=2))
    assert found.known == found.events
    assert found.models[1].difference_known == found.models[1].difference
    (table,) = describe_comparison(found).tables
    assert table.title == "All events"


def test_other_vocabularies_are_compared_on_what_all_know() -> None:
    first = NgramModel.train(["the cat sat", "the dog sat"], 2)
    second = NgramModel.train(["the cat sat", "a cat ran"], 2)
    found = compare([first, second], ["the cat sat", "the dog ran"])
    assert (found.events, found.known, found.left_out) == (6, 6, 2)
    shown = describe_comparison(found)
    assert [table.title for table in shown.tables] == ["Known words only"]
    assert ("Events left out", "2 out-of-vocabulary, unknown to at least one model") in shown.facts
    log_probs = first.score(["the cat sat", "the dog ran"]).log_probs
    kept = np.delete(log_probs, [5, 6])  # dog, ran
    assert found.models[0].perplexity == pytest.approx(np.exp(-kept.mean()))
    with pytest.raises(UsageError, match="no model"):
        compare([], ["the cat sat"])
