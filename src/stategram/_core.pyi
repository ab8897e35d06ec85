"""Kernels of stategram: flat arrays in, flat arrays out."""

import numpy as np
from numpy.typing import NDArray

SWEEP_BATCH: int
SPARSE_FACTOR: int
"""How many elements a sweep scores before it moves them."""

def count_ngrams(
    ids: NDArray[np.uint32],
    sentence_starts: NDArray[np.int64],
    numbers: NDArray[np.uint32],
    before: int,
    order: int,
    first: int,
    last: int,
    threads: int,
) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]]:
    """Count the n-grams whose first word has a number from `first` to `last` - 1.

    For each length: words, counts, first children.
    """

def count_contexts(
    ids: NDArray[np.uint32],
    sentence_starts: NDArray[np.int64],
    before: int,
    maps: list[NDArray[np.uint32]],
    distances: list[int],
    n_values: int,
    first: int,
    last: int,
    threads: int,
) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]]:
    """Count the contexts whose first value is `first` to `last` - 1.

    For each level values, counts, first children; then the same for the words that follow.
    """

def sum_rows(
    offsets: NDArray[np.int64],
    columns: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    rows: NDArray[np.uint32],
    group_offsets: NDArray[np.int64],
    n_columns: int,
    threads: int,
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Sum groups of rows: offsets, columns, counts."""

def find_contexts(
    ids: NDArray[np.uint32],
    sentence_starts: NDArray[np.int64],
    before: int,
    maps: list[NDArray[np.uint32]],
    distances: list[int],
    first_child: list[NDArray[np.uint32]],
    symbols: list[NDArray[np.uint32]],
    threads: int,
) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Give for each event the node of its context on the deepest level where it is known, and that level."""

def link_ngrams(
    words: NDArray[np.uint32],
    parents_first_child: NDArray[np.uint32],
    parents_suffix: NDArray[np.uint32],
    lower_first_child: NDArray[np.uint32],
    lower_words: NDArray[np.uint32],
    n_words: int,
    begin: int,
    end: int,
    suffixes: NDArray[np.uint32],
    continuations: NDArray[np.uint32],
    threads: int,
) -> None:
    """Find the suffixes of the children of the parents `begin` to `end` - 1, and count them."""

def interpolate_ngrams(
    first_child: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    suffixes: NDArray[np.uint32],
    lower: NDArray[np.float64],
    keep: NDArray[np.uint8],
    discounts: NDArray[np.float64],
    witten_bell: bool,
    begin: int,
    end: int,
    probs: NDArray[np.float64],
    backoffs: NDArray[np.float64],
    threads: int,
) -> None:
    """Write probabilities after the histories `begin` to `end` - 1, and their back-off weights."""

def discount_ngrams(
    first_child: NDArray[np.uint32],
    counts: NDArray[np.uint32],
    keep: NDArray[np.uint8],
    ratios: NDArray[np.float64],
    n_predicted: int,
    begin: int,
    end: int,
    probs: NDArray[np.float64],
    threads: int,
) -> None:
    """Write relative frequencies after the histories `begin` to `end` - 1, times a ratio for each count."""

def normalise_ngrams(
    first_child: NDArray[np.uint32],
    suffixes: NDArray[np.uint32],
    lower: NDArray[np.float64],
    keep: NDArray[np.uint8],
    n_predicted: int,
    begin: int,
    end: int,
    probs: NDArray[np.float64],
    backoffs: NDArray[np.float64],
    threads: int,
) -> None:
    """Write back-off weights of the histories `begin` to `end` - 1, and probabilities of what is not kept."""

def counts_of_counts(counts: NDArray[np.uint32], most: int) -> NDArray[np.int64]:
    """Give how many counts are 0, 1, ..., `most`."""

def log10_floats(values: NDArray[np.float64], logs: NDArray[np.float32], threads: int) -> None:
    """Write logarithms to the base of 10."""

def history_probs(
    first_child: NDArray[np.uint32],
    parents: NDArray[np.float64],
    log_probs: NDArray[np.float32],
    probs: NDArray[np.float64],
    threads: int,
) -> None:
    """Write probabilities of n-grams as histories, from those one word shorter."""

def prune_ngrams(
    first_child: NDArray[np.uint32],
    history_prob: NDArray[np.float64],
    backoffs: NDArray[np.float32],
    suffixes: NDArray[np.uint32],
    log_probs: NDArray[np.float32],
    lower_log_probs: NDArray[np.float32],
    needed: NDArray[np.uint8],
    threshold: float,
    keep: NDArray[np.uint8],
    threads: int,
) -> None:
    """Take the mark `keep` from n-grams without which the perplexity rises by less than the threshold."""

def have_kept_children(
    first_child: NDArray[np.uint32],
    children_keep: NDArray[np.uint8],
    have: NDArray[np.uint8],
    threads: int,
) -> None:
    """Mark the n-grams with children that are kept."""

def link_level(
    suffixes: NDArray[np.uint32],
    lower_first_child: NDArray[np.uint32],
    lower_links: NDArray[np.uint32],
    lower_ranks: NDArray[np.uint32],
    ranks: NDArray[np.uint32],
    lower_begin: int,
    begin: int,
    end: int,
    links: NDArray[np.uint32],
    threads: int,
) -> None:
    """Write for each n-gram the node of its longest suffix that has children."""

def assemble_level(
    words: NDArray[np.uint32],
    log_probs: NDArray[np.float32],
    backoffs: NDArray[np.float32],
    first_child: NDArray[np.uint32],
    links: NDArray[np.uint32],
    ranks: NDArray[np.uint32],
    next_ranks: NDArray[np.uint32],
    next_begin: int,
    begin: int,
    end: int,
    words_out: NDArray[np.uint32],
    rows_out: NDArray[np.uint32],
    threads: int,
) -> None:
    """Write the n-grams of one length to the arrays of a model."""

def count_bigrams(
    ids: NDArray[np.uint32], first: int, types: int, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32]]:
    """Count the pairs (previous, id), `first` standing before the first id: offsets, columns, counts."""

