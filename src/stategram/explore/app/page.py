"""The page of the explorer: its script and style sheet, served, or all in one file."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

import stategram
from stategram.errors import UsageError
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.explorer import Explorer
from stategram.explore.app.overview import CLUSTERS, frequent_texts
from stategram.explore.app.text_answers import read_text
from stategram.explore.content import representative_members, representative_states
from stategram.explore.pages import policy_of, style_sheet, theme_script
from stategram.progress import Progress
from stategram.text import END

_SCRIPTS = ("core", "widgets", "overview", "reading", "classmap", "tree", "states", "ladder", "compare")
_STYLES = ("explorer", "clusters")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The content security policy of the page that is served."""

# What a saved page holds of a model: so many classes and states of all sources, words and context trees; so
# many words of a class, contexts of a state.
_CLASSES, _STATES, _WORDS, _TREES = 300, 120, 300, 100
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


def _static(name: str) -> str:
    return (files("stategram.explore.app") / "static" / name).read_text(encoding="utf-8")


def served_page(explorer: Explorer) -> str:
    """Return the page that loads its script and style sheet from the server."""
    style = '<link rel="stylesheet" href="/static/explorer.css">'
    return _page(explorer, style, '<script src="/static/explorer.js" defer></script>')


def saved_page(explorer: Explorer, progress: Progress | None = None) -> str:
    """Return one file that holds the page and the answers to all that can be asked of it.

    It has the beginning of the text, and a bounded number of classes, states and words.
    """
    answers = {}
    requests = list(_requests(explorer))
    for number, (name, request) in enumerate(requests):
        if progress:
            progress(number / len(requests), f"answer {number + 1:,} of {len(requests):,}")
        try:
            answer = explorer.info(saved=True) if name == "info" else explorer.answer(name, request)
        except UsageError as error:
            if name != "compare":
                raise
            answer = {"error": str(error)}  # the view shows it, as that of the server
        for key, most in (("members", _MEMBERS), ("examples", _CONTEXTS)):
            if name in ("class", "state") and key in answer:
                answer[key] = answer[key][:most]
        answers[f"{name}?{_canonical(request)}"] = _rounded(answer)
    # In an element of JSON only "<" could end it.
    held = msgspec.json.encode(answers).decode().replace("<", "\\u003c")
    return _page(
        explorer,
        f"<style>{style()}</style>",
        f'<script type="application/json" id="saved">{held}</script>\n<script>{script()}</script>',
        f'<meta http-equiv="Content-Security-Policy" content="{policy_of(script())}">\n',
        ", a saved page: it holds the beginning of one text and the largest classes and states",
    )


def _page(explorer: Explorer, style: str, script: str, policy: str = "", note: str = "") -> str:
    names = [escape(one.name) for one in explorer.models]
    return Template(_static("explorer.html")).substitute(
        title=" and ".join(names),
        names=" and ".join(f"<bdi>{name}</bdi>" for name in names),
        policy=policy,
        style=style,
        script=script,
        version=stategram.__version__,
        note=note,
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
    if explorer.sample and len(explorer.models) > 1:
        yield "compare", {"text": explorer.sample}
    for number, explored in enumerate(explorer.models):
        for name, request in _requests_of(explored, explorer.sample):
            yield name, {"model": number, **request}


def _requests_of(explored: ExploredModel, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "overview", {}
    histories = [ngram for row in frequent_texts(explored.model) for ngram in row]
    words: dict[str, None] = {}
    if text:
        yield "score", {"text": text}
        yield "ranks", {"text": text}
        read = read_text(explored.model, text)
        for sentence in read.by_sentence({"words": read.words}):
            for place, word in enumerate(sentence["words"]):
                history = " ".join(sentence["words"][:place])
                yield "explain", {"history": history, "word": word}
                yield "ladder", {"history": history, "watched": [word]}
        normalized = read.block.corpus
        seen = (normalized.vocabulary.word(id) for id in normalized.ids.tolist() if id != END)
        words.update(dict.fromkeys(seen))
        pieces = next((one for one in map(str.split, text.split("\n")) if len(one) > 5), None)
        if pieces:  # what the ladder shows first
            yield "ladder", {"history": " ".join(pieces[:4]), "watched": pieces[4:5]}
    for source in explored.classes:
        found = explored.class_set(source)
        yield "classes", {"source": source}
        yield "tree", {"source": source}
        most = _CLASSES // len(explored.classes)
        for one in _largest(found.tokens, most, representative_members(found, CLUSTERS)):
            yield "class", {"source": source, "number": one}
            words.update(dict.fromkeys(found.top(one, 2)))
    for source in explored.states:
        states = explored.state_set(source)
        yield "states", {"source": source}
        most = _STATES // len(explored.states)
        for one in _largest(states.events, most, representative_states(states, CLUSTERS)):
            yield "state", {"source": source, "number": one}
    for word in list(words)[:_WORDS]:
        yield "word", {"word": word}
    for source in explored.states:
        for word in list(words)[: _TREES // len(explored.states)]:
            yield "context_tree", {"source": source, "word": word}
    for history in ["", *histories]:
        yield "ladder", {"history": history, "watched": []}


def _largest(sizes: NDArray[Any], n: int, others: list[int]) -> list[int]:
    """Return the largest clusters, and others."""
    return list(dict.fromkeys([*np.argsort(-sizes, kind="stable")[:n].tolist(), *others]))
