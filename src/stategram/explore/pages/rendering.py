"""A page: one HTML file that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import stategram
from stategram.display import Column, DisplayTable, display_table
from stategram.errors import StategramError
from stategram.explore.pages.line_charts import panel_svg
from stategram.storage import InputFile
from stategram.wording import count, duration, percent, perplexity, plural, printable, size

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "stategram.explore.pages"
_LIBRARIES = ("altair", "jinja2", "vl_convert")
_GENERATOR = b'name="generator" content="stategram '
# It comes before the style sheet.
_HEAD_BYTES = 4096
_NEGATIVE = re.compile(r"(?<![\w-])-(?=[\d.])")


def check_report_extra() -> None:
    """Raise an error now, before any long work, if the libraries that write a report are not installed."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise StategramError(
            f'a report needs {", ".join(missing)}, not installed: pip install "stategram[report]"'
        )


def render(template: str, *, package: str = _PACKAGE, **values: Any) -> str:
    """Return the page of a template; file names that are not valid Unicode are made printable.

    Templates of another package may use those of reports.
    """
    check_report_extra()
    return printable(_environment(package).get_template(template).render(values))


def style_sheet() -> str:
    """Return the style sheet of all pages."""
    return str(_environment().globals["style"])


def theme_script() -> str:
    """Return the script of the button that changes between light and dark."""
    return str(_environment().globals["script"])


def is_report(path: Path) -> bool:
    """Whether a file is a page written by `render`."""
    with path.open("rb") as file:
        return _GENERATOR in file.read(_HEAD_BYTES)


@cache
def _environment(package: str = _PACKAGE) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(one) for one in dict.fromkeys((package, _PACKAGE))]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    assert environment.loader is not None
    style, script = (environment.loader.get_source(environment, name)[0] for name in ("page.css", "theme.js"))
    environment.globals.update(
        style=Markup(style),
        script=Markup(script),
        policy=policy_of(script),
        version=stategram.__version__,
        panel_svg=lambda *arguments: Markup(panel_svg(*arguments)),
        plural=plural,
    )
    environment.filters.update(
        duration=duration,
        fraction=_fraction,
        number=count,
        percent=percent,
        perplexity=perplexity,
        size=size,
        unbroken=unbroken,
    )
    return environment


def unbroken(text: str) -> str:
    """Write negative numbers with a minus sign, and n-gram so that no line breaks in it.

    >>> unbroken("5-gram model: -3.1%") == "5\N{NON-BREAKING HYPHEN}gram model: \N{MINUS SIGN}3.1%"
    True
    """
    return _NEGATIVE.sub("\N{MINUS SIGN}", text).replace("-gram", "\N{NON-BREAKING HYPHEN}gram")


def input_files_table(files: Iterable[InputFile]) -> DisplayTable:
    """Return name, use, size and SHA-256 of files."""
    return display_table(
        "Input files",
        (Column("File", "file"), "Use", Column("Size", "number"), Column("SHA-256", "code")),
        [
            (file.name, file.use, None if file.bytes is None else size(file.bytes), file.sha256)
            for file in files
        ],
    )


def _fraction(value: float) -> str:
    """Return a small part of a whole, with one digit at least.

    >>> _fraction(0.61), _fraction(0.034), _fraction(0.0061), _fraction(0.0001)
    ('61%', '3%', '0.6%', '<0.1%')
    """
    if value >= 0.01:
        return f"{value:.0%}"
    return f"{value:.1%}" if value >= 0.001 else "<0.1%"


def policy_of(*scripts: str) -> str:
    """Return the policy that allows a page its own style sheet and scripts, and nothing from elsewhere."""
    digests = (base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"
