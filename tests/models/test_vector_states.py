"""Vector states of word trees: what they learn from, small texts, interruptions, and damaged files."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile import HostileFile
from planted import planted_text
from stategram import BadDataError, Corpus, corpus_from_sentences, open_model
from stategram.errors import UsageError
from stategram.models import HISTORIES, WordTreeModel
from stategram.models.word_tree import vector_states
from stategram.models.word_tree.vector_states import Lesson, VectorShape, learn_vector_states
from stategram.resources import use_resources
from stategram.text import END
from word_tree_models import texts, train_word_tree, trees_of

BOTH = ("linear 32", "recurrent 32")


@cache
def trained() -> WordTreeModel:
    train, heldout, _ = texts()
    return train_word_tree(train, heldout, vectors=BOTH, n_events=1000)


def test_vector_states_predict_better() -> None:
    train, heldout, test = texts()
    without = train_word_tree(train, heldout, chains=["w-1"], caches=[], n_events=1000)
    for shape in BOTH:
        model = train_word_tree(train, heldout, chains=["w-1"], caches=[], vectors=[shape], n_events=1000)
        # A linear state goes on learning, also without caches.
        assert model.histories == HISTORIES[: 3 if "linear" in str(shape) else 2]
        for history in model.histories:
            found = model.with_history(history).perplexity(test)
            assert found < without.with_history(history).perplexity(test)


def test_the_same_bytes_for_any_number_of_threads_and_others_for_another_seed() -> None:
    train, heldout, test = texts()
    found = []
    for threads in (1, 2, 3):
        with use_resources(threads=threads):
            model = train_word_tree(train, heldout, vectors=BOTH, n_events=300)
            scores = [model.with_history(name).score(test).log_probs.tobytes() for name in HISTORIES]
        found.append((arrays_of(model), scores))
    assert found[0] == found[1] == found[2]
    with_seed = arrays_of(train_word_tree(train, heldout, vectors=BOTH, n_events=300, seed=1))
    for name in ("vectors-0/near", "vectors-1/matrix", "vectors-1/node-vectors-1"):
        assert with_seed[name] != found[0][0][name]


def arrays_of(model: WordTreeModel) -> dict[str, bytes]:
    return {
        f"{name}/{key}": np.ascontiguousarray(array).tobytes()
        for name, group in model._to_files().arrays.items()
        for key, array in group.items()
    }


# ---- what is learned from


def test_a_lesson_leaves_out_what_weights_are_learned_from() -> None:
    corpus = corpus_from_sentences([f"a{i} b{i} c{i}" if i % 10 else ["", f"d{i}"][1] for i in range(40)])
    corpus = replace(corpus, document_starts=np.array([0, 13, 30]))
    left_out = [(5, 8), (12, 13), (38, 40)]
    kept = [i for i in range(40) if not any(begin <= i < end for begin, end in left_out)]
    found = {seed: Lesson.of(corpus, left_out, seed) for seed in range(30)}
    expected = np.concatenate([corpus.sentences(i, i + 1).ids for i in kept])
    starts = np.cumsum([0] + [corpus.sentences(i, i + 1).n_events for i in kept])[:-1]
    always = {0, kept.index(8), kept.index(13), kept.index(30)}
    drawn = []
    for lesson in found.values():
        assert lesson.words.tolist() == expected.tolist()
        resets = set(np.flatnonzero(lesson.resets).tolist())
        assert resets <= set(starts.tolist())
        assert {int(starts[place]) for place in always} <= resets
        drawn.append((len(resets) - len(always)) / (len(kept) - len(always)))
    # The mean of 30 times 30 draws with a probability of 0.3, within five times its deviation.
    assert np.mean(drawn) == pytest.approx(0.3, abs=5 * (0.21 / 900) ** 0.5)


def test_the_rest_of_a_document_begins_anew() -> None:
    whole = corpus_from_sentences(["a b", "c d", "a"])
    lesson = Lesson.of(whole.sentences(1, 3), [], 0)
    assert lesson.resets[0] == 1
    assert len(Lesson.of(whole, [(0, 3)], 0).words) == 0


def test_vector_states_do_not_know_what_weights_are_learned_from() -> None:
    """At most half of a small text, however many events are asked for."""
    train, heldout, _ = texts()
    for n_events in (10**6, 100):
        model = train_word_tree(
            train, heldout, chains=["w-1"], caches=[], vectors=BOTH[:1], n_events=n_events
        )
        assert 100 <= model.training_info["events"] <= 0.6 * train.n_events
        without = train_word_tree(train, heldout, chains=["w-1"], caches=[], n_events=n_events)
        assert without.training_info["events"] >= model.training_info["events"]


# ---- small texts


@pytest.mark.parametrize(
    "lines", [["a"], ["a b c"], ["a b", "b a a"], ["a"] * 5, ["a b c d"] * 60, ["a", "", "b"]]
)
@pytest.mark.parametrize("with_heldout", [False, True])
def test_texts_too_small_to_learn_from(lines: list[str], with_heldout: bool) -> None:
    """Fewer words than a batch of a recurrent state has, and a held-out text of one."""
    corpus = corpus_from_sentences(lines)
    heldout = corpus.sentences(0, 1) if with_heldout else None
    model = train_word_tree(corpus, heldout, chains=["w-1"], vectors=BOTH, classes=[2], rare=0.9)
    model.check()
    for history in HISTORIES:
        scores = model.with_history(history).score(corpus)
        assert np.isfinite(scores.log_probs).all()
        assert model.with_history(history).distribution(scores.state).sum() == pytest.approx(1.0, abs=1e-9)


def test_a_held_out_text_without_words_is_refused() -> None:
    train, heldout, _ = texts()
    with pytest.raises(BadDataError, match="the text has no words"):
        train_word_tree(train, heldout.sentences(0, 0), vectors=BOTH)


def test_what_was_not_learned_changes_nothing() -> None:
    """A text of which nothing is left for vector states."""
    corpus = corpus_from_sentences(["a b c a b", "c a"])
    trees = trees_of(corpus, [2])
    nothing = Lesson.of(corpus, [(0, 2)], 0)
    bias = [np.linspace(-1, 1, len(corpus.vocabulary) - 1, dtype=np.float32)]
    for state in learn_vector_states(list(map(VectorShape.parse, BOTH)), nothing, trees, bias):
        vectors, scales, found = state.nodes[0]
        assert not vectors.any()
        assert not scales.any()
        assert found.tolist() == bias[0].tolist()


# ---- explaining


@pytest.mark.parametrize("history", HISTORIES)
def test_evidence_adds_up_to_the_log_odds(history: str) -> None:
    model = trained().with_history(history)
    state = model.score(["c0w0 c1w1", "c2w2 c0w1"]).state
    for word in ("c0w0", "c3w1", "</s>"):
        for tree in (0, 1):
            steps = model.explain(state, word, tree=tree)
            for step in steps:
                assert {"linear 32 state", "recurrent 32 state", "no context", "w-1 w-2 w-3"} <= set(
                    step.evidence
                )
                assert ("text so far" in step.evidence) == (history == "adaptive")
                logit = np.log(step.probability) - np.log1p(-step.probability)
                assert sum(step.evidence.values()) == pytest.approx(logit, abs=1e-4)
            assert any(abs(step.evidence["linear 32 state"]) > 1e-3 for step in steps)
        log_probs = [sum(np.log(s.probability) for s in model.explain(state, word, tree=t)) for t in (0, 1)]
        expected = np.log(model.tree_weights[history] @ np.exp(log_probs))
        assert np.log(model.distribution(state)[model.vocabulary.id(word)]) == pytest.approx(
            expected, abs=1e-4
        )


def test_documents_are_known_to_vector_states() -> None:
    """After the same sentence, another document before makes a difference; a sentence alone knows none."""
    model = train_word_tree(*texts()[:2], chains=["w-1"], caches=[], vectors=BOTH, n_events=1000)
    line = corpus_from_sentences(["c0w0 c1w1"], vocabulary=model.vocabulary)
    new = replace(line, document_starts=np.array([0]))
    for history in ("sentence", "document"):
        one = model.with_history(history)
        state, alone = one.score(["c3w1 c3w2 c3w0"]).state, one.score(line).log_probs.tolist()
        rest = replace(line, document_starts=np.zeros(0, np.int64))
        assert (one.score(rest, state=state).log_probs.tolist() != alone) == (history == "document")
        assert one.score(new, state=state).log_probs.tolist() == alone
        # A document may also end with the text before.
        after = one.score(["c3w1 c3w2 c3w0", ""]).state
        assert one.score(rest, state=after).log_probs.tolist() == alone


# ---- interruptions


def lesson_of(n_events: int) -> tuple[Lesson, Corpus]:
    corpus = texts()[0]
    n = n_events // corpus.n_events + 1
    whole = Lesson.of(corpus, [], 0)
    return Lesson(np.tile(whole.words, n)[:n_events], np.tile(whole.resets, n)[:n_events]), corpus


def learn(n_events: int, progress: Callable[[float, str], None]) -> None:
    lesson, corpus = lesson_of(n_events)
    trees = trees_of(corpus, [5])
    bias = [np.zeros(len(corpus.vocabulary) - 1, np.float32)]
    learn_vector_states(list(map(VectorShape.parse, BOTH)), lesson, trees, bias, progress=progress)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interruption_ends_all_threads(
    error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stategram.models.word_tree.vector_states._EVENTS_PER_CALL", 2048)
    monkeypatch.setattr("stategram.models.word_tree.vector_states._SECONDS_PER_REPORT", 0.01)
    before, calls = threading.active_count(), []

    def progress(fraction: float, message: str) -> None:
        calls.append((fraction, message))
        if "pass" in message:
            raise error("enough")

    with use_resources(threads=2), pytest.raises(error, match="enough"):
        learn(200_000, progress)
    assert threading.active_count() == before
    assert 0 <= calls[-1][0] < 1


def test_an_error_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first state fails at once; the other one would learn for a minute."""
    monkeypatch.setattr("stategram.models.word_tree.vector_states._EVENTS_PER_CALL", 2048)
    monkeypatch.setattr("stategram.models.word_tree.vector_states._SECONDS_PER_REPORT", 0.01)
    calls: list[float] = []

    def fail(*_: object) -> None:
        raise MemoryError("enough")

    monkeypatch.setitem(vector_states._LEARN, "linear", fail)
    before = threading.active_count()
    with use_resources(threads=2), pytest.raises(MemoryError, match="enough"):
        learn(400_000, lambda fraction, _: calls.append(fraction))
    assert threading.active_count() == before
    assert max(calls, default=0.0) < 0.9


