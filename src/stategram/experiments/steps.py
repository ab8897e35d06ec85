"""What a long training says while it works, and how it is asked to come to an end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

Report = Callable[[float, str], None]
"""Takes the share of a step that is done and a few words on it."""
Stop = Callable[[], bool]
"""Says whether to end a clustering with the best so far."""


@dataclass
class NoticedStop:
    """A `Stop` of which it is known afterwards whether it asked for the end."""

    stop: Stop | None
    asked: bool = False

    def __call__(self) -> bool:
        """Ask."""
        self.asked = self.asked or (self.stop is not None and self.stop())
        return self.asked


class Steps:
    """Takes what a training says of its steps. This one keeps silent; a command line shows it."""

    @contextmanager
    def step(self, title: str) -> Iterator[Report]:
        """Begin a step; what is given takes its progress."""
        yield lambda _share, _words: None

    @contextmanager
    def clustering(self, title: str) -> Iterator[tuple[Report, Stop | None]]:
        """Begin a step that can be ended early; what is given takes its progress, and may ask for the end."""
        with self.step(title) as report:
            yield report, None

    def say(self, message: str) -> None:
        """Take what a step came to."""

    def detail(self, message: str) -> None:
        """Take what not all want to know of a step."""


def sweeps_to(report: Report) -> Report:
    """Return the progress of a clustering for that of a step."""
    return report
