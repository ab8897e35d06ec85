"""Count files, said plainly: `w1 w2 w3<TAB>count`, an n-gram before those that begin with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

Ngram = tuple[str, ...]


def count(sentences: Iterable[Sequence[str]], order: int) -> Counter[Ngram]:
    counts: Counter[Ngram] = Counter()
    for sentence in sentences:
        words = ("<s>", *sentence, "</s>")
        for begin in range(len(words)):
            for end in range(begin + 1, min(begin + order, len(words)) + 1):
                counts[words[begin:end]] += 1
    return counts


def write(counts: Mapping[Ngram, int]) -> str:
    by_bytes = sorted(counts, key=lambda ngram: [word.encode() for word in ngram])
    return "".join(f"{' '.join(ngram)}\t{counts[ngram]}\n" for ngram in by_bytes)


def read(lines: Iterable[str]) -> Counter[Ngram]:
    counts: Counter[Ngram] = Counter()
    for line in lines:
        *words, number = line.split()
        counts[tuple(words)] += int(number)
    return counts
