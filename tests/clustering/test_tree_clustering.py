"""States and categories along a context tree: the same on any machine, exact, complete."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clustering_problems import CRITERIA, bytes_of, figures_of, text
from context_problems import classes_of, tags_of
from naive.exchange import Pairs, two_sided_criterion
from planted import N_PLANTED, WORDS_A_CLASS, planted_text
from stategram.clustering import CONTEXT_EFFORTS, Clustering, ClusteringSettings, cluster
from stategram.contexts import ContextTree, context_values
from stategram.resources import use_resources
from texts import Text, make_corpus, texts


def pairs_of(tree: ContextTree) -> Pairs:
    """How often each word follows each context."""
    events = tree.events
    rows = np.repeat(np.arange(len(tree.levels[-1])), np.diff(events.offsets))
    return dict(
        zip(zip(rows.tolist(), events.columns.tolist(), strict=True), events.counts.tolist(), strict=True)
    )


def criterion_of(found: Clustering) -> float:
    criterion = CRITERIA[found.settings.criterion]
    return criterion(pairs_of(found.tree), found.states[-1].tolist(), found.categories.tolist())


def assert_complete(found: Clustering) -> None:
    tree, options = found.tree, found.settings
    assert len(found.states) == tree.depth
    for number, (states, level) in enumerate(zip(found.states, tree.levels, strict=True), 1):
        assert len(states) == len(level)
        assert int(states.max()) < options.states
        rare, inherited = level.counts < options.min_count, found.inherited[number - 1]
        if number > 1:
            # Too rare to move: where the group is.
            above = found.states[number - 2][tree.parents(number)]
            assert (states == inherited[above])[rare].all()
            if options.free_states == 0 or not options.tree:
                assert inherited.tolist() == list(range(options.states))
        else:
            assert inherited.tolist() == [options.states - 1]
            if options.tree:
                assert (states[rare] == options.states - 1).all()
    seen = np.bincount(tree.events.columns, minlength=len(tree.vocabulary)) > 0
    assert len(found.categories) == len(tree.vocabulary)
    assert (found.categories[seen] < options.categories).all()
    assert (found.categories[~seen] == options.categories).all()
    assert (found.n_states, found.n_categories) == (options.states, options.categories)


@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("candidates", [0, 1])
@pytest.mark.parametrize("anneal", [0, 3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_same_bytes_on_any_number_of_threads(
    criterion: str, anneal: int, candidates: int, tree: bool
) -> None:
    one, *others = (
        use_resources(threads=threads)(cluster)(
            text(),
            "w-2,w-1",
            states=20,
            categories=15,
            criterion=criterion,
            anneal=anneal,
            candidates=candidates,
            tree=tree,
            seed=3,
        )
        for threads in (1, 2, 4)
    )
    for other in others:
        assert bytes_of(other) == bytes_of(one)
        assert figures_of(other) == figures_of(one)
    assert_complete(one)
    assert one.levels[-1].criterion == one.history[-1].criterion
    assert one.levels[-1].criterion == pytest.approx(criterion_of(one), rel=1e-9)
    assert [level.level for level in one.levels] == ([1, 2] if tree else [2])
    assert sum(level.sweeps for level in one.levels) == len(one.history)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_perplexity_is_that_of_maximum_likelihood(criterion: str) -> None:
    found = cluster(text(), "w-2,w-1", states=20, categories=15, criterion=criterion, anneal=2)
    likelihood = two_sided_criterion(
        pairs_of(found.tree), found.states[-1].tolist(), found.categories.tolist()
    )
    words = text().word_counts[text().word_counts > 0]
    expected = np.exp(-(likelihood + (words * np.log(words)).sum()) / text().n_events)
    assert found.levels[-1].perplexity == pytest.approx(expected, rel=1e-9)
    assert found.history[-1].perplexity == found.levels[-1].perplexity


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_level_ends_when_a_sweep_gains_too_little(criterion: str) -> None:
    def run(tolerance: float, max_sweeps: int = 12) -> list[float]:
        found = cluster(
            text(),
            "w-1",
            states=20,
            categories=15,
            criterion=criterion,
            tolerance=tolerance,
            max_sweeps=max_sweeps,
        )
        # The first one gives the other elements a cluster.
        assert [one.step for one in found.history] == ["place"] + ["exchange"] * (len(found.history) - 1)
        return [one.criterion for one in found.history]

    all_of_them = run(0.0)
    gains = np.diff(all_of_them) / np.abs(all_of_them[1:])
    assert gains[0] > 0.0015
    lengths = set()
    for tolerance in (0.5, 0.003, 0.001, 0.0002):
        # Tested after every full sweep: one more than gains enough.
        little = np.flatnonzero(gains < tolerance)
        assert run(tolerance) == all_of_them[: little[0] + 2 if len(little) else None]
        lengths.add(len(run(tolerance)))
    assert len(lengths) > 2
    assert len(run(0.5)) == 2
    assert len(run(0.0, max_sweeps=3)) == 4


def test_the_effort_of_the_paper_is_literal() -> None:
    settings = CONTEXT_EFFORTS["paper"]
    assert (settings.min_count, settings.tolerance, settings.candidates, settings.anneal) == (6, 0.01, 0, 0)
    found = cluster(text(), "w-2,w-1", states=20, categories=15, effort="paper")
    reached = [[one.criterion for one in found.history if one.level == level] for level in (1, 2)]
    for of_level in reached:
        # Only the last sweep gains less than one percent. What the first of a level gains is not known here.
        gains = np.diff(of_level) / np.abs(of_level[1:])
        assert (gains[:-1] >= 0.01).all()
        assert (gains[-1:] < 0.01).all()
    assert [level.movable for level in found.levels] == [
        int(np.count_nonzero(level.counts >= 6)) for level in found.tree.levels
    ]
    eager = cluster(text(), "w-2,w-1", states=20, categories=15, effort="paper", tolerance=0.99)
    assert [level.sweeps for level in eager.levels] == [2, 2]  # the first sweep of a level never ends it
    # The paper: "two iterations in most cases".
    assert len(reached[0]) == len(reached[1]) == 2
    assert (settings.min_word_count, settings.flat_start, settings.free_states) == (6, "frequent", 0)
    assert [one.step for one in found.history[:2]] == ["place", "exchange"]
    assert {one.temperature for one in found.history} == {0.0}


def test_without_shortlists_every_sweep_is_over_all_clusters() -> None:
    def full(states: int, categories: int, candidates: int) -> list[bool]:
        options = ClusteringSettings(states, categories, candidates=candidates, anneal=4, max_sweeps=6)
        return [not sweep.shortlisted for sweep in options.schedule.sweeps(True, lambda: 0.0)]

    assert all(full(199, 5000, 16))
    assert all(full(5000, 199, 16))
    assert all(full(5000, 5000, 0))
    assert full(200, 200, 16)[-6:] == [True, False, False] * 2
    assert all(full(12, 13, 1))
    assert not all(full(13, 13, 1))


def test_shortlists_and_seeds_matter() -> None:
    def run(**options: Any) -> list[bytes]:
        return bytes_of(cluster(text(), "w-1", states=30, categories=30, **options))

    assert run(candidates=2) != run(candidates=0)
    assert run(seed=1) == run(seed=2)
    assert run(seed=1, anneal=4) != run(seed=2, anneal=4)


@settings(max_examples=60)
@given(
    texts(),
    st.sampled_from(["w-1", "w-2,w-1", "w-9", "w-9,w-1", "t-1,w-1", "g-2,w-1", "w-3,w-2,w-1"]),
    st.integers(1, 14),
    st.integers(1, 14),
    st.sampled_from([*CRITERIA]),
    st.booleans(),
    st.sampled_from([1, 2, 6, 1000]),
    st.sampled_from([0, 2]),
)
def test_of_small_texts(
    given_text: Text,
    context: str,
    states: int,
    categories: int,
    criterion: str,
    tree: bool,
    min_count: int,
    anneal: int,
) -> None:
    corpus = make_corpus(*given_text)
    found = cluster(
        corpus,
        context,
        states=states,
        categories=categories,
        criterion=criterion,
        tree=tree,
        min_count=min_count,
        anneal=anneal,
        tags=tags_of(corpus),
        classes=classes_of(corpus),
    )
    assert_complete(found)
    # The terms of the criterion cancel; each is at most n log n.
    assert found.levels[-1].criterion == pytest.approx(criterion_of(found), rel=1e-9, abs=1e-9)


def test_rare_contexts_of_no_tree_stay_where_the_initial_clustering_put_them() -> None:
    options: dict[str, Any] = {"states": 12, "categories": 10, "tree": False, "min_count": 4}
    nearest = cluster(text(), "w-2,w-1", flat_start="nearest", **options)
    frequent = cluster(text(), "w-2,w-1", flat_start="frequent", **options)
    first, leaves = nearest.tree.levels
    rare = leaves.counts < 4
    assert rare.any()
    # The nearest values, by falling count, have the states 0, 1, ..., 11, 0, 1, ...
    by_count = sorted(range(len(first)), key=lambda node: -int(first.counts[node]))
    assert [int(nearest.states[0][node]) for node in by_count] == [n % 12 for n in range(len(first))]
    assert len(set(nearest.states[1][rare].tolist())) == 12
    # Or all share the last state.
    assert set(frequent.states[0].tolist()) == set(frequent.states[1][rare].tolist()) == {11}
    for found in (nearest, frequent):
        initial = found.states[0][found.tree.parents(2)]
        assert (found.states[1] == initial)[rare].all()
        assert (found.states[1] != initial)[~rare].any()


def test_rare_words_stay_in_the_last_category() -> None:
    found = cluster(text(), "w-2,w-1", states=12, categories=10, min_word_count=50)
    counts = found.tree.word_counts
    rare, often = (counts > 0) & (counts < 50), counts >= 50
    assert rare.any()
    assert (found.categories[rare] == 9).all()
    assert len(set(found.categories[often].tolist())) == 10
    moving = cluster(text(), "w-2,w-1", states=12, categories=10)
    assert (moving.categories[rare] != 9).any()


@pytest.mark.parametrize("criterion", CRITERIA)
def test_freed_states_help(criterion: str) -> None:
    """Few states: those of the words before are worth merging for the sake of pairs of words."""
    plain, freed = (
        cluster(text(), "w-2,w-1", states=12, categories=10, criterion=criterion, free_states=part)
        for part in (0, 0.5)
    )
    assert freed.states[0].tobytes() == plain.states[0].tobytes()
    assert freed.levels[0].criterion == plain.levels[0].criterion
    assert freed.levels[1].criterion > plain.levels[1].criterion
    # Merged, and again as many states as there may be.
    assert len(set(freed.inherited[1].tolist())) < 12
    assert len(set(freed.states[1].tolist())) == 12


def test_states_beyond_the_nearest_values_are_not_left_empty() -> None:
    """As many tags, and few of them, as a context can have; yet a hundred states."""
    found = cluster(text(), "w-2,w-1", states=100, categories=10, tree=False, min_count=2)
    assert len(found.tree.levels[0]) < 100
    assert len(set(found.states[1].tolist())) == 100


def test_nodes_that_do_not_move_have_the_state_of_their_parent() -> None:
    found = cluster(text(), "w-2,w-1", states=12, categories=10, min_count=6)
    first_only = cluster(text(), "w-1", states=12, categories=10, min_count=6)
    # Level 1 of a tree is the whole of a tree of one level.
    assert found.states[0].tobytes() == first_only.states[0].tobytes()
    deep = int(found.tree.levels[1].counts.max()) + 1
    for number, moves in ((6, True), (deep, False)):
        one = cluster(text(), "w-2,w-1", states=12, categories=10, min_count=number, free_states=0)
        inherited = one.states[0][one.tree.parents(2)]
        assert (one.states[1] != inherited).any() == moves


@pytest.mark.parametrize(
    ("sentences", "options"),
    [
        (["a"], {}),
        (["a"], {"states": 1, "categories": 1}),
        (["a a a a a a a a a"], {"min_count": 1}),
        (["a b c d e f a b c d e f"], {"states": 500, "categories": 500, "min_count": 1}),
        (["a b"] * 9, {"context": "w-9,w-8"}),
        (["a b"] * 9, {"context": "w-9,w-1", "states": 1}),
        (["a b", "b a"] * 9, {"categories": 1}),
    ],
)
@pytest.mark.parametrize("tree", [True, False])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_extremes(sentences: list[str], options: dict[str, Any], tree: bool, criterion: str) -> None:
    sizes = {"context": "w-2,w-1", "states": 3, "categories": 3, **options}
    found = cluster(sentences, **sizes, tree=tree, criterion=criterion, anneal=2)
    assert_complete(found)
    assert found.levels[-1].criterion == pytest.approx(criterion_of(found), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("context", ["w-1", "w-2,w-1"])
def test_the_planted_classes_are_found(context: str, criterion: str) -> None:
    # One more category for </s>; every class is a state, and the beginning of a sentence.
    found = cluster(
        planted_text(),
        context,
        states=N_PLANTED + 1,
        categories=N_PLANTED + 1,
        criterion=criterion,
        anneal=10,
    )
    vocabulary = found.tree.vocabulary
    frequent = range(WORDS_A_CLASS // 2)
    for labels in (found.categories, found.states[0]):
        names = [
            {int(labels[vocabulary.id(f"c{c}w{w}")]) for w in frequent if f"c{c}w{w}" in vocabulary}
            for c in range(N_PLANTED)
        ]
        assert all(len(one) == 1 for one in names)
        assert len(set.union(*names)) == N_PLANTED


def test_values_by_kind_are_the_same_as_tags_and_classes() -> None:
    tags, classes = tags_of(text()), classes_of(text())
    options: dict[str, Any] = {"states": 6, "categories": 6, "seed": 1}
    named = cluster(text(), "g-2,t-1", tags=tags, classes=classes, **options)
    by_kind = cluster(text(), "g-2,t-1", values=context_values(tags=tags, classes=classes), **options)
    assert bytes_of(by_kind) == bytes_of(named)
