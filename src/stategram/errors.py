"""What can go wrong, drawn as a tree.

    StategramError            exit code 1   anything stategram raises on purpose
    ├── UsageError            exit code 2   a parameter that cannot be used
    └── BadDataError          exit code 3   an input file or text that cannot be used

Every message says what was found, where, what was expected, and what to do. Arguments of a wrong type raise
`TypeError`, and what is not there before `fit` an `AttributeError`, as in Python and scikit-learn.

    UnknownWordsWarning       a Python warning: most words of a text are unknown to the model
"""

from __future__ import annotations

import sys
import warnings
from typing import ClassVar


class StategramError(Exception):
    """The root of all errors that stategram raises on purpose."""

    exit_code: ClassVar[int] = 1


class UsageError(StategramError, ValueError):
    """A parameter has a value that cannot be used."""

    exit_code: ClassVar[int] = 2


class BadDataError(StategramError, ValueError):
    """An input is not what it should be; the message names the file and the place."""

    exit_code: ClassVar[int] = 3


class UnknownWordsWarning(UserWarning):
    """Most words of a text are unknown to the model, so that its probabilities say little about the text."""


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn of a line of the user's program: the last one that is not of stategram itself."""
    level = 1
    while sys._getframe(level).f_globals.get("__name__", "").partition(".")[0] == "stategram":
        if sys._getframe(level).f_back is None:
            break
        level += 1
    warnings.warn(message, category, stacklevel=level + 1)