def transpose_counts(
    offsets: NDArray[np.int64], columns: NDArray[np.uint32], counts: NDArray[np.uint32], n_columns: int
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
        batch: int = 64,
    ) -> int:
        """Propose and apply moves of the words of `order`, batch by batch; return the number of moves."""

    def propose(
        self,
        elements: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Return the target of each word by the present tables, and the noise in its favour."""

    def apply(
        self, elements: NDArray[np.uint32], targets: NDArray[np.uint32], noise: NDArray[np.float64]
    ) -> int:
        """Make the proposed moves that gain, noise included, in order; return their number."""

    def scores(self, word: int) -> NDArray[np.float32]:
        """Return, for each class, the gain of putting the word, first taken out, into it."""

    def labels(self) -> NDArray[np.uint32]:
        """Return the class of each word."""

    @property
    def criterion(self) -> float:
        """The criterion, kept up to date move by move."""

    def recompute_criterion(self) -> float:
        """Compute the criterion from the tables, without the rounding errors of many moves; return it."""

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
        batch: int = 64,
    ) -> int:
        """Propose and apply moves of the words of `order`, batch by batch; return the number of moves."""

    def propose_words(
        self,
        elements: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Return the target of each word by the present tables, and the noise in its favour."""

    def apply_words(
        self, elements: NDArray[np.uint32], targets: NDArray[np.uint32], noise: NDArray[np.float64]
    ) -> int:
        """Make the proposed moves that gain, noise included, in order; return their number."""

    def sweep_contexts(
        self,
        order: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
        batch: int = 64,
    ) -> int:
        """Propose and apply moves of the contexts of `order`, batch by batch; return the number of moves."""

    def propose_contexts(
        self,
        elements: NDArray[np.uint32],
        scales: NDArray[np.float32],
        temperature: float,
        seed: int,
        shortlisted: bool = False,
    ) -> tuple[NDArray[np.uint32], NDArray[np.float64]]:
        """Return the target of each context by the present tables, and the noise in its favour."""

    def apply_contexts(
        self, elements: NDArray[np.uint32], targets: NDArray[np.uint32], noise: NDArray[np.float64]
    ) -> int:
        """Make the proposed moves that gain, noise included, in order; return their number."""

    def word_scores(self, element: int) -> NDArray[np.float32]:
        """Return the gain of putting the word, first taken out, into each category, up to a constant."""

    def context_scores(self, element: int) -> NDArray[np.float32]:
        """Return the gain of putting the context, first taken out, into each state, up to a constant."""

    def categories(self) -> NDArray[np.uint32]:
        """Return the category of each word."""

    def states(self) -> NDArray[np.uint32]:
        """Return the state of each context."""

    def leave_one_out(self) -> float:
        """Switch to the criterion of leaving-one-out, with b of the present counts; return it."""

    @property
    def b(self) -> float:
        """The b of leaving-one-out."""

    @property
    def criterion(self) -> float:
        """The criterion, kept up to date move by move."""

    def recompute_criterion(self) -> float:
        """Compute the criterion from the tables, without the rounding errors of many moves; return it."""

    @property
    def likelihood(self) -> float:
        """The criterion of maximum likelihood; under leaving-one-out, when b was last taken."""

class HierarchyBuilder:
    """Merges classes two by two, each time with the least loss of average mutual information."""

    def __init__(self, counts: NDArray[np.int64], mergeable: int) -> None: ...
    def run(self, most: int) -> int:
        """Do up to `most` mergers; return the number still to be done."""
    def merges(self) -> NDArray[np.int64]:
        """Return the names of the two clusters of each merger, one after the other."""
    def losses(self) -> NDArray[np.float64]:
        """Return the fall of the criterion, in nats, of each merger."""
    @property
    def evaluations(self) -> int:
        """How many exact losses were computed."""

class DamagedModel(ValueError):  # noqa: N818
    """The arrays of a model contradict themselves."""

class ArpaProblem(ValueError):  # noqa: N818
    """What is wrong with an ARPA file: the line, a colon, what was found and what to do."""

class ArpaReader:
    """Blocks of an ARPA file to a trie.

    Use in this order: feed for each block; finish; take_trie. Whenever feed or finish give True: words and
    number_words, and after finish once more finish.
    """

    def __init__(self, threads: int) -> None: ...
    def feed(self, block: bytes) -> bool:
        """Take the next bytes; give whether the words are to be numbered now."""
    def finish(self) -> bool:
        """Close the file; give what feed gives."""
    def words(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Give the words in the order of their ids: letters, offsets."""
    def number_words(self, numbers: NDArray[np.uint32]) -> None:
        """Take the trie's number of each word."""
    def take_trie(
        self,
    ) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint32], NDArray[np.uint32]]:
        """Give begins, words, nodes and leaves, the last two flat; once only."""
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

    def __init__(
        self,
        letters: NDArray[np.uint8],
        offsets: NDArray[np.int64],
        numbers: NDArray[np.uint32],
        begins: NDArray[np.int64],
        words: NDArray[np.uint32],
        nodes: NDArray[np.uint32],
        leaves: NDArray[np.uint32],
        threads: int,
    ) -> None: ...
    def lines(self, level: int, begin: int, end: int) -> bytes:
        """Give the lines of some n-grams of `level` words; words themselves are in the order of their ids."""

