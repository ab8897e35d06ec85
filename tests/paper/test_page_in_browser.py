"""Pages in a real browser: they need no network, and can be read in the dark, on a phone and on paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reproductions import sample
from stategram.explore.pages.rendering import unbroken
from stategram.paper import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_POINTS = ".mark-symbol path"


@pytest.fixture(scope="module")
def report(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the page of a reproduction."""
    place = tmp_path_factory.mktemp("reports")
    write_report(sample(), place)
    return place / "report.html"


class Visit:
    """A page that was opened, what it asked the network for, and what it complained of."""

    def __init__(self, browser: Browser, file: Path, **options: Any) -> None:
        options.setdefault("viewport", {"width": 1200, "height": 900})
        self.page: Page = browser.new_page(**options)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(file.as_uri())
        self.others = [url for url in self.requests if url != file.as_uri() and url != "data:,"]

    def colour(self, selector: str, name: str = "background-color") -> str:
        script = "([s, n]) => getComputedStyle(document.querySelector(s)).getPropertyValue(n)"
        found = self.page.evaluate(script, [selector, name])
        assert isinstance(found, str)
        return found


def test_every_chart_is_drawn_without_network_or_complaint(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report)
    assert (visit.others, visit.complaints) == ([], [])
    figures = visit.page.locator("figure").all()
    assert len(figures) == 5
    for figure in figures:
        assert figure.locator("svg").count() + figure.locator(".bars").count() > 0
        for svg in figure.locator("svg").all():
            box = svg.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) > 40
            assert len(svg.get_attribute("aria-label") or "") > 20
            points = svg.locator(_POINTS)
            assert points.count() > 0
            assert svg.locator("title").count() == points.count()
        marks = figure.locator(f"{_POINTS}, .bar i")
        fills = marks.evaluate_all(
            """marks => marks.map(mark => {
                 const style = getComputedStyle(mark);
                 return mark.matches(".bar i") ? style.backgroundColor : style.fill;
               })"""
        )
        assert not {"none", "rgba(0, 0, 0, 0)"} & set(fills)
        if figure.locator("summary").count():
            figure.locator("summary").click()
            assert figure.locator("details td").first.is_visible()
        else:
            assert figure.locator(".bar b").count() == figure.locator(".bar").count() > 1


