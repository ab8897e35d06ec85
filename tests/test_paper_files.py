"""The tables of a reproduction as CSV and as LaTeX."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from reproductions import sample
from stategram.report.paper_csv import tables_csv
from stategram.report.paper_latex import tables_latex


def test_the_csv_reads_back() -> None:
    rows = list(csv.DictReader(io.StringIO(tables_csv(sample()))))
    assert [row["key"] for row in rows] == [row.key for row in sample().rows]
    tree = next(row for row in rows if row["key"] == "w-2,w-1 tree")
    assert float(tree["perplexity_low"]) < float(tree["perplexity"]) < float(tree["perplexity_high"])
    assert float(tree["change_low"]) < float(tree["change"]) < float(tree["change_high"])
    assert (tree["change_decided"], tree["seeds"], tree["paper_perplexity"]) == ("True", "3", "158")
    assert rows[0]["change"] == ""


def test_latex_is_escaped_and_balanced() -> None:
    found = sample()
    hostile = msgspec.structs.replace(found.rows[0], title="50% of <unk> & a_b {x} \\ ~ ^ # $")
    text = tables_latex(msgspec.structs.replace(found, rows=(hostile, *found.rows)))
    assert r"50\% of \textless{}unk\textgreater{} \& a\_b \{x\} \textbackslash{} " in text
    for name in ("table", "tabular"):
        assert text.count(rf"\begin{{{name}}}") == text.count(rf"\end{{{name}}}") == 6
    assert text.isascii()
    for table in text.split(r"\toprule")[1:]:
        lines = [line for line in table.split(r"\bottomrule")[0].splitlines() if line.endswith(r" \\")]
        assert len({len(re.findall(r"(?<!\\)&", line)) for line in lines}) == 1


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no LaTeX is installed")
def test_latex_compiles(tmp_path: Path) -> None:
    (tmp_path / "tables.tex").write_text(tables_latex(sample()))
    (tmp_path / "paper.tex").write_text(
        r"\documentclass{article}\usepackage{array,booktabs}\begin{document}\input{tables}\end{document}"
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
