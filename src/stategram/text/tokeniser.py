"""English prose to sentences of tokens, for text that nobody has tokenised before.

A small tokeniser of two regular expressions: good enough for a demo or a first look, with no model to
load. Corpora made for language models are tokenised already and do not need it.

- Sentences end at `.`, `!` or `?` before a capital or a number, and at every blank line. The full stop of
  `Mr.`, `U.S.`, `No. 5`, `John F. Kennedy` or a leading `1.` ends no sentence.
- Tokens are lower case. Punctuation stands alone; `'s` is split off, other contractions stay whole
  (`don't`); hyphenated words and numbers stay whole (`fellow-citizens`, `1,000.50`, `20th`).
- An abbreviation keeps its full stop (`mr.`, `u.s.`), and every declarative sentence ends in `.`.
"""

from __future__ import annotations

import re

# The next word belongs to them, whatever it is.
_TITLES = frozenset(
    "adm brig capt cmdr col dr fr gen gov hon lieut lt maj messrs mlle mme mr mrs ms mt pres prof rep reps "
    "rev sec sen sens sgt st supt vs viz".split()
)
# A number belongs to them; before a word they end a sentence as any other word does.
_BEFORE_NUMBERS = frozenset("art arts ch chap fig figs no nos p par pp sect stat vol vols".split())
# Written short inside a sentence or at its end.
_SHORT = frozenset(
    "apr aug ave bros cent cf co corp dec dept dist etc feb ft inc jan jr ltd mar nov oct sept sq sr".split()
)
# After a short form, these words with a capital start a sentence.
_STARTERS = frozenset(
    "a after all also an and another any as at because before both but by each every for from he her here "
    "his how however i if in it its let many more most my no nor not now of on once one or our she since so "
    "some such that the their then there these they this those though through to under until we what when "
    "where while who why with without you your".split()
)

_CANDIDATE = re.compile(r"""[.!?]["')\]]*\s+(?=["'(\[$]*[A-Z0-9])|\n\s*\n\s*""")
_NEXT_WORD = re.compile(r"""["'(\[$]*(\w+)""")
_LAST_WORD = re.compile(r"""[^\s"'(\[-]*$""")
_ENUMERATOR = re.compile(r"\d{1,3}|[A-Za-z]|[IVXL]+")
_LONGEST_ABBREVIATION = 12

_REPLACEMENTS = (
    ("\u2018", "'"),
    ("\u2019", "'"),
    ("\u201c", '"'),
    ("\u201d", '"'),
    ("\u2014", " -- "),
    ("\u2013", "-"),
    ("\u2026", "..."),
    ("\u00a0", " "),
    ("``", '"'),
    ("''", '"'),
)
_ELLIPSIS = re.compile(r"\.(?: ?\.){2,}|\.\.")
_DASH = re.compile(r"-{3,}")

_KEEPS_ITS_STOP = "|".join(sorted(_TITLES | _BEFORE_NUMBERS | _SHORT))
_TOKEN = re.compile(
    rf"""
      [a-z]++(?=[ ,])                                           # most words, at once
    | (?:[a-z]\.){{2,}}                                         # u.s., a.m.
    | (?:{_KEEPS_ITS_STOP}|[a-z])\.(?=[\s,;:)])                   # mr., the initial of a name
    | [^\W\d_][^\W_]*(?:'(?!s\b)[^\W\d_]+|-[^\W_]+)*            # words, don't, fellow-citizens, covid-19
    | (?:\.(?=\d))?\d+(?:[.,:/-]\d+)*(?:-?[^\W\d_]+)*           # 1,000.50, 10:30, 20th, 5-year-old
    | 's\b
    | -- | \.{{2,}} | _+
    | \S
    """,
    re.VERBOSE,
)


def _is_boundary(text: str, stop: int, after: int) -> bool:
    """Return whether the full stop at `stop` ends a sentence, when the next one would start at `after`."""
    # A longer word is no abbreviation; its end is as good as all of it, and quicker to find.
    found = _LAST_WORD.search(text, max(0, stop - _LONGEST_ABBREVIATION), stop)
    word = found.group() if found else ""
    begin = stop - len(word)
    if (begin == 0 or text[begin - 1] == "\n") and _ENUMERATOR.fullmatch(word):
        return False
    if word.lower() in _TITLES or (len(word) == 1 and word.isalpha() and word != "I"):
        return False
    following = _NEXT_WORD.match(text, after)
    next_word = following[1] if following else ""
    if word.lower() in _BEFORE_NUMBERS:
        return not next_word[:1].isdigit()
    if word.lower() in _SHORT or word[-2:-1] == ".":
        return next_word.lower() in _STARTERS
    return True


def split_sentences(text: str) -> list[str]:
    """Split prose into sentences, otherwise unchanged but for white space and typographic signs.

    >>> split_sentences("Mr. Smith paid $1.50. He left at 5 p.m. on Friday. Why?")
    ['Mr. Smith paid $1.50.', 'He left at 5 p.m. on Friday.', 'Why?']
    """
    for old, new in _REPLACEMENTS:
        text = text.replace(old, new)
    text = _DASH.sub("--", _ELLIPSIS.sub("...", text))
    found: list[str] = []
    begin = 0
    for candidate in _CANDIDATE.finditer(text):
        at, end = candidate.span()
        if text[at] == "." and not _is_boundary(text, at, end):
            continue
        found.append(text[begin:end])
        begin = end
    found.append(text[begin:])
    return [" ".join(words) for sentence in found if (words := sentence.split())]


def tokenise(sentence: str) -> list[str]:
    """Split one sentence into lower-case tokens.

    >>> tokenise("The Nation's debt isn't $1,000.")
    ['the', 'nation', "'s", 'debt', "isn't", '$', '1,000', '.']
    >>> tokenise("He came back to the U.S.")
    ['he', 'came', 'back', 'to', 'the', 'u.s.', '.']
    """
    tokens: list[str] = _TOKEN.findall(sentence.lower())
    if tokens and len(tokens[-1]) > 2 and tokens[-1][-1] == "." != tokens[-1][-2]:
        tokens.append(".")
    return tokens


def sentences(text: str) -> list[list[str]]:
    """Split prose into sentences, and each sentence into lower-case tokens.

    >>> sentences("Dr. King spoke. We've listened ever since!")
    [['dr.', 'king', 'spoke', '.'], ["we've", 'listened', 'ever', 'since', '!']]
    """
    return [tokenise(sentence) for sentence in split_sentences(text)]
