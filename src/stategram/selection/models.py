"""The models of a selection: opened, or trained on texts with one vocabulary."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.formats import has_arpa_name, open_model
from stategram.models import Model, NgramModel
from stategram.progress import Progress
from stategram.selection.pool import PoolFile, each_file, no_words
from stategram.storage import is_archive
from stategram.text import (
    SPECIAL_WORDS,
    Corpus,
    FormatOverride,
    TextFormat,
    Vocabulary,
    read_blocks,
    read_corpus,
)

_log = logging.getLogger(__name__)

# What words seen once in the in-domain text have in common is what <unk> stands for in both models.
_MIN_COUNT = 2
# The bytes of a word in most texts, and of a sample beside a model whose training text is not known.
_BYTES_PER_WORD, _SAMPLE_BYTES = 6, 6_000_000


def prepare_models(
    sources: Mapping[str, Model | str | os.PathLike[str] | None],
    pool: Sequence[PoolFile],
    folder: Path,
    *,
    text_format: FormatOverride,
    seed: int,
    verify: bool,
    progress: Progress | None = None,
) -> tuple[list[Model], TextFormat]:
    """Return the models of ``in-domain`` and ``general``, those of texts trained, and how rows are read.

    General text that is None is a random sample of the pool. `folder` is for temporary files.
    """
    models = {name: _opened(source, verify) for name, source in sources.items()}
    opened = [model for model in models.values() if model is not None]
    for name, model in models.items():
        if model is not None and model.looks_back:
            raise UsageError(
                f"{name}: {model!r} looks back beyond the sentence, so that a score would depend on the rows "
                "before; use a model without a cache"
            )
    reading = _common_format(opened, text_format)
    vocabulary = opened[0].vocabulary if opened else None
    n_bytes = _SAMPLE_BYTES
    for name, source in sources.items():
        model = models[name]
        if model is None:
            if source is None:
                sample = _sample(pool, n_bytes, seed, folder, progress)
                corpus = _read("sampled general", sample, reading, vocabulary)
            else:
                assert not isinstance(source, Model)
                corpus = _read(name, os.fspath(source), reading, vocabulary)
            vocabulary, n_bytes = corpus.vocabulary, corpus.stats.n_bytes
            models[name] = NgramModel.train(corpus)
        elif words := int(model.vocabulary.counts.sum()):
            n_bytes = words * _BYTES_PER_WORD
    return [model for model in models.values() if model is not None], reading


def _opened(source: Model | str | os.PathLike[str] | None, verify: bool) -> Model | None:
    """Return a model that is given, by its name or as it is; None if it is a text."""
    if source is None or isinstance(source, Model):
        return source
    name = os.fspath(source)
    if is_archive(name) or has_arpa_name(name):
        return open_model(name, verify=verify)
    start = next(read_blocks(name), (b"", 0))[0]
    return open_model(name, verify=verify) if start.lstrip().startswith(b"\\data\\") else None


def _common_format(models: Sequence[Model], given: FormatOverride) -> TextFormat:
    """Return how texts are read for all models."""
    formats = [model.text_format.override(given) for model in models] or [TextFormat().override(given)]
    one, other = formats[0].normalization, formats[-1].normalization
    if one != other:
        values = ((name, getattr(one, name), getattr(other, name)) for name in one.__struct_fields__)
        different = {name: f"{name} is {a} and {b}" for name, a, b in values if a != b}
        raise UsageError(
            f"the two models read text differently: {', '.join(different.values())}; train them alike, or "
            f"set {' and '.join(different)}"
        )
    return formats[0].override({"document_mark": None})  # rows are documents of their own


def _read(name: str, path: str, text_format: TextFormat, vocabulary: Vocabulary | None) -> Corpus:
    corpus = read_corpus(
        path, text_format, vocabulary=vocabulary, min_count=_MIN_COUNT if vocabulary is None else 1
    )
    if len(corpus.vocabulary) == len(SPECIAL_WORDS):
        corpus = read_corpus(path, text_format, vocabulary=vocabulary)
    words = corpus.n_events - corpus.n_sentences
    if corpus.n_unknown == words:
        raise BadDataError(
            f"the {name} text has no word of the vocabulary ({len(corpus.vocabulary):,} words); check that "
            "both have the same language, case and tokenization"
        )
    _log.info(
        "%s text: %s, %.1f%% unknown to a vocabulary of %s",
        name,
        plural(words, "word"),
        100 * corpus.n_unknown / words,
        plural(len(corpus.vocabulary) - len(SPECIAL_WORDS), "word"),
    )
    return corpus


def _sample(
    pool: Sequence[PoolFile], n_bytes: int, seed: int, folder: Path, progress: Progress | None
) -> str:
    """Return a file with a random sample of the pool, from each file in proportion to its size."""
    total = sum(file.size for file in pool) or 1
    samples = (
        sample_texts(file, max(1, n_bytes * file.size // total), (seed, number), of_file)
        for number, (file, of_file) in enumerate(each_file(pool, progress))
    )
    path = folder / "sample.txt"
    with path.open("wb") as written:
        for texts in samples:
            # Bad bytes are refused where they are, when the pool is scored.
            sample = b"".join(text + b"\n" for text in texts).decode(errors="replace")
            written.write(sample.replace("\0", "\ufffd").encode())
    if not path.read_bytes().strip():
        raise no_words(pool)
    return str(path)


def sample_texts(
    file: PoolFile, n_bytes: int, seed: tuple[int, int], progress: Progress | None = None
) -> list[bytes]:
    """Return the texts of random rows of a file, about `n_bytes` of them, in one pass and in their order.

    Each row has a random number; those with the lowest ones are the sample. As soon as it is twice too large,
    it is cut, and rows above its highest number are skipped from then on.
    """
    random = np.random.default_rng(seed)
    numbers = np.zeros(0)
    texts: list[bytes] = []
    limit, size = 1.0, 0
    for block in file.read(progress, texts_only=True):
        drawn = random.random(len(block.texts))
        new = np.flatnonzero(drawn < limit)
        numbers = np.append(numbers, drawn[new])
        texts += [block.texts[i] for i in new.tolist()]
        size += sum(len(block.texts[i]) for i in new.tolist())
        if size > 2 * n_bytes:
            numbers, texts = _lowest(numbers, texts, n_bytes)
            limit, size = float(numbers.max(initial=0.0)), sum(map(len, texts))
    return _lowest(numbers, texts, n_bytes)[1]


def _lowest(
    numbers: NDArray[np.float64], texts: list[bytes], n_bytes: int
) -> tuple[NDArray[np.float64], list[bytes]]:
    """Return the texts with the lowest numbers until they have `n_bytes`, in their order."""
    order = np.argsort(numbers, kind="stable")
    sizes = np.cumsum([len(texts[i]) for i in order.tolist()])
    chosen = np.sort(order[: int(np.searchsorted(sizes, n_bytes, "left")) + 1])
    return numbers[chosen], [texts[i] for i in chosen.tolist()]
