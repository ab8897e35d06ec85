"""How text is read: every setting, declared once.

The options of the command line, the entry in manifests and the documentation are made from these fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta

from stategram.errors import BadDataError, UsageError
from stategram.storage import check_fields
from stategram.text.tokenizer import TokenizeForm, tokenize, tokenizer_version
from stategram.text.vocabulary import SPECIAL_WORDS, Split, Vocabulary, split_line

EncodingErrors = Literal["strict", "replace"]
# To compile a long regular expression takes long, and a model file may have any.
_Short = Annotated[str, Meta(max_length=1000)]
# A regular expression may take forever; lines take some microseconds.
_SECONDS_PER_LINE = 2.0
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*")
_NOT_IN_WORDS = re.compile(r"[\0\ud800-\udfff]")


class TextFormat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How lines of text become words.

    Parameters
    ----------
    {fields}

    Examples
    --------
    >>> text_format = TextFormat(lowercase=True, digits="N", tokenize="words")
    >>> text_format.words("The 1,024 cats.")
    ['the', 'N', 'cats', '.']
    >>> text_format.override({{"digits": None}}).words("The 1,024 cats.")
    ['the', '1,024', 'cats', '.']

    """

    lowercase: Annotated[bool, Meta(description="lowercase all words")] = False
    digits: Annotated[
        _Short | None,
        Meta(
            description="replace each number by this word, such as N",
            extra={"metavar": "WORD"},
        ),
    ] = None
    split: Annotated[
        Split,
        Meta(
            description="white space between words: unicode includes no-break spaces and U+0085, ascii "
            "excludes them"
        ),
    ] = "unicode"
    tokenize: Annotated[
        TokenizeForm | None,
        Meta(
            description="raw text: split punctuation from words, by the rules of Unicode; prose splits lines "
            "into sentences too, and joins those of a paragraph first if they are hard-wrapped"
        ),
    ] = None
    encoding_errors: Annotated[
        EncodingErrors,
        Meta(description="bytes that are not UTF-8, and NUL: strict is an error, replace puts U+FFFD"),
    ] = "strict"
    document_mark: Annotated[
        _Short | None,
        Meta(
            description="lines in which this regular expression is found start documents; without it, lines "
            "after a blank one do",
            extra={"metavar": "REGEX"},
        ),
    ] = None
    text_column: Annotated[
        _Short | None,
        Meta(
            description="column with the text of a table: a file named .csv .tsv .jsonl .parquet or .arrow; "
            "by default text",
            extra={"metavar": "NAME"},
        ),
    ] = None
    tokenizer: Annotated[
        str | None, Meta(description="the tokenizer's version, if text is tokenized; by default this one")
    ] = None

    def __post_init__(self) -> None:
        """Raise a UsageError for a value that is not possible."""
        check_fields(self)
        digits = self.digits
        if digits is not None and (
            digits.split() != [digits] or _NOT_IN_WORDS.search(digits) or digits in SPECIAL_WORDS
        ):
            raise UsageError(f"digits is {digits!r}; it must be one word, such as N")
        if self.tokenize is not None and self.split == "ascii":
            raise UsageError(
                "words that are split at ASCII white space only (--split ascii) are not tokenized "
                "(--tokenize), which would split them at no-break spaces; leave one of the two out"
            )
        version = None if self.tokenize is None else self.tokenizer or tokenizer_version()
        msgspec.structs.force_setattr(self, "tokenizer", version)
        self.document_pattern  # noqa: B018  that refuses what is no regular expression

    @classmethod
    def of_words(cls, vocabulary: Vocabulary | None) -> TextFormat:
        """Return the default format of a text in some words, none of which it may split."""
        return _format_of_split("unicode" if vocabulary is None else vocabulary.split)

    def override(self, given: TextFormat | Mapping[str, Any] | None) -> TextFormat:
        """Return this format with other values of some fields, or another format instead."""
        if not given:
            return self
        if isinstance(given, TextFormat):
            return given
        if not isinstance(given, Mapping):
            raise TypeError(f"text_format is {given!r:.60}; expected a TextFormat or a mapping of settings")
        names = [name for name in self.__struct_fields__ if name != "tokenizer"]
        for name in given:
            if name not in names:
                raise UsageError(f"text has no setting {name!r}; there are {', '.join(names)}")
        fields = msgspec.structs.asdict(self)
        if "tokenize" in given:
            fields["tokenizer"] = None
        return TextFormat(**fields | dict(given))

    @property
    def normalization(self) -> TextFormat:
        """What is done with words alone, whatever file they are in."""
        of_files = {"encoding_errors": "strict", "document_mark": None, "text_column": None}
        return self.override({"tokenize": self.tokenize, **of_files})

    @property
    def remembered(self) -> dict[str, Any]:
        """The settings as manifests have them: without the column, which is that of one file."""
        fields = msgspec.structs.asdict(self).items()
        return {name: value for name, value in fields if name != "text_column"}

    @property
    def of_lines(self) -> TextFormat:
        """The same for a text in which each line is one sentence, though it may be tokenized as prose."""
        return msgspec.structs.replace(self, tokenize=self.tokenize and "words")

    @property
    def document_pattern(self) -> Callable[[str], bool] | None:
        """The test by regular expression of the lines that start documents."""
        if self.document_mark is None:
            return None
        import regex

        try:
            search = regex.compile(self.document_mark).search
        except (regex.error, RecursionError, OverflowError) as error:
            raise UsageError(
                f"document_mark is {self.document_mark!r}, an invalid regular expression ({error}); "
                "expected one as Python's re reads it, such as '^ = [^=]'"
            ) from error

        def is_mark(line: str) -> bool:
            try:
                return search(line, timeout=_SECONDS_PER_LINE) is not None
            except TimeoutError:
                raise BadDataError(
                    f"the document mark {self.document_mark!r} takes more than {_SECONDS_PER_LINE:g} seconds "
                    f"for the line {line[:40]!r}; choose another one with --document-mark"
                ) from None

        return is_mark

    @property
    def tokenizer_note(self) -> str | None:
        """A note if text was tokenized by other rules, or another version of Unicode's, than these."""
        if self.tokenizer in (None, now := self.tokenize and tokenizer_version()):
            return None
        return f"tokenized by {self.tokenizer} in training, by {now} here; a few words may differ"

    def words(self, line: str) -> list[str]:
        """Return the normalized words of a line, which is one sentence."""
        return self.normalized(split_line(line, self.split) if self.tokenize is None else tokenize(line))

    def words_so_far(self, line: str) -> list[str]:
        """Return the normalized words of a line that a sentence begins with."""
        if self.tokenize is None:
            return self.words(line)
        # Before another word, the full stop of an abbreviation is not that of the sentence.
        return self.words(f"{line} a")[:-1]

    def normalized(self, words: Sequence[str]) -> list[str]:
        """Return words in lower case, and numbers replaced; one that becomes a sentence marker is unknown.

        >>> TextFormat(lowercase=True, digits="N").normalized(["The", "1,024", "<S>"])
        ['the', 'N', '<unk>']
        """
        if not (self.lowercase or self.digits):
            return list(words)
        return [self._normalized(word) for word in words]

    def _normalized(self, word: str) -> str:
        if word in SPECIAL_WORDS:
            return word
        if self.digits and _NUMBER.fullmatch(word):
            return self.digits
        normalized = word.lower() if self.lowercase else word
        return SPECIAL_WORDS[0] if normalized in SPECIAL_WORDS else normalized


