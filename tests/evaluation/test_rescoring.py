"""N-best lists: read, rescored by models of every kind, with weights that are tuned on references."""

from __future__ import annotations

import gzip
import io
import json
import math
import random
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import run
from naive import word_errors as naive
from stategram import (
    BadDataError,
    CacheModel,
    Mixture,
    Model,
    NgramModel,
    UsageError,
    train_recipe,
)
from stategram.evaluation import rescore
from stategram.evaluation.rescoring import word_errors
from stategram.formats import read_nbest
from stategram.models import open_sentence
from stategram.recipes import Recipe
from story import sentences, word_tree_part

TRAIN = sentences(300, seed=1)
SAID = {f"u{i}": text for i, text in enumerate(sentences(40, seed=9))}


def noisy_lists() -> dict[str, list[tuple[float, str]]]:
    """What was said and five corruptions of it, with scores that are mostly noise."""
    draw = random.Random(4)
    words = sorted({word for text in TRAIN for word in text.split()})
    lists = {}
    for name, text in SAID.items():
        found = [text]
        for _ in range(5):
            corrupt = text.split()
            corrupt[draw.randrange(len(corrupt))] = draw.choice(words)
            if draw.random() < 0.3:
                corrupt.append(draw.choice(words))
            found.append(" ".join(corrupt))
        draw.shuffle(found)
        lists[name] = [(draw.gauss(0.5 * (one == text), 1.0), one) for one in found]
    return lists


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return NgramModel.train(TRAIN, 3)


def test_totals_are_what_they_are_said_to_be(model: NgramModel) -> None:
    lists = {"a": [(-1.0, "the old cat sees a dog"), (-2.0, ""), (-0.5, "zebra")], "b": [(0.0, "the cat")]}
    found = rescore(model, lists, lm_weight=0.7, word_bonus=1.5)
    for i, (score, text) in enumerate([*lists["a"], *lists["b"]]):
        # A sentence without words is one all the same.
        log_prob = model.score(open_sentence(model, [*text.split(), "</s>"])).log_prob
        assert found.log_probs[i] == pytest.approx(log_prob, rel=1e-12)
        assert found.totals[i] == pytest.approx(score + 0.7 * log_prob + 1.5 * len(text.split()), rel=1e-12)
    assert found.before is None
    assert found.best["b"] == "the cat"


def test_tuning_lowers_errors_and_no_other_grid_finds_fewer(model: NgramModel) -> None:
    lists = noisy_lists()
    found = rescore(model, lists, references=SAID, tune=True)
    assert found.before is not None
    assert found.after is not None
    assert found.oracle is not None
    assert found.oracle.errors == 0
    assert found.after.errors < 0.5 * found.before.errors
    again = rescore(model, lists, references=SAID, lm_weight=found.lm_weight, word_bonus=found.word_bonus)
    assert again.after == found.after
    for lm_weight in np.linspace(0, 2, 21):
        at = rescore(model, lists, references=SAID, lm_weight=lm_weight, word_bonus=found.word_bonus)
        assert at.after is not None
        assert at.after.errors >= found.after.errors
    assert rescore(model, lists, references=SAID, tune=True, lm_weight=0.25).lm_weight == 0.25
    assert rescore(model, lists, references=SAID, tune=True, word_bonus=-1.5).word_bonus == -1.5


def other_models(model: NgramModel) -> dict[str, Model]:
    heldout = sentences(60, seed=2)
    tree = train_recipe(TRAIN, heldout, Recipe(part=[word_tree_part()]))
    cached = Mixture.fit([model, CacheModel.train(model.score(TRAIN).corpus)], heldout)
    return {
        "cached": cached,
        "tree": tree,
        "document": tree.with_history("document"),
        "adaptive": tree.with_history("adaptive"),
    }


def test_models_that_look_back_see_the_best_of_earlier_utterances(model: NgramModel) -> None:
    lists = dict(list(noisy_lists().items())[:4])
    for name, other in other_models(model).items():
        found = rescore(other, lists, lm_weight=1.0)
        state, place = other.start(), 0
        for hypotheses in lists.values():
            after = state
            for score, text in hypotheses:
                scores = other.score(open_sentence(other, [*text.split(), "</s>"]), state=state)
                assert found.log_probs[place] == pytest.approx(scores.log_prob, rel=1e-9), name
                place += 1
                if score == max(hypotheses)[0]:
                    after = scores.state
            if name != "tree":
                state = after


