"""Figures as a notebook shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from stategram.notebook import Column, Value, card, columns_of

if TYPE_CHECKING:
    from stategram.evaluation.class_bigram import ClassBigramFigures
    from stategram.evaluation.comparison import ComparedModel, Comparison
    from stategram.evaluation.perplexity import HistoryFigures, PartFigures, PerplexityFigures
    from stategram.evaluation.uncertainty import Difference, Interval, Resampling


def perplexity_html(figures: PerplexityFigures) -> str:
    """Return what `evaluate` found."""
    facts: list[tuple[str, Value]] = [
        ("Perplexity", _with_interval(figures.perplexity, figures.interval)),
        ("Perplexity of known words", _with_interval(figures.perplexity_known, figures.interval_known)),
        *_resampling(figures.resampling),
    ]
    if figures.perplexity_spelled is not None:
        spelled = _with_interval(figures.perplexity_spelled, figures.interval_spelled)
        facts += [
            ("Perplexity with unknown words spelled", spelled),
            ("Bits per character", figures.bits_per_character),
        ]
    facts += [
        ("Bits per event", figures.bits),
        ("Events (words and sentence ends)", figures.events),
        ("Sentences", figures.sentences),
        ("Unknown words", figures.unknown),
    ]
    facts += [
        (label, number)
        for label, number in (
            ("Events without probability", figures.zero_probability),
            ("Events with a probability above 1", figures.above_one),
        )
        if number
    ]
    if figures.difference is not None:
        facts.append(("Difference from the best part", str(figures.difference)))
    orders = [(one.order, one.events, one.share, one.perplexity) for one in figures.orders]
    parts = [((one.name, one.weight), one) for one in figures.parts]
    histories = [((one.history,), one) for one in figures.histories]
    tables = [
        ("Parts", _perplexities(("Part", "Weight"), "best part", parts)),
        ("Histories", _perplexities(("History",), "first", histories)),
        (
            "Events by the length of their n-gram",
            columns_of(("Words", "Events", "Fraction", "Perplexity"), orders),
        ),
    ]
    return card("Perplexity", facts, tables)


def comparison_html(comparison: Comparison) -> str:
    """Return what `compare` found."""
    facts: list[tuple[str, Value]] = [
        ("Events compared", comparison.events),
        ("Events left out", comparison.left_out),
        ("Sentences", comparison.sentences),
        *_resampling(comparison.resampling),
    ]
    models = [((one.name,), one) for one in comparison.models]
    return card("Comparison", facts, [("", _perplexities(("Model",), "first", models))])


def class_bigram_html(figures: ClassBigramFigures) -> str:
    """Return what `class_bigram_perplexity` found."""
    facts = [
        ("Classes", figures.classes),
        ("Mutual information in bits", figures.ami),
        ("Training events", figures.train_events),
        ("Test events", figures.test_events),
        ("Unknown words", figures.unknown),
        ("Words skipped", figures.skipped),
        ("Discount", figures.discount),
    ]
    rows = [
        ("p(g|g') p(w|g), training text", figures.train_perplexity, None),
        ("p(g|w') p(w|g), training text", figures.predictive_train_perplexity, None),
        ("p(g|g') p(w|g), absolute discounting", figures.perplexity_ad, figures.known_perplexity_ad),
        ("p(g|g') p(w|g), Kneser-Ney", figures.perplexity_kn, figures.known_perplexity_kn),
        ("p(g|w') p(w|g), unigram", figures.predictive_unigram, figures.known_predictive_unigram),
        ("p(g|w') p(w|g), class bigram", figures.predictive_chain, figures.known_predictive_chain),
    ]
    columns = columns_of(("Model", "Perplexity", "Of known words"), rows)
    return card("Class bigram", facts, [("", columns)])


def _perplexities(
    names: tuple[str, ...],
    reference: str,
    rows: Sequence[tuple[tuple[Value, ...], PartFigures | HistoryFigures | ComparedModel]],
) -> list[Column]:
    """Return what is named, each with its perplexity and its difference from the reference."""
    return columns_of(
        (*names, "Perplexity", "95% interval", f"Difference from the {reference}"),
        [(*named, one.perplexity, _text(one.interval), _text(one.difference)) for named, one in rows],
    )


def _resampling(found: Resampling | None) -> list[tuple[str, Value]]:
    few = ", too few to be reliable" if found is not None and found.is_unreliable else ""
    return [] if found is None else [("95% intervals", f"{found}{few}")]


def _with_interval(perplexity: float, interval: Interval | None) -> str:
    return f"{perplexity:,.2f}" + ("" if interval is None else f" (95%: {interval})")


def _text(found: Interval | Difference | None) -> str:
    return "" if found is None else str(found)
