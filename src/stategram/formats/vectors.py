"""Word vectors in the text format of word2vec, which gensim and others read.

The first line has the number of words and the length of the vectors; each other line a word and its numbers,
separated by spaces.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.progress import Progress
from stategram.storage import Place, atomic_open

_WORDS_A_BLOCK = 4096


def write_vectors(
    place: Place,
    words: Sequence[str],
    vectors: NDArray[np.floating],
    *,
    progress: Progress | None = None,
) -> None:
    """Write word vectors in the text format of word2vec.

    Parameters
    ----------
    place
        A path, ``-`` for standard output, or a binary stream; a file named ``.gz`` is packed.
    words
        The words, the most frequent first.
    vectors
        A row for each word.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> write_vectors(file, ["cat", "dog"], np.array([[0.5, 1], [0.25, -1]]))
    >>> print(file.getvalue().decode(), end="")
    2 2
    cat 0.50000 1.00000
    dog 0.25000 -1.00000

    """
    if vectors.ndim != 2 or len(words) != len(vectors):
        raise UsageError(
            f"{len(words)} words and an array of shape {vectors.shape}; give a row for each word"
        )
    line = "%s" + " %.5f" * vectors.shape[1] + "\n"
    with atomic_open(place) as file:
        file.write(f"{len(words)} {vectors.shape[1]}\n".encode())
        for begin in range(0, len(words), _WORDS_A_BLOCK):
            end = min(begin + _WORDS_A_BLOCK, len(words))
            rows = zip(words[begin:end], vectors[begin:end].tolist(), strict=True)
            file.write("".join([line % (word, *numbers) for word, numbers in rows]).encode())
            if progress:
                progress(end / len(words), f"{end:,} of {len(words):,} words")