def score_lines(
    ids: NDArray[np.uint32],
    sentence_starts: NDArray[np.int64],
    numbers: NDArray[np.int64],
    letters: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    log10_probs: NDArray[np.float64],
    orders: NDArray[np.uint8],
    unknown: NDArray[np.uint8],
    sentences: bool,
    threads: int,
) -> bytes:
    """Give lines of tab-separated columns: for each word, or each sentence, what a model says of it.

    Words: number of the sentence, position, word, log10 probability, surprisal in bits, length of the n-gram,
    whether it is unknown. Sentences: number, words, unknown words, log10 probability, perplexity.
    """

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
        begin_state: int,
        first_state: int,
        with_states: bool,
        threads: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.uint8], NDArray[np.uint32]]:
        """Return for each event its log10 probability, the length of its n-gram, and the state before it.

        `id_map` has the trie's number of each id. The first sentence starts from `first_state`, the others
        from `begin_state`. Without `with_states` the last array is empty.
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

def em_weights(
    ratios: NDArray[np.float32],
    weights: NDArray[np.float64],
    max_iterations: int,
    tolerance: float,
    threads: int,
) -> tuple[NDArray[np.float64], float, int]:
    """Estimate the weights of a mixture by expectation maximisation, from given ones on.

    `ratios` has a row for each part: its probabilities of all events, each divided by the greatest of them.
    It is done when no other weights could gain `tolerance` nats an event.

    Gives the weights, the sum of log(sum over parts of weight * ratio), the iterations.
    """

class GateLikelihood:
    """Measures gates, whose weights are the products of rows of factors, made to sum to one.

    `ratios` has a row for each event: the probabilities of the parts, each divided by the greatest of them.
    `rows` has for each table and event the row it looks up, numbered over all tables.
    """

    def __init__(
        self, ratios: NDArray[np.float32], rows: NDArray[np.uint32], n_rows: int, threads: int
    ) -> None: ...
    def ask(self, log_factors: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Give the sum of log(sum over parts of weight * ratio), and its derivative by each number.

        `log_factors`: one row after the other, the logarithm of the factor of each part.
        """
