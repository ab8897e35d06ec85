"""ARPA files: what other tools write and load, and what is refused."""

from __future__ import annotations

import io
import math
from pathlib import Path

import kenlm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.arpa
from naive.arpa import Model, Ngram
from stategram.errors import BadDataError, UsageError
from stategram.formats import read_arpa, write_arpa
from stategram.models import NgramModel, NgramTrie
from stategram.text import Vocabulary

SRILM = """
\\data\\
ngram 1=5
ngram 2=4
ngram 3=2

\\1-grams:
-0.69897\t</s>
-99\t<s>\t-0.30103
-0.69897\ta\t-0.2632414
-0.8239087\tb\t-0.1249387
-inf\tnever

\\2-grams:
-0.30103\t<s> a\t0.1
-0.4771213\ta </s>
-0.1760913\ta b\t-0.07918124
-0.30103\tb </s>

\\3-grams:
-0.1249387\t<s> a b
-0.2\ta b </s>

\\end\\
"""

KENLM = """\\data\\
ngram 1=5
ngram 2=3

\\1-grams:
-0.9542425\t<unk>\t0
0\t<s>\t-0.30103
-0.7781513\t</s>\t0
-0.69897\ta\t-0.17609125
-1.0791812\té\t-0

\\2-grams:
-0.30103\t<s> a
-0.39794\ta </s>
-0.5\té </s>

\\end\\
"""

IRSTLM = """
\\data\\
ngram  1=         4
ngram  2=         2


\\1-grams:
-1.0\t<s>\t-0.3
-1.0    </s>
-0.5    a   -0.25
-0.9    <unk>
\\2-grams:
-0.2\t<s> a
3e-07 a </s>
\\end\\
"""

MITLM = """\\data\\
ngram 1=3
ngram 2=2

\\1-grams:
-0.5\t</s>
-99\t<s>\t-0.1
-0.3\tx\t0

\\2-grams:
-0.1\t<s> x\t0
-0.2\tx x\t0

\\end\\
"""


def read(text: str | bytes) -> NgramModel:
    return read_arpa(io.BytesIO(text.encode() if isinstance(text, str) else text))


def log_probs(vocabulary: Vocabulary, packed: NgramTrie) -> dict[str, float]:
    """The n-grams with their log probabilities, as the arrays say."""
    trie = packed.plain()
    word_of = {int(number): vocabulary.word(id) for id, number in enumerate(trie.numbers)}
    values = trie.log_probs.tolist()
    names = {0: ""}
    for node in range(len(trie.backoffs)):
        for child in range(trie.first_child[node], trie.first_child[node + 1]):
            names[child] = f"{names[node]} {word_of[int(trie.words[child])]}".strip()
    return {names[node]: values[node] for node in range(1, len(values))}


@pytest.mark.parametrize("text", [SRILM, KENLM, IRSTLM, MITLM])
@pytest.mark.parametrize("change", ["", "crlf", "spaces", "tabs", "heading", "mark"])
def test_what_other_tools_write_is_read(text: str, change: str) -> None:
    order, model = naive.arpa.completed(*naive.arpa.read(text))[0].order, naive.arpa.read(text)
    expected, _ = naive.arpa.completed(*model)
    changed = {
        "": text,
        "crlf": text.replace("\n", "\r\n"),
        "spaces": text.replace("\t", "  ").replace("\n-", "\n -"),
        "tabs": text.replace(" ", "\t").replace("ngram\t", "ngram "),
        "heading": "trained on a text\n\nngram 1=7\n" + text,
        "mark": "\ufeff" + text.lstrip(),
    }[change]
    read_back = read(changed)
    assert list(read_back.vocabulary.words) == naive.arpa.vocabulary(expected)
    assert read_back.order == order
    assert read_back.training_info["inserted_starts"] == 0
    found = log_probs(read_back.vocabulary, read_back.trie)
    assert found == {" ".join(ngram): float(np.float32(p)) for ngram, p in expected.log_probs.items()}
    assert found["<s>"] == -math.inf


