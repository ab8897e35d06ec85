"""A page: one HTML file that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import stategram
from stategram.display import (
    Column,
    DisplayTable,
    count,
    display_table,
    duration,
    percent,
    perplexity,
    plural,
    printable,
    size,
)
from stategram.errors import StategramError
from stategram.explore.pages.line_charts import panel_svg
from stategram.storage import InputFile

if TYPE_CHECKING:
    from jinja2 import Environment

_PACKAGE = "stategram.explore.pages"
_LIBRARIES = ("altair", "jinja2", "vl_convert")
_NEGATIVE = re.compile(r"(?<![\w-])-(?=[\d.])")


def check_libraries(use: str, names: Iterable[str] = _LIBRARIES) -> None:
    """Raise an error now, before any long work, if libraries are missing; by default those of a page."""
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        raise StategramError(
            f'{use} needs {", ".join(missing)}, not installed: pip install "stategram[explore]"'
        )


def render(template: str, package: str, **values: Any) -> str:
    """Return the page of a template of a package; file names that are not valid Unicode are made printable.

    Templates may use those of this package.
    """
    check_libraries("the page")
    return printable(_environment(package).get_template(template).render(values))


def style_sheet() -> str:
    """Return the style sheet of all pages."""
    return _template("page.css")


def theme_script() -> str:
    """Return the script of the button that changes between light and dark."""
    return _template("theme.js")


def _template(name: str) -> str:
    return (files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8")


@cache
def _environment(package: str) -> Environment:
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(one) for one in (package, _PACKAGE)]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals.update(
        style=Markup(style_sheet()),
        script=Markup(theme_script()),
        policy=policy_of(theme_script()),
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


def policy_of(script: str) -> str:
    """Return the policy that allows a page its own style sheet and script, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
