"""A model that is explored: its words in the order of frequency, its sets of classes and of states."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.explore.content import (
    ClassSet,
    StateSet,
    class_set,
    class_sources,
    state_set,
    state_sources,
    word_fractions,
)
from stategram.models import Model, ModelClasses, ModelStates
from stategram.storage import InputFile
from stategram.text import BEGIN, Corpus


@dataclass(frozen=True, eq=False)
class ExploredModel:
    """A model with what its views need; each of it is computed once, when it is first asked for.

    Parameters
    ----------
    name, model
        What the model is called, and the model.
    text
        The text that is explored, as the model reads it, with a vocabulary of its own; or None.
    manifest, n_bytes
        The manifest and the size of its file.
    files
        What was read besides a model file: an ARPA file, the text.
    history
        The history that was chosen for the model; without one the text is measured with each that it has.

    """

    name: str
    model: Model
    text: Corpus | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    n_bytes: int | None = None
    files: Sequence[InputFile] = ()
    history: str = ""
    _sets: dict[tuple[str, str], Any] = field(default_factory=dict, init=False, repr=False)
    _lock: RLock = field(default_factory=RLock, init=False, repr=False)

    @cached_property
    def fractions(self) -> NDArray[np.float64]:
        """How frequent each word is."""
        return word_fractions(self.model)

    @cached_property
    def corpus(self) -> Corpus | None:
        """The text in the vocabulary of the model."""
        return None if self.text is None else self.text.in_vocabulary(self.model.vocabulary)

    @cached_property
    def text_bits(self) -> NDArray[np.float64]:
        """The surprisal of each event of the text."""
        assert self.corpus is not None
        bits: NDArray[np.float64] = -self.model.score(self.corpus).log_probs / np.log(2.0)
        return bits

    def text_states(self, source: str) -> NDArray[np.uint32]:
        """Return the state of the context of each event of the text."""

        def make() -> NDArray[np.uint32]:
            text = self._leaf_text(source)
            assert text is not None
            return self.state_set(source).of_events(text)

        found: NDArray[np.uint32] = self.once("states of the text", source, make)
        return found

    def class_set(self, source: str) -> ClassSet:
        """Return a set of classes; UsageError if there is none of this name."""
        found: ClassSet = self.once(
            "classes", source, lambda: class_set(self.model, source, self._leaf_text(source))
        )
        return found

    def state_set(self, source: str) -> StateSet:
        """Return a set of states; UsageError if there is none of this name."""
        found: StateSet = self.once(
            "states",
            source,
            lambda: state_set(self.model, source, word_fractions(self.leaf(source)), self._leaf_text(source)),
        )
        return found

    def once(self, kind: str, source: str, make: Callable[[], Any]) -> Any:
        """Return what is made of a source when it is first asked for; UsageError if there is no such one."""
        with self._lock:  # what takes seconds is not computed twice at a time
            if (kind, source) not in self._sets:
                try:
                    self._sets[kind, source] = make()
                except KeyError as error:
                    raise UsageError(f"{self.name} has no {kind} {source!r}") from error
            return self._sets[kind, source]

    def leaf(self, source: str) -> Model:
        """Return the part of the model that a source belongs to."""
        return self.model.leaves[source.partition(":")[0]]

    def _leaf_text(self, source: str) -> Corpus | None:
        return None if self.text is None else self.text.in_vocabulary(self.leaf(source).vocabulary)

    @cached_property
    def classes(self) -> Mapping[str, ModelClasses]:
        """The sets of classes by their source."""
        return {source: one for source, (_, one) in class_sources(self.model).items()}

    @cached_property
    def states(self) -> Mapping[str, ModelStates]:
        """The sets of states by their source."""
        return {source: one for source, (_, one) in state_sources(self.model).items()}

    def words_with(self, prefix: str, weights: NDArray[np.float64], top: int) -> list[int]:
        """Return the words that begin with some letters, those of the greatest weight first."""
        if prefix:
            words, ids = self._sorted_words
            begin, end = bisect_left(words, prefix), bisect_left(words, prefix + "\U0010ffff")
            found = ids[begin:end]
        else:
            found = np.arange(len(weights))
        found = found[found != BEGIN]
        if len(found) > top:
            found = found[np.argpartition(-weights[found], top - 1)[:top]]
        return found[np.lexsort((found, -weights[found]))].tolist()  # type: ignore[no-any-return]

    @cached_property
    def _sorted_words(self) -> tuple[list[str], NDArray[np.int64]]:
        words = self.model.vocabulary.words
        order = sorted(range(len(words)), key=words.__getitem__)
        return [words[id] for id in order], np.array(order, np.int64)
