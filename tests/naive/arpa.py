"""ARPA files by their description, line by line, with dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf

import numpy as np

from naive.trie import Ngrams
from stategram.text import SPECIAL_WORDS

Ngram = tuple[str, ...]


@dataclass(frozen=True)
class Model:
    """The n-grams of a file, in its order."""

    log_probs: dict[Ngram, float]
    backoffs: dict[Ngram, float]

    @property
    def order(self) -> int:
        return max(map(len, self.log_probs))

    def log_prob(self, history: Ngram, word: str) -> float:
        """The log probability of a word of the vocabulary."""
        if (*history, word) in self.log_probs:
            return self.log_probs[*history, word]
        return self.backoffs.get(history, 0.0) + self.log_prob(history[1:], word)


def as_zero(log: float) -> float:
    return -inf if log <= -99 else log + 0.0


def read(text: str) -> tuple[int, Model]:
    """Read a file that has nothing wrong with it: its order, and what it says."""
    log_probs: dict[Ngram, float] = {}
    backoffs: dict[Ngram, float] = {}
    order = 0
    for line in text[text.index("\\data\\") :].split("\n"):
        fields = [field for field in line.replace("\t", " ").strip(" \r\v\f").split(" ") if field]
        if fields and fields[0].endswith("-grams:"):
            order = int(fields[0].strip("\\-grams:"))
        elif order and fields and not fields[0].startswith("\\"):
            ngram = tuple(fields[1 : 1 + order])
            log_probs[ngram] = min(float(fields[0]), 0.0) + 0.0  # never -0
            backoffs[ngram] = as_zero(float(fields[-1])) if len(fields) > order + 1 else 0.0
    return order, Model(log_probs, backoffs)


def completed(order: int, model: Model) -> tuple[Model, int]:
    """Add special words and the starts of n-grams that are missing; give the number of these."""
    rename = ("<unk>",) not in model.log_probs

    def named(ngram: Ngram) -> Ngram:
        return tuple("<unk>" if rename and word == "<UNK>" else word for word in ngram)

    log_probs: dict[Ngram, float] = {("<unk>",): -100.0, ("<s>",): -inf, ("</s>",): -inf}
    for ngram, p in model.log_probs.items():
        last = named(ngram)[-1]
        stand_in = last == "<unk>" and p < -99
        log_probs[named(ngram)] = -inf if last == "<s>" else p if stand_in else as_zero(p)
    backoffs = {named(ngram): b for ngram, b in model.backoffs.items() if len(ngram) < order}
    found = Model(log_probs, backoffs)
    starts = {ngram[:k] for ngram in log_probs for k in range(1, len(ngram))} - set(log_probs)
    added = {start: min(found.log_prob(start[:-1], start[-1]), 0.0) for start in starts}
    return Model(log_probs | added, backoffs), len(starts)


def vocabulary(model: Model) -> list[str]:
    return [ngram[0] for ngram in model.log_probs if len(ngram) == 1]


def with_ids(order: int, model: Model) -> Ngrams:
    """The same with words as ids, the special words first."""
    id_of = {word: id for id, word in enumerate(vocabulary(model))}
    assert tuple(id_of)[:3] == SPECIAL_WORDS

    def ids(ngram: Ngram) -> tuple[int, ...]:
        return tuple(id_of[word] for word in ngram)

    return Ngrams(
        len(id_of),
        order,
        {ids(ngram): float(np.float32(p)) for ngram, p in model.log_probs.items()},
        {ids(ngram): float(np.float32(b)) for ngram, b in model.backoffs.items()},
    )


def write(order: int, model: Model, ngrams: Iterable[Ngram] | None = None) -> str:
    """Write a file; `ngrams` gives their order."""
    listed = list(model.log_probs) if ngrams is None else list(ngrams)
    lines = ["\\data\\"]
    lines += [f"ngram {k}={sum(len(ngram) == k for ngram in listed)}" for k in range(1, order + 1)]
    for k in range(1, order + 1):
        lines += ["", f"\\{k}-grams:"]
        for ngram in listed:
            if len(ngram) == k:
                weight = f"\t{model.backoffs[ngram]:.9g}" if ngram in model.backoffs and k < order else ""
                lines.append(f"{model.log_probs[ngram]:.9g}\t{' '.join(ngram)}{weight}")
    return "\n".join([*lines, "", "\\end\\", ""])
