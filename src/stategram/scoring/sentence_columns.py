"""What is known of each sentence of a text: the columns of a table of sentences."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from stategram.models import Model, State
from stategram.tables import TextColumn
from stategram.text import LineBlock


def sentence_columns(
    model: Model, block: LineBlock, state: State, item_ids: TextColumn | None = None
) -> tuple[dict[str, Any], State]:
    """Return the columns of some lines that go on from a state, and the state after them.

    The end of a sentence is no word, but counts in its perplexity.
    """
    scores = model.score(block.corpus, state=state)
    starts = scores.corpus.sentence_starts
    events = np.diff(starts)
    log10_probs = scores.sentence_log_probs / math.log(10.0)
    with np.errstate(over="ignore"):
        perplexities = np.power(10.0, -log10_probs / events)
    columns = {
        "sentence": block.lines,
        "words": events - 1,
        "unknown": np.add.reduceat(scores.unknown, starts[:-1], dtype=np.int64),
        "log10_prob": log10_probs,
        "perplexity": perplexities,
    }
    ids = {} if item_ids is None else {"item": item_ids[block.lines - 1]}
    return ids | columns, scores.state
