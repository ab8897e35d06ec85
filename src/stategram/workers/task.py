"""One task on a worker: within the resources of the driver, with its notes and its error as values."""

from __future__ import annotations

import logging
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, chdir, contextmanager
from dataclasses import dataclass
from typing import Any

import stategram
from stategram.errors import StategramError
from stategram.resources import available_processors, use_resources


@dataclass(frozen=True)
class TaskSettings:
    """What the driver tells each task."""

    version: str
    threads: int | None
    """None for the processors of the worker, divided by its tasks at a time."""
    memory: int | None
    tmp: str | None
    folder: str
    """The current folder of the driver, where relative names of files are looked up."""
    shows_worker: bool
    """Whether errors name the worker: it may be a machine that lacks a file of the driver."""


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
            _current_folder.use(settings.folder),
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


class _CurrentFolder:
    """The current folder of this process while it runs tasks: one for all of its threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._folder = ""
        self._is_there = True
        self._n_tasks = 0
        self._way_back = ExitStack()

    @contextmanager
    def use(self, folder: str) -> Iterator[None]:
        """Run a task in the folder of its driver, when no task of another folder runs.

        Where there is no such folder, it is an empty one, and errors of files say so: a relative name must
        not be that of another file.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._n_tasks == 0 or self._folder == folder)
            if self._n_tasks == 0:
                self._enter(folder)
            self._n_tasks += 1
            is_there = self._is_there
        try:
            yield
        except StategramError as error:
            if is_there or type(error) is not StategramError:
                raise
            raise StategramError(
                f"{error}; there is no folder {folder} on this machine, where relative names are looked up: "
                "give full names, or run the command in a folder that all machines share"
            ) from error
        finally:
            with self._changed:
                self._n_tasks -= 1
                if self._n_tasks == 0:
                    self._way_back.close()
                    self._changed.notify_all()

    def _enter(self, folder: str) -> None:
        self._folder = folder
        try:
            self._way_back.enter_context(chdir(folder))
            self._is_there = True
        except OSError:
            empty = self._way_back.enter_context(tempfile.TemporaryDirectory(prefix="stategram-task-"))
            self._way_back.enter_context(chdir(empty))
            self._is_there = False


_current_folder = _CurrentFolder()


def _own_threads() -> int:
    from distributed import get_worker

    return max(1, available_processors() // get_worker().state.nthreads)


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # no worker: a task that is run by hand
        return f"process {os.getpid()}"
