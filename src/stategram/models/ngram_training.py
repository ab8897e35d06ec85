"""How an n-gram model is trained: its options, and the steps from a text to a trie."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from typing import Any

from stategram.counts import NgramCounts, Tell, Workspace, count_ngrams, parse_size
from stategram.errors import BadDataError, UsageError
from stategram.models.assembly import assemble
from stategram.models.pruning import prune as prune_estimates
from stategram.models.smoothing import SMOOTHINGS, check_min_counts, estimate, usual_min_counts
from stategram.models.trie import NgramTrie
from stategram.processors import thread_count
from stategram.text import Corpus, corpus_from_sentences

__all__ = ["check_options", "count", "part_of", "trie_of"]


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
    memory: str | int | None,
    tmp: str | os.PathLike[str] | None,
    threads: int | None,
    tell: Tell | None,
) -> NgramCounts:
    """Count the n-grams of the text that is the only one in the list, which is empty then.

    So no name need hold the text: its memory is free again as soon as it is counted.
    """
    workspace = Workspace(parse_size(memory) if memory is not None else None, tmp)
    text = given.pop()
    corpora = [text if isinstance(text, Corpus) else corpus_from_sentences(text)]
    del text
    if corpora[0].n_events == 0:
        raise BadDataError("the text has no words; give sentences of words separated by white space")
    return count_ngrams(corpora.pop(), order, workspace=workspace, threads=threads, tell=tell)


def trie_of(
    counts: NgramCounts,
    smoothing: str,
    min_counts: Sequence[int],
    prune: float,
    *,
    threads: int | None,
    tell: Tell | None,
) -> tuple[NgramTrie, dict[str, Any]]:
    """Estimate, prune and put together; give the report too. The counts are used up."""
    n_threads, workspace = thread_count(threads), counts.workspace
    report = {**counts.report, "min_counts": list(min_counts), "prune": prune}
    estimates = estimate(
        counts, smoothing, min_counts, workspace=workspace, threads=n_threads, tell=part_of(tell, 0.0, 0.7)
    )
    if prune > 0:
        prune_estimates(estimates, prune, workspace=workspace, threads=n_threads)
    report |= {"discounts": estimates.discounts, "notes": estimates.notes}
    if tell:
        tell(0.8, "putting the model together")
    return assemble(estimates, workspace=workspace, threads=n_threads), report


def part_of(tell: Tell | None, begin: float, end: float) -> Tell | None:
    """Take the share of a step for that of the whole work."""
    if tell is None:
        return None
    return lambda share, words: tell(begin + (end - begin) * share, words)
