"""Kernels of stategram: flat arrays in, flat arrays out."""

import numpy as np
from numpy.typing import NDArray

SWEEP_BATCH: int
"""How many elements a sweep scores before it moves them."""

def count_bigrams(
    ids: NDArray[np.uint32], first: int, types: int, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Count the pairs (previous, id), `first` standing before the first id: offsets, columns, counts."""

def transpose_counts(
    offsets: NDArray[np.int64], columns: NDArray[np.uint32], counts: NDArray[np.uint32]
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Give the same counts with rows and columns exchanged."""

class TextEncoder:
    """Blocks of bytes to ids.

    Use in this order: feed and end_file for each file; merge; choose_vocabulary or use_vocabulary; encode.
    """

    def __init__(self, lowercase: bool, replace_errors: bool, threads: int) -> None: ...
    def feed(self, block: bytes) -> tuple[int, int, int] | None:
        """Take the next bytes of the file; give None, or line, offset and value of the first bad byte."""

    def end_file(self) -> tuple[int, int, int] | None:
        """Close the file; give what feed gives."""

    def wide_words(self) -> bytes:
        r"""Give the distinct words with letters outside ASCII, each closed by \n."""

    def merge(self, lowered: bytes, digits: bytes) -> None:
        """Merge the words of all threads; `lowered`: wide_words in lower case; `digits`: for numbers."""

    def choose_vocabulary(
        self, size: int, min_count: int
    ) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint64]]:
        """Keep the most frequent words: letters, offsets, counts."""

    def use_vocabulary(self, letters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Keep the given words, the special ones first: counts."""

    def encode(self) -> tuple[NDArray[np.uint32], NDArray[np.int64]]:
        """Give the ids, every sentence closed by </s>, and where the sentences start."""

    @property
    def replaced(self) -> int:
        """How many bad parts became U+FFFD."""

    @property
    def dropped(self) -> int:
        """How many <s> and </s> were dropped."""

class TiedExchange:
    """Moves words between the classes of a class bigram model."""

    def __init__(
        self,
        successor_offsets: NDArray[np.int64],
        successors: NDArray[np.uint32],
        successor_counts: NDArray[np.uint32],
        predecessor_offsets: NDArray[np.int64],
        predecessors: NDArray[np.uint32],
        predecessor_counts: NDArray[np.uint32],
        labels: NDArray[np.uint32],
        classes: int,
        targets: int,
        threads: int,
        shortlist: int = 0,
    ) -> None: ...
    def sweep(
        self,
        order: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
    ) -> int:
        """Visit the words of `order`, in order; give the number of moves."""

    def scores(self, word: int) -> NDArray[np.float32]:
        """For each class, the gain of putting the word, first taken out, into it."""

    def labels(self) -> NDArray[np.uint32]:
        """Give the class of each word."""

    @property
    def criterion(self) -> float:
        """The criterion, kept up to date move by move."""

    def recount(self) -> float:
        """Give the criterion computed anew from the tables."""

class TwoSidedExchange:
    """Moves contexts between states and words between categories."""

    def __init__(
        self,
        word_offsets: NDArray[np.int64],
        words: NDArray[np.uint32],
        word_counts: NDArray[np.uint32],
        context_offsets: NDArray[np.int64],
        contexts: NDArray[np.uint32],
        context_counts: NDArray[np.uint32],
        states: NDArray[np.uint32],
        categories: NDArray[np.uint32],
        n_states: int,
        state_targets: int,
        n_categories: int,
        category_targets: int,
        states_move: bool,
        threads: int,
        shortlist: int = 0,
    ) -> None: ...
    def sweep_words(
        self,
        order: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
    ) -> int:
        """Visit the words of `order`, in order; give the number of moves."""

    def sweep_contexts(
        self,
        order: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
    ) -> int:
        """Visit the contexts of `order`, in order; give the number of moves."""

    def word_scores(self, word: int) -> NDArray[np.float32]:
        """For each category, the gain of putting the word, first taken out, into it; up to a constant."""

    def context_scores(self, context: int) -> NDArray[np.float32]:
        """For each state, the gain of putting the context, first taken out, into it; up to a constant."""

    def states(self) -> NDArray[np.uint32]:
        """Give the state of each context."""

    def categories(self) -> NDArray[np.uint32]:
        """Give the category of each word."""

    @property
    def criterion(self) -> float:
        """The criterion, kept up to date move by move."""

    def recount(self) -> float:
        """Give the criterion computed anew from the tables."""

class HierarchyBuilder:
    """Merges classes two by two, each time with the least loss of average mutual information."""

    def __init__(self, counts: NDArray[np.int64], mergeable: int) -> None: ...
    def run(self, most: int) -> int:
        """Do up to `most` mergers; give the number still to be done."""
    def merges(self) -> NDArray[np.int64]:
        """Give the names of the two clusters of each merger, one after the other."""
    def losses(self) -> NDArray[np.float64]:
        """Give the fall of the criterion, in nats, of each merger."""
    @property
    def evaluations(self) -> int:
        """How many exact losses were computed."""

class TrieReader:
    """Reads the arrays of a back-off model; their shapes are checked."""

    def __init__(
        self,
        numbers: NDArray[np.uint32],
        begins: NDArray[np.int64],
        words: NDArray[np.uint32],
        nodes: NDArray[np.uint32],
        leaves: NDArray[np.uint32],
    ) -> None: ...
    def check(self, threads: int) -> None:
        """Check every n-gram; ValueError says what is wrong."""

    def score_events(
        self,
        ids: NDArray[np.uint32],
        sentence_starts: NDArray[np.int64],
        id_map: NDArray[np.uint32],
        begin_number: int,
        threads: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Give the log10 probability and the length of the n-gram of each event.

        `id_map` gives the trie's number of each id; each sentence begins after the word `begin_number`.
        """

    def advance(self, node: int, number: int) -> tuple[float, int, int]:
        """Give the log10 probability of a word, the next state, the length of the n-gram."""

    def score_words(
        self, node: int, numbers: NDArray[np.uint32]
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
        """Give the log10 probability and the length of the n-gram of each word after a state."""

    def history_state(self, numbers: NDArray[np.uint32]) -> int:
        """Give the longest suffix of a history that can be continued."""

    def distribution(self, node: int) -> NDArray[np.float64]:
        """Give the probability of each word after a state, by its id."""
