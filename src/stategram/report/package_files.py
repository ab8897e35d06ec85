"""The style sheet and the script of a page."""

from __future__ import annotations

from importlib import resources


def style_sheet() -> str:
    """Give the style sheet, whose variables are the colours of charts too."""
    return _file("page.css")


def script() -> str:
    """Give the script that switches between light and dark."""
    return _file("theme.js")


def _file(name: str) -> str:
    return resources.files("stategram.report").joinpath(name).read_text(encoding="utf-8")
