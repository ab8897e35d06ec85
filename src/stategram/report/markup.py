"""HTML from small pieces: what is not markup is escaped."""

from __future__ import annotations

import html

_WITHOUT_END = frozenset({"br", "link", "meta"})


class Html(str):
    """Text that is markup already; every other string is escaped where it becomes a part of one."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | int | bool | None) -> Html:
    """Give an element; attributes that are None or False are left out, True stands for its bare name.

    Examples
    --------
    >>> element("p", "<s> & co", element("b", "bold"), class_="note", data_label='"a"', hidden=False)
    '<p class="note" data-label="&quot;a&quot;">&lt;s&gt; &amp; co<b>bold</b></p>'

    """
    said = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{html.escape(str(value))}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in _WITHOUT_END:
        return Html(f"<{name}{said}>")
    return Html(f"<{name}{said}>{join(*children)}</{name}>")


def join(*pieces: str) -> Html:
    """Put pieces one after the other; what is not markup is escaped.

    >>> join("a < b", element("br"))
    'a &lt; b<br>'
    """
    return Html(
        "".join(piece if isinstance(piece, Html) else html.escape(piece, quote=False) for piece in pieces)
    )
