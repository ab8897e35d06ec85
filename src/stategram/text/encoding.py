"""Files, or sentences in memory, to a corpus, or to blocks of lines that are encoded one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import UsageError
from stategram.progress import Progress, report_bytes
from stategram.storage import shown_url
from stategram.text.corpus import (
    Corpus,
    ReadStats,
    no_words,
    require_known_words,
    warn_if_unsegmented,
    warn_of_wide_spaces,
)
from stategram.text.files import Source, file_names, total_size
from stategram.text.format import FormatOverride, TextFormat, WordChoice
from stategram.text.lines import MARKERS, LineEncoder, Lines, Sentences, lines_of_sentences, words_of
from stategram.text.rows import read_texts
from stategram.text.tokenizer import Tokenizer
from stategram.text.vocabulary import END, Vocabulary, split_line


def read_corpus(
    source: Source,
    text_format: FormatOverride = None,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    min_count: int = 1,
    progress: Progress | None = None,
) -> Corpus:
    r"""Read text files, one sentence per line, words separated by white space.

    A blank line marks the start of a new document, unless the format has a ``document_mark``.

    Parameters
    ----------
    source
        A file, or several; ``-`` is stdin. Files compressed by gzip, xz, bzip2 or zstd are opened.
    text_format
        What words are, and what is done with them: a `TextFormat`, or a mapping of the settings that differ
        from the default. Where the given vocabulary has words with other white space in them, words are
        split at ASCII white space only by default.
    vocabulary
        The words to know; by default, those of the text itself.
    vocabulary_size
        Keep this many of the most frequent words, not counting the special words.
    min_count
        Keep words that occur at least this often.
    progress
        Called with the fraction of the bytes that are read, 0 as long as it is not known, and a message.

    Returns
    -------
    Corpus
        Words that are not in the vocabulary are ``<unk>``, lines without words are left out, and ``<s>``
        and ``</s>`` in the text are dropped; ``stats`` has their number. Several files are read as one
        text: a file does not start a document by itself.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from stategram import TextFormat, read_corpus
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place, "text.txt")
    ...     _ = file.write_text("The cat sat\n\non the mat\n")
    ...     corpus = read_corpus(file, TextFormat(lowercase=True), vocabulary_size=2)
    >>> corpus.vocabulary.words, corpus.ids.tolist()
    (('<unk>', '<s>', '</s>', 'the', 'cat'), [3, 4, 0, 2, 0, 3, 0, 2])
    >>> corpus.document_starts.tolist()
    [1]

    """
    names = file_names(source)
    if not names:
        raise UsageError("no files to read; give at least one, or - for stdin")
    words = WordChoice(vocabulary, vocabulary_size, min_count)
    encoder = LineEncoder(TextFormat.of_words(vocabulary).override(text_format), words)
    _feed(names, [encoder], 0, progress)
    corpus = _corpus_of(encoder, names)
    warn_of_wide_spaces(corpus.stats)
    if vocabulary is None:
        warn_if_unsegmented(corpus.vocabulary)
    return corpus


def read_corpora(
    source: Source, formats: Sequence[TextFormat], *, head: int, progress: Progress | None = None
) -> tuple[list[Corpus], bytes]:
    """Read text files once, a corpus for each format; return the first bytes as they are, too.

    There are `head` bytes of them, or fewer. Each corpus has the vocabulary of the text.
    """
    names = file_names(source)
    encoders = {text_format: LineEncoder(text_format) for text_format in formats}
    first = _feed(names, list(encoders.values()), head, progress)
    corpora = {text_format: _corpus_of(encoder, names) for text_format, encoder in encoders.items()}
    warn_of_wide_spaces(corpora[formats[0]].stats)
    warn_if_unsegmented(corpora[formats[0]].vocabulary)
    return [corpora[text_format] for text_format in formats], first


def _feed(
    names: Sequence[str], encoders: Sequence[LineEncoder], head: int, progress: Progress | None
) -> bytes:
    """Feed the lines of files to encoders, and return the first `head` bytes."""
    total = total_size(names)
    done = taken = 0
    first = b""
    # The same bytes for all; only prose has its paragraphs whole.
    how = next(
        (one.text_format for one in encoders if one.text_format.tokenize == "prose"), encoders[0].text_format
    )
    for name in names:
        for lines in read_texts(name, how):
            for encoder in encoders:
                encoder.feed(lines)
            if len(first) < head:
                first += lines.data[: head - len(first)]
            taken = lines.taken
            report_bytes(progress, done + taken, total)
        if first and not first.endswith(b"\n"):  # a file ends a line
            first += b"\n"
        done, taken = done + taken, 0
    return first


def _corpus_of(encoder: LineEncoder, names: Sequence[str]) -> Corpus:
    """Return what an encoder was fed; refuse a text without words."""
    corpus = encoder.corpus(tuple(map(shown_url, names)))
    if corpus.n_events == 0:
        raise no_words(names, corpus.stats.n_bytes)
    return corpus


def corpus_from_sentences(
    sentences: Sentences,
    text_format: FormatOverride = None,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    min_count: int = 1,
) -> Corpus:
    """Return a corpus of sentences in memory: strings, which are split at white space, or lists of words.

    A word may be an integer, as the ids of a tokenizer are: it stands for the word of its decimal digits. If
    the format tokenizes, strings are raw text; lists of words stay as they are.

    The parameters, and how words are encoded, are as in `read_corpus`, but bad bytes and marks of documents
    are for files. Sentences without words are left out; one that is empty, or only white space, marks the
    start of a new document.

    Examples
    --------
    >>> from stategram import corpus_from_sentences
    >>> corpus_from_sentences(["the cat sat", ["the", "dog"]])
    Corpus(7 events, 2 sentences, Vocabulary(7 words))
    >>> corpus_from_sentences([[101, 7, 7], [7]]).vocabulary.words
    ('<unk>', '<s>', '</s>', '7', '101')

    """
    words = WordChoice(vocabulary, vocabulary_size, min_count)
    corpus = _encode(sentences, TextFormat.of_words(vocabulary).override(text_format), words)
    if vocabulary is None:  # with one, a text is scored, perhaps sentence by sentence
        warn_of_wide_spaces(corpus.stats)
        warn_if_unsegmented(corpus.vocabulary)
    return corpus


def _encode(sentences: Sentences, text_format: TextFormat, words: WordChoice | None = None) -> Corpus:
    encoder = LineEncoder.of_sentences(text_format, words)
    for lines in lines_of_sentences(sentences, text_format):
        encoder.feed(lines)
    return encoder.corpus()


def spelled_corpus(vocabulary: Vocabulary, text: Corpus | Sentences) -> Corpus:
    """Return a corpus as it is, or sentences with a vocabulary of their own, split as another one is."""
    return text if isinstance(text, Corpus) else _encode(text, TextFormat.of_words(vocabulary))


def as_corpus(vocabulary: Vocabulary, text: Corpus | Sentences) -> Corpus:
    """Return a corpus, or sentences, in a vocabulary; refuse a text that has no word of it."""
    text = spelled_corpus(vocabulary, text)
    corpus = text.in_vocabulary(vocabulary)
    require_known_words(text, corpus)
    return corpus


@dataclass(frozen=True, eq=False)
class LineBlock:
    """Consecutive lines of a text, for output that is written while the text is read."""

    corpus: Corpus
    """Their sentences, with a vocabulary of the normalized words, in which several ids may be one word."""
    spelling: Vocabulary
    """The words as they are spelled in the text, with the same ids."""
    lines: NDArray[np.int64]
    """The line number of each sentence, from 1."""
    source: Lines | None = None
    """The lines as they are in a file."""


@dataclass(frozen=True, eq=False)
class SpacedWords:
    """The words between white space of some texts; where text is tokenized, one may have several tokens.

    >>> text_format = TextFormat(tokenize="words")
    >>> block = block_of_sentences(["“I met Mr. Smith…”"], text_format)
    >>> found = SpacedWords.of(["“I met Mr.", "Smith…”"], block, text_format)
    >>> found.words, found.texts.tolist()
    (['“I', 'met', 'Mr.', 'Smith…”'], [0, 0, 0, 1])
    >>> block.spelling.words[3:], found.of_events.tolist()
    (('"', '...', 'I', 'Mr.', 'Smith', 'met'), [0, 0, 1, 2, 3, 3, 3, 3])
    """

    words: list[str]
    """As they are in the texts."""
    texts: NDArray[np.int64]
    """The text that each is in, from 0."""
    of_events: NDArray[np.int64]
    """The word that each event belongs to; a sentence end belongs to the word before it."""

    @classmethod
    def of(cls, texts: Sentences, block: LineBlock, text_format: TextFormat) -> SpacedWords:
        """Align words with the events of a block, which has the same texts, joined by white space.

        The tokens of a word depend on its neighbours, but not how many characters they have together.
        """
        tokenizer = Tokenizer() if text_format.tokenize else None
        words: list[str] = []
        sizes: list[int] = []
        numbers: list[int] = []
        for text in texts:
            of_text = split_line(text, text_format.split) if isinstance(text, str) else words_of(text) or []
            words += of_text
            numbers.append(len(of_text))
            if tokenizer is None:
                sizes += [1] * len(of_text)
            else:
                sizes += tokenizer.n_letters(of_text) if isinstance(text, str) else map(len, of_text)
        sizes = [0 if word in MARKERS else size for word, size in zip(words, sizes, strict=True)]
        ids, spelling = block.corpus.ids, block.spelling
        is_word = ids != END
        lengths = is_word * (1 if tokenizer is None else spelling.lengths[ids])
        ends = np.cumsum(sizes, dtype=np.int64)
        # The first character of a token, and the last one before a sentence end.
        characters = np.cumsum(lengths) - lengths - ~is_word
        of_events = np.searchsorted(ends, characters, side="right")
        return cls(words, np.repeat(np.arange(len(numbers)), numbers), of_events)


def read_line_blocks(
    name: str,
    text_format: TextFormat,
    *,
    progress: Progress | None = None,
    block_size: int = 1 << 22,
    live: bool = False,
) -> Iterator[LineBlock]:
    """Read a file, one sentence per line, as `read_corpus` does, but in blocks of whole lines.

    A line stays one sentence if it is tokenized as prose, too.

    A block has about `block_size` bytes; if `live`, it is what is there of a pipe or a terminal. A blank line
    at its end starts a document in the next block; at the end of the text it starts none. `BadDataError` is
    raised after the last block if none has words.
    """
    encoder = LineEncoder(_as_spelled(text_format))
    total = total_size([name])
    n_bytes = n_wide_spaces = 0
    wide_space = None
    has_words = after_mark = False
    for lines in read_texts(name, text_format.of_lines, block_size, live=live):
        block = replace(_line_block(encoder, lines, text_format), source=lines)
        n_bytes += len(lines.data)
        corpus, after_mark = _continue_documents(block.corpus, after_mark)
        n_wide_spaces += corpus.stats.n_wide_spaces
        wide_space = wide_space or corpus.stats.first_wide_space
        if corpus.n_events:
            if not has_words:
                warn_if_unsegmented(block.spelling)
            has_words = True
            yield replace(block, corpus=corpus)
        report_bytes(progress, lines.taken, total)
    if not has_words:
        raise no_words([name], n_bytes)
    warn_of_wide_spaces(ReadStats(n_wide_spaces=n_wide_spaces, first_wide_space=wide_space))


def block_of_sentences(sentences: Sentences, text_format: TextFormat) -> LineBlock:
    """Return sentences in memory, as `corpus_from_sentences` takes them, as lines; one may have no words.

    >>> block = block_of_sentences(["The cat", "", ["A", "dog"]], TextFormat(lowercase=True))
    >>> block.lines, block.spelling.words[3:], block.corpus.vocabulary.words[3:]
    (array([1, 3]), ('A', 'The', 'cat', 'dog'), ('a', 'the', 'cat', 'dog'))
    """
    blocks = lines_of_sentences(sentences, text_format.of_lines)
    lines = Lines(None, b"".join(block.data for block in blocks))
    block = _line_block(LineEncoder.of_sentences(_as_spelled(text_format)), lines, text_format)
    return replace(block, corpus=_continue_documents(block.corpus, False)[0])


def _as_spelled(text_format: TextFormat) -> TextFormat:
    """Return how lines are read whose words are normalized once they are spelled as in the text."""
    return msgspec.structs.replace(text_format.of_lines, lowercase=False, digits=None)


def _line_block(encoder: LineEncoder, lines: Lines, text_format: TextFormat) -> LineBlock:
    corpus, numbers = encoder.encode(lines)
    normalized = corpus.vocabulary
    if text_format.lowercase or text_format.digits:
        words = text_format.normalized(normalized.words)
        normalized = Vocabulary.from_encoded([word.encode() for word in words])
    return LineBlock(replace(corpus, vocabulary=normalized), corpus.vocabulary, numbers)


def _continue_documents(corpus: Corpus, after_mark: bool) -> tuple[Corpus, bool]:
    """Return the text with a mark in front, if one is due, and without one at its end; whether it had one."""
    starts = corpus.document_starts
    if after_mark and not np.any(starts[:1] == 0):
        starts = np.concatenate((np.zeros(1, np.int64), starts))
    at_end = bool(np.any(starts[-1:] == corpus.n_sentences))
    return replace(corpus, document_starts=starts[: len(starts) - at_end]), at_end
