"""Kernels of stategram: flat arrays in, flat arrays out."""

from collections.abc import Sequence
from typing import Annotated

import numpy
from numpy.typing import NDArray


SWEEP_BATCH: int = 64

def count_bigrams(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], first: int, types: int, threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """
    Count the pairs (previous, id), `first` standing before the first id.

    Returns offsets, columns, counts.
    """

def transpose_counts(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """
    Return the same counts with rows and columns exchanged: offsets, columns, counts.
    """

def count_ngrams(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sentence_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], before: int, order: int, first: int, last: int, threads: int) -> list[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]]:
    """
    Count the n-grams whose first word has a number from `first` to `last` - 1.

    Returns for each length, from 1 to `order`: words, counts, first children.
    """

def link_ngrams(words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents_first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents_suffix: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_words: int, begin: int, end: int, suffixes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], continuations: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Find the suffixes of the children of the parents `begin` to `end` - 1, and count them.
    """

def interpolate_ngrams(first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], suffixes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], discounts: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], witten_bell: bool, begin: int, end: int, probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], backoffs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write interpolated probabilities after the histories `begin` to `end` - 1, and their back-off weights.
    """

def discount_ngrams(first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ratios: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_predicted: int, begin: int, end: int, probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write relative frequencies after the histories `begin` to `end` - 1, times a ratio for each count.
    """

def normalise_ngrams(first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], suffixes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], n_predicted: int, begin: int, end: int, probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], backoffs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write back-off weights of the histories `begin` to `end` - 1, and probabilities of what is not kept.
    """

def counts_of_counts(counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], most: int) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """Return how many counts are 0, 1, ..., `most`."""

def log10_floats(values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], logs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Write logarithms to base 10."""

def link_level(suffixes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_begin: int, begin: int, end: int, links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write for each n-gram the node of its longest suffix that has children.
    """

def assemble_level(words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_probs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], backoffs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], next_ranks: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], next_begin: int, begin: int, end: int, words_out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], rows_out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Write the n-grams of one length to the arrays of a model."""

def history_probs(first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], parents: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], log_probs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Write probabilities of n-grams as histories, from those one word shorter.
    """

def prune_ngrams(first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], history_prob: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], backoffs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], suffixes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], log_probs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], lower_log_probs: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], needed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], threshold: float, keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """
    Clear the mark `keep` of n-grams without which the perplexity rises by less than the threshold.
    """

def have_kept_children(first_child: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], children_keep: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], have: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')], threads: int) -> None:
    """Mark the n-grams with children that are kept."""

def count_contexts(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sentence_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], before: int, maps: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], distances: Sequence[int], n_values: int, first: int, last: int, threads: int) -> list[tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]]:
    """
    Count the contexts whose first value is `first` to `last` - 1.

    Returns for each level values, counts, first children; then the same for the words that follow.
    """

def sum_rows(offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], group_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_columns: int, threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
    """Return the sums of groups of rows: offsets, columns, counts."""

def find_contexts(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sentence_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], before: int, maps: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], distances: Sequence[int], first_child: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], symbols: Sequence[Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]], threads: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
    """
    Return for each event the node of its context on the deepest level where it is known, and that level.
    """

