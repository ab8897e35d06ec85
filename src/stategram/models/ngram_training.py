"""How an n-gram model is trained: its options, and the steps from a text to a trie."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from stategram.counts import NgramCounts, Workspace, count_ngrams
from stategram.errors import BadDataError, UsageError
from stategram.models.assembly import assemble
from stategram.models.pruning import prune as prune_estimates
from stategram.models.smoothing import SMOOTHINGS, check_min_counts, estimate, usual_min_counts
from stategram.models.trie import NgramTrie
from stategram.progress import Progress, subprogress
from stategram.text import Corpus, corpus_from_sentences


def check_options(
    order: int, smoothing: str, min_counts: Sequence[int] | None, prune: float
) -> Sequence[int]:
    """Refuse what makes no sense, before hours of work; give the cut-offs."""
    if smoothing not in SMOOTHINGS:
        raise UsageError(f"no smoothing {smoothing!r}: there are {', '.join(SMOOTHINGS)}")
    if not 0 <= prune < math.inf:
        raise UsageError(f"prune is {prune}; it must be 0 or more, such as 1e-8")
    if min_counts is None:
        return usual_min_counts(smoothing, order)
    check_min_counts(min_counts, order)
    return min_counts


def count(
    given: list[Corpus | Iterable[str | Iterable[str]]],
    order: int,
    *,
    progress: Progress | None,
) -> NgramCounts:
    """Count the n-grams of the text that is the only one in the list, which is empty then.

    So no name need hold the text: its memory is free again as soon as it is counted.
    """
    workspace = Workspace()
    text = given.pop()
    corpora = [text if isinstance(text, Corpus) else corpus_from_sentences(text)]
    del text
    if corpora[0].n_events == 0:
        raise BadDataError("the text has no words; give sentences of words separated by white space")
    return count_ngrams(corpora.pop(), order, workspace=workspace, progress=progress)


def trie_of(
    counts: NgramCounts,
    smoothing: str,
    min_counts: Sequence[int],
    prune: float,
    *,
    progress: Progress | None,
) -> tuple[NgramTrie, dict[str, Any]]:
    """Estimate, prune and put together; give the report too. The counts are used up."""
    workspace = counts.workspace
    report = {**counts.report, "min_counts": list(min_counts), "prune": prune}
    estimates = estimate(
        counts, smoothing, min_counts, workspace=workspace, progress=subprogress(progress, 0.0, 0.7)
    )
    if prune > 0:
        prune_estimates(estimates, prune, workspace=workspace)
    report |= {"discounts": estimates.discounts, "notes": estimates.notes}
    if progress:
        progress(0.8, "putting the model together")
    return assemble(estimates, workspace=workspace), report
