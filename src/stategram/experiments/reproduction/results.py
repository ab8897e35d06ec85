"""What a reproduction of the paper's tables found: plain data, as in ``tables.json``.

A report needs nothing else.
"""

from __future__ import annotations

from stategram.experiments.cluster_examples import ClusterGallery, Data

FORMAT = 1


class Figures(Data, frozen=True):
    """How well a model predicts a text; ``perplexity_known`` leaves the events of unknown words out."""

    events: int
    unknown: int
    perplexity: float
    perplexity_known: float


class Sweep(Data, frozen=True):
    """One sweep of a clustering; ``criterion`` in nats, ``perplexity`` of the training text."""

    number: int
    level: int
    step: str
    moves: int
    criterion: float
    perplexity: float
    seconds: float


class CountBand(Data, frozen=True):
    """Test events whose context was seen ``least`` to ``most`` times in training (no end if None)."""

    least: int
    most: int | None
    events: int
    perplexity: float


class Part(Data, frozen=True):
    """A part of a mixture: its name, and its weight on average over the test events."""

    name: str
    weight: float


class PaperRow(Data, frozen=True):
    """What the paper says of a row; None where it says nothing or where we do not know it."""

    perplexity: float | None = None
    change: float | None = None
    """The relative difference of perplexity to the row it is compared with, such as -0.12."""
    up_to: bool = False
    """Whether that is the largest difference of several rows, and what it is for this one is not known."""
    note: str = ""


class RowResult(Data, frozen=True):
    """A row of a table.

    Parameters
    ----------
    key
        Its name, the same for every text: ``w-2,w-1 tree``.
    table
        1 to 4 as in the paper, 5 for what goes beyond it.
    title, kind
        What a reader sees; ``clustered``, ``ngram`` or ``mixture``.
    context, tree, states, categories
        Of a clustered model; the numbers are those it has.
    asked
        The paper's numbers of states and categories.
    test, heldout_perplexity
        How well it predicts.
    compared_with, change
        The key of the row it is compared with (the flat one for a tree, the n-gram model for a mixture), and
        the relative difference of its test perplexity: -0.1 is 10% lower.
    seconds
        How long it took, without what it shares with other rows.
    parameters
        As the paper counts them.
    sweeps, by_count, parts
        Of clusterings; of models of contexts; of mixtures.
    paper
        What the paper says.
    note
        What a reader has to know of it: that there are fewer clusters, for instance.

    """

    key: str
    table: int
    title: str
    kind: str
    test: Figures
    heldout_perplexity: float
    seconds: float
    parameters: int
    context: str | None = None
    tree: bool | None = None
    states: int | None = None
    categories: int | None = None
    asked: tuple[int, int] | None = None
    compared_with: str | None = None
    change: float | None = None
    sweeps: tuple[Sweep, ...] = ()
    by_count: tuple[CountBand, ...] = ()
    parts: tuple[Part, ...] = ()
    paper: PaperRow | None = None
    note: str = ""


class Claim(Data, frozen=True):
    """A claim of the paper, what was found here, whether it holds (yes, no, or partly), and by which rule."""

    claim: str
    paper: str
    found: str
    holds: str
    rule: str = ""


class SizeTrial(Data, frozen=True):
    """The held-out perplexity of a clustered model (``key`` of its row) with so many clusters a side."""

    key: str
    clusters: int
    perplexity: float


class InputFile(Data, frozen=True):
    """A file that was read: ``use`` is train, heldout, test, tags or vocabulary."""

    use: str
    name: str
    bytes: int
    sha256: str


class TextFigures(Data, frozen=True):
    """A text: ``use`` is train, heldout or test."""

    use: str
    sentences: int
    words: int
    events: int
    unknown: int


class Reproduction(Data, frozen=True):
    """Everything that was found.

    Parameters
    ----------
    rows
        Of all tables, in order.
    claims
        Whether the paper holds.
    sizes, galleries
        Perplexity against numbers of clusters; telling clusters.
    texts, inputs, vocabulary
        What it was found on; the number of words of the vocabulary.
    scale, tags, seed, threads
        How it was asked for.
    tag_coverage
        The share of the words of the training text whose tag is from the lexicon or file.
    command, versions, machine
        What to repeat it with: the command line, versions of programs by name, a few words on the machine.
    seconds, peak_bytes
        The time of all rows and of what they share, over all runs if it was resumed; the most memory.
    shared_seconds
        What rows share, by name: reading, tags, classes, n-gram counts.
    complete
        Whether all rows are there.

    """

    rows: tuple[RowResult, ...]
    claims: tuple[Claim, ...]
    sizes: tuple[SizeTrial, ...]
    galleries: tuple[ClusterGallery, ...]
    texts: tuple[TextFigures, ...]
    inputs: tuple[InputFile, ...]
    vocabulary: int
    scale: str
    tags: str | None
    seed: int
    threads: int
    command: str
    versions: dict[str, str]
    machine: str
    seconds: float
    peak_bytes: int
    shared_seconds: dict[str, float]
    complete: bool
    format: int
    tag_coverage: float | None = None
