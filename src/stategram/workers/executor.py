"""Tasks on the workers of a Dask cluster, and what each brings back: a result or an error, and notes."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
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
# How long there may be no worker, or no answer of the scheduler, before this is an error.
_SECONDS_WITHOUT_WORKERS = 120.0
# How long results wait for a task before this is shown, and how long a worker may be silent before others get
# its tasks: it sends a sign of life every few seconds, whatever it is at work on.
_SECONDS_TO_NOTE = 30.0
_SECONDS_OF_SILENCE = 60.0
# How long a worker that has a result may take to send it, which is small; longer after each time.
_SECONDS_TO_FETCH = 5.0
CONTINUE = "rerun the same command to continue"


class ClusterExecutor:
    """Runs tasks on a cluster; results come in the order of the items.

    A task on a worker that is lost or silent runs again on another one. What stategram raises on purpose, as
    for bad data, is raised here as soon as one task meets it. `address` names the cluster in messages;
    `threads` are those of a task, None for what its worker has; `sharing` is how many workers share this
    machine and its memory, None if they have machines of their own.
    """

    def __init__(self, client: Any, address: str, threads: int | None, sharing: int | None) -> None:
        self._client = client
        self._address = address
        self._threads = threads
        self._sharing = sharing
        self._seen: dict[str, tuple[float, float]] = {}

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Yield ``function(item)`` for each item; `function` is one that workers can import."""
        done: SimpleQueue[tuple[int, Any]] = SimpleQueue()
        running: dict[int, tuple[Item, Any]] = {}
        waiting: dict[int, Outcome] = {}
        tries: Counter[int] = Counter()
        numbered = enumerate(items)
        following = 0
        settings = self._settings()
        watch = _Watch(self._seen)

        def submit(number: int, item: Item, workers: list[str] | None = None) -> None:
            future = self._submit(workers, function, item, settings)
            future.add_done_callback(lambda future: done.put((number, future)))
            running[number] = item, future

        try:
            while True:
                for number, item in islice(numbered, _MAX_OUTSTANDING - len(running) - len(waiting)):
                    submit(number, item)
                if not running:
                    return
                with contextlib.suppress(Empty):
                    number, future = done.get(timeout=_SECONDS_BETWEEN_CHECKS)
                    # Unless another worker was faster, or has the task by now.
                    if number in running and (future.status == "finished" or future is running[number][1]):
                        item, _ = running.pop(number)
                        tries[number] += 1
                        outcome = self._outcome(item, future, tries[number] * _SECONDS_TO_FETCH)
                        if outcome is None:
                            submit(number, item)
                        else:
                            waiting[number] = outcome
                while following in waiting:
                    outcome = waiting.pop(following)
                    following += 1
                    for logger, message in outcome.notes:
                        watch.note(message, logger)
                    yield outcome.result
                    watch.since = time.monotonic()
                if running and time.monotonic() - max(watch.since, watch.looked) > _SECONDS_BETWEEN_CHECKS:
                    for number, workers in self._look(watch, running):
                        submit(number, running[number][0], workers)
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

    def _submit(self, workers: list[str] | None, *task: Any) -> Any:
        try:
            where = {"workers": workers, "allow_other_workers": bool(workers)}
            return self._client.submit(run_task, *task, pure=False, **where)
        except Exception as error:
            if self._client.status == "running":  # what cannot be sent is a mistake of who wrote the task
                raise
            raise self._lost(error) from error

    def _look(self, watch: _Watch, running: Mapping[int, tuple[Any, Any]]) -> Iterator[tuple[int, list[str]]]:
        """Check that there are workers; yield the tasks of silent ones, and the workers for them."""
        workers = self._ask("identity", n_workers=-1)["workers"]
        answering = watch.answering({worker: found["last_seen"] for worker, found in workers.items()})
        if not answering:
            if watch.looked - watch.worked > _SECONDS_WITHOUT_WORKERS:
                raise StategramError(
                    f"{self._address} has had no worker for {_SECONDS_WITHOUT_WORKERS:.0f} seconds; start "
                    f"some, then {CONTINUE}"
                )
            watch.note(f"{self._address} has no worker left; waiting for one")
        processing = self._ask("processing", workers=None)
        holders = {key: worker for worker, keys in processing.items() for key in keys}
        for number, (item, future) in sorted(running.items()):
            holder = holders.get(future.key)
            if holder and watch.looked - watch.since > _SECONDS_TO_NOTE and number == min(running):
                watch.note(f"waiting for {item}, on worker {holder}")
            if holder and answering and holder not in answering:
                watch.note(f"worker {holder} does not answer: {item} goes to another one")
                yield number, answering

    def _ask(self, method: str, **arguments: Any) -> Any:
        try:
            ask = getattr(self._client.scheduler, method)
            return self._client.sync(ask, callback_timeout=_SECONDS_WITHOUT_WORKERS, **arguments)
        except Exception as error:
            raise self._lost(error) from error

    def _outcome(self, item: Any, future: Any, timeout: float) -> Outcome | None:
        """Return what a task brought back; None if the worker that has it does not answer."""
        from distributed import KilledWorker

        try:
            outcome: Outcome = future.result(timeout=timeout)
        except KilledWorker as error:
            raise StategramError(
                f"{item}: {error.allowed_failures + 1} workers were lost while they were at work on it, the "
                f"last one {getattr(error.last_worker, 'address', error.last_worker)}; if they ran out of "
                f"memory, use smaller parts or larger machines, then {CONTINUE}"
            ) from error
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "stategram":
                raise
            raise other_versions({"of the cluster": f"no module {error.name}"}) from error
        except Exception as error:
            if future.status == "error":  # of the task itself
                raise
            if future.status == "finished" and isinstance(error, TimeoutError):
                return None
            raise self._lost(error) from error  # whatever the libraries below Dask raise
        if outcome.error is not None:
            raise outcome.error
        return outcome

    def _lost(self, error: BaseException) -> StategramError:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        # Of a future that was cancelled: the name of a task, and words of Dask's.
        reason = "tasks were cancelled" if isinstance(error, CancelledError) else reason
        return StategramError(
            f"the connection to the cluster {self._address} was lost ({reason}); check that its scheduler "
            f"runs, then {CONTINUE}"
        )


class _Watch:
    """Since when results wait, when each worker and any was last seen, and what was noted of that."""

    def __init__(self, seen: dict[str, tuple[float, float]]) -> None:
        self.since = self.looked = self.worked = time.monotonic()
        self._seen = seen
        self._notes: set[tuple[str, str]] = set()

    def answering(self, last_seen: Mapping[str, float]) -> list[str]:
        """Return the workers that are not silent, from when each was last seen, by the scheduler's clock."""
        self.looked = time.monotonic()
        for worker, seen in last_seen.items():
            if self._seen.get(worker, (None,))[0] != seen:
                self._seen[worker] = seen, self.looked
        found = [one for one in sorted(last_seen) if self.looked - self._seen[one][1] <= _SECONDS_OF_SILENCE]
        self.worked = self.looked if found else self.worked
        return found

    def note(self, message: str, logger: str = __name__) -> None:
        """Log a message, once."""
        if (logger, message) not in self._notes:
            self._notes.add((logger, message))
            logging.getLogger(logger).warning("%s", message)


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
