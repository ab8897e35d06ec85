"""What follows from the rows: how they compare with each other, and whether the paper's claims hold.

A claim rests on quantities, such as the gain of one row over another. The same formula gives them for the
paper's perplexities, for ours, and for those of each resample of the test text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np

from stategram.evaluation import LEVEL, ResampledPerplexity, quantiles
from stategram.paper.published import PAPER
from stategram.paper.results import Claim, Quantity, RowResult, Verdict
from stategram.paper.rows import STRICT, WORDS_TREE

Perplexities: TypeAlias = Mapping[str, float]
"""The perplexities of rows by their keys."""
Resamples: TypeAlias = Mapping[str, ResampledPerplexity]
"""Those of the rows with their resamples."""
_Value = TypeVar("_Value")

_BIGRAM, _TRIGRAM = "back-off 2", "back-off 3"
# Rows that are named by what they are: the one with the lowest perplexity of those whose keys fit.
_BEST: dict[str, Callable[[str], bool]] = {
    "mixture": lambda key: key.endswith(f" + {_TRIGRAM}"),
    "clustered": lambda key: key[0] in "wtg" and "+" not in key,
    "flat": lambda key: key[0] in "wtg" and "+" not in key and " tree" not in key,
}
_PAIRS = tuple(
    f"{tags} {how}" for tags in ("t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1") for how in ("flat", "tree")
)
# A fourth tag that gains less has stopped improving the model; classes are close to words up to here.
_STOPPED, _CLOSE = 0.005, 0.10


@dataclass(frozen=True)
class _Rule:
    """A claim: the rows it rests on, what is measured of their perplexities, and when it holds.

    `measure` returns a quantity for each of `sides`, which say on which side of a limit it must be: its name,
    the limit, and whether it must be above. `sentence` has the names of the rows and their perplexities.
    """

    claim: str
    rows: tuple[str, ...]
    measure: Callable[..., tuple[Any, ...]]
    sentence: Callable[..., str]
    sides: tuple[tuple[str, float, bool], ...] = (("the gain", 0.0, True),)
    rule: str = "holds if the interval is above zero, contradicted if it is below"

    def keys(self, of: Perplexities) -> tuple[str, ...] | None:
        """Return the keys of its rows, None if one of them is missing."""
        keys = []
        for row in self.rows:
            fitting = filter(_BEST[row], of) if row in _BEST else (key for key in of if key == row)
            keys.append(min(fitting, key=lambda key: of[key], default=None))
        return None if None in keys else tuple(key for key in keys if key is not None)

    def quantities(self, keys: Sequence[str], resampled: Resamples) -> tuple[Quantity, ...]:
        """Return what the claim rests on, with intervals."""
        values = self.measure(*(resampled[key].value for key in keys))
        drawn = self.measure(*(resampled[key].resamples for key in keys))
        return tuple(
            Quantity(name, value, *quantiles(np.asarray(resamples)), limit, above)
            for (name, limit, above), value, resamples in zip(self.sides, values, drawn, strict=True)
        )


def with_comparisons(rows: Sequence[RowResult], resampled: Resamples) -> tuple[RowResult, ...]:
    """Add how each row differs from the one it is compared with, here and in the paper."""
    trials = [row for row in rows if is_trial(row)]
    best = min(trials, key=lambda row: row.heldout_perplexity) if len(trials) > 1 else None
    compared = []
    for row in rows:
        other, paper = row.compared_with, row.paper
        fields: dict[str, Any] = {}
        if other is not None and other in resampled:
            fields["difference"] = resampled[row.key].difference(resampled[other])
        if other is not None and paper is not None and other in PAPER:
            change = paper.perplexity / PAPER[other].perplexity - 1
            fields["paper"] = msgspec.structs.replace(paper, change=change)
        if row is best:
            note = "of all numbers of clusters that were tried, the best on held-out text"
            fields["note"] = "; ".join(filter(None, [row.note, note]))
        compared.append(msgspec.structs.replace(row, **fields))
    return tuple(compared)


def is_trial(row: RowResult) -> bool:
    """Whether a row differs from the tree of table 1 in nothing but its number of clusters."""
    return row.key == WORDS_TREE or row.key.startswith(f"{WORDS_TREE} x")


def judge_claims(rows: Sequence[RowResult], resampled: Resamples) -> tuple[Claim, ...]:
    """Judge each claim whose rows are all there."""
    every = {row.key: row.test.perplexity for row in rows if row.table <= 4}
    ours = {key: value for key, value in every.items() if not key.endswith(STRICT)}
    printed = _as_printed(every)
    paper = {key: figures.perplexity for key, figures in PAPER.items()}
    titles = {row.key: row.title for row in rows}
    claims = []
    for rule in _RULES:
        keys, of_paper = rule.keys(ours), rule.keys(paper)
        if keys is None or of_paper is None:
            continue
        quantities = rule.quantities(keys, resampled)
        sentence = rule.sentence([titles[key] for key in keys], *(ours[key] for key in keys))
        found, verdict = f"{sentence}; {_intervals(quantities)}", None
        if any(f"{key} {STRICT}" in every for key in keys) and (keys := rule.keys(printed)) is not None:
            verdict = _verdict(rule.quantities(keys, _as_printed(resampled)))
            names = [titles.get(f"{key} {STRICT}", titles[key]) for key in keys]
            sentence = rule.sentence(names, *(printed[key] for key in keys))
            found += f". With equation (1) as printed: {sentence} ({verdict})"
        claims.append(
            Claim(
                claim=rule.claim,
                paper=rule.sentence(of_paper, *(paper[key] for key in of_paper)),
                found=found,
                verdict=_verdict(quantities),
                printed=verdict,
                rule=rule.rule,
                quantities=quantities,
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


def _verdict(quantities: Sequence[Quantity]) -> Verdict:
    """Return whether all quantities are on their side, or one is clearly on the other."""
    sides = [_side(one) for one in quantities]
    return "contradicted" if False in sides else "holds" if all(sides) else "undecided"


def _side(of: Quantity) -> bool | None:
    """Whether a quantity is on the right side of its limit; None if its interval covers it."""
    if of.low == of.high:
        return None  # a test text of one unit, which says nothing of others
    ends = [(value - of.limit) * (1 if of.above else -1) for value in (of.low, of.high)]
    return True if min(ends) > 0 else False if max(ends) < 0 else None


def _intervals(quantities: Sequence[Quantity]) -> str:
    shown = ", ".join(f"{one.name} {one.low:+.1%} to {one.high:+.1%}" for one in quantities)
    return f"{LEVEL:.0%} interval of {shown}"


def _gain(before: Any, after: Any) -> Any:
    return 1 - after / before


def _lower(before: float, after: float) -> str:
    gain = _gain(before, after)
    return f"{gain:.1%} lower" if gain >= 0 else f"{-gain:.1%} higher"


def _fall(_: Sequence[str], before: float, after: float) -> str:
    return f"{_lower(before, after)}: {before:,.1f} to {after:,.1f}"


def _one_gain(claim: str, *rows: str) -> _Rule:
    return _Rule(claim, rows, lambda *of: (_gain(*of),), _fall)


_RULES = (
    _one_gain(
        "Moving contexts along a tree beats moving single contexts (w-2,w-1)", "w-2,w-1 flat", WORDS_TREE
    ),
    _Rule(
        "The gain of the tree grows with the number of tags in the context",
        _PAIRS,
        lambda f2, t2, f3, t3, f4, t4: (
            _gain(f3, t3) - _gain(f2, t2),
            _gain(f4, t4) - _gain(f3, t3),
        ),
        lambda _, f2, t2, f3, t3, f4, t4: (
            f"two tags: {_lower(f2, t2)}, three tags: {_lower(f3, t3)}, four tags: {_lower(f4, t4)}"
        ),
        (("the growth to three tags", 0.0, True), ("to four", 0.0, True)),
        "holds if both intervals are above zero, contradicted if one is below",
    ),
    _Rule(
        "From three tags to four, flat clustering stops improving while the tree goes on",
        _PAIRS[2:],
        lambda flat, tree, flat_4, tree_4: (_gain(flat, flat_4), _gain(tree, tree_4)),
        lambda _, flat, tree, flat_4, tree_4: (
            f"flat {flat:,.1f} to {flat_4:,.1f}, tree {tree:,.1f} to {tree_4:,.1f}"
        ),
        (("the gain, flat", _STOPPED, False), ("with the tree", _STOPPED, True)),
        f"holds if the fourth tag gains less than {_STOPPED:.1%} flat and more with the tree, both by their "
        "intervals; contradicted if one of them is the other way round. The limit is ours",
    ),
    _one_gain("The tree gains for learned classes too (g-2,g-1)", "g-2,g-1 flat", "g-2,g-1 tree"),
    _Rule(
        "Learned classes as contexts (g-2,g-1) come close to words (w-2,w-1)",
        (WORDS_TREE, "g-2,g-1 tree"),
        lambda words, classes: (classes / words - 1,),
        lambda _, words, classes: (
            f"{classes:,.1f} with classes, {words:,.1f} with words ({classes / words - 1:+.1%})"
        ),
        (("the difference", _CLOSE, False),),
        f"holds if the interval is below {_CLOSE:.0%}, contradicted if it is above. The limit is ours",
    ),
    _one_gain(
        "Without the tree too, a clustered trigram (w-2,w-1) beats the clustered bigram (w-1)",
        "w-1 2000,2000",
        "w-2,w-1 flat",
    ),
    _Rule(
        "Interpolation with a clustered model improves the back-off trigram",
        (_TRIGRAM, "mixture"),
        lambda *of: (_gain(*of),),
        lambda names, *of: f"up to {_fall(names, *of)} with {names[1].split(' + ')[0]}",
    ),
    _Rule(
        "Both back-off models outperform the clustered ones, the bigram those without a tree",
        (_TRIGRAM, "clustered", _BIGRAM, "flat"),
        lambda trigram, best, bigram, flat: (best / trigram - 1, flat / bigram - 1),
        lambda names, trigram, best, bigram, flat: (
            f"{best:,.1f} for {names[1]}, the best, against {trigram:,.1f} for the trigram; {flat:,.1f} for "
            f"{names[3]}, the best without a tree, against {bigram:,.1f} for the bigram"
        ),
        (("the difference to the trigram", 0.0, True), ("to the bigram", 0.0, True)),
        "holds if the intervals of the best rows of tables 1 to 3 are above zero, contradicted if one is "
        "below",
    ),
)
N_CLAIMS = len(_RULES)
"""How many claims there are; some need tags, or rows that are not there yet."""