class TiedExchange:
    def __init__(self, successor_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], successors: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], successor_counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], predecessor_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], predecessors: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], predecessor_counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], classes: int, targets: int, threads: int, shortlist: int = 0) -> None: ...

    def sweep(self, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, seed: int, shortlisted: bool = False) -> int:
        """Moves the words of `order`, in order; the number of moves."""

    def scores(self, word: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        For each class, the gain of putting the word, first taken out, into it.
        """

    def labels(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def criterion(self) -> float: ...

    def recount(self) -> float:
        """The criterion computed anew from the tables."""

class TwoSidedExchange:
    def __init__(self, word_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], word_counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], context_offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], contexts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], context_counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], categories: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_states: int, state_targets: int, n_categories: int, category_targets: int, states_move: bool, threads: int, shortlist: int = 0) -> None: ...

    def sweep_words(self, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, seed: int, shortlisted: bool = False) -> int: ...

    def sweep_contexts(self, order: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], scales: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], temperature: float, seed: int, shortlisted: bool = False) -> int: ...

    def word_scores(self, word: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        For each category, the gain of putting the word, first taken out, into it; up to a constant.
        """

    def context_scores(self, context: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        For each state, the gain of putting the context, first taken out, into it; up to a constant.
        """

    def leave_one_out(self) -> None:
        """Take the criterion of leaving-one-out, with b of the present counts."""

    @property
    def b(self) -> float: ...

    def settle(self) -> None:
        """Compute the criterion anew."""

    def states(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    def categories(self) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]: ...

    @property
    def criterion(self) -> float: ...

    @property
    def likelihood(self) -> float: ...

    def recount(self) -> float:
        """The criterion computed anew from the tables."""

class TextEncoder:
    """
    Blocks of bytes to ids.

    Use in this order: feed and end_file for each file; merge; choose_vocabulary or use_vocabulary; encode.
    """

    def __init__(self, lowercase: bool, replace_errors: bool, threads: int) -> None: ...

    def feed(self, block: bytes) -> tuple[int, int, int] | None:
        """
        Take the next bytes of the file.

        Returns None, or line, offset and value of the first bad byte.
        """

    def end_file(self) -> tuple[int, int, int] | None:
        """Close the file; returns what `feed` returns."""

    def wide_words(self) -> bytes:
        """
        Return the distinct words with letters outside ASCII, each closed by a line end.
        """

    def merge(self, lowered: bytes, digits: bytes) -> None:
        """
        Merge the words of all threads.

        `lowered`: wide_words in lower case; `digits`: what stands for a number, or nothing.
        """

    def choose_vocabulary(self, size: int, min_count: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint64], dict(shape=(None,))]]:
        """Keep the most frequent words; returns letters, offsets, counts."""

    def use_vocabulary(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
        """Keep the given words, the special ones first; returns their counts."""

    def encode(self) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """
        Return the ids, every sentence closed by </s>, and where the sentences start.
        """

    @property
    def replaced(self) -> int:
        """How many bad parts became U+FFFD."""

    @property
    def dropped(self) -> int:
        """How many <s> and </s> were dropped."""

class HierarchyBuilder:
    """
    Merges classes two by two, each time with the least loss of average mutual information.
    """

    def __init__(self, counts: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], mergeable: int) -> None: ...

    def run(self, most: int) -> int:
        """Does up to `most` mergers; gives the number still to be done."""

    def merges(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """The names of the two clusters of each merger, one after the other."""

    def losses(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """The fall of the criterion, in nats, of each merger."""

    @property
    def evaluations(self) -> int:
        """How many exact losses were computed."""

class DamagedModel(ValueError):
    pass

class TrieReader:
    """Reads the arrays of a back-off model; their shapes are checked."""

    def __init__(self, numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.uint32], dict(shape=(None, 4), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.uint32], dict(shape=(None, 2), order='C', device='cpu', writable=False)]) -> None: ...

    def check(self, threads: int) -> None:
        """Check every n-gram; ValueError says what is wrong."""

    def score_events(self, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sentence_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], id_map: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin_number: int, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        Return the log10 probability and the length of the n-gram of each event.

        `id_map` has the trie's number of each id; each sentence begins after the word `begin_number`.
        """

    def history_nodes(self, ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sentence_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], id_map: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begin_number: int, threads: int) -> Annotated[NDArray[numpy.uint32], dict(shape=(None,))]:
        """
        Return the state before each event; the parameters are those of `score_events`.
        """

    def advance(self, node: int, number: int) -> tuple[float, int, int]:
        """
        Return the log10 probability of a word, the next state, the length of the n-gram.
        """

    def score_words(self, node: int, numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        Return the log10 probability and the length of the n-gram of each word after a state.
        """

    def history_state(self, numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Return the longest suffix of a history that can be continued."""

    def distribution(self, node: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
        """Return the probability of each word after a state, by its id."""

def score_lines(ids: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], sentence_starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], log10_probs: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], orders: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], unknown: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], sentences: bool, threads: int) -> bytes:
    """
    Return lines of tab-separated columns, one per word or one per sentence.

    Words: number of the sentence, position, word, log10 probability, surprisal in bits, length of the n-gram,
    whether it is unknown. Sentences: number, words, unknown words, log10 probability, perplexity.
    """

class GateLikelihood:
    """
    The likelihood of events under gates, whose weights are normalized products of rows of factors.

    `ratios` has a row for each event: the probabilities of the parts, each divided by the greatest.
    `rows` has for each table and event the row it looks up, numbered over all tables.
    """

    def __init__(self, ratios: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_rows: int, threads: int) -> None: ...

    def value_and_gradient(self, log_factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[float, Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return the sum of log(sum over parts of weight * ratio), and its derivative by each log factor.

        `log_factors`: one row after the other, the logarithm of the factor of each part.
        """

def em_weights(ratios: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_iterations: int, tolerance: float, threads: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], float, int]:
    """
    Estimate the weights of a mixture by expectation maximization, starting from given ones.

    `ratios` has a row for each part: its probabilities of all events, each divided by the greatest of them.
    Stops when no other weights could gain `tolerance` nats per event.

    Returns the weights, the sum of log(sum over parts of weight * ratio), the iterations.
    """

class ArpaProblem(ValueError):
    pass

class ArpaReader:
    """
    Blocks of an ARPA file to a trie.

    Use in this order: feed for each block; finish; take_trie. Whenever feed or finish return True:
    words and number_words, and after finish once more finish. Raises ArpaProblem: the line, a colon,
    what was found and what to do.
    """

    def __init__(self, threads: int) -> None: ...

    def feed(self, block: bytes) -> bool:
        """Take the next bytes; returns whether the words are to be numbered now."""

    def finish(self) -> bool:
        """Close the file; returns what `feed` returns."""

    def words(self) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
        """Return the words in the order of their ids: letters, offsets."""

    def number_words(self, numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Take the trie's number of each word."""

    def take_trie(self) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))], Annotated[NDArray[numpy.uint32], dict(shape=(None,))]]:
        """Return begins, words, nodes and leaves, the last two flat; once only."""

    @property
    def counts(self) -> list[int]:
        """The number of n-grams of each order in the file."""

    @property
    def added(self) -> tuple[bool, bool, bool]:
        """Whether <unk>, <s>, </s> were missing."""

    @property
    def renamed_unknown(self) -> bool:
        """Whether <UNK> was taken for <unk>."""

    @property
    def inserted(self) -> int:
        """How many missing starts of n-grams were added."""

class ArpaWriter:
    """The n-grams of a trie as lines of an ARPA file."""

    def __init__(self, letters: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], numbers: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], begins: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], words: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], nodes: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], threads: int) -> None: ...

    def lines(self, level: int, begin: int, end: int) -> bytes:
        """
        Return the lines of some n-grams of `level` words; words themselves are in the order of their ids.
        """
