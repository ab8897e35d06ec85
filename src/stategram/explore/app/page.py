"""The page of the explorer: its script and style sheet, served, or all in one file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec

import stategram
from stategram.errors import UsageError
from stategram.explore.app.explorer import Explorer
from stategram.explore.app.text_answers import read_text
from stategram.explore.pages import (
    chart_script,
    policy_of,
    render,
    style_sheet,
    theme_script,
    vega_lite_version,
)
from stategram.progress import Progress
from stategram.text import END

_SCRIPTS = ("core", "reading", "classmap", "tree", "states", "ladder", "compare")
_STYLES = ("explorer", "clusters")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page that is served."""

# What a saved page holds: so many classes, states and words; so many words of a class, contexts of a state.
_CLASSES, _STATES, _WORDS = 200, 120, 300
_MEMBERS, _CONTEXTS = 40, 20


@cache
def script() -> str:
    """Return the script of the page."""
    parts = [_static(f"{name}.js") for name in _SCRIPTS]
    return "\n".join([theme_script(), *parts, "explorer.start();\n"])


@cache
def style() -> str:
    """Return the style sheet of the page."""
    return "\n".join([style_sheet(), *(_static(f"{name}.css") for name in _STYLES)])


def vega_script() -> str:
    """Return the script that draws charts."""
    return chart_script(vega_lite_version())


def _static(name: str) -> str:
    return (files("stategram.explore.app") / "static" / name).read_text(encoding="utf-8")


def served_page(explorer: Explorer) -> str:
    """Return the page that loads its script and style sheet from the server."""
    return _page(explorer, saved=None)


def saved_page(explorer: Explorer, progress: Progress | None = None) -> str:
    """Return one file that holds the page and the answers to all that can be asked of it.

    It has the text of the explorer, and a bounded number of classes, states and words.
    """
    answers = {}
    requests = list(_requests(explorer))
    for number, (name, request) in enumerate(requests):
        if progress:
            progress(number / len(requests), f"answer {number + 1:,} of {len(requests):,}")
        if name == "info":
            answer: Any = msgspec.to_builtins(explorer.info(saved=True))
        else:
            try:
                answer = explorer.answer(name, request)
            except UsageError as error:
                if name != "compare":
                    raise
                answer = {"error": str(error)}  # the view shows it, as that of the server
        for key, most in (("members", _MEMBERS), ("examples", _CONTEXTS)):
            if name in ("class", "state") and key in answer:
                answer[key] = answer[key][:most]
        answers[f"{name}?{_canonical(request)}"] = _rounded(answer)
    return _page(explorer, saved=answers)


def _page(explorer: Explorer, saved: dict[str, Any] | None) -> str:
    from markupsafe import Markup

    own, vega = script(), vega_script() if saved is not None else ""
    names = [one.name for one in explorer.models]
    return render(
        "explorer.html",
        package="stategram.explore.app",
        title=" and ".join(names),
        names=names,
        is_saved=saved is not None,
        page_policy=policy_of(vega, own),
        # In an element of JSON only "<" could end it.
        answers=Markup(msgspec.json.encode(saved).decode().replace("<", "\\u003c")),
        page_style=Markup(style()),
        page_script=Markup(own),
        vega_script=Markup(vega),
        version=stategram.__version__,
    )


def _rounded(value: Any) -> Any:
    """Return what JSON holds with its fractions to four digits: more are never shown."""
    if isinstance(value, float):
        return float(f"{value:.4g}") if abs(value) < 1.0 else round(value, 4)
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return value


def _canonical(request: dict[str, Any]) -> str:
    """Return a request as the page writes it: keys in order, no spaces."""
    return msgspec.json.encode(dict(sorted(request.items()))).decode()


def _requests(explorer: Explorer) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return all that a saved page can ask."""
    yield "info", {}
    text = explorer.text.sample if explorer.text else ""
    if text and len(explorer.models) > 1:
        yield "compare", {"text": text}
    for number, explored in enumerate(explorer.models):
        model = {"model": number}
        yield "words", {**model, "prefix": "", "top": 12}
        words: dict[str, None] = {}
        if text:
            yield "score", {**model, "text": text}
            yield "ranks", {**model, "text": text}
            read = read_text(explored.model, text)
            for sentence in read.by_sentence(read.words):
                for place, word in enumerate(sentence):
                    history = " ".join(sentence[:place])
                    yield "explain", {**model, "history": history, "word": word}
                    yield "ladder", {**model, "history": history, "watched": [word]}
            normalized = read.block.corpus
            seen = (normalized.vocabulary.word(id) for id in normalized.ids.tolist() if id != END)
            words.update(dict.fromkeys(seen))
            pieces = next((one for one in map(str.split, text.split("\n")) if len(one) > 5), None)
            if pieces:  # what the ladder shows first
                yield "ladder", {**model, "history": " ".join(pieces[:4]), "watched": pieces[4:5]}
        for source in explored.classes:
            found = explored.class_set(source)
            yield "classes", {**model, "source": source}
            yield "tree", {**model, "source": source}
            order = sorted(range(found.n), key=lambda one: -found.tokens[one])[:_CLASSES]
            for one in order:
                yield "class", {**model, "source": source, "number": one}
                words.update(dict.fromkeys(found.top(one, 2)))
        for source in explored.states:
            states = explored.state_set(source)
            yield "states", {**model, "source": source}
            order = sorted(range(states.n), key=lambda one: -states.events[one])[:_STATES]
            for one in order:
                yield "state", {**model, "source": source, "number": one}
        for word in list(words)[:_WORDS]:
            yield "word", {**model, "word": word}
            for source in explored.states:
                yield "context_tree", {**model, "source": source, "word": word}
        yield "ladder", {**model, "history": "", "watched": []}
