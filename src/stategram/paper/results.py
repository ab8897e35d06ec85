"""What a reproduction of the paper's tables found: plain data, as in ``tables.json``.

A report needs nothing else.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from stategram.clustering import SweepRecord
from stategram.evaluation import Difference, PartFigures, PerplexityFigures, Resampling
from stategram.explore.content import ClusterGallery, Data
from stategram.storage import InputFile

FORMAT = 6
Verdict: TypeAlias = Literal["holds", "contradicted", "undecided"]


class CountBand(Data, frozen=True):
    """Test events whose context was seen ``least`` to ``most`` times in training (no upper end if None)."""

    least: int
    most: int | None
    events: int
    perplexity: float


class PaperFigures(Data, frozen=True):
    """What the paper reports of a row; ``None`` where it reports nothing.

    ``change`` is the relative difference to the perplexity of the row it is compared with, such as -0.12.
    ``seconds`` is the elapsed time of the clustering, ``sweep_seconds`` that of one sweep.
    """

    perplexity: float
    change: float | None = None
    parameters: int | None = None
    seconds: float | None = None
    sweep_seconds: float | None = None


class Clusters(Data, frozen=True):
    """The clusters of a model: what it is a model of, and how many clusters it has.

    ``contexts`` is how many distinct contexts the training text has, ``rare_contexts`` how many of them are
    too rare to move.
    """

    context: str
    tree: bool
    states: int
    categories: int
    contexts: int
    rare_contexts: int


class RowName(Data, frozen=True, kw_only=True):
    """What a row of a table is called, and what it is set beside.

    Parameters
    ----------
    key
        Its name, the same for every text: ``w-2,w-1 tree``.
    table
        1 to 4 as in the paper, 5 for what goes beyond it.
    title
        What a reader sees.
    asked
        The paper's numbers of states and categories.
    compared_with
        The key of the row it is compared with: the flat one for a tree, the n-gram model for a mixture.

    """

    key: str
    table: int
    title: str
    asked: tuple[int, int] | None = None
    compared_with: str | None = None


class RowResult(RowName, frozen=True, kw_only=True):
    """A row of a table, as it was measured.

    Parameters
    ----------
    kind
        ``clustered``, ``ngram``, ``mixture`` or ``word tree``.
    clusters
        Of a clustered model.
    test, heldout_perplexity
        How well it predicts.
    difference
        How its test perplexity differs from that of the row it is compared with.
    seconds
        How long it took, without what it shares with other rows.
    parameters
        The number of probabilities: for clustered models, those of all tables.
    sweeps, by_count, parts
        Of clusterings; of models of contexts; of mixtures, whose parts are rows.
    gallery
        Representative clusters, of rows that mixtures are made of.
    paper
        What the paper reports.
    note
        What a reader has to know of it: that there are fewer clusters, for instance.

    """

    kind: str
    test: PerplexityFigures
    heldout_perplexity: float
    seconds: float
    parameters: int
    clusters: Clusters | None = None
    difference: Difference | None = None
    sweeps: tuple[SweepRecord, ...] = ()
    by_count: tuple[CountBand, ...] = ()
    parts: tuple[PartFigures, ...] = ()
    gallery: ClusterGallery | None = None
    paper: PaperFigures | None = None
    note: str = ""


class Quantity(Data, frozen=True):
    """What a claim rests on: it holds if this is above its limit (below it, if not `above`).

    `low` and `high` are the ends of its confidence interval.
    """

    name: str
    value: float
    low: float
    high: float
    limit: float = 0.0
    above: bool = True


class Claim(Data, frozen=True):
    """A claim of the paper, its figures, those found here, whether it holds, and by which rule.

    ``paper`` and ``found`` are the same sentence with the paper's perplexities and with ours. The verdict
    follows from the quantities; ``printed`` is that of equation (1) as printed, where rows have one.
    """

    claim: str
    paper: str
    found: str
    verdict: Verdict
    rule: str
    quantities: tuple[Quantity, ...] = ()
    printed: Verdict | None = None


class TextFigures(Data, frozen=True):
    """A text: ``use`` is train, heldout or test."""

    use: str
    sentences: int
    words: int
    events: int
    unknown: int


class Tags(Data, frozen=True):
    """Tags: where they are from, how many there are, and of which fraction of the training text they are."""

    source: str
    number: int
    coverage: float


class Computation(Data, frozen=True):
    """How the rows were computed, over all runs if it was resumed.

    ``versions`` are those of programs by name, ``machine`` is processor and system; ``seconds`` and
    ``cpu_seconds`` are elapsed time and processor time from reading the texts to the last row;
    ``shared_seconds`` has what rows share, by name: reading, tags, classes, contexts.
    """

    command: str
    versions: dict[str, str]
    machine: str
    threads: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    shared_seconds: dict[str, float]


class Reproduction(Data, frozen=True):
    """Everything that was found.

    Parameters
    ----------
    rows
        Of all tables, in order.
    claims
        Whether the paper's claims hold; those whose rows are missing could not be tested.
    texts, inputs, vocabulary
        The texts and their files; the number of words of the vocabulary.
    scale, seed
        The options.
    tags, no_tags
        The tags; why there are none, and so no table 2.
    resampling
        How the confidence intervals were found.
    run
        With what, where and how fast it was computed.
    complete
        Whether all rows are there.

    """

    rows: tuple[RowResult, ...]
    claims: tuple[Claim, ...]
    texts: tuple[TextFigures, ...]
    inputs: tuple[InputFile, ...]
    vocabulary: int
    scale: str
    seed: int
    tags: Tags | None
    no_tags: str | None
    resampling: Resampling
    run: Computation
    complete: bool
    format: int = FORMAT
