"""Levels of chains as the first version of word tree models stored them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from naive.word_tree import Follower

MAX_SHORT_LIST, MAX_LEAF_LIST, LONG_LIST = 64, 24, 255
NO_NODE = 2**32 - 1
Words = dict[int, Follower]


def write_number(number: int) -> bytes:
    """Seven bits in each byte; the last byte of a number is below 128."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + write_number(number >> 7)


def write_list(words: Words, is_last: bool) -> bytes:
    """For each word the difference to the one before and whether it has more counts; then these."""
    data, before = b"", 0
    for word, one in sorted(words.items()):
        data += write_number((word - before) << 1 | (one.counts > 1))
        before = word
        if one.counts > 1:
            data += write_number(one.counts - 2)
            data += b"" if is_last else write_number(one.contexts - 1)
    return data


def write_level(
    contexts: dict[int, Words], is_last: bool, bits: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint8], list[Words]]:
    """Return the directory and the entries of contexts by their hashes, and the long lists."""
    directory, data = [0], b""
    long_lists: list[Words] = []
    ordered = sorted(contexts.items())
    for bucket in range(1 << bits):
        for hash, words in ordered:
            if hash >> (64 - bits) != bucket:
                continue
            header = (hash >> 4 & 0xFFFFFF).to_bytes(3, "little")
            listed = write_list(words, is_last)
            if len(words) > MAX_SHORT_LIST or len(listed) >= LONG_LIST:
                data += header + bytes([LONG_LIST]) + len(long_lists).to_bytes(4, "little")
                long_lists.append(words)
            else:
                data += header + bytes([len(listed)]) + listed
        data += bytes(-len(data) % 4)
        directory.append(len(data) // 4)
    return np.array(directory, np.uint32), np.frombuffer(data, np.uint8), long_lists


def write_long_lists(
    lists: list[Words], codes: list[int], ranks: list[int], is_last: bool
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.uint8]]:
    """Return where the records of each list begin, the records, and the bytes of the short lists."""
    begins, records, data = [0], [], bytearray()

    def sums(words: Words) -> list[int]:
        return [
            len(words),
            sum(one.counts for one in words.values()),
            sum(one.contexts for one in words.values()),
        ]

    def divide(words: Words) -> None:
        if len(words) <= MAX_LEAF_LIST:
            listed = write_list(words, is_last)
            records.append([NO_NODE, len(listed), len(data), 0, 0])
            data.extend(listed)
            return
        low, high = min(codes[word] for word in words), max(codes[word] for word in words)
        bit = 1 << (low ^ high).bit_length() - 1
        left, right = (
            {w: one for w, one in words.items() if bool(codes[w] & bit) == side} for side in (0, 1)
        )
        at = len(records)
        records.append([min(ranks[word] for word in right), 0, *sums(left)])
        divide(left)
        records[at][1] = len(records) - at
        divide(right)

    for words in lists:
        records.append([0, 0, *sums(words)])
        divide(words)
        begins.append(len(records))
    return (
        np.array(begins, np.int64),
        np.array(records, np.uint32).reshape(-1),
        np.frombuffer(bytes(data), np.uint8),
    )
