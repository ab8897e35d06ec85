"""Reports for people: one HTML file with tables, charts and examples, and the tables as Markdown."""

from stategram.report.drawing import chart_script
from stategram.report.line_charts import vega_lite_version
from stategram.report.model_page import model_html
from stategram.report.page import check_report_extra, is_report, policy_of, render, style_sheet, theme_script
from stategram.report.paper_tables import (
    TABLE_TITLES,
    conditions_table,
    headline,
    missing,
    tables_markdown,
    uncertainty,
)
from stategram.report.reproduction_page import report_html, write_report

__all__ = [
    "TABLE_TITLES",
    "chart_script",
    "check_report_extra",
    "conditions_table",
    "headline",
    "is_report",
    "missing",
    "model_html",
    "policy_of",
    "render",
    "report_html",
    "style_sheet",
    "tables_markdown",
    "theme_script",
    "uncertainty",
    "vega_lite_version",
    "write_report",
]
