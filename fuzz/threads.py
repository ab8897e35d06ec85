"""Many threads at work on the same models, and kernels with threads of their own."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from fuzz.campaign import BrokenPromiseError, Campaign
from model_kinds import ALL_KINDS, VECTORS, corpora, model_of
from stategram import (
    CategoryNgramModel,
    NgramModel,
    WordClasses,
    kenlm,
    open_model,
    use_resources,
)

_THREADS = 8
_HISTORIES = ("w1", "w2 w3", "stranger w4", "")


class Threads(Campaign):
    """Each try asks one model the same questions from several threads, which train models beside it."""

    name = "threads"
    promise = "any number of threads gets what one gets; no data race under ThreadSanitizer"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.questions = [question for kind in (*ALL_KINDS, *VECTORS) for question in _questions(kind, place)]
        self.questions += _trainings()
        with use_resources(threads=1):
            self.answers = [question() for question in self.questions]

    def attempt(self, number: int) -> None:
        """Ask in another order from each thread."""
        chance = self.random(number)
        asked = [chance.randrange(len(self.questions)) for _ in range(4 * _THREADS)]
        # Most threads at the same question, where they meet.
        asked += [chance.randrange(len(self.questions))] * 2 * _THREADS

        def ask(which: int) -> Any:
            with use_resources(threads=1 + which % 3):
                return self.questions[which]()

        with ThreadPoolExecutor(_THREADS) as pool:
            for which, answer in zip(asked, pool.map(ask, asked), strict=True):
                if not _same(answer, self.answers[which]):
                    raise BrokenPromiseError(f"question {which} has another answer among threads")


def _questions(kind: str, place: Path) -> list[Callable[[], Any]]:
    model_of(kind).save(place / kind)
    model = open_model(place / kind)
    _, heldout = corpora()
    decoder = kenlm.Model(str(place / kind))
    return [
        lambda: model.score(heldout).log_probs,
        lambda: [model.distribution(history) for history in _HISTORIES],
        lambda: model.predict("w1 w2"),
        lambda: decoder.score("w1 w2 stranger w3"),
    ]


def _trainings() -> list[Callable[[], Any]]:
    train, _ = corpora()
    labels = np.arange(len(train.vocabulary)) % 5
    return [
        lambda: NgramModel.train(train, 3).score(train).log_probs,
        lambda: CategoryNgramModel.train(train, labels, 3).score(train).log_probs,
        lambda: WordClasses(6, random_state=1).fit(train).labels_,
    ]


def _same(found: Any, expected: Any) -> bool:
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(_same, found, expected))
    return bool(np.array_equal(np.asarray(found, object), np.asarray(expected, object)))
