from __future__ import annotations

import io
import json
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stategram.errors import BadDataError, UsageError
from stategram.formats import CLASS_FORMATS, read_classes, write_classes

NASTY = [
    "#",
    '"',
    "0",
    "1",
    "10",
    "0.5",
    "1e-3",
    "{",
    "}",
    "CLASS-1",
    "\\n",
    "\u00a0",
    "\u2028",
    "\x1c",
    "é",
    "-",
]
word = st.one_of(
    st.sampled_from(NASTY),
    st.text(
        st.characters(exclude_categories=["Cs"], exclude_characters="\0 \t\n\r\v\f"), min_size=1, max_size=6
    ),
)
PATHS = ["00", "010", "011", "1"]
entries = st.dictionaries(word, st.tuples(st.integers(0, 3), st.integers(0, 9)), min_size=1)


def written(classes: dict[str, tuple[int, int]], format: str) -> bytes:
    out = io.BytesIO()
    labels, counts = zip(*classes.values(), strict=True)
    write_classes(list(classes), labels, counts, out, format=format, bit_paths=PATHS)
    return out.getvalue()


def name(label: int, format: str) -> str:
    return {"srilm": f"CLASS-{label:05d}", "brown": PATHS[label], "mkcls": str(label + 2)}.get(
        format, str(label)
    )


@pytest.mark.parametrize("format", CLASS_FORMATS)
@given(classes=entries)
def test_what_was_written_is_read(format: str, classes: dict[str, tuple[int, int]]) -> None:
    expected = {w: name(g, format) for w, (g, _) in classes.items()}
    data = written(classes, format)
    assert read_classes(io.BytesIO(data), format=format) == expected


@pytest.mark.parametrize("format", CLASS_FORMATS)
@given(classes=entries)
def test_the_format_is_detected(format: str, classes: dict[str, tuple[int, int]]) -> None:
    # One ordinary word is enough to tell the formats apart, whatever the others look like.
    classes = {**classes, "ordinary": (2, 5)}
    expected = {w: name(g, format) for w, (g, _) in classes.items()}
    assert read_classes(io.BytesIO(written(classes, format))) == expected


def test_mkcls_has_two_columns_by_word_and_leaves_two_classes_to_giza() -> None:
    classes = {"b": (0, 9), "é": (0, 1), "a": (1, 4), "B": (1, 5)}
    assert written(classes, "mkcls").decode() == "B\t3\na\t3\nb\t2\né\t2\n"
    with pytest.raises(BadDataError, match="a mkcls class file has word<TAB>class on each line"):
        read_classes(io.BytesIO(written(classes, "clustercat")), format="mkcls")


@given(classes=entries)
def test_probabilities_sum_to_one_in_each_class(classes: dict[str, tuple[int, int]]) -> None:
    total: dict[bytes, float] = defaultdict(float)
    for line in written(classes, "srilm").split(b"\n")[:-1]:
        label, p, _ = line.split()
        total[label] += float(p)
    assert total == pytest.approx(dict.fromkeys(total, 1.0), abs=1e-12)


