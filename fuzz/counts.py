"""Counts of a text: damaged, unfinished, replaced, and made by two runs at once."""

from __future__ import annotations

import random
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import msgspec

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.commands import require_good_manners, run_command
from fuzz.mutation import damage_bytes, damage_json
from stategram import NgramModel, UsageError, WordClasses, open_counts
from stategram.counts import Blobs, Counting, Reading, check_counts, count_folder
from stategram.errors import BadDataError, StategramError
from stategram.storage import manifest_bytes
from stategram.text import TextFormat, WordChoice
from story import sentences

_ORDER = 3
_SHARD = 4000
_MANIFEST = "manifest.json"
_ADVICE = ("--force", "remove it, and run the same command again", "choose another place")


class _KilledError(BaseException):
    """Ends a count as a kill would, but that what it has written is known."""


class Counts(Campaign):
    """Each try does something to finished counts, to the work of a killed run, or to two runs at once."""

    name = "counts"
    promise = "counts end with the right bytes, or with exit code 3 and what to do"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.texts = []
        for number, n in enumerate((400, 300)):
            text = place / f"text{number}"
            text.write_text("\n".join(sentences(n, seed=number)) + "\n")
            self.texts.append(text)
        self.expected = []
        for number in range(2):
            self._count(f"{place}/finished{number}", number)
            self.expected.append(_files(place / f"finished{number}"))
        killed = patch.object(count_folder, "manifest_bytes", side_effect=_KilledError)
        with killed, suppress(_KilledError):
            self._count(f"{place}/work")
        self.work = _files(place / "work")
        started = time.monotonic()
        run_command([*self._command(), "-o", place / "timed"])
        self.seconds = time.monotonic() - started

    def attempt(self, number: int) -> None:
        """Try the next kind."""
        chance, place = self.random(number), self.place / "tried"
        shutil.rmtree(place, ignore_errors=True)
        kinds: tuple[Callable[[Path, random.Random], None], ...] = (
            *(self._damaged, self._damaged_with_checksums, self._resumed, self._forced) * 5,
            *(self._resumed_with_checksums, self._at_once, self._at_once),
            *((self._killed,) if self.seconds < 30 else ()),
        )
        kinds[number % len(kinds)](place, chance)

    def _count(self, place: str, text: int = 0, *, replaces: bool = False) -> None:
        reading = Reading([str(self.texts[text])], TextFormat(), WordChoice(), _SHARD)
        Counting(reading, _ORDER).run(place, replaces=replaces)

    def _command(self) -> list[str | Path]:
        return ["count", self.texts[0], "--order", str(_ORDER), "--shard-size", str(_SHARD), "-q"]

    def _damaged(self, place: Path, chance: random.Random) -> None:
        """Finished counts of which some bytes were changed are refused, by `count` too."""
        _write(place, self.expected[0])
        changed = _damage(place, chance)
        if changed is None:
            return
        try:
            found = open_counts(place)
            for name in found.manifest.files:
                found.blobs.read(name)
        except StategramError as error:
            if changed != _MANIFEST:
                _require_advice(error)
        else:
            raise BrokenPromiseError(f"{changed} was changed, and nobody noticed")
        with suppress(StategramError):
            _use(place)

    def _damaged_with_checksums(self, place: Path, chance: random.Random) -> None:
        """Require that a training takes what `info --verify` does."""
        _write(place, self.expected[0])
        manifest = msgspec.json.decode((place / _MANIFEST).read_bytes())
        if chance.random() < 0.3:
            manifest = damage_json(manifest, chance)
        else:
            name = chance.choice(sorted(manifest["files"]))
            manifest["files"][name] = _damage_and_seal(place, name, chance)
        with suppress(UsageError, TypeError, AttributeError, KeyError):  # what cannot be written
            files = manifest["files"]
            (place / _MANIFEST).write_bytes(manifest_bytes(manifest, manifest["kind"], files, listed="files"))
        try:
            check_counts(open_counts(place))
        except StategramError:
            with suppress(StategramError):
                _use(place)
            return
        _use(place)

    def _resumed(self, place: Path, chance: random.Random) -> None:
        """Require that a killed run goes on to the right bytes when a file was damaged or lost."""
        _write(place, self.work)
        self._lose(place, chance)
        changed = _damage(place, chance)
        try:
            self._count(str(place))
        except StategramError as error:
            _require_advice(error)
            raise BrokenPromiseError(f"{changed}: it did not go on: {error}") from error
        self._require_right(place)

    def _resumed_with_checksums(self, place: Path, chance: random.Random) -> None:
        """Whatever a stranger puts there, it ends with counts or an error."""
        _write(place, self.work)
        self._lose(place, chance)
        _damage_and_seal(place, chance.choice(sorted(_files(place))), chance)
        with suppress(StategramError):
            self._count(str(place))

    def _forced(self, place: Path, chance: random.Random) -> None:
        """Whatever is damaged, ``--force`` ends with the right bytes."""
        _write(place, self.expected[chance.choice((0, 0, 1))])
        if chance.random() < 0.5:
            _write(place, self.work)
        for _ in range(chance.choice((1, 2, 5))):
            _damage(place, chance)
        self._count(str(place), replaces=True)
        self._require_right(place)

    def _at_once(self, place: Path, chance: random.Random) -> None:
        """Of two runs into one place, those that end without an error leave their counts."""
        where = chance.choice((str(place), f"file://{place}", "memory://tried"))
        blobs = Blobs(where)
        blobs.remove(*blobs.sizes())
        wait = [0.0, chance.random() * chance.choice((0.001, 0.03))]
        texts = [0, chance.choice((0, 1))]

        def count(number: int) -> bool:
            time.sleep(wait[number])
            try:
                self._count(where, texts[number])
            except StategramError:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(count, range(2)))
        for number in (0, 1):
            if ended[number] and not (ended[1 - number] and texts[0] != texts[1]):
                expected = self.expected[texts[number]]
                if {name: blobs.get(name) for name in blobs.sizes() if name in expected} != expected:
                    raise BrokenPromiseError(f"{where}: counts that ended well are not there")
                self._count(where, texts[number])  # clears what another run of the same command left
                if blobs.sizes().keys() != expected.keys():
                    raise BrokenPromiseError(f"{where}: something else is left there")
        if all(ended) and texts[0] != texts[1]:
            raise BrokenPromiseError(f"{where}: one of two counts is lost")

    def _killed(self, place: Path, chance: random.Random) -> None:
        """After kill -9 the same command goes on to the right bytes, and nothing is left."""
        for _ in range(chance.choice((1, 2, 3))):
            run_command(
                [*self._command(), "-o", place],
                kill_after=self.seconds * chance.random(),
                with_signal=signal.SIGKILL,
            )
        ended = run_command([*self._command(), "-o", place])
        require_good_manners(ended)
        if ended.code:
            raise BrokenPromiseError(f"it did not go on: {ended.err.decode()}")
        self._require_right(place)

    def _lose(self, place: Path, chance: random.Random) -> None:
        """Remove some of the last work, as if the run was killed before it."""
        for suffix in ("counts", "vocabulary", "text", "ngrams", "run", "ids")[: chance.randrange(7)]:
            for file in place.glob(f"*.{suffix}"):
                if chance.random() < 0.8:
                    file.unlink()

    def _require_right(self, place: Path) -> None:
        if _files(place) != self.expected[0]:
            raise BrokenPromiseError("other bytes, or other files, than expected")


