"""No value of an array, and no size, makes a kernel read or write out of bounds; `make sanitize` looks on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike, NDArray

from stategram import _core

LARGEST = 2**32 - 1


def ints(*values: int) -> NDArray[np.uint32]:
    return np.array(values, np.uint32)


def longs(*values: int) -> NDArray[np.int64]:
    return np.array(values, np.int64)


def marks(*values: int) -> NDArray[np.uint8]:
    return np.array(values, np.uint8)


def zeros(size: int, dtype: DTypeLike) -> NDArray[Any]:
    return np.zeros(size, dtype)


# A trie of 3 words and 4 bigrams: 0 0, 0 2, 1 1, 2 0; and 2 trigrams: 0 2 0, 1 1 1.
FIRST_CHILD = ints(0, 2, 3, 4)  # of the words
SUFFIXES = ints(0, 2, 1, 0)  # of the bigrams, among the words
BIGRAM_FIRST_CHILD = ints(0, 0, 1, 2, 2)
TRIGRAM_SUFFIXES = ints(3, 2)  # among the bigrams
# All of them as one array.
NGRAMS = {
    "numbers": ints(0, 1, 2),
    "begins": longs(0, 1, 4, 8, 10),
    "words": ints(0, 0, 1, 2, 0, 2, 1, 0, 0, 1),
    "first_child": ints(1, 4, 6, 7, 8, 8, 9, 10, 10),
}
TEXT = {"ids": ints(0, 1, 2, 2, 1), "sentence_starts": longs(0, 2, 5)}

# Three words and two bigrams as a plain trie.
PLAIN = {
    "numbers": ints(2, 0, 1),
    "begins": longs(0, 1, 4, 6),
    "words": ints(0, 0, 1, 2, 1, 0),
    "log_probs": zeros(6, np.float32),
    "backoffs": zeros(4, np.float32),
    "first_child": ints(1, 4, 5, 5, 6),
}

# Arguments that each kernel takes; made anew for each call, since some are written to.
GOOD: dict[str, Callable[[], dict[str, Any]]] = {
    "assemble_level": lambda: {
        "words": ints(0, 2, 1, 0),
        "log_probs": zeros(4, np.float32),
        "backoffs": zeros(4, np.float32),
        "first_child": BIGRAM_FIRST_CHILD,
        "ranks": ints(0, 1, 1, 2, 3),
        "next_ranks": ints(0, 0, 1),
        "next_begin": 6,
        "begin": 0,
        "end": 4,
        "words_out": zeros(3, np.uint32),
        "log_probs_out": zeros(3, np.float32),
        "backoffs_out": zeros(3, np.float32),
        "first_child_out": zeros(3, np.uint32),
        "threads": 2,
    },
    "pack_ngrams": lambda: {
        "length": 2,
        "order": 3,
        "words": ints(0, 2, 1, 0),
        "log_probs": zeros(4, np.float32),
        "backoffs": zeros(4, np.float32),
        "first_child": BIGRAM_FIRST_CHILD,
        "children_begin": 0,
        "word_bits": 2,
        "widths": np.array([32, 1, 2], np.uint8),
        "log_prob_table": zeros(0, np.float32),
        "backoff_table": np.array([-1, 0], np.float32),
        "begin": 0,
        "end": 4,
        "words_out": zeros(8, np.uint8),
        "records_out": zeros(24, np.uint8),
        "bases_out": zeros(1, np.uint32),
        "threads": 2,
    },
    "link_ngrams": lambda: {
        "words": ints(0, 1),
        "parents_first_child": BIGRAM_FIRST_CHILD,
        "parents_suffix": SUFFIXES,
        "lower_first_child": FIRST_CHILD,
        "lower_words": ints(0, 2, 1, 0),
        "n_words": 3,
        "begin": 0,
        "end": 4,
        "suffixes": zeros(2, np.uint32),
        "continuations": zeros(4, np.uint32),
        "threads": 2,
    },
    "interpolate_ngrams": lambda: {
        "first_child": BIGRAM_FIRST_CHILD,
        "counts": ints(1, 7),
        "suffixes": TRIGRAM_SUFFIXES,
        "lower": np.full(4, 0.25),
        "keep": marks(1, 0),
        "discounts": np.array([0.5, 0.5, 0.5]),
        "witten_bell": False,
        "begin": 0,
        "end": 4,
        "probs": zeros(2, np.float64),
        "backoffs": zeros(4, np.float64),
        "threads": 2,
    },
    "discount_ngrams": lambda: {
        "first_child": BIGRAM_FIRST_CHILD,
        "counts": ints(1, 7),
        "keep": marks(1, 0),
        "ratios": np.array([0.0, 0.5, 1.0]),
        "n_predicted": 2,
        "begin": 0,
        "end": 4,
        "probs": zeros(2, np.float64),
        "threads": 2,
    },
    "normalise_ngrams": lambda: {
        "first_child": BIGRAM_FIRST_CHILD,
        "suffixes": TRIGRAM_SUFFIXES,
        "lower": np.full(4, 0.25),
        "keep": marks(1, 0),
        "n_predicted": 2,
        "begin": 0,
        "end": 4,
        "probs": np.full(2, 0.5),
        "backoffs": zeros(4, np.float64),
        "sums": np.ones(4),
        "threads": 2,
    },
    "counts_of_counts": lambda: {"counts": ints(0, 3, 9), "most": 4},
    "log10_floats": lambda: {"values": np.ones(3), "logs": zeros(3, np.float32), "threads": 2},
    "history_probs": lambda: {
        "first_child": BIGRAM_FIRST_CHILD,
        "parents": np.full(4, 0.25),
        "log_probs": zeros(2, np.float32),
        "probs": zeros(2, np.float64),
        "threads": 2,
    },
    "word_frequencies": lambda: {
        "first_child": FIRST_CHILD,
        "words": ints(0, 2, 1, 0),
        "log_probs": np.full(4, -1.0, np.float32),
        "keep": marks(1, 0, 1, 1),
        "unigram_log_probs": np.full(3, -0.5, np.float32),
        "backoffs": zeros(3, np.float32),
        "begin": 1,
        "end": 2,
        "frequencies": zeros(3, np.float64),
    },
    "ngram_worths": lambda: {
        "first_child": BIGRAM_FIRST_CHILD,
        "history_prob": np.full(4, 0.25),
        "backoffs": zeros(4, np.float32),
        "lower_log_probs": np.full(2, -1.0, np.float32),
        "log_probs": np.full(2, -1.0, np.float32),
        "keep": marks(1, 0),
        "worths": zeros(2, np.float64),
        "threads": 2,
    },
    "raise_worths": lambda: {
        "first_child": BIGRAM_FIRST_CHILD,
        "of_children": np.ones(2),
        "worths": zeros(4, np.float64),
        "threads": 2,
    },
    "lower_log_probs": lambda: {
        **NGRAMS,
        "log_probs": np.full(10, -1.0, np.float32),
        "backoffs": zeros(8, np.float32),
        "threads": 2,
    },
    "back_off_log_probs": lambda: {
        **NGRAMS,
        "log_probs": np.full(10, -1.0, np.float32),
        "backoffs": zeros(8, np.float32),
        "numbers_here": ints(2, 0),
        "threads": 2,
    },
    "search": lambda: {
        **NGRAMS,
        "log_probs": np.full(10, -1.0, np.float32),
        "backoffs": zeros(8, np.float32),
        "nodes": ints(0, 1, 7),
        "of_words": ints(2, 0, 1),
        "lengths": marks(2, 0, 1),
        "threads": 2,
    },
    "count_bigrams": lambda: {"ids": ints(0, 1, 2, 2), "first": 0, "types": 3, "threads": 2},
    "transpose_counts": lambda: {
        "offsets": longs(0, 2, 2, 3),
        "columns": ints(0, 2, 1),
        "counts": ints(1, 2, 3),
        "n_columns": 3,
    },
    "count_ngrams": lambda: {
        **TEXT,
        "numbers": ints(2, 0, 1),
        "before": 0,
        "order": 3,
        "first": 0,
        "last": 3,
        "threads": 2,
    },
    "count_contexts": lambda: {
        **TEXT,
        "before": 0,
        "maps": [ints(0, 1, 1), ints(0, 1, 2)],
        "distances": [1, 2],
        "n_values": 3,
        "first": 0,
        "last": 3,
        "threads": 2,
    },
    "find_contexts": lambda: {
        **TEXT,
        "before": 0,
        "maps": [ints(0, 1, 1), ints(0, 1, 2)],
        "distances": [1, 2],
        "first_child": [ints(0, 2), ints(0, 2, 3)],
        "symbols": [ints(0, 1), ints(0, 2, 1)],
        "threads": 2,
    },
    "sum_rows": lambda: {
        "offsets": longs(0, 2, 2, 3),
        "columns": ints(0, 2, 2),
        "counts": ints(1, 2, 3),
        "rows": ints(2, 0, 1),
        "group_offsets": longs(0, 2, 3),
        "n_columns": 3,
        "threads": 2,
    },
    "table_lines": lambda: {
        "format": "tsv",
        "kinds": "tifb",
        "names": ["word", "order", "surprisal", "unknown"],
        "rows": 5,
        "integers": [longs(1, 2, 1, 2, 3)],
        "floats": [np.full(5, 1.5)],
        "bools": [marks(0, 0, 1, 1, 0)],
        "ids": [ints(0, 1, 2, 2, 1)],
        "letters": [marks(*b"abbccc")],
        "offsets": [longs(0, 1, 3, 6)],
        "missing": [marks(), marks(0, 0, 0, 0, 1), marks(), marks()],
        "rows_since_text": longs(-1),
        "threads": 2,
    },
    "ArpaWriter": lambda: {
        **PLAIN,
        "letters": marks(*b"abbccc"),
        "offsets": longs(0, 1, 3, 6),
        "threads": 2,
    },
    "FstWriter": lambda: {**PLAIN, "backoff_label": 0, "threads": 2},
    "em_weights": lambda: {
        "ratios": np.full((2, 5), 0.5, np.float32),
        "weights": np.full(2, 0.5),
        "max_iterations": 3,
        "tolerance": 1e-6,
        "threads": 2,
    },
    "GateLikelihood": lambda: {
        "ratios": np.full((5, 2), 0.5, np.float32),
        "rows": np.array([[0, 1, 2, 1, 0]], np.uint32),
        "n_rows": 3,
        "threads": 2,
    },
    "WordCache": lambda: {
        "decays": [0.9, 0.9, 0.9],
        "begin": 1,
        "end": 2,
        "capacity": 4,
        "words": ints(1, 0, 3, 0, 3, 2),
    },
}

# What a trie is used for; all else is called by its name.
TRIE = ("numbers", "begins", "words", "log_probs", "backoffs", "first_child", "threads")


def trie_of(arguments: dict[str, Any]) -> _core.PlainTrie:
    return _core.PlainTrie(**{name: arguments[name] for name in TRIE})


def search(**arguments: Any) -> None:
    trie, threads = trie_of(arguments), arguments["threads"]
    nodes, words, lengths = (arguments[name] for name in ("nodes", "of_words", "lengths"))
    trie.normalising_backoffs(2, 1.0, threads)
    trie.children(nodes, words, threads)
    trie.find_histories(np.column_stack([words, words]), lengths, threads)
    trie.log10_probs_after(nodes, words, threads)
    n_words, inner = len(arguments["numbers"]), np.ones(len(arguments["backoffs"]), np.float32)
    rows, weights = zeros(len(nodes) * n_words, np.float32), np.ones(len(nodes), np.float32)
    _core.add_backoff_rows(trie, arguments["log_probs"], inner, nodes, weights, rows, threads)


def lower_log_probs(**arguments: Any) -> None:
    trie = trie_of(arguments)
    trie.lower_log_probs(arguments["threads"])
    assert trie.links(arguments["threads"])[0] == 0


def back_off_log_probs(**arguments: Any) -> None:
    other = _core.PlainTrie(
        ints(0, 1),
        longs(0, 1, 3, 4),
        ints(0, 0, 1, 1),
        zeros(4, np.float32),
        zeros(3, np.float32),
        ints(1, 3, 4, 4),
        2,
    )
    trie_of(arguments).score(other, arguments["numbers_here"], arguments["threads"])


def arpa_writer(**arguments: Any) -> None:
    trie, threads = trie_of(arguments), arguments["threads"]
    trie.check(threads)
    _core.ArpaWriter(arguments["letters"], arguments["offsets"], trie, threads)


def fst_writer(**arguments: Any) -> None:
    trie, threads = trie_of(arguments), arguments["threads"]
    trie.check(threads)
    _core.FstWriter(trie, arguments["backoff_label"], threads)


OF_TRIES: dict[str, Callable[..., None]] = {
    "search": search,
    "lower_log_probs": lower_log_probs,
    "back_off_log_probs": back_off_log_probs,
    "ArpaWriter": arpa_writer,
    "FstWriter": fst_writer,
}


def call(kernel: str, arguments: dict[str, Any]) -> None:
    (OF_TRIES.get(kernel) or getattr(_core, kernel))(**arguments)


CHILDREN = "children of a node are not"
SUFFIX = "suffix is not among the shorter n-grams"
RANKS = "ranks are not those of n-grams that are kept"
UNFIT = "do not fit together|do not fit the n-grams"
# Each with children of 4 nodes, 2 in all.
BAD_CHILDREN = [ints(0, 0, 1, 2, 3), ints(0, 0, 1, LARGEST, 2), ints(0, 0, 2, 1, 2), ints(3, 3, 3, 3, 3)]
BAD_STARTS = [longs(0, 6), longs(0, 4, 3, 5), longs(-1, 5), longs(1, 5), longs(), longs(0, 2**62, 5)]

BAD: list[tuple[str, str, Any, str]] = [
    ("assemble_level", "ranks", ints(0, 3, 3, 3, 3), RANKS),
    ("assemble_level", "ranks", ints(0, 1, 0, 1, 3), RANKS),
    ("assemble_level", "ranks", ints(3, 4, 4, 3, 3), RANKS),
    ("assemble_level", "ranks", ints(LARGEST, 0, 1, 2, 3), RANKS),
    ("assemble_level", "ranks", ints(0, 1, 1, 2, 4), UNFIT),
    ("assemble_level", "ranks", ints(0, 1, 3), UNFIT),
    ("assemble_level", "next_ranks", ints(0, 1), CHILDREN),
    ("assemble_level", "log_probs", zeros(3, np.float32), UNFIT),
    ("assemble_level", "backoffs", zeros(3, np.float32), UNFIT),
    ("assemble_level", "first_child", ints(0, 0, 1, 2), UNFIT),
    ("assemble_level", "words_out", zeros(4, np.uint32), UNFIT),
    ("assemble_level", "log_probs_out", zeros(2, np.float32), UNFIT),
    ("assemble_level", "backoffs_out", zeros(2, np.float32), UNFIT),
    ("assemble_level", "first_child_out", zeros(2, np.uint32), UNFIT),
    ("assemble_level", "end", 5, UNFIT),
    ("pack_ngrams", "words", ints(0, 4, 1, 0), "more bits"),
    ("pack_ngrams", "words", ints(0, 2, 1), UNFIT),
    ("pack_ngrams", "log_probs", zeros(3, np.float32), "do not fit|wrong size"),
    ("pack_ngrams", "backoffs", zeros(3, np.float32), UNFIT),
    ("pack_ngrams", "first_child", ints(0, 0, 1, 2), UNFIT),
    ("pack_ngrams", "first_child", ints(0, 0, 1, 2, 4), "more bits"),
    ("pack_ngrams", "children_begin", 1, "more bits"),
    ("pack_ngrams", "word_bits", 0, "no such bits"),
    ("pack_ngrams", "word_bits", 33, "no such bits"),
    ("pack_ngrams", "widths", np.array([33, 1, 2], np.uint8), "no such bits"),
    ("pack_ngrams", "widths", np.array([32, 1], np.uint8), "no such bits"),
    ("pack_ngrams", "widths", np.array([32, 1, 32], np.uint8), "wrong size"),
    ("pack_ngrams", "log_prob_table", zeros(1, np.float32), "does not fit its bits"),
    ("pack_ngrams", "backoff_table", zeros(3, np.float32), "does not fit its bits"),
    ("pack_ngrams", "backoff_table", np.array([0, -1], np.float32), "does not fit its bits"),
    ("pack_ngrams", "begin", 1, UNFIT),
    ("pack_ngrams", "end", 3, UNFIT),
    ("pack_ngrams", "end", 5, UNFIT),
    ("pack_ngrams", "words_out", zeros(7, np.uint8), "wrong size"),
    ("pack_ngrams", "records_out", zeros(16, np.uint8), "wrong size"),
    ("pack_ngrams", "bases_out", zeros(0, np.uint32), "wrong size"),
    ("link_ngrams", "parents_suffix", ints(0, 2, 3, 0), SUFFIX),
    ("link_ngrams", "lower_first_child", ints(0, 2, 5, 4), CHILDREN),
    ("link_ngrams", "parents_first_child", ints(0, 0, 1, 2, 3), CHILDREN),
    ("link_ngrams", "parents_first_child", ints(0, 0, 1, 2, 1), CHILDREN),
    ("link_ngrams", "parents_first_child", ints(LARGEST, 0, 1, 2, 2), CHILDREN),
    ("link_ngrams", "words", ints(3, 1), "rising order"),
    ("link_ngrams", "words", ints(1, 1), "lacks its suffix"),
    ("link_ngrams", "continuations", zeros(3, np.uint32), UNFIT),
    ("link_ngrams", "suffixes", zeros(1, np.uint32), UNFIT),
    ("link_ngrams", "lower_first_child", ints(), UNFIT),
    ("link_ngrams", "end", 5, UNFIT),
    ("interpolate_ngrams", "suffixes", ints(3, 4), SUFFIX),
    ("interpolate_ngrams", "lower", np.full(3, 0.25), SUFFIX),
    ("interpolate_ngrams", "lower", zeros(0, np.float64), SUFFIX),
    ("interpolate_ngrams", "suffixes", ints(3), UNFIT),
    ("interpolate_ngrams", "counts", ints(3), UNFIT),
    ("interpolate_ngrams", "discounts", zeros(2, np.float64), UNFIT),
    ("interpolate_ngrams", "keep", marks(1), UNFIT),
    ("interpolate_ngrams", "probs", zeros(1, np.float64), UNFIT),
    ("interpolate_ngrams", "backoffs", zeros(3, np.float64), UNFIT),
    ("interpolate_ngrams", "end", 5, UNFIT),
    ("discount_ngrams", "ratios", zeros(0, np.float64), UNFIT),
    ("discount_ngrams", "counts", ints(1), UNFIT),
    ("discount_ngrams", "keep", marks(1), UNFIT),
    ("discount_ngrams", "end", 5, UNFIT),
    ("discount_ngrams", "first_child", ints(), UNFIT),
    ("normalise_ngrams", "suffixes", ints(3, 4), SUFFIX),
    ("normalise_ngrams", "lower", np.full(2, 0.25), SUFFIX),
    ("normalise_ngrams", "keep", marks(1), UNFIT),
    ("normalise_ngrams", "backoffs", zeros(3, np.float64), UNFIT),
    ("normalise_ngrams", "sums", np.ones(3), UNFIT),
    ("counts_of_counts", "most", LARGEST, "above"),
    ("log10_floats", "logs", zeros(2, np.float32), "differ in size"),
    ("history_probs", "parents", zeros(3, np.float64), UNFIT),
    ("history_probs", "log_probs", zeros(1, np.float32), UNFIT),
    ("word_frequencies", "words", ints(0, 3, 1, 0), "number of a word"),
    ("word_frequencies", "first_child", ints(0, 2, 3, 5), CHILDREN),
    ("word_frequencies", "begin", 3, UNFIT),
    ("word_frequencies", "end", 3, UNFIT),
    ("word_frequencies", "keep", marks(1), UNFIT),
    ("word_frequencies", "frequencies", zeros(2, np.float64), UNFIT),
    ("ngram_worths", "lower_log_probs", zeros(3, np.float32), UNFIT),
    ("ngram_worths", "history_prob", zeros(3, np.float64), UNFIT),
    ("ngram_worths", "backoffs", zeros(3, np.float32), UNFIT),
    ("ngram_worths", "keep", marks(1), UNFIT),
    ("ngram_worths", "worths", zeros(3, np.float64), UNFIT),
    ("raise_worths", "of_children", np.ones(1), CHILDREN),
    ("raise_worths", "worths", zeros(3, np.float64), UNFIT),
    ("lower_log_probs", "begins", longs(0, 1), "it has no orders"),
    ("lower_log_probs", "begins", longs(0, 1, 4, 7, 10), UNFIT),
    ("lower_log_probs", "begins", longs(0, 1, -4, 8, 10), "do not begin one after the other"),
    ("lower_log_probs", "words", ints(0, 0, 1, 2, 0, 2, 1, 0, 3, 1), "not in rising order"),
    ("lower_log_probs", "words", ints(0, 0, 2, 1, 0, 2, 1, 0, 0, 1), "not in rising order"),
    ("lower_log_probs", "log_probs", zeros(9, np.float32), UNFIT),
    ("lower_log_probs", "backoffs", zeros(10, np.float32), UNFIT),
    ("back_off_log_probs", "numbers_here", ints(2), "has a number in the model"),
    ("back_off_log_probs", "numbers_here", ints(2, 3), "not in the model"),
    ("search", "nodes", ints(0, 1, 8), "cannot be a history"),
    ("search", "nodes", ints(0, 1), "a word for each"),
    ("search", "of_words", ints(2, 0, 3), "number of a word is too great"),
    ("search", "lengths", marks(2, 0), "a length for each row"),
    ("count_bigrams", "ids", ints(0, 3), "id is not below"),
    ("count_bigrams", "first", 3, "first is not below"),
    ("count_bigrams", "types", 0, "first is not below"),
    ("transpose_counts", "columns", ints(0, 3, 1), "column is not below"),
    ("transpose_counts", "n_columns", 2, "column is not below"),
    ("transpose_counts", "n_columns", 2**64 - 1, UNFIT),
    ("transpose_counts", "counts", ints(1, 2), UNFIT),
    ("count_ngrams", "ids", ints(0, 1, 3, 2, 1), "id is not below"),
    ("count_ngrams", "numbers", ints(2, 0, 3), "number is not below"),
    ("count_ngrams", "before", 3, UNFIT),
    ("count_ngrams", "last", 4, UNFIT),
    ("count_ngrams", "first", 3, UNFIT),
    ("count_ngrams", "order", 10, "order is not"),
    ("count_ngrams", "order", 0, "order is not"),
    ("count_contexts", "ids", ints(0, 1, 3, 2, 1), "id is not below"),
    ("count_contexts", "maps", [ints(0, 1, 3), ints(0, 1, 2)], "value is not below"),
    ("count_contexts", "maps", [ints(0, 1, 2), ints(0, 1)], "not that of a word before"),
    ("count_contexts", "maps", [], "1 to 8 values"),
    ("count_contexts", "distances", [0, 1], "not that of a word before"),
    ("count_contexts", "distances", [1], "1 to 8 values"),
    ("count_contexts", "before", 3, "fewer values"),
    ("count_contexts", "last", 4, UNFIT),
    ("find_contexts", "ids", ints(0, 1, 3, 2, 1), "id is not below"),
    ("find_contexts", "first_child", [ints(0, 3), ints(0, 2, 3)], CHILDREN),
    ("find_contexts", "first_child", [ints(1, 0), ints(0, 2, 3)], CHILDREN),
    ("find_contexts", "first_child", [ints(0, 2), ints(0, 2)], "not in the tree"),
    ("find_contexts", "first_child", [ints(0, 2)], "do not fit the context"),
    ("find_contexts", "maps", [ints(0, 1), ints(0, 1, 2)], "id is not below"),
    ("find_contexts", "before", 3, "not that of a word before"),
    ("find_contexts", "distances", [1, -1], "not that of a word before"),
    ("sum_rows", "columns", ints(0, 3, 2), "no such column"),
    ("sum_rows", "rows", ints(3, 0, 1), "no such row"),
    ("sum_rows", "counts", ints(1, 0, 3), "count is 0"),
    ("sum_rows", "counts", ints(1, LARGEST, 1), "sum of counts is above"),
    ("sum_rows", "counts", ints(1, 2), UNFIT),
    ("sum_rows", "offsets", longs(0, 2, 1, 3), UNFIT),
    ("sum_rows", "offsets", longs(0, 2, 2, 4), UNFIT),
    ("sum_rows", "group_offsets", longs(0, 2, 4), UNFIT),
    ("sum_rows", "group_offsets", longs(0, 4, 3), UNFIT),
    ("sum_rows", "group_offsets", longs(-1, 2), UNFIT),
    ("sum_rows", "group_offsets", longs(), UNFIT),
    ("table_lines", "ids", [ints(0, 1, 3, 2, 1)], UNFIT),
    ("table_lines", "ids", [ints(0, 1)], UNFIT),
    ("table_lines", "ids", [], UNFIT),
    ("table_lines", "offsets", [longs(0, 1, 3, 7)], UNFIT),
    ("table_lines", "offsets", [longs(0, 4, 3, 6)], UNFIT),
    ("table_lines", "offsets", [longs()], UNFIT),
    ("table_lines", "integers", [longs(1)], UNFIT),
    ("table_lines", "floats", [np.full(6, 1.5)], UNFIT),
    ("table_lines", "bools", [], UNFIT),
    ("table_lines", "missing", [marks()] * 3, UNFIT),
    ("table_lines", "missing", [marks(), marks(1), marks(), marks()], UNFIT),
    ("table_lines", "names", ["word"], UNFIT),
    ("table_lines", "kinds", "tiff", UNFIT),
    ("table_lines", "kinds", "tifx", "kind of column"),
    ("table_lines", "format", "xml", "format that is not known"),
    ("table_lines", "rows_since_text", longs(), UNFIT),
    ("table_lines", "rows_since_text", longs(-4), UNFIT),
    ("ArpaWriter", "offsets", longs(0, 1, 3, 7), UNFIT),
    ("ArpaWriter", "offsets", longs(0, 1, 6), UNFIT),
    ("em_weights", "weights", np.ones(1), "weight for each part"),
    ("GateLikelihood", "rows", np.array([[0, 1, 3, 1, 0]], np.uint32), "row that is missing"),
    ("GateLikelihood", "n_rows", 2**63, "too many rows"),
    ("GateLikelihood", "ratios", zeros(0, np.float32).reshape(0, 2), "each event needs"),
    ("WordCache", "decays", [], "decays is not 1 to 3"),
    ("WordCache", "decays", [0.9] * 4, "decays is not 1 to 3"),
    ("WordCache", "decays", [0.9, 0.0], "above 0 and up to 1"),
    ("WordCache", "decays", [1.1], "above 0 and up to 1"),
    ("WordCache", "decays", [float("nan")], "above 0 and up to 1"),
    ("WordCache", "end", 1, "the same word"),
    ("WordCache", "capacity", 1, "capacity is not"),
    ("WordCache", "capacity", 2**31, "capacity is not"),
]
BAD += [
    (kernel, argument, children, CHILDREN)
    for kernel, argument in (
        ("interpolate_ngrams", "first_child"),
        ("discount_ngrams", "first_child"),
        ("normalise_ngrams", "first_child"),
        ("history_probs", "first_child"),
        ("ngram_worths", "first_child"),
        ("raise_worths", "first_child"),
        ("assemble_level", "first_child"),
    )
    for children in BAD_CHILDREN
]
BAD += [
    (kernel, "sentence_starts", starts, "do not cover|do not fit together")
    for kernel in ("count_ngrams", "count_contexts", "find_contexts")
    for starts in BAD_STARTS
]
BAD += [
    (kernel, argument, value, "the model is damaged")
    for kernel in ("ArpaWriter", "FstWriter")
    for argument, value in (
        ("numbers", ints(2, 0, 2)),
        ("numbers", ints(2, 0, 3)),
        ("begins", longs(0, 1, 4, 7)),
        ("begins", longs(0, 1, 4, 3, 6)),
        ("begins", longs(0, 1)),
        ("words", ints(0, 0, 1, 2, 3, 0)),
        ("words", ints(0, 0, 2, 1, 1, 0)),
        ("log_probs", zeros(5, np.float32)),
        ("log_probs", np.full(6, 0.5, np.float32)),
        ("log_probs", np.full(6, np.nan, np.float32)),
        ("backoffs", zeros(5, np.float32)),
        ("backoffs", np.full(4, np.inf, np.float32)),
        ("first_child", ints(1, 4, 5, 6)),
        ("first_child", ints(1, 4, 6, 5, 6)),
        ("first_child", ints(1, 3, 5, 5, 6)),
        ("first_child", ints(1, 4, LARGEST, 5, 6)),
    )
]
BAD += [(kernel, "threads", 0, "threads") for kernel in GOOD if "threads" in GOOD[kernel]()]


@pytest.mark.parametrize("kernel", GOOD)
def test_the_good_arguments_are_good(kernel: str) -> None:
    call(kernel, GOOD[kernel]())


@pytest.mark.parametrize(("kernel", "argument", "value", "message"), BAD)
def test_a_bad_argument_is_refused(kernel: str, argument: str, value: object, message: str) -> None:
    arguments = GOOD[kernel]()
    assert argument in arguments
    with pytest.raises(ValueError, match=message):
        call(kernel, arguments | {argument: value})


# Near the sizes of the arrays above, and far from them.
nasty = st.sampled_from([0, 1, 2, 3, 4, 5, 6, 2**31 - 1, 2**31, LARGEST - 1, LARGEST])


@given(st.data())
def test_no_integers_lead_out_of_bounds(data: st.DataObject) -> None:
    kernel = data.draw(st.sampled_from(sorted(GOOD)))
    arguments = GOOD[kernel]()
    names = [
        name
        for name, value in arguments.items()
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu"
    ]
    for name in data.draw(st.lists(st.sampled_from(names), unique=True)) if names else ():
        old = arguments[name]
        size = data.draw(st.sampled_from([old.size, old.size, old.size, old.size + 1, max(old.size - 1, 0)]))
        changed = np.resize(old.ravel(), size)
        for place in data.draw(st.lists(st.integers(0, max(size - 1, 0)), max_size=3)) if size else ():
            changed[place] = np.int64(data.draw(nasty)).astype(changed.dtype)
        arguments[name] = changed.reshape(1, -1) if old.ndim == 2 else changed
    with contextlib.suppress(ValueError):
        call(kernel, arguments)


@pytest.mark.parametrize("threads", [1, 2])
def test_sums_up_to_the_edge_of_32_bits(threads: int) -> None:
    arguments = GOOD["sum_rows"]() | {"counts": ints(1, LARGEST - 3, 3), "threads": threads}
    offsets, columns, sums = _core.sum_rows(**arguments)
    assert (offsets.tolist(), columns.tolist(), sums.tolist()) == ([0, 2, 2], [0, 2], [1, LARGEST])
