r"""The tables of a reproduction as LaTeX, for documents that use booktabs."""

from __future__ import annotations

from collections.abc import Iterable

from stategram.experiments.reproduction import Reproduction, RowResult
from stategram.report.numbers import DASH, MINUS, TIMES, change, change_interval, interval, perplexity
from stategram.report.paper_tables import (
    TABLE_TITLES,
    claims_table,
    mean_and_deviation,
    missing,
    uncertainty,
)
from stategram.report.tables import Column, Table, table

_HEAD = r"% In the preamble: \usepackage{array,booktabs}; where the tables belong: \input{tables}"
_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        DASH: "--",
        TIMES: r"$\times$",
        MINUS: "$-$",
        "\N{PLUS-MINUS SIGN}": r"$\pm$",
        "\N{HORIZONTAL ELLIPSIS}": r"\dots{}",
        "\N{LEFT DOUBLE QUOTATION MARK}": "``",
        "\N{RIGHT DOUBLE QUOTATION MARK}": "''",
    }
)


def tables_latex(found: Reproduction) -> str:
    r"""Return the claims and all tables as LaTeX, to be put into a document by ``\input``."""
    comments = [f"% {latex_text(line)}" for line in (uncertainty(found), *missing(found)) if line]
    tables = [claims_table(found)] if found.claims else []
    tables += [_table(found, number) for number in sorted({row.table for row in found.rows})]
    return "\n".join([_HEAD, *comments, *map(table_latex, tables)])


def _table(found: Reproduction, number: int) -> Table:
    """Return a table with the columns that fit on a page."""
    return table(
        f"{TABLE_TITLES.get(number, f'Table {number}')}; changes in percent",
        (
            Column("Model"),
            Column("Perplexity", "number"),
            Column("95%", "number"),
            Column("Seeds", "number"),
            Column("Paper", "number"),
            Column("Change", "number"),
            Column("95%", "number"),
            Column("Paper", "number"),
        ),
        [_row(row) for row in found.rows if row.table == number],
    )


def _row(row: RowResult) -> tuple[str, ...]:
    return (
        row.title,
        perplexity(row.test.perplexity),
        interval(row.test.interval),
        DASH if row.seeds is None else mean_and_deviation(row.seeds, perplexity),
        perplexity(row.paper.perplexity if row.paper else None).removesuffix(".0"),
        change(row.change).replace("%", ""),
        change_interval(row.change_interval).replace("%", ""),
        change(row.paper.change if row.paper else None).replace("%", ""),
    )


def table_latex(of: Table) -> str:
    """Return a table as LaTeX; columns of words share what numbers, or a short last column, leave."""
    words = [column for column in of.columns[:-1] if not column.is_number]
    width = (0.23 if of.columns[-1].is_number else 0.84) / len(words)
    shapes = [
        "r" if column.is_number else _paragraph(width) if column in words else "l" for column in of.columns
    ]
    lines = [
        r"\begin{table}",
        r"\centering\scriptsize\setlength{\tabcolsep}{2pt}",
        # LaTeX numbers tables itself.
        rf"\caption{{{latex_text(of.title.partition('. ')[2] or of.title)}}}",
        rf"\begin{{tabular}}{{@{{}}{''.join(shapes)}@{{}}}}",
        r"\toprule",
        _line(column.title for column in of.columns),
        r"\midrule",
        *(_line(cell.text for cell in row) for row in of.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _paragraph(width: float) -> str:
    return rf">{{\raggedright\arraybackslash}}p{{{width:.3f}\linewidth}}"


def _line(cells: Iterable[str]) -> str:
    return " & ".join(map(latex_text, cells)) + r" \\"


def latex_text(text: str) -> str:
    r"""Escape the characters that have a meaning in LaTeX, or that its fonts lack.

    >>> print(latex_text("5% of <unk> & w_1"))
    5\% of \textless{}unk\textgreater{} \& w\_1
    """
    return " ".join(text.split()).translate(_SPECIAL)
