"""What follows from the rows: how they compare with each other, and whether the paper's claims hold.

A claim rests on quantities, such as the gain of one row over another. The same formula gives them for the
paper's perplexities, for ours, for those of each resample of the test text, and for those of other seeds.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.evaluation import LEVEL, ResampledPerplexity, quantiles
from stategram.paper.published import PAPER
from stategram.paper.results import (
    Claim,
    Quantity,
    RowResult,
    SeedFigures,
    Verdict,
)
from stategram.paper.rows import STRICT, WORDS_TREE

_WORDS_FLAT, _CLASSES_FLAT, _CLASSES_TREE = "w-2,w-1 flat", "g-2,g-1 flat", "g-2,g-1 tree"
_WORDS_BIGRAM = "w-1 2000,2000"
_BIGRAM, _TRIGRAM = "back-off 2", "back-off 3"
_WINDOWS = ("t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")
_PAIRS = tuple(f"{window} {how}" for window in _WINDOWS for how in ("flat", "tree"))
# A fourth tag that gains less has stopped improving the model; classes are close to words up to here.
_STOPPED, _CLOSE = 0.005, 0.10

Perplexities: TypeAlias = Mapping[str, float]
"""The perplexities of rows by their keys."""
Resamples: TypeAlias = Mapping[str, ResampledPerplexity]
"""Those of the rows with their resamples."""
_Values = TypeVar("_Values", float, NDArray[np.float64])
_Value = TypeVar("_Value")


class _Side(NamedTuple):
    """On which side of a limit a quantity must be for a claim to hold."""

    name: str
    limit: float = 0.0
    above: bool = True


@dataclass(frozen=True)
class _Rule:
    """A claim: the rows it rests on, what is measured of them, and when it holds.

    `rows` chooses the keys of rows, given all perplexities, a KeyError if some are missing; `measure` has the
    quantities and `sentence` shows what was found, both of the perplexities of these rows.
    """

    claim: str
    rows: Callable[[Perplexities], tuple[str, ...]]
    measure: Callable[..., tuple[float, ...]]
    sentence: Callable[..., str]
    sides: tuple[_Side, ...]
    rule: str


def with_comparisons(
    rows: Sequence[RowResult], resampled: Resamples, by_seed: Sequence[Perplexities] = ()
) -> tuple[RowResult, ...]:
    """Add how each row differs from the one it is compared with, here and in the paper.

    `by_seed` has the perplexities of all rows with each seed, if there are several.
    """
    trials = [row for row in rows if is_trial(row)]
    best = min(trials, key=lambda row: row.heldout_perplexity) if len(trials) > 1 else None
    return tuple(_compared(row, resampled, by_seed, row is best) for row in rows)


def _compared(
    row: RowResult, resampled: Resamples, by_seed: Sequence[Perplexities], is_best: bool
) -> RowResult:
    paper, other = row.paper, row.compared_with
    compared = None
    change_seeds = None
    if other is not None and other in resampled:
        compared = resampled[row.key].difference(resampled[other])
        change_seeds = _seed_figures(
            [of[row.key] / of[other] - 1 for of in by_seed if {row.key, other} <= of.keys()]
        )
    if paper is not None and other is not None and other in PAPER:
        paper = msgspec.structs.replace(paper, change=paper.perplexity / PAPER[other].perplexity - 1)
    best = "of all numbers of clusters that were tried, the best on held-out text" if is_best else ""
    return msgspec.structs.replace(
        row,
        difference=compared,
        seeds=_seed_figures([of[row.key] for of in by_seed if row.key in of]),
        change_seeds=change_seeds,
        paper=paper,
        note="; ".join(filter(None, [row.note, best])),
    )


def _seed_figures(values: Sequence[float]) -> SeedFigures | None:
    """Return mean and standard deviation; None if no seed makes a difference."""
    if len(set(values)) < 2:
        return None
    return SeedFigures(
        values=tuple(values), mean=statistics.fmean(values), deviation=statistics.stdev(values)
    )


def is_trial(row: RowResult) -> bool:
    """Whether a row differs from the tree of table 1 in nothing but its number of clusters."""
    return row.key == WORDS_TREE or row.key.startswith(f"{WORDS_TREE} x")


def judge_claims(
    rows: Sequence[RowResult], resampled: Resamples, by_seed: Sequence[Perplexities] = ()
) -> tuple[Claim, ...]:
    """Judge each claim whose rows are all there."""
    every = {row.key: row.test.perplexity for row in rows if row.table <= 4}
    ours = {key: value for key, value in every.items() if not key.endswith(STRICT)}
    paper = {key: figures.perplexity for key, figures in PAPER.items()}
    titles = {row.key: row.title for row in rows}
    claims = []
    for rule in _RULES:
        try:
            keys, paper_keys = rule.rows(ours), rule.rows(paper)
        except KeyError:  # a row is not there
            continue
        measured = _quantities(rule, keys, resampled, by_seed)
        names = tuple(titles[key] for key in keys)
        found = f"{rule.sentence(names, *(ours[key] for key in keys))}; {_intervals(measured)}"
        of_printed = None
        strict = _as_printed(every)
        if any(f"{key} {STRICT}" in every for key in keys):
            keys = rule.rows(strict)
            of_printed = _verdict(
                _quantities(rule, keys, _as_printed(resampled), [_as_printed(of) for of in by_seed])
            )
            names = tuple(titles.get(f"{key} {STRICT}", titles[key]) for key in keys)
            sentence = rule.sentence(names, *(strict[key] for key in keys))
            found += f". With equation (1) as printed: {sentence} ({of_printed})"
        claims.append(
            Claim(
                claim=rule.claim,
                paper=rule.sentence(paper_keys, *(paper[key] for key in paper_keys)),
                found=found,
                verdict=_verdict(measured),
                printed=of_printed,
                rule=rule.rule,
                quantities=measured,
            )
        )
    return tuple(claims)


def untested(claims: Sequence[Claim]) -> list[str]:
    """Return the claims of the paper that are not among those that were judged.

    >>> untested(judge_claims([], {}))[0]
    'Moving contexts along a tree beats moving single contexts (w-2,w-1)'
    """
    judged = {claim.claim for claim in claims}
    return [rule.claim for rule in _RULES if rule.claim not in judged]


def _as_printed(of: Mapping[str, _Value]) -> dict[str, _Value]:
    """Return the rows with those of equation (1) as printed in place of the smoothed ones."""
    return {key: of.get(f"{key} {STRICT}", value) for key, value in of.items() if not key.endswith(STRICT)}


def _quantities(
    rule: _Rule, keys: tuple[str, ...], resampled: Resamples, by_seed: Sequence[Perplexities]
) -> tuple[Quantity, ...]:
    values = rule.measure(*(resampled[key].value for key in keys))
    drawn = rule.measure(*(resampled[key].resamples for key in keys))
    seeds = [rule.measure(*(of[key] for key in keys)) for of in by_seed if set(keys) <= of.keys()]
    found = []
    for number, side in enumerate(rule.sides):
        low, high = quantiles(np.asarray(drawn[number]))
        found.append(
            Quantity(
                name=side.name,
                value=values[number],
                low=low,
                high=high,
                limit=side.limit,
                above=side.above,
                seeds=tuple(of[number] for of in seeds),
            )
        )
    return tuple(found)


def _verdict(quantities: Sequence[Quantity]) -> Verdict:
    """Return whether all quantities are on their side, or one is clearly on the other."""
    sides = [_side(one) for one in quantities]
    return "contradicted" if False in sides else "holds" if all(sides) else "undecided"


def _side(of: Quantity) -> bool | None:
    """Whether a quantity is on the right side of its limit; None if its interval or its seeds disagree."""
    sign = 1.0 if of.above else -1.0
    if of.low == of.high:
        return None  # a test text of one unit, which says nothing of others
    ends = [sign * (value - of.limit) for value in (of.low, of.high, *of.seeds)]
    return True if min(ends) > 0 else False if max(ends) < 0 else None


def _intervals(quantities: Sequence[Quantity]) -> str:
    shown = [f"{one.name} {one.low:+.1%} to {one.high:+.1%}" for one in quantities]
    seeds = [
        f"{one.name} {min(one.seeds):+.1%} to {max(one.seeds):+.1%}"
        for one in quantities
        if len(set(one.seeds)) > 1
    ]
    return f"{LEVEL:.0%} interval of {', '.join(shown)}" + (
        f"; over seeds: {', '.join(seeds)}" if seeds else ""
    )


def _gain(before: _Values, after: _Values) -> _Values:
    return 1 - after / before


def _lower(gain: float) -> str:
    return f"{gain:.1%} lower" if gain >= 0 else f"{-gain:.1%} higher"


def _growth(
    f2: _Values, t2: _Values, f3: _Values, t3: _Values, f4: _Values, t4: _Values
) -> tuple[_Values, ...]:
    two, three, four = _gain(f2, t2), _gain(f3, t3), _gain(f4, t4)
    return three - two, four - three


def _gains_of_trees(_keys: tuple[str, ...], *of: float) -> str:
    gains = [_gain(flat, tree) for flat, tree in zip(of[::2], of[1::2], strict=True)]
    names = zip(("two", "three", "four"), gains, strict=True)
    return ", ".join(f"{n} tags: {_lower(gain)}" for n, gain in names)


def _best_mixture(of: Perplexities) -> tuple[str, ...]:
    return _TRIGRAM, _lowest({key: value for key, value in of.items() if key.endswith(f" + {_TRIGRAM}")}, of)


def _best_clustered(of: Perplexities) -> tuple[str, ...]:
    clustered = {key: value for key, value in of.items() if key[0] in "wtg" and "+" not in key}
    flat = {key: value for key, value in clustered.items() if " tree" not in key}
    if _BIGRAM not in of:
        raise KeyError("no such row")
    return _TRIGRAM, _lowest(clustered, of), _BIGRAM, _lowest(flat, of)


def _lowest(candidates: Perplexities, of: Perplexities) -> str:
    if not candidates or _TRIGRAM not in of:
        raise KeyError("no such rows")
    return min(candidates, key=lambda key: candidates[key])


def _rows(*keys: str) -> Callable[[Perplexities], tuple[str, ...]]:
    """Choose these rows; KeyError if one is missing."""

    def chosen(of: Perplexities) -> tuple[str, ...]:
        if not set(keys) <= of.keys():
            raise KeyError(keys)
        return keys

    return chosen


def _fall(_keys: tuple[str, ...], before: float, after: float) -> str:
    return f"{_lower(_gain(before, after))}: {before:,.1f} to {after:,.1f}"


def _gain_alone(before: _Values, after: _Values) -> tuple[_Values, ...]:
    return (_gain(before, after),)


_ABOVE_ZERO = "holds if the interval is above zero, contradicted if it is below"
_RULES = (
    _Rule(
        "Moving contexts along a tree beats moving single contexts (w-2,w-1)",
        _rows(_WORDS_FLAT, WORDS_TREE),
        _gain_alone,
        _fall,
        (_Side("the gain"),),
        _ABOVE_ZERO,
    ),
    _Rule(
        "The gain of the tree grows with the number of tags in the context",
        _rows(*_PAIRS),
        _growth,
        _gains_of_trees,
        (_Side("the growth to three tags"), _Side("to four")),
        "holds if both intervals are above zero, contradicted if one is below",
    ),
    _Rule(
        "From three tags to four, flat clustering stops improving while the tree goes on",
        _rows(*_PAIRS[2:]),
        lambda flat, tree, flat_4, tree_4: (_gain(flat, flat_4), _gain(tree, tree_4)),
        lambda _, flat, tree, flat_4, tree_4: (
            f"flat {flat:,.1f} to {flat_4:,.1f}, tree {tree:,.1f} to {tree_4:,.1f}"
        ),
        (_Side("the gain, flat", _STOPPED, above=False), _Side("with the tree", _STOPPED)),
        f"holds if the fourth tag gains less than {_STOPPED:.1%} flat and more with the tree, both by their "
        "intervals; contradicted if one of them is the other way round. The limit is ours",
    ),
    _Rule(
        "The tree gains for learned classes too (g-2,g-1)",
        _rows(_CLASSES_FLAT, _CLASSES_TREE),
        _gain_alone,
        _fall,
        (_Side("the gain"),),
        _ABOVE_ZERO,
    ),
    _Rule(
        "Learned classes as contexts (g-2,g-1) come close to words (w-2,w-1)",
        _rows(WORDS_TREE, _CLASSES_TREE),
        lambda words, classes: (classes / words - 1,),
        lambda _, words, classes: (
            f"{classes:,.1f} with classes, {words:,.1f} with words ({classes / words - 1:+.1%})"
        ),
        (_Side("the difference", _CLOSE, above=False),),
        f"holds if the interval is below {_CLOSE:.0%}, contradicted if it is above. The limit is ours",
    ),
    _Rule(
        "Without the tree too, a clustered trigram (w-2,w-1) beats the clustered bigram (w-1)",
        _rows(_WORDS_BIGRAM, _WORDS_FLAT),
        _gain_alone,
        _fall,
        (_Side("the gain"),),
        _ABOVE_ZERO,
    ),
    _Rule(
        "Interpolation with a clustered model improves the back-off trigram",
        _best_mixture,
        _gain_alone,
        lambda keys, trigram, best: f"up to {_fall(keys, trigram, best)} with {keys[1].split(' + ')[0]}",
        (_Side("the gain"),),
        _ABOVE_ZERO,
    ),
    _Rule(
        "Both back-off models outperform the clustered ones, the bigram those without a tree",
        _best_clustered,
        lambda trigram, best, bigram, flat: (best / trigram - 1, flat / bigram - 1),
        lambda keys, trigram, best, bigram, flat: (
            f"{best:,.1f} for {keys[1]}, the best, against {trigram:,.1f} for the trigram; {flat:,.1f} for "
            f"{keys[3]}, the best without a tree, against {bigram:,.1f} for the bigram"
        ),
        (_Side("the difference to the trigram"), _Side("to the bigram")),
        "holds if the intervals of the best rows of tables 1 to 3 are above zero, contradicted if one is "
        "below",
    ),
)
N_CLAIMS = len(_RULES)
"""How many claims there are; some need tags, or rows that are not there yet."""
