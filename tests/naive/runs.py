"""Runs of n-grams, packed texts and merged vocabularies, said plainly.

The keys of a text are the `order` words that begin at each place, <s> before each sentence, fewer at its end:

    keys(the cat </s>, 2) = <s> the, the cat, cat </s>, </s>

A run has its keys in the order of the numbers of their words, each with its count:

    (count - 1, at most 15) * 16 + words shared with the key before    one byte
    count - 16                                                         a varint, if the count is above 15
    the ids of the other words                                         varints
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

BEGIN, END = 1, 2

Keys = Counter[tuple[int, ...]]
Level = tuple[list[int], list[int], list[int]]  # last words by number, counts, first children


def keys(sentences: Iterable[Sequence[int]], order: int) -> Keys:
    found: Keys = Counter()
    for sentence in sentences:
        padded = (BEGIN, *sentence)
        found.update(padded[i : i + order] for i in range(len(padded)))
    return found


def varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value % 128 + 128]) + varint(value // 128)


def in_order(found: Keys, numbers: Sequence[int]) -> list[tuple[int, ...]]:
    return sorted(found, key=lambda key: [numbers[id] for id in key])


def run(found: Keys, numbers: Sequence[int]) -> bytes:
    data = b""
    before: tuple[int, ...] = ()
    for key in in_order(found, numbers):
        shared = 0
        while shared < min(len(key), len(before)) and key[shared] == before[shared]:
            shared += 1
        count = found[key]
        data += bytes([min(count - 1, 15) * 16 + shared])
        data += varint(count - 16) if count > 15 else b""
        data += b"".join(map(varint, key[shared:]))
        before = key
    return data


def in_range(found: Keys, numbers: Sequence[int], first: int, last: int) -> Keys:
    return Counter({key: n for key, n in found.items() if first <= numbers[key[0]] < last})


def levels(found: Keys, numbers: Sequence[int], order: int, first: int, last: int) -> list[Level]:
    """The n-grams of 1 to `order` words that keys begin with; every word of the range is one."""
    by_length: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(order)]
    by_length[0].update({(number,): 0 for number in range(first, last)})
    for key, count in found.items():
        of_numbers = tuple(numbers[id] for id in key)
        for length in range(1, min(order, len(key)) + 1):
            by_length[length - 1][of_numbers[:length]] += count
    made = []
    for length, ngrams in enumerate(by_length, 1):
        ordered = sorted(ngrams)
        longer = sorted(by_length[length]) if length < order else []
        first_child = [sum(one[:length] < ngram for one in longer) for ngram in ordered]
        children = [*first_child, len(longer)] if length < order else []
        made.append(([ngram[-1] for ngram in ordered], [ngrams[ngram] for ngram in ordered], children))
    return made


def packed_text(sentences: Sequence[Sequence[int]], document_starts: Sequence[int]) -> bytes:
    data = b""
    for number in range(len(sentences) + 1):
        if number in document_starts:
            data += varint(BEGIN)
        if number < len(sentences):
            data += b"".join(map(varint, sentences[number]))
    return data


def merged_vocabulary(
    texts: Iterable[dict[bytes, int]], size: int, min_count: int
) -> tuple[list[bytes], list[int]]:
    """The special words, then the most frequent words by falling count, then by bytes; and all counts."""
    special = [b"<unk>", b"<s>", b"</s>"]
    total: Counter[bytes] = Counter()
    for text in texts:
        total.update(text)
    words = [word for word, n in total.items() if word not in special and n >= max(min_count, 1)]
    chosen = sorted(words, key=lambda word: (-total[word], word))[:size]
    counts = [total[word] for word in (*special, *chosen)]
    counts[0] += sum(n for word, n in total.items() if word not in special and word not in chosen)
    return [*special, *chosen], counts
