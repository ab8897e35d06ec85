"""Files, or sentences in memory, to a corpus: how words are normalized, chosen and numbered."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from numbers import Integral
from typing import Any, Literal, TypeAlias

from stategram._core import TextEncoder
from stategram.errors import BadDataError, UsageError, WrongTypeError
from stategram.progress import Progress, report_bytes
from stategram.resources import Resources
from stategram.storage import shown_url
from stategram.text.corpus import Corpus, ReadStats
from stategram.text.feeding import BYTE_ORDER_MARK, LineTokenizer, compile_mark, feed_file
from stategram.text.reading import Source, display_name, file_names, total_size
from stategram.text.tokenizer import TOKENIZE_FORMS, TokenizeForm, Tokenizer, tokenization_record, tokenize
from stategram.text.unknown_words import require_known_words
from stategram.text.unsegmented import warn_if_unsegmented
from stategram.text.vocabulary import SPECIAL_WORDS, SPLITS, Split, Vocabulary, split_line
from stategram.wording import plural

_log = logging.getLogger(__name__)

_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*")

EncodingErrors = Literal["strict", "replace"]

Sentences: TypeAlias = "Iterable[str | Iterable[str] | Iterable[int]]"
"""Sentences in memory: strings, or lists of words, or lists of the integer ids of a tokenizer."""


@dataclass(frozen=True)
class Normalization:
    """How lines are split, and what is done with words before they are looked up; as in `read_corpus`.

    Examples
    --------
    >>> Normalization(lowercase=True, digits="N").apply(["The", "1,024", "<S>"])
    ['the', 'N', '<unk>']
    >>> Normalization(lowercase=True, tokenize="words").words("The end.")
    ['the', 'end', '.']

    """

    lowercase: bool = False
    digits: str | None = None
    split: Split = "unicode"
    tokenize: TokenizeForm | None = None

    def __post_init__(self) -> None:
        digits = self.digits
        if digits is not None and (digits.split() != [digits] or "\0" in digits or digits in SPECIAL_WORDS):
            raise UsageError(f"digits is {digits!r}; it must be one word, such as N")
        if self.split not in SPLITS:
            raise UsageError(f"split is {self.split!r}; it must be 'unicode' or 'ascii'")
        if self.tokenize is not None and self.tokenize not in TOKENIZE_FORMS:
            raise UsageError(f"tokenize is {self.tokenize!r}; it must be 'words', 'prose' or None")
        if self.tokenize is not None and self.split == "ascii":
            raise UsageError(
                "words that are split at ASCII white space only (--split ascii) are not tokenized "
                "(--tokenize), which would split them at no-break spaces; leave one of the two out"
            )

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Any], vocabulary: Vocabulary) -> Normalization:
        """Return that of the text which a model with this vocabulary was trained on."""
        form = (recipe.get("tokenize") or {}).get("form")
        if form is not None and form not in TOKENIZE_FORMS:
            raise BadDataError(
                f"the text of the model was tokenized as {form!r}, which is unknown; update stategram"
            )
        split = recipe.get("split") or ("unicode" if form else vocabulary.split)
        return cls(bool(recipe.get("lowercase")), recipe.get("digits") or None, split, form)

    @property
    def of_lines(self) -> Normalization:
        """The same for a text in which each line is one sentence, though it may be tokenized as prose."""
        return replace(self, tokenize="words") if self.tokenize else self

    def words(self, line: str) -> list[str]:
        """Return the normalized words of a line, which is one sentence."""
        if self.tokenize is not None:
            return self.apply(tokenize(line))
        return self.apply(split_line(line, self.split))

    def words_so_far(self, line: str) -> list[str]:
        """Return the normalized words of a line that a sentence begins with."""
        if self.tokenize is None:
            return self.words(line)
        # Before another word, the full stop of an abbreviation is not that of the sentence.
        return self.words(f"{line} a")[:-1]

    def apply(self, words: Sequence[str]) -> list[str]:
        """Return normalized words; one that becomes a sentence marker is unknown."""
        if not (self.lowercase or self.digits):
            return list(words)
        return [self._apply(word) for word in words]

    def _apply(self, word: str) -> str:
        if word in SPECIAL_WORDS:
            return word
        if self.digits and _NUMBER.fullmatch(word):
            return self.digits
        normalized = word.lower() if self.lowercase else word
        return SPECIAL_WORDS[0] if normalized in SPECIAL_WORDS else normalized


def read_corpus(
    source: Source,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    min_count: int = 1,
    lowercase: bool = False,
    digits: str | None = None,
    split: Split | None = None,
    tokenize: TokenizeForm | None = None,
    encoding_errors: EncodingErrors = "strict",
    document_mark: str | None = None,
    progress: Progress | None = None,
) -> Corpus:
    r"""Read text files, one sentence per line, words separated by white space.

    A blank line marks the start of a new document, unless there is a `document_mark`.

    Parameters
    ----------
    source
        A file, or several; ``-`` is stdin. Files compressed by gzip, xz, bzip2 or zstd are opened.
    vocabulary
        The words to know; by default, those of the text itself.
    vocabulary_size
        Keep this many of the most frequent words, not counting the special words.
    min_count
        Keep words that occur at least this often.
    lowercase
        Lowercase every word, as `str.lower` does.
    digits
        The word that replaces every number, that is ``[+-]?[0-9]+([.,][0-9]+)*``.
    split
        Words are separated by white space: ``"unicode"`` is what `str.split` knows, no-break spaces and
        U+0085 too; ``"ascii"`` is that of `bytes.split` alone. By default ``"unicode"``, unless the given
        vocabulary has words that it would split.
    tokenize
        For raw text: ``"words"`` makes words of each line, as `tokenize` does; ``"prose"`` splits lines into
        sentences too, as `tokenize_prose` does. By default words are separated in the text already.
    encoding_errors
        What to do with bytes that are not UTF-8, and NUL: ``"strict"`` is an error, ``"replace"`` puts
        U+FFFD in their place, as `bytes.decode` does.
    document_mark
        A regular expression: a line in which `re.search` finds it, as it is in the file but without its line
        end, starts a new document and is a sentence all the same. Blank lines mark nothing then.
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
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = pathlib.Path(place, "text.txt")
    ...     _ = file.write_text("the cat sat\n\non the mat\n")
    ...     corpus = read_corpus(file, vocabulary_size=2)
    >>> corpus.vocabulary.words, corpus.ids.tolist()
    (('<unk>', '<s>', '</s>', 'the', 'cat'), [3, 4, 0, 2, 0, 3, 0, 2])
    >>> corpus.document_starts.tolist()
    [1]

    """
    names = file_names(source)
    if not names:
        raise UsageError("no files to read; give at least one, or - for stdin")
    normalization = normalization_of_text(lowercase, digits, split, tokenize, vocabulary)
    options = EncodingOptions(vocabulary, vocabulary_size, min_count, normalization, encoding_errors)
    mark = compile_mark(document_mark)
    encoder, tokenizer = options.encoder(), options.tokenizer()
    total = total_size(names)
    done = n_bytes = 0
    wide_space = None
    for name in names:
        taken = 0
        for size, taken, first_wide_space in feed_file(encoder, name, mark, normalization.split, tokenizer):
            n_bytes += size
            wide_space = wide_space or first_wide_space
            if size:
                report_bytes(progress, done + taken, total)
        done += taken
    corpus = options.corpus(encoder, tuple(map(shown_url, names)), n_bytes, wide_space, tokenizer)
    if corpus.n_events == 0:
        raise no_words(names, n_bytes)
    warn_of_wide_spaces(corpus.stats)
    if vocabulary is None:
        warn_if_unsegmented(corpus.vocabulary)
    return corpus


def corpus_from_sentences(
    sentences: Sentences,
    *,
    vocabulary: Vocabulary | None = None,
    vocabulary_size: int | None = None,
    min_count: int = 1,
    lowercase: bool = False,
    digits: str | None = None,
    split: Split | None = None,
    tokenize: TokenizeForm | None = None,
) -> Corpus:
    """Return a corpus of sentences in memory: strings, which are split at white space, or lists of words.

    A word may be an integer, as the ids of a tokenizer are: it stands for the word of its decimal digits.
    With `tokenize`, strings are raw text; lists of words stay as they are.

    The other parameters, and how words are encoded, are as in `read_corpus`. Sentences without words are left
    out; one that is empty, or only white space, marks the start of a new document.

    Examples
    --------
    >>> corpus_from_sentences(["the cat sat", ["the", "dog"]])
    Corpus(7 events, 2 sentences, Vocabulary(7 words))
    >>> corpus_from_sentences([[101, 7, 7], [7]]).vocabulary.words
    ('<unk>', '<s>', '</s>', '7', '101')

    """
    normalization = normalization_of_text(lowercase, digits, split, tokenize, vocabulary)
    corpus = _encode(sentences, EncodingOptions(vocabulary, vocabulary_size, min_count, normalization))
    if vocabulary is None:  # with one, a text is scored, perhaps sentence by sentence
        warn_of_wide_spaces(corpus.stats)
        warn_if_unsegmented(corpus.vocabulary)
    return corpus


def _encode(sentences: Sentences, options: EncodingOptions) -> Corpus:
    if isinstance(sentences, str | bytes):
        raise WrongTypeError("expected a list of sentences, got a string; for a file use read_corpus(path)")
    if not isinstance(sentences, Iterable):
        raise WrongTypeError(f"expected a list of sentences, got {type(sentences).__name__}")
    encoder = options.encoder()
    n_bytes = 0
    for block in sentence_blocks(sentences, options.normalization):
        bad = encoder.feed(block if n_bytes else BYTE_ORDER_MARK + block)
        n_bytes += len(block)
        if bad:
            raise BadDataError(f"sentence {bad[0]}: a NUL character; remove it")
    wide_space = f"sentence {encoder.wide_space_line}" if encoder.wide_spaces else None
    return options.corpus(encoder, (), n_bytes, wide_space)


def text_settings(
    normalization: Normalization,
    *,
    vocabulary_size: int | None,
    vocabulary_file: str | None,
    encoding_errors: EncodingErrors,
    document_mark: str | None,
) -> dict[str, Any]:
    """Return how a text is read, as manifests have it; `Normalization.from_recipe` reads a part of it."""
    return {
        "vocabulary_size": vocabulary_size,
        "vocabulary_file": vocabulary_file,
        "lowercase": normalization.lowercase,
        "digits": normalization.digits,
        "split": normalization.split,
        "tokenize": tokenization_record(normalization.tokenize),
        "encoding_errors": encoding_errors,
        "document_mark": document_mark,
    }


def normalization_of_text(
    lowercase: bool,
    digits: str | None,
    split: Split | None,
    tokenize: TokenizeForm | None,
    vocabulary: Vocabulary | None,
) -> Normalization:
    """Return what the parameters of `read_corpus` mean."""
    default = vocabulary.split if vocabulary and not tokenize else "unicode"
    return Normalization(lowercase, digits, split or default, tokenize)


def warn_of_wide_spaces(stats: ReadStats) -> None:
    """Log a warning if white space outside ASCII, which may belong to words, has split a text."""
    if stats.n_wide_spaces:
        _log.warning(
            "%s: %s outside ASCII, such as a no-break space; it separates words, unless they are split at "
            "ASCII white space only (--split ascii, split='ascii' in Python)",
            stats.first_wide_space,
            plural(stats.n_wide_spaces, "white space character"),
        )


def spelled_corpus(vocabulary: Vocabulary, text: Corpus | Sentences) -> Corpus:
    """Return a corpus as it is, or sentences with a vocabulary of their own, split as another one is."""
    if isinstance(text, Corpus):
        return text
    return _encode(text, EncodingOptions(normalization=Normalization(split=vocabulary.split)))


def as_corpus(vocabulary: Vocabulary, text: Corpus | Sentences) -> Corpus:
    """Return a corpus, or sentences, in a vocabulary; refuse a text that has no word of it."""
    text = spelled_corpus(vocabulary, text)
    corpus = text.in_vocabulary(vocabulary)
    require_known_words(text, corpus)
    return corpus


def sentence_blocks(sentences: Sentences, normalization: Normalization) -> Iterator[bytes]:
    """Yield sentences in memory as lines of text, tokenized if need be; refuse what is no sentence."""
    form = normalization.tokenize
    tokenizer = None if form is None else Tokenizer(form)
    lines = (
        _line(number, sentence, normalization.split, tokenizer)
        for number, sentence in enumerate(sentences, 1)
    )
    while block := "".join(islice(lines, 10_000)):
        try:
            yield block.encode()
        except UnicodeEncodeError as error:
            raise BadDataError(
                f"a surrogate, {block[error.start]!r}, in a sentence; decode the text as UTF-8"
            ) from error


def _line(
    number: int, sentence: str | Iterable[str] | Iterable[int], split: Split, tokenizer: Tokenizer | None
) -> str:
    if isinstance(sentence, str):
        line = sentence.replace("\n", " ") + "\n"
        if tokenizer is None:
            return line
        if "\0" in line:
            raise BadDataError(f"sentence {number}: a NUL character; remove it")
        return tokenizer.lines(line)
    words = words_of(sentence)
    if words is None:
        raise WrongTypeError(
            f"sentence {number}: found {sentence!r:.40}; expected a string, or a list of words or of integers"
        )
    check_words(words, split, f"sentence {number}: ")
    return " ".join(words) + "\n"


def check_words(words: Sequence[str], split: Split, where: str = "") -> None:
    """Refuse words that are empty or hold white space: most likely they are sentences.

    >>> check_words(["the cat sat"], "unicode")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    stategram.errors.UsageError: the word 'the cat sat' is empty or holds white space; give the sentence ...
    """
    if split_line(" ".join(words), split) == words:
        return
    word = next(word for word in words if split_line(word, split) != [word])
    fitting = split_line(word, "ascii") == [word]
    raise UsageError(
        f"{where}the word {word!r} is empty or holds white space; give the sentence as one "
        "string to have it split"
        + (", or make a corpus with split='ascii' to keep the word" if fitting else "")
    )


def words_of(sentence: object) -> list[str] | None:
    """Return the words of a list of words or of integers, or an array of these; None if it is none.

    >>> import numpy as np
    >>> words_of(["the", "cat"]), words_of(np.array([101, 7]))
    (['the', 'cat'], ['101', '7'])
    """
    if isinstance(sentence, bytes) or not isinstance(sentence, Iterable):
        return None
    words = sentence.tolist() if hasattr(sentence, "tolist") else list(sentence)
    if all(isinstance(word, str) for word in words):
        return words
    if all(isinstance(word, Integral) and not isinstance(word, bool) for word in words):
        return list(map(str, words))
    return None


@dataclass(frozen=True)
class EncodingOptions:
    """How bytes become a corpus, whatever they are read from."""

    vocabulary: Vocabulary | None = None
    vocabulary_size: int | None = None
    min_count: int = 1
    normalization: Normalization = Normalization()
    encoding_errors: EncodingErrors = "strict"

    def __post_init__(self) -> None:
        if self.vocabulary is not None and (self.vocabulary_size is not None or self.min_count != 1):
            raise UsageError("a vocabulary was given: vocabulary_size and min_count cannot be used with it")
        if self.vocabulary_size is not None and self.vocabulary_size < 1:
            raise UsageError(f"vocabulary_size is {self.vocabulary_size}; it must be at least 1")
        if self.min_count < 1:
            raise UsageError(f"min_count is {self.min_count}; it must be at least 1")
        if self.encoding_errors not in ("strict", "replace"):
            raise UsageError(f"encoding_errors is {self.encoding_errors!r}; it must be 'strict' or 'replace'")

    def encoder(self) -> TextEncoder:
        """Return an encoder, to which the bytes are fed."""
        return TextEncoder(
            self.normalization.lowercase,
            self.encoding_errors == "replace",
            Resources.current().threads,
            self.normalization.split == "ascii",
        )

    def tokenizer(self) -> LineTokenizer | None:
        """Return what tokenizes lines before they are fed, if anything does."""
        form = self.normalization.tokenize
        return form and LineTokenizer(form, replace_errors=self.encoding_errors == "replace")

    def corpus(
        self,
        encoder: TextEncoder,
        files: tuple[str, ...],
        n_bytes: int,
        wide_space: str | None,
        tokenizer: LineTokenizer | None = None,
    ) -> Corpus:
        """Return the corpus of all that was fed to an encoder; `wide_space` is where the first one is."""
        # Python has the tables for lower case outside ASCII: all distinct words at once. A line end is not a
        # letter, so each word is lowercased as if it stood alone.
        lowered = encoder.wide_words().decode().lower().encode() if self.normalization.lowercase else b""
        encoder.merge(lowered, (self.normalization.digits or "").encode())
        vocabulary = self.vocabulary
        if vocabulary is None:
            size = 2**63 if self.vocabulary_size is None else self.vocabulary_size
            vocabulary = Vocabulary(*encoder.choose_vocabulary(size, self.min_count))
        else:
            encoder.use_vocabulary(vocabulary.letters, vocabulary.offsets)
        ids, sentence_starts, document_starts = encoder.encode()
        replaced = encoder.replaced + (tokenizer.n_replaced if tokenizer else 0)
        stats = ReadStats(files, n_bytes, replaced, encoder.dropped, encoder.wide_spaces, wide_space)
        return Corpus(ids, sentence_starts, vocabulary, stats, document_starts)


def no_words(names: Sequence[str], n_bytes: int) -> BadDataError:
    """Return the error for files without words."""
    return BadDataError(
        f"no words in {', '.join(map(display_name, names))} ({n_bytes} bytes of text); "
        "expected one sentence per line, words separated by white space"
    )
