"""What can go wrong, drawn as a tree.

    StategramError            exit code 1   anything stategram raises on purpose
    ├── UsageError            exit code 2   a parameter that cannot be used
    └── BadDataError          exit code 3   an input file or text that cannot be used

Every message says what was found, where, what was expected, and what to do.
"""

from __future__ import annotations

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