def test_progress_rises_and_says_what_is_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stategram.models.word_tree.vector_states._EVENTS_PER_CALL", 2048)
    monkeypatch.setattr("stategram.models.word_tree.vector_states._SECONDS_PER_REPORT", 0.001)
    calls: list[tuple[float, str]] = []
    with use_resources(threads=2):
        learn(20_000, lambda fraction, message: calls.append((fraction, message)))
    fractions = [fraction for fraction, _ in calls]
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1
    shown = re.compile(
        r"vector state (linear|recurrent) 32: pass \d+ of \d+, perplexity [\d,]+\.\d of the training text|"
        r"vector states"
    )
    assert all(shown.fullmatch(message) for _, message in calls)


# ---- files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    trained().save(tmp_path / "model")
    return tmp_path / "model"


Change = Callable[[HostileFile], None]


def in_array(name: str, change: Callable[[Any], Any]) -> Change:
    return lambda file: file.write(arrays={**file.arrays, name: change(file.arrays[name])})


def with_one(value: float) -> Callable[[Any], Any]:
    def change(array: Any) -> Any:
        found = array.copy()
        found[len(found) // 3] = value
        return found

    return change


def without(name: str) -> Change:
    return lambda file: file.write(arrays={at: one for at, one in file.arrays.items() if at != name})


LINEAR = [
    f"vectors-0/{name}"
    for name in ("near", "near-scales", "far", "far-scales", "positions", "sums", "decays")
]
RECURRENT = [f"vectors-1/{name}" for name in ("words", "word-scales", "matrix", "bias")]
NODES = [
    f"vectors-{number}/node-{name}-{tree}"
    for number, tree in ((0, 1), (1, 0))
    for name in ("vectors", "scales", "bias")
]
FLOATS = [
    name
    for name in (*LINEAR, *RECURRENT, *NODES)
    if not name.endswith(("near", "far", "words", "vectors-0", "vectors-1"))
]


def changes() -> list[tuple[str, Change]]:
    found: list[tuple[str, Change]] = []
    for name in (*LINEAR, *RECURRENT, *NODES):
        found += [
            (f"{name} shorter", in_array(name, lambda of: of[:-1])),
            (f"{name} longer", in_array(name, lambda of: np.append(of, of[-1:]))),
            (f"{name} empty", in_array(name, lambda of: of[:0])),
            (f"{name} of integers", in_array(name, lambda of: of.astype(np.int32))),
            (f"{name} missing", without(name)),
        ]
    for name in FLOATS:
        found += [(f"{name} {value}", in_array(name, with_one(value))) for value in (np.nan, np.inf)]
    for value in (
        [],
        ["linear 64", "recurrent 32"],
        ["recurrent 32", "linear 32"],
        ["cubic 32", 5],
        3,
    ):
        found.append((f"manifest {value}", lambda file, value=value: file.change(vectors=value)))  # type: ignore[misc]
    return found


@pytest.mark.parametrize("change", [pytest.param(change, id=name) for name, change in changes()])
def test_a_file_that_does_not_fit_together(file: Path, change: Change) -> None:
    change(HostileFile(file))
    with pytest.raises(BadDataError):
        open_model(file)
    # What is not compared with checksums is found when it is used.
    with pytest.raises(ValueError, match=r"\w"):
        score_in_all_histories(file)


def score_in_all_histories(file: Path) -> None:
    opened = open_model(file, verify=False)
    for history in HISTORIES:
        opened.with_history(history).score("c0w0 c1w1")


def test_numbers_that_are_only_wrong_are_proper_probabilities(file: Path) -> None:
    random = np.random.default_rng(1)
    hostile = HostileFile(file)
    changed = dict(hostile.arrays)
    for name in (*LINEAR[:-1], *RECURRENT, *NODES):
        array = changed[name].copy()
        places = random.integers(0, len(array), 3)
        large = 0.9 * float(np.finfo(array.dtype).max) if array.dtype.kind == "f" else 0.0
        array[places] = (
            random.integers(0, 256, 3) if array.dtype == np.uint8 else random.choice([large, -large, 0], 3)
        )
        changed[name] = array
    hostile.write(arrays=changed)
    for verify in (True, False):
        opened = open_model(file, WordTreeModel, verify=verify)
        for history in HISTORIES:
            one = opened.with_history(history)
            state = one.score("c0w0 c1w1 c0w0").state
            assert one.distribution(state).sum() == pytest.approx(1.0, abs=1e-9)


# ---- a training that is killed

TRAIN = """
[[part]]
model = "word-tree"
trees = [4]
classes = [5]
states = ["w-1 4", "linear 32", "recurrent 32"]
chains = ["w-1 w-2", "s1-1"]
caches = ["0.98"]
events = 300
"""
ENDED = """
import os, signal, sys
import stategram.models.word_tree.vector_states as vector_states
from stategram.cli import main

how, kind = getattr(signal, sys.argv[1]), "_learn_" + sys.argv[2]
learn = vector_states._passes
def ended(*arguments):
    learn(*arguments)
    if str(arguments[0]).startswith(sys.argv[2]):
        os.kill(os.getpid(), how)
        learn(*arguments)
vector_states._passes = ended
main(sys.argv[3:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(("how", "kind"), [("SIGKILL", "linear"), ("SIGINT", "recurrent")])
def test_after_a_kill_a_training_goes_on_and_gives_the_same_bytes(
    how: str, kind: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.toml").write_text(TRAIN)
    (tmp_path / "text").write_text("\n".join(planted_text()[:400]) + "\n")
    (tmp_path / "heldout").write_text("\n".join(planted_text()[400:450]) + "\n")
    given = [
        str(tmp_path / "text"),
        "--heldout",
        str(tmp_path / "heldout"),
        "--recipe",
        str(tmp_path / "mine.toml"),
        "--seed",
        "3",
    ]
    given += ["--checkpoint", str(tmp_path / "run"), "-o", str(tmp_path / "model")]
    ended = call("-c", ENDED, how, kind, "train", *given)
    assert ended.returncode == (-signal.SIGKILL if how == "SIGKILL" else 130), ended.stderr
    assert not (tmp_path / "model").exists()
    whole = ["-o", str(tmp_path / "whole"), "--checkpoint", str(tmp_path / "other")]
    for output in ([], whole):
        done = call("-m", "stategram", "train", *given, *output)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


def call(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, *arguments], check=False, capture_output=True, timeout=600)


@pytest.mark.parametrize("text", ["", "linear", "linear 33", "cubic 32", "recurrent 2048"])
def test_shapes_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="is no vector state"):
        VectorShape.parse(text)


def test_the_end_of_a_sentence_is_a_word_of_every_vocabulary() -> None:
    """Networks read it first."""
    assert corpus_from_sentences([]).vocabulary.id("</s>") == END
