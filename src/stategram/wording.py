"""Numbers, figures, times, sizes and names as messages, tables and pages show them."""

from __future__ import annotations

import math
import re
import shlex

_SURROGATES = re.compile("[\ud800-\udfff]")
# Control characters of ASCII and ISO 8859 but tab and newline; what turns the direction of writing around.
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def plural(n: int, one: str, more: str | None = None) -> str:
    """Return a number with its noun.

    >>> plural(1, "word"), plural(2000, "class", "classes")
    ('1 word', '2,000 classes')
    """
    return f"{n:,} {one if n == 1 else more or one + 's'}"


def printable(name: str) -> str:
    r"""Return a name that can be encoded as UTF-8; undecodable bytes of file names become U+FFFD.

    >>> printable("caf\udce9") == "caf\N{REPLACEMENT CHARACTER}"
    True
    """
    return _SURROGATES.sub("\N{REPLACEMENT CHARACTER}", name)


def command_line(*words: object) -> str:
    """Return a command of stategram that can be pasted into a shell.

    >>> command_line("eval", "my model", "test.txt")
    "stategram eval 'my model' test.txt"
    """
    return shlex.join(["stategram", *map(str, words)])


def escaped(text: str) -> str:
    r"""Return a text that a terminal shows as it is: control characters become escapes.

    >>> escaped("a\x1b[2Jb\n"), escaped("Größe 日本")
    ('a\\x1b[2Jb\\n', 'Größe 日本')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible(text: str) -> str:
    r"""Return a text without what a terminal would obey: control characters but tab and newline are shown.

    >>> visible("a\x1b[2Jb\tc\n"), visible("a\u202eb\x9b1m")
    ('a\\x1b[2Jb\tc\n', 'a\\u202eb\\x9b1m')
    """
    return _OBEYED.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def duration(seconds: float) -> str:
    """Return a time in a suitable unit.

    >>> duration(0.034), duration(3.42), duration(34.2), duration(200), duration(7500), duration(260_000)
    ('34 ms', '3.4 s', '34 s', '3 min 20 s', '2 h 05 min', '3.0 days')
    """
    if seconds < 0.95:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    rounded = round(seconds)
    if rounded < 60:
        return f"{rounded} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02} s"
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60:02} min"
    return f"{seconds / 86400:.1f} days"


def size(n_bytes: int) -> str:
    """Return a number of bytes in a suitable unit.

    >>> size(999), size(1_500_000), size(12_000_000_000)
    ('999 bytes', '1.5 MB', '12.0 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.1f} {name}"
    return plural(n_bytes, "byte")


def count(value: int | None) -> str:
    """Return an integer; nothing for None.

    >>> count(12345), count(None)
    ('12,345', '')
    """
    return "" if value is None else f"{value:,}"


def perplexity(value: float | None) -> str:
    """Return a perplexity, or an end of its interval; nothing if there is none.

    >>> perplexity(97.563), perplexity(1234.56), perplexity(float("inf")), perplexity(None)
    ('97.56', '1,234.6', 'infinite', '')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "infinite"
    return f"{value:,.2f}" if value < 1000 else f"{value:,.1f}" if value < 1e7 else f"{value:.3g}"


def percent(fraction: float) -> str:
    """Return a fraction in percent.

    >>> percent(0.256), percent(0.0342)
    ('25.6%', '3.42%')
    """
    return f"{fraction:,.1%}" if abs(fraction) >= 0.1 else f"{fraction:.2%}"


def change(value: float | None) -> str:
    """Return a relative difference with its sign; nothing if there is none.

    >>> change(-0.118), change(0.02), change(-0.00001), change(None)
    ('-11.8%', '+2.00%', '0.00%', '')
    """
    if value is None or not math.isfinite(value):
        return ""
    size = percent(abs(value))
    return size if size == "0.00%" else f"{'-' if value < 0 else '+'}{size}"
