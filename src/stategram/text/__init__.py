"""Files to ids: reading, tokenizing, Vocabulary, Corpus."""

from stategram.text.bad_bytes import check_utf8, conversion_advice
from stategram.text.corpus import Corpus, ReadStats, contains_text
from stategram.text.encoding import (
    Normalization,
    Sentences,
    as_corpus,
    check_words,
    corpus_from_sentences,
    read_corpus,
    spelled_corpus,
    words_of,
)
from stategram.text.feeding import read_lines
from stategram.text.line_blocks import LineBlock, block_of_sentences, read_line_blocks
from stategram.text.reading import (
    Source,
    display_name,
    file_names,
    read_all,
    read_blocks,
    total_size,
)
from stategram.text.tokenizer import (
    TOKENIZE_FORMS,
    TokenizeForm,
    tokenization_note,
    tokenization_record,
    tokenize,
    tokenize_prose,
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
    "TOKENIZE_FORMS",
    "UNKNOWN",
    "Corpus",
    "LineBlock",
    "Normalization",
    "ReadStats",
    "Sentences",
    "Source",
    "Split",
    "TokenizeForm",
    "UnknownCount",
    "Vocabulary",
    "as_corpus",
    "block_of_sentences",
    "check_utf8",
    "check_words",
    "contains_text",
    "conversion_advice",
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
    "spelled_corpus",
    "split_line",
    "tokenization_note",
    "tokenization_record",
    "tokenize",
    "tokenize_prose",
    "total_size",
    "words_of",
]
