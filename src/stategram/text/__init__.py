"""Files to ids: reading, tokenising, Vocabulary, Corpus."""

from stategram.text.corpus import Corpus, ReadingReport
from stategram.text.encoding import corpus_from_sentences, read_corpus
from stategram.text.reading import display_name, read_all
from stategram.text.vocabulary import BEGIN, END, SPECIAL_WORDS, UNKNOWN, Vocabulary

__all__ = [
    "BEGIN",
    "END",
    "SPECIAL_WORDS",
    "UNKNOWN",
    "Corpus",
    "ReadingReport",
    "Vocabulary",
    "corpus_from_sentences",
    "display_name",
    "read_all",
    "read_corpus",
]
