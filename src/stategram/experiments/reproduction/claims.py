"""What follows from the rows: how they compare with each other, and whether the paper's claims hold.

Each claim measures perplexities by the keys of rows; the paper's own and those found here are measured alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import msgspec

from stategram.experiments.reproduction.paper import PAPER
from stategram.experiments.reproduction.results import Claim, RowResult, SizeTrial
from stategram.experiments.reproduction.rows import WORDS_TREE

_WORDS_FLAT, _CLASSES_TREE = "w-2,w-1 flat", "g-2,g-1 tree"
_TRIGRAM = "back-off 3"
_WINDOWS = ("t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")
_Perplexities = Mapping[str, float]
_Gains = tuple[float, ...]


@dataclass(frozen=True)
class _Rule:
    """A claim, what is measured of it, and when it holds, given our gains and the paper's."""

    claim: str
    measure: Callable[[_Perplexities], tuple[str, _Gains]]
    holds: Callable[[_Gains, _Gains], bool]
    partly: Callable[[_Gains, _Gains], bool]
    rule: str


def with_comparisons(rows: Sequence[RowResult]) -> tuple[RowResult, ...]:
    """Add how each row differs from the one it is compared with, here and in the paper."""
    ours = {row.key: row.test.perplexity for row in rows}
    trials = [row for row in rows if _is_trial(row)]
    best = min(trials, key=lambda row: row.heldout_perplexity) if len(trials) > 1 else None
    return tuple(_compared(row, ours, row is best) for row in rows)


def _compared(row: RowResult, ours: Mapping[str, float], is_best: bool) -> RowResult:
    change, paper, other = None, row.paper, row.compared_with
    if other is not None and other in ours:
        change = row.test.perplexity / ours[other] - 1
    if paper is not None and other is not None and other in PAPER:
        paper = msgspec.structs.replace(paper, change=paper.perplexity / PAPER[other].perplexity - 1)
    best = "of all numbers of clusters that were tried, the best on held-out text" if is_best else ""
    note = "; ".join(filter(None, [row.note, best]))
    return msgspec.structs.replace(row, change=change, paper=paper, note=note)


def _is_trial(row: RowResult) -> bool:
    """Whether a row differs from the tree of table 1 in nothing but its number of clusters."""
    return row.key == WORDS_TREE or row.key.startswith(f"{WORDS_TREE} x")


def size_trials(rows: Sequence[RowResult]) -> tuple[SizeTrial, ...]:
    """Return the held-out perplexities of different numbers of clusters."""
    found = [
        SizeTrial(key=WORDS_TREE, clusters=row.categories, perplexity=row.heldout_perplexity)
        for row in rows
        if row.categories is not None and _is_trial(row)
    ]
    return tuple(sorted(found, key=lambda trial: trial.clusters))


def judge_claims(rows: Sequence[RowResult]) -> tuple[Claim, ...]:
    """Judge each claim whose rows are all there."""
    ours = {row.key: row.test.perplexity for row in rows if row.table <= 4}
    paper = {key: figures.perplexity for key, figures in PAPER.items()}
    claims = []
    for rule in _RULES:
        try:
            (found, gains), (reported, paper_gains) = rule.measure(ours), rule.measure(paper)
        except KeyError:  # a row is not there
            continue
        holds = (
            "yes" if rule.holds(gains, paper_gains) else "partly" if rule.partly(gains, paper_gains) else "no"
        )
        claims.append(Claim(claim=rule.claim, paper=reported, found=found, holds=holds, rule=rule.rule))
    return tuple(claims)


def _tree_beats_flat(of: _Perplexities) -> tuple[str, _Gains]:
    gain = _gain(of, _WORDS_FLAT, WORDS_TREE)
    return f"{_lower(gain)}: {of[_WORDS_FLAT]:,.1f} to {of[WORDS_TREE]:,.1f}", (gain,)


def _gain_grows(of: _Perplexities) -> tuple[str, _Gains]:
    gains = tuple(_gain(of, f"{window} flat", f"{window} tree") for window in _WINDOWS)
    names = zip(("two", "three", "four"), gains, strict=True)
    return ", ".join(f"{n} tags: {_lower(gain)}" for n, gain in names), gains


