"""What a reproduction of the paper's tables found: plain data, as in ``tables.json``.

A report needs nothing else.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from stategram.clustering import SweepRecord
from stategram.evaluation import Interval, PartFigures, PerplexityFigures, Resampling
from stategram.explore.views import ClusterGallery, Data
from stategram.storage import InputFile

FORMAT = 4
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


class SeedFigures(Data, frozen=True):
    """A figure of a row that was trained with several seeds: each value, their mean, standard deviation."""

    values: tuple[float, ...]
    mean: float
    deviation: float


class RowResult(Data, frozen=True):
    """A row of a table.

    Parameters
    ----------
    key
        Its name, the same for every text: ``w-2,w-1 tree``.
    table
        1 to 4 as in the paper, 5 for what goes beyond it.
    title, kind
        What a reader sees; ``clustered``, ``ngram``, ``mixture`` or ``word tree``.
    context, tree, states, categories
        Of a clustered model; the numbers are those it has.
    asked
        The paper's numbers of states and categories.
    test, heldout_perplexity
        How well it predicts.
    compared_with, change, change_interval
        The key of the row it is compared with (the flat one for a tree, the n-gram model for a mixture), and
        the relative difference of its test perplexity, -0.1 being 10% lower, with its confidence interval.
    seeds, change_seeds
        Its test perplexity and its change by seeds; None with one seed, and for rows that no seed changes.
    seconds
        How long it took, without what it shares with other rows.
    parameters
        The number of probabilities: for clustered models, those of all tables.
    contexts, rare_contexts
        Of a clustered model: the distinct contexts of the training text, and those too rare to move.
    sweeps, by_count, parts
        Of clusterings; of models of contexts; of mixtures, whose parts are rows or models of a recipe.
    paper
        What the paper reports.
    note
        What a reader has to know of it: that there are fewer clusters, for instance.

    """

    key: str
    table: int
    title: str
    kind: str
    test: PerplexityFigures
    heldout_perplexity: float
    seconds: float
    parameters: int
    context: str | None = None
    tree: bool | None = None
    states: int | None = None
    categories: int | None = None
    contexts: int | None = None
    rare_contexts: int | None = None
    asked: tuple[int, int] | None = None
    compared_with: str | None = None
    change: float | None = None
    change_interval: Interval | None = None
    seeds: SeedFigures | None = None
    change_seeds: SeedFigures | None = None
    sweeps: tuple[SweepRecord, ...] = ()
    by_count: tuple[CountBand, ...] = ()
    parts: tuple[PartFigures, ...] = ()
    paper: PaperFigures | None = None
    note: str = ""


class Quantity(Data, frozen=True):
    """What a claim rests on: it holds if this is above its limit (below it, if not `above`).

    `low` and `high` are the ends of its confidence interval, `seeds` its values by seeds, if there are
    several.
    """

    name: str
    value: float
    low: float
    high: float
    limit: float = 0.0
    above: bool = True
    seeds: tuple[float, ...] = ()


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


class SizeTrial(Data, frozen=True):
    """The held-out perplexity of a clustered model (``key`` of its row) with so many clusters per side."""

    key: str
    clusters: int
    perplexity: float


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
    claims, untested
        Whether the paper's claims hold; those that could not be tested, because rows are missing.
    sizes, galleries
        Perplexity by numbers of clusters; representative clusters.
    texts, inputs, vocabulary
        The texts and their files; the number of words of the vocabulary.
    scale, tags, seed, seeds, threads
        The options; rows are trained with so many seeds, from `seed` on.
    no_tags
        Why there are no tags, and so no table 2.
    resampling
        How the confidence intervals were found.
    tag_coverage, n_tags
        The fraction of the words of the training text whose tag is from the lexicon or file; how many
        different tags words have.
    command, versions, machine
        How to repeat it: the command line, versions of programs by name, processor and system.
    seconds, cpu_seconds, peak_bytes
        Elapsed time and processor time from reading the texts to the last row, over all runs if it was
        resumed; the peak memory.
    shared_seconds
        What rows share, by name: reading, tags, classes, contexts.
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
    cpu_seconds: float
    peak_bytes: int
    shared_seconds: dict[str, float]
    complete: bool
    format: int = FORMAT
    tag_coverage: float | None = None
    n_tags: int | None = None
    no_tags: str | None = None
    seeds: int = 1
    untested: tuple[str, ...] = ()
    resampling: Resampling | None = None
