"""The page of the explorer in a real browser: seven views, linked, for keyboards and screen readers too."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from explorers import HOSTILE, explorer
from stategram.explore.app import saved_page

pytest.importorskip("starlette", reason="starlette serves the explorer")
uvicorn = pytest.importorskip("uvicorn", reason="uvicorn serves the explorer")

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

VIEWS = ("overview", "reading", "classes", "tree", "states", "ladder", "compare")


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    from stategram.explore.app.server import create_app

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(create_app(explorer()), log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    place = tmp_path_factory.mktemp("saved") / "page.html"
    place.write_text(saved_page(explorer()), encoding="utf-8")
    return place.as_uri()


class Visit:
    """A page with what it complained of, what it asked of others, and the dialogs it opened."""

    def __init__(self, browser: Browser, address: str, view: str = "reading", **options: Any) -> None:
        options.setdefault("viewport", {"width": 1200, "height": 900})
        self.address = address
        self.page: Page = browser.new_page(**options)
        self.complaints: list[str] = []
        self.others: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: self.complaints.append(f"dialog {dialog.message}"))
        self.page.on("request", lambda request: self.others.append(request.url))
        self.go(view)

    def go(self, view: str) -> None:
        self.page.goto(f"{self.address}#/{view}")
        self.page.locator("main h2").first.wait_for()
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_timeout(300)

    def close(self) -> None:
        base = self.address.split("#")[0]
        assert [url for url in self.others if not url.startswith((base, "data:"))] == []
        assert self.complaints == []
        self.page.close()


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_every_view_is_shown_accessible_and_fits(
    browser: Browser, address: str, view: str, width: int, scheme: str
) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="axe checks the page")
    visit = Visit(
        browser,
        address,
        view,
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        bypass_csp=True,
        reduced_motion="reduce",
    )
    page = visit.page
    assert page.locator("main").inner_text().strip()
    assert page.locator("nav [aria-current]").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    found = axe.Axe().run(page)
    assert [
        (one["id"], [node["target"] for node in one["nodes"]][:3]) for one in found.response["violations"]
    ] == []
    visit.close()


@pytest.mark.parametrize("view", VIEWS)
def test_a_saved_page_shows_every_view_without_a_server(browser: Browser, saved: str, view: str) -> None:
    visit = Visit(browser, saved, view)
    assert "not in this saved page" not in visit.page.locator("main").inner_text()
    visit.close()


@pytest.mark.parametrize("view", ["classes", "tree"])
def test_views_count_the_classes_of_words(browser: Browser, saved: str, view: str) -> None:
    visit = Visit(browser, saved, f"{view}?source=2")
    assert "All 9 classes" in visit.page.locator("main").inner_text()
    visit.close()


def test_a_word_is_read_and_explained(browser: Browser, address: str) -> None:
    visit = Visit(browser, address)
    page = visit.page
    page.locator("textarea").fill(f"the old king sees the garden\n{HOSTILE}")
    page.keyboard.press("Control+Enter")
    word = page.locator(".token", has_text=re.compile("^garden$"))
    word.wait_for()
    word.click()
    details = page.locator("aside")
    details.get_by_text("Surprisal").wait_for()
    expected = explorer().answer("explain", {"history": "the old king sees the", "word": "garden"})
    page.wait_for_timeout(500)
    assert f"{expected['surprisal']:.2f}" in details.inner_text()
    assert expected["expected"][0]["word"] in details.inner_text()
    assert "at=" in page.url
    # What looks like markup is a word like any other.
    assert page.get_by_text("<script>alert(1)</script>", exact=True).count() >= 1
    assert page.locator("main script, main img").count() == 0
    visit.close()


def test_views_are_linked_and_back_works(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, "classes?source=2&class=3")
    page = visit.page
    before = page.url
    link = page.locator("main a[href*='#/classes']").first
    link.click()
    page.wait_for_timeout(500)
    assert page.url != before
    page.go_back()
    page.wait_for_timeout(500)
    assert page.url == before
    visit.go("states?source=3&state=1")
    page.locator("main a[href*='#/states']").first.click()
    page.wait_for_timeout(500)
    assert re.search(r"#/states\?.*state=\d+", page.url)
    visit.go("tree")
    page.get_by_role("combobox", name="Find a word").fill("king")
    page.keyboard.press("Enter")
    page.locator(".found").wait_for()
    path = explorer().answer("word", {"word": "king"})["classes"][0]["path"]
    assert path in page.locator(".found").inner_text().replace(" ", "")
    visit.close()


def test_only_states_of_the_last_level_are_linked(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, "states?source=3")
    visit.page.get_by_label("Word", exact=True).fill("the")
    visit.page.keyboard.press("Enter")
    visit.page.locator(".context-tree").wait_for()
    first, last = visit.page.locator(".context-tree .level").all()
    levels = explorer().answer("context_tree", {"source": "3", "word": "the"})["levels"]
    assert first.locator("a").count() == 0
    assert f"state {levels[0]['nodes'][0]['state']} of level 1" in first.inner_text()
    expected = [f"state {node['state']}" for node in levels[1]["nodes"]]
    assert last.locator("a").all_inner_texts() == expected
    visit.close()


def test_the_ladder_follows_what_is_typed(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, "ladder?history=the%20old&watched=king")
    page = visit.page
    text = page.locator("main table").first.inner_text()
    assert "unigram" in text.lower()
    history = page.locator("main input").first
    history.fill("anna sees")
    page.wait_for_timeout(800)
    assert page.locator("main table").first.inner_text() != text
    assert "anna" in page.url
    visit.close()


def test_the_overview_leads_into_the_other_views(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, "")
    page = visit.page
    assert page.locator("main h2").inner_text() == "Overview"
    answer = explorer().answer("overview", {})
    shown = page.locator("main").inner_text()
    for _, value in answer["facts"]:
        assert value in shown
    weights = page.locator(".stacked").first.locator("i")
    widths = weights.evaluate_all("all => all.map(one => one.getBoundingClientRect().width)")
    expected = answer["sections"][0]["weights"]
    assert [width / sum(widths) for width in widths] == pytest.approx(expected, abs=0.01)
    links = page.locator("main a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert {link.split("?")[0] for link in links} == {f"#/{view}" for view in VIEWS[1:]}
    page.locator("main .clusters a").first.click()
    page.locator(".cl-panel h3").wait_for()
    visit.close()


def test_only_views_with_content_are_offered(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, "classes?model=1")  # a bigram model
    assert visit.page.locator("main h2").inner_text() == "Overview"
    offered = visit.page.locator("nav a").all_inner_texts()
    assert offered == ["Overview", "Reading", "Ladder", "Compare"]
    visit.close()


def test_words_in_a_rectangle_of_the_chart_are_listed(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, "compare")
    page = visit.page
    page.locator(".scatter").scroll_into_view_if_needed()
    box = page.locator(".scatter").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 1, box["y"] + 1)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 1, box["y"] + box["height"] - 1)
    page.mouse.up()
    answer = explorer().answer("compare", {"text": explorer().sample})
    points = sum(
        one is not None and other is not None
        for sentence in answer["sentences"]
        for one, other in zip(sentence["a"], sentence["b"], strict=True)
    )
    assert f"{points} words" in page.locator("[role=status]").all_inner_texts()
    page.mouse.click(box["x"] + 5, box["y"] + 5)
    assert "Drag a rectangle" in page.locator("main").inner_text()
    visit.close()


def test_the_theme_can_be_changed(browser: Browser, address: str) -> None:
    visit = Visit(browser, address, color_scheme="light")
    page = visit.page
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(colour)
    page.locator("#theme").click()
    page.wait_for_timeout(300)
    assert page.evaluate(colour) != light
    visit.close()


def test_the_saved_page_is_small_enough_to_mail(saved: str) -> None:
    assert Path(saved.removeprefix("file://")).stat().st_size < 5_000_000
