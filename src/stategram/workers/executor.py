"""Tasks on the workers of a Dask cluster."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from itertools import islice
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import stategram
from stategram.errors import StategramError
from stategram.resources import Resources
from stategram.workers.task import Outcome, TaskSettings, other_versions, run_task

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
            tmp=None if here.tmp is None else str(here.tmp),
            folder=str(Path.cwd()),
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
