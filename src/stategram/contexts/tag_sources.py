"""Tags by the name of their source, as on the command line."""

from __future__ import annotations

import re

from stategram.contexts.brill import tags_from_brill
from stategram.contexts.tag_files import CONLLU_COLUMNS, tags_from_conllu, tags_from_file
from stategram.contexts.tags import TagMap
from stategram.errors import UsageError
from stategram.text import Vocabulary

_TREEBANK = re.compile(r"(?P<path>.*\.conllu(\.(gz|xz|bz2|zst))?)(:(?P<column>[^/\\]*))?", re.IGNORECASE)


def parse_tags(source: str, vocabulary: Vocabulary, *, guess: bool = True) -> TagMap:
    """Return the tags of a vocabulary from ``brill``, ``tags.tsv``, ``bank.conllu`` or ``bank.conllu:xpos``.

    A file named ``.conllu`` is a treebank; any other has one word and its tag per line. `guess` is for these
    two, as in `tags_from_file`.

    Examples
    --------
    >>> parse_tags("", Vocabulary.from_words(["cat"]))
    Traceback (most recent call last):
    stategram.errors.UsageError: no source of tags; give brill, a file of words and tags, or a .conllu file

    """
    if not source.strip():
        raise UsageError("no source of tags; give brill, a file of words and tags, or a .conllu file")
    if source == "brill":
        if not guess:
            raise UsageError(
                "brill has its own rules for unknown words; guessing can be turned off for files only"
            )
        return tags_from_brill(vocabulary)
    if treebank := _TREEBANK.fullmatch(source):
        column = treebank["column"]
        return tags_from_conllu(
            treebank["path"], vocabulary, "upos" if column is None else column, guess=guess
        )
    return tags_from_file(_without_column(source), vocabulary, guess=guess)


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


def _without_column(source: str) -> str:
    path, colon, column = source.rpartition(":")
    if colon and column in CONLLU_COLUMNS:
        raise UsageError(
            f"the column {column} is given for {path}, which is not named .conllu; leave the column out, "
            "or rename the file if it is CoNLL-U"
        )
    return source
