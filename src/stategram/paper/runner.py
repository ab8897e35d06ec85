"""The paper's four tables on any text, and what goes beyond them."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from stategram.contexts import file_of_tags
from stategram.errors import StategramError, UsageError
from stategram.paper.published import VOCABULARY_SIZE
from stategram.paper.results import FORMAT, Reproduction
from stategram.paper.rows import Sizes, rows_for, sizes_for
from stategram.paper.run import Clock, Run
from stategram.paper.texts import Source, Texts, input_file, read_texts
from stategram.progress import Progress
from stategram.recipes.training import LOW_COVERAGE, TagSource, Training
from stategram.storage import Store, content_key, is_fresh, is_store
from stategram.text import Corpus, FormatOverride

_log = logging.getLogger(__name__)
_WORK = "work"
# Of every store of a reproduction: what a run is of is checked by its identity.
_KEY = content_key("reproduction", FORMAT)
_TEXTS = {"train": "the training text", "heldout": "the held-out text", "test": "the test text"}
_VOCABULARY, _READING = "the vocabulary", "how the texts are read"
_TAGS = "the tags"
_IDENTITY = content_key("what a reproduction is of")

Identity = dict[str, str | None]
"""What makes a run what it is, by what it is called in messages."""


def reproduce(
    train: Source,
    heldout: Source,
    test: Source,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    text_format: FormatOverride = None,
    vocabulary_size: int | None = VOCABULARY_SIZE,
    seed: int = 0,
    seeds: int = 1,
    progress: Progress | None = None,
) -> Reproduction:
    """Compute the four tables of Ueberla and Gransden (1996) for a text, and a fifth that goes beyond them.

    Parameters
    ----------
    train, heldout, test
        Names of files with one sentence per line, or corpora; nothing of one may be in another.
    folder
        Where the tables are written. An unfinished run in it with the same texts and options is continued.
    scale
        How many clusters: ``paper``, ``quick`` (by the size of the text), or a factor such as 0.1. By
        default ``paper`` for more than 10 million words, else ``quick``.
    tags
        ``brill``, a file of tags, or ``none``: then there is no table 2. By default ``brill`` if its lexicon
        is installed. Table 2 may be added to a folder without it.
    text_format, vocabulary_size
        How files are read, as in `read_corpus`.
    seed, seeds
        The seed of all annealing; how many seeds to train with, from that one on: rows that depend on them
        have a mean and a standard deviation too.
    progress
        Called with the fraction done and a few words.

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
    began = Clock.now()
    texts = read_texts(
        train,
        heldout,
        test,
        text_format,
        vocabulary_size=vocabulary_size,
    )
    return reproduce_texts(
        texts,
        folder,
        scale=scale,
        tags=tags,
        seed=seed,
        seeds=seeds,
        progress=progress,
        began=began,
    )


