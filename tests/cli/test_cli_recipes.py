"""`stategram train --recipe` and what follows it, `export --classes`."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import check_error, manifest_of, run
from stategram import (
    ClusteredModel,
    Mixture,
    WordTreeModel,
    corpus_from_sentences,
    open_model,
    read_arpa,
    read_classes,
)
from stategram.models import word_categories
from story import RECIPE, sentences

ON_POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "text").write_text("\n".join(sentences(500, seed=1)) + "\n")
    (tmp_path / "held").write_text("\n".join(sentences(80, seed=2)) + "\n")
    (tmp_path / "mine.toml").write_text(RECIPE)
    return tmp_path


def _train(place: Path, *more: object, recipe: object = "mine.toml", output: str = "model") -> list[str]:
    given = ["train", place / "text", "--heldout", place / "held", "-o", place / output]
    return list(map(str, [*given, "--recipe", place / recipe if recipe == "mine.toml" else recipe, *more]))


@pytest.mark.parametrize("recipe", ["fast", "paper", "best", "mine.toml"])
def test_train_and_use(place: Path, recipe: str, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(*_train(place, "--seed", 3, recipe=recipe), capfd=capfd)
    assert (status, out) == (0, ""), err
    is_tree = recipe in ("fast", "best")
    assert ("part 1 of " in err) != is_tree
    assert "On the held-out text" in err
    if is_tree:
        assert "WordTreeModel(" in err
        assert "Held-out perplexity is optimistic (weights were tuned on this text). Honest estimate" in err
    else:
        assert "ClusteredModel(" in err
        assert "on the other half; slightly optimistic, as state weights were fitted on both halves" in err
    last = [line for line in err.splitlines() if line.startswith("[")][-1]
    number, of_all = last[1 : last.index("]")].split("/")
    assert (number, last.split()[1]) == (of_all, "writing")
    model = open_model(place / "model", WordTreeModel if is_tree else Mixture)
    manifest = manifest_of(place / "model")
    assert manifest["seed"] == manifest["recipe"]["seed"] == 3
    assert manifest["text_format"]["lowercase"] is False
    parts = manifest["recipe"].get("part", [])
    assert len(parts) == len(model.parts)
    assert all(part.get("states") not in ("size", "auto") for part in parts)
    assert [(one["use"], one["sha256"]) for one in manifest["inputs"]] == [
        (use, hashlib.sha256((place / name).read_bytes()).hexdigest())
        for use, name in (("training", "text"), ("held-out", "held"))
    ]
    status, out, _ = run("eval", place / "model", place / "held", capfd=capfd)
    assert status == 0
    assert all(title in out for title in model.part_titles)
    assert f"{manifest['figures']['heldout_perplexity']:.2f}" in out
    assert run("info", place / "model", "--verify", capfd=capfd)[0] == 0
    assert run("predict", place / "model", "the old", "--top", 1, capfd=capfd)[0] == 0
    assert run("score", place / "model", place / "held", capfd=capfd)[0] == 0


def test_verbose_says_what_clusterings_came_to(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = [run(*_train(place, "--force", *more), capfd=capfd)[2] for more in ([], ["-v"])]
    for words in ("sweeps, training perplexity", "level 1: ", "level 2: ", "contexts may move"):
        assert [words in err for err in told] == [False, True]


def test_every_part_says_how_the_text_was_read(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "text").write_text((place / "text").read_text().upper())
    assert run(*_train(place, "--lowercase"), capfd=capfd)[0] == 0
    err = run("eval", place / "model", place / "text", capfd=capfd)[2]
    assert "in lower case, as in training" in err


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        (["--heldout", None], 2, "give --heldout FILE"),
        (["--order", "3"], 2, "--order cannot be combined with --recipe; write"),
        (
            ["--smoothing", "katz"],
            2,
            "--smoothing cannot be combined with --recipe; write",
        ),
        (["--min-count", "2"], 2, "--min-count cannot be combined with --recipe; write"),
        (["--prune", "0.1"], 2, "--prune cannot be combined with --recipe; write"),
        (["--recipe", "quick"], 2, "no recipe 'quick'"),
        (["--recipe", "none.toml"], 1, "no such file"),
        (["--recipe", "WRONG"], 3, "no key 'ordr'"),
        (["--recipe", "TAGGED"], 2, "or give tags for all of them (--tags)"),
        (["--recipe", "TAGGED", "--tags", "nothing"], 1, "no such file"),
        (["--tags", "brill"], 2, "recipe mine has no context that needs --tags; remove it"),
        (["--heldout", "TEXT"], 2, "is a training text too"),
        (["--heldout", "nothing"], 1, "no such file"),
        (["--heldout", "STRANGE"], 3, "held-out text: the text has no word"),
        (["--heldout", "EMPTY"], 3, "no words in"),
        (["--checkpoint", "OUT"], 2, "in the same place"),
        (["--checkpoint", "NO/FOLDER"], 1, "there is no folder"),
        (["--checkpoint", "FULL"], 2, "is not a training"),
    ],
)
def test_errors_say_what_to_do(
    place: Path, change: list[str | None], status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (place / "STRANGE").write_text("xyzzy plugh\n")
    (place / "EMPTY").write_text("")
    (place / "TEXT").symlink_to(place / "text")
    (place / "WRONG").write_text("[[part]]\nmodel = 'ngram'\nordr = 3\n")
    (place / "TAGGED").write_text("[[part]]\nmodel = 'clustered'\ncontext = 't-1'\n")
    (place / "FULL").mkdir()
    (place / "FULL" / "thesis.tex").touch()
    options = {"--heldout": str(place / "held"), "--recipe": str(place / "mine.toml")}
    changed = options | dict(zip(change[::2], change[1::2], strict=True))
    given = [one for pair in changed.items() if pair[1] is not None for one in pair]
    check_error(place, ["train", place / "text", "-o", "OUT", *given], status, message, capfd=capfd)


def test_a_checkpoint_of_another_training_is_refused(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = _train(place, "--checkpoint", place / "run")
    assert run(*given, capfd=capfd)[0] == 0
    for other in (["--seed", "1"], ["--lowercase", "--vocab", "5"]):
        status, _, err = run(*given, "--force", *other, capfd=capfd)
        assert (status, f"{place / 'run'} belongs to another training: with other texts" in err) == (2, True)
    (place / "run" / "run.json").write_text("{")
    status, _, err = run(*given, "--force", capfd=capfd)
    assert (status, "run.json: damaged; remove the folder" in err) == (3, True)


def test_an_n_gram_model_takes_what_a_recipe_takes(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ("train", place / "text", "--heldout", place / "held", "--seed", 1, "--checkpoint", place / "run")
    status, _, err = run(*given, "-o", place / "model", capfd=capfd)
    assert status == 0, err
    model = open_model(place / "model")
    perplexity = manifest_of(place / "model")["figures"]["heldout_perplexity"]
    assert perplexity == model.perplexity((place / "held").read_text().splitlines())
    status, _, err = run("train", place / "text", "-o", place / "x", "--tags", "brill", capfd=capfd)
    assert (status, "--tags is for contexts of tags: add --context" in err) == (2, True)


# A training that is killed when it has saved its clustering, finished parts or renamed files so often.
_KILLED = """
import os, signal, sys
from pathlib import Path
import stategram.clustering.context_clustering as checkpoint
import stategram.recipes.pipeline as recipe_training
from stategram.cli import main