def _files(place: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in place.iterdir()}


def _write(place: Path, files: Mapping[str, bytes]) -> None:
    place.mkdir(exist_ok=True)
    for name, data in files.items():
        (place / name).write_bytes(data)


def _damage(place: Path, chance: random.Random) -> str | None:
    """Change bytes of a file, or remove it; return its name, None if that changed nothing."""
    file = chance.choice(sorted(place.iterdir()))
    before = file.read_bytes()
    if chance.random() < 0.1:
        file.unlink()
        return file.name
    if chance.random() < 0.5:
        at = chance.randrange(len(before))
        after = before[:at] + bytes([before[at] ^ 1 << chance.randrange(8)]) + before[at + 1 :]
    else:
        after = damage_bytes(before, chance)
    file.write_bytes(after)
    return None if after == before else file.name


def _damage_and_seal(place: Path, name: str, chance: random.Random) -> str:
    """Change the data of a blob, and give it right checksums; return the last of them."""
    blobs = Blobs(place)
    kept = blobs.kept(name)
    if kept is None:
        raise RuntimeError(f"{name} is damaged")
    pieces = [bytes(blobs.read(name, begin, end)) for begin, end in pairwise(kept[0])]
    at = chance.randrange(len(pieces))
    pieces[at] = damage_bytes(pieces[at], chance)
    return blobs.write(name, *pieces)[1]


def _require_advice(error: StategramError) -> None:
    if not isinstance(error, BadDataError) or not any(advice in str(error) for advice in _ADVICE):
        raise BrokenPromiseError(f"exit code {error.exit_code}, or no advice: {error}") from error


def _use(place: Path) -> None:
    """Open counts that may be damaged and use them in every way; StategramError if one is refused."""
    counts = open_counts(place)
    with suppress(UsageError):  # too few words for so many classes
        WordClasses(4, effort="fast").fit(counts)
    NgramModel.train(counts, min(_ORDER, counts.order)).score(["a b"])
    counts.corpus()
