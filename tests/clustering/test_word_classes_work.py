"""How WordClasses works: stopping, time, progress, parameters."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from planted import SMALL, criterion_of, planted_text
from stategram.clustering import CRITERIA, WordClasses
from stategram.clustering.exchange import batches, check_memory, frequent_first, tied_exchange
from stategram.clustering.hierarchy import build_hierarchy
from stategram.clustering.levels import merge_and_split
from stategram.clustering.monitor import Monitor
from stategram.clustering.settings import Sweep
from stategram.counts import BigramCounts, cluster_bigrams, count_bigrams
from stategram.errors import UsageError
from stategram.text import corpus_from_sentences


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_stop_at_once_gives_all_words_a_class(criterion: str) -> None:
    words = WordClasses(5, criterion=criterion).fit(planted_text(), stop=lambda: True)
    assert set(words.labels_.tolist()) <= set(range(5))
    assert len(words.history_) == 1
    assert words.criterion_ == pytest.approx(criterion_of(words, planted_text(), criterion), rel=1e-9)


def test_a_stop_in_the_heat_is_followed_by_a_plain_sweep() -> None:
    messages: list[str] = []
    words = WordClasses(5).fit(
        planted_text(),
        progress=lambda _, message: messages.append(message),
        stop=lambda: messages[-1].startswith("anneal, sweep 6,"),
    )
    assert [record.step for record in words.history_] == ["place", *4 * ["anneal"], "exchange"]


def test_a_time_limit_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on by a thousandth whenever somebody looks."""
    ticks = itertools.count()
    monkeypatch.setattr(Monitor, "seconds", lambda _: next(ticks) / 1000)
    words = WordClasses(5, time_limit=0.3).fit(planted_text())
    assert 0.2 < words.history_[-1].seconds < 0.5
    assert words.history_[-1].step == "merge-split"
    assert set(words.labels_.tolist()) == set(range(5))


def test_a_time_limit_that_is_over_at_once_gives_all_words_a_class() -> None:
    words = WordClasses(5, time_limit=1e-9).fit(planted_text())
    assert len(words.history_) == 1
    assert set(words.labels_.tolist()) <= set(range(5))


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("stop_after", [None, 1, 2, 9, 10])
def test_progress_rises(stop_after: int | None, criterion: str) -> None:
    seen: list[tuple[float, str]] = []
    stop: Callable[[], bool] | None = None if stop_after is None else lambda: len(seen) >= stop_after
    WordClasses(5, criterion=criterion).fit(
        planted_text(), progress=lambda *reported: seen.append(reported), stop=stop
    )
    fractions = [fraction for fraction, _ in seen]
    assert fractions == sorted(fractions)
    assert seen[0] == (0.0, "counting bigrams")
    assert 0 == fractions[0] < fractions[1] <= fractions[-1] <= 1
    message = r"(place|anneal|exchange), sweep \d+, [\d,]+ moves, perplexity [\d,.]+, [\d,]+ s left"
    assert all(re.fullmatch(message, words) for _, words in seen[1:])


def test_progress_rises_under_a_time_limit() -> None:
    fractions: list[float] = []
    WordClasses(5, time_limit=1e-9).fit(
        planted_text(), progress=lambda fraction, _: fractions.append(fraction)
    )
    assert len(fractions) > 1
    assert fractions == sorted(fractions)
    assert fractions[-1] <= 1


