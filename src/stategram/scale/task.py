"""One task on a worker: within the resources of the driver, with its notes and its error as values."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, chdir, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import stategram
from stategram.errors import StategramError
from stategram.resources import available_processors, use_resources


@dataclass(frozen=True)
class TaskSettings:
    """What the driver tells each task.

    Parameters
    ----------
    version
        The version of stategram.
    threads
        The threads of a task; None for the processors of the worker, divided by its tasks at a time.
    memory, tmp
        As in `Resources`.
    folder
        The current folder of the driver, where relative names of files are looked up.
    shows_worker
        Whether errors are to name the worker: it may be a machine that lacks a file of the driver.

    """

    version: str
    threads: int | None
    memory: int | None
    tmp: str | None
    folder: str
    shows_worker: bool


@dataclass(frozen=True)
class Outcome:
    """What comes back: a result, or what stategram raised on purpose; and notes, as (logger, message).

    An error is a value here: for Dask it would be a failure of the worker's code.
    """

    result: Any
    error: StategramError | None
    notes: tuple[tuple[str, str], ...]


def run_task(function: Callable[[Any], Any], item: Any, settings: TaskSettings) -> Outcome:
    """Run a task; a worker of another version of stategram refuses it."""
    if stategram.__version__ != settings.version:
        return Outcome(None, other_versions({_address(): stategram.__version__}), ())
    notes = _Notes()
    logger = logging.getLogger("stategram")
    logger.addHandler(notes)
    try:
        with (
            _in_folder(settings.folder),
            use_resources(
                threads=settings.threads or _own_threads(), memory=settings.memory, tmp=settings.tmp
            ),
        ):
            return Outcome(function(item), None, tuple(notes.found))
    except StategramError as error:
        if settings.shows_worker and type(error) is StategramError:
            error = StategramError(f"{error} (on worker {_address()})")
        return Outcome(None, error, tuple(notes.found))
    finally:
        logger.removeHandler(notes)


def other_versions(versions: dict[str, str]) -> StategramError:
    """Return the error for workers, by their addresses, that have another version of stategram, or none."""
    named = ", ".join(f"{address} has {found}" for address, found in sorted(versions.items()))
    return StategramError(
        f"this is stategram {stategram.__version__}, but worker {named}; install the same version on all "
        f"machines (pip install stategram=={stategram.__version__}) and restart the workers"
    )


class _Notes(logging.Handler):
    """Keeps what the task of this thread warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.found: list[tuple[str, str]] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._thread:
            self.found.append((record.name, record.getMessage()))


def _in_folder(folder: str) -> AbstractContextManager[None]:
    """Return what changes to a folder; where there is none of this name, only full names are found."""
    return nullcontext() if folder == str(Path.cwd()) or not Path(folder).is_dir() else chdir(folder)


def _own_threads() -> int:
    from distributed import get_worker

    return max(1, available_processors() // get_worker().state.nthreads)


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # no worker: a task that is run by hand
        return f"process {os.getpid()}"
