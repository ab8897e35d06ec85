"""Models as decoders call them, through `stategram.kenlm`: the same as `Model.score`, and as PyPI's kenlm."""

from __future__ import annotations

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

from checks import chain
from model_kinds import ALL_KINDS, corpora, model_of
from stategram import NgramModel, kenlm, write_arpa

# Those without a stepper go from word to word in Python.
IN_PYTHON = ("word-tree", "cache", "cached")
# KenLM adds float32: a rounding for each word and for each back-off weight.
FLOAT32 = 1e-5


@pytest.fixture(scope="module")
def decoder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], kenlm.Model]:
    """Each kind of model, saved and opened once."""

    @cache
    def opened(kind: str) -> kenlm.Model:
        folder = tmp_path_factory.mktemp("models") / kind.replace(" ", "-")
        model_of(kind).save(folder)
        return kenlm.Model(folder)

    return opened


WORDS = [*(f"w{number}" for number in range(3, 25, 3)), "zebra", "<unk>"]


def test_which_kinds_have_a_stepper() -> None:
    assert {kind for kind in ALL_KINDS if model_of(kind).stepper is None} == {*IN_PYTHON}


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
                assert total == pytest.approx(sum(event[0] for event in found), rel=1e-12)


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
