"""Lines of tab-separated columns on what a model says of a text."""

from __future__ import annotations

import math
from collections.abc import Sequence


def number(value: float) -> str:
    """Write a number with six digits after the point; from a hundred billion on in scientific notation."""
    if not math.isfinite(value):
        return str(value)
    if abs(value) >= 1e11:
        return f"{value:.6e}"
    millionths = round(abs(value) * 1e6)
    sign = "-" if value < 0 and millionths else ""
    return f"{sign}{millionths // 10**6}.{millionths % 10**6:06}"


def word_line(sentence: int, position: int, word: str, log10_prob: float, order: int, unknown: bool) -> str:
    surprisal = -log10_prob * math.log2(10)
    columns = [sentence, position, word, number(log10_prob), number(surprisal), order, int(unknown)]
    return "\t".join(map(str, columns)) + "\n"


def sentence_line(sentence: int, log10_probs: Sequence[float], unknown: Sequence[bool]) -> str:
    """The last event is the end of the sentence: no word, but it counts in the perplexity."""
    log10_prob = 0.0
    for one in log10_probs:
        log10_prob += one
    try:
        perplexity = math.pow(10.0, -log10_prob / len(log10_probs))
    except OverflowError:
        perplexity = math.inf
    columns = [sentence, len(log10_probs) - 1, sum(unknown), number(log10_prob), number(perplexity)]
    return "\t".join(map(str, columns)) + "\n"
