"""The elements and ids of a page, and a check that its elements are properly nested."""

from __future__ import annotations

from html.parser import HTMLParser


class _Structure(HTMLParser):
    """Collects tags, and fails if they are not closed in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.met: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.met.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def structure_of(page: str) -> _Structure:
    found = _Structure()
    found.feed(page)
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    return found
