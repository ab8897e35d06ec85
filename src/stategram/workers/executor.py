"""Tasks on the workers of a Dask cluster, and what each brings back: a result or an error, and notes."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from dataclasses import dataclass
from itertools import islice
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import stategram
from stategram.errors import StategramError
from stategram.resources import Resources, available_processors, use_resources

Item = TypeVar("Item")
Result = TypeVar("Result")

# How many tasks are sent or wait for those before them: an item is small, but millions of them are not.
_MAX_OUTSTANDING = 2000
_SECONDS_BETWEEN_CHECKS = 2.0
# How long there may be no worker before this is an error.
_SECONDS_WITHOUT_WORKERS = 120.0
CONTINUE = "run the same command again: it continues with what is not done yet"


class ClusterExecutor:
    """Runs tasks on a cluster; results come in the order of the items.

    A task on a worker that is lost runs again on another one. What stategram raises on purpose, as for bad
    data, is raised here as soon as one task meets it. `address` names the cluster in messages; `threads` are
    those of a task, None for what its worker has; `sharing` is how many workers share this machine and its
    memory, None if they have machines of their own.
    """

    def __init__(self, client: Any, address: str, threads: int | None, sharing: int | None) -> None:
        self._client = client
        self._address = address
        self._threads = threads
        self._sharing = sharing

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for each item; `function` is one that workers can import."""
        done: SimpleQueue[int] = SimpleQueue()
        running: dict[int, tuple[Item, Any]] = {}
        waiting: dict[int, Outcome] = {}
        shown: set[tuple[str, str]] = set()
        numbered = enumerate(items)
        following = 0
        settings = self._settings()
        try:
            while True:
                for number, item in islice(numbered, _MAX_OUTSTANDING - len(running) - len(waiting)):
                    running[number] = item, self._submit(function, item, settings)
                    running[number][1].add_done_callback(lambda _, number=number: done.put(number))
                if not running:
                    return
                number = self._wait(done)
                waiting[number] = self._outcome(*running.pop(number))
                while following in waiting:
                    outcome = waiting.pop(following)
                    following += 1
                    for note in outcome.notes:
                        if note not in shown:
                            shown.add(note)
                            logging.getLogger(note[0]).warning("%s", note[1])
                    yield outcome.result
        finally:
            if running:
                with contextlib.suppress(Exception):  # the cluster may be what was lost
                    self._client.cancel([future for _, future in running.values()], force=True)

    def _settings(self) -> TaskSettings:
        here = Resources.current()
        return TaskSettings(
            version=stategram.__version__,
            threads=self._threads,
            memory=None if here.memory is None else here.memory // (self._sharing or 1),
            tmp=None if here.tmp is None else str(here.tmp.absolute()),
            shows_worker=self._sharing is None,
        )

    def _submit(self, function: Callable[[Item], Result], item: Item, settings: TaskSettings) -> Any:
        try:
            return self._client.submit(run_task, function, item, settings, pure=False)
        except Exception as error:
            if self._client.status == "running":  # what cannot be sent is a mistake of who wrote the task
                raise
            raise self._lost(error) from error

    def _wait(self, done: SimpleQueue[int]) -> int:
        """Return the number of a task that has ended; check now and then that there are workers."""
        since = time.monotonic()
        noted = False
        while True:
            with contextlib.suppress(Empty):
                return done.get(timeout=_SECONDS_BETWEEN_CHECKS)
            try:
                n_workers = len(self._client.nthreads())
            except Exception as error:
                raise self._lost(error) from error
            if n_workers:
                since, noted = time.monotonic(), False
            elif time.monotonic() - since > _SECONDS_WITHOUT_WORKERS:
                raise StategramError(
                    f"{self._address} has had no worker for {_SECONDS_WITHOUT_WORKERS:.0f} seconds; start "
                    f"some, then {CONTINUE}"
                )
            elif not noted:
                noted = True
                logging.getLogger(__name__).warning("%s has no worker left; waiting for one", self._address)

    def _outcome(self, item: Any, future: Any) -> Outcome:
        from distributed import KilledWorker

        try:
            outcome: Outcome = future.result()
        except KilledWorker as error:
            raise StategramError(
                f"{item}: {error.allowed_failures + 1} workers were lost while they were at work on it, the "
                f"last one {getattr(error.last_worker, 'address', error.last_worker)}; if they ran out of "
                f"memory, use smaller parts or larger machines, then {CONTINUE}"
            ) from error
        except (CancelledError, TimeoutError) as error:
            raise self._lost(error) from error
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "stategram":
                raise
            raise other_versions({"of the cluster": f"no module {error.name}"}) from error
        except OSError as error:
            if error.errno is None:  # of a connection, not of the system of a worker
                raise self._lost(error) from error
            raise
        if outcome.error is not None:
            raise outcome.error
        return outcome

    def _lost(self, error: BaseException) -> StategramError:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        # Of a future that was cancelled: the name of a task, and words of Dask's.
        reason = "tasks were cancelled" if isinstance(error, CancelledError) else reason
        return StategramError(
            f"the connection to the cluster {self._address} was lost ({reason}); see that its scheduler "
            f"runs, then {CONTINUE}"
        )


@dataclass(frozen=True)
class TaskSettings:
    """What the driver tells each task."""

    version: str
    threads: int | None
    """None for the processors of the worker, divided by its tasks at a time."""
    memory: int | None
    tmp: str | None
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
        with use_resources(
            threads=settings.threads or _own_threads(), memory=settings.memory, tmp=settings.tmp
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


def _own_threads() -> int:
    from distributed import get_worker

    return max(1, available_processors() // get_worker().state.nthreads)


def _address() -> str:
    from distributed import get_worker

    try:
        return str(get_worker().address)
    except ValueError:  # no worker: a task that is run by hand
        return f"process {os.getpid()}"
