"""What a context is: which values of the preceding words, and in which order a tree refines by them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from stategram.errors import UsageError

MAX_VALUES = 8
MAX_DISTANCE = 255


class ValueKind(NamedTuple):
    """A kind of context values: its name, and what to do if the values of words are not given."""

    name: str
    plural: str
    advice: str


# From fine to coarse: a word determines its tag and its category.
VALUE_KINDS = {
    "w": ValueKind("word", "words", ""),
    "t": ValueKind("tag", "tags", "say where they come from (--tags)"),
    "g": ValueKind("category", "categories", "give classes, or have them learned"),
}
_COARSE_FIRST = {kind: i for i, kind in enumerate(reversed(VALUE_KINDS))}
_VALUE = re.compile(rf"([{''.join(VALUE_KINDS)}])-([1-9][0-9]{{0,99}})")
_EXAMPLE = (
    "expected for instance w-2,w-1 or t-3,w-1 "
    f"({', '.join(f'{kind} {value.name}' for kind, value in VALUE_KINDS.items())}; 1 is the nearest)"
)


@dataclass(frozen=True)
class ContextValue:
    """One value of a context: a word ``w``, its tag ``t`` or its category ``g``, at a distance."""

    kind: str
    distance: int

    def __post_init__(self) -> None:
        if self.kind not in VALUE_KINDS:
            raise UsageError(f"a context value of the kind {self.kind!r}; {_EXAMPLE}")
        if not 1 <= self.distance <= MAX_DISTANCE:
            raise UsageError(
                f"the context value {self} is {self.distance} positions back; "
                f"1 to {MAX_DISTANCE} are possible: {_EXAMPLE}"
            )

    def __str__(self) -> str:
        return f"{self.kind}-{self.distance}"


@dataclass(frozen=True)
class ContextDefinition:
    """The values of a context, in the order in which a context tree refines by them.

    Parameters
    ----------
    values
        Value v1 first: level 1 of the tree distinguishes contexts by v1, level 2 by (v2, v1), and so on.

    Notes
    -----
    By default the nearest value comes first, and at the same distance the coarser: category, tag, word. A
    word determines its tag and its category, so in the opposite order a level would add nothing.

    Examples
    --------
    >>> definition = ContextDefinition.parse("t-3,w-1")
    >>> [str(value) for value in definition.values], definition.width, definition.needs_tags
    (['w-1', 't-3'], 3, True)
    >>> str(ContextDefinition.parse("w-1, w-2")), ContextDefinition.parse("w-2,w-1", "w-2,w-1").tree_order
    ('w-2,w-1', 'w-2,w-1')

    """

    values: tuple[ContextValue, ...]

    def __post_init__(self) -> None:
        if not 1 <= len(self.values) <= MAX_VALUES:
            raise UsageError(f"a context of {len(self.values)} values; 1 to {MAX_VALUES} are possible")
        for i, value in enumerate(self.values):
            if value in self.values[:i]:
                raise UsageError(f"duplicate context value {value}; leave one out: {_EXAMPLE}")

    @classmethod
    def parse(cls, text: str, tree_order: str | None = None) -> ContextDefinition:
        """Parse a definition such as ``w-2,w-1``; the order of the values does not matter.

        Parameters
        ----------
        text
            The values, separated by commas.
        tree_order
            The same values in the order in which the tree refines by them, the first level first.

        """
        values = _parse(text, "the context")
        if tree_order is None:
            return cls(tuple(sorted(values, key=_nearest_first)))
        ordered = cls(_parse(tree_order, "the tree order")).values
        if set(ordered) != set(cls(values).values):
            raise UsageError(
                f"the tree order {tree_order!r} does not have the values of the context {text!r}; "
                f"give the same ones in another order, such as {cls.parse(text).tree_order}"
            )
        return cls(ordered)

    def __str__(self) -> str:
        """Return the canonical form: the farthest value first, whatever the order of the tree."""
        return ",".join(map(str, sorted(self.values, key=_nearest_first, reverse=True)))

    @property
    def tree_order(self) -> str:
        """The values in the order of the tree, as `parse` takes it."""
        return ",".join(map(str, self.values))

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of the values, each once."""
        return tuple(dict.fromkeys(value.kind for value in self.values))

    @property
    def needs_tags(self) -> bool:
        """Whether a tag is among the values."""
        return "t" in self.kinds

    @property
    def needs_classes(self) -> bool:
        """Whether a category is among the values."""
        return "g" in self.kinds

    @property
    def width(self) -> int:
        """The distance of the farthest value."""
        return max(value.distance for value in self.values)


def _nearest_first(value: ContextValue) -> tuple[int, int]:
    return value.distance, _COARSE_FIRST[value.kind]


def _parse(text: str, what: str) -> tuple[ContextValue, ...]:
    values = []
    for part in map(str.strip, text.split(",")):
        found = _VALUE.fullmatch(part)
        if found is None:
            where = f"{part!r} in {what} {text!r}" if part != text else f"{what} {text!r}"
            raise UsageError(f"{where} {'cannot be read' if part else 'is empty'}; {_EXAMPLE}")
        values.append(ContextValue(found[1], int(found[2])))
    return tuple(values)
