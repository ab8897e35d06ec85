"""Word tree models of the first version are opened, and predict the same."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from naive.first_layout import Words, write_level, write_long_lists
from naive.word_tree import Follower
from stategram import BadDataError, Corpus, _core, load_model
from stategram.models import HISTORIES, Chain, ValueSources, WordTreeModel
from stategram.storage import open_folder, write_folder
from word_tree_models import model, texts


def followers(corpus: Corpus, sources: ValueSources, chain: Chain, level: int) -> dict[int, Words]:
    """Return the followers of the contexts of a level by their hashes."""
    hashes = np.full(corpus.n_events, _core.EMPTY_CONTEXT, np.uint64)
    for value in chain.values[:level]:
        _core.extend_context_hashes(hashes, sources.stream_of_text(value, corpus), 1)
    after = np.arange(corpus.n_events) + 2**32
    if level < len(chain.values):
        values = sources.stream_of_text(chain.values[level], corpus)
        after = np.where(values == _core.NO_VALUE, after, values)
    found: dict[int, dict[int, Counter[int]]] = {}
    for hash, word, one in zip(hashes.tolist(), corpus.ids.tolist(), after.tolist(), strict=True):
        if hash:
            found.setdefault(hash, {}).setdefault(word, Counter())[one] += 1
    return {
        hash: {word: Follower(of.total(), len(of)) for word, of in words.items()}
        for hash, words in found.items()
    }


def first_layout_of(trained: WordTreeModel, corpus: Corpus, folder: Path) -> None:
    """Write a model as the first version did."""
    trained.save(folder)
    opened = open_folder(folder, kind="model")
    evidence = trained.evidence
    arrays: dict[str, dict[str, Any]] = {
        path.stem: dict(opened.arrays(path.stem, mmap=False)) for path in folder.glob("*.safetensors")
    }
    n_long = 0
    for number, (chain, levels) in enumerate(zip(evidence.chains, evidence.counts, strict=True)):
        old = {name: array for name, array in arrays[f"chain-{number}"].items() if "discounts" in name}
        for i in range(len(levels)):
            is_last = i + 1 == len(levels)
            contexts = followers(corpus, evidence.sources, chain, i + 1)
            directory, entries, lists = write_level(contexts, is_last, 5)
            n_long += len(lists)
            old |= {f"directory-{i}": directory, f"entries-{i}": entries}
            for t, tree in enumerate(evidence.trees):
                ranks = np.argsort(np.argsort(tree.codes, kind="stable")) - 1  # <s> is not in the tree
                long_arrays = write_long_lists(lists, tree.codes.tolist(), ranks.tolist(), is_last)
                for name, array in zip(("begins", "records", "bytes"), long_arrays, strict=True):
                    old[f"{name}-{i}-{t}"] = array
        arrays[f"chain-{number}"] = old
    assert n_long > 3
    manifest = {name: value for name, value in opened.manifest.items() if name != "layout"}
    for entry in manifest["chains"]:
        for level in entry["levels"]:
            del level["tail"]
    texts = {"vocabulary.txt": opened.text("vocabulary.txt")}
    write_folder(folder, kind="model", arrays=arrays, texts=texts, manifest=manifest)


def test_a_model_of_the_first_version_is_the_same(tmp_path: Path) -> None:
    train, _, test = texts()
    first_layout_of(model(), train, tmp_path / "old")
    old = load_model(tmp_path / "old", WordTreeModel)
    old.check()
    for history in HISTORIES:
        found, expected = old.with_history(history), model().with_history(history)
        assert found.log_probs(test).tobytes() == expected.log_probs(test).tobytes()
    old.save(tmp_path / "new")  # in the layout of today
    again = load_model(tmp_path / "new", WordTreeModel)
    assert again.log_probs(test).tobytes() == model().log_probs(test).tobytes()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("directory-0", np.zeros(4, np.uint32)),
        ("directory-0", np.array([0, 2**31, 1], np.uint32)),
        ("entries-0", np.full(2000, 255, np.uint8)),
        ("entries-1", np.zeros(3, np.uint8)),
        ("begins-0-0", np.array([0, 1])),
        ("records-0-0", np.zeros(4, np.uint32)),
        ("bytes-0-0", np.zeros(1, np.uint8)),
    ],
)
def test_a_damaged_model_of_the_first_version(tmp_path: Path, name: str, value: Any) -> None:
    train, _, _ = texts()
    first_layout_of(model(), train, tmp_path / "old")
    opened = open_folder(tmp_path / "old", kind="model")
    arrays = {path.stem: dict(opened.arrays(path.stem, mmap=False)) for path in (tmp_path / "old").glob("*s")}
    arrays["chain-2"][name] = value
    texts_of = {"vocabulary.txt": opened.text("vocabulary.txt")}
    write_folder(tmp_path / "old", kind="model", arrays=arrays, texts=texts_of, manifest=opened.manifest)
    with pytest.raises(BadDataError, match="invalid word-tree model"):
        load_model(tmp_path / "old", WordTreeModel)
