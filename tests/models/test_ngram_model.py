"""An n-gram model: saved, opened, asked; its kenlm-like interface beside PyPI's kenlm."""

from __future__ import annotations

import copy
import os
import pickle
import random
from pathlib import Path

import kenlm as pypi_kenlm
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
    kenlm,
    merge_ngrams,
    open_model,
    prune_model,
)
from stategram import write_arpa as stategram_write_arpa
from stategram.errors import BadDataError, StategramError
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


def write_arpa(model: Ngrams, path: Path) -> None:
    lines = ["\\data\\"]
    by_length = [[n for n in model.log_probs if len(n) == k] for k in range(1, model.order + 1)]
    lines += [f"ngram {k}={len(of)}" for k, of in enumerate(by_length, 1)]
    for k, of in enumerate(by_length, 1):
        lines += ["", f"\\{k}-grams:"]
        for ngram in of:
            words = " ".join(VOCABULARY.word(id) for id in ngram)
            backoff = "" if k == model.order else f"\t{model.backoffs.get(ngram, 0.0):.9g}"
            lines.append(f"{model.log_probs[ngram]:.9g}\t{words}{backoff}")
    path.write_text("\n".join([*lines, "", "\\end\\", ""]), encoding="utf-8")


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


@pytest.fixture
def both(file: Path, tmp_path: Path) -> tuple[kenlm.Model, pypi_kenlm.Model]:
    write_arpa(ngrams(), tmp_path / "model.arpa")
    config = pypi_kenlm.Config()
    config.show_progress = False
    return kenlm.Model(str(file)), pypi_kenlm.Model(str(tmp_path / "model.arpa"), config)


# KenLM adds float32: a rounding for each word and for each back-off weight.
CLOSE = 1e-5


@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("eos", [True, False])
def test_scores_equal_those_of_kenlm(
    both: tuple[kenlm.Model, pypi_kenlm.Model], bos: bool, eos: bool
) -> None:
    ours, theirs = both
    assert ours.order == theirs.order
    sentences: list[str | bytes] = [
        *SENTENCES,
        "the </s> cat",
        "<unk> the\u00a0cat\tcat",
        "a\x1ccat\x0bsat a",
    ]
    for sentence in [*sentences, "été".encode(), b"the \xff cat"]:
        expected = list(theirs.full_scores(sentence, bos=bos, eos=eos))
        found = list(ours.full_scores(sentence, bos=bos, eos=eos))
        assert [event[1:] for event in found] == [event[1:] for event in expected]
        assert [event[0] for event in found] == pytest.approx([event[0] for event in expected], rel=CLOSE)
        assert ours.score(sentence, bos, eos) == pytest.approx(theirs.score(sentence, bos, eos), rel=CLOSE)
        assert ours.perplexity(sentence) == pytest.approx(theirs.perplexity(sentence), rel=1e-4)


def test_states_equal_those_of_kenlm(both: tuple[kenlm.Model, pypi_kenlm.Model]) -> None:
    ours, theirs = both
    for begin in ("BeginSentenceWrite", "NullContextWrite"):
        state, their_state = kenlm.State(), pypi_kenlm.State()
        getattr(ours, begin)(state)
        getattr(theirs, begin)(their_state)
        seen, their_seen = [copy.copy(state)], [copy.copy(their_state)]
        for word in ["the", "cat", "sat", "dog", "the", "cat", "sat", "</s>", "mat"]:
            out, their_out = kenlm.State(), pypi_kenlm.State()
            full = ours.BaseFullScore(state, word, out)
            their_full = theirs.BaseFullScore(their_state, word, their_out)
            assert full.log_prob == pytest.approx(their_full.log_prob, rel=CLOSE)
            assert (full.ngram_length, full.oov) == (their_full.ngram_length, their_full.oov)
            again = kenlm.State()
            assert ours.BaseScore(state, word, again) == full.log_prob
            assert again == out
            assert hash(again) == hash(out)
            state, their_state = out, their_out
            seen.append(copy.deepcopy(state))
            their_seen.append(copy.copy(their_state))
        # Where KenLM sees one state, so do we.
        for i, one in enumerate(their_seen):
            for j, other in enumerate(their_seen):
                assert one != other or seen[i] == seen[j]


def test_the_rest_of_kenlm(both: tuple[kenlm.Model, pypi_kenlm.Model], file: Path) -> None:
    ours, theirs = both
    for word in ("the", "dog", b"cat", "<unk>", "<s>", "</s>"):
        assert (word in ours) == (word in theirs)
    assert ours.path == os.fsencode(file)  # bytes, as KenLM has it
    assert repr(ours) == "<Model from model>"
    assert pickle.loads(pickle.dumps(ours)).score("the cat") == ours.score("the cat")
    assert isinstance(kenlm.LanguageModel(str(file), kenlm.Config()), kenlm.Model)
    for model in both:
        with pytest.raises(TypeError, match="Cannot convert"):
            model.score(3)  # type: ignore[arg-type]
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(OSError, match=r"Cannot read model .*model: damaged"):
        kenlm.Model(str(file))


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
        lambda: stategram_write_arpa(damaged, tmp_path / "out.arpa"),
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


def test_words_of_no_probability_are_finite_as_in_kenlm(
    both: tuple[kenlm.Model, pypi_kenlm.Model],
) -> None:
    ours, theirs = both
    for sentence in ("<s>", "the <s> cat", "<s> the cat <s>"):
        # KenLM adds weights, of up to three n-grams, to -99.
        n = sentence.count("<s>")
        assert ours.score(sentence) == pytest.approx(theirs.score(sentence), abs=4 * n)
        assert ours.perplexity(sentence) < float("inf")
        found, expected = list(ours.full_scores(sentence)), list(theirs.full_scores(sentence))
        assert [one[1:] for one in found] == [one[1:] for one in expected]
        assert sum(one[0] for one in found) == pytest.approx(ours.score(sentence), rel=1e-12)
    state = kenlm.State()
    assert ours.BaseScore(kenlm.State(), "<s>", state) == -99
