"""The model of many tasks, opened once in each process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from stategram.errors import StategramError
from stategram.formats import open_model
from stategram.models import Model
from stategram.storage import archive_digest, file_sha256, is_archive


@dataclass(frozen=True)
class ModelSource:
    """A model that tasks open: its file, what distinguishes it from others, and how it is opened."""

    name: str
    digest: str
    verify: bool
    history: str

    @classmethod
    def of(cls, name: str, *, verify: bool, history: str) -> ModelSource:
        """Return a model as it is now."""
        return cls(name, _digest(name), verify, history)

    def open(self) -> Model:
        """Return the model, kept from the task before if it is the same; it must not have changed."""
        if _digest(self.name) != self.digest:
            raise StategramError(
                f"{self.name} is not the model that the command has opened; give it a name under which all "
                "workers find the same files, and do not change it meanwhile"
            )
        if self not in _kept:
            self.keep(open_model(self.name, verify=self.verify).with_history(self.history))
        return _kept[self]

    def keep(self, model: Model) -> None:
        """Keep a model for the next tasks of this process, in place of the one before."""
        _kept.clear()
        _kept[self] = model


_kept: dict[ModelSource, Model] = {}


def _digest(name: str) -> str:
    is_ours = is_archive(name)
    if is_ours is None:
        raise StategramError(f"{name}: no such model; give it a name under which all workers find it")
    if is_ours:
        return archive_digest(name)
    found = Path(name).stat()
    return _file_digest(name, (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino))


@lru_cache(maxsize=4)
def _file_digest(name: str, state: tuple[int, ...]) -> str:
    """Return the SHA-256 of an ARPA file, which is read again once its size, times or inode have changed."""
    return file_sha256(Path(name))
