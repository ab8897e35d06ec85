"""`stategram info`: what models and files are, how large, how made; and nothing that a terminal obeys."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from command_line import make_models, run
from hostile import HostileFile, forged, manifest_text
from stategram import BadDataError, CategoryNgramModel, Mixture, model_info, open_model
from stategram.storage import write_archive


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = make_models(tmp_path_factory.mktemp("made"))
    ngram = open_model(place / "model")
    text = ["the cat sat", "a dog ran"]
    category = CategoryNgramModel.train(
        ngram.score(text).corpus, {"the": 1, "a": 1, "cat": 2, "dog": 2}, order=2
    )
    Mixture.fit([ngram, category], text).save(place / "mixture", manifest={"seed": 7})
    (place / "classes.tsv").write_text("the\t0\na\t0\ncat\t1\n")
    return place


def test_what_is_in_a_model(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run("info", made / "model", capfd=capfd)
    assert status == 0
    rows = dict(re.findall("^ *(.*?)  +(.*)$", out, re.MULTILINE))
    total, model = (made / "model").stat().st_size, open_model(made / "model")
    sizes = [row[1].value for row in model.describe().tables[0].rows]
    assert rows["N-grams"] == f"{sum(map(int, sizes)):,}"  # type: ignore[arg-type]
    assert [rows[f"of length {n}"] for n in (1, 2, 3)] == [f"{size:,}" for size in sizes]
    assert f"{total / sum(map(int, sizes)):.2f} bytes per n-gram" in rows["Size"]  # type: ignore[arg-type]
    assert rows["Options"] == "lowercase true"
    found = model_info(made / "model")
    assert (found.bytes, found.kind, found.n_ngrams) == (total, "ngram", sum(found.ngrams))
    assert found.made is not None
    assert found.made["options"].items() >= {"lowercase": True, "digits": "N", "split": "unicode"}.items()


def test_parts_have_their_own_sizes(made: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run("info", made / "mixture", "--json", capfd=capfd)[1])
    assert found["made"]["seed"] == 7
    first, second = found["parts"]
    assert (first["kind"], second["kind"]) == ("ngram", "category-ngram")
    arrays = HostileFile(made / "mixture").arrays
    size = sum(array.nbytes for name, array in arrays.items() if name.startswith("1/"))
    assert second["bytes"] == size
    assert second["bytes_per_ngram"] == size / sum(second["ngrams"])
    assert first["facts"]["Smoothing"] == "kneser-ney"


def test_files_of_other_tools(made: Path, tmp_path: Path) -> None:
    info = model_info(made / "model.arpa.gz")
    assert info.ngrams == model_info(made / "model").ngrams
    assert info.facts["Words"] == info.ngrams[0]
    # The header is all that is read.
    data = gzip.decompress((made / "model.arpa.gz").read_bytes())
    (tmp_path / "cut.arpa").write_bytes(data[: data.index(b"\\1-grams:") + 20])
    assert model_info(tmp_path / "cut.arpa").ngrams == info.ngrams
    (tmp_path / "bad.arpa").write_bytes(data.replace(b"ngram 2=", b"ngram 4="))
    with pytest.raises(BadDataError, match="header of this ARPA file is damaged"):
        model_info(tmp_path / "bad.arpa")
    assert dict(model_info(made / "classes.tsv").facts) == {
        "Words": 3,
        "Classes": 2,
        "Words of the largest": 2,
    }
    assert model_info(made / "other").title == "clustering checkpoint"
    with pytest.raises(BadDataError, match="neither a model file, nor"):
        model_info(made / "TEST")


def test_hostile_files(made: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model = replace(
        open_model(made / "model"), metadata={"\x1b[2Jname": "\x1b]0;owned\x07", "digits": "\u202e"}
    )
    model.save(
        tmp_path / "model", manifest={"inputs": [{"use": "\x9b31m", "name": "a\nb"}, 3], "figures": []}
    )
    for arguments in (["info", tmp_path / "model"], ["info", tmp_path / "model", "--json"]):
        status, out, err = run(*arguments, capfd=capfd)
        assert (status, err) == (0, "")
        assert not any(c in out for c in "\x1b\x07\x9b\u202e")
        assert "owned" in out
    parts: list[dict[str, object]] = []
    for _ in range(200):
        parts = [{"model": "mixture", "parts": parts, "report": {}}]
    texts = {"vocabulary": b"<unk>\t0\n<s>\t0\n</s>\t0\n"}
    arrays = {"weights": {"x": np.zeros(1)}}
    write_archive(tmp_path / "deep", kind="model", texts=texts, arrays=arrays)
    deep = HostileFile(tmp_path / "deep")
    deep.change(model="mixture", parts=parts)
    deeper = manifest_text(deep.manifest | {"parts": parts}).replace('"parts": [', '"parts": [' * 200, 300)
    for text in (None, deeper, "[" * 100_000):
        if text is not None:
            deep.path.write_bytes(forged(text, "", b""))
        status, _, err = run("info", tmp_path / "deep", capfd=capfd)
        assert status == 3
        assert "Traceback" not in err