def test_a_listener_may_end_it_all() -> None:
    def interrupt(_fraction: float, _message: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        WordClasses(2).fit(SMALL, progress=interrupt)


def test_time_left_is_unknown_before_anything_is_done() -> None:
    seen: list[tuple[float, str]] = []
    monitor = Monitor(lambda *reported: seen.append(reported))
    monitor.report(0.0, "place")
    monitor.report(0.5, "place")
    assert seen == [(0.0, "place"), (0.5, "place, 0 s left")]


# ---- where it begins


def test_frequent_words_begin_alone_and_given_ones_where_they_are_given() -> None:
    counts = np.array([5, 9, 0, 7, 7, 1])
    clusters = frequent_first(counts, 3, given=np.array([-1, 1, -1, -1, -1, -1]), fixed=[4], singletons=[5])
    # 3 and 0, by count, take the classes 0 and 2 that nobody has; 2 never occurs and 4 has no class.
    assert clusters.labels.tolist() == [2, 1, 4, 0, 4, 3]
    assert clusters.order.tolist() == [1, 3, 0]
    assert clusters.n_all == 5


def test_batches_grow() -> None:
    order = np.arange(100_000, dtype=np.uint32)[::-1]
    parts = list(batches(order))
    assert np.concatenate(parts).tolist() == order.tolist()
    place = 0
    for part in parts[:-1]:
        assert len(part) == max(64, place // 8)
        place += len(part)
    # A sweep may be continued where a batch ends.
    begin = sum(len(part) for part in parts[:9])
    assert [part.tolist() for part in batches(order, begin)] == [part.tolist() for part in parts[9:]]


def test_more_events_than_32_bits_can_count() -> None:
    few = count_bigrams(corpus_from_sentences(planted_text()))
    factor = 2**32 // few.n_events + 1
    successors, predecessors = (
        counts._replace(counts=(counts.counts * factor).astype(np.uint32))
        for counts in (few.successors, few.predecessors)
    )
    assert int(successors.counts.max()) == int(few.successors.counts.max()) * factor
    many = BigramCounts(
        successors, predecessors, few.word_counts * factor, few.n_events * factor, few.boundary
    )
    found = []
    for bigrams in (few, many):
        classes = frequent_first(bigrams.word_counts, 8, singletons=[bigrams.boundary])
        exchange = tied_exchange(bigrams, classes, 8)
        for _ in range(3):
            exchange.sweep(Sweep("exchange"), 0, lambda *_: None)
        reached = replace(classes, labels=exchange.words.labels())
        table = cluster_bigrams(bigrams, reached.labels, reached.n_all)
        assert table.sum() == bigrams.n_events
        merged = merge_and_split(bigrams, reached, seed=3)
        assert merged is not None
        tree = build_hierarchy(table, 8)
        labels = reached.labels.tolist(), merged.labels.tolist()
        found.append((*labels, tree.merges.tolist(), round(exchange.perplexity, 6)))
    # With every bigram so many times as frequent, the classes, mergers and perplexity are the same.
    assert found[0] == found[1]


# ---- refusals


def test_tables_larger_than_the_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stategram.clustering.exchange._physical_memory", lambda: 2**30)
    check_memory(3000, 3000)
    with pytest.raises(UsageError, match=r"4000 x 4000 clusters need 1\.4 GiB .* has 1\.0 GiB"):
        check_memory(4000, 4000)
    monkeypatch.setattr("stategram.clustering.exchange._physical_memory", lambda: 4000)
    for criterion in CRITERIA:
        with pytest.raises(UsageError, match="ask for fewer"):
            WordClasses(20, criterion=criterion).fit(planted_text()[:50])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"criterion": "best"}, "no criterion 'best'"),
        ({"effort": "huge"}, "no effort 'huge'"),
        ({"n_classes": 2.5}, "n_classes is 2.5"),
        ({"n_classes": "5"}, "n_classes is '5'"),
        ({"time_limit": float("inf")}, "time_limit is inf"),
        ({"init": "file.tsv"}, "read_classes"),
        ({"n_classes": 0}, "n_classes is 0"),
        ({"min_count": 0}, "min_count is 0"),
        ({"criterion": "two-sided", "n_states": -1}, "n_states is -1"),
        ({"n_states": 4}, "two-sided"),
        ({"time_limit": 0}, "time_limit is 0"),
        ({"time_limit": math.nan}, "time_limit is nan"),
        ({"random_state": -1}, "random_state is -1"),
    ],
)
def test_unusable_parameters_are_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        WordClasses(**parameters).fit(SMALL)  # type: ignore[arg-type]


@pytest.mark.parametrize("random_state", [2**64, np.int64(2**62)])
def test_any_seed_will_do(random_state: int) -> None:
    assert len(WordClasses(2, random_state=random_state).fit(SMALL).classes_) == 2


def test_a_single_string_is_no_text() -> None:
    with pytest.raises(TypeError, match="list of sentences"):
        WordClasses(2).fit("the cat sat")
    with pytest.raises(TypeError, match="give a list"):
        WordClasses(2).fit(SMALL).predict("cat")


def test_before_fit_it_says_so() -> None:
    words = WordClasses(2, effort="fast")
    for name in ("labels_", "classes_", "hierarchy_", "mutual_information_"):
        with pytest.raises(AttributeError, match="call fit first"):
            getattr(words, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = words.nothing


def test_parameters_are_given_back() -> None:
    words = WordClasses(2, effort="fast", random_state=3)
    assert "effort='fast'" in repr(words)
    again = WordClasses(**words.fit(SMALL).get_params())
    assert again.get_params() == words.get_params()
    assert again.fit(SMALL).labels_.tolist() == words.labels_.tolist()


@pytest.mark.parametrize("effort", ["fast", "normal"])
@pytest.mark.parametrize("criterion", ["tied", "predictive"])
def test_with_enough_classes_every_word_has_its_own(effort: str, criterion: str) -> None:
    words = WordClasses(100, effort=effort, criterion=criterion).fit(SMALL)
    assert len(words.classes_) == len(words.words_)


def test_a_time_limit_with_nothing_to_move_ends_at_once() -> None:
    text = planted_text()[:50]
    fixed = {word: "all" for sentence in text for word in str(sentence).split()}
    words = WordClasses(fixed=fixed, time_limit=5).fit(text)
    assert len(words.history_) < 10


def test_a_warm_start_stays_warm() -> None:
    text = planted_text()
    first = WordClasses(8, effort="normal").fit(text)
    init = dict(zip(first.words_, first.labels_.tolist(), strict=True))
    again = WordClasses(init=init, effort="normal").fit(text)
    assert again.criterion_ >= first.criterion_ - 1e-6
    assert max(sweep.temperature for sweep in again.history_) == 0
