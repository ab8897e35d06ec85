"""Files to ids: reading, tokenising, Vocabulary, Corpus."""

from stategram.text.corpus import Corpus, ReadingReport
from stategram.text.encoding import corpus_from_sentences, read_corpus
from stategram.text.vocabulary import Vocabulary

__all__ = ["Corpus", "ReadingReport", "Vocabulary", "corpus_from_sentences", "read_corpus"]
