"""The paper's claims, held against the rows that were found.

The gains of the tree and of interpolation, and that no clustered model competes with a back-off trigram, are
in the abstract of the paper; what is claimed of tags and of classes is known second-hand, from its text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from stategram.experiments.reproduction.paper_figures import MIXTURE_GAIN, TREE_GAIN
from stategram.experiments.reproduction.plan import BACK_OFF, WORDS_TREE
from stategram.experiments.reproduction.results import Claim, RowResult

_YES, _PARTLY, _NO = "yes", "partly", "no"
# Of a gain of the paper, on its own text.
_MOST_OF_IT = 2 / 3
_A_CHANGE = 0.005
_CLOSE, _NEARLY_CLOSE = 0.10, 0.25
_LITTLE = 0.02
_WINDOWS = ("t-2,t-1", "t-3,t-2,t-1", "t-4,t-3,t-2,t-1")
_Rows = Mapping[str, RowResult]


def claims_of(rows: Sequence[RowResult]) -> tuple[Claim, ...]:
    """Judge each claim whose rows are all there."""
    by_key = {row.key: row for row in rows}
    claims = []
    for claim in _CLAIMS:
        if (found := _or_none(claim, by_key)) is not None:
            claims.append(found)
    return tuple(claims)


def _or_none(claim: Callable[[_Rows], Claim | None], rows: _Rows) -> Claim | None:
    try:
        return claim(rows)
    except KeyError:  # of a row that is not there
        return None


def _tree_beats_flat(rows: _Rows) -> Claim:
    """Yes: two thirds of the paper's 12% or more; partly: less than that; no: nothing."""
    gain = _gain(rows, "w-2,w-1 flat", WORDS_TREE)
    return Claim(
        claim="Moving contexts along a tree beats moving single contexts (w-2,w-1)",
        paper=f"the perplexity is up to {TREE_GAIN:.0%} lower",
        found=f"{_lower(gain)}: {_ppl(rows, 'w-2,w-1 flat')} flat, {_ppl(rows, WORDS_TREE)} with the tree",
        holds=_as_much(gain, TREE_GAIN),
        rule="yes from 8% on; flat, all contexts that are too rare to move share one state",
    )


def _gain_grows(rows: _Rows) -> Claim:
    """Yes: with each further tag; partly: from two tags to four, but not with each; no: else."""
    gains = [_gain(rows, f"{window} flat", f"{window} tree") for window in _WINDOWS]
    rises = [later > earlier for earlier, later in pairwise(gains)]
    holds = _YES if all(rises) else _PARTLY if gains[-1] > gains[0] else _NO
    return Claim(
        claim="The gain of the tree grows with the number of tags in the context",
        paper="it does, from two tags to four",
        found=", ".join(
            f"{n} tags: {_lower(gain)}" for n, gain in zip(("two", "three", "four"), gains, strict=True)
        ),
        holds=holds,
        rule="yes if it grows with each tag",
    )


def _flat_stops(rows: _Rows) -> Claim:
    """Yes: the fourth tag gains less than 0.5% flat, more with the tree.

    Partly: it gains more with the tree than flat; no: it does not.
    """
    flat, tree = (_gain(rows, f"{_WINDOWS[1]} {how}", f"{_WINDOWS[2]} {how}") for how in ("flat", "tree"))
    holds = _YES if flat < _A_CHANGE <= tree else _PARTLY if tree > flat else _NO
    return Claim(
        claim="From three tags to four, flat clustering stops improving while the tree goes on",
        paper="it does",
        found=f"the fourth tag: flat {_lower(flat)}, tree {_lower(tree)}",
        holds=holds,
        rule="yes if the fourth tag gains less than 0.5% flat, more with the tree",
    )


def _classes_come_close(rows: _Rows) -> Claim:
    """Yes: the perplexity of g-2,g-1 is at most 10% above that of w-2,w-1; partly: at most 25%; no: more."""
    above = -_gain(rows, WORDS_TREE, "g-2,g-1 tree")
    return Claim(
        claim="Learned classes as contexts (g-2,g-1) come close to words (w-2,w-1)",
        paper="they do",
        found=f"{abs(above):.1%} {'higher' if above > 0 else 'lower'}: {_ppl(rows, 'g-2,g-1 tree')} with "
        f"classes, {_ppl(rows, WORDS_TREE)} with words",
        holds=_YES if above <= _CLOSE else _PARTLY if above <= _NEARLY_CLOSE else _NO,
        rule="yes up to 10% higher",
    )


def _interpolation_gains(rows: _Rows) -> Claim | None:
    """Yes: the best gains two thirds of the paper's 9% or more; partly: less than that; no: nothing."""
    mixtures = [row for row in rows.values() if row.key.endswith(f" + {BACK_OFF}")]
    if not mixtures:
        return None
    best = min(mixtures, key=lambda row: row.test.perplexity)
    gain = _gain(rows, BACK_OFF, best.key)
    return Claim(
        claim="Interpolation with a clustered model improves the back-off trigram",
        paper=f"the perplexity is up to {MIXTURE_GAIN:.0%} lower",
        found=f"up to {_lower(gain)}: {_ppl(rows, BACK_OFF)} alone, {_ppl(rows, best.key)} for {best.title}",
        holds=_as_much(gain, MIXTURE_GAIN),
        rule="yes from 6% on",
    )


def _back_off_wins(rows: _Rows) -> Claim | None:
    """Yes: all clustered models of tables 1 to 3 are worse by 2% or more; no: the best is as much better.

    Partly: between these.
    """
    clustered = [row for row in rows.values() if row.kind == "clustered" and row.table <= 3]
    if not clustered:
        return None
    best = min(clustered, key=lambda row: row.test.perplexity)
    gain = _gain(rows, BACK_OFF, best.key)
    return Claim(
        claim="No clustered model alone competes with the back-off trigram",
        paper="none does",
        found=f"the best, {best.title}: {_ppl(rows, best.key)}; the back-off trigram: {_ppl(rows, BACK_OFF)}",
        holds=_YES if gain <= -_LITTLE else _PARTLY if gain <= _LITTLE else _NO,
        rule="yes if all of tables 1 to 3 are 2% higher or more",
    )


def _gain(rows: _Rows, before: str, after: str) -> float:
    return 1 - rows[after].test.perplexity / rows[before].test.perplexity


def _as_much(gain: float, paper: float) -> str:
    return _YES if gain >= _MOST_OF_IT * paper else _PARTLY if gain > 0 else _NO


def _lower(gain: float) -> str:
    return f"{gain:.1%} lower" if gain >= 0 else f"{-gain:.1%} higher"


def _ppl(rows: _Rows, key: str) -> str:
    return f"{rows[key].test.perplexity:,.1f}"


_CLAIMS = (
    _tree_beats_flat,
    _gain_grows,
    _flat_stops,
    _classes_come_close,
    _interpolation_gains,
    _back_off_wins,
)
N_CLAIMS = len(_CLAIMS)
"""How many claims there are; some need tags, or rows that are not there yet."""
