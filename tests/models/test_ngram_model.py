"""An n-gram model: saved, opened, asked; its kenlm-like interface beside PyPI's kenlm."""

from __future__ import annotations

import copy
import random
from pathlib import Path

import numpy as np
import pytest

from hostile import HostileFile
from model_kinds import features_after
from naive.trie import Ngram, Ngrams
from stategram import (
    Budget,
    NgramModel,
    approximate,
    compact_model,
    merge_ngrams,
    open_model,
    prune_model,
)
from stategram.errors import BadDataError, StategramError
from stategram.formats import write_arpa
from stategram.models import State, load_model, open_sentence, state_after
from stategram.text import BEGIN, END, Vocabulary, corpus_from_sentences

VOCABULARY = Vocabulary.from_words("the cat sat on a mat été".split())
# The twin's values are float64, the trie's float32: up to four of them in a sum.
FLOAT32 = 4 * float(np.finfo(np.float32).eps)
SENTENCES = [
    "the cat sat on the mat",
    "a cat",
    "the dog sat on été",
    "mat mat mat mat mat mat the the cat cat sat",
    "dog dog",
    "",
]


def ngrams() -> Ngrams:
    """A trigram model whose every history has probabilities that sum to 1."""
    chance = random.Random(2)
    n_words = len(VOCABULARY)
    words = [id for id in range(n_words) if id != BEGIN]
    masses = {word: chance.uniform(0.2, 1) for word in words}
    probs: dict[Ngram, float] = {(word,): mass / sum(masses.values()) for word, mass in masses.items()}
    probs[BEGIN,] = 1e-99
    weights: dict[Ngram, float] = {}

    def prob(history: Ngram, word: int) -> float:
        if (*history, word) in probs:
            return probs[*history, word]
        return weights.get(history, 1.0) * prob(history[1:], word)

    bigrams: list[Ngram] = []
    for histories in ([(id,) for id in range(n_words) if id != END], bigrams):
        for history in histories:
            # KenLM makes no room for many n-grams whose suffixes are missing.
            known = [word for word in words if (*history[1:], word) in probs]
            chosen = chance.sample(known, 3 if len(history) == 1 else 2)
            shorter = {word: prob(history[1:], word) for word in chosen}
            for word in chosen:
                probs[*history, word] = 0.5 * shorter[word] + 0.1
            weights[history] = (1 - sum(probs[*history, word] for word in chosen)) / (
                1 - sum(shorter.values())
            )
            # The end of a sentence is no history.
            if len(history) == 1:
                bigrams += [(*history, word) for word in chosen[:2] if word != END]
    return Ngrams(
        n_words,
        3,
        {ngram: float(np.log10(np.float32(p))) if p > 1e-30 else -99.0 for ngram, p in probs.items()},
        {ngram: float(np.log10(np.float32(p))) for ngram, p in weights.items()},
    )


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return NgramModel(VOCABULARY, ngrams().trie(), "made up", training_info={"seed": 2})


@pytest.fixture
def file(model: NgramModel, tmp_path: Path) -> Path:
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_parameters_are_probabilities_and_weights(model: NgramModel) -> None:
    twin = ngrams()
    shorter = sum(len(ngram) < 3 for ngram in twin.log_probs)
    assert model.parameters == len(twin.log_probs) + shorter


def test_arrays_that_do_not_fit_are_refused_even_unverified(model: NgramModel, tmp_path: Path) -> None:
    other = Vocabulary.from_words(["one"])
    NgramModel(other, model.trie).save(tmp_path / "model")
    with pytest.raises(
        BadDataError, match=r"model: invalid ngram model .*its array numbers is.*write it again"
    ):
        open_model(tmp_path / "model", verify=False)
    trie = copy.deepcopy(model.trie)
    trie.numbers[0] = len(trie.numbers)
    NgramModel(VOCABULARY, trie).save(tmp_path / "model")
    with pytest.raises(BadDataError, match=r"model: invalid ngram model .*damaged.*write it again"):
        open_model(tmp_path / "model", verify=False)


def test_unsound_ngrams_with_a_sound_checksum_are_refused(model: NgramModel, tmp_path: Path) -> None:
    plain = model.trie.plain()
    plain.log_probs[-1] = 0.5
    NgramModel.from_plain(VOCABULARY, plain).save(tmp_path / "model")
    with pytest.raises(BadDataError, match="a log probability is above 0"):
        open_model(tmp_path / "model").check()


