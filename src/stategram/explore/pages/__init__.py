"""Pages for people: one HTML file with tables and charts, from Jinja templates."""

from stategram.explore.pages.rendering import (
    check_libraries,
    input_files_table,
    policy_of,
    render,
    style_sheet,
    theme_script,
)

__all__ = [
    "check_libraries",
    "input_files_table",
    "policy_of",
    "render",
    "style_sheet",
    "theme_script",
]
