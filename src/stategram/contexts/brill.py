"""English tags of the Penn Treebank, from the lexicon of Eric Brill's tagger."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from stategram.contexts.brill_rules import BrillRules
from stategram.contexts.tags import TagMap, tag_words
from stategram.errors import BadDataError, UsageError
from stategram.text import SPECIAL_WORDS, Vocabulary, read_all

# What a few entries call by the name of an older tag set.
_RENAMED = {"NP": "NNP", "NPS": "NNPS", "PP": "PRP", '"': "''", "£": "$"}
# Entries that come from short messages, where s is "is" and US is "us".
_CORRECTED = {"s": "POS", "US": "NNP"}


def tags_from_brill(vocabulary: Vocabulary) -> TagMap:
    """Give each English word the most likely tag of the Penn Treebank.

    Most words have it from the lexicon of Brill's tagger, as the package textblob carries it. The others have
    it by rules on numbers, contractions, hyphens, capitals and endings, and at last are nouns, ``NN``.
    `TagMap.source` says how many.

    Notes
    -----
    The lexicon: Eric Brill (1992), A simple rule-based part of speech tagger. His rules that look at the
    words around a word are of no use here: a word has one tag.

    Examples
    --------
    >>> vocabulary = Vocabulary.from_words(["the", "cats", "1,024", "unblorkable", "Kowalewski"])
    >>> tags = tags_from_brill(vocabulary)
    >>> [tags.tag(vocabulary.id(word)) for word in vocabulary.words[3:]]
    ['DT', 'NNS', 'CD', 'JJ', 'NNP']

    """
    rules = BrillRules(read_brill_lexicon(), vocabulary)
    return tag_words(vocabulary, map(rules.tag, vocabulary.words[len(SPECIAL_WORDS) :]))


def read_brill_lexicon() -> dict[str, str]:
    """Read the lexicon from the package textblob, which is not imported: it would load all of nltk."""
    spec = find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(
            "the tags called brill are in the package textblob, which is not installed; "
            "pip install 'stategram[tags]', or give a file of tags"
        )
    path = Path(spec.submodule_search_locations[0]) / "en" / "en-lexicon.txt"
    lexicon: dict[str, str] = {}
    for line in read_all(str(path)).decode().split("\n"):
        if line.startswith(";;;") or not (columns := line.split()):
            continue
        if len(columns) != 2:
            raise BadDataError(f"{path}: the line {line!r} is not a word and a tag; install textblob again")
        # Of several tags, the first one is the most likely.
        tag = columns[1].split("|")[0]
        lexicon[columns[0]] = _RENAMED.get(tag, tag)
    return lexicon | _CORRECTED
