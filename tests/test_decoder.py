"""Models as decoders call them, through `stategram.kenlm`: the same as `Model.score`, and as PyPI's kenlm."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import kenlm as pypi_kenlm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model_kinds import ALL_KINDS, corpora, model_of
from stategram import Mixture, Model, NgramModel, kenlm, write_arpa
from stategram.models import GATE_KINDS

MIXTURES = tuple(f"mixture by {gate}" for gate in GATE_KINDS)
# Those without a stepper go from word to word in Python.
IN_PYTHON = ("word-tree", "cache", "cached")
# KenLM adds float32: a rounding for each word and for each back-off weight.
FLOAT32 = 1e-5
CLOSE = 1e-12


@cache
def model(kind: str) -> Model:
    if kind not in MIXTURES:
        return model_of(kind)
    parts = map(model_of, ("ngram", "category", "clustered", "wide"))
    return Mixture.fit(parts, corpora()[1], buckets=kind.removeprefix("mixture by "))


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], kenlm.Model]:
    """Each kind of model, saved and opened once."""

    @cache
    def opened(kind: str) -> kenlm.Model:
        folder = tmp_path_factory.mktemp("models") / kind.replace(" ", "-")
        model(kind).save(folder)
        return kenlm.Model(folder)

    return opened


def chain(decoder: kenlm.Model, words: list[str], *, bos: bool) -> tuple[list[float], kenlm.State]:
    """Score words one by one, as decoders do."""
    state, found = kenlm.State(), []
    (decoder.BeginSentenceWrite if bos else decoder.NullContextWrite)(state)
    for word in words:
        after = kenlm.State()
        found.append(decoder.BaseScore(state, word, after))
        state = after
    return found, state


WORDS = [*(f"w{number}" for number in range(3, 25, 3)), "zebra", "<unk>"]


def test_which_kinds_have_a_stepper() -> None:
    assert {kind for kind in ALL_KINDS if model(kind).stepper is None} == {*IN_PYTHON}


@pytest.mark.parametrize("kind", [*ALL_KINDS, *MIXTURES])
@settings(deadline=None, max_examples=15)
@given(words=st.lists(st.sampled_from(WORDS), max_size=45), bos=st.booleans())
def test_every_way_is_that_of_the_model(
    decoder: Callable[[str], kenlm.Model], kind: str, words: list[str], bos: bool
) -> None:
    one, sentence = decoder(kind), " ".join(words)
    of_model = model(kind)
    scores = of_model.score_words([*words, "</s>"], of_model.start(sentence_start=bos))
    expected = (scores.log_probs / np.log(10)).tolist()
    orders = [0] * len(expected) if scores.orders is None else scores.orders.tolist()
    full = list(one.full_scores(sentence, bos=bos))
    assert [event[0] for event in full] == pytest.approx(expected, rel=CLOSE)
    assert [event[1] for event in full] == orders
    assert [event[2] for event in full] == [*(word in ("zebra", "<unk>") for word in words), False]
    assert one.score(sentence, bos, True) == pytest.approx(sum(expected), rel=CLOSE)
    assert one.score(sentence, bos, False) == pytest.approx(sum(expected[:-1]), rel=CLOSE)
    assert len(list(one.full_scores(sentence, eos=False))) == len(words)
    if bos:
        assert one.perplexity(sentence) == pytest.approx(10 ** -(sum(expected) / len(expected)), rel=CLOSE)
    found, state = chain(one, [*words, "</s>"], bos=bos)
    assert found == pytest.approx(expected, rel=CLOSE)
    null = kenlm.State()
    one.NullContextWrite(null)
    assert state == null  # a sentence that ends starts no other one


@pytest.mark.parametrize("order", [2, 3, 5])
def test_scores_are_those_of_kenlm(order: int, tmp_path: Path) -> None:
    train, heldout = corpora()
    trained = NgramModel.train(train, order, prune=1e-5)
    trained.save(tmp_path / "model")
    write_arpa(trained, tmp_path / "model.arpa")
    ours = [kenlm.Model(tmp_path / "model"), kenlm.Model(str(tmp_path / "model.arpa"))]
    config = pypi_kenlm.Config()
    config.show_progress = False
    theirs = pypi_kenlm.Model(str(tmp_path / "model.arpa"), config)
    words = heldout.vocabulary.words
    random = np.random.default_rng(order)
    sentences = [" ".join(words[id] for id in heldout.sentence(i)[:-1].tolist()) for i in range(60)]
    # Long ones are scored in pieces, which </s> ends.
    pool = [*WORDS, *WORDS, "</s>"]
    sentences += [" ".join(random.choice(pool, random.integers(0, 120)).tolist()) for _ in range(60)]
    for sentence in [*sentences, "", " ", "w3\tw4\n", "\x1c", "w3\u00a0w4 w3"]:
        for bos, eos in ((True, True), (False, True), (True, False)):
            expected = list(theirs.full_scores(sentence, bos=bos, eos=eos))
            for our in ours:
                found = list(our.full_scores(sentence, bos=bos, eos=eos))
                assert [event[0] for event in found] == pytest.approx(
                    [one[0] for one in expected], rel=FLOAT32
                )
                assert [event[2] for event in found] == [one[2] for one in expected]
                total = our.score(sentence, bos=bos, eos=eos)
                assert total == pytest.approx(theirs.score(sentence, bos=bos, eos=eos), rel=FLOAT32)
                assert total == pytest.approx(sum(event[0] for event in found), rel=CLOSE)


@pytest.mark.parametrize("kind", ["ngram", "mixture", "cached"])
def test_states(decoder: Callable[[str], kenlm.Model], kind: str) -> None:
    one = decoder(kind)
    state = chain(one, ["w3", "w6"], bos=True)[1]
    again, other = chain(one, ["w3", "w6"], bos=True)[1], chain(one, ["w3", "w9"], bos=True)[1]
    copies = [copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), again]
    expected = one.BaseScore(state, "w9", kenlm.State())
    for same in copies:
        assert same is not state
        assert same == state
        assert hash(same) == hash(state)
        assert one.BaseScore(same, "w9", kenlm.State()) == expected
    assert state != other
    assert state != "w3 w6"
    assert len({state, other, *copies}) == 2
    # A state may be overwritten by the one after it, and one that was never set knows of no words.
    one.BaseScore(again, "w9", again)
    assert again == chain(one, ["w3", "w6", "w9"], bos=True)[1] != state
    null = kenlm.State()
    one.NullContextWrite(null)
    full, after = one.BaseFullScore(null, "w3", other), kenlm.State()
    assert one.BaseFullScore(kenlm.State(), "w3", after) == full
    assert after == other
    assert full.log_prob == one.BaseScore(null, "w3", after)
    assert repr(full) == f"FullScoreReturn({full.log_prob!r}, {full.ngram_length}, False)"


def test_states_have_an_order_as_in_kenlm(decoder: Callable[[str], kenlm.Model]) -> None:
    states = [chain(decoder("ngram"), [word], bos=True)[1] for word in WORDS]
    ordered = sorted(states)
    assert all(not b < a for a, b in pairwise(ordered))


@pytest.mark.parametrize("kind", ["ngram", "category", "clustered", "wide", "mixture", "nested"])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_bytes_of_other_states_are_refused_or_harmless(
    decoder: Callable[[str], kenlm.Model], kind: str, data: st.DataObject
) -> None:
    one, null = decoder(kind), kenlm.State()
    one.NullContextWrite(null)
    size = len(null.__getstate__()[0])
    values = st.one_of(st.integers(0, 40), st.sampled_from([2**16, 2**31, 2**32 - 1]))
    words = data.draw(st.lists(values, min_size=size // 4, max_size=size // 4))
    hostile = np.array(words, np.uint32).tobytes()[: data.draw(st.integers(size - 4, size))]
    state = kenlm.State.__new__(kenlm.State)
    state.__setstate__((hostile, None))
    try:
        assert one.BaseScore(state, "w3", kenlm.State()) < 0
    except ValueError as error:
        assert "none of this model" in str(error)  # noqa: PT017


HOSTILE: list[str | bytes] = [
    "w3\0",
    "\0",
    "",
    " ",
    "w3 w4",
    "\ud800",
    "w3\udcff",
    b"\xff\xfe",
    "x" * 10**6,
    "été",
]


@pytest.mark.parametrize("kind", ["ngram", "mixture", "cache"])
@pytest.mark.parametrize("word", HOSTILE, ids=[f"{word!r:.12}" for word in HOSTILE])
def test_words_that_are_none_are_unknown(
    decoder: Callable[[str], kenlm.Model], kind: str, word: str | bytes
) -> None:
    one = decoder(kind)
    null, after, expected = kenlm.State(), kenlm.State(), kenlm.State()
    one.NullContextWrite(null)
    assert word not in one
    assert one.BaseFullScore(null, word, after) == one.BaseFullScore(null, "<unk>", expected)
    assert after == expected
    space = b" " if isinstance(word, bytes) else " "
    found = list(one.full_scores(word, bos=False, eos=False))
    assert len(found) == len([part for part in word.split(space) if part])  # type: ignore[arg-type]
    for wrong in (3, None, ["w3"]):
        with pytest.raises(TypeError, match="Cannot convert"):
            one.BaseScore(null, wrong, after)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="Cannot convert"):
            one.score(wrong)  # type: ignore[arg-type]


def test_a_long_sentence_lets_other_threads_run(decoder: Callable[[str], kenlm.Model]) -> None:
    one = decoder("mixture")
    sentence = "w3 w9 w6 zebra w4 " * 60_000
    results: list[float] = []
    scoring = threading.Thread(target=lambda: results.append(one.score(sentence)))
    before = sys.getswitchinterval()
    steps = 0
    try:
        sys.setswitchinterval(1e-4)
        scoring.start()
        while scoring.is_alive():
            steps += 1
    finally:
        sys.setswitchinterval(before)
        scoring.join()
    assert steps > 1000
    assert results == [one.score(sentence)]


def test_threads_do_not_disturb_each_other(decoder: Callable[[str], kenlm.Model]) -> None:
    one = decoder("mixture")
    sentences = [" ".join(WORDS[number % 7 :] * (1 + number % 40)) for number in range(120)]
    expected = [one.score(sentence) for sentence in sentences]
    results: dict[int, list[float]] = {}

    def work(number: int) -> None:
        results[number] = [one.score(sentence) for sentence in sentences]

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(results.values()) == [expected] * 3
