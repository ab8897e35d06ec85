"""Reports: what they say of figures that are there, and of those that are not."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from html_structure import structure_of
from reproductions import sample
from stategram.display import table_text
from stategram.errors import StategramError
from stategram.evaluation import Difference, Resampling
from stategram.explore.content import ClusterGallery
from stategram.explore.pages import check_libraries
from stategram.explore.pages.charts import Chart
from stategram.explore.pages.line_charts import panel_svg
from stategram.paper import summary, write_report
from stategram.paper.charts import bands_chart, sweeps_chart, weights_chart
from stategram.paper.claims import N_CLAIMS
from stategram.paper.page import report_html
from stategram.paper.published import CHOICES, PAPER
from stategram.paper.results import Claim, Clusters, CountBand, Reproduction, RowResult, Verdict
from stategram.paper.tables import conditions_table, headline, paper_table


@pytest.fixture(autouse=True)
def _vega_lite() -> None:
    pytest.importorskip("vl_convert", reason="vl-convert draws the charts")


@cache
def page_of_sample() -> str:
    return report_html(sample())


def _change(found: Reproduction, **fields: Any) -> Reproduction:
    return msgspec.structs.replace(found, **fields)


def _row(**fields: Any) -> RowResult:
    return msgspec.structs.replace(sample().rows[5], **fields)


def test_a_whole_report_is_sound_html() -> None:
    page = page_of_sample()
    found = structure_of(page)
    assert found.met.count("figure") == 5
    assert found.met.count("svg") == 6 + 9 + 1
    assert found.met.count("script") == 1
    assert {"claims", "tables", "tree", "mixtures", "clusters", "time", "repeat"} <= set(found.ids)
    assert not re.search(r'(src|href)="(?!#|data:)', page)
    assert page.count("http") == page.count("http-equiv") + page.count("http://www.w3.org")


def test_terms_are_explained_once_and_before_all_figures() -> None:
    head, _, rest = page_of_sample().partition("<main>")
    for term in ("w-1, t-1, g-1", "State", "Category", "{a|b|…}"):
        assert f"<dt>{term}</dt>" in head
        assert f"<dt>{term}</dt>" not in rest


def test_words_of_the_corpus_are_escaped() -> None:
    page = page_of_sample()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "alert(1)" not in page.replace("&lt;script&gt;alert(1)&lt;/script&gt;", "")
    assert "&amp;amp;" in page
    clusters = Clusters("</svg><script>", True, 1, 1, 1, 0)
    hostile = _row(title="<img src=x onerror=alert(2)>", clusters=clusters, note='"><b>')
    run = msgspec.structs.replace(sample().run, command="</pre><script>")
    page = report_html(_change(sample(), rows=(hostile,), run=run))
    assert structure_of(page).met.count("script") == 1
    assert "<img" not in page
    assert "<small>&#34;&gt;&lt;b&gt;</small>" in page


def test_the_headline_says_whether_the_paper_holds() -> None:
    found = sample()

    def held(*verdicts: Verdict) -> str:
        claims = tuple(Claim(claim="c", paper="p", found="f", verdict=one, rule="r") for one in verdicts)
        return headline(_change(found, claims=claims))

    assert held("holds", "holds") == (
        "All 2 claims that could be tested (of 8) hold: the context tree lowers perplexity by up to "
        "11.9%, interpolation lowers that of n-gram models by up to 11.4%."
    )
    every: list[Verdict] = ["holds"] * N_CLAIMS
    assert held(*every).startswith("All 8 claims of the paper hold: ")
    assert held("holds").startswith("The 1 claim that could be tested (of 8) holds: ")
    assert held("contradicted", "contradicted").startswith(
        "Of the 2 claims that could be tested (of 8), 2 are contradicted: "
    )
    assert held("holds", "undecided", "contradicted").startswith(
        "Of the 3 claims that could be tested (of 8), 1 holds, 1 is contradicted, 1 is undecided: "
    )
    assert held().startswith("No claim of the paper has been tested yet")
    flipped = Claim(claim="c", paper="p", found="f", verdict="holds", rule="r", printed="contradicted")
    few = _change(found, claims=(flipped, flipped), resampling=Resampling("document", 22))
    assert headline(few).startswith(
        "All 2 claims that could be tested (of 8) hold (by equation (1) as printed 2 are contradicted; by "
        "only 22 documents): "
    )
    worse = _row(difference=Difference(0.01, 0.005, 0.02, decided=True))
    assert headline(_change(found, rows=(worse,), claims=())).endswith(": the context tree gains nothing.")
    assert headline(_change(found, rows=(), claims=())).endswith("yet.")


def test_the_papers_figures_are_beside_ours() -> None:
    found = sample()
    shown = {}
    for number in (1, 2, 3, 4):
        table = paper_table(found, number)
        titles = [column.title for column in table.columns]
        assert titles.index("Paper") == titles.index("Perplexity") + 1
        assert titles.index("Paper's change") == titles.index("Change") + 1
        for row, cells in zip([row for row in found.rows if row.table == number], table.rows, strict=True):
            texts = dict(zip(titles, [cell.text for cell in cells], strict=True))
            if row.paper is not None:
                shown[row.key] = (texts["Paper"], texts["Paper's change"])
    assert set(shown) == {*PAPER, "w-2,w-1 tree strict"}
    assert shown["w-2,w-1 flat"] == ("180", "")
    assert shown["w-2,w-1 tree"] == ("158", "-12.2%")
    assert shown["t-3,t-2,t-1 flat"] == ("304.6", "")
    assert shown["t-4,t-3,t-2,t-1 tree"] == ("292", "-4.26%")
    assert shown["g-2,g-1 tree"] == ("170", "-7.61%")
    assert shown["w-2,w-1 tree + back-off 3"] == ("102", "-8.93%")
    assert not {"Paper", "Paper's change"} & {column.title for column in paper_table(found, 5).columns}


def test_what_the_paper_leaves_open_and_its_times_are_said() -> None:
    text = " ".join(page_of_sample().split())
    assert CHOICES.split(".")[0] in text
    assert "one iteration of the bigram case took 5 hours" in text


def test_tables_say_what_they_are_of() -> None:
    table = paper_table(sample(), 1)
    row = dict(zip([one.title for one in table.columns], table.rows[-2], strict=True))
    assert (row["Perplexity"].text, row["Perplexity"].note) == (
        "243.10",
        "238.24 to 248.21",
    )
    assert row["Without <unk>"].text == "253.07"
    assert row["Change"].text == "-11.9%"
    assert re.match(r"against flat\n-12\.\d% to -11\.\d%", row["Change"].note)
    assert row["States × categories"].text == "1,200 × 1,200"
    assert row["States × categories"].note == "paper: 2,000 × 2,000"
    assert "245,569 test events, 4,811 of them unknown words (1.96%)." in table.notes[0]
    assert "other numbers of states and categories" in table.notes[0]
    assert "other numbers" not in paper_table(sample(), 4).notes[0]


def test_rows_of_different_texts_say_their_events() -> None:
    one, other = sample().rows[:2]
    other = msgspec.structs.replace(other, test=replace(other.test, events=7))
    table = paper_table(_change(sample(), rows=(one, other)), 1)
    assert [row[-2].text for row in table.rows] == ["245,569", "7"]
    assert "not tested on the same events" in table.notes[0]


def test_one_row_only() -> None:
    found = _change(sample(), rows=(sample().rows[0],), claims=())
    page = report_html(found)
    ids = structure_of(page).ids
    assert "perplexity" in ids
    assert not {"claims", "tree", "mixtures", "clusters", "sweeps", "weights"} & set(ids)
    assert "262.4" in summary(found)


def test_no_rows_and_nothing_else() -> None:
    run = msgspec.structs.replace(sample().run, shared_seconds={})
    found = _change(sample(), rows=(), claims=(), texts=(), inputs=(), run=run)
    structure_of(report_html(found))
    assert headline(found).startswith("No claim")


def test_an_incomplete_reproduction_says_so() -> None:
    found = _change(sample(), complete=False)
    assert f"Incomplete: {len(found.rows)} rows are finished" in report_html(found)
    assert "Incomplete" not in page_of_sample()


def test_a_gallery_without_clusters() -> None:
    empty = ClusterGallery(key="x", categories=(), states=())
    assert "clusters" not in structure_of(report_html(_change(sample(), rows=(_row(gallery=empty),)))).ids


def _gallery_html(gallery: ClusterGallery) -> str:
    page = report_html(_change(sample(), rows=(_row(gallery=gallery),)))
    return page.partition('<section id="clusters">')[2].partition("</section>")[0]


def test_a_gallery_shows_the_first_few_of_its_clusters() -> None:
    gallery = next(row.gallery for row in sample().rows if row.gallery)
    page = _gallery_html(gallery)
    assert [page.count(f"1 more {name}") for name in ("categories", "states")] == [1, 1]
    assert page.count("<li>") == len(gallery.categories) + len(gallery.states) == 10
    assert all(part.count("<li>") == 4 for part in re.split("(?s)<details.*?</details>", page)[:2])
    few = ClusterGallery(key="x", categories=gallery.categories[:4], states=())
    page = _gallery_html(few)
    assert page.count("<li>") == 4
    assert "details" not in page
    assert "States:" not in page


def test_figures_that_are_infinite_are_said_but_not_drawn() -> None:
    row = sample().rows[0]
    test = replace(row.test, perplexity=float("inf"))
    page = report_html(_change(sample(), rows=(msgspec.structs.replace(row, test=test), *sample().rows[1:])))
    assert ">infinite<" in page


def test_a_tree_is_drawn_with_its_flat_twin_and_all_others_alone() -> None:
    variant = _row(key="annealed", title="annealed", table=5, compared_with=sample().rows[5].key)
    found = _change(sample(), rows=(*sample().rows, variant))
    chart = sweeps_chart(found)
    assert chart is not None
    drawn = {panel.title: {point.series for point in panel.points} for panel in chart.panels}
    assert drawn["w-2,w-1 (1,200, 1,200)"] == {"tree", "flat"}
    assert drawn["annealed"] == {"tree"}
    clustered = [row for row in found.rows if row.sweeps]
    assert sum(map(len, drawn.values())) == len(clustered)
    assert chart.data is not None
    assert {row[0].text for row in chart.data.rows} == {row.title for row in clustered}


def test_bands_of_a_handful_of_events_are_said_but_not_drawn() -> None:
    few = CountBand(least=5000, most=None, events=99, perplexity=1e7)
    rows = [
        msgspec.structs.replace(row, by_count=(*row.by_count, few)) if row.by_count else row
        for row in sample().rows
    ]
    usual, chart = bands_chart(sample()), bands_chart(_change(sample(), rows=tuple(rows)))
    assert usual is not None
    assert chart is not None
    assert chart.panels == usual.panels
    assert chart.data is not None
    assert ["5,000+", "99", "1e+07"] in [[cell.text for cell in row[1:]] for row in chart.data.rows]
    alone = [msgspec.structs.replace(row, by_count=(few,)) for row in rows]
    assert bands_chart(_change(sample(), rows=tuple(alone))) is None


def test_axes_have_labels_enough_and_none_twice() -> None:
    charts = [bands_chart(sample()), sweeps_chart(sample()), sweeps_chart(_with_sweeps(3))]
    for chart in charts:
        for labels in _axis_labels(chart):
            assert len(labels) >= (4 if chart is charts[0] else 3)
            assert len(set(labels)) == len(labels)
            assert not any(label.startswith("0.") for label in labels)
    sweeps, _ = _axis_labels(sweeps_chart(_with_sweeps(1)))
    assert sweeps == ["1"]


def _axis_labels(chart: Chart | None) -> list[list[str]]:
    """Return the labels of the axes of the first panel."""
    assert chart is not None
    svg = panel_svg(chart.panels[0], chart.legend, "")
    axes = re.findall(r'<g class="mark-text role-axis-label".*?</g>', svg)
    assert len(axes) == 2
    return [re.findall(r">([^<>]+)</text>", axis) for axis in axes]


def _with_sweeps(n: int) -> Reproduction:
    rows = [msgspec.structs.replace(row, sweeps=row.sweeps[:n]) for row in sample().rows]
    return _change(sample(), rows=tuple(rows))


def test_times_are_compared_only_for_as_many_clusters() -> None:
    assert "about 3.0 days" in page_of_sample()
    assert "times as long" not in page_of_sample()
    tree = next(row for row in sample().rows if row.key == "w-2,w-1 tree")
    assert tree.clusters is not None
    as_many = _change(
        sample(),
        rows=(msgspec.structs.replace(tree, asked=(tree.clusters.states, tree.clusters.categories)),),
    )
    assert "<small>3,500 times as long</small>" in report_html(as_many)


def test_parts_of_mixtures_have_the_titles_of_their_rows() -> None:
    chart = weights_chart(sample())
    assert chart is not None
    assert "w-2,w-1, tree" in dict(chart.legend)
    assert "Kneser-Ney 5-gram" in dict(chart.legend)


def test_n_gram_models_are_the_first_of_all_weights_in_shades_of_their_colour() -> None:
    rows = [msgspec.structs.replace(row, parts=row.parts[::-1]) for row in sample().rows]
    chart = weights_chart(_change(sample(), rows=tuple(rows)))
    assert chart is not None
    colours = dict(chart.legend)
    assert (colours["back-off trigram"], colours["w-2,w-1, flat"]) == ("ngram", "series-1")
    assert list(colours.values())[:2] == ["ngram", "ngram-2"]
    assert not any(colour.startswith("ngram") for colour in list(colours.values())[2:])
    assert len(set(colours.values())) == len(colours)
    assert set(colours.values()) <= set(re.findall(r"--([\w-]+):", page_of_sample()))
    assert chart.data is not None
    first = {row[0].text: row[1].text for row in reversed(chart.data.rows)}
    assert set(first.values()) <= {"back-off trigram", "Kneser-Ney 5-gram"}
    assert {bar.name: bar.segments[0].text.partition(":")[0] for bar in chart.bars} == first
    assert all(sum(segment.length for segment in bar.segments) == pytest.approx(1) for bar in chart.bars)


def test_the_summary_has_all_tables() -> None:
    text, lines = summary(sample()), summary(sample()).splitlines()
    titles = [
        "Table 1. Contexts of words",
        "Table 2. Contexts of part-of-speech tags",
        "Table 3. Contexts of learned word classes",
        "Table 4. Interpolation with n-gram models",
        "Table 5. Beyond the paper",
        "Conditions",
    ]
    assert [line for line in lines if line in titles] == titles
    for row in sample().rows:
        assert any(line.startswith(f"{row.title}  ") for line in lines)
    for claim in sample().claims:
        assert f"{claim.claim} ({claim.rule})\n" in text
    assert table_text(conditions_table(sample())) in text


def test_all_is_written(tmp_path: Path) -> None:
    write_report(sample(), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page_of_sample()


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_libraries("the page")
    monkeypatch.setattr("stategram.explore.pages.rendering.find_spec", lambda name: None)
    with pytest.raises(StategramError, match=r'pip install "stategram\[explore\]"'):
        check_libraries("the page")
    with pytest.raises(StategramError, match="vl_convert"):
        write_report(sample(), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_conditions_of_the_paper_are_beside_ours() -> None:
    shown = {row[0].text: [cell.text for cell in row[1:]] for row in conditions_table(sample()).rows}
    assert shown == {
        "Words of the training text": ["about 38,000,000", "2,051,910"],
        "Words of the vocabulary": ["20,000", "33,278"],
        "Distinct contexts w-2,w-1 that occurred fewer than 6 times": ["85%", "86.7%"],
        "Tags": ["61", "43"],
        "Parameters of the model back-off trigram": ["about 14,000,000", "1,230,000"],
        "Parameters of the model w-2,w-1, equation (1)": ["about 4,000,000", "1,473,278"],
    }


def test_a_flat_trigram_that_is_worse_than_the_bigram_is_noted() -> None:
    def note(flat: float) -> str:
        rows = [
            msgspec.structs.replace(row, test=replace(row.test, perplexity=flat))
            if row.key == "w-2,w-1 flat"
            else row
            for row in sample().rows
        ]
        return " ".join(paper_table(_change(sample(), rows=tuple(rows)), 1).notes)

    assert "(w-2,w-1) are 10.0% worse here than one (w-1)" in note(1.1 * 281.2)
    assert "worse" not in note(281.1)


def test_what_a_row_is_compared_with() -> None:
    tree = next(row for row in sample().rows if row.key == "w-2,w-1 tree")
    more = msgspec.structs.replace(tree, key="annealed", table=5, compared_with=tree.key)
    found = _change(sample(), rows=(*sample().rows, more))
    assert "against the tree of table 1" in table_text(paper_table(found, 5))
    assert "against flat" in table_text(paper_table(found, 1))
    assert "the tree of table 1" not in table_text(paper_table(found, 1))


def test_intervals_and_what_is_missing_are_in_all_forms() -> None:
    found = _change(sample(), no_tags="none were asked for", claims=sample().claims[1:])
    for text in (summary(found), report_html(found)):
        assert "paired bootstrap, 2,000 resamples of the 9,012 sentences" in text
        assert "238.24 to 248.21" in text
        assert "Table 2 is missing, because there are no tags: none were asked for." in text
        assert "1 claim was not tested: “Moving contexts along a tree beats moving single" in text
    assert "Table 2 is missing" not in page_of_sample()
    assert page_of_sample().count("95% interval: ") == len({row.key for row in sample().rows})


def test_what_is_not_decided_is_no_finding() -> None:
    undecided = _row(difference=Difference(-0.01, -0.03, 0.01, decided=False))
    shown = headline(_change(sample(), rows=(undecided,), claims=()))
    assert shown.endswith("the context tree lowers perplexity by up to 1.00% (undecided).")
