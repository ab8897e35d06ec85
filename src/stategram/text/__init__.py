"""Files to ids: reading, tokenising, Vocabulary, Corpus."""

from stategram.text.corpus import Corpus, ReadStats
from stategram.text.encoding import corpus_from_sentences, read_corpus
from stategram.text.known_words import as_corpus, require_known_words
from stategram.text.line_blocks import LineBlock, read_line_blocks
from stategram.text.normalization import Normalization
from stategram.text.overlap import is_piece_of
from stategram.text.reading import check_utf8, display_name, read_all, read_blocks, total_size
from stategram.text.vocabulary import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Vocabulary

__all__ = [
    "BEGIN",
    "END",
    "SPECIAL_WORDS",
    "UNKNOWN",
    "Corpus",
    "LineBlock",
    "Normalization",
    "ReadStats",
    "Vocabulary",
    "as_corpus",
    "check_utf8",
    "corpus_from_sentences",
    "display_name",
    "is_piece_of",
    "read_all",
    "read_blocks",
    "read_corpus",
    "read_line_blocks",
    "require_known_words",
    "total_size",
]