def test_the_report_says_what_was_missing() -> None:
    assert read(SRILM).training_info == {
        "ngrams": [5, 4, 2],
        "inserted_starts": 0,
        "added_words": ["<unk>"],
        "unknown_word": None,
    }
    found = read("\\data\\\nngram 1=2\n\n\\1-grams:\n-1 <UNK>\n-2 x\n\\end\\")
    assert found.training_info["unknown_word"] == "<UNK>"
    assert found.training_info["added_words"] == ["<s>", "</s>"]
    assert log_probs(found.vocabulary, found.trie) == {
        "<unk>": -1,
        "<s>": -math.inf,
        "</s>": -math.inf,
        "x": -2,
    }


def test_a_missing_start_has_the_probability_of_backing_off() -> None:
    text = SRILM.replace("-0.1760913\ta b\t-0.07918124\n", "").replace("ngram 2=4", "ngram 2=3")
    found = read(text)
    assert found.training_info["inserted_starts"] == 1
    assert log_probs(found.vocabulary, found.trie)["a b"] == pytest.approx(-0.2632414 - 0.8239087, abs=1e-6)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa.gz"
    model = read(MITLM)
    write_arpa(model, path)
    calls: list[tuple[float, str]] = []
    again = read_arpa(path, progress=lambda *call: calls.append(call))
    assert again.vocabulary == model.vocabulary
    for name, array in again.trie.arrays().items():
        np.testing.assert_array_equal(array, getattr(model.trie, name))
    assert calls[-1] == (1.0, "0 MB")


def test_the_layout_is_that_of_srilm() -> None:
    file = io.BytesIO()
    write_arpa(read(SRILM), file)
    lines = file.getvalue().decode().split("\n")
    assert lines[:6] == ["\\data\\", "ngram 1=6", "ngram 2=4", "ngram 3=2", "", "\\1-grams:"]
    assert lines[6:9] == [
        "-100\t<unk>",
        "-99\t<s>\t-0.30103",
        "-0.69897\t</s>",
    ]
    assert lines[-3:] == ["", "\\end\\", ""]
    # The n-grams are in another order.
    assert sorted(lines[12:]) == sorted(SRILM.split("\n")[12:])


SENTENCE = st.lists(st.sampled_from(["a", "b", "c", "é", "nobody"]), max_size=8)


@st.composite
def loadable(draw: st.DrawFn) -> tuple[int, Model]:
    """Give a model as training tools make it: with all starts and all ends of its n-grams."""
    order = draw(st.integers(2, 5))
    words = ["<unk>", "<s>", "</s>", "a", "b", "c", "é"]
    logs = st.floats(-6, -0.0078125, width=32)
    found: set[Ngram] = {(word,) for word in words}
    for _ in range(draw(st.integers(1, 8))):
        text = ["<s>", *draw(st.lists(st.sampled_from(words[3:]), max_size=6)), "</s>"]
        found |= {tuple(text[i : i + k]) for k in range(2, order + 1) for i in range(len(text) - k + 1)}
    ngrams = sorted(found, key=lambda ngram: (len(ngram), words.index(ngram[0]), ngram))
    order = max(map(len, ngrams))
    return order, Model(
        {ngram: draw(logs) for ngram in ngrams},
        {ngram: draw(logs) for ngram in ngrams if ngram[-1] != "</s>" and len(ngram) < order},
    )


@settings(max_examples=25)
@given(given_model=loadable(), sentences=st.lists(SENTENCE, min_size=1, max_size=5))
def test_kenlm_loads_what_is_written_and_agrees(
    tmp_path_factory: pytest.TempPathFactory, given_model: tuple[int, Model], sentences: list[list[str]]
) -> None:
    order, model = given_model
    path = tmp_path_factory.mktemp("kenlm") / "model.arpa"
    write_arpa(read(naive.arpa.write(order, model)), path)
    loaded = kenlm.Model(str(path))
    assert loaded.order == order
    for sentence in sentences:
        known = ["<s>", *[word if (word,) in model.log_probs else "<unk>" for word in sentence], "</s>"]
        expected = [
            model.log_prob(tuple(known[max(0, i - order + 1) : i]), known[i]) for i in range(1, len(known))
        ]
        scores = [score for score, _, _ in loaded.full_scores(" ".join(sentence))]
        # Seven digits of each of up to five numbers below 10.
        assert scores == pytest.approx(expected, abs=1e-5)


