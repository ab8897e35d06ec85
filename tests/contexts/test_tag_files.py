"""Tags from lists and treebanks."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram.contexts import TagCounts, TagMap, parse_tags, tags_from_conllu, tags_from_file
from stategram.contexts.tags import NO_TAG, SuffixGuesser
from stategram.errors import BadDataError, UsageError
from stategram.tables import Table
from stategram.text import SPECIAL_WORDS, Vocabulary, corpus_from_sentences

BANK = """# text = The cats can't see the can.
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\t_
2\tcats\tcat\tNOUN\tNNS\t_\t4\tnsubj\t_\t_
3-4\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
3\tcan\tcan\tAUX\tMD\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
5\tsee\tsee\tVERB\tVB\t_\t0\troot\t_\t_
5.1\tghost\tghost\tNOUN\tNN\t_\t_\t_\t0:root\t_
6\tthe\tthe\tPRON\tDT\t_\t7\tdet\t_\t_
7\tcan\tcan\tNOUN\tNN\t_\t5\tobj\t_\t_
8\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\t_

1\tcan\tcan\tAUX\tMD\t_\t0\troot\t_\t_
2\tTHE\tthe\tPRON\tDT\t_\t0\troot\t_\t_
"""


def of(tags: TagMap, vocabulary: Vocabulary) -> dict[str, str]:
    """Give the tag of each word, without the special ones."""
    assert tags.tags[:3] == SPECIAL_WORDS
    assert tags.labels[:3].tolist() == [0, 1, 2]
    assert tags.labels.dtype == np.uint32
    assert len(tags.labels) == len(vocabulary)
    assert set(tags.labels.tolist()) == set(range(len(tags)))
    assert sum(share.words for share in tags.source.values()) == len(vocabulary) - 3
    assert sum(share.tokens for share in tags.source.values()) == vocabulary.counts[3:].sum()
    return {word: tags.tag(id) for id, word in enumerate(vocabulary.words)}


def tagged(tmp_path: Path, data: str, words: list[str], name: str = "tags.tsv") -> dict[str, str]:
    path = tmp_path / name
    path.write_text(data, encoding="utf-8")
    vocabulary = Vocabulary.from_words(words)
    found = of(parse_tags(str(path), vocabulary), vocabulary)
    return {word: found[word] for word in words}


def test_a_list_of_words_and_tags_is_read(tmp_path: Path) -> None:
    data = "\ufeffthe DT\r\ncat\tNN\t12\n\n# SYM\nthe\tDT\n<s>\tX\n"
    assert tagged(tmp_path, data, ["cat", "the", "#"]) == {"cat": "NN", "the": "DT", "#": "SYM"}


@pytest.mark.parametrize("name", ["tags.csv", "tags.jsonl", "tags.parquet", "tags.tsv", "tags.tsv.gz"])
def test_tables_of_every_format_are_read(name: str, tmp_path: Path) -> None:
    words = ['"', "NA", "\\", "7", "a,b"]
    tags = ["NA", "7", "''", "B", ","]  # which may look like missing values and numbers
    Table({"word": words, "tag": tags, "count": [3, 2, 2, 1, 1]}).write(tmp_path / name)
    vocabulary = Vocabulary.from_words(words)
    found = tags_from_file(tmp_path / name, vocabulary)
    assert [found.tag(vocabulary.id(word)) for word in words] == tags
    assert found.coverage == 1.0


def test_special_words_have_tags_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "tags"
    path.write_text("the\tDT\n")
    tags = tags_from_file(path, Vocabulary.from_words(["the"]))
    assert tags.tags == ("<unk>", "<s>", "</s>", "DT")
    assert repr(tags) == "TagMap(4 tags of 4 words)"
    assert len(tags) == 4
    with pytest.raises(IndexError, match="no word has the id 4"):
        tags.tag(4)


def test_words_that_are_not_in_the_list(tmp_path: Path) -> None:
    path = tmp_path / "tags.tsv"
    path.write_text(
        "nation\tNN\nration\tNN\nmotion\tNN\nhung\tVBN\nsung\tVBN\nstung\tVBN\nyoung\tJJ\nBonn\tNNP\n"
        "1984\tCD\n1985\tCD\n1986\tCD\nthere\tEX\nwhere\tWRB\nhere\tRB\ngame\tNN\nGame\tNN\nGAME\tNN\n"
    )
    corpus = corpus_from_sentences(["nation bonn station strung TUNG ox 2026 zebra severe became"])
    vocabulary = corpus.vocabulary
    tags = tags_from_file(path, vocabulary)
    found = of(tags, vocabulary)
    assert found["bonn"] == "NNP"
    assert found["station"] == "NN"
    assert found["strung"] == "VBN"  # three of four
    assert found["TUNG"] == "VBN"
    assert found["2026"] == "CD"
    assert {found[word] for word in ("ox", "zebra", "severe", "became")} == {NO_TAG}
    assert tags.source == {"lexicon": TagCounts(1, 1), "rule": TagCounts(5, 5), "fallback": TagCounts(4, 4)}
    tags = parse_tags(str(path), vocabulary, guess=False)
    assert tags.source == {"lexicon": TagCounts(1, 1), "rule": TagCounts(1, 1), "fallback": TagCounts(8, 8)}
    with pytest.raises(UsageError, match="brill has its own rules"):
        parse_tags("brill", vocabulary, guess=False)


def test_a_file_of_other_words_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadDataError, match=r"tags\.tsv: none of the 2 words .* same language"):
        tagged(tmp_path, "zzzqqq\tNN\n", ["cat", "qqq"])
    assert tagged(tmp_path, "CAT\tNN\n", ["cat", "qqq"])["cat"] == "NN"


def test_coverage(tmp_path: Path) -> None:
    (tmp_path / "tags").write_text("the\tDT\n")
    counted = corpus_from_sentences(["the the cat"]).vocabulary
    assert tags_from_file(tmp_path / "tags", counted).coverage == pytest.approx(2 / 3)
    assert tags_from_file(tmp_path / "tags", Vocabulary.from_words(["the", "cat"])).coverage == 0.5


def test_equal_suffixes_go_by_the_name_of_the_tag() -> None:
    assert SuffixGuesser([("hing", "VB"), ("king", "NN")], [3]).guess("zing") == "NN"
    assert SuffixGuesser([("hing", "VB"), ("king", "NN")], [3], min_words=3).guess("zing") is None
    assert SuffixGuesser([("hing", "VB"), ("king", "NN")], [4, 3]).guess("thing") == "VB"


text_word = st.text(
    st.characters(exclude_categories=["Cs", "Z", "Cc"]),
    min_size=1,
    max_size=4,
).filter(lambda word: word.split() == [word] and word not in SPECIAL_WORDS)


@given(st.dictionaries(text_word, st.sampled_from(["A", "B", "#", "é"]), min_size=1, max_size=8))
def test_what_is_listed_is_what_is_found(
    tmp_path_factory: pytest.TempPathFactory, tags: dict[str, str]
) -> None:
    path = tmp_path_factory.mktemp("tags") / "tags.tsv.gz"
    lines = "".join(f"{word}\t{tag}\n" for word, tag in tags.items())
    path.write_bytes(gzip.compress(lines.encode()))
    vocabulary = Vocabulary.from_words(tags)
    found = of(tags_from_file(path, vocabulary), vocabulary)
    assert {word: found[word] for word in tags} == tags


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "tags.tsv:1: no word with a tag is in the file"),
        (b"<s>\tX\n", "tags.tsv:1: no word with a tag"),
        (b"a\tX\nb\n", "tags.tsv:2: found 1 column, 'b'; a tag file has word<TAB>tag"),
        (b"a\tX\tY\n", "tags.tsv:1: found 3 columns, 'a X Y'"),
        (b"a\tX\t1\t2\n", "tags.tsv:1: found 4 columns"),
        (b"a\tX\nb\tX\n\na\tY\n", "tags.tsv:4: 'a' has the tag Y, but .*tags.tsv:1 gave it X"),
        (b"a\t</s>\n", "tags.tsv:1: the tag </s> is that of a special word"),
    ],
)
def test_bad_lists_are_refused_with_the_place(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "tags.tsv"
    path.write_bytes(data)
    with pytest.raises(BadDataError, match=message):
        tags_from_file(path, Vocabulary.from_words(["a"]))


def test_a_treebank_gives_each_word_its_most_frequent_tag(tmp_path: Path) -> None:
    words = ["The", "the", "can", "see", "can't", "ghost", "."]
    assert tagged(tmp_path, BANK, words, "bank.conllu") == {
        "The": "DET",
        "the": "PRON",
        "can": "AUX",
        "see": "VERB",
        "can't": NO_TAG,  # lines of several words and of none are passed over
        "ghost": NO_TAG,
        ".": "PUNCT",
    }
    path = tmp_path / "bank.conllu"
    vocabulary = Vocabulary.from_words(words)
    by_column = of(parse_tags(f"{path}:xpos", vocabulary), vocabulary)
    assert by_column["can"] == "MD"
    assert by_column["."] == NO_TAG  # has none there
    assert of(parse_tags(f"{path}:upos", vocabulary), vocabulary)["can"] == "AUX"


def test_in_lower_case_all_forms_of_a_word_count(tmp_path: Path) -> None:
    assert tagged(tmp_path, BANK, ["the", "can"], "bank.conllu") == {"the": "PRON", "can": "AUX"}
    tie = BANK.replace("\tTHE\tthe\tPRON", "\tTHE\tthe\tDET").replace("\tthe\tthe\tPRON", "\tthe\tthe\tADJ")
    assert tagged(tmp_path, tie, ["the"], "bank.conllu") == {"the": "DET"}
    assert tagged(tmp_path, tie, ["the", "N"], "bank.conllu")["the"] == "DET"
    assert tagged(tmp_path, tie, ["the", "Zorb"], "bank.conllu")["the"] == "ADJ"


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("XYZ")), min_size=1))
def test_ties_in_a_treebank_go_by_name(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("bank") / "bank.conllu"
    path.write_text("".join(f"{i}\t{w}\t_\t{t}\t_\t_\t_\t_\t_\t_\n" for i, (w, t) in enumerate(tokens, 1)))
    vocabulary = Vocabulary.from_words(sorted({word for word, _ in tokens}))
    found = of(tags_from_conllu(path, vocabulary), vocabulary)
    for word in vocabulary.words[3:]:
        counts = Counter(tag for other, tag in tokens if other == word)
        assert found[word] == min(tag for tag in counts if counts[tag] == max(counts.values()))


ROW = "\t_\tX\t_\t_\t_\t_\t_\t_\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "bank.conllu:1: no word is in the file; expected CoNLL-U"),
        ("# only\n\n", "bank.conllu:1: no word"),
        ("# c\n1\ta\tb\n", "bank.conllu:2: found 3 columns; a word in CoNLL-U has 10"),
        ("1 a _ X _ _ _ _ _ _\n", "bank.conllu:1: found 1 column"),
        (f"x\ta{ROW}", "bank.conllu:1: the line begins with 'x'; expected the number of a word"),
        (f"0\ta{ROW}", "the line begins with '0'"),
        (f"1-\ta{ROW}", "the line begins with '1-'"),
        (
            "1\ta\t_\t_\tX\t_\t_\t_\t_\t_\n",
            "bank.conllu:1: the column upos holds no tags, only _; choose xpos",
        ),
        (
            "1\ta\t_\tX Y\t_\t_\t_\t_\t_\t_\n",
            "bank.conllu:1: the tag 'X Y' is empty, or contains white space",
        ),
        ("1\ta\t_\t\t_\t_\t_\t_\t_\t_\n", "bank.conllu:1: the tag '' is empty"),
        ("1\ta\t_\t<s>\t_\t_\t_\t_\t_\t_\n", "bank.conllu:1: the tag <s> is that of a special word"),
    ],
)
def test_bad_treebanks_are_refused_with_the_place(tmp_path: Path, data: str, message: str) -> None:
    path = tmp_path / "bank.conllu"
    path.write_text(data)
    with pytest.raises(BadDataError, match=message):
        tags_from_conllu(path, Vocabulary.from_words(["a"]))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (" ", "no source of tags; give brill"),
        ("bank.conllu:pos", "there is no column 'pos' of tags; choose one of upos, xpos"),
        ("bank.conllu:", "there is no column ''"),
        ("list.tsv:xpos", "the column xpos is given for list.tsv, which is not named .conllu"),
    ],
)
def test_sources_that_mean_nothing_are_refused(source: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_tags(source, Vocabulary.from_words(["a"]))