how, left = sys.argv[1], int(sys.argv[2])

def counted(function):
    def call(*arguments, **options):
        global left
        result = function(*arguments, **options)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result
    return call

save = checkpoint.Checkpoint.save
def save_always(self, *arguments, **options):
    self.seconds = 0
    save(self, *arguments, **options)
checkpoint.Checkpoint.save = counted(save_always) if how == "saves" else save_always
if how == "parts":
    recipe_training.train_part = counted(recipe_training.train_part)
if how == "renames":
    Path.replace = counted(Path.replace)
main(sys.argv[3:])
"""


@ON_POSIX
@pytest.mark.parametrize(
    ("how", "times"),
    [("parts", 1), ("parts", 2), ("saves", 1), ("saves", 2), ("saves", 3), ("renames", 5), ("renames", 6)],
)
def test_after_a_kill_it_goes_on_and_gives_the_same_bytes(
    place: Path, how: str, times: int, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(*_train(place, output="whole"), capfd=capfd)[0] == 0
    given = _train(place, "--checkpoint", place / "run")
    ended = subprocess.run([sys.executable, "-c", _KILLED, how, str(times), *given], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert not (place / "model").exists()
    status, _, err = run(*given, capfd=capfd)
    assert status == 0, err
    assert "      kept\n      NgramModel" in err
    assert "is no longer needed" in err
    assert (place / "model").read_bytes() == (place / "whole").read_bytes()
    assert not list((place / "run").glob("*.partial"))
    # A training that is done can be resumed too.
    assert run(*given, "--force", capfd=capfd)[0] == 0
    assert (place / "model").read_bytes() == (place / "whole").read_bytes()


# A training that is interrupted in the first sweep of its clustering of contexts.
_INTERRUPTED = """
import os, signal, sys
from stategram.cli import main
from stategram.clustering.levels import ContextLevels
from stategram.clustering.tree_clustering import TreeClustering

