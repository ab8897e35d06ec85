"""The two models of a selection: opened, or trained on texts with one vocabulary."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from stategram.errors import BadDataError, UsageError
from stategram.formats import has_arpa_name, open_model
from stategram.models import Model, NgramModel
from stategram.progress import Progress, subprogress
from stategram.resources import Resources
from stategram.scoring import ModelSource, keep_models
from stategram.selection.criterion import Criterion, check_history
from stategram.selection.sampling import SampleTask, sample_file
from stategram.storage import is_archive, shared_file
from stategram.tables import PoolFile
from stategram.text import (
    SPECIAL_WORDS,
    Corpus,
    FormatOverride,
    TextFormat,
    Vocabulary,
    read_blocks,
    read_corpus,
)
from stategram.wording import plural

_log = logging.getLogger(__name__)

# What words seen once in the in-domain text have in common is what <unk> stands for in both models.
_MIN_COUNT = 2
# The bytes of a word in most texts, and of a sample beside a model whose training text is not known.
_BYTES_PER_WORD, _SAMPLE_BYTES = 6, 6_000_000

Result = TypeVar("Result")


def common_format(models: Sequence[Model], given: FormatOverride) -> TextFormat:
    """Return how texts are read for all models."""
    trained = [model.text_format for model in models] or [TextFormat()]
    found = [one.override(given) for one in trained]
    one, other = found[0].normalization, found[-1].normalization
    if one != other:
        values = ((name, getattr(one, name), getattr(other, name)) for name in one.__struct_fields__)
        different = {
            name: f"{name} is {first} and {second}" for name, first, second in values if first != second
        }
        raise UsageError(
            f"the two models read text differently: {', '.join(different.values())}; train them alike, or "
            f"set {' and '.join(different)}"
        )
    return found[0].override({"document_mark": None})  # rows are documents of their own


@dataclass(frozen=True)
class Preparation:
    """What the models of a selection are made of.

    Parameters
    ----------
    place
        A folder for temporary files, which all workers see.
    files
        The pool.
    text_format
        How texts are read, as far as it is given.
    text_column
        The column of the texts in tables.
    order
        The length of the n-grams of models that are trained.
    seed
        That of the random sample.
    verify
        Verify the checksums of models.

    """

    place: Path
    files: Sequence[PoolFile]
    text_format: FormatOverride
    text_column: str = "text"
    order: int = 3
    seed: int = 0
    verify: bool = True

    def criterion(
        self,
        in_domain: Model | str | os.PathLike[str],
        general: Model | str | os.PathLike[str] | None,
        *,
        sampled: bool,
        progress: Progress | None = None,
    ) -> Criterion:
        """Open the models, or train them; without general text, on a sample of the pool if `sampled`."""
        sources = {"in-domain": in_domain} | ({} if general is None else {"general": general})
        models = {name: self._opened(source) for name, source in sources.items()}
        opened = {name: model for name, model in models.items() if model is not None}
        for name, model in opened.items():
            check_history(model, name)
        text_format = common_format(list(opened.values()), self.text_format)
        vocabulary = next((model.vocabulary for model in opened.values()), None)
        n_bytes = _SAMPLE_BYTES
        if "in-domain" in opened:
            words = int(opened["in-domain"].vocabulary.counts.sum())
            n_bytes = words * _BYTES_PER_WORD or n_bytes
        else:
            corpus = self._read("in-domain", self._text_file(in_domain), text_format, vocabulary)
            n_bytes, vocabulary = corpus.stats.n_bytes, corpus.vocabulary
            opened["in-domain"] = NgramModel.train(corpus, self.order)
        if sampled and general is None:
            general = self._sample(n_bytes, progress)
        if general is not None and "general" not in opened:
            name = "general" if "general" in sources else "sampled general"
            corpus = self._read(name, self._text_file(general), text_format, vocabulary)
            opened["general"] = NgramModel.train(corpus, self.order)
        names = [name for name in ("in-domain", "general") if name in opened]
        found = [self._source(name, sources.get(name), opened[name]) for name in names]
        keep_models(dict(zip(found, (opened[name] for name in names), strict=True)))
        return Criterion(tuple(found), text_format)

    def _opened(self, source: Model | str | os.PathLike[str]) -> Model | None:
        """Return a model that is given, by its name or as it is; None if it is a text."""
        if isinstance(source, Model):
            return source
        return open_model(source, verify=self.verify) if _is_model(source) else None

    def _source(self, name: str, source: object, model: Model) -> ModelSource:
        """Return where workers open a model."""
        path = self.place / name
        if isinstance(source, str | os.PathLike) and _is_model(source):
            path = Path(source).resolve()
        else:
            model.save(path)
        return ModelSource.of(str(path), verify=False)

    def _text_file(self, source: object) -> str:
        """Return a file with the lines of a text, which can be read again; those of a table go to one."""
        assert isinstance(source, str | os.PathLike)
        file = PoolFile.of(os.fspath(source), column=self.text_column)
        if file.format == "text":
            return file.path
        path = self.place / f"{Path(file.path).name}.txt"
        with path.open("wb") as written:
            for block in file.read(texts_only=True):
                written.write(block.lines()[0].data + b"\n")
        return str(path)

    def _read(self, name: str, path: str, text_format: TextFormat, vocabulary: Vocabulary | None) -> Corpus:
        def read(min_count: int) -> Corpus:
            return read_corpus(path, text_format, vocabulary=vocabulary, min_count=min_count)

        corpus = read(_MIN_COUNT if vocabulary is None else 1)
        if len(corpus.vocabulary) == len(SPECIAL_WORDS):
            corpus = read(1)
        words = corpus.n_events - corpus.n_sentences
        if corpus.n_unknown == words:
            raise BadDataError(
                f"the {name} text has no word of the vocabulary ({len(corpus.vocabulary):,} words); check "
                "that both have the same language, case and tokenization"
            )
        _log.info(
            "%s text: %s, %.1f%% unknown to a vocabulary of %s",
            name,
            plural(words, "word"),
            100 * corpus.n_unknown / words,
            plural(len(corpus.vocabulary) - len(SPECIAL_WORDS), "word"),
        )
        return corpus

    def _sample(self, n_bytes: int, progress: Progress | None) -> str:
        """Return a file with a random sample of the pool, from each file in proportion to its size."""
        total = sum(file.size for file in self.files) or 1
        tasks = [
            SampleTask(
                file,
                max(1, n_bytes * file.size // total),
                (self.seed, number),
                str(self.place / f"sample-{number}"),
            )
            for number, file in enumerate(self.files)
        ]
        path = self.place / "sample.txt"
        has_words = False
        with path.open("wb") as written:
            for drawn in map_files(sample_file, tasks, self.files, progress):
                sample = shared_file(drawn).read_bytes()
                has_words = has_words or bool(sample.strip())
                # Bad bytes are refused where they are, when the pool is scored.
                written.write(sample.decode(errors="replace").replace("\0", "\ufffd").encode())
        if not has_words:
            raise no_words(self.files)
        return str(path)


def pool_name(files: Sequence[PoolFile]) -> str:
    """Return what messages call a pool."""
    return ", ".join(file.name for file in files[:3]) + (", ..." if len(files) > 3 else "")


def no_words(files: Sequence[PoolFile]) -> BadDataError:
    """Return the error for a pool without words."""
    return BadDataError(f"no words in {pool_name(files)}; expected one text per row")


def map_files(
    function: Callable[..., Result],
    tasks: Sequence[object],
    files: Sequence[PoolFile],
    progress: Progress | None,
) -> Iterator[Result]:
    """Yield the result of each task, one per file, in order; computed by the executor, if there is one."""
    resources = Resources.current()
    total, done = sum(file.size for file in files) or 1, 0
    if resources.executor is None:
        for task, file in zip(tasks, files, strict=True):
            of_file = subprogress(progress, done / total, (done + file.size) / total)
            yield function(task, progress=of_file)
            done += file.size
        return
    for file, result in zip(files, resources.map(function, tasks), strict=True):
        yield result
        done += file.size
        if progress is not None:
            progress(done / total, f"{file.name}")


def _is_model(source: str | os.PathLike[str]) -> bool:
    """Whether a name is that of a model file or an ARPA file, and not of a text."""
    name = os.fspath(source)
    if is_archive(name) or has_arpa_name(name):
        return True
    return next(read_blocks(name), (b"", 0))[0].lstrip().startswith(b"\\data\\")
