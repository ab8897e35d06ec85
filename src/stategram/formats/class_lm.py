"""Category n-gram models as SRILM has them: an ARPA file of classes, and a file of the words in each class.

``ngram -lm PREFIX.arpa -classes PREFIX.classes -unk -ppl TEXT`` gives every word the probability
p(class | classes before) p(word | class), as the model does. ``<s>`` and ``</s>`` stand for themselves, and
so does ``<unk>``, unless other words share its class: then it is a word of that class.
"""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np

from stategram.formats.arpa import write_arpa
from stategram.models import CategoryNgramModel, require_model
from stategram.progress import Progress
from stategram.storage import atomic_open
from stategram.text import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Vocabulary


def class_lm_files(prefix: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the names of the files that `write_class_lm` writes: the ARPA file, and that of the classes."""
    return f"{os.fspath(prefix)}.arpa", f"{os.fspath(prefix)}.classes"


def write_class_lm(
    model: CategoryNgramModel,
    prefix: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
) -> None:
    """Write a category n-gram model as ``PREFIX.arpa`` and ``PREFIX.classes``.

    Parameters
    ----------
    model
        The model.
    prefix
        How the names of both files begin.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stategram import CategoryNgramModel
    >>> classes = {"the": 0, "a": 0, "cat": 1, "dog": 1}
    >>> model = CategoryNgramModel.train(["the cat", "the dog", "a cat"], classes, order=2)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_class_lm(model, f"{place}/model")
    ...     print(pathlib.Path(place, "model.classes").read_text().split()[:3:2])
    ['CLASS-00001', 'cat']

    """
    require_model(model, CategoryNgramModel)
    arpa_name, classes_name = class_lm_files(prefix)
    names = _class_names(model)
    vocabulary = Vocabulary.from_encoded([name.encode() for name in names])
    with atomic_open(classes_name) as file:
        file.write(_class_lines(model, names).encode())
        write_arpa(replace(model.ngram, vocabulary=vocabulary), arpa_name, progress=progress)


def _class_names(model: CategoryNgramModel) -> list[str]:
    """Return a name for each category: no word of the model, but for special words alone in theirs."""
    prefix = "CLASS-"
    while any(word.startswith(prefix) for word in model.vocabulary.words):
        prefix += "-"
    names = [f"{prefix}{id - END:05d}" for id in range(len(model.ngram.vocabulary))]
    names[BEGIN], names[END] = SPECIAL_WORDS[BEGIN], SPECIAL_WORDS[END]
    is_alone = np.count_nonzero(model.categories == UNKNOWN) == 1
    names[UNKNOWN] = SPECIAL_WORDS[UNKNOWN] if is_alone else f"{prefix}{0:05d}"
    return names


def _class_lines(model: CategoryNgramModel, names: list[str]) -> str:
    """Return a line ``CLASS p word`` for each word, class by class, the most probable first."""
    shown = model.word_probs > 0
    shown[[BEGIN, END]] = False
    shown[UNKNOWN] &= names[UNKNOWN] != SPECIAL_WORDS[UNKNOWN]
    ids = np.flatnonzero(shown)
    ids = ids[np.lexsort((-model.word_probs[ids], model.categories[ids]))]
    words = model.vocabulary.words
    rows = zip(model.categories[ids].tolist(), model.word_probs[ids].tolist(), ids.tolist(), strict=True)
    return "".join(f"{names[category]} {prob!r} {words[id]}\n" for category, prob, id in rows)
