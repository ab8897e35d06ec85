"""Text to ids, said plainly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

SPECIALS = ["<unk>", "<s>", "</s>"]
NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)*")


def decode(data: bytes) -> tuple[str, int]:
    """The text of a file with U+FFFD for what is bad, and how many U+FFFD were put in."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    genuine = data.decode("utf-8", "ignore").count("\ufffd")
    return text, text.count("\ufffd") - genuine


def first_bad(data: bytes) -> tuple[int, int, int] | None:
    """Line, offset and value of the first byte that is NUL or not UTF-8."""
    try:
        data.decode("utf-8")
        offset = len(data)
    except UnicodeDecodeError as error:
        offset = error.start
    if b"\0" in data[:offset]:
        offset = data.index(b"\0")
    if offset == len(data):
        return None
    return data.count(b"\n", 0, offset) + 1, offset, data[offset]


def split(line: str, ascii_spaces: bool = False) -> list[str]:
    return [word.decode() for word in line.encode().split()] if ascii_spaces else line.split()


def wide_spaces(text: str) -> tuple[int, int]:
    """How many characters outside ASCII are white space, and the line of the first of them."""
    found = [at for at, character in enumerate(text) if character > "\x7f" and character.isspace()]
    return len(found), text.count("\n", 0, found[0]) + 1 if found else 0


def normalise(word: str, lowercase: bool, digits: str) -> str:
    if digits and NUMBER.fullmatch(word):
        return digits
    return word.lower() if lowercase else word


def sentences(
    text: str, lowercase: bool = False, digits: str = "", ascii_spaces: bool = False
) -> tuple[list[list[str]], int]:
    """The sentences that have words, and how many <s> and </s> were dropped."""
    lines = [
        [normalise(word, lowercase, digits) for word in split(line, ascii_spaces)]
        for line in text.split("\n")
    ]
    dropped = sum(word in ("<s>", "</s>") for line in lines for word in line)
    lines = [[word for word in line if word not in ("<s>", "</s>")] for line in lines]
    return [line for line in lines if line], dropped


def document_starts(
    data: bytes, lowercase: bool = False, mark: str | None = None, ascii_spaces: bool = False
) -> list[int]:
    """The number of sentences before each blank line or, given a mark, each line that matches it."""
    lines = decode(data)[0].split("\n")
    if data[-1:] in (b"", b"\n"):  # what follows the last line end is no line
        lines.pop()
    starts: list[int] = []
    n_sentences = 0
    for line in lines:
        is_blank = not split(line, ascii_spaces)
        is_mark = re.search(mark, line.removesuffix("\r")) if mark is not None else is_blank
        if is_mark and starts[-1:] != [n_sentences]:
            starts.append(n_sentences)
        n_sentences += len(sentences(line, lowercase, ascii_spaces=ascii_spaces)[0])
    return starts


def choose_vocabulary(lines: Iterable[list[str]], size: int, min_count: int) -> list[str]:
    counts = Counter(word for line in lines for word in line if word != "<unk>")
    words = sorted(counts, key=lambda word: (-counts[word], word.encode()))
    return SPECIALS + [word for word in words if counts[word] >= min_count][:size]


def encode(lines: list[list[str]], vocabulary: list[str]) -> tuple[list[int], list[int], list[int]]:
    """The ids, where the sentences start, and the count of each id."""
    id_of = {word: id for id, word in enumerate(vocabulary)}
    ids: list[int] = []
    starts = [0]
    for line in lines:
        ids += [id_of.get(word, 0) for word in line] + [2]
        starts.append(len(ids))
    counts = Counter(ids)
    return ids, starts, [counts[id] for id in range(len(vocabulary))]
