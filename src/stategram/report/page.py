"""A page: one HTML file that needs no other file and no network."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import stategram
from stategram.errors import StategramError
from stategram.report import numbers
from stategram.report.line_charts import panel_svg
from stategram.wording import duration, plural, printable, size

if TYPE_CHECKING:
    from jinja2 import Environment

_LIBRARIES = ("altair", "jinja2", "vl_convert")
_GENERATOR = b'name="generator" content="stategram '
# It comes before the style sheet.
_HEAD_BYTES = 4096


def check_report_extra() -> None:
    """Raise an error now, before any long work, if the libraries that write a report are not installed."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise StategramError(
            f'a report needs {", ".join(missing)}, not installed: pip install "stategram[report]"'
        )


def render(template: str, **values: Any) -> str:
    """Return the page of a template; file names that are not valid Unicode are made printable."""
    check_report_extra()
    return printable(_environment().get_template(template).render(values))


def is_report(path: Path) -> bool:
    """Whether a file is a page written by `render`."""
    with path.open("rb") as file:
        return _GENERATOR in file.read(_HEAD_BYTES)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("stategram.report"),
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
        policy=_policy(script),
        version=stategram.__version__,
        panel_svg=lambda *arguments: Markup(panel_svg(*arguments)),
        plural=plural,
    )
    environment.filters.update(
        duration=duration,
        fraction=numbers.fraction,
        number=numbers.count,
        percent=numbers.percent,
        perplexity=numbers.perplexity,
        size=size,
        unbroken=numbers.unbroken,
    )
    return environment


def _policy(script: str) -> str:
    """Allow a page its own style sheet and script, and nothing from elsewhere."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"
