"""The commands that open a model: eval, score, predict, export, verify."""

from __future__ import annotations

import gzip
import io
import json
import math
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command_line import run
from stategram import (
    NgramModel,
    corpus_from_sentences,
    evaluate,
    load_model,
    read_arpa,
    read_corpus,
    write_arpa,
)

TRAIN = "the cat sat\nthe dog sat on 3 mats\na cat ran\na dog ran\n" * 5
TEST = "The cat ran on 12 mats\n\n  \na zebra sat\n"
WITHOUT_UNKNOWN = b"\\data\\\nngram 1=3\n\n\\1-grams:\n-99\t<s>\n-0.30103\t</s>\n-0.30103\tcat\n\n\\end\\\n"
COMMANDS = [
    ("eval", ["TEST"]),
    ("score", ["TEST"]),
    ("predict", ["the"]),
    ("export", ["--arpa", "-"]),
    ("verify", []),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model, its ARPA file, and a test text."""
    place = tmp_path_factory.mktemp("made")
    (place / "TEST").write_text(TEST)
    sentences = TRAIN.replace("3", "N").splitlines()
    model = NgramModel.train(sentences, order=3)
    replace(model, recipe={"lowercase": True, "digits": "N"}).save(place / "model")
    write_arpa(place / "model.arpa.gz", model)
    corpus_from_sentences(sentences).save(place / "corpus")
    return place


def test_eval_treats_words_as_in_training(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("eval", made / "model", made / "TEST", "--json", capfd=capfd)
    assert status == 0
    assert "words in lower case, as in training" in err
    assert "N for numbers, as in training" in err
    figures = json.loads(out)
    model = load_model(made / "model")
    expected = evaluate(model, read_corpus(made / "TEST", lowercase=True, digits="N"))
    assert figures["perplexity"] == expected.perplexity
    assert figures["orders"][2]["events"] == expected.orders[2].events
    assert (figures["events"], figures["sentences"], figures["unknown"]) == (11, 2, 1)
    as_it_is = ("eval", made / "model", made / "TEST", "--json", "--no-lowercase", "--digits", "")
    _, out, err = run(*as_it_is, capfd=capfd)
    assert json.loads(out)["unknown"] == 3
    assert "as in training" not in err


def test_eval_prints_a_table(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    figures = json.loads(run("eval", made / "model", made / "TEST", "--json", capfd=capfd)[1])
    status, out, err = run("eval", made / "model", made / "TEST", "-q", capfd=capfd)
    assert (status, err) == (0, "")
    rows = {line[:26].strip(): line[26:].split() for line in out.splitlines()}
    assert rows["events"][0] == "11"
    assert rows["unknown words"][:2] == ["1", "11.11%"]
    assert rows["perplexity"][0] == f"{figures['perplexity']:.4f}"
    assert rows["without unknown words"] == [f"{figures['perplexity_known']:.4f}"]
    assert rows["bits per event"] == [f"{figures['bits']:.4f}"]
    assert out.splitlines()[-3].split()[:2] == ["3", "words"]
    assert out.splitlines()[-1].split()[:2] == ["1", "word"]


def test_eval_of_several_files_is_that_of_all_together(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(tmp_path / "more.gz", "wb") as file:
        file.write(b"the dog ran\n")
    out = run("eval", made / "model", made / "TEST", tmp_path / "more.gz", "--json", capfd=capfd)[1]
    assert json.loads(out)["events"] == 15


def test_an_arpa_file_is_a_model_too(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ["--lowercase", "--digits", "N", "--json"]
    folder = json.loads(run("eval", made / "model", made / "TEST", *words, capfd=capfd)[1])
    arpa = json.loads(run("eval", made / "model.arpa.gz", made / "TEST", *words, capfd=capfd)[1])
    assert arpa["perplexity"] == pytest.approx(folder["perplexity"], rel=1e-6)


def test_eval_says_how_many_events_a_model_rules_out(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arpa = WITHOUT_UNKNOWN.replace(b"1=3", b"1=4").replace(b"\n\n\\end", b"\n-99\tdog\n\n\\end")
    (tmp_path / "model.arpa").write_bytes(arpa)
    (tmp_path / "test.txt").write_text("cat dog cat\n")
    status, out, _ = run("eval", tmp_path / "model.arpa", tmp_path / "test.txt", capfd=capfd)
    assert status == 0
    rows = {line[:26].strip(): line[26:].split() for line in out.splitlines()}
    assert rows["perplexity"][0] == "inf"
    assert rows["zero probability"][0] == "1"
    out = run("eval", tmp_path / "model.arpa", tmp_path / "test.txt", "--json", capfd=capfd)[1]
    assert json.loads(out)["perplexity"] is None
    assert json.loads(out)["zero_probability"] == 1


def test_score_gives_a_line_a_word(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("score", made / "model", made / "TEST", capfd=capfd)
    assert status == 0
    header, *lines = [line.split("\t") for line in out.splitlines()]
    assert header == ["sentence", "position", "word", "log10_prob", "surprisal_bits", "order", "unknown"]
    # The words as they are in the text, the numbers of its lines.
    assert [line[2] for line in lines] == [*"The cat ran on 12 mats </s> a zebra sat </s>".split()]
    assert [line[0] for line in lines] == ["1"] * 7 + ["4"] * 4
    assert [line[1] for line in lines] == [*"1234567", *"1234"]
    model = load_model(made / "model")
    expected = [*model.full_scores("the cat ran on N mats"), *model.full_scores("a zebra sat")]
    for line, (log10_prob, order, unknown) in zip(lines, expected, strict=True):
        # Six digits after the point.
        assert float(line[3]) == pytest.approx(log10_prob, abs=0.51e-6)
        assert float(line[4]) == pytest.approx(-log10_prob * math.log2(10), abs=0.51e-6)
        assert line[5:] == [str(order), str(int(unknown))]
    assert run("score", made / "model", made / "TEST", "--no-header", capfd=capfd)[1] == out.split("\n", 1)[1]


def test_score_gives_a_line_a_sentence(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = tmp_path / "scores.tsv.gz"
    arguments = ("score", made / "model", made / "TEST", "--sentences", "-o", place, "-q")
    assert run(*arguments, capfd=capfd) == (0, "", "")
    header, *lines = [line.split("\t") for line in gzip.decompress(place.read_bytes()).decode().splitlines()]
    assert header == ["sentence", "words", "unknown", "log10_prob", "perplexity"]
    model = load_model(made / "model")
    assert [line[:3] for line in lines] == [["1", "6", "0"], ["4", "3", "1"]]
    assert float(lines[1][3]) == pytest.approx(model.score("a zebra sat"), abs=0.51e-6)
    assert float(lines[1][4]) == pytest.approx(model.perplexity("a zebra sat"), abs=0.51e-6)


def test_score_reads_stdin_by_default(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = run("score", made / "model", made / "TEST", capfd=capfd)[1]
    piped = subprocess.run(
        [sys.executable, "-m", "stategram", "score", str(made / "model")],
        input=TEST,
        text=True,
        capture_output=True,
        check=True,
    )
    assert piped.stdout == whole


def test_predict(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = load_model(made / "model")
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


def test_predict_takes_histories_from_stdin(made: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stategram", "predict", str(made / "model"), "-", "--top", "2"],
        input="the\n\na cat\n",
        text=True,
        capture_output=True,
        check=True,
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    model = load_model(made / "model")
    expected = [word for history in ("the", "", "a cat") for word, _ in model.predict(history, 2)]
    assert [line[1] for line in lines] == expected
    assert [line[0] for line in lines] == ["1", "1", "2", "2", "3", "3"]


def test_export(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.arpa.gz"
    assert run("export", made / "model", "--arpa", out, capfd=capfd)[0] == 0
    assert gzip.decompress(out.read_bytes()) == gzip.decompress((made / "model.arpa.gz").read_bytes())
    status, text, _ = run("export", made / "model", "--arpa", "-", capfd=capfd)
    assert status == 0
    assert read_arpa(io.BytesIO(text.encode())).trie.sizes == load_model(made / "model").trie.sizes
    status, _, err = run("export", out, "--arpa", out, capfd=capfd)
    assert status == 2
    assert "is an input too" in err


def test_verify(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("verify", made / "model", capfd=capfd)
    assert status == 0
    checked = [line.split(":")[0] for line in out.splitlines()]
    names = ("manifest.json", "trie.safetensors", "vocabulary.txt", "structure", "sums")
    assert checked == [f"OK  {name}" for name in names]
    status, out, _ = run("verify", made / "model.arpa.gz", "--samples", 10, capfd=capfd)
    assert status == 0
    assert "OK  sums: after 10 histories" in out


def test_verify_finds_sums_that_are_off(
    made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = load_model(made / "model")
    nodes = model.trie.nodes.copy()
    the = 1 + int(model.trie.numbers[model.vocabulary.id("the")])
    nodes[the, 1] = np.float32(0.5).view(np.uint32)  # its back-off weight
    NgramModel(model.vocabulary, replace(model.trie, nodes=nodes)).save(tmp_path / "model")
    status, out, err = run("verify", tmp_path / "model", capfd=capfd)
    assert status == 3
    assert "OK  structure" in out
    assert "the probabilities after " in err
    assert "off by" in err


@pytest.mark.parametrize(("command", "rest"), COMMANDS)
@pytest.mark.parametrize("file", ["manifest.json", "trie.safetensors", "vocabulary.txt"])
def test_a_damaged_file_is_named(
    made: Path,
    tmp_path: Path,
    command: str,
    rest: list[str],
    file: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(made / "model", tmp_path / "model")
    data = bytearray((tmp_path / "model" / file).read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "model" / file).write_bytes(data)
    placed = [str(made / one) if one == "TEST" else one for one in rest]
    status, out, err = run(command, tmp_path / "model", *placed, capfd=capfd)
    assert (status, out) == (3, "")
    assert str(tmp_path / "model" / file) in err
    (tmp_path / "model" / file).unlink()
    status, out, err = run(command, tmp_path / "model", *placed, capfd=capfd)
    assert (status, out) == (3, "")
    assert file in err


@pytest.mark.parametrize(("command", "rest"), COMMANDS)
def test_what_is_not_a_model(
    made: Path, tmp_path: Path, command: str, rest: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    placed = [str(made / one) if one == "TEST" else one for one in rest]
    for model, status, message in (
        (tmp_path / "nothing", 1, "no such model"),
        (tmp_path / "empty", 3, "no manifest.json in it"),
        (made / "corpus", 3, "a corpus folder, expected a model folder"),
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
        (["export", "MODEL"], 2, "Missing option '--arpa'"),
        (["export", "MODEL", "--arpa", "NOFOLDER/out"], 1, "there is no folder"),
        (["verify", "MODEL", "--samples", "0"], 2, "not in the range"),
        (["verify", "BROKEN"], 3, "BROKEN:"),
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
    placed = [
        str(made / "model") if a == "MODEL" else str(tmp_path / a) if a.split("/")[0].isupper() else a
        for a in arguments
    ]
    found, out, err = run(*placed, capfd=capfd)
    assert found == status, err
    assert message in err
    assert out == ""
    assert "Traceback" not in err
    assert (tmp_path / "TEST").read_text() == TEST
    assert not list(tmp_path.glob("*.partial"))
