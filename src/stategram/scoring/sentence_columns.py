"""What is known of each sentence of a text: the columns of a table of sentences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stategram.scoring.text_scorer import ScoredBlock

SENTENCE_COLUMNS = ("sentence", "words", "unknown", "log10_prob", "perplexity")


def sentence_columns(scored: ScoredBlock) -> dict[str, Any]:
    """Return the columns of a table of sentences.

    The end of a sentence is no word, but counts in its perplexity. Unknown words without a probability count
    in neither.
    """
    starts = scored.scores.corpus.sentence_starts
    has_prob = ~np.isnan(scored.log_probs)
    log10_probs = np.add.reduceat(np.where(has_prob, scored.log_probs, 0.0), starts[:-1]) / math.log(10.0)
    with np.errstate(over="ignore"):
        perplexities = np.power(10.0, -log10_probs / np.add.reduceat(has_prob, starts[:-1], dtype=np.int64))
    return {
        "sentence": scored.block.lines,
        "words": np.diff(starts) - 1,
        "unknown": np.add.reduceat(scored.scores.unknown, starts[:-1], dtype=np.int64),
        "log10_prob": log10_probs,
        "perplexity": perplexities,
    }
