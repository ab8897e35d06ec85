"""Selection of text, as the formulas say it.

H(s) = - 1/n sum_i log2 p(w_i | history) over the n words and sentence ends of a row; the score of a row is
H_in-domain(s) - H_general(s), Moore and Lewis (2010), or the perplexity 2^H_in-domain(s).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from stategram import Model


def row_score(models: Sequence[Model], row: str) -> float:
    """Return the score of a row, each line of which is a sentence; nan for one without words.

    If the models do not know the same words, those that one does not know count in neither.
    """
    total, n, n_known = 0.0, 0, 0
    one_vocabulary = len({frozenset(model.vocabulary.words) for model in models}) == 1
    for line in row.split("\n"):
        words = line.split()
        if not words:
            continue
        states = [model.start() for model in models]
        for word in [*words, "</s>"]:
            is_known = all(word in model for model in models)
            steps = [model.advance(state, word) for model, state in zip(models, states, strict=True)]
            states = [step.state for step in steps]
            if is_known or one_vocabulary:
                total += -steps[0].log_prob + sum(step.log_prob for step in steps[1:])
                n += 1
                n_known += word != "</s>"
    if not n_known:
        return math.nan
    return math.exp(total / n) if len(models) == 1 else total / n / math.log(2)


def best_rows(scores: Sequence[float], sizes: Sequence[int], budget: float) -> list[int]:
    """Return the best rows, in their order: the lowest scores, equal ones together, as many as fit."""
    kept: list[int] = []
    for score in sorted({score for score in scores if not math.isnan(score)}):
        equal = [i for i in range(len(scores)) if scores[i] == score]
        budget -= sum(sizes[i] for i in equal)
        if budget < 0:
            break
        kept += equal
    return sorted(kept)
