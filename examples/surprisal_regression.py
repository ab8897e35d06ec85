"""Regress reading times on surprisal, which `stategram.surprisal` returns as columns.

Reading times are simulated here: each word takes some milliseconds for each of its letters, for each bit of
its surprisal and for each bit of the word before (spillover), and there is noise. Least squares finds these
numbers again. With times of your own only `simulated_times` has to go.

    python examples/surprisal_regression.py
    python examples/surprisal_regression.py train.txt items.txt
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import stategram

# Milliseconds: for any word, for each letter, for each bit, for each bit of the word before.
TRUE = {"intercept": 180.0, "length": 8.0, "surprisal": 4.0, "spillover": 2.5}
NOISE = 30.0


def main() -> None:
    """Print what least squares finds, with standard errors."""
    options = _options()
    if options.texts:
        train, items = (Path(name).read_text(encoding="utf-8").splitlines() for name in options.texts)
    else:
        train, items = made_up(3000, seed=0), made_up(1000, seed=1)
    model = stategram.NgramModel.train(train, order=3)
    table = stategram.surprisal(model, items, columns=["sentence", "position", "word", "surprisal", "length"])

    design = design_matrix(table)
    times = simulated_times(design, options.seed)
    found, errors = least_squares(design, times)
    print(f"{len(times):,} words")
    print(f"{'':<10}\tfound\terror\ttrue")
    for name, value, error in zip(TRUE, found, errors, strict=True):
        print(f"{name:<10}\t{value:.2f}\t{error:.2f}\t{TRUE[name]:.2f}")


def design_matrix(table: stategram.Table) -> NDArray[np.float64]:
    """Return one row per word that has a word before it, with the columns of `TRUE`; no sentence ends."""
    bits = np.asarray(table["surprisal_bits"])
    is_word = np.asarray(table["word"]) != "</s>"
    second_on = is_word & (np.asarray(table["position"]) > 1)
    before = np.flatnonzero(second_on) - 1
    lengths = np.ma.filled(table["length"][second_on], 0)
    return np.column_stack([np.ones(len(before)), lengths, bits[second_on], bits[before]])


def simulated_times(design: NDArray[np.float64], seed: int) -> NDArray[np.float64]:
    """Return reading times that follow `TRUE`, but for noise."""
    times = design @ np.array(list(TRUE.values()))
    return np.asarray(times + np.random.default_rng(seed).normal(0.0, NOISE, len(times)), np.float64)


def least_squares(
    design: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return coefficients and their standard errors."""
    found, *_ = np.linalg.lstsq(design, times, rcond=None)
    rest = times - design @ found
    variance = rest @ rest / (len(times) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    return np.asarray(found, np.float64), np.asarray(errors, np.float64)


def made_up(n: int, seed: int) -> list[str]:
    """Return sentences in which some words are likelier than others."""
    draw = random.Random(seed)
    nouns = "cat dog child gardener astronomer ship parliament".split()
    verbs = "saw liked followed remembered understood".split()
    ends = ["yesterday", "again", "in the evening", "near the old harbour"]

    def noun() -> str:
        adjective = draw.choice(["", "", "old ", "remarkable "])
        return f"{draw.choice(['the', 'a'])} {adjective}{draw.choices(nouns, range(len(nouns), 0, -1))[0]}"

    def one() -> str:
        verb = draw.choices(verbs, range(len(verbs), 0, -1))[0]
        return " ".join([noun(), verb, noun(), *([draw.choice(ends)] if draw.random() < 0.5 else [])])

    return [one() for _ in range(n)]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "texts", nargs="*", help="a text to train on, then one that is read; made up without them"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    options = parser.parse_args()
    if len(options.texts) not in (0, 2):
        parser.error("give two texts, one to train on and one that is read, or none")
    return options


if __name__ == "__main__":
    main()
