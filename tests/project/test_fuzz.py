"""A slice of every campaign of `make fuzz`, always the same."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

if sys.platform != "linux":
    pytest.skip("needs Linux: processes that are forked, and their limits", allow_module_level=True)

from fuzz.__main__ import CAMPAIGNS
from fuzz.campaign import Campaign
from fuzz.running import run

SLOW = ("environment", "kills")
# The process that forks has threads, of pytest-xdist, which wait.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

TRIES = {
    "files": 400,
    "counts": 23,
    "archives": 60,
    "heap": 30,
    "flips": 100,
    "kills": 2,
    "races": 20,
    "environment": 6,
    "threads": 10,
    "tables": 60,
    "urls": 30,
    "requests": 60,
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else []) for name in CAMPAIGNS],
)
def test_campaign(name: str, tmp_path: Path) -> None:
    result = run(CAMPAIGNS[name], tmp_path, seed=1, seconds=math.inf, most=TRIES[name])
    assert result.tries == TRIES[name]
    assert not result.failures


class Controls(Campaign):
    """What must be noticed: an exception, the end of the process, much memory."""

    name = "controls"
    promise = "every try but the first fails"

    def attempt(self, number: int) -> None:
        if number == 1:
            raise ValueError("an exception")
        if number == 2:
            import os
            import signal

            os.kill(os.getpid(), signal.SIGKILL)
        if number == 3:
            bytearray(b"x" * (self.most_memory + 100_000_000))


def test_what_must_be_noticed(tmp_path: Path) -> None:
    result = run(Controls, tmp_path, seed=1, seconds=math.inf, most=5)
    assert result.tries == 5
    assert [failure.number for failure in result.failures] == [1, 2, 3]
