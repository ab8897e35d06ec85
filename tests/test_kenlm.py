"""Models as decoders call them, through `stategram.kenlm`: the same as `Model.score`, and as PyPI's kenlm."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import sys
import threading
from collections.abc import Callable
from functools import cache, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import kenlm as pypi_kenlm
import numpy as np
import pytest

from checks import chain
from model_kinds import ALL_KINDS, corpora, model_of
from stategram import kenlm
from stategram.formats import write_arpa
from stategram.models import NgramModel
from stategram.text import TextFormat, corpus_from_sentences

# Those without a stepper go from word to word in Python.
IN_PYTHON = ("cache", "cached")
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


WIDE = [*"\x85\xa0\u1680\u2000\u2003\u2009\u200a\u2028\u2029\u202f\u205f\u3000", "5\xa0%", "a\u3000b"]
WORDS = [*(f"w{number}" for number in range(3, 25, 3)), "zebra", "<unk>"]


def test_which_kinds_have_a_stepper() -> None:
    assert {kind for kind in ALL_KINDS if model_of(kind).stepper is None} == {*IN_PYTHON}


class Both(NamedTuple):
    """A model in our hands and in those of KenLM, and sentences for it."""

    ours: list[kenlm.Model]
    """Of the model file, then of the ARPA file."""
    theirs: pypi_kenlm.Model
    sentences: list[str | bytes]
    columns: slice
    """What is the same of each event besides its score: KenLM adds the suffixes that a pruned model lacks."""


def _trained(order: int, prune: float = 0.0) -> tuple[NgramModel, list[str]]:
    train, heldout = corpora()
    words = heldout.vocabulary.words
    known = [" ".join(words[id] for id in heldout.sentence(i)[:-1].tolist()) for i in range(60)]
    return NgramModel.train(train, order, prune=prune), known


def _with_wide_spaces() -> tuple[NgramModel, list[str]]:
    """Words that are, or hold, white space outside ASCII, at which KenLM does not split."""
    sentences = [f"w3 {word} w3" for word in WIDE]
    return NgramModel.train(corpus_from_sentences(sentences, TextFormat(split="ascii")), 2), sentences


MODELS: dict[str, Callable[[], tuple[NgramModel, list[str]]]] = {
    **{f"order {order}": partial(_trained, order) for order in (2, 3, 5)},
    "pruned": partial(_trained, 4, 1e-5),
    "wide spaces": _with_wide_spaces,
}


@pytest.fixture(scope="module", params=MODELS)
def both(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    model, known = MODELS[request.param]()
    place = tmp_path_factory.mktemp("kenlm")
    model.save(place / "model")
    write_arpa(model, place / "model.arpa")
    config = pypi_kenlm.Config()
    config.show_progress = False
    ours = [kenlm.Model(place / "model"), kenlm.Model(str(place / "model.arpa"))]
    random = np.random.default_rng(1)
    # Long ones are scored in pieces, which </s> ends.
    pool = [*WORDS, *WORDS, "</s>"]
    drawn = [" ".join(random.choice(pool, random.integers(0, 120)).tolist()) for _ in range(60)]
    odd = ["", " ", "w3\tw4\n", "\x1c", "w3\u00a0w4 w3", "w3 </s> w6", "<unk> w3\x1cw6\x0bw9 w3"]
    packed = ["w3 w6 \u00e9t\u00e9".encode(), b"w3 \xff w6"]
    theirs = pypi_kenlm.Model(str(place / "model.arpa"), config)
    columns = slice(2 if request.param == "pruned" else 1, 3)
    return Both(ours, theirs, [*known, *drawn, *odd, *packed], columns)


def test_scores_are_those_of_kenlm(both: Both) -> None:
    theirs = both.theirs
    for sentence, our in itertools.product(both.sentences, both.ours):
        assert our.order == theirs.order
        for bos, eos in itertools.product((True, False), repeat=2):
            expected = list(theirs.full_scores(sentence, bos=bos, eos=eos))
            found = list(our.full_scores(sentence, bos=bos, eos=eos))
            assert [one[both.columns] for one in found] == [one[both.columns] for one in expected]
            assert [event[0] for event in found] == pytest.approx([one[0] for one in expected], rel=FLOAT32)
            total = our.score(sentence, bos=bos, eos=eos)
            assert total == pytest.approx(theirs.score(sentence, bos=bos, eos=eos), rel=FLOAT32)
            assert total == pytest.approx(sum(event[0] for event in found), rel=1e-12)
        assert our.perplexity(sentence) == pytest.approx(theirs.perplexity(sentence), rel=1e-3)


def test_states_are_those_of_kenlm(both: Both) -> None:
    for our, begin in itertools.product(both.ours, ("BeginSentenceWrite", "NullContextWrite")):
        state, their_state = kenlm.State(), pypi_kenlm.State()
        getattr(our, begin)(state)
        getattr(both.theirs, begin)(their_state)
        seen = [(copy.copy(state), copy.copy(their_state))]
        for word in ["w3", "w6", "w9", "zebra", "w3", "w6", "w9", "</s>", "w12"]:
            out, their_out = kenlm.State(), pypi_kenlm.State()
            full = our.BaseFullScore(state, word, out)
            their_full = both.theirs.BaseFullScore(their_state, word, their_out)
            assert full.log_prob == pytest.approx(their_full.log_prob, rel=FLOAT32)
            lengths = full.ngram_length, their_full.ngram_length
            assert full.oov == their_full.oov
            assert lengths[0] <= lengths[1] if both.columns.start == 2 else lengths[0] == lengths[1]
            state, their_state = out, their_out
            seen.append((copy.deepcopy(state), copy.copy(their_state)))
        # Where KenLM sees one state, so do we.
        for (one, their_one), (other, their_other) in itertools.combinations(seen, 2):
            assert their_one != their_other or one == other


def test_words_of_no_probability_are_finite_as_in_kenlm(both: Both) -> None:
    for our, sentence in itertools.product(both.ours, ("<s>", "w3 <s> w6", "<s> w3 w6 <s>")):
        # KenLM adds weights, of up to five n-grams, to -99.
        n = sentence.count("<s>")
        assert our.score(sentence) == pytest.approx(both.theirs.score(sentence), abs=6 * n)
        assert our.perplexity(sentence) < float("inf")
        found, expected = list(our.full_scores(sentence)), list(both.theirs.full_scores(sentence))
        assert [one[both.columns] for one in found] == [one[both.columns] for one in expected]
        assert sum(one[0] for one in found) == pytest.approx(our.score(sentence), rel=1e-12)
        assert our.BaseScore(kenlm.State(), "<s>", kenlm.State()) == -99


def test_the_rest_of_kenlm(both: Both, tmp_path: Path) -> None:
    for our in both.ours:
        for word in ("w3", "zebra", b"w6", "<unk>", "<s>", "</s>"):
            assert (word in our) == (word in both.theirs)
        assert pickle.loads(pickle.dumps(our)).score("w3 w6") == our.score("w3 w6")
    file = tmp_path / "model"
    model_of("ngram").save(file)
    our = kenlm.LanguageModel(str(file), kenlm.Config())
    assert isinstance(our, kenlm.Model)
    assert our.path == os.fsencode(file)  # bytes, as KenLM has it
    assert repr(our) == "<Model from model>"
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(OSError, match=r"Cannot read model .*model: damaged"):
        kenlm.Model(str(file))


def test_a_full_score_shows_itself(decoder: Callable[[str], kenlm.Model]) -> None:
    full = decoder("ngram").BaseFullScore(kenlm.State(), "w3", kenlm.State())
    assert repr(full) == f"FullScoreReturn({full.log_prob!r}, {full.ngram_length}, False)"


def test_states_have_an_order_as_in_kenlm(decoder: Callable[[str], kenlm.Model]) -> None:
    states = [chain(decoder("ngram"), [word], bos=True)[1] for word in WORDS]
    ordered = sorted(states)
    assert all(not b < a for a, b in pairwise(ordered))


def test_a_long_sentence_lets_other_threads_run(decoder: Callable[[str], kenlm.Model]) -> None:
    one = decoder("mixture")
    sentence = "w3 w9 w6 zebra w4 " * 60_000

    def steps_meanwhile() -> int:
        """Count what this thread does while another one scores."""
        results: list[float] = []
        scoring = threading.Thread(target=lambda: results.append(one.score(sentence)))
        scoring.start()
        steps = 0
        while scoring.is_alive():
            steps += 1
        scoring.join()
        assert results == [expected]
        return steps

    before, expected = sys.getswitchinterval(), one.score(sentence)
    try:
        sys.setswitchinterval(1e-4)
        # A busy machine may give this thread nothing for a while, but not each time.
        assert any(steps_meanwhile() > 1000 for _ in range(20))
    finally:
        sys.setswitchinterval(before)


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