HEAD = "\\data\\\nngram 1=3\nngram 2=1\n\n\\1-grams:\n-99\t<s>\t-1\n-1\t</s>\n-1\ta\t-0.5\n\n"
GOOD = HEAD + "\\2-grams:\n-0.1\t<s> a\n\n\\end\\\n"

BAD = {
    "empty": ("", 1, "the file is empty"),
    "text": ("once upon\na time\n", 2, "without \\data\\; give an ARPA file or a model file"),
    "binary": ("a\0b\n" + GOOD, 1, "a NUL byte before"),
    "kenlm binary": ("mmap lm http://kheafield.com/code format version 5\n\0", 1, "a binary file of KenLM"),
    "iARPA": ("iARPA\n" + GOOD, 1, "compile-lm --text=yes"),
    "no counts": ("\\data\\\n\n\\1-grams:\n", 3, "before any count"),
    "header only": ("\\data\\\nngram 1=3\n", 2, "ends within its header"),
    "header": (GOOD.replace("ngram 2=1", "ngrams: 1"), 3, "found 'ngrams: 1' in the header"),
    "order twice": (GOOD.replace("ngram 2", "ngram 1"), 3, "expected a line such as ngram 2=1000"),
    "order left out": (GOOD.replace("ngram 2", "ngram 3"), 3, "expected a line such as ngram 2=1000"),
    "absurd count": (GOOD.replace("2=1", "2=1" + 18 * "0"), 3, "holds up to 4294967290 n-grams"),
    "large count": (GOOD.replace("2=1", "2=4000000000"), 13, "after 1 of them; the header says 4000000000"),
    "endless count": (GOOD.replace("2=1", "2=" + 10**5 * "9"), 3, "holds up to"),
    "order 10": (
        GOOD.replace("2=1\n", "".join(f"{k}=1\nngram " for k in range(2, 10)) + "10=1\n"),
        11,
        "up to 9",
    ),
    "fewer words": (GOOD.replace("1=3", "1=4"), 10, "the 1-grams after 3 of them; the header says 4"),
    "more words": (GOOD.replace("1=3", "1=2"), 10, "after 3 of them; the header says 2"),
    "fewer bigrams": (GOOD.replace("2=1", "2=2"), 13, "the 2-grams after 1 of them; the header says 2"),
    "more bigrams": (GOOD.replace("2=1", "2=0"), 13, "the 2-grams after 1 of them; the header says 0"),
    "no section": (HEAD + "\\end\\\n", 10, "found '\\end\\'; expected \\2-grams:"),
    "section twice": (GOOD.replace("\\2-", "\\1-"), 10, "found '\\1-grams:'; expected \\2-grams:"),
    "section too many": (GOOD.replace("\\end", "\\3-grams:"), 13, "expected \\end\\"),
    "first section": (GOOD.replace("\\1-", "\\2-"), 5, "found '\\2-grams:'; expected \\1-grams:"),
    "cut off": (GOOD[:-8], 11, "the file ends after 1 of 1 2-grams; expected \\end\\"),
    "cut off in words": (GOOD[: GOOD.index("-1\ta")], 7, "the file ends after 2 of 3 1-grams"),
    "after the end": (GOOD + "\nmore\n", 15, "found 'more' after \\end\\"),
    "nan": (GOOD.replace("-0.1", "nan"), 11, "found 'nan' where the log10 probability of a 2-gram belongs"),
    "infinite": (GOOD.replace("-0.1", "inf"), 11, "never above 0"),
    "overflow": (GOOD.replace("-0.1", "1e999"), 11, "never above 0"),
    "positive": (GOOD.replace("-0.1", "0.00001"), 11, "found '0.00001'"),
    "positive word": (GOOD.replace("-1\ta", "2\ta"), 8, "found '2' where the log10 probability of a 1-gram"),
    "hexadecimal": (GOOD.replace("-0.1", "-0x1"), 11, "found '-0x1'"),
    "two signs": (GOOD.replace("-0.1", "--1"), 11, "found '--1'"),
    "no exponent": (GOOD.replace("-0.1", "-1e"), 11, "found '-1e'"),
    "comma": (GOOD.replace("-0.1", "-0,1"), 11, "found '-0,1'"),
    "back-off nan": (GOOD.replace("-0.5", "nan"), 8, "found 'nan' where the back-off weight"),
    "back-off infinite": (GOOD.replace("-0.5", "inf"), 8, "never above 99"),
    "back-off too large": (GOOD.replace("-0.5", "1e39"), 8, "never above 99"),
    "back-off absurd": (GOOD.replace("-0.5", "5000"), 8, "found '5000' where the back-off weight"),
    "long number": (GOOD.replace("-0.1", "-0." + 10**6 * "1"), 11, "found a number of 1000003 characters"),
    "few words": (GOOD.replace("<s> a", "a"), 11, "found 1 field after"),
    "many words": (GOOD.replace("<s> a", "<s> a a a"), 11, "found 4 fields after"),
    "a word too many": (GOOD.replace("<s> a", "<s> a a"), 11, "found 'a' where the back-off weight"),
    "no words": (GOOD.replace("\t<s> a", ""), 11, "found 0 fields after"),
    "unknown word": (GOOD.replace("<s> a", "<s> b"), 11, "the word 'b' is not among the 1-grams"),
    "word twice": (GOOD.replace("</s>", "a"), 8, "the 1-gram 'a' is there a second time"),
    "<s> twice": (GOOD.replace("</s>", "<s>"), 7, "the 1-gram '<s>' is there a second time"),
    "bigram twice": (
        GOOD.replace("2=1", "2=2").replace("\n\n\\end", "\n\n-1 <s> a\n\n\\end"),
        13,
        "a second time",
    ),
    "NUL in a word": (GOOD.replace("\ta\t", "\ta\0\t"), 8, "a NUL byte"),
    "NUL in a bigram": (GOOD.replace("<s> a", "<s> a\0"), 11, "a NUL byte"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, name: str) -> None:
    text, line, message = BAD[name]
    path = tmp_path / "model.arpa"
    path.write_bytes(text.encode())
    with pytest.raises(BadDataError) as caught:
        read_arpa(path)
    said = str(caught.value)
    assert said.startswith(f"{path}:{line}: ")
    assert message in said
    assert len(said) < len(str(path)) + 300
    assert caught.value.exit_code == 3


def test_text_that_is_not_utf8_is_refused() -> None:
    good = GOOD.encode()
    for bad, line in ((good.replace(b"\ta\t", b"\t\xe9\t"), 8), (good.replace(b"<s> a", b"<s> \xe9"), 11)):
        with pytest.raises(BadDataError, match=rf"^<stream>:{line}: the byte 0xe9 is not UTF-8"):
            read(bad)


def test_a_line_of_100_mb_is_refused_at_once() -> None:
    head = HEAD.encode() + b"\\2-grams:\n-0.1\t<s> "
    for start, line in ((b"", 1), (head, 11)):
        file = io.BytesIO(start + b"a" * 100_000_000)
        with pytest.raises(BadDataError, match=rf"^<stream>:{line}: a line of more than 1048576 bytes"):
            read_arpa(file)
        assert file.tell() < 10_000_000


def test_a_long_text_is_no_arpa_file() -> None:
    with pytest.raises(BadDataError, match=r"no \\data\\ in the first 1048576 bytes"):
        read("a word or two\n" * 100_000)


def test_words_and_trie_have_to_be_of_one_model(tmp_path: Path) -> None:
    model = NgramModel(read(MITLM).vocabulary, read(SRILM).trie)
    with pytest.raises(UsageError, match="give those of one model"):
        write_arpa(model, tmp_path / "model.arpa")
    assert list(tmp_path.iterdir()) == []


def test_models_are_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "model.arpa"
    model = read_arpa(io.BytesIO(KENLM.encode()))
    assert model.score("a").log10_prob == pytest.approx(-0.30103 - 0.39794, abs=1e-6)
    write_arpa(model, path)
    again = read_arpa(path)
    assert again.vocabulary == model.vocabulary
    assert again.score("a \u00e9 nobody").log10_prob == pytest.approx(
        model.score("a \u00e9 nobody").log10_prob, abs=1e-5
    )
    assert again.training_info["ngrams"] == [5, 3]
