"""Texts of scripts that put no spaces between words."""

from __future__ import annotations

import logging
import re

import numpy as np

from stategram.text.vocabulary import SPECIAL_WORDS, Vocabulary

_log = logging.getLogger(__name__)

_SAMPLE = 1000
# Chinese characters and kana; Thai, Lao, Burmese and Khmer, which take several characters for a syllable.
# Words have on average less than two of the former and about four of the latter, sentences many times more.
_SCRIPTS = (
    (re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]"), 6.0),
    (re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]"), 14.0),
)


def warn_if_unsegmented(vocabulary: Vocabulary) -> None:
    """Log a warning if most words of a text, given its vocabulary, seem to be sentences."""
    first = len(SPECIAL_WORDS)
    # Not `words`, of which there may be many.
    sample = [vocabulary.word(id) for id in range(first, min(first + _SAMPLE, len(vocabulary)))]
    counts = vocabulary.counts[first : first + len(sample)].astype(np.float64)
    for letters, longest_mean in _SCRIPTS:
        lengths = np.fromiter((len(letters.findall(word)) for word in sample), np.float64, len(sample))
        is_of_script = lengths > 0
        total = counts[is_of_script].sum()
        if 2 * total > counts.sum() and (mean := (counts * lengths).sum() / total) > longest_mean:
            _log.warning(
                "the words of this text have %.0f letters on average of a script without spaces, such as "
                "Chinese or Thai: it looks unsegmented; segment it first (jieba, MeCab, PyThaiNLP, ...), or "
                "make a word of each character (--tokenize words, tokenize='words' in Python)",
                mean,
            )
