"""What is measured of a row: perplexities, and perplexities by how often contexts were seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stategram.contexts import ContextTree
from stategram.errors import StategramError
from stategram.evaluation import PerplexityFigures
from stategram.experiments.reproduction.results import CountBand
from stategram.text import UNKNOWN, Corpus

_BANDS: tuple[tuple[int, int | None], ...] = (
    (0, 0),
    (1, 1),
    (2, 5),
    (6, 20),
    (21, 100),
    (101, 1000),
    (1001, None),
)
_LogProbs = NDArray[np.float64]


def perplexity_of(log_probs: _LogProbs) -> float:
    """Return the perplexity of events; StategramError if it is infinite."""
    if not np.isfinite(log_probs).all():
        impossible = int(np.count_nonzero(~np.isfinite(log_probs)))
        raise StategramError(
            f"{impossible:,} of {len(log_probs):,} events have no probability, so there is no perplexity; "
            "give more training text, or --vocab, so that it has unknown words"
        )
    return float(np.exp(-log_probs.mean()))


def figures_of(log_probs: _LogProbs, corpus: Corpus) -> PerplexityFigures:
    """Return what a table shows of a text.

    Examples
    --------
    >>> from stategram.text import corpus_from_sentences
    >>> corpus = corpus_from_sentences(["a b"])
    >>> figures_of(np.log([0.5, 0.25, 0.5]), corpus).perplexity.__round__(3)
    2.52

    """
    perplexity = perplexity_of(log_probs)
    return PerplexityFigures(
        events=corpus.n_events,
        sentences=corpus.n_sentences,
        unknown=corpus.n_unknown,
        zero_probability=0,
        above_one=0,
        perplexity=perplexity,
        perplexity_known=perplexity_of(log_probs[corpus.ids != UNKNOWN]),
        bits=float(np.log2(perplexity)),
    )


def context_counts(tree: ContextTree, corpus: Corpus) -> NDArray[np.uint32]:
    """Return for each event how often its complete context was seen in the text of the tree."""
    nodes, levels = tree.find(corpus)
    counts = np.zeros(corpus.n_events, np.uint32)
    known = levels == tree.depth
    counts[known] = tree.levels[-1].counts[nodes[known]]
    return counts


def bands_of(log_probs: _LogProbs, counts: NDArray[np.uint32]) -> tuple[CountBand, ...]:
    """Return the perplexity of the events of each band of counts, without bands that have none."""
    found = []
    for least, most in _BANDS:
        here = (counts >= least) & (True if most is None else counts <= most)
        if here.any():
            found.append(
                CountBand(
                    least=least,
                    most=most,
                    events=int(np.count_nonzero(here)),
                    perplexity=perplexity_of(log_probs[here]),
                )
            )
    return tuple(found)
