"""Definitions of contexts: what they mean, how they are written, and what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram.contexts import ContextDefinition, ContextValue
from stategram.errors import UsageError

values = st.builds(ContextValue, st.sampled_from(["w", "t", "g"]), st.integers(1, 255))
definitions = st.lists(values, min_size=1, max_size=8, unique=True).map(tuple).map(ContextDefinition)


@given(definitions)
def test_what_is_written_is_read(definition: ContextDefinition) -> None:
    assert ContextDefinition.parse(str(definition), definition.tree_order) == definition
    nearest_first = ContextDefinition.parse(str(definition))
    assert str(nearest_first) == str(definition)
    assert set(nearest_first.values) == set(definition.values)
    assert ContextDefinition.parse(nearest_first.tree_order) == nearest_first


@given(definitions)
def test_the_tree_refines_from_near_to_far_and_from_coarse_to_fine(definition: ContextDefinition) -> None:
    ordered = ContextDefinition.parse(str(definition)).values
    assert list(ordered) == sorted(ordered, key=lambda value: (value.distance, "gtw".index(value.kind)))
    assert str(definition).split(",") == [str(value) for value in reversed(ordered)]


@pytest.mark.parametrize(
    ("text", "order", "width", "tags", "classes"),
    [
        ("w-1", "w-1", 1, False, False),
        ("w-2,w-1", "w-1,w-2", 2, False, False),
        ("t-4,t-3,t-2,t-1", "t-1,t-2,t-3,t-4", 4, True, False),
        ("g-2,g-1", "g-1,g-2", 2, False, True),
        ("t-3,w-1", "w-1,t-3", 3, True, False),
        ("w-3,w-1", "w-1,w-3", 3, False, False),
        (" w-1 , g-2", "w-1,g-2", 2, False, True),
        ("w-1,t-1,g-1", "g-1,t-1,w-1", 1, True, True),
        ("w-255", "w-255", 255, False, False),
    ],
)
def test_definitions_of_the_paper_and_others(
    text: str, order: str, width: int, tags: bool, classes: bool
) -> None:
    definition = ContextDefinition.parse(text)
    assert definition.tree_order == order
    assert definition.width == width
    assert definition.needs_tags is tags
    assert definition.needs_classes is classes


def test_another_order_of_the_tree_is_kept() -> None:
    definition = ContextDefinition.parse("w-2,w-1", "w-2, w-1")
    assert definition.values == (ContextValue("w", 2), ContextValue("w", 1))
    assert str(definition) == "w-2,w-1"
    assert definition != ContextDefinition.parse("w-2,w-1")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the context '' is empty; expected for instance w-2,w-1"),
        ("w-1,", "'' in the context 'w-1,' is empty"),
        ("x-1", "the context 'x-1' cannot be read; expected for instance w-2,w-1"),
        ("w-2,w1", "'w1' in the context 'w-2,w1' cannot be read"),
        ("w-2 w-1", "the context 'w-2 w-1' cannot be read"),
        ("w-0", "the context 'w-0' cannot be read; .* 1 is the nearest"),
        ("w-01", "the context 'w-01' cannot be read"),
        ("W-1", "'W-1' cannot be read"),
        ("w-²", "cannot be read"),
        ("w-256", "the context value w-256 is 256 positions back; 1 to 255 are possible"),
        ("w-99999999999", "is 99999999999 positions back; 1 to 255 are possible"),
        ("w-1,t-1,w-1", "duplicate context value w-1; leave one out"),
        (",".join(f"w-{k}" for k in range(1, 10)), "a context of 9 values; 1 to 8 are possible"),
    ],
)
def test_junk_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ContextDefinition.parse(text)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("w-2", "the tree order 'w-2' does not have the values of the context 'w-2,w-1'; .* such as w-1,w-2"),
        ("w-2,t-1", "does not have the values"),
        ("w-2,w-1,w-3", "does not have the values"),
        ("w-2,w-2", "duplicate context value w-2"),
        ("w-2;w-1", "the tree order 'w-2;w-1' cannot be read"),
    ],
)
def test_a_tree_order_has_the_same_values(order: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ContextDefinition.parse("w-2,w-1", order)


def test_values_are_checked_without_parsing_too() -> None:
    with pytest.raises(UsageError, match="of the kind 'x'"):
        ContextValue("x", 1)
    for distance in (0, -1, 256):
        with pytest.raises(UsageError, match=f"is {distance} positions back; 1 to 255"):
            ContextValue("w", distance)
    with pytest.raises(UsageError, match="a context of 0 values"):
        ContextDefinition(())
    with pytest.raises(UsageError, match="a context of 9 values"):
        ContextDefinition(tuple(ContextValue("w", k) for k in range(1, 10)))
