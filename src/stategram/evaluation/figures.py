"""Figures as facts and tables, the same for terminals, notebooks and reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from stategram.display import (
    Column,
    Description,
    DisplayTable,
    Fact,
    display_table,
    percent,
    perplexity,
    plural,
)

if TYPE_CHECKING:
    from stategram.evaluation.class_bigram import ClassBigramFigures
    from stategram.evaluation.comparison import ComparedModel, Comparison
    from stategram.evaluation.perplexity import HistoryFigures, PartFigures, PerplexityFigures
    from stategram.evaluation.uncertainty import Difference, Interval, Resampling

_PERPLEXITY = (Column("Perplexity", "number ours"), Column("95% interval", "number"))


def describe_perplexity(figures: PerplexityFigures) -> Description:
    """Return what `evaluate` found."""
    is_excluded = figures.unknown_words == "exclude"
    words = max(figures.events - figures.sentences, 1)
    how = "unknown words are left out" if is_excluded else "<unk> counted as a word"
    facts: list[Fact] = [
        ("Events", f"{figures.events:,} (words and sentence ends)"),
        ("Sentences", figures.sentences),
        ("Unknown words", f"{figures.unknown:,} ({percent(figures.unknown / words)} of the words)"),
        ("Perplexity", f"{_with_interval(figures.perplexity, figures.interval)}, {how}"),
    ]
    if not is_excluded:
        known = _with_interval(figures.perplexity_known, figures.interval_known)
        facts.append(("  without unknown words", known))
    if figures.perplexity_spelled is not None:
        spelled = _with_interval(figures.perplexity_spelled, figures.interval_spelled)
        left_out = f", {figures.unspelled:,} <unk> in the text left out" if figures.unspelled else ""
        facts.append(("  with their spelling", spelled + left_out))
    facts.append(("Bits per event", f"{figures.bits:.4f}"))
    if figures.bits_per_character is not None:
        facts.append(("Bits per character", f"{figures.bits_per_character:.4f}, with their spelling"))
    if figures.zero_probability:
        facts.append(
            ("Zero probability", f"{plural(figures.zero_probability, 'event')} ruled out by the model")
        )
    if figures.above_one:
        facts.append(("Probability above 1", plural(figures.above_one, "event")))
    if figures.difference is not None:
        facts.append(("Against the best part", str(figures.difference)))
    facts += _resampling(figures.resampling)
    return Description(tuple(facts), tuple(_tables(figures)))


def _tables(figures: PerplexityFigures) -> Iterable[DisplayTable]:
    yield display_table(
        "By history",
        ("History", *_PERPLEXITY, "Against the first", Column("Without <unk>", "number")),
        [(one.history, *_cells(one), perplexity(one.perplexity_known)) for one in figures.histories],
    )
    yield display_table(
        "By length of the longest known n-gram",
        ("Words", "Events", Column("Fraction", "number"), Column("Perplexity", "number")),
        [
            (one.order, one.events, percent(one.share), perplexity(one.perplexity))
            for one in reversed(figures.orders)
        ],
    )
    as_word = ", <unk> counted as a word" * (figures.unknown_words == "exclude")
    yield display_table(
        f"Parts on the text{as_word}",
        ("Part", Column("Weight", "number"), *_PERPLEXITY, "Against the best"),
        [(one.name, percent(one.weight), *_cells(one)) for one in figures.parts],
    )


def describe_comparison(comparison: Comparison) -> Description:
    """Return what `compare` found."""
    n, known = comparison.left_out, comparison.known
    left_out = f"{n:,} out-of-vocabulary, unknown to at least one model"
    facts: tuple[Fact, ...] = (
        ("Events", comparison.events),
        *((("Events of known words", known),) if known < comparison.events else ()),
        *((("Events left out", left_out),) if n else ()),
        ("Sentences", comparison.sentences),
        *_resampling(comparison.resampling),
    )
    columns = "Model", *_PERPLEXITY, "Against the first"
    of_known = [(one.perplexity_known, one.interval_known, one.difference_known) for one in comparison.models]
    names = [one.name for one in comparison.models]
    tables = [
        ("All events", [(one.name, *_cells(one)) for one in comparison.models]),
        ("Known words only", [(name, *_cells_of(*one)) for name, one in zip(names, of_known, strict=True)]),
    ]
    if known == comparison.events:
        del tables[0 if n else 1]  # they are the same
    return Description(facts, tuple(display_table(title, columns, rows) for title, rows in tables))


def describe_class_bigram(figures: ClassBigramFigures) -> Description:
    """Return what `class_bigram_perplexity` found."""
    return Description(
        (
            ("Classes", figures.classes),
            ("Mutual information", f"{figures.ami:.4f} bits, of the training text"),
            ("Test events", figures.events),
            ("Unknown words", f"{figures.unknown:,} as <unk>, {figures.skipped:,} skipped"),
            ("Perplexity", perplexity(figures.perplexity)),
        )
    )


def _cells(one: PartFigures | HistoryFigures | ComparedModel) -> tuple[str, str, str]:
    return _cells_of(one.perplexity, one.interval, one.difference)


def _cells_of(value: float, interval: Interval | None, difference: Difference | None) -> tuple[str, str, str]:
    return perplexity(value), str(interval or ""), str(difference or "")


def _resampling(found: Resampling | None) -> tuple[Fact, ...]:
    few = ", too few to be reliable" if found is not None and found.is_unreliable else ""
    return () if found is None else (("95% intervals", f"{found}{few}"),)


def _with_interval(value: float, interval: Interval | None) -> str:
    return perplexity(value) + ("" if interval is None else f" (95%: {interval})")
