"""Runs that are killed at any moment, and run again."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from pathlib import Path

from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.commands import require_good_manners, require_no_stale_files, require_whole_or_none, run_command
from stategram.storage import is_archive, open_archive
from story import RECIPE, sentences


class Kills(Campaign):
    """Each try kills a run, perhaps several times, and lets the same command end."""

    name = "kills"
    promise = (
        "after kill -9 nothing looks finished that is not, and the same command goes on to the same bytes"
    )

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        for name, n, text_seed in (("text", 1500, 1), ("held", 80, 2)):
            (place / name).write_text("\n".join(sentences(n, seed=text_seed)) + "\n")
        (place / "mine.toml").write_text(RECIPE)
        text, held = place / "text", place / "held"
        common, point = ("--threads", "1", "-q"), ("--checkpoint", place / "point")
        self.commands = {
            "train": ("train", text, "--order", "4", "--force", *common),
            "recipe": ("train", text, "--heldout", held, "--recipe", place / "mine.toml", *point, *common),
            "context": (
                "train",
                text,
                "--heldout",
                held,
                "--context",
                "w-2,w-1",
                *point,
                *common,
            ),
            "classes": ("classes", text, "-k", "20", *common),
        }
        self.expected: dict[str, tuple[float, str]] = {}
        for name, command in self.commands.items():
            started = time.monotonic()
            ended = run_command([*command, "-o", place / "expected"])
            if ended.code:
                raise RuntimeError(f"{name}: {ended.err.decode()}")
            self.expected[name] = (time.monotonic() - started, _content(place / "expected"))
            (place / "expected").unlink()
            shutil.rmtree(place / "point", ignore_errors=True)

    def attempt(self, number: int) -> None:
        """Kill the next command once to three times, then let it end."""
        chance = self.random(number)
        name = list(self.commands)[number % len(self.commands)]
        seconds, expected = self.expected[name]
        place = self.place / "killed"
        for folder in (place, self.place / "point"):
            shutil.rmtree(folder, ignore_errors=True)
        place.mkdir()
        out = place / "out"
        if name == "train" and chance.random() < 0.5:  # something to replace
            run_command([*self.commands[name], "--smoothing", "witten-bell", "-o", out])
        for _ in range(chance.choice((1, 1, 2, 3))):
            run_command([*self.commands[name], "-o", out], kill_after=chance.random() * seconds)
            if name != "classes":
                require_whole_or_none(out)
        ended = run_command([*self.commands[name], "-o", out])
        require_good_manners(ended)
        if ended.code and b"already" not in ended.err:  # it had ended before it was killed
            raise BrokenPromiseError(f"it did not go on: {ended.err.decode()}")
        if _content(out) != expected:
            raise BrokenPromiseError(f"{name}: other bytes than without a kill")
        require_no_stale_files(place)


def _content(path: Path) -> str:
    """Return a checksum of a file; of a model without its manifest, which has times in it."""
    if is_archive(path):
        digests = open_archive(path, kind=None).manifest["arrays"]
        return hashlib.sha256(json.dumps(digests, sort_keys=True).encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest()