def test_names_are_numbered_or_the_same() -> None:
    def names(*lines: str) -> dict[str, int]:
        nbest = read_nbest(io.BytesIO("".join(f"{line} 1 x\n" for line in lines).encode()))
        return {name: len(hypotheses) for name, hypotheses in nbest.items()}

    assert names("a-1", "a-10", *(f"a-{i}" for i in range(2, 10)), "b-1") == {"a": 10, "b": 1}
    assert names("a-1", "a-1", "a-2") == {"a-1": 2, "a-2": 1}
    assert names("a-1", "a-3") == {"a-1": 1, "a-3": 1}
    assert names("a-1", "b") == {"a-1": 1, "b": 1}
    many = f"a-{'1' * 5000}"
    assert names(many, many) == {many: 2}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no lines in it"),
        (b"a\n", ":1: found 'a'; expected the utterance, its score and the text"),
        (b"\na 1 x\na the cat\n", ":3: the score 'the' is not a finite number"),
        (b"a nan x\n", "not a finite number"),
        (b"a 1 \xff\n", "not UTF-8"),
        (b"a 1 \0\n", "NUL"),
    ],
)
def test_bad_lists_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(BadDataError, match=message):
        read_nbest(io.BytesIO(data))


def test_bad_arguments_are_refused(model: NgramModel) -> None:
    lists = {"a": [(1.0, "x")]}
    with pytest.raises(UsageError, match="pass lm_weight"):
        rescore(model, lists)
    with pytest.raises(UsageError, match="tuned on references"):
        rescore(model, lists, tune=True)
    with pytest.raises(BadDataError, match="no reference for 1 of 1 utterances, such as 'a'"):
        rescore(model, lists, lm_weight=1.0, references={"b": "x"})
    with pytest.raises(UsageError, match="finite"):
        rescore(model, lists, lm_weight=math.inf)
    for bad, message in (
        ({}, "there are no hypotheses"),
        ({"a": []}, "utterance 'a' has no hypotheses"),
        ({"a": [(math.nan, "x")]}, "not a finite number"),
    ):
        with pytest.raises(BadDataError, match=message):
            rescore(model, bad, lm_weight=1.0)


def test_the_command(model: NgramModel, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model.save(tmp_path / "model")
    lists = noisy_lists()
    lines = [
        f"{name}-{i} {-score} {text}"
        for name, found in lists.items()
        for i, (score, text) in enumerate(found, 1)
    ]
    with gzip.open(tmp_path / "nbest.gz", "wt") as file:
        file.write("\n".join(lines))
    (tmp_path / "said").write_text("".join(f"{name} {text}\n" for name, text in SAID.items()))
    basic = ("rescore", tmp_path / "model", tmp_path / "nbest.gz", "--costs")
    referenced = (*basic, "--references", tmp_path / "said")
    status, out, err = run(*referenced, "--tune", "--json", "-o", tmp_path / "best", capfd=capfd)
    assert status == 0
    assert "tuned on these references" in err
    figures = json.loads(out)
    assert figures["oracle"]["word_error_rate"] == 0
    assert figures["after"]["errors"] < figures["before"]["errors"]
    weights = ["--lm-weight", figures["lm_weight"], "--word-bonus", figures["word_bonus"]]
    chosen = rescore(model, lists, lm_weight=figures["lm_weight"], word_bonus=figures["word_bonus"]).best
    best = (tmp_path / "best").read_text()
    assert best == "".join(f"{name} {text}\n" for name, text in chosen.items())
    status, out, _ = run(*basic, *weights, "-q", capfd=capfd)
    assert (status, out) == (0, best)
    out = run(*referenced, *weights, "-q", capfd=capfd)[1]
    assert re.search(rf"^after +{figures['after']['word_error_rate']:.2%} ", out, re.MULTILINE)
    assert run(*basic, capfd=capfd)[0] == 2
    assert run(*basic, "--tune", capfd=capfd)[0] == 2
    assert run(*referenced, "--tune", "-o", tmp_path / "said", capfd=capfd)[0] == 2


def errors_of(texts: list[list[str]], said: list[str]) -> list[int]:
    """Return the errors of each text against a reference, letters for words."""
    arrays = [np.array([ord(word) for word in words], np.uint32) for words in (said, *texts)]
    errors: list[int] = word_errors(arrays[0], arrays[1:]).tolist()
    return errors


letters = st.lists(st.sampled_from("abcd"), max_size=7)


@given(said=letters, texts=st.lists(letters, min_size=1, max_size=6))
def test_errors_are_those_of_the_twin(said: list[str], texts: list[list[str]]) -> None:
    assert errors_of(texts, said) == [naive.word_errors(words, said) for words in texts]


def test_of_equal_weights_those_in_the_middle_are_chosen(model: NgramModel) -> None:
    # Each of these texts has one word more; the bonus that outweighs the score is between 1 and 3.
    lists = {"u": [(0.0, ""), (-1.0, "zebra"), (-4.0, "zebra zebra")]}
    result = rescore(model, lists, lm_weight=0.0, references={"u": "zebra"}, tune=True)
    assert result.after is not None
    assert result.after.errors == 0
    assert 1.2 < result.word_bonus < 2.8
    alike = rescore(model, {"u": [(0.0, "the cat")]}, references={"u": "the cat"}, tune=True)
    assert (alike.lm_weight, alike.word_bonus) == (0.0, 0.0)
