"""The tag of each word of a vocabulary: from a list, from a treebank, or guessed. Brill's are in `brill`."""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stategram.display import plural
from stategram.errors import BadDataError, UsageError
from stategram.storage import COMPRESSED_SUFFIXES
from stategram.tables import word_table
from stategram.text import SPECIAL_WORDS, Vocabulary, check_utf8, display_name, read_all

TAG_SOURCES = ("lexicon", "rule", "fallback")
_DIGIT = re.compile(r"\d")
NO_TAG = "UNK-TAG"
"""The tag of unknown words."""

CONLLU_COLUMNS = {"upos": 3, "xpos": 4}

_COMPRESSED = "|".join(map(re.escape, COMPRESSED_SUFFIXES))
_TREEBANK = re.compile(rf"(?P<path>.*\.conllu({_COMPRESSED})?)(:(?P<column>[^/\\]*))?", re.IGNORECASE)

# A tag is guessed if this many different words have the same suffix and agree.
_MIN_AGREEING = 3

_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WORD_ID = re.compile(rb"[1-9][0-9]*")
_SKIPPED_ID = re.compile(rb"[1-9][0-9]*-[1-9][0-9]*|[0-9]+\.[1-9][0-9]*")


@dataclass(frozen=True)
class TagCounts:
    """The number of words of a vocabulary, and of their tokens in the text."""

    words: int
    tokens: int


@dataclass(frozen=True, eq=False)
class TagMap:
    """The tag of each word of a vocabulary.

    Parameters
    ----------
    tags
        The names of the tags: first those of ``<unk>``, ``<s>`` and ``</s>``, which are named like the words,
        then the others in alphabetical order. Each is the tag of some word.
    labels
        The number of the tag of each word, by its id.
    source
        How many words have their tag from the lexicon or file (``lexicon``), from similar words (``rule``),
        or by default (``fallback``). The special words are not counted.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_words(["the", "cat"])
    >>> tags = tag_words(vocabulary, [("DT", "lexicon"), ("NN", "fallback")])
    >>> tags.tags, tags.tag(vocabulary.id("cat")), tags.source["fallback"].words
    (('<unk>', '<s>', '</s>', 'DT', 'NN'), 'NN', 1)

    """

    tags: tuple[str, ...]
    labels: NDArray[np.uint32]
    source: Mapping[str, TagCounts]

    def __len__(self) -> int:
        """Return the number of tags, those of the special words included."""
        return len(self.tags)

    def __repr__(self) -> str:
        return f"TagMap({len(self.tags)} tags of {len(self.labels)} words)"

    @property
    def coverage(self) -> float:
        """The fraction of the tokens, or of the words if none has a count, with a tag from the lexicon."""
        tokens = sum(counts.tokens for counts in self.source.values())
        if tokens:
            return self.source["lexicon"].tokens / tokens
        return self.source["lexicon"].words / max(sum(counts.words for counts in self.source.values()), 1)

    def tag(self, id: int) -> str:
        """Return the tag of the word with an id."""
        if not 0 <= id < len(self.labels):
            raise IndexError(f"no word has the id {id}: ids are 0..{len(self.labels) - 1}")
        return self.tags[int(self.labels[id])]


def is_lower_case(vocabulary: Vocabulary) -> bool:
    """Return whether all words are in lower case, except at most one that may stand for numbers, such as N.

    >>> is_lower_case(Vocabulary.from_words(["the", "N"])), is_lower_case(Vocabulary.from_words(["The"]))
    (True, False)
    """
    others = [word for word in vocabulary.words if word != word.lower()]
    return not others or (len(others) == 1 and others[0].isupper())


