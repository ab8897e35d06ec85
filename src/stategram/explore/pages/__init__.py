"""Reports for people: one HTML file with tables, charts and examples."""

from stategram.explore.pages.drawing import chart_script
from stategram.explore.pages.line_charts import vega_lite_version
from stategram.explore.pages.model_page import model_html
from stategram.explore.pages.rendering import (
    check_report_extra,
    is_report,
    policy_of,
    render,
    style_sheet,
    theme_script,
)

__all__ = [
    "chart_script",
    "check_report_extra",
    "is_report",
    "model_html",
    "policy_of",
    "render",
    "style_sheet",
    "theme_script",
    "vega_lite_version",
]