sweep = TreeClustering.sweep
def interrupted(self, *arguments, **options):
    if interrupted.first and isinstance(self.levels, ContextLevels):
        interrupted.first = False
        os.kill(os.getpid(), signal.SIGINT)
    return sweep(self, *arguments, **options)
interrupted.first = True
TreeClustering.sweep = interrupted
main(sys.argv[1:])
"""


# A command that is interrupted, then interrupted again while it says so and while it ends.
_IMPATIENT = """
import atexit, os, signal, sys
import stategram.cli.entry as entry
from stategram.cli import main

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

atexit.register(interrupt)
entry.cli.invoke = interrupt
if sys.argv[1] == "twice":
    entry._say = interrupt
main(["demo"])
"""


@ON_POSIX
@pytest.mark.parametrize("times", ["once", "twice"])
def test_several_ctrl_c_are_as_one(times: str) -> None:
    command = [sys.executable, "-c", _IMPATIENT, times]
    assert subprocess.run(command, check=False, capture_output=True).returncode == 130


@ON_POSIX
def test_ctrl_c(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = _train(place, "--checkpoint", place / "run")
    command = [sys.executable, "-c", _INTERRUPTED, *given]
    ended = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ended.returncode == 130
    assert f"interrupted; progress saved in {place / 'run'}; run the same command to continue" in ended.stderr
    assert not list(place.glob("model*"))
    assert sorted(one.name.split("-")[0] for one in (place / "run").iterdir()) == [
        "classes",
        "model",
        "model",
        "run.json",
        "run.lock",
    ]
    assert run(*given, capfd=capfd)[0] == 0
    assert run(*_train(place, output="whole"), capfd=capfd)[0] == 0
    assert (place / "model").read_bytes() == (place / "whole").read_bytes()


def test_export_classes(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(*_train(place), capfd=capfd)[0] == 0
    status, _, err = run("export", place / "model", "--classes", place / "c.tsv", capfd=capfd)
    assert status == 2
    assert "2: CategoryNgramModel" in " ".join(err.split())
    assert "writing" not in err
    model = open_model(place / "model", Mixture)
    for part, format in ((2, "tsv"), (3, "json"), (3, "srilm")):
        out = place / f"classes.{part}.{format}"
        status, _, err = run(
            "export", place / "model", "--classes", out, "--part", part, "--format", format, capfd=capfd
        )
        assert status == 0, err
        found = read_classes(out)
        assert set(found) == set(model.vocabulary.words[3:])
        labels = word_categories(model.parts[part - 1])
        assert labels is not None
        pairs = {(found[word], int(labels[model.vocabulary.id(word)])) for word in found}
        assert len(pairs) == len({one for one, _ in pairs}) == len({other for _, other in pairs})
    for arguments, expected, message in (
        (["--classes", "-", "--part", "1"], 2, "these parts"),
        (["--classes", "-", "--arpa", "-"], 2, "give one of --arpa OUT, --class-lm PREFIX"),
        (["--arpa", "-", "--part", "2"], 2, "give the training text (--train)"),
        (["--arpa", "-", "--part", "9"], 2, "these parts of"),
        (["--fst", "G", "--closed"], 2, "--closed goes with --arpa"),
        (["--states", "-", "--format", "tsv"], 2, "--format goes with --classes"),
        (["--states", "-", "--part", "2"], 2, "these parts"),
        (["--fst", "G"], 3, "as an acceptor, or one part of it: --part 1"),
        (["--classes", "-", "--format", "brown"], 2, "'brown' is not one of"),
    ):
        status, out_, err = run("export", place / "model", *arguments, capfd=capfd)
        assert (status, out_) == (expected, "")
        assert message in " ".join(err.split())
    run("train", place / "text", "-o", place / "ngram", capfd=capfd)
    status, _, err = run("export", place / "ngram", "--classes", "-", capfd=capfd)
    assert status == 3
    assert "no word classes" in err


def test_export_of_parts(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(*_train(place), capfd=capfd)[0] == 0
    ngram, category_ngram, _ = open_model(place / "model", Mixture).parts
    for arguments in (
        ["--arpa", place / "out.arpa", "--part", 1, "--closed"],
        ["--class-lm", place / "out", "--force"],
        ["--fst", place / "out", "--part", 1, "--backoff-symbol", "#0"],
    ):
        if arguments[0] == "--class-lm":  # which overwrites the first
            assert read_arpa(place / "out.arpa").perplexity("the cat") == pytest.approx(
                ngram.perplexity("the cat"), rel=1e-5
            )
        status, _, err = run("export", place / "model", *arguments, capfd=capfd)
        assert status == 0, err
    assert read_arpa(place / "out.arpa").order == category_ngram.order
    assert len(read_classes(place / "out.classes")) == len(category_ngram.vocabulary) - 3
    assert (place / "out.syms").read_text().endswith(f"#0\t{len(ngram.vocabulary) + 1}\n")
    assert (place / "out.fst.txt").read_bytes().startswith(b"0\t")


def test_export_states(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(*_train(place), capfd=capfd)[0] == 0
    (place / "kept").write_text("kept")
    status, _, err = run("export", place / "model", "--states", place / "kept", capfd=capfd)
    assert (status, "kept already; --force replaces it" in err) == (2, True)
    status, out, err = run("export", place / "model", "--states", "-", capfd=capfd)
    assert status == 0, err
    head, *rows = [line.split("\t") for line in out.splitlines()]
    assert head == ["state", "events", "g-2", "w-1"]
    model = open_model(place / "model", Mixture).parts[2]
    assert isinstance(model, ClusteredModel)
    level = model.tree.levels[-1]
    assert sorted((int(row[0]), int(row[1])) for row in rows) == sorted(
        zip(level.states.tolist(), level.counts.tolist(), strict=True)
    )
    # The model itself finds the same states for these contexts.
    for state, _, before, word in rows:
        corpus = corpus_from_sentences([f"{before[1:]} {word} the"], vocabulary=model.vocabulary)
        if before[1:] not in ("<s>", "</s>") and word != "<s>":
            assert model.tree.find(corpus)[-1][0][2] == int(state)
    totals: dict[str, int] = {}
    for state, events, *_ in rows:
        totals[state] = totals.get(state, 0) + int(events)
    assert list(totals) == sorted(totals, key=lambda state: (-totals[state], int(state)))
    assert f"{len(totals)} states of {len(rows)} contexts: ClusteredModel(g-2,w-1" in err
    run("train", place / "text", "-o", place / "ngram", capfd=capfd)
    status, _, err = run("export", place / "ngram", "--states", "-", capfd=capfd)
    assert status == 3
    assert "it has no states: train with" in err
