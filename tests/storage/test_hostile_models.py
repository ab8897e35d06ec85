"""Whatever a file holds, it is opened or refused with an error of ours: no other error, no warning."""

from __future__ import annotations

import random
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hostile import DEEP, VALUES, HostileFile, arrays_like, changed, places
from model_kinds import corpora, model_of
from stategram import BadDataError, ClusteredModel, StategramError
from stategram.cli.info import _text
from stategram.clustering import CONTEXT_EFFORTS, Checkpoint, cluster_tree
from stategram.contexts import ContextDefinition, build_tree
from stategram.evaluation import evaluate
from stategram.explore.app import ExploredModel, Explorer
from stategram.formats import model_info, write_model_classes, write_states
from stategram.models import load_model
from stategram.storage import open_archive

KINDS = (
    "ngram",
    "unigram",
    "category",
    "clustered",
    "wide",
    "nested",
    "cached",
    "word-tree",
    "vectors document",
)
TRIES = 25


def use_model(path: Path) -> None:
    """Do with a model what commands do."""
    _text(model_info(path))
    model = load_model(path)
    repr(model), model.notes, model.parameters, model.describe()
    evaluate(model, ["w3 w4 w5 w9", "w7 zebra w5"])
    model.predict("w3 w4", 3)
    manifest = open_archive(path, kind="model", verify=False).manifest
    Explorer([ExploredModel("model", model, manifest=manifest)]).answer("overview", {})
    if isinstance(model, ClusteredModel):
        write_states(model, path.parent / "states.tsv")
        write_model_classes(model, path.parent / "classes.tsv")
    model.check()


def attack(file: HostileFile, use: Callable[[Path], None], tries: int) -> int:
    """Try some of all changes; return how many were refused."""
    draw = random.Random(0)
    refused = 0

    def attempt() -> int:
        try:
            use(file.path)
        except StategramError:
            return 1
        return 0

    everywhere = [at for at in places(file.manifest) if at != ("checksum",)]
    for _ in range(tries):
        file.write(changed(file.manifest, draw.choice(everywhere), draw.choice(VALUES)))
        refused += attempt()
    for _ in range(tries):
        name = draw.choice(sorted(file.arrays))
        _, array = draw.choice(list(arrays_like(file.arrays[name])))
        file.write(arrays={**file.arrays, name: array})
        refused += attempt()
    file.write()
    use(file.path)
    return refused


@pytest.mark.parametrize("kind", KINDS)
def test_models(kind: str, tmp_path: Path) -> None:
    model_of(kind).save(tmp_path / "model", manifest={"figures": {"events": 9}, "seed": 1})
    assert attack(HostileFile(tmp_path / "model"), use_model, TRIES) > TRIES // 2


def test_checkpoints(tmp_path: Path) -> None:
    settings = CONTEXT_EFFORTS["normal"].replace(states=5, categories=5)
    tree = build_tree(corpora()[0], ContextDefinition.parse("w-2,w-1"))

    def interrupted(fraction: float, message: str) -> None:
        if fraction > 0.6:
            raise KeyboardInterrupt

    def resume(path: Path) -> None:
        (path.parent / "copy").write_bytes(path.read_bytes())
        try:
            with suppress(KeyboardInterrupt):
                cluster_tree(tree, settings, checkpoint=Checkpoint(path.parent / "copy"))
        finally:
            (path.parent / "copy").unlink(missing_ok=True)

    source = tmp_path / "source"
    with suppress(KeyboardInterrupt):
        cluster_tree(tree, settings, checkpoint=Checkpoint(source, seconds=0.0), progress=interrupted)
    assert attack(HostileFile(source), resume, 20) > 12


def peak_memory(use: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        use()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_states_take_no_memory(tmp_path: Path) -> None:
    model_of("clustered").save(tmp_path / "model")
    file = HostileFile(tmp_path / "model")
    for entry in ("states", "categories"):
        file.change(**{entry: 2**40})
        with pytest.raises(BadDataError, match="fewer contexts or words than its manifest has clusters"):
            load_model(file.path)
    file.manifest |= {"states": 20_000, "categories": 20_000}
    file.write(arrays={**file.arrays, "level2/inherited": np.zeros(20_000, np.uint32)})
    assert peak_memory(lambda: load_model(file.path).score("w3 w4").log_probs) < 64 << 20


def test_many_buckets_take_no_memory(tmp_path: Path) -> None:
    model_of("cached").save(tmp_path / "model")
    file = HostileFile(tmp_path / "model")
    others = {name: array for name, array in file.arrays.items() if not name.startswith("weights/")}
    one = {"names": ["length"], "part": 0, "edges": 2**24}
    endless = {f"weights/table-{number}": np.empty((2**24, 0)) for number in range(25)}
    file.manifest["gate"] = {"kind": "length", "buckets": [one] * 25}
    for arrays in (endless, {name: np.full((3, 2), 0.5) for name in endless}):
        file.write(arrays=others | arrays)

        def refuse() -> None:
            with pytest.raises(BadDataError, match="invalid mixture model"):
                load_model(file.path)

        assert peak_memory(refuse) < 1 << 24


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"context": 3}, r"Expected `str`, got `int` - at `\$\.context`"),
        ({"states": 2**64}, "a number that is too large"),
        ({"states": 2**60}, r"Expected `int` <= 9007199254740991 - at `\$\.states`"),
        ({"text_format": {"digits": "\ud800"}}, r"digits is '\\ud800'.* at `\$\.text_format`"),
        (
            {"text_format": {"lowercase": "no"}},
            r"Expected `bool`, got `str` - at `\$\.text_format\.lowercase`",
        ),
        ({"text_format": {"tokenize": "syllables"}}, r"'syllables' - at `\$\.text_format\.tokenize`"),
        ({"text_format": {"case": 1}}, r"unknown field `case` - at `\$\.text_format`"),
        ({"text_format": {"document_mark": "("}}, r"invalid regular expression.* at `\$\.text_format`"),
        ({"text_format": {"document_mark": "a{9999999999}"}}, r"expression \(repeat count too big"),
        ({"text_format": {"document_mark": "a" * 2000}}, r"length <= 1000 - at `\$\.text_format\.document_m"),
        ({"text_format": [True]}, r"Expected `object \| null`, got `array` - at `\$\.text_format`"),
        ({"report": {"levels": [{}]}}, r"missing required field `level` - at `\$\.levels\[0\]`"),
        ({"report": {"tags": ["a\tb"]}}, r"at `\$\.tags\[0\]`"),
        ({"model": ["clustered"]}, r"a model of the kind \['clustered'\]"),
        ({"recipe": {"x": DEEP}}, "model: damaged, its manifest"),
    ],
)
def test_the_error_says_what_is_wrong(entries: dict[str, Any], message: str, tmp_path: Path) -> None:
    model_of("clustered").save(tmp_path / "model")
    file = HostileFile(tmp_path / "model")
    file.change(**entries)
    with pytest.raises(BadDataError, match=message):
        load_model(file.path)
