"""Texts from a web server that lies about them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from file_server import serve
from fuzz.campaign import BrokenPromiseError, Campaign
from stategram import count_text, read_corpus
from stategram.errors import StategramError

Headers = dict[str, str]
Answer = tuple[int, Headers, bytes]
_PAGE = b"<html>Please log in to read the text</html>\n"


def _header(
    name: str, value: str | None, methods: str = "HEAD GET", statuses: str = "200 206"
) -> Callable[..., Answer]:
    """Return the lie that sets a header, or leaves it out."""

    def lie(method: str, path: str, status: int, headers: Headers, body: bytes) -> Answer:
        if method not in methods.split() or str(status) not in statuses.split():
            return status, headers, body
        kept = {one: text for one, text in headers.items() if one != name}
        return status, kept | ({} if value is None else {name: value}), body

    return lie


def _body(
    change: Callable[[bytes], bytes], *, is_told: bool, statuses: str = "200 206"
) -> Callable[..., Answer]:
    """Return the lie that changes the length of what is sent, with or without its header."""

    def lie(method: str, path: str, status: int, headers: Headers, body: bytes) -> Answer:
        if str(status) not in statuses.split() or method == "HEAD":
            return status, headers, body
        body = change(body)
        return status, headers | ({"Content-Length": str(len(body))} if is_told else {}), body

    return lie


def _leads(status: int, kind: str) -> Callable[..., Answer]:
    def lie(method: str, path: str, _status: int, headers: Headers, body: bytes) -> Answer:
        if path != "/login":
            return status, {"Location": "/login", "Content-Length": "0"}, b""
        return 200, {"Content-Type": kind, "Content-Length": str(len(_PAGE))}, _PAGE

    return lie


def _answers(status: int, methods: str = "HEAD GET") -> Callable[..., Answer]:
    def lie(method: str, path: str, real: int, headers: Headers, body: bytes) -> Answer:
        return (status, {"Content-Length": "0"}, b"") if method in methods else (real, headers, body)

    return lie


LIES: tuple[Callable[..., Answer], ...] = (
    *(
        _header("Content-Length", value, "HEAD")
        for value in ("0", "1", "1500", "3000", "99999", "-1", "x", None)
    ),
    *(
        _header("Content-Range", value, "GET", "206")
        for value in (
            None,
            "bytes 0-99/4600",
            "bytes */4600",
            "bytes 5-4/9",
            "items 1-2/3",
            "x",
            "bytes 1-1/1",
        )
    ),
    *(
        _body(lambda body: body[:10], is_told=told, statuses=which)
        for told in (True, False)
        for which in ("206", "200 206")
    ),
    _body(lambda body: body + body, is_told=True, statuses="206"),
    _body(lambda body: b"", is_told=True, statuses="206"),
    _header("Accept-Ranges", "none"),
    _header("Content-Encoding", "gzip"),
    _header("Content-Type", "text/html"),
    *(_leads(status, "text/html; charset=utf-8") for status in (302, 307)),
    *(_answers(status) for status in (204, 401, 500)),
    _answers(405, "HEAD"),
)


class Urls(Campaign):
    """Each try counts a text of a server that lies in one way."""

    name = "urls"
    promise = "what a server sends is the text that was asked for, or refused"

    def attempt(self, number: int) -> None:
        """Read the text, whole or in parts."""
        chance, lie = self.random(number), LIES[number % len(LIES)]
        folder = self.place / str(number)
        folder.mkdir()
        text = "".join(f"{chance.choice('abcdefgh') * 9} {line}\n" for line in range(300))
        Path(folder, "text.txt").write_text(text)
        expected = read_corpus(folder / "text.txt")
        with serve(folder, lie=lie) as (url, _):
            for in_parts in (False, True):
                try:
                    found = (
                        count_text(f"{url}/text.txt", folder / "counts", 1, shard_size=1 << 10).corpus()
                        if in_parts
                        else read_corpus(f"{url}/text.txt")
                    )
                except StategramError as error:
                    if not str(error).strip():
                        raise BrokenPromiseError("an error without a word") from error
                    continue
                if found.vocabulary != expected.vocabulary or found.ids.tolist() != expected.ids.tolist():
                    how = "in parts" if in_parts else "whole"
                    raise BrokenPromiseError(f"lie {number % len(LIES)}, {how}: another text was read")