def tag_words(vocabulary: Vocabulary, tags_and_sources: Iterable[tuple[str, str]]) -> TagMap:
    """Return a map from the tag of each word after the special ones and its source, one of `TAG_SOURCES`."""
    pairs = list(tags_and_sources)
    names = sorted({tag for tag, _ in pairs})
    tags = (*SPECIAL_WORDS, *names)
    number = {tag: i for i, tag in enumerate(names, len(SPECIAL_WORDS))}
    labels = np.arange(len(vocabulary), dtype=np.uint32)
    labels[len(SPECIAL_WORDS) :] = [number[tag] for tag, _ in pairs]
    origin = np.array([TAG_SOURCES.index(source) for _, source in pairs], np.intp)
    words = np.bincount(origin, minlength=len(TAG_SOURCES))
    # Counts fit into the 53 bits of a double.
    tokens = np.bincount(origin, vocabulary.counts[len(SPECIAL_WORDS) :], minlength=len(TAG_SOURCES))
    return TagMap(
        tags,
        labels,
        {name: TagCounts(int(words[i]), int(tokens[i])) for i, name in enumerate(TAG_SOURCES)},
    )


def most_frequent(tags: Mapping[str, int]) -> str:
    """Return the tag with the highest count; of several the first in alphabetical order.

    >>> most_frequent({"VB": 2, "NN": 2, "JJ": 1})
    'NN'
    """
    return min(tags, key=lambda tag: (-tags[tag], tag))


class SuffixGuesser:
    """Guesses the tag that most known words with the same suffix have.

    Each known word counts once: unknown words are rare, and rare words resemble other rare words, not
    frequent ones. The longest known suffix decides: those of the given lengths are looked up, in this order,
    except of fewer than `min_words` words or with fewer than `min_agreeing` of the same tag. All digits count
    as the same letter.
    """

    def __init__(
        self,
        known: Iterable[tuple[str, str]],
        lengths: Iterable[int],
        *,
        min_words: int = 1,
        min_agreeing: int = 1,
    ) -> None:
        self._lengths = tuple(lengths)
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for word, tag in known:
            for suffix in self._suffixes(word):
                counts[suffix][tag] += 1
        self._tags = {
            suffix: most_frequent(tags)
            for suffix, tags in counts.items()
            if tags.total() >= min_words and max(tags.values()) >= min_agreeing
        }

    def guess(self, word: str) -> str | None:
        """Return the tag of the words that end like this one; None if there are none."""
        for suffix in self._suffixes(word):
            if tag := self._tags.get(suffix):
                return tag
        return None

    def _suffixes(self, word: str) -> list[str]:
        plain = word if word.isalpha() else _DIGIT.sub("0", word)
        return [plain[-length:] for length in self._lengths if len(plain) >= length]


def parse_tags(source: str, vocabulary: Vocabulary, *, guess: bool = True) -> TagMap:
    """Return the tags of a vocabulary from ``brill``, ``tags.tsv``, ``bank.conllu`` or ``bank.conllu:xpos``.

    A file named ``.conllu`` is a treebank; any other has one word and its tag per line. `guess` is for these
    two, as in `tags_from_file`.
    """
    if not source.strip():
        raise UsageError("no source of tags; give brill, a file of words and tags, or a .conllu file")
    if source == "brill":
        if not guess:
            raise UsageError(
                "brill has its own rules for unknown words; guessing can be turned off for files only"
            )
        from stategram.contexts.brill import tags_from_brill

        return tags_from_brill(vocabulary)
    if treebank := _TREEBANK.fullmatch(source):
        column = "upos" if treebank["column"] is None else treebank["column"]
        return tags_from_conllu(treebank["path"], vocabulary, column, guess=guess)
    path, colon, column = source.rpartition(":")
    if colon and column in CONLLU_COLUMNS:
        raise UsageError(
            f"the column {column} is given for {path}, which is not named .conllu; leave the column out, "
            "or rename the file if it is CoNLL-U"
        )
    return tags_from_file(source, vocabulary, guess=guess)


def check_tags(source: str, *, guess: bool = True) -> None:
    """Raise the error that `parse_tags` would raise for any vocabulary, unless it reads stdin."""
    if file_of_tags(source) != "-":
        parse_tags(source, Vocabulary.from_words([]), guess=guess)


