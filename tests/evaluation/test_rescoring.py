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

from command_line import run
from stategram import BadDataError, CacheModel, Mixture, Model, NgramModel, UsageError, train_recipe
from stategram.evaluation import NBestLists, rescore
from stategram.formats import read_nbest
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
        log_prob = model.score_words([*text.split(), "</s>"], model.start()).log_prob
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
    fixed = rescore(model, lists, references=SAID, lm_weight=0.25, tune=True)
    assert fixed.lm_weight == 0.25


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
                scores = other.score_words([*text.split(), "</s>"], state)
                assert found.log_probs[place] == pytest.approx(scores.log_prob, rel=1e-9), name
                place += 1
                if score == max(hypotheses)[0]:
                    after = scores.state
            if name != "tree":
                state = after


def test_names_are_numbered_or_the_same() -> None:
    def names(*lines: str, how: str = "auto") -> list[tuple[str, int]]:
        nbest = read_nbest(io.BytesIO("".join(f"{line} 1 x\n" for line in lines).encode()), names=how)
        return list(zip(nbest.utterances, np.diff(nbest.starts).tolist(), strict=True))

    assert names("a-1", "a-10", *(f"a-{i}" for i in range(2, 10)), "b-1") == [("a", 10), ("b", 1)]
    assert names("a-1", "a-1", "a-2") == [("a-1", 2), ("a-2", 1)]
    assert names("a-1", "a-3") == [("a-1", 1), ("a-3", 1)]
    assert names("a-1", "a-3", how="numbered") == [("a", 2)]
    many = f"a-{'1' * 5000}"
    assert names(many, many, how="auto") == [(many, 2)]
    assert names("a-1", "a-2", how="same") == [("a-1", 1), ("a-2", 1)]
    with pytest.raises(BadDataError, match="'b' has no number"):
        names("a-1", "b", how="numbered")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no lines in it"),
        (b"a\n", ":1: found 'a'; expected the utterance, its score and the text"),
        (b"\na 1 x\na the cat\n", ":3: the score 'the' is no finite number"),
        (b"a nan x\n", "no finite number"),
        (b"a 1 \xff\n", "not UTF-8"),
        (b"a 1 \0\n", "NUL"),
    ],
)
def test_bad_lists_are_refused(data: bytes, message: str) -> None:
    with pytest.raises(BadDataError, match=message):
        read_nbest(io.BytesIO(data))


def test_bad_arguments_are_refused(model: NgramModel) -> None:
    lists = {"a": [(1.0, "x")]}
    with pytest.raises(UsageError, match="give lm_weight"):
        rescore(model, lists)
    with pytest.raises(UsageError, match="tuned on references"):
        rescore(model, lists, tune=True)
    with pytest.raises(UsageError, match="2 weights of scores, but 1"):
        rescore(model, lists, lm_weight=1.0, score_weights=[1.0, 2.0])
    with pytest.raises(BadDataError, match="no reference for 1 of 1 utterances, such as 'a'"):
        rescore(model, lists, lm_weight=1.0, references={"b": "x"})
    with pytest.raises(UsageError, match="finite"):
        rescore(model, lists, lm_weight=math.inf)
    with pytest.raises(BadDataError, match="no hypotheses"):
        NBestLists.from_mapping({})


def test_the_command(model: NgramModel, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model.save(tmp_path / "model")
    lists = noisy_lists()
    lines = [
        f"{name}-{i} {-score} 7 {text}"
        for name, found in lists.items()
        for i, (score, text) in enumerate(found, 1)
    ]
    with gzip.open(tmp_path / "nbest.gz", "wt") as file:
        file.write("\n".join(lines))
    (tmp_path / "said").write_text("".join(f"{name} {text}\n" for name, text in SAID.items()))
    basic = ("rescore", tmp_path / "model", tmp_path / "nbest.gz", "--scores", 2, "--costs")
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
    status, out, _ = run(*basic, *weights, "--nbest-out", "-", "-q", capfd=capfd)
    fields = [line.split(maxsplit=2) for line in out.splitlines()]
    assert [name for name, _, _ in fields] == [f"u{u}-{i}" for u in range(40) for i in range(1, 7)]
    assert [text for name, _, text in fields if name.endswith("-1")] == list(chosen.values())
    out = run(*referenced, *weights, "-q", capfd=capfd)[1]
    assert re.search(rf"^after +{figures['after']['word_error_rate']:.2%} ", out, re.MULTILINE)
    assert run(*basic, capfd=capfd)[0] == 2
    assert run(*basic, "--tune", capfd=capfd)[0] == 2
    assert run(*referenced, "--tune", "-o", tmp_path / "said", capfd=capfd)[0] == 2
