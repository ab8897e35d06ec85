"""The commands that open a model: predict, export, info --verify, and what all of them refuse."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command_line import TEST, WITHOUT_UNKNOWN, check_error, make_models, run
from stategram import NgramModel, open_model, read_arpa

COMMANDS = [
    ("eval", ["TEST"]),
    ("score", ["TEST"]),
    ("predict", ["the"]),
    ("export", ["--arpa", "-"]),
    ("info", ["--verify"]),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_models(tmp_path_factory.mktemp("made"))


def test_predict(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = open_model(made / "model", NgramModel)
    expected = model.predict("the", 3)
    status, out, _ = run("predict", made / "model", "The", "--top", 3, capfd=capfd)
    assert status == 0
    lines = [line.split() for line in out.splitlines()[1:]]
    assert [line[3] for line in lines] == [word for word, _ in expected]
    assert float(lines[0][0]) == pytest.approx(expected[0][1], abs=1e-6)
    assert float(lines[2][1]) == pytest.approx(sum(p for _, p in expected), abs=1e-6)
    found = json.loads(run("predict", made / "model", "on 3", "--no-start", "--json", capfd=capfd)[1])
    assert found["history"] == ["on", "N"]
    assert found["matched"] == 2
    assert found["words"][0]["word"] == "mats"
    assert found["words"][0]["order"] == 3
    # All words of the vocabulary but <s>.
    found = json.loads(run("predict", made / "model", "", "--top", 1000, "--json", capfd=capfd)[1])
    assert len(found["words"]) == len(model.vocabulary) - 1
    assert found["words"][-1]["cumulative"] == pytest.approx(1.0, abs=1e-6)


def test_predict_names_unknown_words(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, _, err = run("predict", made / "model", "the zebra", capfd=capfd)
    assert (status, err) == (0, "not in the vocabulary: zebra\n")


def test_predict_takes_bytes_that_are_not_text(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("predict", made / "model", "caf\udce9 the", "--json", capfd=capfd)
    assert status == 0
    assert json.loads(out)["unknown"] == ["caf\ufffd"]


def test_predict_takes_histories_from_stdin(made: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stategram", "predict", str(made / "model"), "-", "--top", "2"],
        input="the\n\na cat\n",
        text=True,
        capture_output=True,
        check=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    model = open_model(made / "model", NgramModel)
    expected = [word for history in ("the", "", "a cat") for word, _ in model.predict(history, 2)]
    assert [line[1] for line in lines] == expected
    assert [line[0] for line in lines] == ["1", "1", "2", "2", "3", "3"]


def test_export(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.arpa.gz"
    assert run("export", made / "model", "--arpa", out, capfd=capfd)[0] == 0
    assert gzip.decompress(out.read_bytes()) == gzip.decompress((made / "model.arpa.gz").read_bytes())
    status, text, _ = run("export", made / "model", "--arpa", "-", capfd=capfd)
    assert status == 0
    assert (
        read_arpa(io.BytesIO(text.encode())).trie.sizes == open_model(made / "model", NgramModel).trie.sizes
    )
    status, _, err = run("export", out, "--arpa", out, capfd=capfd)
    assert status == 2
    assert "is an input too" in err


def test_verify(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("info", made / "model", "--verify", capfd=capfd)
    assert status == 0
    checked = [line.split(":")[0] for line in out.splitlines()]
    assert checked == [f"OK  {name}" for name in (made / "model", "structure", "sums")]
    status, out, _ = run("info", made / "model.arpa.gz", "--verify", capfd=capfd)
    assert status == 0
    assert "OK  sums: after 100 histories" in out


def test_verify_finds_sums_that_are_off(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = open_model(made / "model", NgramModel)
    trie = model.trie.plain()
    trie.backoffs[1 + trie.numbers[model.vocabulary.id("the")]] = 0.5
    NgramModel.from_plain(model.vocabulary, trie).save(tmp_path / "model")
    status, out, err = run("info", tmp_path / "model", "--verify", capfd=capfd)
    assert status == 3
    assert "OK  structure" in out
    assert "the probabilities after " in err
    assert "off by" in err


@pytest.mark.parametrize(("command", "rest"), COMMANDS)
def test_a_damaged_file_is_named(
    made: Path, tmp_path: Path, command: str, rest: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    data = (made / "model").read_bytes()
    placed = [str(made / one) if one == "TEST" else one for one in rest]
    for damaged in (data[:-1] + bytes([data[-1] ^ 1]), data[:-1], data[:100] + b"x" + data[101:]):
        (tmp_path / "model").write_bytes(damaged)
        status, out, err = run(command, tmp_path / "model", *placed, capfd=capfd)
        assert (status, out) == (3, "")
        assert f"{tmp_path / 'model'}: damaged, " in err


@pytest.mark.parametrize(("command", "rest"), COMMANDS)
def test_what_is_not_a_model(
    made: Path, tmp_path: Path, command: str, rest: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    placed = [str(made / one) if one == "TEST" else one for one in rest]
    for model, status, message in (
        (tmp_path / "nothing", 1, "no such model"),
        (tmp_path / "empty", 3, "a folder; expected a model file"),
        (made / "other", 3, "a clustering checkpoint, expected a model of stategram"),
        (made / "TEST", 3, "TEST:"),
    ):
        found, out, err = run(command, model, *placed, capfd=capfd)
        assert (found, out) == (status, "")
        assert message in err
        assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["eval", "MODEL", "EMPTY"], 3, "no words in"),
        (["eval", "MODEL", "FOREIGN"], 3, "no word of the model's vocabulary"),
        (["eval", "MODEL", "LATIN1"], 3, "LATIN1:2:"),
        (["eval", "MODEL", "no such file"], 1, "no such file"),
        (["eval", "MODEL", "TEST", "--digits", "a b"], 2, "it must be one word"),
        (["score", "MODEL", "TEST", "--digits", "a b"], 2, "it must be one word"),
        (["predict", "MODEL", "the", "--digits", "a b"], 2, "it must be one word"),
        (["eval", "MODEL"], 2, "Missing argument"),
        (["eval", "MODEL", "-", "-"], 2, "only once"),
        (["eval", "MODEL", "TEST", "-q", "-v"], 2, "contradict each other"),
        (["score", "MODEL", "EMPTY"], 3, "no words in"),
        (["score", "MODEL", "LATIN1"], 3, "LATIN1:2:"),
        (["score", "MODEL", "no such file"], 1, "no such file"),
        (["score", "MODEL", "TEST", "-o", "TEST"], 2, "is an input too"),
        (["score", "MODEL", "TEST", "-o", "NOFOLDER/out"], 1, "there is no folder"),
        (["score", "-"], 2, "only once"),
        (["predict", "MODEL"], 2, "Missing argument"),
        (["predict", "MODEL", "the", "--top", "0"], 2, "not in the range"),
        (["predict", "-", "-"], 2, "only once"),
        (["export", "MODEL"], 2, "give one of --arpa OUT, --class-lm PREFIX"),
        (["export", "MODEL", "--arpa", "NOFOLDER/out"], 1, "there is no folder"),
        (["info", "MODEL", "--verify", "--json"], 2, "--json cannot be combined with --verify"),
        (["info", "BROKEN", "--verify"], 3, "BROKEN:"),
        (["export", "MODEL", "--arpa", "MODEL"], 2, "is an input too"),
    ],
)
def test_errors_say_what_is_wrong(
    made: Path,
    tmp_path: Path,
    arguments: list[str],
    status: int,
    message: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    files = {
        "EMPTY": b"",
        "TEST": TEST.encode(),
        "FOREIGN": b"niente di nuovo\n",
        "LATIN1": b"the cat\ncaf\xe9\n",
        "BROKEN": WITHOUT_UNKNOWN[:-20],
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    placed = [made / "model" if one == "MODEL" else one for one in arguments]
    check_error(tmp_path, placed, status, message, capfd=capfd)


@pytest.mark.parametrize(("command", "rest"), [one for one in COMMANDS if one[0] != "info"])
def test_damage_that_was_not_looked_for_is_told(
    made: Path, tmp_path: Path, command: str, rest: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    model = open_model(made / "model", NgramModel)
    bases = np.full_like(model.trie.bases, 2**32 - 1)
    NgramModel(model.vocabulary, replace(model.trie, bases=bases)).save(tmp_path / "model")
    placed = [str(made / one) if one == "TEST" else one for one in rest]
    status, _, err = run(command, tmp_path / "model", *placed, "--no-verify", capfd=capfd)
    assert status == 3
    assert f"{tmp_path / 'model'}: the model is damaged" in err
    assert "write it again" in err
    assert "Traceback" not in err


def test_verify_takes_a_model_without_n_grams_of_some_length(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("the cat sat\na dog ran\n" * 3)
    train = ("train", tmp_path / "text", "-o", tmp_path / "m", "--order", 4, "--prune", 10)
    assert run(*train, capfd=capfd)[0] == 0
    assert 0 in open_model(tmp_path / "m", NgramModel).trie.sizes
    assert run("info", tmp_path / "m", "--verify", capfd=capfd)[0] == 0


@pytest.mark.parametrize(("command", "rest"), COMMANDS)
def test_what_an_arpa_file_lacks_is_told(
    made: Path, tmp_path: Path, command: str, rest: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    words = "\\data\\\nngram 1=3\nngram 2=0\nngram 3=1\n\n\\1-grams:\n-0.5\tthe\n-0.5\tcat\n-0.5\tran\n"
    text = words + "\n\\2-grams:\n\n\\3-grams:\n-1\tthe cat ran\n\n\\end\\\n"
    (tmp_path / "odd.arpa").write_text(text)
    placed = [str(made / one) if one == "TEST" else one for one in rest]
    err = run(command, tmp_path / "odd.arpa", *placed, capfd=capfd)[2]
    assert "note: the model has no <s>" in err
    assert "note: the model has no </s>" in err
    assert "note: 1 n-gram with which longer ones start was missing" in err
    notes = [
        line
        for line in run(command, made / "model.arpa.gz", *placed, capfd=capfd)[2].splitlines()
        if "note" in line
    ]
    assert all("the text has only 2 documents" in note for note in notes)  # which is so of TEST
    quiet = run(command, tmp_path / "odd.arpa", *placed, "-q", capfd=capfd)[2]
    assert "note" not in quiet


def test_eval_notes_that_a_model_is_not_normalized(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = "\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n-0.6\ta\t9\n-0.6\tb\n"
    (tmp_path / "odd.arpa").write_text(words + "\n\\2-grams:\n-1\ta b\n\n\\end\\\n")
    (tmp_path / "test").write_text("a a\n")
    status, _, err = run("eval", tmp_path / "odd.arpa", tmp_path / "test", capfd=capfd)
    assert status == 0
    assert "note: 2 events have a probability above 1: this model is not normalized" in err


@pytest.mark.parametrize(("order", "note"), [(1, "at least two words"), (3, None), (7, "KENLM_MAX_ORDER=7")])
def test_export_says_what_kenlm_would_not_read(
    tmp_path: Path, order: int, note: str | None, capfd: pytest.CaptureFixture[str]
) -> None:
    NgramModel.train(["the cat sat on the mat and ran"], order=order).save(tmp_path / "model")
    status, _, err = run("export", tmp_path / "model", "--arpa", tmp_path / "out.arpa", capfd=capfd)
    assert status == 0
    assert (note or "[2/2]") in err
    assert ("note" in err) == (note is not None)
    words = tmp_path / "words"
    words.write_text("the\ncat\n")
    status, _, err = run(
        "prune", tmp_path / "out.arpa", "-o", tmp_path / "few.arpa", "--vocab-file", words, capfd=capfd
    )
    assert (status, "note: KenLM" in err) == (0, note is not None)


def test_export_replaces_a_model_only_if_asked(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    mine = made / "mine.arpa"
    mine.write_text("years of work")
    status, _, err = run("export", made / "model", "--arpa", mine, capfd=capfd)
    assert (status, mine.read_text()) == (2, "years of work")
    assert err == f"stategram: error: there is a file {mine} already; --force replaces it\n"
    assert run("export", made / "model", "--arpa", mine, "--force", capfd=capfd)[0] == 0
    assert mine.read_text().startswith("\\data\\")


def test_predict_of_no_histories(made: Path) -> None:
    command = [sys.executable, "-m", "stategram", "predict", str(made / "model"), "-"]
    done = subprocess.run(command, input="", text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "<stdin>: no histories" in done.stderr
