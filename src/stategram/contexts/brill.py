"""English tags of the Penn Treebank: the lexicon of Eric Brill's tagger, and rules for other words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from stategram.contexts.tags import SuffixGuesser, TagMap, is_lower_case, tag_words
from stategram.errors import BadDataError, UsageError
from stategram.text import SPECIAL_WORDS, Vocabulary, read_all

# Names of an older tag set in a few entries.
_RENAMED = {"NP": "NNP", "NPS": "NNPS", "PP": "PRP", '"': "''", "£": "$"}
# Entries from short messages, where s is "is" and US is "us".
_CORRECTED = {"s": "POS", "US": "NNP"}

_NUMERAL = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*")
_NUMBER = re.compile(r"[+~#'-]?[$£€¥]?[.]?[0-9]+([.,:/x\u00d7\u2013-][0-9]+)*[.]?%?")
_ORDINAL = re.compile(r"[0-9]*(1st|2nd|3rd|[0-9]th)", re.IGNORECASE)
_HYPHEN = re.compile("[-\u2013/]")
_DECADE = re.compile(r"'?[0-9]+'?s")
_AMOUNT = re.compile(
    r"[0-9.,]+(am|pm|a\.m\.|p\.m\.|bn|m|k|km|cm|mm|kg|ft|mph|hz|khz|mhz|gb|mb)", re.IGNORECASE
)
_ADDRESS = re.compile(r"(https?://|www\.).+|.+@.+\..+|.+\.(com|org|net|edu)", re.IGNORECASE)
_INITIALS = re.compile(r"([^\W\d_]\.)+")
# Characters that belong to a word, set apart, as in WikiText.
_SET_APART = re.compile(r"@(\W+)@")

# Words that stand for all numbers of a text; N only where few numbers are left.
_NUMBER_WORDS = frozenset(("NUM", "<num>", "<number>"))
_CLITICS = {"'s": "POS", "s'": "POS", "'re": "VBP", "'ve": "VBP", "'m": "VBP", "'ll": "MD", "'d": "MD"}
# After these, 's is a verb; IN is the tag of that.
_SUBJECTS = frozenset(("PRP", "WP", "WRB", "EX", "DT", "WDT", "RB", "IN"))
_OPEN_CLASSES = ("N", "J", "V", "RB", "FW", "UH", "CD")
_OF_PEOPLES = ("ans", "ers", "ists")
# An ending, the tags that its stem may have, and the tag of the word.
_ENDINGS = (
    ("ly", "J", "RB"),
    ("ing", "VN", "VBG"),
    ("ed", "VN", "VBN"),
    ("est", "J", "JJS"),
    ("er", "J", "JJR"),
    ("ness", "JV", "NN"),
)
_PREFIXES = tuple("un re non anti over under inter pre sub super multi mis out".split())
_PUNCTUATION = {"Ps": "(", "Pe": ")", "Pi": "``", "Pf": "''", "Pd": ":", "Sc": "$"}
_MARKS = (
    dict.fromkeys(".!?", ".") | dict.fromkeys(";:…", ":") | dict.fromkeys("\"'", "''") | {",": ",", "`": "``"}
)


def tags_from_brill(vocabulary: Vocabulary) -> TagMap:
    """Return the most likely tag of the Penn Treebank for each English word.

    Most tags come from the lexicon of Brill's tagger, which is part of the package textblob. Other words are
    tagged by rules for numbers, contractions, hyphens, capitals and endings, and by default as nouns, ``NN``.
    `TagMap.source` has their numbers.

    Notes
    -----
    The lexicon: Eric Brill (1992), A simple rule-based part of speech tagger. His rules for the
    context of a word are not used: here a word has one tag.

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
    """Read the lexicon from the package textblob, which is not imported: it would load nltk."""
    spec = find_spec("textblob")
    if spec is None or not spec.submodule_search_locations:
        raise UsageError(
            "the tags named brill need the package textblob, which is not installed; "
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


class BrillRules:
    """Finds the tags of words that may not be in the lexicon.

    If the vocabulary is in lower case, names are looked up in lower case.
    """

    def __init__(self, lexicon: Mapping[str, str], vocabulary: Vocabulary) -> None:
        words = vocabulary.words[len(SPECIAL_WORDS) :]
        self._lexicon = lexicon
        self._counts: dict[str, int] = dict(
            zip(words, vocabulary.counts[len(SPECIAL_WORDS) :].tolist(), strict=True)
        )
        self._cased = not is_lower_case(vocabulary)
        numerals = [word for word in words if _NUMERAL.fullmatch(word)]
        self._n_is_number = not numerals or self._counts.get("N", 0) > sum(
            map(self._counts.__getitem__, numerals)
        )
        # In lower case; a word that the lexicon has in lower case is no name, whatever else it has.
        self._lower = {word.lower(): tag for word, tag in lexicon.items()}
        self._lower.update((word, tag) for word, tag in lexicon.items() if word == word.lower())
        known = self._lower if not self._cased else lexicon
        self._guesser = SuffixGuesser(
            ((word, tag) for word, tag in known.items() if word.isalpha() and word.islower()),
            (5, 4, 3, 2),
            min_words=3,
        )

    def tag(self, word: str) -> tuple[str, str]:
        """Return the tag of a word, and its source."""
        plain = word.replace("\u2019", "'")
        if plain in _NUMBER_WORDS or (plain == "N" and self._n_is_number) or _NUMERAL.fullmatch(plain):
            return "CD", "rule"
        # Contractions in the lexicon are from short messages, and often wrong.
        if "'" in plain and (tag := self._negated(plain) or self._contracted(plain)):
            return tag, "rule"
        if tag := self._look_up(plain):
            return tag, "lexicon"
        if tag := self._by_rules(plain):
            return tag, "rule"
        return "NN", "fallback"

    def _look_up(self, word: str) -> str | None:
        if tag := self._lexicon.get(word):
            return tag
        if not self._cased:
            return self._lower.get(word)
        lower = word.lower()
        if lower == word:
            return self._lexicon.get(word.capitalize())
        tag = self._lexicon.get(lower)
        if tag and (self._is_common(word, lower) or not tag.startswith(_OPEN_CLASSES)):
            return tag
        # A headline has words in capitals.
        return self._lexicon.get(word.capitalize()) if word.isupper() and len(word) > 3 else None

    def _is_common(self, word: str, lower: str) -> bool:
        """Return whether a capitalised word is a common word at the start of a sentence, not a name."""
        return self._counts.get(lower, -1) >= self._counts.get(word, 0)

    def _by_rules(self, word: str) -> str | None:
        if not word.isalpha() and (
            tag := _of_punctuation(word) or _of_number(word) or self._hyphenated(word)
        ):
            return tag
        lower = word.lower()
        return (
            _of_script(word)
            or (self._capitalised(word, lower) if self._cased else None)
            or self._derived(lower)
            or self._compound(lower)
            or self._guesser.guess(lower)
        )

    def _negated(self, word: str) -> str | None:
        """Return the tag of do for don't."""
        if len(word) < 5 or not word.lower().endswith("n't"):
            return None
        tag = self._lexicon.get(word[:-3].lower(), "")
        return {"VB": "VBP"}.get(tag, tag) if tag.startswith(("V", "MD")) else "MD"

    def _contracted(self, word: str) -> str | None:
        """Return the tag of the last part, which decides what may follow: it's going, the king's men."""
        base, apostrophe, rest = word.rpartition("'")
        tag = _CLITICS.get("'" + rest.lower()) if rest else _CLITICS["s'"] if base.endswith("s") else None
        if not apostrophe or not base or tag is None:
            return None
        return "VBZ" if tag == "POS" and rest and self._lexicon.get(base.lower()) in _SUBJECTS else tag

    def _hyphenated(self, word: str) -> str | None:
        parts = [part for part in _HYPHEN.split(word) if part]
        if len(parts) < 2:
            return None
        last = self.tag(parts[-1])[0]
        if self._cased and parts[-1][:1].isupper() and last in ("NNP", "NNPS"):
            return last
        first = self.tag(parts[0])[0]
        if last == "CD":
            return "CD" if first == "CD" else "NN"
        if last in ("NNS", "NNPS", "VBZ"):
            return "NNS"
        if last.startswith("N"):
            return "JJ" if first in ("JJ", "CD", "IN", "RB", "VB", "VBD", "DT", "PRP$") else "NN"
        return "JJ" if last.startswith(("J", "V")) else "NN"

    def _capitalised(self, word: str, lower: str) -> str | None:
        if word == lower:
            return None
        if lower in self._counts and self._is_common(word, lower):
            return self.tag(lower)[0]
        if word.endswith(_OF_PEOPLES) and self._lexicon.get(word[:-1]) in ("NNP", "JJ"):
            return "NNPS"
        return "NNP"

    def _derived(self, word: str) -> str | None:
        """Return the tag of a word that is derived from one of the lexicon by an ending or a prefix."""
        if word.endswith("s") and not word.endswith(("ss", "us", "is")):
            for ending, old in (("ies", "y"), ("es", ""), ("s", "")):
                tag = self._lexicon.get(word.removesuffix(ending) + old, "") if word.endswith(ending) else ""
                if tag in ("NN", "JJ", "VBG", "CD"):
                    return "NNS"
                if tag in ("VB", "VBP"):
                    return "VBZ"
        for ending, bases, new in _ENDINGS:
            if word.endswith(ending) and len(word) > len(ending) + 2:
                stem = word.removesuffix(ending)
                stems = (stem, stem + "e", stem[:-1] if stem[-1] == stem[-2] else stem, stem[:-1] + "y")
                if any(self._lexicon.get(one, " ")[0] in bases for one in stems):
                    return new
        for prefix in _PREFIXES if word.startswith(_PREFIXES) else ():
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) > 3 and rest in self._lexicon:
                return self._lexicon[rest]
        return None

    def _compound(self, word: str) -> str | None:
        """Return the tag of site, a noun, for website."""
        for at in range(3, len(word) - 3):
            tag = self._lexicon.get(word[at:])
            if tag in ("NN", "NNS") and word[:at] in self._lexicon:
                return tag
        return None


def _of_punctuation(word: str) -> str | None:
    if _SET_APART.fullmatch(word):
        return "SYM"
    if any(map(str.isalnum, word)):
        return None
    return _MARKS.get(word[0]) or _PUNCTUATION.get(unicodedata.category(word[0]), "SYM")


def _of_number(word: str) -> str | None:
    if word[0].isalpha():
        # ADD, for addresses, is of the later treebanks of the web.
        return "NNP" if _INITIALS.fullmatch(word) else "ADD" if _ADDRESS.fullmatch(word) else None
    if _NUMBER.fullmatch(word) or _AMOUNT.fullmatch(word):
        return "CD"
    if _ORDINAL.fullmatch(word):
        return "JJ"
    if _DECADE.fullmatch(word):
        return "NNS"
    return "CD" if word.isnumeric() else None


def _of_script(word: str) -> str | None:
    """Return the tag of foreign words for words in other than Latin letters."""
    letter = next(filter(str.isalpha, word), "a")
    # Latin letters end with U+024F; some more are after U+1E00.
    return "FW" if letter > "\u024f" and not "\u1e00" <= letter <= "\u1eff" else None
