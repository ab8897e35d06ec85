"""Running the tries of a campaign in a process of its own, and seeing how it ends."""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import shutil
import signal
import time
import traceback
import warnings
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path

from fuzz.campaign import Campaign

_LONGEST_TRY = 120.0
_KILO = 1024  # ru_maxrss is in kilobytes on Linux


@dataclass(frozen=True)
class Failure:
    """A try that broke a promise."""

    number: int
    what: str


@dataclass
class Result:
    """What came of a campaign."""

    tries: int = 0
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0


def run(
    kind: type[Campaign], place: Path, *, seed: int, seconds: float, most: int | None = None, first: int = 0
) -> Result:
    """Make tries one after the other, until the time is up or there were `most`.

    A try that ends its process, or does not end, is a failure; the next goes on in a new process. What is
    made before the tries takes no time.
    """
    result = Result()
    number: int | None = first
    restarts = 0
    while number is not None and result.seconds < seconds and (most is None or number < first + most):
        restarts += 1
        folder = place / f"{kind.name}-{restarts}"
        folder.mkdir(parents=True)
        ours, theirs = multiprocessing.Pipe(duplex=False)
        last = None if most is None else first + most
        child = multiprocessing.get_context("fork").Process(
            target=_work, args=(kind, folder, seed, number, last, seconds - result.seconds, theirs)
        )
        child.start()
        theirs.close()
        number = _follow(child, ours, result, number)
        shutil.rmtree(folder, ignore_errors=True)
    return result


def _follow(
    child: multiprocessing.process.BaseProcess, ours: Connection, result: Result, number: int
) -> int | None:
    """Receive what a process reports; return the number of the next try if it did not get to its end."""
    running: int | None = None
    begun = time.monotonic()
    while True:
        try:
            if not ours.poll(_LONGEST_TRY):
                assert child.pid is not None
                os.kill(child.pid, signal.SIGKILL)
                child.join()
                result.seconds += _LONGEST_TRY
                result.failures.append(Failure(number, f"no end after {_LONGEST_TRY:.0f} seconds"))
                return number + 1
            message, number, text = ours.recv()
        except EOFError:
            child.join()
            if running is None:
                if child.exitcode:
                    raise RuntimeError(f"the set-up of a campaign ended with {child.exitcode}") from None
                return None
            result.seconds += time.monotonic() - begun
            result.failures.append(Failure(running, f"the process ended with {child.exitcode}"))
            return running + 1
        if message == "begin":
            running = number
            result.tries += 1
            begun = time.monotonic()
        else:
            result.seconds += time.monotonic() - begun
            running = None
            if text:
                result.failures.append(Failure(number, text))


def _work(
    kind: type[Campaign],
    place: Path,
    seed: int,
    number: int,
    last: int | None,
    seconds: float,
    results: Connection,
) -> None:
    logging.disable()  # notes on what was read
    campaign = kind(place, seed)
    warnings.simplefilter("error")
    memory, end = _memory(), time.monotonic() + seconds
    while time.monotonic() < end and (last is None or number < last):
        results.send(("begin", number, ""))
        failure = ""
        try:
            campaign.attempt(number)
        except BaseException:
            failure = traceback.format_exc()
        grown = _memory() - memory
        if not failure and grown > kind.most_memory:
            failure = f"the memory grew by {grown:,} bytes"
        memory = max(memory, _memory())
        results.send(("end", number, failure))
        number += 1


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KILO
