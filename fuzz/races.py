"""Readers of a model beside a process that replaces it again and again."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from fuzz.campaign import BrokenPromiseError, Campaign
from stategram import NgramModel, kenlm, open_model

_OPENINGS = 20
_TEXTS = (["a b c d", "b a d c"], ["d c b a", "c c d a b", "b b"])


class Races(Campaign):
    """Each try opens a model some times while another process replaces it by another of the same size."""

    name = "races"
    promise = "a reader beside a writer gets the old model or the new one, whole, and no error"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        self.models = [NgramModel.train(text * 3, 3) for text in _TEXTS]
        self.models[0].save(place / "model")
        self.expected = {model.score(["a b c"]).log10_prob for model in self.models}
        self.expected_by_kenlm = set()
        for number, model in enumerate(self.models):
            model.save(place / f"model-{number}")
            self.expected_by_kenlm.add(kenlm.Model(str(place / f"model-{number}")).score("a b c"))
        self.writer = multiprocessing.get_context("fork").Process(
            target=_write, args=(self.models, place / "model"), daemon=True
        )
        self.writer.start()

    def attempt(self, number: int) -> None:
        """Open the model."""
        if not self.writer.is_alive():
            raise BrokenPromiseError(f"the writer ended with {self.writer.exitcode}")
        path = self.place / "model"
        for _ in range(_OPENINGS):
            if number % 3 == 2:
                found = kenlm.Model(str(path)).score("a b c") in self.expected_by_kenlm
            else:
                found = open_model(path, verify=number % 3 == 0).score(["a b c"]).log10_prob in self.expected
            if not found:
                raise BrokenPromiseError("a model that is neither the old one nor the new one")


def _write(models: list[NgramModel], path: Path) -> None:
    while True:
        for model in models:
            model.save(path)
