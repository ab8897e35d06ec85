"""Reports for people: one HTML file with tables, charts and examples, and the tables as Markdown."""

from stategram.report.model_page import model_html
from stategram.report.page import check_report_extra, is_report
from stategram.report.paper_tables import TABLE_TITLES, missing, tables_markdown, uncertainty
from stategram.report.reproduction_page import report_html, write_report

__all__ = [
    "TABLE_TITLES",
    "check_report_extra",
    "is_report",
    "missing",
    "model_html",
    "report_html",
    "tables_markdown",
    "uncertainty",
    "write_report",
]
