"""Telling clusters, as a page shows them."""

from __future__ import annotations

from collections.abc import Iterable

from stategram.inspection import CategoryExample, ClusterGallery, StateExample, WordExample
from stategram.report.markup import Html, element, join
from stategram.report.page import fold
from stategram.wording import plural

_SHOWN = 4


def gallery_html(gallery: ClusterGallery, title: str) -> Html:
    """Show the categories and states of a model; nothing if there are none."""
    if not gallery.categories and not gallery.states:
        return Html("")
    parts = [element("h3", title)]
    if gallery.categories:
        parts.append(element("p", "Categories: words that come after the same states.", class_="note"))
        parts += _clusters([_category(one) for one in gallery.categories], "categories")
    if gallery.states:
        parts.append(
            element("p", "States: contexts after which the same words come, and these words.", class_="note")
        )
        parts += _clusters([_state(one) for one in gallery.states], "states")
    return join(*parts)


def _clusters(clusters: list[Html], name: str) -> list[Html]:
    """List the first few; the others are folded away."""
    first, others = clusters[:_SHOWN], clusters[_SHOWN:]
    shown = [element("ul", *first, class_="clusters")]
    if others:
        shown.append(fold(f"{len(others)} more {name}", element("ul", *others, class_="clusters")))
    return shown


def _category(one: CategoryExample) -> Html:
    return element(
        "li",
        _words(one.examples),
        element("small", f"{plural(one.words, 'word')}, {plural(one.events, 'event')}"),
    )


def _state(one: StateExample) -> Html:
    contexts = (join(element("b", _alone(example.context)), " ") for example in one.examples)
    return element(
        "li",
        element("p", *contexts, class_="words"),
        _words(one.next_words, "words next"),
        element("small", f"{plural(one.contexts, 'context')}, {plural(one.events, 'event')}"),
    )


def _words(examples: Iterable[WordExample], style: str = "words") -> Html:
    words = (join(element("b", _alone(one.word), _percent(one.probability)), " ") for one in examples)
    return element("p", *words, class_=style)


def _alone(text: str) -> Html:
    """Keep the direction in which a text is written from what stands beside it."""
    return element("bdi", text)


def _percent(probability: float) -> Html:
    return element("sub", f"{probability:.0%}" if probability >= 0.01 else "<1%")