def test_a_model_of_another_kind_is_refused(file: Path) -> None:
    hostile = HostileFile(file)
    hostile.change(model="crystal ball")
    with pytest.raises(BadDataError, match=r"'crystal ball', this stategram knows .*ngram"):
        open_model(file)
    hostile.change(smoothing=None, report=3)
    with pytest.raises(BadDataError, match="invalid ngram model"):
        open_model(file)


def test_events_equal_the_twin(model: NgramModel) -> None:
    corpus = corpus_from_sentences(SENTENCES, vocabulary=VOCABULARY)
    scores = model.score(corpus)
    twin = [
        event
        for i in range(corpus.n_sentences)
        for event in ngrams().score(corpus.sentence(i).tolist(), BEGIN)
    ]
    np.testing.assert_allclose(scores.log_probs / np.log(10), [p for p, _ in twin], rtol=FLOAT32)
    assert scores.orders is not None
    assert scores.orders.tolist() == [length for _, length in twin]
    assert scores.unknown.tolist() == (corpus.ids == 0).tolist()


def test_features_say_nothing_of_the_event_itself(model: NgramModel) -> None:
    corpus = corpus_from_sentences(SENTENCES, vocabulary=VOCABULARY)
    features = model.score(corpus, features=model.feature_names).features
    twin = ngrams()
    for i in range(corpus.n_sentences):
        words = [VOCABULARY.word(id) for id in corpus.sentence(i).tolist()]
        for j in range(len(words)):
            at = int(corpus.sentence_starts[i]) + j
            single = features_after(model, words[:j])
            assert single == {name: values[at] for name, values in features.items()}
            history = (BEGIN, *corpus.sentence(i)[:j].tolist())
            state = history[len(history) - int(single["length"]) :]
            assert single["backoff"] == pytest.approx(twin.backoffs.get(state, 0.0), rel=FLOAT32)


@pytest.mark.parametrize("text", [[], [""], ["  ", []]])
def test_no_words_no_model(text: list[str]) -> None:
    with pytest.raises(BadDataError, match="no words"):
        NgramModel.train(text)


def test_wrong_types_are_told() -> None:
    with pytest.raises(TypeError, match="sentence 1: found 1; expected a string"):
        NgramModel.train([1, 2])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="expected a list of sentences, got int"):
        NgramModel.train(5)  # type: ignore[arg-type]


def test_damage_that_is_met_later_names_the_file(model: NgramModel, tmp_path: Path) -> None:
    trie = copy.deepcopy(model.trie)
    trie.bases[:] = 2**32 - 1
    NgramModel(VOCABULARY, trie).save(tmp_path / "model")
    damaged = open_model(tmp_path / "model", NgramModel, verify=False)
    corpus = corpus_from_sentences(["the cat sat on a mat mat mat"])
    everything = " ".join(VOCABULARY.words[3:])
    for ask in (
        lambda: damaged.score(corpus).log_probs,
        lambda: damaged.score(corpus, features=["backoff"]),
        lambda: damaged.score(open_sentence(damaged, everything.split()), state=State(b"")),
        lambda: state_after(damaged, everything),
        lambda: damaged.predict(everything),
        lambda: damaged.distribution(State(bytes(4))),
        lambda: damaged.advance(State(bytes(4)), "cat"),
        lambda: write_arpa(damaged, tmp_path / "out.arpa"),
        lambda: damaged.filter(VOCABULARY),
        lambda: prune_model(damaged, Budget(max_ngrams=40)),
        lambda: compact_model(damaged),
        lambda: merge_ngrams([damaged, model], [0.5, 0.5]),
        lambda: approximate(damaged, order=2),
    ):
        with pytest.raises(BadDataError, match=r"model: the model is damaged: .*write it again") as caught:
            ask()
        assert caught.value.exit_code == 3
    assert not (tmp_path / "out.arpa").exists()


def test_what_is_not_a_model(tmp_path: Path) -> None:
    with pytest.raises(StategramError, match="nothing: no such model; expected a model file or an ARPA file"):
        open_model(tmp_path / "nothing")
    (tmp_path / "x").touch()
    with pytest.raises(BadDataError, match=r"x: not a model of stategram"):
        load_model(tmp_path / "x")
