"""A whole page: one file that needs no other and no network."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from pathlib import Path

import stategram
from stategram.report.markup import Html, element, join
from stategram.report.package_files import script, style_sheet
from stategram.wording import printable

_GENERATOR = b'name="generator" content="stategram '
# It stands in the first lines, before the style sheet.
_HEAD_BYTES = 4096


def page(title: str, kind: str, lede: Iterable[Html], sections: Iterable[tuple[str, str, Html]]) -> str:
    """Give a page, which can be written as UTF-8 whatever the names of files in it.

    Parameters
    ----------
    title, kind
        Its heading, and in a few words what it is.
    lede
        What stands below the heading.
    sections
        The name of each in the page, its heading and what is in it.

    """
    parts = list(sections)
    theme = script()
    contents = [element("a", heading, href=f"#{key}") for key, heading, _ in parts]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(theme)),
        element("meta", name="generator", content=f"stategram {stategram.__version__}"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style_sheet())),
    )
    body = element(
        "body",
        element(
            "header",
            element(
                "p",
                element("span", kind),
                element("button", "Light or dark", type="button", id="theme", hidden=True),
                class_="kind",
            ),
            element("h1", title),
            *lede,
            element("nav", *contents, aria_label="Contents"),
        ),
        element("main", *(section(*one) for one in parts)),
        element("footer", element("p", f"Written by stategram {stategram.__version__}.")),
        element("script", Html(theme)),
    )
    return printable(f"<!doctype html>\n{element('html', head, body, lang='en')}\n")


def is_report(path: Path) -> bool:
    """Whether a file is a page that `page` gave."""
    with path.open("rb") as file:
        return _GENERATOR in file.read(_HEAD_BYTES)


def section(key: str, heading: str, content: Html) -> Html:
    """Give a section with its heading."""
    return element("section", element("h2", heading), content, id=key)


def facts(pairs: Iterable[tuple[str, str]]) -> Html:
    """Give names with what they are."""
    return element("dl", *(join(element("dt", name), element("dd", said)) for name, said in pairs))


def fold(name: str, *content: Html) -> Html:
    """Give content that is shown when its name is clicked, and on paper."""
    return element("details", element("summary", name), *content, class_="more")


def _policy(theme: str) -> str:
    """Allow a page what is in it, its own script, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(theme.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
