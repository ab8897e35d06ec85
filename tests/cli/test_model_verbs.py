"""The commands that take models and make a model: mix, prune."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import kenlm
import pytest

from command_line import TRAIN, WITHOUT_UNKNOWN, manifest_of, run
from stategram import (
    CacheModel,
    CategoryNgramModel,
    Mixture,
    NgramModel,
    UsageError,
    compare,
    merge_ngrams,
    open_model,
    read_arpa,
    write_arpa,
)
from stategram.models import compact_model, model_size
from stategram.text import TextFormat, corpus_from_sentences
from story import sentences

NEWS = "the cow sat on the cat\na cow ran\nthe cat ran\n" * 4
HELDOUT = "the cow sat\nthe dog ran on the mats\na cat sat\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "train").write_text(TRAIN)
    (tmp_path / "news").write_text(NEWS)
    (tmp_path / "heldout").write_text(HELDOUT)
    NgramModel.train(TRAIN.splitlines(), 3).save(tmp_path / "model")
    write_arpa(NgramModel.train(NEWS.splitlines(), 2), tmp_path / "news.arpa")
    (tmp_path / "closed.arpa").write_bytes(WITHOUT_UNKNOWN)
    return tmp_path


def test_a_mixture_of_a_model_file_and_an_arpa_file(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = place / "mixture"
    given = ("mix", place / "model", place / "news.arpa")
    status, _, err = run(*given, "--heldout", place / "heldout", "-o", out, capfd=capfd)
    assert status == 0, err
    assert f"{place / 'model'} lacks 1 word of the others, which share its <unk>" in err
    table = err[err.index("Alone") :].splitlines()[1:4]
    assert ["-gram model" in line for line in table] == [True, True, False]
    found = open_model(out, Mixture)
    assert found.vocabulary.words[-1] == "cow"
    assert found.training_info["unknown"] == 0
    manifest = manifest_of(out)
    assert [one["use"] for one in manifest["inputs"]] == ["model", "model", "held-out"]
    assert all(one["sha256"] for one in manifest["inputs"])
    assert run("info", out, "--verify", capfd=capfd)[0] == 0
    status, _, err = run(*given, "--weights", "0.75,0.25", "-o", out, capfd=capfd)
    assert (status, "--force replaces it" in err) == (2, True)
    status, _, err = run(
        *given, "--weights", "0.75 0.25", "--heldout", place / "heldout", "-o", out, "--force", capfd=capfd
    )
    assert status == 0, err
    assert re.findall(r"  +[\d.]+ +([\d.]+)%$", err, re.MULTILINE) == ["75.0", "25.0"]
    assert open_model(out, Mixture).gate.weights({}, 1).tolist() == [[0.75, 0.25]]


def test_models_merged_into_one(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = place / "merged.arpa"
    given = ("mix", place / "model", place / "news.arpa", "--arpa", out)
    status, _, err = run(*given, "--heldout", place / "heldout", capfd=capfd)
    assert status == 0, err
    merged = read_arpa(out)
    (shown,) = re.findall(r"([\d.]+)  merged into one n-gram model", err)
    assert float(shown) == pytest.approx(merged.perplexity(HELDOUT.splitlines()), abs=0.006)
    assert run("info", out, "--verify", capfd=capfd)[0] == 0
    assert kenlm.Model(str(out)).score("the cow sat") == pytest.approx(
        merged.score("the cow sat").log_probs.sum() / 2.302585093, abs=1e-4
    )
    # Nothing is lost where all is given to one.
    assert run(*given, "--weights", "1,0", "--force", capfd=capfd)[0] == 0
    model = open_model(place / "model")
    assert read_arpa(out).perplexity(TRAIN.splitlines()) == pytest.approx(
        model.perplexity(TRAIN.splitlines()), rel=1e-4
    )


def test_what_mix_shows_and_refuses(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model, news, out, heldout = place / "model", place / "news.arpa", place / "out", place / "heldout"
    cache = CacheModel.train(TRAIN.splitlines())
    cache.save(place / "cache")
    lower = replace(NgramModel.train(["a cat"], 1), training_format=TextFormat(lowercase=True))
    lower.save(place / "lower")
    for arguments, status, message in (
        ((model, news, "--heldout", heldout), 2, "give -o OUT for a mixture, or --arpa OUT"),
        ((model, news, "-o", out), 2, "give --heldout FILE"),
        ((model, news, "-o", out, "--weights", "half"), 2, "expected numbers such as 0.7,0.3"),
        ((model, news, "-o", out, "--weights", "0.5"), 2, "1 for 2 models"),
        ((model, news, "-o", out, "--weights", "0.5,0.5", "--buckets", "all"), 2, "--buckets is for"),
        ((model, news, "-o", place / "out.arpa", "--weights", "1,0"), 2, "--arpa merges n-gram models"),
        ((model, news, "-o", model, "--weights", "1,0"), 2, "is an input too"),
        ((model, news, "--arpa", news, "--weights", "1,0"), 2, "is an input too"),
        (
            (model, place / "cache", "--arpa", place / "o.arpa", "--weights", "1,0"),
            3,
            "only a model of n-grams",
        ),
        ((model, place / "nothing", "-o", out, "--weights", "1,0"), 1, "no such file"),
    ):
        found, _, err = run("mix", *arguments, capfd=capfd)
        assert (found, message in err) == (status, True), err
    assert not out.exists()
    found, _, err = run("mix", model, place / "closed.arpa", "--weights", "1,0", "-o", out, capfd=capfd)
    assert (found, "which are impossible by it, as it has no <unk>" in err) == (0, True)
    both = ("mix", place / "lower", model, place / "cache", "--heldout", heldout, "-o", out, "--force")
    found, _, err = run(*both, capfd=capfd)
    assert (found, "words in lower case, as in training" in err) == (0, True), err
    assert open_model(out).text_format.lowercase
    assert run(*both, "--no-lowercase", capfd=capfd)[0] == 0
    assert not open_model(out).text_format.lowercase


def test_prune(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    NgramModel.train(sentences(400, seed=1), 4).save(place / "whole")
    whole = open_model(place / "whole")
    out, budget = place / "smaller", int(0.7 * model_size(whole))
    status, _, err = run("prune", place / "whole", "-o", out, "--max-size", budget, capfd=capfd)
    assert status == 0, err
    size = out.stat().st_size
    assert budget - 8192 < size <= budget
    assert f"{size:,} bytes" in err
    arpa = place / "smaller.arpa.gz"
    for option, value in (("--max-ngrams", 1000), ("--prune", 1e-4), ("--max-size", "20k")):
        given = ("prune", place / "whole", "-o", arpa, option, value, "--force")
        assert run(*given, capfd=capfd)[0] == 0
    assert 0.9 * 20 * 1024 < arpa.stat().st_size <= 20 * 1024
    assert run("info", arpa, "--verify", capfd=capfd)[0] == 0
    # Of an ARPA file to stdout; the same as in training.
    write_arpa(open_model(place / "whole", NgramModel), place / "whole.arpa")
    status, printed, _ = run("prune", place / "whole.arpa", "-o", "-", "--prune", 1e-4, capfd=capfd)
    trained = NgramModel.train(sentences(400, seed=1), 4, prune=1e-4)
    assert (status, re.findall(r"^ngram \d=(\d+)", printed, re.MULTILINE)) == (
        0,
        list(map(str, trained.trie.sizes)),
    )
    status, _, err = run("prune", place / "whole", "-o", place / "all", "--max-size", "1G", capfd=capfd)
    assert (status, "nothing had to be dropped" in err) == (0, True)
    CategoryNgramModel.train(["a b"], {"a": 1, "b": 2}, 2).save(place / "categories")
    CacheModel.train(["a b"]).save(place / "cache")
    for arguments, expected, message in (
        (("whole", "-o", out, "--prune", 1e-4), 2, "--force replaces it"),
        (("whole", "-o", place / "x"), 2, "give one of --prune"),
        (
            ("whole", "-o", place / "x", "--max-ngrams", 9, "--max-size", 9),
            2,
            "--max-size limit the size",
        ),
        (("whole", "-o", place / "x", "--prune", "nan"), 2, "--prune must be a number"),
        (("whole", "-o", place / "x", "--max-ngrams", 2), 2, "cannot be dropped"),
        (("whole", "-o", place / "x", "--max-size", "1k"), 2, "bytes are too few"),
        (("whole", "-o", place / "x", "--max-size", "much"), 2, "not a size"),
        (("categories", "-o", place / "x.arpa", "--prune", 1), 3, "only a model of n-grams"),
        (("cache", "-o", place / "x", "--prune", 1), 2, "no n-grams to drop"),
        (("whole", "-o", place / "whole", "--prune", 1, "--force"), 2, "is an input too"),
    ):
        status, _, err = run("prune", place / arguments[0], *arguments[1:], capfd=capfd)
        assert (status, message in err) == (expected, True), err


def test_train_to_a_budget(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "text").write_text("\n".join(sentences(400, seed=1)))
    train = ("train", place / "text", "--order", 4)
    assert run(*train, "-o", place / "few", "--max-ngrams", 800, capfd=capfd)[0] == 0
    few = open_model(place / "few", NgramModel)
    assert 790 <= sum(few.trie.sizes) <= 800
    status, _, err = run(*train, "-o", place / "small", "--max-size", "30k", capfd=capfd)
    assert (status, "[3/3] writing" in err) == (0, True)
    size = (place / "small").stat().st_size
    assert 30 * 1024 - 4096 < size <= 30 * 1024
    status, _, err = run(*train, "-o", place / "x", "--max-size", "1M", "--prune", 1e-8, capfd=capfd)
    assert (status, "give one of them" in err) == (2, True)


def test_prune_to_a_list_of_words(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "words").write_text("the\ncat\nsat\nzebra\n")
    out = place / "few"
    status, _, err = run("prune", place / "model", "--vocab-file", place / "words", "-o", out, capfd=capfd)
    assert (status, "3 of 9 words kept; 1 of the list are not in it" in err) == (0, True), err
    assert run("info", out, "--verify", capfd=capfd)[0] == 0
    model, few = open_model(place / "model"), open_model(out)
    assert few.score("the cat sat").log_probs == pytest.approx(model.score("the cat sat").log_probs, rel=1e-6)
    arpa = place / "few.arpa"
    given = ("prune", place / "news.arpa", "--vocab-file", place / "words", "-o", arpa)
    assert run(*given, capfd=capfd)[0] == 0
    assert run("info", arpa, "--verify", capfd=capfd)[0] == 0
    assert kenlm.Model(str(arpa)).score("the cat sat") == pytest.approx(
        kenlm.Model(str(place / "news.arpa")).score("the cat sat"), abs=1e-5
    )
    # Words first, then n-grams: to a budget, and rounded.
    NgramModel.train(sentences(400, seed=1), 4).save(place / "whole")
    frequent = sorted(open_model(place / "whole").vocabulary.words[3:])[::2]
    (place / "list").write_text("\n".join(frequent))
    given = ("prune", place / "whole", "--vocab-file", place / "list", "-o", place / "both")
    status, _, err = run(*given, "--max-ngrams", 500, "--compact", capfd=capfd)
    assert (status, "[2/4] dropping words" in err) == (0, True), err
    both = open_model(place / "both", NgramModel)
    assert sorted(both.vocabulary.words[3:]) == frequent
    assert 490 <= sum(both.trie.sizes) <= 500
    assert [one["use"] for one in manifest_of(place / "both")["inputs"]] == ["model", "vocabulary"]
    status, _, err = run(*given[:-1], place / "small", "--max-size", "10k", capfd=capfd)
    assert (status, (place / "small").stat().st_size <= 10 * 1024) == (0, True), err
    (place / "others").write_text("no\nsuch\n")
    status, _, err = run(
        "prune", place / "model", "--vocab-file", place / "others", "-o", place / "x", capfd=capfd
    )
    assert (status, "none of its 2 words is in" in err) == (3, True)
    Mixture.fit([model, few], ["the cat sat"]).save(place / "mixture")
    status, _, err = run(
        "prune", place / "mixture", "--vocab-file", place / "words", "-o", place / "x", capfd=capfd
    )
    assert (status, "mix them again" in err) == (2, True)


def test_a_lexicon_may_have_a_word_twice(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (place / "lexicon").write_text("the DH AH\nthe DH IY\ncat K AE T\n")
    given = ("prune", place / "model", "--vocab-file", place / "lexicon", "-o", place / "out")
    assert run(*given, capfd=capfd)[0] == 0
    assert set(open_model(place / "out").vocabulary.words[3:]) == {"the", "cat"}


def test_a_mixture_splits_text_as_its_first_model_does(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run("train", place / "train", "-o", place / "a", "--split", "ascii", "-q", capfd=capfd)[0] == 0
    given = ("mix", place / "a", place / "model", "--weights", "0.5,0.5", "-o", place / "out")
    status, _, err = run(*given, capfd=capfd)
    assert (status, "normalized in another way" in err) == (0, False)
    assert open_model(place / "out").text_format.split == "ascii"


def test_models_that_read_text_differently_are_not_mixed(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, options in (("cased", ()), ("lower", ("--lowercase", "--digits", "N"))):
        assert run("train", place / "train", "-o", place / name, *options, "-q", capfd=capfd)[0] == 0
    given = ("mix", place / "cased", place / "lower", "--weights", "0,1", "-o", place / "out", "--force")
    status, _, err = run(*given, capfd=capfd)
    assert status == 2
    assert "cased and " in err
    assert "lowercase is False in the first, True in the second; digits is None in the first, 'N'" in err
    both = [open_model(place / name, NgramModel) for name in ("cased", "lower")]
    with pytest.raises(UsageError, match="read text in different ways: lowercase is False"):
        Mixture.fit(both, ["the cat sat"])
    with pytest.raises(UsageError, match="Train both with the same options"):
        merge_ngrams(both, [0.5, 0.5])
    # Said to be read in one way, they are.
    assert run(*given, "--lowercase", "--digits", "N", capfd=capfd)[0] == 0
    mixed = open_model(place / "out")
    assert mixed.text_format == TextFormat(lowercase=True, digits="N")
    assert mixed.perplexity("the cat sat") == pytest.approx(both[1].perplexity("the cat sat"), rel=0.02)


def test_mix_ends_with_what_it_gains(
    place: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("heldout").write_text("\n".join([*sentences(60, seed=3), "maria sees a zebra"]))
    for name, text in (("a", sentences(500, seed=1)), ("b", ["the dog ran", *sentences(150, seed=8)])):
        NgramModel.train(text, 2).save(name)
    status, _, err = run("mix", "a", "b", "--heldout", "heldout", "-o", "out", capfd=capfd)
    assert status == 0
    known = re.search(
        r"known words of the held-out text \(the weights were learned on it\): mixture ([\d.]+), "
        r"best model \(a\) ([\d.]+): -[\d.]+% \(",
        err,
    )
    assert known is not None, err
    text = Path("heldout").read_text().splitlines()
    found = compare([open_model(name) for name in ("a", "b", "out")], text)
    assert float(known[1]) == pytest.approx(found.models[2].perplexity_known, abs=0.006)
    assert float(known[2]) == pytest.approx(found.models[0].perplexity_known, abs=0.006)
    # What eval says of each model is there too.
    for name in ("a", "b"):
        figures = json.loads(run("eval", name, "heldout", "--json", "-q", capfd=capfd)[1])
        assert f"{name} {figures['perplexity']:,.2f}" in err
    compact_model(open_model("a")).save("c")
    status, _, err = run("mix", "b", "c", "--heldout", "heldout", "-o", "rounded", capfd=capfd)
    assert (status, "note: c is compact; its p(<unk>) is not fitted" in err) == (0, True), err
    # Weights that are given are measured, and nothing is fitted.
    given = ("mix", "a", "b", "--heldout", "heldout", "--weights", "0.5,0.5", "-o", "half")
    status, _, err = run(*given, capfd=capfd)
    assert (status, "p(<unk>)" in err, "were learned" in err) == (0, False, False)
    assert open_model("half").parts[0].distribution("").tolist() == open_model("a").distribution("").tolist()


def test_a_mixture_splits_no_word_of_models_of_unknown_texts(
    place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, words in (("plain", ["a", "b"]), ("wide", ["a", "5\xa0%"])):
        NgramModel.train(corpus_from_sentences([words], TextFormat(split="ascii")), 1).save(place / name)
    given = ("mix", place / "plain", place / "wide", "--weights", "0.5,0.5", "-o", place / "out", "--force")
    assert run(*given, capfd=capfd)[0] == 0
    assert open_model(place / "out").text_format == TextFormat(split="ascii")
    assert run(*given, "--split", "unicode", "--lowercase", capfd=capfd)[0] == 0
    assert open_model(place / "out").text_format == TextFormat(lowercase=True)


def test_what_verify_says_of_a_filtered_arpa_file(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lines = (place / "news.arpa").read_text()
    # As KenLM's filter does it: lines go, all others stay.
    kept = [line for line in lines.split("\n") if "cow" not in line]
    counts = [
        sum(len(line.split("\t")[1:2] and line.split("\t")[1].split()) == n for line in kept) for n in (1, 2)
    ]
    text = re.sub(
        r"ngram (\d)=\d+", lambda found: f"ngram {found[1]}={counts[int(found[1]) - 1]}", "\n".join(kept)
    )
    (place / "filtered.arpa").write_text(text)
    status, _, err = run("info", place / "filtered.arpa", "--verify", capfd=capfd)
    assert (status, "sums below one are what vocabulary filters make" in err) == (3, True), err


def test_the_recipe_of_vosk(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """`ngram-count -wbdiscount`, `ngram -mix-lm -lambda 0.95`, `ngram -prune 3e-8`, and a file for all."""
    given, domain, mixed, small = (place / name for name in ("news.arpa", "domain", "mixed.arpa.gz", "small"))
    for command in (
        ("train", place / "train", "-o", domain, "--order", 3, "--smoothing", "witten-bell"),
        ("mix", given, domain, "--weights", "0.95,0.05", "--arpa", mixed),
        ("prune", mixed, "-o", small, "--prune", "3e-8"),
        ("export", small, "--arpa", place / "small.arpa"),
    ):
        status, _, err = run(*command, capfd=capfd)
        assert status == 0, err
    assert run("info", small, "--verify", capfd=capfd)[0] == 0
    decoder = kenlm.Model(str(place / "small.arpa"))
    assert decoder.score("the dog sat on 3 mats") > decoder.score("mats 3 on sat dog the")
    assert decoder.score("the cow sat") == pytest.approx(
        kenlm.Model(str(given)).score("the cow sat"), abs=0.3
    )
