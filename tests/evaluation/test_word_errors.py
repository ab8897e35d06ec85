"""Word errors, and the weight that makes the fewest, against their plain twins."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import word_errors as naive
from stategram.evaluation import HypothesisErrors, NBestLists, hypothesis_errors
from stategram.evaluation import nbest as nbest_module
from stategram.evaluation.weight_tuning import _MAGNITUDES, search_weight
from stategram.text import TextFormat

texts = st.lists(st.sampled_from("abcd"), max_size=7)
hypotheses = st.tuples(st.integers(-4, 4), st.integers(-4, 4), st.integers(0, 5))
utterances = st.lists(st.lists(hypotheses, min_size=1, max_size=6), min_size=1, max_size=5)


def counted(lists: list[tuple[list[str], list[list[str]]]]) -> list[tuple[int, int, int]]:
    """Return the errors of all hypotheses, given each reference and its hypotheses."""
    nbest = NBestLists.from_mapping(
        {f"u{i}": [(0.0, " ".join(words)) for words in found] for i, (_, found) in enumerate(lists)}
    )
    references = {f"u{i}": " ".join(said) for i, (said, _) in enumerate(lists)}
    errors = hypothesis_errors(nbest, references, TextFormat())
    kinds = (errors.substitutions, errors.deletions, errors.insertions)
    return list(zip(*(kind.tolist() for kind in kinds), strict=True))


@given(st.lists(st.tuples(texts, st.lists(texts, min_size=1, max_size=6)), min_size=1, max_size=4))
def test_errors_are_those_of_the_twin(lists: list[tuple[list[str], list[list[str]]]]) -> None:
    expected = [naive.word_errors(words, said) for said, found in lists for words in found]
    assert counted(lists) == expected


def test_long_lists_are_aligned_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    said, found = list("abcabd"), [list("abcdabcd"[:n]) for n in (0, 8, 3, 5, 1, 7, 8)]
    expected = counted([(said, found)])
    for cells in (1, 10, 40):
        monkeypatch.setattr(nbest_module, "_CELLS", cells)
        assert counted([(said, found)]) == expected


@given(utterances, st.sampled_from([0.0, -np.inf]))
def test_no_value_of_the_grid_makes_fewer_errors(lists: list[list[naive.Hypothesis]], lowest: float) -> None:
    nbest = NBestLists.from_mapping(
        {f"u{i}": [((offset, slope), "") for offset, slope, _ in lines] for i, lines in enumerate(lists)}
    )
    errors = np.array([line[2] for lines in lists for line in lines])
    found = HypothesisErrors(nbest, np.ones(len(nbest), np.int64), errors, 0 * errors, 0 * errors)
    offsets, slopes = nbest.scores.T
    weight, fewest = search_weight(found, offsets, slopes, lowest)
    assert weight >= lowest
    assert fewest == naive.best_errors(lists, weight)
    for value in (0.0, *_MAGNITUDES, *-_MAGNITUDES):
        if value >= lowest:
            assert fewest <= naive.best_errors(lists, value)


def test_the_middle_of_the_best_weights_is_chosen() -> None:
    # The right hypothesis is the best where 1 < weight < 3.
    lists = {"u": [((0.0, 0.0), ""), ((-1.0, 1.0), ""), ((-4.0, 2.0), "")]}
    nbest = NBestLists.from_mapping(lists)
    errors = np.array([1, 0, 1])
    found = HypothesisErrors(nbest, np.ones(1, np.int64), errors, 0 * errors, 0 * errors)
    offsets, slopes = nbest.scores.T
    weight, fewest = search_weight(found, offsets, slopes, -np.inf)
    assert fewest == 0
    assert weight == pytest.approx(2.0, abs=0.1)
