"""Back-off n-gram models as weighted finite-state acceptors, in the text format of OpenFst.

``PREFIX.fst.txt`` has a line ``state<TAB>next state<TAB>input<TAB>output<TAB>weight`` for each arc and
``state<TAB>weight`` for each state in which a sentence may end; the first line is of the start state. Labels
are numbers, whose words are in ``PREFIX.syms``: 0 is ``<eps>``, a word has its id and 1 more. Weights are
negative natural logarithms of probabilities, as OpenFst's standard arcs have them.

A state is a history. A back-off arc leads from it to the history without its first word; its input is
``<eps>``, or a symbol such as ``#0``, which Kaldi's recipes use, and its output ``<eps>``. It should be taken
only where no arc has the next word. An epsilon arc can be taken anywhere, so that the shortest path of a
sentence through the acceptor is cheaper than the model's probability where backing off costs less than the
n-gram; arpa2fst and OpenGrm have the same approximation. For exact weights, read the back-off symbol as a
failure transition (phi), as `OpenFst's PhiMatcher
<https://www.openfst.org/twiki/bin/view/FST/FstAdvancedUsage#Matchers>`_ does.
"""

from __future__ import annotations

import os

from stategram._core import DamagedModel, FstWriter
from stategram.errors import UsageError
from stategram.models import NgramModel, damage_error, require_model
from stategram.progress import Progress
from stategram.resources import Resources
from stategram.storage import atomic_open

EPSILON = "<eps>"
_STATES_A_BLOCK = 1 << 17


def fst_files(prefix: str | os.PathLike[str]) -> tuple[str, str]:
    """Return the names of the files that `write_fst` writes: the acceptor, and its symbols."""
    return f"{os.fspath(prefix)}.fst.txt", f"{os.fspath(prefix)}.syms"


def write_fst(
    model: NgramModel,
    prefix: str | os.PathLike[str],
    *,
    backoff_symbol: str = EPSILON,
    progress: Progress | None = None,
) -> int:
    r"""Write a back-off model as ``PREFIX.fst.txt`` and ``PREFIX.syms``; return the number of states.

    Parameters
    ----------
    model
        The model.
    prefix
        How the names of both files begin.
    backoff_symbol
        The input of back-off arcs: ``<eps>``, or a symbol that is no word of the model, such as ``#0``.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["a"], order=1)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     n_states = write_fst(model, f"{place}/model")
    ...     pathlib.Path(place, "model.syms").read_text().split()[-2:]
    ['a', '4']

    """
    require_model(model, NgramModel)
    words = model.vocabulary.words
    for symbol in {EPSILON, backoff_symbol}:
        if symbol in model.vocabulary:
            raise UsageError(
                f"{symbol!r} is a word of the model, so it cannot be the symbol of "
                + ("no word; rename it in the text" if symbol == EPSILON else "back-off arcs; choose another")
            )
    if backoff_symbol.split() != [backoff_symbol]:
        raise UsageError(f"the back-off symbol is {backoff_symbol!r}; it must be one word, such as #0")
    symbols = [EPSILON, *words] + ([backoff_symbol] if backoff_symbol != EPSILON else [])
    try:
        trie = model.trie.plain()
        trie.check()
        backoff_label = 0 if backoff_symbol == EPSILON else len(symbols) - 1
        writer = FstWriter(trie.kernel, backoff_label, Resources.current().threads)
        arcs_name, symbols_name = fst_files(prefix)
        with atomic_open(symbols_name) as symbols_file, atomic_open(arcs_name) as file:
            symbols_file.write("".join(f"{word}\t{label}\n" for label, word in enumerate(symbols)).encode())
            for begin in range(0, writer.n_states, _STATES_A_BLOCK):
                end = min(begin + _STATES_A_BLOCK, writer.n_states)
                file.write(writer.lines(begin, end))
                if progress:
                    progress(end / writer.n_states, f"{end:,} of {writer.n_states:,} states")
    except DamagedModel as error:
        raise damage_error(model.path, error) from error
    return writer.n_states
