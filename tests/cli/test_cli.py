"""The command line: what goes to stdout, what to stderr, and with which exit code it ends."""

from __future__ import annotations

import gzip
import os
import re
import signal
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import click
import pytest

from command_line import check_error, run
from stategram import cli, read_corpus
from stategram.counts import count_bigrams
from stategram.display import perplexity
from stategram.evaluation import class_bigram_perplexity
from stategram.formats import read_classes

TEXT = "the cat sat\nthe dog sat\na cat ran\na dog ran\n" * 5


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


def test_help_lists_every_command(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("--help", capfd=capfd)
    assert status == 0
    listed = re.findall(r"^  (\w+) +[A-Z].*\.$", out, re.MULTILINE)
    modules = {name: import_module(f"stategram.cli.{name}") for _, name, _ in iter_modules(cli.__path__)}
    commands = [
        name for name, module in modules.items() if isinstance(getattr(module, name, None), click.Command)
    ]
    assert sorted(listed) == sorted(commands)
    assert len(listed) > 10
    for command in listed:
        assert run(command, "--help", capfd=capfd)[0] == 0


def test_classes_go_to_stdout_and_messages_to_stderr(text: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run("classes", text, "-k", 3, capfd=capfd)
    assert status == 0
    names, *rows = (line.split("\t") for line in out.splitlines())
    assert names == ["word", "class", "count"]
    label = {word: c for word, c, _ in rows}
    assert label["cat"] == label["dog"]
    assert label["the"] == label["a"]
    assert label["sat"] == label["ran"]
    assert len(set(label.values())) == 3
    assert "[1/2] reading" in err
    assert "3 classes" in err


def test_quiet_says_nothing(text: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run("classes", text, "-k", 3, "-q", capfd=capfd)[2] == ""


def test_verbose_lists_the_sweeps(text: Path, capfd: pytest.CaptureFixture[str]) -> None:
    err = run("classes", text, "-k", 3, "-v", capfd=capfd)[2]
    assert "sweep   1  place" in err
    assert "anneal" in err


@pytest.mark.parametrize("format", ["tsv", "srilm", "brown", "json"])
def test_every_format_can_be_read_back(
    text: Path, tmp_path: Path, format: str, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "classes"
    assert run("classes", text, "-k", 3, "--format", format, "-o", out, capfd=capfd)[0] == 0
    read = read_classes(out)
    assert len(read) == 6
    assert read["cat"] == read["dog"] != read["the"]


def test_stdin_and_several_compressed_files(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    packed = tmp_path / "text.txt.gz"
    packed.write_bytes(gzip.compress(TEXT.encode()))
    both = run("classes", text, packed, "-k", 3, "-q", capfd=capfd)[1]
    piped = subprocess.run(
        [sys.executable, "-m", "stategram", "classes", "-", "-k", "3", "-q"],
        input=TEXT * 2,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert both == piped


def test_evaluate_prints_figures_instead_of_classes(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "classes.tsv"
    status, table, _ = run("classes", text, "-k", 3, "--evaluate", text, "-o", out, capfd=capfd)
    assert status == 0
    assert len(read_classes(out)) == 6
    corpus, labels = read_corpus(text), {word: int(c) for word, c in read_classes(out).items()}
    of_ids = [labels.get(word, -1) for word in corpus.vocabulary.words]
    expected = class_bigram_perplexity(count_bigrams(corpus), of_ids, corpus.ids)
    assert expected.classes == 3
    assert f" {perplexity(expected.perplexity)}\n" in table


def test_init_and_fixed(text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    init = tmp_path / "init.tsv"
    init.write_text("cat\tanimal\ndog\tanimal\nthe\tarticle\nzebra\tanimal\n")
    out = run("classes", text, "-k", 3, "--init", init, capfd=capfd)[1]
    names, *rows = (line.split("\t") for line in out.splitlines())
    assert names == ["word", "class", "count"]
    label = {word: c for word, c, _ in rows}
    assert "zebra" in label
    assert label["cat"] == label["dog"]
    fixed = tmp_path / "fixed.tsv"
    fixed.write_text("cat\tx\nthe\tx\ndog\ty\n")
    out = run("classes", text, "-k", 3, "--fixed", fixed, capfd=capfd)[1]
    names, *rows = (line.split("\t") for line in out.splitlines())
    assert names == ["word", "class", "count"]
    label = {word: c for word, c, _ in rows}
    assert label["cat"] == label["the"] != label["dog"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["classes"], 2, "Missing argument"),
        (["classes", "TEXT", "-k", "0"], 2, "0 is not in the range"),
        (["classes", "TEXT", "--vocab", "3", "--vocab-file", "TEXT"], 2, "give one of them"),
        (["classes", "no such file"], 1, "no such file"),
        (["classes", "TEXT", "-q", "-v"], 2, "contradict each other"),
        (["classes", "TEXT", "--effort", "best", "--time-limit", "3"], 2, "both limit the search"),
        (["classes", "TEXT", "--time-limit", "nan"], 2, "must be a number of seconds"),
        (["classes", "-", "-"], 2, "only once"),
        (["classes", "TEXT", "--evaluate", "no such file"], 1, "no such file"),
        (["classes", "TEXT", "-o", "TEXT"], 2, "is an input too"),
        (["classes", "TEXT", "-o", ""], 2, "is empty"),
        (["classes", "TEXT", "--threads", "100000"], 2, "it must be 1 to 512"),
        (["classes", "EMPTY"], 3, "no words in"),
        (["classes", "LATIN1"], 3, ":2:"),
        (["classes", "TEXT", "--init", "EMPTY"], 3, "EMPTY"),
        (["classes", "TEXT", "--init", "MANY", "-k", "2"], 2, "name 6 classes, -k 2 is fewer"),
        (["classes", "TEXT", "-o", "NOFOLDER/out.tsv"], 1, "NOFOLDER"),
        (["no-such-command"], 2, "No such command"),
    ],
)
def test_errors_say_what_is_wrong(
    tmp_path: Path, arguments: list[str], status: int, message: str, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "TEXT").write_text(TEXT)
    (tmp_path / "EMPTY").write_text("")
    (tmp_path / "LATIN1").write_bytes("fine\ncaf\xe9\n".encode("latin-1"))
    (tmp_path / "MANY").write_text(
        "".join(f"{w}\t{i}\n" for i, w in enumerate(TEXT.split()[:3] + list("xyz")))
    )
    check_error(tmp_path, arguments, status, message, capfd=capfd)


def test_replacing_bad_bytes_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"caf\xe9 noir\n")
    status, out, err = run("classes", bad, "-k", 2, "--encoding-errors", "replace", capfd=capfd)
    assert status == 0
    assert "caf\ufffd" in out
    assert "1 bad part replaced" in err


@pytest.mark.skipif(sys.platform == "win32", reason="a shell")
@pytest.mark.parametrize(("arguments", "closed"), [("TEXT", ">&-"), ("-", "<&-")])
def test_closed_standard_streams(text: Path, arguments: str, closed: str) -> None:
    command = f"{sys.executable} -m stategram classes {arguments.replace('TEXT', str(text))} -k 2 -q {closed}"
    done = subprocess.run(command, shell=True, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert "it is closed" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_no_error(text: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as stdout:
        done = subprocess.run(
            [sys.executable, "-m", "stategram", "classes", str(text), "-q"],
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_gives_the_best_classes_so_far(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("".join(f"w{i % 97} w{i * i % 89} w{i * 7 % 101}\n" for i in range(3000)))
    process = subprocess.Popen(
        [sys.executable, "-m", "stategram", "classes", str(text), "-k", "9", "--time-limit", "600"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while "clustering" not in (line := process.stderr.readline()):
        assert line, "it ended before it clustered"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "finishing with the best classes so far" in err
    words = {word for line in text.read_text().splitlines() for word in line.split()}
    assert {line.split("\t")[0] for line in out.splitlines()[1:]} == words


@pytest.mark.parametrize(
    ("typed", "meant"), [("evall", "eval"), ("Train", "train"), ("clases", "classes"), ("frobnicate", None)]
)
def test_a_misspelled_command(typed: str, meant: str | None, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(typed, "model", capfd=capfd)
    assert (status, out) == (2, "")
    assert f"No such command '{typed}'." in err
    assert (f"Did you mean {meant}?" in err) == (meant is not None)


def test_the_version_has_a_short_option(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("-V", capfd=capfd) == run("--version", capfd=capfd)


def test_exit_codes_are_in_the_help(capfd: pytest.CaptureFixture[str]) -> None:
    described = " ".join(run("--help", capfd=capfd)[1].partition("Exit codes:")[2].split())
    for status in ("0 ok", "1 failure", "2 wrong usage", "3 bad data", "130 interrupted"):
        assert status in described


def test_how_to_use_a_command_is_shown_only_where_that_was_wrong(
    text: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "my model"
    status, _, err = run("train", text, "-o", model, capfd=capfd)
    assert status == 0
    assert f"try: stategram eval '{model}' test.txt\n" in err
    status, _, err = run("train", text, "-o", model, capfd=capfd)
    assert status == 2
    assert err == f"stategram: error: there is a file {model} already; --force replaces it\n"
    status, _, err = run("train", text, "--nonsense", capfd=capfd)
    assert status == 2
    assert err.startswith("Usage: stategram train")


def test_ctrl_c_of_a_command_without_an_output_says_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def interrupt(path: object) -> None:
        raise KeyboardInterrupt

    (tmp_path / "model").write_text("")
    monkeypatch.setattr("stategram.cli.info.model_info", interrupt)
    handler = signal.getsignal(signal.SIGINT)
    try:
        assert run("info", tmp_path / "model", capfd=capfd) == (130, "", "stategram: interrupted\n")
    finally:  # an interrupted command ignores further Ctrl-C, and so would all processes
        signal.signal(signal.SIGINT, handler)
