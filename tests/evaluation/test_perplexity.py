"""Perplexities are those of the definition, and texts that have none are refused."""

from __future__ import annotations

import io
import math
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_kinds import Uniform, model_of
from stategram import (
    BadDataError,
    Corpus,
    Mixture,
    NgramModel,
    Recipe,
    UsageError,
    corpus_from_sentences,
    evaluate,
    open_model,
    train_recipe,
)
from stategram.evaluation import history_sums
from stategram.explore.app import ExploredModel, Explorer
from stategram.explore.content import gallery
from stategram.formats import read_arpa
from stategram.models import Gate, Scores
from story import sentences, word_tree_part

TRAIN = ["the cat sat", "the dog sat", "a cat ran", "the dog ran on the mat"]
TEST = ["the cat ran", "a zebra sat on the dog", "zebra zebra the"]


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return NgramModel.train(TRAIN, order=3)


def test_figures_are_those_of_the_definition(model: NgramModel) -> None:
    scores = [
        (event.log_prob / math.log(10.0), event.order, event.unknown)
        for sentence in model.score(TEST).sentences()
        for event in sentence
    ]
    figures = evaluate(model, corpus_from_sentences(TEST))
    assert (figures.events, figures.sentences, figures.unknown) == (15, 3, 3)
    assert figures.zero_probability == 0

    def perplexity(log10_probs: list[float]) -> float:
        return math.pow(10.0, -sum(log10_probs) / len(log10_probs))

    assert figures.perplexity == pytest.approx(perplexity([p for p, _, _ in scores]), rel=1e-12)
    known = [p for p, _, unknown in scores if not unknown]
    assert figures.perplexity_known == pytest.approx(perplexity(known), rel=1e-12)
    assert 2.0**figures.bits == pytest.approx(figures.perplexity, rel=1e-12)
    assert [one.order for one in figures.orders] == [1, 2, 3]
    for one in figures.orders:
        of_order = [p for p, order, _ in scores if order == one.order]
        assert (one.events, one.share) == (len(of_order), len(of_order) / 15)
        assert one.perplexity == pytest.approx(perplexity(of_order), rel=1e-12)


def test_parts_of_a_mixture_score_a_text_once_and_by_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    vocabulary = corpus_from_sentences(TRAIN).vocabulary
    models = [NgramModel.train(TRAIN, order=order) for order in (1, 3)]
    test = corpus_from_sentences(TEST * 50, vocabulary=vocabulary)
    mixture = Mixture.fit(models, ["the cat ran", "a dog sat on the mat"] * 40, buckets="length")
    assert mixture.gate.buckets[1].number > 1
    scored: list[tuple[int, int]] = []
    score = NgramModel.score

    def counted(self: NgramModel, corpus: Corpus, **options: Any) -> Scores:
        scored.append((self.order, corpus.n_events))
        return score(self, corpus, **options)

    expected = mixture.score(test).log_probs
    alone = [evaluate(model, test).perplexity for model in models]
    with monkeypatch.context() as patched:
        patched.setattr(NgramModel, "score", counted)
        patched.setattr("stategram.text.corpus.EVENTS_PER_PIECE", 40)
        figures = evaluate(mixture, test)
    for order in (1, 3):
        pieces = [events for of, events in scored if of == order]
        assert sum(pieces) == test.n_events
        assert max(pieces) <= 40
    assert figures.bits == pytest.approx(-expected.mean() / math.log(2), rel=1e-12)
    assert [part.perplexity for part in figures.parts] == pytest.approx(alone)
    assert [part.weight for part in figures.parts] == pytest.approx(
        [part.weight for part in mixture.score(test).parts]
    )


def test_a_mixture_has_parts() -> None:
    text = ["the cat sat", "the dog sat", "a cat ran"]
    models = [NgramModel.train(text, order) for order in (1, 2)]
    heldout = corpus_from_sentences(["the dog ran", "a zebra sat"])
    mixture = Mixture(tuple(models), Gate.constant([0.25, 0.75]))
    figures = evaluate(mixture, heldout)
    assert [part.weight for part in figures.parts] == [0.25, 0.75]
    assert [part.name for part in figures.parts] == mixture.part_titles
    alone = [evaluate(model, heldout).perplexity for model in models]
    assert [part.perplexity for part in figures.parts] == pytest.approx(alone)
    assert (figures.unknown, figures.orders) == (1, ())


def test_what_a_new_kind_of_model_is_shown_as(tmp_path: Path) -> None:
    model = model_of("uniform")
    assert gallery(model, "it") is None
    explorer = Explorer([ExploredModel("it", model)])
    (info,) = explorer.answer("info", {})["models"]
    assert (info["classes"], info["states"]) == ([], [])
    for name, request in (
        ("score", {"text": "a b"}),
        ("explain", {"word": "a"}),
        ("ladder", {"history": "a"}),
    ):
        assert explorer.answer(name, request)

    class Derived(Uniform):
        """No kind of its own."""

    model.save(tmp_path / "model")
    assert type(open_model(tmp_path / "model")) is Uniform


