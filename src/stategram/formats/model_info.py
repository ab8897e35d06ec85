"""What a model on disk is, how large its files are and how it was made; nothing of it is verified."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from stategram.counts import Blobs, is_counts, open_counts
from stategram.errors import BadDataError, StategramError
from stategram.formats.class_files import read_classes
from stategram.models import Model, model_of
from stategram.storage import Archive, is_archive, open_archive
from stategram.text import display_name, read_blocks

# Headers of ARPA files are short; this much text may come before one.
_LONGEST_HEADER = 1 << 20
_HEADER = re.compile(rb"^\\data\\[ \t\r]*$(.*?)^\\1-grams:", re.MULTILINE | re.DOTALL)
_COUNT = re.compile(rb"^ngram[ \t]+(\d+)[ \t]*=[ \t]*(\d{1,18})[ \t\r]*$", re.MULTILINE)


@dataclass(frozen=True)
class ModelInfo:
    """What a model, a part of one, or a class file is.

    Parameters
    ----------
    kind
        The kind of model, such as ``ngram`` or ``mixture``; ``arpa`` and ``classes`` for files.
    title
        The same in a few words.
    facts
        What is in it, by label.
    ngrams
        How many n-grams of 1, 2, ... words it has; empty if it has none by length.
    bytes
        The size of the file, of a part that of its arrays; None if unknown.
    made
        How it was made, as far as it is known: ``inputs``, ``options``, ``figures``, ``seed``,
        ``stategram_version``.
    parts
        The models that it is made of.

    """

    kind: str
    title: str
    facts: Mapping[str, str | int | float]
    ngrams: tuple[int, ...] = ()
    bytes: int | None = None
    made: Mapping[str, Any] | None = None
    parts: tuple[ModelInfo, ...] = ()

    @property
    def n_ngrams(self) -> int:
        """The number of n-grams of all lengths, or of contexts with a follower."""
        known = self.facts.get("N-grams", 0)
        return sum(self.ngrams) or (known if isinstance(known, int) else 0)

    @property
    def bytes_per_ngram(self) -> float | None:
        """The size divided by the number of n-grams; None if it has none."""
        return self.bytes / self.n_ngrams if self.bytes is not None and self.n_ngrams else None


def model_info(path: str | os.PathLike[str]) -> ModelInfo:
    """Return what a model file, an ARPA file or a class file is, without reading all of it.

    Parameters
    ----------
    path
        The file; ``-`` is stdin. Of an ARPA file only the header is read.

    Examples
    --------
    >>> import tempfile
    >>> from stategram import NgramModel
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     NgramModel.train(["the cat sat"], order=2).save(f"{folder}/model")
    ...     info = model_info(f"{folder}/model")
    >>> info.title, info.ngrams, info.facts["Words"]
    ('2-gram model, kneser-ney', (6, 4), 6)

    """
    name = os.fspath(path)
    is_ours = name != "-" and is_archive(path)
    if is_ours is None:
        raise StategramError(f"{path}: no such model; expected a model file, an ARPA file or a class file")
    if is_ours:
        return _archive_info(Path(path))
    return _counts_info(name) if Path(name).is_dir() and is_counts(name) else _text_info(name)


def _archive_info(path: Path) -> ModelInfo:
    archive = open_archive(path, kind=None, verify=False)
    manifest = archive.manifest
    made = {
        key: manifest[key]
        for key in ("inputs", "figures", "seed", "stategram_version", "format_version")
        if key in manifest
    }
    if manifest["kind"] != "model":
        kind = str(manifest["kind"])
        return ModelInfo(kind, kind, {}, (), archive.bytes, made)
    info = _model_info(model_of(archive), archive)
    return replace(info, made={**(info.made or {}), **made})


def _model_info(model: Model, archive: Archive) -> ModelInfo:
    described = model.describe()
    lengths = [table for table in described.tables if table.title.startswith("N-grams by")]
    facts = {"Order": model.order, "Words": len(model.vocabulary), "Parameters": model.parameters}
    return ModelInfo(
        model.kind,
        model.title,
        {**facts, **dict(described.facts)},
        tuple(int(row[1].value or 0) for table in lengths for row in table.rows),
        archive.bytes,
        {"options": model.options},
        tuple(_model_info(part, of) for part, of in zip(model.parts, archive.parts(), strict=False)),
    )


def _counts_info(name: str) -> ModelInfo:
    counts = open_counts(name)
    figures = {
        "order": counts.order,
        "events": counts.n_events,
        "sentences": counts.n_sentences,
        "unknown": counts.n_unknown,
    }
    kept = counts.manifest
    words = {"vocabulary_size": kept.vocabulary_size, "vocabulary_file": kept.vocabulary_file}
    options = {**words, **kept.text_format.remembered}
    made = {"inputs": [asdict(file) for file in kept.inputs], "figures": figures, "options": options}
    n_bytes = sum(size for file, size in Blobs(name).sizes().items() if file in kept.files)
    return ModelInfo("counts", "counts of n-grams", {"Words": len(counts.vocabulary)}, (), n_bytes, made)


def _text_info(name: str) -> ModelInfo:
    head = b""
    for block, _ in read_blocks(name):
        head += block
        if b"\\1-grams:" in head or len(head) > _LONGEST_HEADER:
            break
    size = Path(name).stat().st_size if name != "-" else None
    header = _HEADER.search(head)
    if header is not None:
        counts = [(int(order), int(count)) for order, count in _COUNT.findall(header[1])]
        if [order for order, _ in counts] != list(range(1, len(counts) + 1)) or not counts:
            raise BadDataError(
                f"{display_name(name)}: the header of this ARPA file is damaged; expected lines such as "
                "'ngram 1=5000' for each length of n-grams: make or fetch it again"
            )
        sizes = tuple(count for _, count in counts)
        facts = {"Order": len(sizes), "Words": sizes[0], "N-grams": sum(sizes)}
        return ModelInfo("arpa", f"{len(sizes)}-gram model in an ARPA file", facts, sizes, size)
    if name == "-":
        raise BadDataError("<stdin>: no ARPA file; class files are read by their name")
    try:
        classes = read_classes(name)
    except BadDataError as error:
        raise BadDataError(
            f"{name}: neither a model file, nor an ARPA file, nor a class file; as a class file: {error}"
        ) from error
    sizes_of = Counter(classes.values())
    facts = {"Words": len(classes), "Classes": len(sizes_of), "Words of the largest": max(sizes_of.values())}
    return ModelInfo("classes", "word classes", facts, (), size)
