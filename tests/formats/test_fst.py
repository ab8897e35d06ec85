"""Acceptors for OpenFst: the weights of sentences are those of the model."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import kaldifst
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive.fst import Acceptor
from ngram_problems import model_of, random_model
from stategram._core import FstWriter
from stategram.errors import UsageError
from stategram.formats import fst_files, write_fst
from stategram.models import NgramModel
from story import sentences as story
from texts import long_text, make_corpus


def read(prefix: Path) -> tuple[str, dict[str, int]]:
    arcs, symbols = (Path(name).read_text() for name in fst_files(prefix))
    rows = [line.split("\t") for line in symbols.splitlines()]
    return arcs, {word: int(label) for word, label in rows}


@settings(max_examples=50)
@given(
    st.integers(0, 2**32),
    st.integers(1, 5),
    st.lists(st.lists(st.integers(3, 11), max_size=8), min_size=1, max_size=10),
)
def test_failure_transitions_give_the_model(
    tmp_path_factory: pytest.TempPathFactory, seed: int, order: int, sentences: list[list[int]]
) -> None:
    ngrams = random_model(seed, 12, order, 6)
    prefix = tmp_path_factory.mktemp("fst") / "model"
    write_fst(model_of(ngrams), prefix, backoff_symbol="#0")
    text, symbols = read(prefix)
    acceptor = Acceptor.read(text)
    assert (symbols["<eps>"], symbols["</s>"], symbols["#0"]) == (0, 3, 13)
    assert len(acceptor.arcs) + len(acceptor.final) >= len(ngrams.log_probs)
    for sentence in sentences:
        expected = -sum(log for log, _ in ngrams.score([*sentence, 2], 1)) * math.log(10)
        # Seven digits of each weight.
        found = acceptor.exact([word + 1 for word in sentence], symbols["#0"])
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)


def test_kaldifst_compiles_it_and_finds_the_same_weights(tmp_path: Path) -> None:
    sentences = story(330, seed=1)
    model = NgramModel.train(sentences[:300], order=3)
    n_states = write_fst(model, tmp_path / "G")
    text, symbols = read(tmp_path / "G")
    grammar = kaldifst.compile(text, acceptor=False)
    kaldifst.arcsort(grammar, sort_type="ilabel")
    assert grammar.num_states == n_states
    acceptor = Acceptor.read(text)
    exact = 0
    for sentence in sentences[300:]:
        labels = [symbols.get(word, symbols["<unk>"]) for word in sentence.split()]
        path = kaldifst.shortest_path(kaldifst.compose(kaldifst.make_linear_acceptor(labels), grammar))
        is_linear, found, _, weight = kaldifst.get_linear_symbol_sequence(path)
        assert is_linear
        assert found == labels
        expected = -model.score(sentence).log10_prob * math.log(10)
        assert weight.value == pytest.approx(acceptor.shortest(labels, 0), rel=1e-4)
        assert acceptor.exact(labels, 0) == pytest.approx(expected, rel=1e-5)
        # Backing off costs less than an n-gram that is there only now and then.
        assert weight.value <= expected * (1 + 1e-4)
        exact += weight.value == pytest.approx(expected, rel=1e-4)
    assert exact > 15


def test_the_bytes_do_not_depend_on_threads_or_blocks() -> None:
    trie = NgramModel.train(make_corpus(*long_text(20_000, 300)), order=4).trie.plain()
    writer = FstWriter(trie.kernel, 0, 1)
    whole = writer.lines(0, writer.n_states)
    assert writer.n_states > 3 * 4096  # several tasks
    for threads in (2, 3):
        other = FstWriter(trie.kernel, 0, threads)
        middle = other.n_states // 3
        assert other.lines(0, middle) + other.lines(middle, other.n_states) == whole
    with pytest.raises(ValueError, match="no such states"):
        writer.lines(0, writer.n_states + 1)
    trie.words[-1] = len(trie.numbers)
    with pytest.raises(ValueError, match="damaged"):
        _ = replace(trie).kernel


def test_symbols_that_are_words_are_refused(tmp_path: Path) -> None:
    model = NgramModel.train(["#0 a"], order=2)
    with pytest.raises(UsageError, match="'#0' is a word of the model"):
        write_fst(model, tmp_path / "G", backoff_symbol="#0")
    with pytest.raises(UsageError, match="rename it in the text"):
        write_fst(NgramModel.train(["<eps>"], order=1), tmp_path / "G")
    with pytest.raises(UsageError, match="must be one word"):
        write_fst(model, tmp_path / "G", backoff_symbol="# 0")
    assert list(tmp_path.iterdir()) == []
