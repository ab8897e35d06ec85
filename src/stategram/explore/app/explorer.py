"""All that can be asked of one or two models: each answer by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import msgspec

import stategram
from stategram.errors import UsageError
from stategram.explore.app import cluster_answers, history_answers, messages, text_answers
from stategram.explore.app.explored import ExploredModel, ExploredText
from stategram.models import Model
from stategram.progress import Progress


class Endpoint(NamedTuple):
    """What is asked, and what answers."""

    request: type[messages.Request]
    function: Callable[[Any, Any], msgspec.Struct]


ENDPOINTS: Mapping[str, Endpoint] = {
    "score": Endpoint(messages.TextRequest, text_answers.score),
    "ranks": Endpoint(messages.TextRequest, text_answers.ranks),
    "predict": Endpoint(messages.PredictRequest, history_answers.predict),
    "explain": Endpoint(messages.ExplainRequest, history_answers.explain),
    "ladder": Endpoint(messages.LadderRequest, history_answers.ladder),
    "words": Endpoint(messages.WordsRequest, history_answers.words),
    "word": Endpoint(messages.WordRequest, cluster_answers.word),
    "classes": Endpoint(messages.SourceRequest, cluster_answers.classes),
    "class": Endpoint(messages.MemberRequest, cluster_answers.class_),
    "tree": Endpoint(messages.SourceRequest, cluster_answers.tree),
    "states": Endpoint(messages.SourceRequest, cluster_answers.states),
    "state": Endpoint(messages.MemberRequest, cluster_answers.state),
    "context_tree": Endpoint(messages.ContextTreeRequest, cluster_answers.context_tree),
    "compare": Endpoint(messages.CompareRequest, text_answers.compare),
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
        self.models = [ExploredModel(model, name, text) for name, model in models]
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
            msgspec.json.decode(body or b"{}", type=messages.InfoRequest)
            return self.info()
        endpoint = ENDPOINTS[name]
        request = msgspec.json.decode(body, type=endpoint.request)
        if name == "compare":
            return endpoint.function(self.models, request)
        number: int = getattr(request, "model", 0)
        if number >= len(self.models):
            raise UsageError("there is but one model, 0; give two: stategram explore MODEL MODEL2")
        explored = self.models[number]
        if isinstance(request, messages.SourceRequest):  # of all classes, or all states
            found: msgspec.Struct = explored.once(
                f"{name} of", request.source, lambda: endpoint.function(explored, request)
            )
            return found
        return endpoint.function(explored, request)

    def info(self, *, saved: bool = False) -> messages.Info:
        """Return what there is to explore."""
        text = None if self.text is None else messages.TextInfo(self.text.name, self.text.sample)
        return messages.Info(stategram.__version__, saved, list(map(_model_info, self.models)), text)


def _model_info(explored: ExploredModel) -> messages.ModelInfo:
    model = explored.model
    return messages.ModelInfo(
        explored.name,
        model.title,
        model.kind,
        model.parameters,
        model.order,
        len(model.vocabulary),
        str(getattr(model, "history", "sentence")),
        model.looks_back,
        model.part_titles,
        [messages.SourceInfo(source, one.title, one.n) for source, one in explored.classes.items()],
        [
            messages.SourceInfo(source, one.title, one.n, str(one.tree.definition), one.tree.depth)
            for source, one in explored.states.items()
        ],
    )
