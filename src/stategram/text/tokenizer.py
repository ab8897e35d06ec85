r"""Raw text to words, and prose to sentences, for text that nobody has tokenized before.

Words are those of Unicode's default word boundaries (UAX #29), as the package `regex` knows them, so that
any language that separates its words is tokenized in the same way. What UAX #29 leaves to its users is
decided for language models:

- Signs are made plain first: typographic quotation marks become ``"`` and ``'``, ``—`` becomes ``--``, ``–``
  and other hyphens ``-``, ``…`` becomes ``...``; soft hyphens and byte order marks are dropped.
- Every punctuation mark, symbol and emoji is a word. ``--`` and ``...`` are one.
- Hyphenated words and numbers stay whole (``fellow-citizens``, ``1,000.50``, ``10:30``, ``5-year``), and so
  do contractions (``don't``, ``l'homme``); only ``'s`` is split off.
- Abbreviations keep their full stop (``Mr.``, ``U.S.``, ``John F. Kennedy``, ``No. 5``), except at the end
  of a sentence, where it is a word of its own.
- Characters of scripts without spaces (Chinese, Japanese, Thai, ...) are a word each.
- Nothing else is lost, added or changed; letters keep their case.

In prose, sentences end at ``.``, ``!``, ``?``, ``।`` and the like before a capital, a number or a letter of
a script without capitals, and at the end of each line, or of each paragraph if lines are hard-wrapped
(`text/prose.py`). Abbreviations are those of English, and any with a
full stop after every letter or two.

How it works: a line is split at white space, and each distinct piece is tokenized once. A piece that ends in
a full stop may need to see the next one: until then white space, of which no word has any, marks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import version
from typing import Literal

from stategram.text.prose import unwrapped
from stategram.text.vocabulary import SPECIAL_WORDS

TokenizeForm = Literal["words", "prose"]
"""What is tokenized: lines that are sentences, or lines of prose, which are split into sentences."""

# To be raised with each change of what comes out: models are told by which rules their words were made.
RULES = 1

# The next word belongs to them, whatever it is.
_TITLES = frozenset(
    "adm brig capt cmdr col dr fr gen gov hon lieut lt maj messrs mlle mme mr mrs ms mt pres prof rep reps "
    "rev sec sen sens sgt st supt v vs viz".split()
)
# A number belongs to them; before a word they end a sentence as any other word does.
_BEFORE_NUMBERS = frozenset("art arts ch chap fig figs no nos p par pp sect stat vol vols".split())
# Written short inside a sentence or at its end.
_SHORT = frozenset(
    "apr aug ave bros cent cf co corp dec dept dist etc feb ft inc jan jr ltd mar nov oct sept sq sr".split()
)
# After a short form, these words with a capital start a sentence.
_STARTERS = (
    "a after all also an and another any as at because before both but by each every for from he her here "
    "his how however i if in it its let many more most my no nor not now of on once one or our she since so "
    "some such that the their then there these they this those though through to under until we what when "
    "where while who why with without you your"
).split()

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013", "-"),
        **dict.fromkeys("\u2014\u2015", " -- "),
        "\u2026": "...",
        # Between words of Khmer or Thai, it is white space that is not seen.
        "\u200b": " ",
        "\u00ad": None,
        "\ufeff": None,
    }
)

_LINE_END = "\0"
# Marks after the last word of a piece: it may end a sentence; it ends one only before a word that starts one;
# it ends none; it ends one unless a number follows. The full stop of the last three is an abbreviation's.
_END, _SHORT_END, _NO_END, _NUMBER_END = _MARKS = "\t\f\v\r"

_MAX_PIECES = 1 << 18
# Longer ones are cut, as no text has them: looking for boundaries may take the square of their length.
_LONGEST_PIECE = 1000


def tokenizer_version() -> str:
    """Return the rules by which text is tokenized, and whose word boundaries these are."""
    return f"rules {RULES} with regex {version('regex')}"


def tokenize(sentence: str) -> list[str]:
    """Return the words of a sentence in raw text, punctuation marks among them.

    Examples
    --------
    >>> tokenize("The Nation's debt isn't $1,000, Mr. Smith.")
    ['The', 'Nation', "'s", 'debt', "isn't", '$', '1,000', ',', 'Mr.', 'Smith', '.']
    >>> tokenize("EU:n päätös on “hyvä”…")
    ['EU:n', 'päätös', 'on', '"', 'hyvä', '"', '...']

    """
    return _shared("words").lines(sentence.replace("\n", " ").replace(_LINE_END, "\ufffd")).split()


def tokenize_prose(text: str) -> list[list[str]]:
    r"""Return the sentences of prose, with one paragraph per line, each as a list of words.

    Where prose is hard-wrapped, as books are, the lines of a paragraph are joined; a blank line ends it.

    Examples
    --------
    >>> tokenize_prose("Dr. King spoke. We've listened ever since!\nWhy?")
    [['Dr.', 'King', 'spoke', '.'], ["We've", 'listened', 'ever', 'since', '!'], ['Why', '?']]

    """
    lines = _shared("prose").lines(unwrapped(text).replace(_LINE_END, "\ufffd")).split("\n")
    return [words for line in lines if (words := line.split())]


class Tokenizer:
    r"""Tokenizes text in blocks of whole lines; a piece that was seen before costs next to nothing.

    Examples
    --------
    >>> Tokenizer("prose").lines("We came. We saw.\n\nWe went.\n")
    'We came .\n We saw . \n \n We went . \n'

    """

    def __init__(self, form: TokenizeForm = "words") -> None:
        self._form = form
        self._pieces = {_LINE_END: "\n"}

    def lines(self, text: str) -> str:
        """Return the words of lines without NUL, separated by spaces.

        All line ends stay; prose gets more of them.
        """
        rules = _rules()
        marked = " ".join(self._words_of(text.replace("\n", f" {_LINE_END} ").split()))
        return rules.sentences(marked) if self._form == "prose" else rules.sentence_per_line(marked)

    def n_letters(self, pieces: Sequence[str]) -> list[int]:
        """Return how many characters the tokens of each piece have together, whatever comes before or after.

        The neighbours decide whether a full stop is a token of its own, and nothing else.
        """
        return [len("".join(words.split())) for words in self._words_of(pieces)]

    def _words_of(self, pieces: Sequence[str]) -> Iterator[str]:
        """Return the words of pieces without white space, with their marks."""
        if len(self._pieces) > _MAX_PIECES:
            self._pieces = {_LINE_END: "\n"}
        known, rules = self._pieces, _rules()
        for piece in set(pieces).difference(known):
            known[piece] = piece if piece.isascii() and piece.isalpha() else rules.words(piece)
        return map(known.__getitem__, pieces)


@cache
def _shared(form: TokenizeForm) -> Tokenizer:
    return Tokenizer(form)


@cache
def _rules() -> _Rules:
    return _Rules()


class _Rules:
    """The regular expressions; `regex` is imported, and they are compiled, when they are needed."""

    def __init__(self) -> None:
        import regex

        listed = "|".join(sorted(_TITLES | _BEFORE_NUMBERS | _SHORT))
        # In WORD mode, \b is a word boundary of UAX #29.
        segment = r"\w.*?(?:(?=(?i:'s)\b)|\b)"
        self._word = regex.compile(
            rf"""
              (?:\p{{L}}\p{{M}}*){{1,2}}\.(?:(?:\p{{L}}\p{{M}}*){{1,2}}\.)+(?!\w)     # U.S., Ph.D.
            | (?:(?i:{listed})|\p{{Lu}}\p{{M}}*)\.(?=\Z|[,;:)])              # Mr., initials of names
            | (?=\p{{LB=SA}})\X                                                      # Thai, Khmer, ...
            | (?:(?:(?<!\w)\.(?=\d))?\d+(?:[.,:/-]\d+)*.*?\b|{segment})(?:-{segment})*
            | (?i:'s)\b
            | -{{2,}} | \.{{2,}}
            | (?!\s)\X
            """,
            regex.VERBOSE | regex.WORD | regex.DOTALL,
        )
        self._closing = regex.compile(r"""[\p{Pe}\p{Pi}\p{Pf}"']+""")
        self._terminal = regex.compile(r"[\p{SB=STerm}\p{SB=ATerm}]+")
        opening = r"""(?:[\p{Ps}\p{Pi}\p{Pf}"'\p{Sc}¿¡-]+ )*"""
        starters = "|".join(word.capitalize() for word in _STARTERS)
        number_end = (regex.compile(rf"\.{_NUMBER_END}(?! \d)"), rf" .{_END}")
        self._ends_of_lines = (
            number_end,
            (regex.compile(rf"\.[{_SHORT_END}{_NO_END}](?= ?(?:\n|\Z))"), " ."),
        )
        self._ends_of_sentences = (
            # The number of a paragraph.
            (regex.compile(rf"[{_END}{_SHORT_END}](?<=(?:\A|\n )(?:\d{{1,3}} |[IVXLC]+ ?)\..)"), ""),
            number_end,
            (regex.compile(rf"\.{_SHORT_END}(?= {opening}(?:{starters})\b)"), " .\n"),
            (regex.compile(rf"{_SHORT_END}(?= {opening}(?:{starters})\b)"), "\n"),
            (regex.compile(rf"{_END}(?= {opening}[\p{{Lu}}\p{{Lt}}\p{{Lo}}\p{{Georgian}}\d])"), "\n"),
        )

    def words(self, piece: str) -> str:
        """Return the words of a piece without white space, and its mark if it has one."""
        if piece in SPECIAL_WORDS:
            return piece
        plain = piece.translate(_PLAIN).replace("``", '"').replace("''", '"')
        words: list[str] = []
        for begin in range(0, len(plain), _LONGEST_PIECE):
            words += self._word.findall(plain[begin : begin + _LONGEST_PIECE])
        return " ".join(words) + self._mark(words)

    def sentence_per_line(self, marked: str) -> str:
        """Return lines without marks."""
        for pattern, by in self._ends_of_lines:
            marked = pattern.sub(by, marked)
        for mark in _MARKS:
            marked = marked.replace(mark, "")
        return marked

    def sentences(self, marked: str) -> str:
        """Return lines without marks, and a line end at the end of each sentence."""
        for pattern, by in self._ends_of_sentences:
            marked = pattern.sub(by, marked)
        return self.sentence_per_line(marked)

    def _mark(self, words: list[str]) -> str:
        last = next((word for word in reversed(words) if not self._closing.fullmatch(word)), "")
        if self._terminal.fullmatch(last):
            return _END
        if not last.endswith("."):
            return ""
        stem = last[:-1].lower()
        if stem in _BEFORE_NUMBERS:
            return _NUMBER_END
        is_initial = len(stem) == 1 and stem != "i"
        return _NO_END if is_initial or stem in _TITLES else _SHORT_END