def reproduce_texts(
    texts: Texts,
    folder: str | os.PathLike[str],
    *,
    scale: str | float | None = None,
    tags: str | None = None,
    seed: int = 0,
    seeds: int = 1,
    progress: Progress | None = None,
    command: str = "stategram.reproduce",
    began: Clock | None = None,
) -> Reproduction:
    """Do what `reproduce` does with texts that are read already; `began`: when reading them began."""
    check_folder(folder)
    began = began or Clock.now()
    reading_seconds = time.monotonic() - began.wall
    if seeds < 1:
        raise UsageError(f"{seeds} seeds; give at least one")
    train = texts.train
    training = Training(train, texts.heldout, seed=seed)
    source, no_tags = _tags(tags, training)
    if source is not None and (name := file_of_tags(source)):
        texts = replace(texts, inputs=(*texts.inputs, input_file("tags", name)))
    sizes = sizes_for(scale, train.n_events - train.n_sentences, train.n_events)
    _log.info("%s", sizes)
    rows = {row.key: row.resolve(train) for row in rows_for(sizes, source)}
    # What depends on the texts alone is shared.
    others = [replace(training, seed=seed + i, _classes={}, _contexts=None) for i in range(1, seeds)]
    run = Run(Path(folder), texts, (training, *others), rows, sizes.scale, source, no_tags, command, began)
    with Store.open(run.folder / _WORK, _KEY, kind="reproduction") as store:
        _check_identity(store, run.folder, _identity_of(texts, sizes, seed, source))
        for one in run.trainings:
            one.store = store
        if (kept := run.finished_tables()) is not None:
            _log.info("%s is finished: nothing is computed again", run.folder)
            return kept
        training.shared_seconds["reading"] = reading_seconds
        return run.run(progress)


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be written, or that holds something else, before anything is read."""
    path = Path(folder)
    if not os.fspath(folder).strip():
        raise UsageError("the name of the output is empty; give a folder")
    if path.exists() and not path.is_dir():
        raise UsageError(f"the output {path} is a file; give the name of a folder")
    others = [entry for entry in path.iterdir() if entry.name != _WORK] if path.exists() else []
    if not is_store(path / _WORK) and (others or not is_fresh(path / _WORK)):
        raise UsageError(f"{path} exists and is not a reproduction; choose another folder")
    if not path.absolute().parent.is_dir():
        raise StategramError(
            f"cannot write {path}: there is no folder {path.absolute().parent}; make it first"
        )


def _tags(given: str | None, training: Training) -> tuple[str | None, str | None]:
    """Return the source of the tags, or why there is none.

    By default it is that of English, if it is installed and fits the text.
    """
    if given == "none":
        return None, "none were asked for"
    source = given or ("brill" if find_spec("textblob") is not None else None)
    if source is None:
        _log.info(
            "no tags, so no table 2; to have it: "
            'pip install "stategram[tags]", or give a file of words and tags (--tags FILE)'
        )
        return None, "no tagger is installed (stategram[tags]), and no file of tags was given"
    found = training.tags(TagSource(source))
    if given is None and found.coverage < LOW_COVERAGE:
        _log.info("so there is no table 2; to have it: --tags FILE, or --tags brill all the same")
        return None, f"tags of English cover only {found.coverage:.1%} of the training text"
    return source, None


def _identity_of(texts: Texts, sizes: Sizes, seed: int, tags: str | None) -> Identity:
    """Return what makes a run what it is."""
    corpora = {"train": texts.train, "heldout": texts.heldout, "test": texts.test}
    found: Identity = {}
    for use, name in _TEXTS.items():
        files = [one.sha256 for one in texts.inputs if one.use == use]
        found[name] = content_key(files) if files else _content(corpora[use])
    found[_VOCABULARY] = content_key(texts.train.vocabulary.to_bytes())
    found[_READING] = content_key([_content(corpus) for corpus in corpora.values()])
    found["the scale"] = str(sizes)
    found["the seed"] = str(seed)
    tag_files = [one.sha256 for one in texts.inputs if one.use == "tags"]
    found[_TAGS] = tags if not tag_files else f"{tags} ({content_key(tag_files)[:8]})"
    return found


def _check_identity(store: Store, folder: Path, now: Identity) -> None:
    """Refuse a folder that belongs to another run; UsageError says what is different.

    Tags may come later: rows without tags are the same.
    """
    before: Identity | None = store.get_json("identity", _IDENTITY)
    if before is not None:
        different = [name for name in now if before.get(name) != now[name]]
        # From other texts follow other words.
        if any(name in different for name in _TEXTS.values()):
            different = [name for name in different if name not in (_VOCABULARY, _READING)]
        elif _VOCABULARY in different:
            different = [name for name in different if name != _READING]
        if before.get(_TAGS) is None:
            different = [name for name in different if name != _TAGS]
        if different:
            verb = "differ" if different[1:] or different == [_TAGS] else "differs"
            raise UsageError(
                f"{folder} belongs to another reproduction: {_list(different, before, now)} {verb}; give the "
                "same, or choose another folder"
            )
    if before != now:
        store.put_json("identity", _IDENTITY, now)


def _content(corpus: Corpus) -> str:
    return content_key(corpus.ids, corpus.sentence_starts, corpus.document_starts)


def _list(names: list[str], before: Identity, now: Identity) -> str:
    values = [
        f"{name} ({before.get(name) or 'none'} before, {now[name] or 'none'} now)"
        if name in ("the seed", "the scale", _TAGS)
        else name
        for name in names
    ]
    return ", ".join(values[:-1]) + (" and " if len(values) > 1 else "") + values[-1]
