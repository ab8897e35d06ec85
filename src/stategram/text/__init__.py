"""Files to ids: reading, tokenising, Vocabulary, Corpus."""

from stategram.text.corpus import Corpus, ReadingReport
from stategram.text.encoding import corpus_from_sentences, read_corpus
from stategram.text.reading import Progress as ReadingProgress
from stategram.text.reading import display_name, read_all, read_blocks, total_size
from stategram.text.vocabulary import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Vocabulary

__all__ = [
    "BEGIN",
    "END",
    "SPECIAL_WORDS",
    "UNKNOWN",
    "Corpus",
    "ReadingProgress",
    "ReadingReport",
    "Vocabulary",
    "corpus_from_sentences",
    "display_name",
    "read_all",
    "read_blocks",
    "read_corpus",
    "total_size",
]
