"""Random sentences: drawn with the probabilities of any model, the same for the same seed."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import pytest

from command_line import run
from stategram import (
    CacheModel,
    CategoryNgramModel,
    Mixture,
    Model,
    NgramModel,
    Recipe,
    UsageError,
    generate,
    train_recipe,
)
from stategram.models import state_after
from stategram.text import TextFormat
from story import sentences, word_tree_part

TRAIN = sentences(300, seed=1)


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    ngram = NgramModel.train(TRAIN, 3)
    corpus = ngram.score(TRAIN).corpus
    classes = {word: number % 5 for number, word in enumerate(corpus.vocabulary.words)}
    category = CategoryNgramModel.train(corpus, classes, 2)
    heldout = sentences(60, seed=2)
    tree = train_recipe(TRAIN, heldout, Recipe(part=[word_tree_part()]))
    shuffled = NgramModel.train(TRAIN[100:], 2)
    other = Mixture.fit([ngram, shuffled], heldout)
    return {
        "ngram": ngram,
        "category": category,
        "mixture": Mixture.fit([ngram, category, CacheModel.train(corpus)], heldout),
        "other vocabularies": other,
        "tree": tree,
        "adaptive": tree.with_history("adaptive"),
    }


NAMES = ["ngram", "category", "mixture", "other vocabularies", "tree", "adaptive"]


@pytest.mark.parametrize("name", NAMES)
def test_words_are_drawn_with_their_probabilities(models: dict[str, Model], name: str) -> None:
    model, n = models[name], 600
    random = np.random.default_rng(1)
    for history in ("", "the old"):
        state = state_after(model, history)
        found = Counter(model._draw(state, random) for _ in range(n))
        expected = model.distribution(state)
        for id, probability in enumerate(expected.tolist()):
            # Six standard deviations.
            assert abs(found[id] - n * probability) <= 6 * np.sqrt(n * probability) + 1, (history, id)
        assert abs(found[-1] - n * (1 - expected.sum())) <= 6 * np.sqrt(n * max(1 - expected.sum(), 0)) + 1


def test_quantiles_of_a_tree_are_as_wide_as_words_are_probable(models: dict[str, Model]) -> None:
    model, n = models["tree"], 1000
    state = state_after(model, "the old")

    class Quantile:
        def __init__(self, number: float) -> None:
            self.numbers = iter([0.0, number])  # of the tree, the first one, and of the word

        def random(self) -> float:
            return next(self.numbers)

    drawn = Counter(model._draw(state, cast(np.random.Generator, Quantile((i + 0.5) / n))) for i in range(n))
    kernel = model._kernel_after(state, type(model.evidence.kernel).distributions, 1)[0]  # type: ignore[attr-defined]
    assert all(abs(drawn[id] - n * p) <= 1 for id, p in enumerate(kernel.tolist()))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_sentences(models: dict[str, Model], name: str) -> None:
    model = models[name]
    few, more = list(generate(model, 3, seed=5)), list(generate(model, 6, seed=5))
    assert more[:3] == few
    assert list(generate(model, 3, seed=6)) != few
    known = set(model.vocabulary.words[3:])
    for sentence in more:
        assert known.issuperset(sentence.words)
        assert sentence.is_complete
    started = list(generate(model, 3, prefix="the cat", max_words=3, temperature=0.5))
    assert all(one.words[:2] == ["the", "cat"] and len(one.words) <= 3 for one in started)
    assert not all(one.is_complete for one in started)


def test_temperatures_and_unknown_words(models: dict[str, Model]) -> None:
    model = models["ngram"]
    best = []
    state, word = model.start(), ""
    while word != "</s>":
        word = next(word for word, _ in model.predict(state) if word != "<unk>")
        state = model.advance(state, word).state
        best.append(word)
    assert next(generate(model, 1, temperature=1e-3)).words == best[:-1]
    assert len({" ".join(one.words) for one in generate(model, 10, temperature=1e6, max_words=5)}) == 10
    # A model that knows next to nothing but <unk>.
    unknown = NgramModel.train(["<unk> <unk> <unk> <unk> <unk> <unk> a"] * 50, 1)
    assert {word for one in generate(unknown, 5) for word in one.words} <= {"a"}
    assert "<unk>" in next(generate(unknown, 1, unknown=True, max_words=9)).words


def test_running_text_goes_on_from_sentence_to_sentence(models: dict[str, Model]) -> None:
    model = models["adaptive"]
    apart, running = (list(generate(model, 8, seed=3, running=running)) for running in (False, True))
    assert apart[0] == running[0]
    assert apart != running


def test_bad_arguments_are_refused(models: dict[str, Model]) -> None:
    for arguments, message in (
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"max_words": 1, "prefix": "the cat"}, "the prefix has 2"),
        ({"prefix": "the </s>"}, "</s> is in the prefix"),
        ({"n_sentences": -1}, "-1 sentences"),
    ):
        with pytest.raises(UsageError, match=message):
            generate(models["ngram"], **arguments)


def test_the_command(models: dict[str, Model], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    replace(models["ngram"], training_format=TextFormat(lowercase=True)).save(tmp_path / "model")
    given = ("generate", tmp_path / "model", "-n", 4, "--seed", 7, "--prefix", "The Zebra")
    status, out, err = run(*given, capfd=capfd)
    expected = [" ".join(one.words) for one in generate(models["ngram"], 4, seed=7, prefix="the zebra")]
    assert (status, out.splitlines(), err) == (0, expected, "")
    assert "4 sentences were cut after 2 words" in run(*given, "--max-length", 2, capfd=capfd)[2]
    assert run(*given, "--temperature", 0, capfd=capfd)[0] == 2
    # Lines come one by one: who reads only the first need not wait for a million.
    command = [sys.executable, "-m", "stategram", *map(str, given[:2]), "-n", "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline().endswith(b"\n")
        process.stdout.close()
        assert process.wait() == 0
