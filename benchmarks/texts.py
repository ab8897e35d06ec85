"""The texts to measure on."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.measure import BenchmarkError, show, step


@dataclass(frozen=True)
class Texts:
    """A training and a test text, one sentence per line, and a folder for derived files."""

    train: Path
    test: Path | None
    folder: Path
    name: str


def given_texts(train: Path | None, test: Path | None, folder: Path) -> Texts:
    """Take the files given, or else the State of the Union addresses."""
    for file in (train, test):
        if file is not None and not file.is_file():
            raise BenchmarkError(f"{file}: there is no such file; --train and --test are files of text")
    if train is not None:
        return Texts(train, test, folder, str(train))
    if test is not None:
        raise BenchmarkError("--test was given without --train; give both, or neither")
    show("Writing the State of the Union addresses")
    train, test = folder / "sotu-train.txt", folder / "sotu-test.txt"
    step("write_sotu", train, test)
    return Texts(train, test, folder, "State of the Union addresses")


def with_vocabulary(texts: Texts, size: int | None) -> Path:
    """Return the training text with its `size` most frequent words, the others ``<unk>``, for all alike."""
    if size is None:
        return texts.train
    return Path(step("cut_vocabulary", texts.train, size, texts.folder / f"train-{size}.txt"))


def first_part(text: Path, fraction: float, folder: Path) -> Path:
    """Return the first lines of a text, as a file."""
    if fraction == 1:
        return text
    with text.open("rb") as lines:
        total = sum(1 for _ in lines)
    place = folder / f"{fraction:g}-{text.name}"
    with text.open("rb") as lines, place.open("wb") as part:
        part.writelines(islice(lines, max(1, round(total * fraction))))
    return place


def describe(*texts: Path) -> list[dict[str, Any]]:
    """Return the bytes, sentences, events and distinct words of each text."""
    found: list[dict[str, Any]] = step("describe", *texts)
    return found