def test_the_figures_are_those_of_the_data(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    rows = sample().rows
    tables = page.locator("#tables > .table table").all()
    assert len(tables) == 5 + 1  # the last one has the conditions
    for number, table in enumerate(tables[:5], 1):
        shown = table.locator("tbody tr").all()
        of_table = [row for row in rows if row.table == number]
        assert len(shown) == len(of_table)
        for line, row in zip(shown, of_table, strict=True):
            assert line.locator("th").inner_text().startswith(unbroken(row.title))
            value, interval, *_ = line.locator('td[data-label="Perplexity"]').inner_text().splitlines()
            assert float(value.replace(",", "")) == pytest.approx(row.test.perplexity, abs=0.0051)
            low, high = (float(end.replace(",", "")) for end in interval.split(" to "))
            assert low < row.test.perplexity < high
            if row.difference is not None:
                change = line.locator('td[data-label="Change"]').inner_text().split("%")[0]
                assert float(change.replace("−", "-")) / 100 == pytest.approx(
                    row.difference.relative, abs=0.00051
                )
    bars = page.locator("#perplexity .bar b").all_text_contents()
    assert len(bars) == len({row.key for row in rows})
    values = list(map(float, bars))
    assert values == sorted(values)
    # Each bar ends inside of the line that is its interval.
    assert all(
        page.locator("#perplexity .bar:has(s)").evaluate_all(
            """bars => bars.map(bar => {
                const end = bar.querySelector("i").getBoundingClientRect().right
                const interval = bar.querySelector("s").getBoundingClientRect()
                return interval.left < end && end < interval.right
            })"""
        )
    )
    lengths = page.locator("#perplexity .bar i").evaluate_all(
        "bars => bars.map(bar => bar.getBoundingClientRect().width)"
    )
    assert [length / lengths[0] for length in lengths] == pytest.approx(
        [value / values[0] for value in values], rel=0.01
    )


def test_words_are_shown_and_not_run(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    assert page.evaluate("[document.scripts.length, document.images.length]") == [1, 0]
    assert page.get_by_text("<script>alert(1)</script>").first.is_visible()
    assert page.get_by_text("<s> <s>").first.is_visible()


def test_it_follows_the_scheme_and_the_button(browser: Browser, report: Path) -> None:
    light, dark = (Visit(browser, report, color_scheme=scheme) for scheme in ("light", "dark"))
    for selector, name in (("body", "background-color"), ("body", "color"), (".bar i", "background-color")):
        assert light.colour(selector, name) != dark.colour(selector, name)
    assert light.colour("svg text", "fill") != dark.colour("svg text", "fill")
    button = light.page.get_by_role("button")
    assert button.inner_text() == "Dark"
    button.click()
    assert light.colour("body") == dark.colour("body")
    assert button.inner_text() == "Light"
    button.click()
    assert light.colour("body") != dark.colour("body")


@pytest.mark.parametrize("width", [320, 390, 1200])
def test_nothing_needs_sideways_scrolling(browser: Browser, report: Path, width: int) -> None:
    page = Visit(browser, report, viewport={"width": width, "height": 844}).page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    if width == 320:  # where a long note is wider than its column
        page.evaluate(
            "note => document.querySelectorAll('.number small').forEach(one => one.textContent = note)",
            "against modified Kneser-Ney 3-gram",
        )
    assert page.evaluate("document.documentElement.scrollWidth") == width
    beyond = page.evaluate(
        """width => [...document.querySelectorAll("main *:not(svg *), header *")]
           .filter(one => one.checkVisibility() && one.closest("thead, details .table") === null)
           .filter(one => one.getBoundingClientRect().right > width + 0.5)
           .map(one => one.outerHTML.slice(0, 80))""",
        width,
    )
    assert beyond == []


def test_clusters_keep_to_their_columns(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    beyond = page.locator(".clusters b").evaluate_all(
        """words => words.filter(word =>
             word.getBoundingClientRect().right > word.closest("li").getBoundingClientRect().right + 0.5)
           .map(word => word.textContent)"""
    )
    assert beyond == []


def test_no_line_begins_with_a_separator_and_none_ends_in_n_hyphen(browser: Browser, report: Path) -> None:
    """A separator is a part of the word before it; n-gram is one word."""
    for width in (320, 1200):
        page = Visit(browser, report, viewport={"width": width, "height": 844}).page
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert "n-gram" not in page.locator("body").inner_text()
        words = page.locator(".words b:not(:last-child)")
        contents = words.evaluate_all("words => words.map(one => getComputedStyle(one, '::after').content)")
        assert set(contents) == {'"\N{NO-BREAK SPACE}\N{MIDDLE DOT}"'}


def test_figures_beside_words_from_right_to_left(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    places = page.locator(".words sub").evaluate_all(
        """figures => figures.map(figure => {
             const at = place => {
               const one = document.createRange();
               one.setStart(figure.firstChild, place);
               one.setEnd(figure.firstChild, place + 1);
               return one.getBoundingClientRect().left;
             };
             const word = figure.previousSibling.getBoundingClientRect();
             return [word.left, at(0), at(figure.textContent.length - 1)];
           })"""
    )
    assert len(places) > 20
    assert all(place == sorted(place) for place in places)


def test_names_are_beside_their_bars_and_on_a_phone_above_them(browser: Browser, report: Path) -> None:
    for width, beside in ((1200, True), (390, False)):
        page = Visit(browser, report, viewport={"width": width, "height": 844}).page
        places = page.locator(".bars li").evaluate_all(
            """bars => bars.map(bar => [...bar.children].map(one => {
                 const { left, right, top, bottom } = one.getBoundingClientRect();
                 return { left, right, top, bottom };
               }))"""
        )
        assert len(places) > 2
        for name, bar in places:
            assert name["right"] <= bar["left"] if beside else name["bottom"] <= bar["top"]
            assert bar["right"] - bar["left"] > 300


def test_paper_is_light_and_without_buttons(browser: Browser, report: Path, tmp_path: Path) -> None:
    light = Visit(browser, report, color_scheme="light")
    visit = Visit(browser, report, color_scheme="dark")
    visit.page.get_by_role("button").click()
    visit.page.get_by_role("button").click()
    visit.page.emulate_media(media="print")
    assert visit.colour("body", "color") == light.colour("body", "color")
    assert visit.page.get_by_role("button").count() == 0
    assert visit.page.locator("details").first.is_hidden()
    assert visit.colour(".table", "break-inside") == "avoid"
    assert visit.colour(".bars li", "break-inside") == "avoid"
    assert visit.page.pdf(format="A4").startswith(b"%PDF")


def test_what_is_folded_away_is_on_paper(browser: Browser, report: Path) -> None:
    page = Visit(browser, report).page
    folded = page.locator(".more").all()
    assert folded
    for one in folded:
        assert one.locator("summary").is_visible()
        assert not one.locator("li, td").first.is_visible()
    folded[0].locator("summary").click()
    assert folded[0].locator("li, td").first.is_visible()
    page.emulate_media(media="print")
    for one in folded:
        assert not one.locator("summary").is_visible()
        assert one.locator("li, td").first.is_visible()


def test_without_scripts_all_is_there(browser: Browser, report: Path) -> None:
    visit = Visit(browser, report, java_script_enabled=False)
    assert visit.page.locator("#theme").is_hidden()
    assert visit.page.locator("#perplexity .bar b").first.is_visible()
    assert visit.page.locator("#bands svg").first.is_visible()
