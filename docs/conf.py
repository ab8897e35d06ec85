"""How Sphinx builds the site: `make site`."""

from __future__ import annotations

from typing import Any

import latex2mathml.converter
from docutils import nodes

import stategram

project = "stategram"
copyright = "The stategram authors"
release = version = stategram.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
# In docstrings, `name` is code.
default_role = "code"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
napoleon_numpy_docstring = True
napoleon_use_ivar = True
python_use_unqualified_type_names = True
python_display_short_literal_types = True
python_maximum_signature_line_length = 90
# Names of the standard library and of NumPy lead nowhere; fields of two classes may have one name.
suppress_warnings = ["ref.python", "misc.highlighting_failure"]

html_theme = "furo"
html_title = "stategram"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# MathML: browsers draw it without a script from elsewhere.
html_math_renderer = "mathml"

_PROJECT_PAGES = {
    "../SECURITY.md": "security.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changes.md",
    "../benchmarks/README.md": "benchmarks.md",
}


def _mathml(text: str, display: str) -> str:
    return latex2mathml.converter.convert(text, display=display)


def _visit_math(translator: Any, node: nodes.math) -> None:
    translator.body.append(_mathml(node.astext(), "inline"))
    raise nodes.SkipNode


def _visit_math_block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{_mathml(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def _link_project_pages(app: Any, name: str, source: list[str]) -> None:
    """Files beside docs/ are pages of the site."""
    for path, page in _PROJECT_PAGES.items():
        source[0] = source[0].replace(f"]({path}", f"]({page}")


def setup(app: Any) -> None:
    """Register what is above."""
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math_block, None))
    app.connect("source-read", _link_project_pages)
