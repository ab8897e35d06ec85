"""Rounded models: small, nearly as good, sums nearly one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command_line import run
from naive.rounding import nearest
from stategram import (
    Budget,
    CacheModel,
    CategoryNgramModel,
    Mixture,
    NgramModel,
    UsageError,
    compact_model,
    merge_ngrams,
    open_model,
    prune_model,
)
from stategram.evaluation import history_sums
from stategram.models import NgramTrie, PlainTrie, compacted_size, model_size
from stategram.models.ngrams.compacting import _nearest, _table
from story import sentences

STORY = sentences(1500, seed=3)

finite = st.floats(-20, 2, width=32)


@pytest.fixture(scope="module")
def model() -> NgramModel:
    return NgramModel.train(STORY, 4)


@given(st.lists(st.one_of(finite, st.sampled_from([0.0, -np.inf])), max_size=60), st.integers(2, 5))
def test_values_are_rounded_to_the_nearest_of_a_table(values: list[float], bits: int) -> None:
    given_values = np.array(values, np.float32)
    table = _table(given_values, bits)
    assert len(table) == 2**bits
    assert (np.diff(table[np.isfinite(table)]) >= 0).all()
    rounded = _nearest(table, given_values)
    assert rounded.tolist() == [nearest(table.tolist(), value) for value in given_values.tolist()]
    exact = (given_values == 0) | np.isneginf(given_values)
    np.testing.assert_array_equal(rounded[exact], given_values[exact])
    if len(np.unique(given_values + np.float32(0))) <= 2**bits:
        np.testing.assert_array_equal(rounded, given_values)


@given(st.integers(0, 2**32), st.integers(1, 400))
def test_what_is_packed_with_tables_is_the_nearest(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    plain = PlainTrie(
        np.arange(size, dtype=np.uint32),
        np.array([0, 1, 1 + size]),
        np.concatenate(([0], np.arange(size))).astype(np.uint32),
        np.concatenate(([0], -10 * rng.random(size))).astype(np.float32),
        np.zeros(1, np.float32),
        np.array([1, 1 + size], np.uint32),
    )
    table = np.sort(-10 * rng.random(16)).astype(np.float32)
    packed = NgramTrie.from_plain(plain, tables=[(table, np.empty(0, np.float32))])
    assert packed.is_compact
    expected = [nearest(table.tolist(), value) for value in plain.log_probs[1:].tolist()]
    assert packed.plain().log_probs[1:].tolist() == expected


def test_a_compact_model_is_smaller_and_nearly_as_good(model: NgramModel) -> None:
    compact = compact_model(model)
    assert compact.trie.is_compact
    assert not model.trie.is_compact
    assert compact.trie.sizes == model.trie.sizes
    assert compact.perplexity(STORY) == pytest.approx(model.perplexity(STORY), rel=0.01)
    assert max(one.error for one in history_sums(compact, 200)) < compact.sum_tolerance == 0.02
    one, other = (trie.words.nbytes + trie.records.nbytes for trie in (compact.trie, model.trie))
    assert one < 0.65 * other
    compact.check()


def test_parts_with_n_grams_are_made_compact(model: NgramModel) -> None:
    words = sorted(model.vocabulary.words[3:])
    category = CategoryNgramModel.train(STORY, {word: number % 7 for number, word in enumerate(words)}, 3)
    mixture = Mixture.fit([model, category], STORY[:40])
    compact = compact_model(mixture)
    assert compact.parts[0].trie.is_compact  # type: ignore[attr-defined]
    assert compact.parts[1].ngram.trie.is_compact  # type: ignore[attr-defined]
    assert compact.sum_tolerance == 0.02
    assert compact.perplexity(STORY) == pytest.approx(mixture.perplexity(STORY), rel=0.01)


def test_what_has_no_n_grams_is_refused() -> None:
    with pytest.raises(UsageError, match="no n-grams to make smaller"):
        compact_model(CacheModel.train(STORY))


def test_a_compact_model_is_not_changed_further(model: NgramModel) -> None:
    compact = compact_model(model)
    changes: list[Callable[[], object]] = [
        lambda: compact_model(compact),
        lambda: prune_model(compact, Budget(max_ngrams=200)),
        lambda: compact.filter(model.vocabulary),
        lambda: merge_ngrams([compact, model], [0.5, 0.5]),
    ]
    for change in changes:
        with pytest.raises(UsageError, match="is compact"):
            change()


def test_the_size_is_known_before(model: NgramModel) -> None:
    assert compacted_size(model, model_size) == pytest.approx(model_size(compact_model(model)), abs=200)


def test_commands_write_compact_models(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("\n".join(STORY) + "\n")
    assert run("train", tmp_path / "text", "-o", tmp_path / "a", "--compact", "-q", capfd=capfd)[0] == 0
    assert run("train", tmp_path / "text", "-o", tmp_path / "b", "-q", capfd=capfd)[0] == 0
    assert run("prune", tmp_path / "b", "-o", tmp_path / "c", "--compact", "-q", capfd=capfd)[0] == 0
    one, other = (open_model(tmp_path / name, NgramModel) for name in "ac")
    for name, array in one.trie.arrays().items():
        np.testing.assert_array_equal(array, getattr(other.trie, name))
    status, out, _ = run("info", tmp_path / "a", "--verify", capfd=capfd)
    assert status == 0
    assert "OK  sums" in out
    status, out, _ = run("info", tmp_path / "a", capfd=capfd)
    assert (status, "rounded (compact)" in out) == (0, True)
    status, _, err = run("prune", tmp_path / "b", "-o", tmp_path / "d.arpa", "--compact", capfd=capfd)
    assert status == 2
    assert "cannot be compact" in err