def test_each_format_reads_as_documented() -> None:
    classes = {"cat": (1, 1), "the": (0, 9), "dog": (1, 3)}
    lines = b"the\t0\t9\ndog\t1\t3\ncat\t1\t1\n"
    assert written(classes, "clustercat") == lines
    assert written(classes, "tsv") == b"word\tclass\tcount\n" + lines
    assert written(classes, "brown") == b"00\tthe\t9\n010\tdog\t3\n010\tcat\t1\n"
    assert written(classes, "srilm") == b"CLASS-00000 1.0 the\nCLASS-00001 0.75 dog\nCLASS-00001 0.25 cat\n"
    assert json.loads(written(classes, "json"))["classes"][:2] == [
        {"class": 0, "count": 9, "bits": "00", "words": [{"word": "the", "count": 9}]},
        {
            "class": 1,
            "count": 4,
            "bits": "010",
            "words": [{"word": "dog", "count": 3}, {"word": "cat", "count": 1}],
        },
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"the\t0\ncat\t1\n", {"the": "0", "cat": "1"}),
        (b"\xef\xbb\xbfthe\t0\n\n\ncat\t1", {"the": "0", "cat": "1"}),
        (b"the\t3 -1.25\n", {"the": "3"}),
        (b"CLASS-1 cat\nCLASS-1 dog\n", {"cat": "CLASS-1", "dog": "CLASS-1"}),
        (b"CLASS-1 1e-05 7\nCLASS-1 5e-1 8\n", {"7": "CLASS-1", "8": "CLASS-1"}),
        (b"ANIMAL 0.5 cat\nANIMAL 0.5 7\n", {"cat": "ANIMAL", "7": "ANIMAL"}),
        (b"01\t0\t5\n01\t1\t5\n10\t10\t5\n", {"0": "01", "1": "01", "10": "10"}),
        (b"the\t1\t5\ncat\t0\t5\n", {"the": "1", "cat": "0"}),
        (b"{\t1\t5\n}\t0\t5\n", {"{": "1", "}": "0"}),
        (b"the 1\nthe 1\n", {"the": "1"}),
        (b"word\tclass\t5\nNA\t2\t7\n", {"word": "class", "NA": "2"}),
        (b"word\tclass\tcount\r\n\\NA\t2\t7\r\n", {"NA": "2"}),
        (b'"word","class","count"\n"a,""b""",2,7\n', {'a,"b"': "2"}),
        (b"count\tclass\tword\tnote\n7\tx\tcat\t\n", {"cat": "x"}),
        (b'{"class": 3, "word": "\\\\NA"}\n', {"\\NA": "3"}),
    ],
)
def test_files_of_other_tools_are_read(data: bytes, expected: dict[str, str]) -> None:
    assert read_classes(io.BytesIO(data)) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b" \n", "classes.txt:1: the class file is empty"),
        (b"a 1\nb\n", "classes.txt:2: found 1 column, 'b'; a clustercat class file has"),
        (b"a 1\nb 2 3 4\n", "classes.txt:2: found 4 columns"),
        (b"a 1\nb 2 c\n", "classes.txt:2: found 3 columns, 'b 2 c'"),
        (b"a 1\nb 1\na 2\n", "classes.txt:3: 'a' has the class 2, but line 1 gave it 1"),
        (
            b"word\tclass\tcount\na\t1\t1\n\na\t2\t1\n",
            "classes.txt:4: 'a' has the class 2, but .*:2 gave it 1",
        ),
        (b"word\tclass\tcount\na\t\t1\n", "classes.txt:2: no class there"),
        (b"word\tclass\tcount\na\t1\n", "classes.txt:2: found 2 fields"),
        (b"PAR1", "classes.txt: not a parquet file"),
        (b'{"version":1,\n"n_classes":}', "classes.txt:2: not JSON"),
        (b'{"version":1}', "classes.txt:1: .*n_classes"),
        (b'{"version":2,"n_classes":0,"classes":[]}', "version 2"),
        (
            b'{"version":1,"n_classes":2,"classes":[{"class":0,"count":0,"words":[{"word":"a"}]},'
            b'{"class":1,"count":0,"words":[{"word":"a"}]}]}',
            "'a' has the classes 0 and 1",
        ),
    ],
)
def test_bad_files_are_refused_with_the_place(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "classes.txt"
    path.write_bytes(data)
    with pytest.raises(BadDataError, match=message):
        read_classes(path)


def test_a_given_format_is_kept_to(tmp_path: Path) -> None:
    path = tmp_path / "classes.txt"
    path.write_bytes(b"0\t1\t5\n")
    assert read_classes(path) == {"1": "0"}
    assert read_classes(path, format="tsv") == {"0": "1"}
    with pytest.raises(BadDataError, match="a brown class file has bits"):
        read_classes(io.BytesIO(b"x\t1\t5\n"), format="brown")
    with pytest.raises(BadDataError, match="not a csv table of word, class and count"):
        read_classes(path, format="csv")
    with pytest.raises(UsageError, match="no class file format 'xml'"):
        read_classes(path, format="xml")


@pytest.mark.parametrize(
    ("words", "labels", "counts", "format", "error", "message"),
    [
        (["a b"], [0], [1], "tsv", BadDataError, "'a b' is empty or holds white space"),
        ([""], [0], [1], "tsv", BadDataError, "'' is empty"),
        (["\udc80"], [0], [1], "tsv", BadDataError, "cannot be written as UTF-8"),
        (["a", "a"], [0, 1], [1, 1], "tsv", BadDataError, "'a' is a duplicate"),
        (["a"], [0, 1], [1], "tsv", UsageError, "1 words, 2 classes and 1 counts"),
        (["a"], [-1], [1], "tsv", UsageError, "below 0"),
        (["a"], [0], [1], "xml", UsageError, "no class file format 'xml'"),
        (["a"], [0], [1], "brown", UsageError, "needs the bit paths"),
    ],
)
def test_unusable_classes_are_refused(
    words: list[str], labels: list[int], counts: list[int], format: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        write_classes(words, labels, counts, io.BytesIO(), format=format)