def file_of_tags(source: str) -> str | None:
    """Return the name of the file that `parse_tags` would read; None if it reads none."""
    if source == "brill":
        return None
    treebank = _TREEBANK.fullmatch(source)
    return treebank["path"] if treebank else source


def tags_from_file(path: str | os.PathLike[str], vocabulary: Vocabulary, *, guess: bool = True) -> TagMap:
    r"""Read the tags of words from a file: ``word<TAB>tag``, with or without a count after it.

    Or from a table (tsv, csv, jsonl or parquet) with columns named ``word`` and ``tag``.

    A word that is not in the file has the tag of the same word in another case; otherwise that of most words
    of the file with the same last three letters, if at least three of them agree; otherwise ``UNK-TAG``.
    `TagMap.source` counts these as ``rule``, ``rule`` and ``fallback``.

    Parameters
    ----------
    path
        A file, plain or compressed; ``-`` is stdin.
    vocabulary
        The words that need tags.
    guess
        Whether tags are guessed from the last letters.

    Raises
    ------
    BadDataError
        If a line is malformed, is not UTF-8, or gives a word a second tag; if there is no line; or if no word
        of the vocabulary is in the file, in whatever case.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as place:
    ...     path = pathlib.Path(place, "tags.tsv")
    ...     _ = path.write_text("the\tDT\nnation\tNN\nration\tNN\nmotion\tNN\n")
    ...     tags = tags_from_file(path, Vocabulary.from_words(["The", "nation", "station", "bathe"]))
    >>> [tags.tags[label] for label in tags.labels[3:]]
    ['DT', 'NN', 'NN', 'UNK-TAG']

    """
    name, data = _read(path)
    tags: dict[str, str] = {}
    where: dict[str, str] = {}
    for place, word, tag in _words_and_tags(name, data):
        if word in SPECIAL_WORDS:
            continue
        if tags.setdefault(word, tag) != tag:
            raise BadDataError(
                f"{place}: {word!r} has the tag {tag}, but {where[word]} gave it {tags[word]}; "
                "a word has one tag: remove one of the two lines"
            )
        where.setdefault(word, place)
        _check_tag(tag, place)
    if not tags:
        raise BadDataError(f"{name}:1: no word with a tag is in the file; expected word<TAB>tag on each line")
    return _tag(name, vocabulary, tags, {word: Counter([tag]) for word, tag in tags.items()}, guess)


def tags_from_conllu(
    path: str | os.PathLike[str], vocabulary: Vocabulary, column: str = "upos", *, guess: bool = True
) -> TagMap:
    """Read the tags of words from a treebank in CoNLL-U: the most frequent tag of each word.

    Of equally frequent tags, the first in alphabetical order is taken. If the vocabulary is in lower case,
    the words of the treebank are lowercased. Words that are not in the treebank are tagged as in
    `tags_from_file`.

    Parameters
    ----------
    path
        A file, plain or compressed; ``-`` is stdin.
    vocabulary
        The words that need tags.
    column
        ``upos`` for universal tags, ``xpos`` for those of the language.
    guess
        As in `tags_from_file`.

    Raises
    ------
    BadDataError
        If a line does not have ten columns or a valid number, or if the column has no tags.

    """
    if column not in CONLLU_COLUMNS:
        raise UsageError(f"there is no column {column!r} of tags; choose one of {', '.join(CONLLU_COLUMNS)}")
    name, data = _read(path)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    lower = is_lower_case(vocabulary)
    empty = None
    for number, line in _lines(name, data):
        row = line.rstrip(b"\r")
        if not row.strip() or row.startswith(b"#"):
            continue
        columns = row.split(b"\t")
        _check_columns(columns, name, number)
        if _SKIPPED_ID.fullmatch(columns[0]):
            continue
        word, tag = columns[1].decode(), columns[CONLLU_COLUMNS[column]].decode()
        if tag == "_":
            empty = empty or number
            continue
        _check_tag(tag, f"{name}:{number}")
        counts[word.lower() if lower else word][tag] += 1
    if not counts and empty:
        other = next(key for key in CONLLU_COLUMNS if key != column)
        raise BadDataError(f"{name}:{empty}: the column {column} holds no tags, only _; choose {other}")
    if not counts:
        raise BadDataError(f"{name}:1: no word is in the file; expected CoNLL-U, ten columns per word")
    return _tag(name, vocabulary, {word: most_frequent(tags) for word, tags in counts.items()}, counts, guess)


