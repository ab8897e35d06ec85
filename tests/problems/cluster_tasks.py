"""Tasks for workers, which import this module."""

from __future__ import annotations

import logging
import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

from stategram.errors import BadDataError, StategramError
from stategram.resources import Resources
from stategram.text import read_corpus


class Seen(NamedTuple):
    process: int
    threads: int
    memory: int | None
    tmp: Path | None
    has_executor: bool


def double(number: int) -> int:
    return 2 * number


def see(_: int) -> Seen:
    here = Resources.current()
    return Seen(os.getpid(), here.threads, here.memory, here.tmp, here.executor is not None)


def warn(number: int) -> int:
    logging.getLogger("stategram.tests").warning("a note")
    logging.getLogger("stategram.tests").info("no note")
    return number


def count_words(name: str) -> int:
    return read_corpus(name).n_events


def append_and_read(arguments: tuple[str, str]) -> int:
    """Add a line to a log, then read a file."""
    log, name = arguments
    with Path(log).open("a") as file:
        file.write("ran\n")
    return count_words(name)


def fail_or_wait(arguments: tuple[int, str]) -> None:
    """Raise an error for the number 1, else wait until there is a file."""
    number, name = arguments
    if number == 1:
        raise BadDataError("text.txt:3: bad data")
    while not Path(name).exists():
        time.sleep(0.02)


def fail_plainly(_: int) -> int:
    raise StategramError("cannot read a")


def divide(number: int) -> float:
    return 1 / number


def kill_worker(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def wait_for(arguments: tuple[str, str]) -> int:
    """Write the process into a file of a folder, then wait until there is a file."""
    folder, name = arguments
    Path(folder, f"{os.getpid()}.pid").touch()
    while not Path(name).exists():
        time.sleep(0.02)
    return os.getpid()
