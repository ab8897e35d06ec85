"""Word errors, said plainly.

errors(i, j) = min( errors(i-1, j-1) + 1 if words differ, errors(i-1, j) + 1, errors(i, j-1) + 1 )
"""

from __future__ import annotations

from collections.abc import Sequence


def word_errors(words: Sequence[object], said: Sequence[object]) -> int:
    """Return the substitutions, deletions and insertions between two texts, as few as possible."""
    errors: dict[tuple[int, int], int] = {}
    for i in range(len(words) + 1):
        for j in range(len(said) + 1):
            ways = [0] if i == j == 0 else []
            if i and j:
                ways.append(errors[i - 1, j - 1] + (words[i - 1] != said[j - 1]))
            if i:
                ways.append(errors[i - 1, j] + 1)
            if j:
                ways.append(errors[i, j - 1] + 1)
            errors[i, j] = min(ways)
    return errors[len(words), len(said)]