@cache
def _format_of_split(split: Split) -> TextFormat:
    return TextFormat(split=split)


TextFormat.__doc__ = (TextFormat.__doc__ or "").format(
    fields="\n    ".join(
        f"{field.name}\n        {field.type.__metadata__[0].description[:1].upper()}"
        f"{field.type.__metadata__[0].description[1:]}."
        for field in msgspec.structs.fields(TextFormat)
    )
)

FormatOverride: TypeAlias = "TextFormat | Mapping[str, Any] | None"
"""How a text is read: a format, or the settings that differ from the default, or from a model's training."""


@dataclass(frozen=True)
class WordChoice:
    """Which words of a text are known, all others being ``<unk>``: the parameters of `read_corpus`."""

    vocabulary: Vocabulary | None = None
    vocabulary_size: int | None = None
    min_count: int = 1

    def __post_init__(self) -> None:
        if self.vocabulary is not None and (self.vocabulary_size is not None or self.min_count != 1):
            raise UsageError("a vocabulary was given: vocabulary_size and min_count cannot be used with it")
        if self.vocabulary_size is not None and self.vocabulary_size < 1:
            raise UsageError(f"vocabulary_size is {self.vocabulary_size}; it must be at least 1")
        if self.min_count < 1:
            raise UsageError(f"min_count is {self.min_count}; it must be at least 1")

    @property
    def max_words(self) -> int:
        """The number of words to keep, as the kernels take it."""
        return min(self.vocabulary_size or 2**63, 2**63)
