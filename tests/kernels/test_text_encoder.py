"""The text kernel does what its naive twin does, wherever the blocks are cut and whatever the threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import text as naive
from stategram._core import TextEncoder

# Pieces that meet the kernel's special cases: white space of all kinds, words around 8 and 16 bytes,
# markers, numbers, letters with difficult lower case, control characters.
PIECES = [
    *" \n\t\r\x0b\x0c\x1c\x1d\x1e\x1f\x85\xa0",
    *"\u1680\u2000\u2007\u200a\u200b\u2028\u2029\u202f\u205f\u3000\u180e\ufeff\ufffd",
    *["a", "the", "The", "seven77", "eightééé", "12345678", "abcdefgh", "Abcdefgh", "abcdefghi", "ABCDEFGHI"],
    *["sixteen-letters!", "sixteen-letters!?", "abcdefgh\x01", "\x01", "a\x1bb", "\x7f"],
    *["<s>", "</s>", "<S>", "</S>", "<unk>", "<UNK>", "<un\u212a>", "N", "n"],
    *["0", "-1", "+1.5", "1,000.25", "1.", ".5", "1..2", "--1", "1-2", "½", "\u0661"],
    *["É", "é", "İ", "ΑΣ", "Σ", "ΣΑ", "ẞ", "Ǆ", "\U0001f600", "\U00010400", "日本語", "Жизнь"],
]
BAD_PIECES = [
    *[b"\0", b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xc3", b"\xe0\x80\x80", b"\xe2\x82", b"\xe2"],
    *[b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x9f\x98", b"\xf4\x90\x80\x80", b"\xf5"],
    *[b"\xff", b"\xfe", b"\xef\xbb", b"\xef\xbb\xbf", b"\xf8\x88\x80\x80\x80"],
]
good_texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=3)).map("".join)
good_bytes = good_texts.map(lambda text: text.replace("\0", "").encode("utf-8", "ignore"))
any_bytes = st.lists(
    st.sampled_from(BAD_PIECES) | st.sampled_from(PIECES).map(str.encode) | st.binary(max_size=4)
).map(b"".join)
threads = st.integers(1, 3)


def blocks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


def feed(encoder: TextEncoder, parts: list[bytes]) -> tuple[int, int, int] | None:
    for part in parts:
        bad = encoder.feed(part)
        if bad:
            return bad
    return encoder.end_file()


def words_of(letters: bytes, offsets: list[int]) -> list[str]:
    return [letters[a:b].decode() for a, b in pairwise(offsets)]


def check(
    data: bytes,
    parts: list[bytes],
    *,
    n_threads: int = 1,
    lowercase: bool = False,
    digits: str = "",
    size: int = 2**63,
    min_count: int = 1,
    ascii_spaces: bool = False,
) -> None:
    encoder = TextEncoder(lowercase, True, n_threads, ascii_spaces)
    assert feed(encoder, parts) is None
    encoder.merge(encoder.wide_words().decode().lower().encode(), digits.encode())
    letters, offsets, counts = encoder.choose_vocabulary(size, min_count)
    ids, starts, documents = encoder.encode()

    text, replaced = naive.decode(data)
    lines, dropped = naive.sentences(text, lowercase, digits, ascii_spaces)
    vocabulary = naive.choose_vocabulary(lines, size, min_count)
    assert words_of(letters.tobytes(), offsets.tolist()) == vocabulary
    assert (ids.tolist(), starts.tolist(), counts.tolist()) == naive.encode(lines, vocabulary)
    assert (encoder.replaced, encoder.dropped) == (replaced, dropped)
    assert documents.tolist() == naive.document_starts(data, lowercase, ascii_spaces=ascii_spaces)
    expected = (0, 0) if ascii_spaces else naive.wide_spaces(text)
    assert (encoder.wide_spaces, encoder.wide_space_line) == expected


@given(good_bytes, st.lists(st.integers(0, 1000), max_size=4), threads)
def test_words_are_those_of_split(data: bytes, cuts: list[int], n_threads: int) -> None:
    check(data, blocks(data, cuts), n_threads=n_threads)


@given(any_bytes, st.lists(st.integers(0, 1000), max_size=4), threads, st.booleans())
def test_words_of_ascii_white_space(data: bytes, cuts: list[int], n_threads: int, lowercase: bool) -> None:
    check(data, blocks(data, cuts), n_threads=n_threads, lowercase=lowercase, ascii_spaces=True)


@given(any_bytes, st.lists(st.integers(0, 1000), max_size=4), threads)
def test_replacing_is_that_of_decode(data: bytes, cuts: list[int], n_threads: int) -> None:
    check(data, blocks(data, cuts), n_threads=n_threads)


@given(
    any_bytes, st.booleans(), st.sampled_from(["", "N", "<num>", "½"]), st.integers(1, 9), st.integers(1, 3)
)
def test_lower_case_numbers_and_choice(
    data: bytes, lowercase: bool, digits: str, size: int, min_count: int
) -> None:
    check(data, [data], lowercase=lowercase, digits=digits, size=size, min_count=min_count)


@given(any_bytes, st.lists(st.integers(0, 1000), max_size=4), threads)
def test_first_bad_byte_is_found(data: bytes, cuts: list[int], n_threads: int) -> None:
    encoder = TextEncoder(False, False, n_threads)
    assert feed(encoder, blocks(data, cuts)) == naive.first_bad(data)


def test_every_place_to_cut() -> None:
    data = b"\xef\xbb\xbfab \xe2\x82\xac\xc2\xa0x\r\n\n\xf0\x9f\x98\x80 abcdefghijk\xe2\x82\n\0 y\n<s> \xff z"
    for at in range(len(data) + 1):
        for n_threads in (1, 2, 3):
            check(data, [data[:at], data[at:]], n_threads=n_threads)
    check(data, [data[i : i + 1] for i in range(len(data))])


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_many_parts_and_their_order(n_threads: int) -> None:
    # Parts are cut at 256 KiB: this text has several, and lines longer than one.
    lines = [f"w{i * i % 9973} common x{i % 7} <s> É{i % 11}" for i in range(30_000)]
    lines[20_000] = "5\xa0% \u3000"
    lines[100:100] = [" ".join(f"v{i}" for i in range(60_000)), "", "q" * 600_000]
    data = "\n".join(lines).encode()
    assert len(data) > 1 << 20
    check(data, blocks(data, [1 << 19, 700_000]), n_threads=n_threads, lowercase=True)


@given(
    st.lists(st.sampled_from(["a b\n", "<s> </s>\n", "\n", " \u3000\r\n", "c\n", "<S>\n"])).map("".join),
    st.lists(st.integers(0, 1000), max_size=4),
    threads,
    st.booleans(),
)
def test_blank_lines_start_documents(text: str, cuts: list[int], n_threads: int, lowercase: bool) -> None:
    check(text.encode(), blocks(text.encode(), cuts), n_threads=n_threads, lowercase=lowercase)


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_documents_across_parts(n_threads: int) -> None:
    # Parts are cut at 256 KiB: here some of them begin and end with blank lines, and one has nothing else.
    lines = ["" if i % 5 == 0 else f"some {'long' * 25} {i}" for i in range(8_000)]
    lines[3_000:3_000] = [" " * 99] * 6_000
    data = "\n".join(lines).encode()
    check(data, blocks(data, [1 << 19, 1 << 20]), n_threads=n_threads)


def test_documents_of_several_files() -> None:
    encoder = TextEncoder(False, False, 2)
    for data in (b"\na\n\n", b"\n", b"\nb\nc", b"d\n\n"):
        assert feed(encoder, [data]) is None
    encoder.merge(b"", b"")
    encoder.choose_vocabulary(9, 1)
    _, starts, documents = encoder.encode()
    assert (len(starts) - 1, documents.tolist()) == (4, [0, 1, 4])


def test_bad_byte_far_in_is_placed() -> None:
    lines = [b"some words in a line %d" % i for i in range(40_000)]
    lines[39_990] = b"caf\xe9"
    lines[39_995] = b"later \xff"
    data = b"\n".join(lines)
    offset = data.index(b"\xe9")
    for n_threads in (1, 3):
        encoder = TextEncoder(False, False, n_threads)
        assert feed(encoder, blocks(data, [5, 300_000])) == (39_991, offset, 0xE9)


def test_files_are_counted_one_by_one() -> None:
    encoder = TextEncoder(False, False, 1)
    assert feed(encoder, [b"\xef\xbb\xbfa\nb"]) is None
    assert feed(encoder, [b"\xef\xbb\xbfa\nb\n", b"\xff"]) == (3, 7, 0xFF)


@settings(max_examples=30)
@given(good_bytes, threads)
def test_a_given_vocabulary_is_used(data: bytes, n_threads: int) -> None:
    vocabulary = [*naive.SPECIALS, "the", "abcdefghi", "É", "N"]
    encoder = TextEncoder(False, False, n_threads)
    assert feed(encoder, [data]) is None
    encoder.merge(b"", b"N")
    encoded = [word.encode() for word in vocabulary]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    counts = encoder.use_vocabulary(np.frombuffer(b"".join(encoded), np.uint8), offsets)
    ids, starts, documents = encoder.encode()
    assert documents.tolist() == naive.document_starts(data)
    lines, _ = naive.sentences(naive.decode(data)[0], digits="N")
    assert (ids.tolist(), starts.tolist(), counts.tolist()) == naive.encode(lines, vocabulary)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("ascii_spaces", [False, True])
def test_every_character_of_the_basic_plane(lowercase: bool, ascii_spaces: bool) -> None:
    characters = [chr(c) for c in range(1, 0x10000) if not 0xD800 <= c < 0xE000]
    data = "\n".join(f"a{c}B" for c in characters).encode()
    check(data, [data], lowercase=lowercase, ascii_spaces=ascii_spaces)


@pytest.mark.parametrize("tail", [b"", b"\x80", b"\x80\x80", b"\xbf\xbf", b"\xc0\x80"])
def test_every_pair_of_first_bytes(tail: bytes) -> None:
    data = b"\n".join(bytes([lead, second]) + tail for lead in range(0x80, 0x100) for second in range(256))
    check(data, [data])


def test_steps_out_of_order_are_refused() -> None:
    encoder = TextEncoder(False, False, 1)
    encoder.feed(b"a b")
    with pytest.raises(RuntimeError, match="not ended"):
        encoder.merge(b"", b"")
    encoder.end_file()
    with pytest.raises(RuntimeError, match="in this order"):
        encoder.choose_vocabulary(9, 1)
    encoder.merge(b"", b"")
    with pytest.raises(RuntimeError, match="in this order"):
        encoder.feed(b"c\n")
    with pytest.raises(RuntimeError, match="in this order"):
        encoder.end_file()
    with pytest.raises(RuntimeError, match="in this order"):
        encoder.encode()
    encoder.choose_vocabulary(9, 1)
    assert encoder.encode()[0].tolist() == [3, 4, 2]
    with pytest.raises(RuntimeError, match="in this order"):
        encoder.encode()


def test_nothing_follows_a_step_that_failed() -> None:
    encoder = TextEncoder(True, False, 2)
    for _ in range(8):
        encoder.feed("É é\n".encode() * 100_000)
    encoder.end_file()
    with pytest.raises(ValueError, match="fewer lowered words"):
        encoder.merge(b"", b"")
    for step in (
        encoder.end_file,
        encoder.encode,
        lambda: encoder.feed(b"a\n"),
        lambda: encoder.merge(b"", b""),
    ):
        with pytest.raises(RuntimeError, match="an earlier step failed"):
            step()
