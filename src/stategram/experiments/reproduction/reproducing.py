"""The paper's four tables on any text, and what goes beyond them."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from typing import Literal

from stategram.contexts import TagMap, file_of_tags, parse_tags
from stategram.experiments.reproduction.assembly import Request, assemble
from stategram.experiments.reproduction.making import Making
from stategram.experiments.reproduction.plan import RowPlan, in_running_order, keys_of_parts, plan_rows
from stategram.experiments.reproduction.results import Reproduction
from stategram.experiments.reproduction.sizes import sizes_for
from stategram.experiments.reproduction.steps import RowSteps, TimeLeft
from stategram.experiments.reproduction.texts import Source, Texts, input_file, read_texts
from stategram.experiments.reproduction.work_folder import WorkFolder, check_folder
from stategram.experiments.summaries import LOW_COVERAGE, coverage_line
from stategram.resources import Resources
from stategram.storage import add_arrays
from stategram.text import Vocabulary
from stategram.wording import printable

VOCABULARY_SIZE = 20_000
"""The paper's number of words."""


def reproduce(
    train: Source,
    heldout: Source,
    test: Source,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    vocabulary_size: int | None = VOCABULARY_SIZE,
    lowercase: bool = False,
    digits: str | None = None,
    encoding_errors: Literal["strict", "replace"] = "strict",
    seed: int = 0,
    steps: RowSteps | None = None,
) -> Reproduction:
    """Make the four tables of Ueberla and Gransden (1996) for a text, and a fifth one that goes beyond them.

    Parameters
    ----------
    train, heldout, test
        Names of files with a sentence a line, or corpora; nothing of one may be in another.
    folder
        Where the tables are written. Is it that of a run with the same texts and options which has not come
        to its end, then that is gone on with.
    scale
        How many clusters: ``paper``, ``quick`` (by the size of the text), or a factor such as 0.1. By
        default ``paper`` for more than 10 million words, else ``quick``.
    tags
        ``brill`` or a file of tags. By default ``brill`` if its lexicon is installed; else there is no
        table 2.
    vocabulary_size, lowercase, digits, encoding_errors
        How files are read, as in `read_corpus`.
    seed
        Of all annealing.
    steps
        Is told of each step.

    Examples
    --------
    >>> import tempfile
    >>> from stategram import corpus_from_sentences, reproduce
    >>> train = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> heldout, test = (corpus_from_sentences([one]) for one in ("the cat ran", "a dog sat"))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     found = reproduce(train, heldout, test, f"{place}/out")
    >>> found.complete, found.rows[0].key
    (True, 'w-1 500,500')

    """
    check_folder(folder)
    started = time.monotonic()
    steps = steps or RowSteps()
    with steps.step("reading") as report:
        texts = read_texts(
            train,
            heldout,
            test,
            vocabulary_size=vocabulary_size,
            lowercase=lowercase,
            digits=digits,
            encoding_errors=encoding_errors,
            progress=report,
        )
    return reproduce_texts(
        texts,
        folder,
        scale=scale,
        tags=tags,
        seed=seed,
        steps=steps,
        reading_seconds=time.monotonic() - started,
    )


def reproduce_texts(
    texts: Texts,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    seed: int = 0,
    steps: RowSteps | None = None,
    command: str = "stategram.reproduce",
    reading_seconds: float = 0.0,
) -> Reproduction:
    """Do what `reproduce` does with texts that are read already."""
    steps = steps or RowSteps()
    started = time.monotonic()
    source, tag_map = _tags(tags, texts.train.vocabulary, steps)
    if source is not None and (name := file_of_tags(source)):
        texts = Texts(texts.train, texts.heldout, texts.test, (*texts.inputs, input_file("tags", name)))
    tag_seconds = time.monotonic() - started
    train = texts.train
    sizes = sizes_for(scale, train.n_events - train.n_sentences, train.n_events)
    steps.say(f"      {sizes}")
    plan = plan_rows(sizes, tags=tag_map is not None)
    request = Request(
        texts,
        plan,
        sizes.scale,
        printable(source) if source else None,
        None if tag_map is None else tag_map.coverage,
        seed,
        Resources.current().threads,
        printable(command),
    )
    with WorkFolder.open(folder, _fingerprint(texts, tag_map, plan, seed)) as run:
        kept = run.tables()
        if kept is not None and kept.complete:
            steps.say(f"      {run.path} is finished: nothing is computed again")
            run.forget_models()
            return kept
        run.spend(reading=reading_seconds, tags=tag_seconds)
        making = Making(texts, tag_map, run, keys_of_parts(plan), seed, steps)
        return _make_rows(request, making, run, steps)


def _tags(
    given: str | None, vocabulary: Vocabulary, steps: RowSteps
) -> tuple[str, TagMap] | tuple[None, None]:
    """Give the tags and where they are from; those of English, if nothing is said and they fit the text."""
    source = given or ("brill" if find_spec("textblob") is not None else None)
    if source is None:
        steps.say(
            "      no tags, so no table 2; to have it: "
            'pip install "stategram[tags]", or give a file of words and tags (--tags FILE)'
        )
        return None, None
    found = parse_tags(source, vocabulary)
    steps.say(f"      tags ({source}): {coverage_line(found).strip()}")
    if given is None and found.coverage < LOW_COVERAGE:
        steps.say("      so there is no table 2; to have it: --tags FILE, or --tags brill all the same")
        return None, None
    return source, found


def _make_rows(request: Request, making: Making, folder: WorkFolder, steps: RowSteps) -> Reproduction:
    """Make what is missing, row by row; what is there can be looked at any time."""
    order = in_running_order(request.plan)
    rows = {plan.key: row for plan in order if (row := folder.row(plan.key)) is not None}
    left = TimeLeft(order, request.texts.train.n_events)
    for row in rows.values():
        left.finished(row.key, row.seconds)
    steps.planned(order, list(rows.values()), left)
    for plan in order:
        if plan.key not in rows:
            row = rows[plan.key] = making.make(plan)
            left.finished(row.key, row.seconds)
            if len(rows) < len(order):
                folder.write_tables(assemble(request, rows, folder))
            steps.finished(row)
    found = assemble(request, rows, folder)
    folder.write_tables(found)
    folder.forget_models()
    return found


def _fingerprint(texts: Texts, tags: TagMap | None, plan: Sequence[RowPlan], seed: int) -> str:
    """Give what tells a reproduction from all others: what goes into it, but not how it is called or run."""
    rows = [{name: value for name, value in asdict(row).items() if name != "title"} for row in plan]
    digest = hashlib.sha256(json.dumps([rows, seed], sort_keys=True).encode())
    texts.add_to(digest)
    if tags is not None:
        digest.update(json.dumps(tags.tags).encode())
        add_arrays(digest, [tags.labels])
    return digest.hexdigest()
