"""All that can be asked of one or two models: each answer by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

import stategram
from stategram.errors import UsageError
from stategram.explore.app import cluster_answers, history_answers, requests, text_answers
from stategram.explore.app.explored import ExploredModel, ExploredText
from stategram.explore.views import Data
from stategram.models import Model
from stategram.progress import Progress


class SourceInfo(Data, frozen=True):
    """A set of classes or states; `context` and `depth` are those of states."""

    source: str
    title: str
    n: int
    context: str = ""
    depth: int = 0


class ModelInfo(Data, frozen=True):
    """A model."""

    name: str
    title: str
    kind: str
    parameters: int
    order: int
    words: int
    history: str
    looks_back: bool
    parts: list[str]
    classes: list[SourceInfo]
    states: list[SourceInfo]


class TextInfo(Data, frozen=True):
    """The text that is explored, and its beginning."""

    name: str
    sample: str


class Info(Data, frozen=True):
    """What there is to explore."""

    version: str
    saved: bool
    models: list[ModelInfo]
    text: TextInfo | None


class Endpoint(NamedTuple):
    """What is asked, and what answers."""

    request: type[requests.Request]
    function: Callable[[Any, Any], msgspec.Struct]


ENDPOINTS: Mapping[str, Endpoint] = {
    "score": Endpoint(requests.TextRequest, text_answers.score),
    "ranks": Endpoint(requests.TextRequest, text_answers.ranks),
    "predict": Endpoint(requests.PredictRequest, history_answers.predict),
    "explain": Endpoint(requests.ExplainRequest, history_answers.explain),
    "ladder": Endpoint(requests.LadderRequest, history_answers.ladder),
    "words": Endpoint(requests.WordsRequest, history_answers.words),
    "word": Endpoint(requests.WordRequest, cluster_answers.word),
    "classes": Endpoint(requests.SourceRequest, cluster_answers.classes),
    "class": Endpoint(requests.MemberRequest, cluster_answers.class_),
    "tree": Endpoint(requests.SourceRequest, cluster_answers.tree),
    "states": Endpoint(requests.SourceRequest, cluster_answers.states),
    "state": Endpoint(requests.MemberRequest, cluster_answers.state),
    "context_tree": Endpoint(requests.ContextTreeRequest, cluster_answers.context_tree),
    "compare": Endpoint(requests.CompareRequest, text_answers.compare),
}
"""The questions about one model, and `compare` about two."""


class Explorer:
    """Answers questions about one or two models.

    Parameters
    ----------
    models
        One or two models with their names.
    text
        A text to explore them with, or None.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> explorer = Explorer([("cats", model)])
    >>> explorer.answer("predict", {"history": "the", "top": 2})["words"][0]["word"]
    'cat'

    """

    def __init__(self, models: list[tuple[str, Model]], text: ExploredText | None = None) -> None:
        corpora = [None] * len(models) if text is None else text.corpora
        self.models = [
            ExploredModel(model, name, corpus) for (name, model), corpus in zip(models, corpora, strict=True)
        ]
        self.text = text

    def prepare(self, progress: Progress | None = None) -> None:
        """Compute what every view needs first."""
        for number, explored in enumerate(self.models):
            if progress:
                progress(number / len(self.models), f"classes and states of {explored.name}")
            explored.prepare()
            for name, sources in (
                ("classes", explored.classes),
                ("tree", explored.classes),
                ("states", explored.states),
            ):
                for source in sources:
                    self.answer(name, {"model": number, "source": source})

    def answer(self, name: str, request: Mapping[str, Any]) -> Any:
        """Return the answer to a request as JSON has it."""
        return msgspec.to_builtins(self.reply(name, msgspec.json.encode(request)))

    def reply(self, name: str, body: bytes) -> msgspec.Struct:
        """Return the answer to a request in JSON; `msgspec.DecodeError` or `UsageError` if it is not one."""
        if name == "info":
            msgspec.json.decode(body or b"{}", type=requests.InfoRequest)
            return self.info()
        endpoint = ENDPOINTS[name]
        request = msgspec.json.decode(body, type=endpoint.request)
        if name == "compare":
            return endpoint.function(self.models, request)
        number: int = getattr(request, "model", 0)
        if number >= len(self.models):
            raise UsageError("there is but one model, 0; give two: stategram explore MODEL MODEL2")
        explored = self.models[number]
        if isinstance(request, requests.SourceRequest):  # of all classes, or all states
            found: msgspec.Struct = explored.once(
                f"{name} of", request.source, lambda: endpoint.function(explored, request)
            )
            return found
        return endpoint.function(explored, request)

    def info(self, *, saved: bool = False) -> Info:
        """Return what there is to explore."""
        text = None if self.text is None else TextInfo(self.text.name, self.text.sample)
        return Info(stategram.__version__, saved, list(map(_model_info, self.models)), text)


def _model_info(explored: ExploredModel) -> ModelInfo:
    model = explored.model
    return ModelInfo(
        explored.name,
        model.title,
        model.kind,
        model.parameters,
        model.order,
        len(model.vocabulary),
        str(getattr(model, "history", "sentence")),
        model.looks_back,
        model.part_titles,
        [SourceInfo(source, one.title, one.n) for source, one in explored.classes.items()],
        [
            SourceInfo(source, one.title, one.n, str(one.tree.definition), one.tree.depth)
            for source, one in explored.states.items()
        ],
    )
