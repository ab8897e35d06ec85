"""The numbers of clusters of the rows: the paper's, or fewer for a smaller text."""

from __future__ import annotations

from dataclasses import dataclass

from stategram.clustering import by_size
from stategram.errors import UsageError

LARGE, SMALL, CLASSES = 2000, 500, 1000
"""The paper's numbers: of states and of categories, for its smaller model, of classes in contexts."""
_PAPER_WORDS = 10_000_000
_LEAST = 2
_LARGEST_SCALE = 10.0


@dataclass(frozen=True)
class Sizes:
    """The numbers of clusters that stand for the paper's 2000, 500 and 1000.

    `scale` is how they were chosen: ``paper``, ``quick`` or a factor.
    """

    scale: str
    large: int
    small: int
    classes: int

    @property
    def is_quick(self) -> bool:
        """Whether what takes longest is replaced by something shorter."""
        return self.scale == "quick" or self.large < LARGE

    def __str__(self) -> str:
        if (self.large, self.small, self.classes) == (LARGE, SMALL, CLASSES):
            return f"scale {self.scale}: {LARGE} and {SMALL} clusters and {CLASSES} classes, as in the paper"
        return (
            f"scale {self.scale}: {self.large:,} and {self.small:,} clusters and {self.classes:,} classes, "
            f"where the paper has {LARGE}, {SMALL} and {CLASSES}"
        )


def sizes_for(scale: str | float | None, words: int, events: int) -> Sizes:
    """Choose the numbers of clusters for a text.

    Parameters
    ----------
    scale
        ``paper``: those of the paper. ``quick``: 0.35 of the square root of the events in place of 2000, but
        no more than that, and the others in proportion. A number: so many times those of the paper. None:
        ``paper`` for more than 10 million words, else ``quick``.
    words, events
        Of the training text.

    Examples
    --------
    >>> sizes_for(None, 38_000_000, 40_000_000)
    Sizes(scale='paper', large=2000, small=500, classes=1000)
    >>> sizes_for(None, 2_000_000, 2_100_000)
    Sizes(scale='quick', large=500, small=125, classes=250)
    >>> sizes_for("0.1", 2_000_000, 2_100_000)
    Sizes(scale='0.1', large=200, small=50, classes=100)

    """
    if scale is None:
        scale = "paper" if words > _PAPER_WORDS else "quick"
    name = scale if isinstance(scale, str) else f"{scale:g}"
    if name == "paper":
        factor = 1.0
    elif name == "quick":
        factor = min(1.0, by_size("size", events) / LARGE)
    else:
        factor = _factor(name)
    large, small, classes = (max(_LEAST, round(factor * one)) for one in (LARGE, SMALL, CLASSES))
    return Sizes(name, large, small, classes)


def check_scale(scale: str) -> None:
    """Refuse what is no scale, before anything is read."""
    if scale not in ("paper", "quick"):
        _factor(scale)


def _factor(name: str) -> float:
    try:
        factor = float(name)
    except ValueError:
        factor = 0.0
    if not 0 < factor <= _LARGEST_SCALE:
        raise UsageError(
            f"the scale is {name!r}; give paper, quick, or a number up to {_LARGEST_SCALE:g} such as 0.1, "
            "by which the paper's numbers of clusters are multiplied"
        )
    return factor