def test_all_histories_of_a_model_are_measured() -> None:
    texts = [corpus_from_sentences(sentences(n, seed=n)) for n in (200, 40, 30)]
    corpus, heldout, test = (text.in_vocabulary(texts[0].vocabulary) for text in texts)
    model = train_recipe(corpus, heldout, Recipe(part=[word_tree_part()]))
    figures = evaluate(model, test, all_histories=True)
    assert [one.history for one in figures.histories] == ["sentence", "document", "adaptive"]
    for one in figures.histories:
        alone = evaluate(model.with_history(one.history), test)
        assert (one.perplexity, one.perplexity_known) == (alone.perplexity, alone.perplexity_known)
        assert alone.histories == ()
    assert len({one.perplexity for one in figures.histories}) == 3
    assert replace(figures, histories=()) == evaluate(model, test)
    # All other figures are those of the sentence, whatever the model was set to.
    assert evaluate(model.with_history("adaptive"), test, all_histories=True) == figures


def test_a_model_that_knows_the_sentence_alone(model: NgramModel) -> None:
    assert model.histories == ("sentence",)
    assert model.with_history("adaptive") is model
    assert evaluate(model, TEST, all_histories=True) == evaluate(model, TEST)
    with pytest.raises(UsageError, match="no history 'page': there are sentence, document, adaptive"):
        model.with_history("page")


def test_zero_probability_is_infinite_perplexity() -> None:
    arpa = (
        b"\\data\\\nngram 1=5\n\n\\1-grams:\n"
        b"-99\t<s>\n-0.30103\t</s>\n-99\t<unk>\n-0.30103\tcat\n-99\tdog\n\n\\end\\\n"
    )
    figures = evaluate(read_arpa(io.BytesIO(arpa)), corpus_from_sentences(["cat dog cow"]))
    assert figures.perplexity == figures.perplexity_known == figures.bits == math.inf
    assert (figures.zero_probability, figures.unknown_words) == (1, "exclude")
    assert evaluate(
        read_arpa(io.BytesIO(arpa)), corpus_from_sentences(["cat cow"])
    ).perplexity_known == pytest.approx(2.0, rel=1e-6)


def test_texts_that_have_no_perplexity(model: NgramModel) -> None:
    with pytest.raises(BadDataError, match="has no words"):
        evaluate(model, corpus_from_sentences([]))
    with pytest.raises(BadDataError, match=r"no word of the model's vocabulary .* lowercase the text"):
        evaluate(model, corpus_from_sentences(["THE CAT", "SAT"]))


def test_sums_of_a_sound_model_are_one_and_of_another_are_not(model: NgramModel) -> None:
    sums = history_sums(model, 50)
    assert len({one.history for one in sums}) > 15
    assert max(one.error for one in sums) < 1e-6
    trie = model.trie.plain()
    trie.backoffs[1 + trie.numbers[model.vocabulary.id("the")]] = 0.5
    broken = NgramModel.from_plain(model.vocabulary, trie)
    worst = max(history_sums(broken, 50), key=lambda one: one.error)
    assert worst.error > 0.1
    assert worst.history[-1] == "the"


def test_the_text_is_let_go_before_the_estimates() -> None:
    alive = []
    waiting = [corpus_from_sentences(TRAIN)]
    watch = weakref.ref(waiting[0])

    def progress(fraction: float, _message: str) -> None:
        alive.append((fraction, watch() is not None))

    NgramModel.train(waiting.pop(), 3, progress=progress)
    assert not alive[-1][1]


def test_a_model_keeps_its_recipe(tmp_path: Path) -> None:
    path = tmp_path / "model"
    model = NgramModel.train(TRAIN, order=2)
    replace(model, metadata={"order": 2}).save(path, manifest={"inputs": [], "model": "overruled"})
    assert open_model(path).metadata == {"order": 2}
    assert open_model(path, verify=False).parameters == open_model(path).parameters


def test_sums_of_a_model_without_n_grams_of_some_length() -> None:
    model = NgramModel.train(TRAIN, order=4, prune=10.0)
    assert 0 in model.trie.sizes
    sums = history_sums(model)
    assert len(sums) == 100
    assert max(one.error for one in sums) < 1e-6


def test_sentences_are_a_text_too(model: NgramModel) -> None:
    assert evaluate(model, TEST) == evaluate(model, corpus_from_sentences(TEST))
    assert evaluate(model, [sentence.split() for sentence in TEST]) == evaluate(model, TEST)
    for wrong in ("the cat", 5, [5], [["the", 5]]):
        with pytest.raises(TypeError, match=r"expected a string|expected a list of sentences, got"):
            evaluate(model, wrong)  # type: ignore[arg-type]


def test_probabilities_above_one_are_counted(model: NgramModel) -> None:
    text = b"\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-99 <s>\n-0.5 </s>\n-0.3 a 2\n-0.3 b\n\n"
    odd = read_arpa(io.BytesIO(text + b"\\2-grams:\n-1 a b\n\n\\end\\\n"))
    assert evaluate(odd, ["a a a", "b"]).above_one == 3
    assert evaluate(model, TEST).above_one == 0