def _flat_stops(of: _Perplexities) -> tuple[str, _Gains]:
    before, after = _WINDOWS[1:]
    sentence = ", ".join(
        f"{how} {of[f'{before} {how}']:,.1f} to {of[f'{after} {how}']:,.1f}" for how in ("flat", "tree")
    )
    return sentence, tuple(_gain(of, f"{before} {how}", f"{after} {how}") for how in ("flat", "tree"))


def _classes_come_close(of: _Perplexities) -> tuple[str, _Gains]:
    above = -_gain(of, WORDS_TREE, _CLASSES_TREE)
    sentence = f"{of[_CLASSES_TREE]:,.1f} with classes, {of[WORDS_TREE]:,.1f} with words ({above:+.1%})"
    return sentence, (above,)


def _interpolation_gains(of: _Perplexities) -> tuple[str, _Gains]:
    mixtures = {key: value for key, value in of.items() if key.endswith(f" + {_TRIGRAM}")}
    best = _lowest(mixtures)
    gain = _gain(of, _TRIGRAM, best)
    clustered = best.removesuffix(f" + {_TRIGRAM}")
    return f"up to {_lower(gain)}: {of[_TRIGRAM]:,.1f} to {of[best]:,.1f} with {clustered}", (gain,)


def _back_off_wins(of: _Perplexities) -> tuple[str, _Gains]:
    clustered = {key: value for key, value in of.items() if key[0] in "wtg" and "+" not in key}
    best = _lowest(clustered)
    gain = _gain(of, _TRIGRAM, best)
    return f"{of[best]:,.1f} for {best}, the best; {of[_TRIGRAM]:,.1f} for the trigram", (gain,)


def _gain(of: _Perplexities, before: str, after: str) -> float:
    return 1 - of[after] / of[before]


def _lower(gain: float) -> str:
    return f"{gain:.1%} lower" if gain >= 0 else f"{-gain:.1%} higher"


def _lowest(of: _Perplexities) -> str:
    if not of:
        raise KeyError("no such rows")
    return min(of, key=lambda key: of[key])


_RULES = (
    _Rule(
        "Moving contexts along a tree beats moving single contexts (w-2,w-1)",
        _tree_beats_flat,
        lambda found, paper: found[0] >= 2 / 3 * paper[0],
        lambda found, _: found[0] > 0,
        "yes from two thirds of the paper's gain on; no if there is none",
    ),
    _Rule(
        "The gain of the tree grows with the number of tags in the context",
        _gain_grows,
        lambda found, _: all(later > earlier for earlier, later in pairwise(found)),
        lambda found, _: found[-1] > found[0],
        "yes if it grows with each tag; no if it does not grow from two tags to four",
    ),
    _Rule(
        "From three tags to four, flat clustering stops improving while the tree goes on",
        _flat_stops,
        lambda found, _: found[0] < 0.005 <= found[1],  # flat, tree
        lambda found, _: found[1] > found[0],
        "yes if the fourth tag gains less than 0.5% flat, more with the tree; no if it gains more flat",
    ),
    _Rule(
        "Learned classes as contexts (g-2,g-1) come close to words (w-2,w-1)",
        _classes_come_close,
        lambda found, _: found[0] <= 0.10,
        lambda found, _: found[0] <= 0.25,
        "yes up to 10% higher, no from 25% on",
    ),
    _Rule(
        "Interpolation with a clustered model improves the back-off trigram",
        _interpolation_gains,
        lambda found, paper: found[0] >= 2 / 3 * paper[0],
        lambda found, _: found[0] > 0,
        "yes from two thirds of the paper's gain on; no if there is none",
    ),
    _Rule(
        "No clustered model alone beats the back-off trigram",
        _back_off_wins,
        lambda found, _: found[0] <= -0.02,
        lambda found, _: found[0] <= 0.02,
        "yes if all of tables 1 to 3 are 2% higher or more; no if one is 2% lower",
    ),
)
N_CLAIMS = len(_RULES)
"""How many claims there are; some need tags, or rows that are not there yet."""
