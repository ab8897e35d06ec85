"""Faults of the machine: full disks, few files, little memory, closed streams, signals."""

from __future__ import annotations

import random
import resource
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.commands import (
    EXIT_CODES,
    Ended,
    require_good_manners,
    require_no_stale_files,
    require_whole_or_none,
    run_command,
)
from story import sentences

_MEGABYTE = 1 << 20


class Environment(Campaign):
    """Each try runs a command under a fault; it ends well with the right output, or with an error."""

    name = "environment"
    promise = (
        "under a fault a command ends with the right output or with an error, and leaves nothing half done"
    )

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        (place / "text").write_text("\n".join(sentences(400, seed=1)) + "\n")
        (place / "test").write_text("\n".join(sentences(60, seed=2)) + "\n")
        train = ("train", place / "text", "--order", "3", "--threads", "1")
        run_command([*train, "-o", place / "model"])
        model, test = place / "model", place / "test"
        self.commands: list[tuple[str | Path, ...]] = [
            (*train, "--force"),
            ("classes", place / "text", "-k", "8", "--threads", "1", "-q"),
            ("score", model, test, "-q"),
            ("eval", model, test, "-q"),
            ("predict", model, "the"),
            ("export", model, "--arpa", "-"),
            ("info", model),
            ("info", model, "--verify"),
        ]
        self.expected = [run_command(self._whole(command, place / "expected")) for command in self.commands]
        for command, ended in zip(self.commands, self.expected, strict=True):
            if ended.code:
                raise RuntimeError(f"{command}: {ended.err.decode()}")

    def _whole(self, command: tuple[str | Path, ...], out: Path) -> tuple[str | Path, ...]:
        return (*command, "-o", out) if command[0] == "train" else command

    def attempt(self, number: int) -> None:
        """Run the next command under the next fault."""
        chance = self.random(number)
        command, expected = chance.choice(list(zip(self.commands, self.expected, strict=True)))
        place = self.place / "out"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        whole = self._whole(command, place / "model")
        _FAULTS[number % len(_FAULTS)](whole, expected, chance)
        require_whole_or_none(place / "model")
        require_no_stale_files(place)


Command = tuple[str | Path, ...]


def _require_right(ended: Ended, expected: Ended) -> None:
    require_good_manners(ended)
    if ended.code == 0 and ended.out != expected.out:
        raise BrokenPromiseError("another output, as if nothing had happened")


def _few_files(command: Command, expected: Ended, chance: random.Random) -> None:
    limit = chance.randrange(6, 40)
    _require_right(run_command(command, limits=[(resource.RLIMIT_NOFILE, limit)]), expected)


def _little_memory(command: Command, expected: Ended, chance: random.Random) -> None:
    limit = chance.randrange(100, 900) * _MEGABYTE
    _require_right(run_command(command, limits=[(resource.RLIMIT_AS, limit)]), expected)


def _small_files(command: Command, expected: Ended, chance: random.Random) -> None:
    limit = chance.choice((0, 1, 100, 5000, 50_000))
    _require_right(run_command(command, limits=[(resource.RLIMIT_FSIZE, limit)]), expected)


def _full_disk(command: Command, expected: Ended, chance: random.Random) -> None:
    ended = run_command(command, out=Path("/dev/full"))
    require_good_manners(ended)
    if ended.code == 0 and expected.out:
        raise BrokenPromiseError("its output is lost, and it says that all is well")


def _closed_streams(command: Command, expected: Ended, chance: random.Random) -> None:
    closed = chance.choice(((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)))
    ended = run_command(command, closed=closed)
    require_good_manners(ended)
    if 1 not in closed:
        _require_right(ended, expected)
    elif ended.code == 0 and expected.out:
        raise BrokenPromiseError("its output is lost, and it says that all is well")


def _interrupts(command: Command, expected: Ended, chance: random.Random) -> None:
    with_signal = chance.choice((signal.SIGINT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP))
    ended = run_command(command, kill_after=chance.random(), with_signal=with_signal)
    if with_signal == signal.SIGINT and b"/stategram/" in ended.err:
        require_good_manners(ended)
    elif with_signal == signal.SIGINT:  # perhaps before Python has begun with what is ours
        if ended.code not in (*EXIT_CODES, -signal.SIGINT):
            require_good_manners(ended)
    elif ended.code not in (0, -with_signal):
        require_good_manners(ended)


_FAULTS: tuple[Callable[[Command, Ended, random.Random], None], ...] = (
    *(_few_files, _little_memory, _small_files, _full_disk, _closed_streams, _interrupts),
)
