"""`python -m fuzz`: seeded tries of every kind; what failed is shown with the way to do it again."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from fuzz.archives import Damaged, Flipped, OnTheHeap
from fuzz.campaign import Campaign
from fuzz.counts import Counts
from fuzz.environment import Environment
from fuzz.files import Files
from fuzz.kills import Kills
from fuzz.races import Races
from fuzz.requests import Requests
from fuzz.running import Failure, run
from fuzz.tables import Tables
from fuzz.threads import Threads
from fuzz.urls import Urls

CAMPAIGNS: dict[str, type[Campaign]] = {
    kind.name: kind
    for kind in (
        *(Files, Counts, Damaged, OnTheHeap, Flipped, Kills, Races, Environment, Threads),
        *(Tables, Urls, Requests),
    )
}


def main() -> int:
    """Run the campaigns that are named, each for its share of the time."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="CAMPAIGN", help=f"some of {', '.join(CAMPAIGNS)}; all by default"
    )
    parser.add_argument(
        "--seconds", type=float, default=120.0, help="for all together (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=int(time.time()), help="default: the time")
    parser.add_argument("--first", type=int, default=0, help="the number of the first try")
    parser.add_argument("--tries", type=int, help="at most so many for each campaign")
    given = parser.parse_args()
    if unknown := set(given.names) - set(CAMPAIGNS):
        parser.error(f"no campaign {', '.join(sorted(unknown))}; there are {', '.join(CAMPAIGNS)}")
    names = given.names or list(CAMPAIGNS)
    failed = False
    print(f"seed {given.seed}\n{'campaign':12} {'tries':>8} {'failures':>8}  promise")
    for name in names:
        kind = CAMPAIGNS[name]
        with tempfile.TemporaryDirectory(prefix="fuzz-") as place:
            result = run(
                kind,
                Path(place),
                seed=given.seed,
                seconds=given.seconds / len(names),
                most=given.tries,
                first=given.first,
            )
        print(f"{name:12} {result.tries:8,} {len(result.failures):8,}  {kind.promise}", flush=True)
        _show(name, given.seed, result.failures)
        failed |= bool(result.failures)
    return int(failed)


def _show(name: str, seed: int, failures: list[Failure]) -> None:
    """Show one failure of each kind, which is told by its last line."""
    kinds = {failure.what.strip().splitlines()[-1][:60]: failure for failure in failures}
    for failure in kinds.values():
        print(f"\n  python -m fuzz {name} --seed {seed} --first {failure.number} --tries 1")
        print("".join(f"    {line}\n" for line in failure.what.strip().splitlines()[-30:]))


if __name__ == "__main__":
    sys.exit(main())
