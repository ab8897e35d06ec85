"""What the steps of a training came to, in a line."""

from __future__ import annotations

from stategram.clustering import Clustering, LevelResult
from stategram.contexts import TagMap

# Where tags fit a text, the words that they lack are rare ones.
LOW_COVERAGE = 0.5


def coverage_line(tags: TagMap) -> str:
    """Say how much of a text has tags, with a note if it is little."""
    words = sum(share.words for share in tags.source.values())
    found = tags.source["lexicon"].words
    line = f"      {found:,} of {words:,} words found, {tags.coverage:.1%} of the text"
    if tags.coverage >= LOW_COVERAGE:
        return line
    return (
        f"{line}\n      note: few; check that tags and text are of the same language, case and tokenisation"
    )


def level_line(level: LevelResult) -> str:
    """Say what a level of a clustering came to."""
    return (
        f"      level {level.level}: {level.movable:,} of {level.nodes:,} contexts may move, "
        f"{level.sweeps} sweeps, training perplexity {level.perplexity:,.1f}, {level.seconds:,.1f} s"
    )


def trials_line(found: Clustering) -> str:
    """Say which numbers of clusters were tried, and which were taken."""
    tried = ", ".join(f"{number:,}: {perplexity:,.1f}" for number, perplexity in found.trials)
    return (
        f"      {found.n_states:,} states, {found.n_categories:,} categories; numbers tried, with the "
        f"perplexity of every tenth sentence: {tried}"
    )
