"""Files to ids: reading, tokenising, Vocabulary, Corpus."""

from stategram.text.corpus import Corpus, ReadStats, contains_text
from stategram.text.encoding import (
    Normalization,
    Sentences,
    as_corpus,
    check_words,
    corpus_from_sentences,
    read_corpus,
    words_of,
)
from stategram.text.feeding import read_lines
from stategram.text.line_blocks import LineBlock, block_of_sentences, read_line_blocks
from stategram.text.reading import (
    Source,
    check_utf8,
    display_name,
    file_names,
    read_all,
    read_blocks,
    total_size,
)
from stategram.text.unknown_words import UnknownCount, require_known_words
from stategram.text.vocabulary import (
    BEGIN,
    END,
    SPECIAL_WORDS,
    SPLITS,
    UNKNOWN,
    Split,
    Vocabulary,
    decimal_numbers,
    dense_ids,
    split_line,
)

__all__ = [
    "BEGIN",
    "END",
    "SPECIAL_WORDS",
    "SPLITS",
    "UNKNOWN",
    "Corpus",
    "LineBlock",
    "Normalization",
    "ReadStats",
    "Sentences",
    "Source",
    "Split",
    "UnknownCount",
    "Vocabulary",
    "as_corpus",
    "block_of_sentences",
    "check_utf8",
    "check_words",
    "contains_text",
    "corpus_from_sentences",
    "decimal_numbers",
    "dense_ids",
    "display_name",
    "file_names",
    "read_all",
    "read_blocks",
    "read_corpus",
    "read_line_blocks",
    "read_lines",
    "require_known_words",
    "split_line",
    "total_size",
    "words_of",
]