def _tag(
    name: str, vocabulary: Vocabulary, tags: dict[str, str], counts: Mapping[str, Counter[str]], guess: bool
) -> TagMap:
    in_lower_case: dict[str, Counter[str]] = defaultdict(Counter)
    for word, seen in counts.items():
        in_lower_case[word.lower()].update(seen)
    words = vocabulary.words[len(SPECIAL_WORDS) :]
    if words and not any(word.lower() in in_lower_case for word in words):
        raise BadDataError(
            f"{name}: none of the {len(words):,} words that need a tag is in the file; "
            "check that file and text are of the same language and tokenization"
        )
    known = ((word, most_frequent(seen)) for word, seen in in_lower_case.items()) if guess else ()
    guesser = SuffixGuesser(known, [3], min_agreeing=_MIN_AGREEING)

    def find(word: str) -> tuple[str, str]:
        if tag := tags.get(word):
            return tag, "lexicon"
        lower = word.lower()
        if seen := in_lower_case.get(lower):
            return most_frequent(seen), "rule"
        if tag := guesser.guess(lower):
            return tag, "rule"
        return NO_TAG, "fallback"

    return tag_words(vocabulary, map(find, words))


def _read(path: str | os.PathLike[str]) -> tuple[str, bytes]:
    """Return the name of a file for messages, and its bytes."""
    return display_name(os.fspath(path)), read_all(os.fspath(path)).removeprefix(b"\xef\xbb\xbf")


def _lines(name: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    """Return the lines of a text with their numbers."""
    check_utf8(name, data)
    return enumerate(data.split(b"\n"), 1)


def _words_and_tags(name: str, data: bytes) -> Iterator[tuple[str, str, str]]:
    """Yield the place of each word with a tag, the word and its tag, of a table or of lines without names."""
    table = word_table(name, data, "tag")
    if table is not None:
        for row, (word, tag) in enumerate(zip(table.columns["word"], table.columns["tag"], strict=True)):
            yield table.where(row), word, tag
        return
    for number, line in _lines(name, data):
        columns = line.split()
        if not columns:
            continue
        if len(columns) not in (2, 3) or (len(columns) == 3 and not _NUMBER.fullmatch(columns[2])):
            shown = b" ".join(columns[:6]).decode()
            raise BadDataError(
                f"{name}:{number}: found {plural(len(columns), 'column')}, {shown[:80]!r}; a tag file has "
                "word<TAB>tag or word<TAB>tag<TAB>count on each line; correct the line"
            )
        yield f"{name}:{number}", columns[0].decode(), columns[1].decode()


def _check_columns(columns: list[bytes], name: str, number: int) -> None:
    if len(columns) != 10:
        raise BadDataError(
            f"{name}:{number}: found {plural(len(columns), 'column')}; a word in CoNLL-U has 10, "
            "separated by tabs; correct the line"
        )
    if not (_WORD_ID.fullmatch(columns[0]) or _SKIPPED_ID.fullmatch(columns[0])):
        raise BadDataError(
            f"{name}:{number}: the line begins with {columns[0].decode()[:20]!r}; expected the number of a "
            "word, such as 3, 3-4 or 3.1"
        )


def _check_tag(tag: str, place: str) -> None:
    if tag in SPECIAL_WORDS:
        raise BadDataError(f"{place}: the tag {tag} is that of a special word; give the word another tag")
    if not tag or tag.split() != [tag] or not tag.isprintable():
        raise BadDataError(
            f"{place}: the tag {tag!r} is empty, or contains white space or a control character; "
            "correct the line"
        )
