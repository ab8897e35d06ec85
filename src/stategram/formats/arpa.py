r"""Back-off n-gram models in ARPA files, as SRILM, KenLM, IRSTLM and MITLM write and read them.

A file has a line for each n-gram: its log10 probability, its words, and, unless it is of the highest order,
its log10 back-off weight::

    \data\
    ngram 1=4
    ngram 2=1

    \1-grams:
    -99	<s>	-0.30103
    -0.60206	</s>
    -0.60206	<unk>
    -0.30103	cat

    \2-grams:
    -0.1760913	<s> cat

    \end\

What is read: fields separated by ASCII tabs or spaces, in lines that end with LF or CRLF; n-grams in any
order; any text before ``\data\``. A missing back-off weight is 0. A log10 of -99 or less is -inf (less than
-99 stays as it is for ``<unk>``), and ``<s>`` is never predicted, whatever its probability. ``<UNK>`` is
taken for ``<unk>`` if there is none; without both, unknown words have the log10 probability -100, as in
KenLM. The log10 of a back-off weight is at most 99. N-grams may lack their start (their words but the last):
it is added, with the probability that backing off gives it.
"""

from __future__ import annotations

import os
from pathlib import Path

from stategram._core import ArpaProblem, ArpaReader, ArpaWriter, DamagedModel
from stategram.counts import trie_numbers
from stategram.errors import BadDataError, UsageError
from stategram.models import NgramModel, PlainTrie, close_suffixes, damage_error, require_model
from stategram.progress import Progress, report_bytes
from stategram.resources import Resources
from stategram.storage import Place, atomic_open, uncompressed_name
from stategram.text import SPECIAL_WORDS, Vocabulary, display_name, read_blocks, total_size

_NGRAMS_A_BLOCK = 1 << 18


def has_arpa_name(path: str) -> bool:
    """Whether the name of a file ends in ``.arpa``, or that and the suffix of a compression.

    >>> has_arpa_name("model.arpa.gz"), has_arpa_name("model")
    (True, False)
    """
    return Path(uncompressed_name(path)).suffix == ".arpa"


def read_arpa(place: Place, *, progress: Progress | None = None) -> NgramModel:
    r"""Read a back-off n-gram model from an ARPA file.

    Parameters
    ----------
    place
        A path, ``-`` for standard input, or a binary stream; plain or compressed.
    progress
        Called with the fraction of the bytes that are read, 0 as long as it is not known, and a message.

    Returns
    -------
    NgramModel
        Its vocabulary is that of the special words, then of the other 1-grams in the order of the file. Its
        ``training_info`` has ``ngrams``: how many of each order the file holds; ``inserted_starts``: how many
        n-grams were added because longer ones start with them; ``added_words``: special words that were
        missing; ``unknown_word``: how the file spells ``<unk>``, None if it has none.

    Raises
    ------
    BadDataError
        With file and line, if the file is not as the module describes, is cut off, or repeats an n-gram.

    Examples
    --------
    >>> import io
    >>> read_arpa(io.BytesIO(b"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\tcat\n-2\t<unk>\n\n\\end\\\n"))
    NgramModel(order 1, 4 n-grams, unknown)

    """
    source = os.fspath(place) if isinstance(place, os.PathLike) else place
    reader = ArpaReader(Resources.current().threads)
    total = total_size([source]) if isinstance(source, str) else None
    vocabulary: Vocabulary | None = None
    try:
        for block, taken in read_blocks(source):
            if reader.feed(block):
                vocabulary = _number_words(reader)
            report_bytes(progress, taken, total)
        if reader.finish():
            vocabulary = _number_words(reader)
            reader.finish()
    except ArpaProblem as problem:
        raise BadDataError(f"{display_name(source)}:{problem}") from None
    assert vocabulary is not None  # no file ends well before its words
    trie = PlainTrie(trie_numbers(len(vocabulary)), *reader.take_trie())
    info = {
        "ngrams": reader.counts,
        "inserted_starts": reader.inserted,
        "added_words": [word for word, added in zip(SPECIAL_WORDS, reader.added, strict=True) if added],
        "unknown_word": "<UNK>" if reader.renamed_unknown else None if reader.added[0] else "<unk>",
    }
    return NgramModel.from_plain(vocabulary, trie, training_info=info)


def _number_words(reader: ArpaReader) -> Vocabulary:
    vocabulary = Vocabulary.from_letters(*reader.words())
    reader.number_words(trie_numbers(len(vocabulary)))
    return vocabulary


def write_arpa(
    model: NgramModel, place: Place, *, closed: bool = False, progress: Progress | None = None
) -> None:
    r"""Write a back-off n-gram model as an ARPA file, numbers with seven significant digits, -inf as -99.

    All n-grams are in the order of the words in the section of 1-grams, which is that of the vocabulary.

    Parameters
    ----------
    model
        The model.
    place
        A path, ``-`` for standard output, or a binary stream. A file is written beside its place and then
        renamed, so that it is never half there; one named ``.gz``, ``.xz``, ``.bz2`` or ``.zst`` is packed.
    closed
        Whether every suffix of an n-gram has to be among the n-grams, as some readers take for granted.
        Pruning leaves n-grams such as ``in the house`` without ``the house``. A suffix that is missing is
        written with the probability that backing off gives it: no probability changes.
    progress
        Called with the fraction done and a few words.

    Examples
    --------
    >>> import io
    >>> text = b"\\data\\\nngram 1=2\n\n\\1-grams:\n-1\tcat\n-2\t<unk>\n\n\\end\\\n"
    >>> file = io.BytesIO()
    >>> write_arpa(read_arpa(io.BytesIO(text)), file)
    >>> print(file.getvalue().decode().replace("\t", " "), end="")
    \data\
    ngram 1=4
    <BLANKLINE>
    \1-grams:
    -2 <unk>
    -99 <s>
    -99 </s>
    -1 cat
    <BLANKLINE>
    \end\

    """
    require_model(model, NgramModel)
    if closed:
        model = close_suffixes(model)
    vocabulary, trie = model.vocabulary, model.trie.plain()
    if len(vocabulary) != len(trie.numbers):
        raise UsageError(
            f"the vocabulary has {len(vocabulary)} words and the trie {len(trie.numbers)}; "
            "give those of one model"
        )
    try:
        trie.check()
        threads = Resources.current().threads
        writer = ArpaWriter(vocabulary.letters, vocabulary.offsets, trie.kernel, threads)
        with atomic_open(place) as file:
            counts = "".join(f"ngram {level}={count}\n" for level, count in enumerate(trie.sizes, 1))
            file.write(f"\\data\\\n{counts}".encode())
            for level, count in enumerate(trie.sizes, 1):
                file.write(f"\n\\{level}-grams:\n".encode())
                for begin in range(0, count, _NGRAMS_A_BLOCK):
                    end = min(begin + _NGRAMS_A_BLOCK, count)
                    file.write(writer.lines(level, begin, end))
                    if progress:
                        done, total = sum(trie.sizes[: level - 1]) + end, sum(trie.sizes)
                        progress(done / total, f"{done:,} of {total:,} n-grams")
            file.write(b"\n\\end\\\n")
    except DamagedModel as error:
        raise damage_error(model.path, error) from error
