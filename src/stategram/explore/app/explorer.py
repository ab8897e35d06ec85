"""All that can be asked of one or two models: each answer by its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from stategram.errors import BadDataError, UsageError
from stategram.explore.app import cluster_answers, history_answers, text_answers
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.overview import overview
from stategram.explore.app.requests import Answer, Endpoint, endpoint
from stategram.models import generate
from stategram.progress import Progress

_MADE_UP, _LONGEST = 3, 25

_FUNCTIONS: Mapping[str, Callable[..., Answer]] = {
    "overview": overview,
    "score": text_answers.score,
    "ranks": text_answers.ranks,
    "predict": history_answers.predict,
    "explain": history_answers.explain,
    "ladder": history_answers.ladder,
    "words": history_answers.words,
    "word": cluster_answers.word,
    "classes": cluster_answers.classes,
    "class": cluster_answers.class_,
    "tree": cluster_answers.tree,
    "states": cluster_answers.states,
    "state": cluster_answers.state,
    "context_tree": cluster_answers.context_tree,
    "compare": text_answers.compare,
}
ENDPOINTS: Mapping[str, Endpoint] = {name: endpoint(function) for name, function in _FUNCTIONS.items()}
"""The questions about one model, and `compare` about two."""


class Explorer:
    """Answers questions about one or two models.

    Parameters
    ----------
    models
        One or two models.
    text_name, sample
        The name of the text to explore them with, and its beginning; without one the first model makes up
        some sentences.

    Examples
    --------
    >>> from stategram import NgramModel
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran"], order=2)
    >>> explorer = Explorer([ExploredModel("cats", model)])
    >>> explorer.answer("predict", {"history": "the", "top": 2})["words"][0]["word"]
    'cat'

    """

    def __init__(self, models: Sequence[ExploredModel], text_name: str = "", sample: str = "") -> None:
        self.models, self.text_name, self._sample = models, text_name, sample

    @cached_property
    def sample(self) -> str:
        """The beginning of the text, or sentences that the first model makes up."""
        if self.text_name:
            return self._sample
        try:
            drawn = generate(self.models[0].model, _MADE_UP, max_words=_LONGEST)
            return "\n".join(" ".join(sentence.words) for sentence in drawn)
        except BadDataError:  # all probability is that of <unk>
            return ""

    def prepare(self, progress: Progress | None = None) -> None:
        """Compute what every view needs first."""
        for number, explored in enumerate(self.models):
            if progress:
                progress(number / len(self.models), f"classes and states of {explored.name}")
            explored.words_with("a", explored.fractions, 1)
            requests = [("overview", "")]
            requests += [(name, source) for source in explored.classes for name in ("classes", "tree")]
            requests += [("states", source) for source in explored.states]
            for name, source in requests:
                self.answer(name, {"model": number} | ({"source": source} if source else {}))

    def answer(self, name: str, request: Mapping[str, Any]) -> Any:
        """Return the answer to a request as JSON has it."""
        return msgspec.json.decode(msgspec.json.encode(self.reply(name, msgspec.json.encode(request))))

    def reply(self, name: str, body: bytes) -> Answer:
        """Return the answer to a request in JSON; `msgspec.DecodeError` or `UsageError` if it is not one."""
        if name == "info":
            return self.info()
        request_type, function = ENDPOINTS[name]
        request = msgspec.structs.asdict(msgspec.json.decode(body, type=request_type))
        number = request.pop("model")
        if name == "compare":
            return function(self.models, **request)
        if number >= len(self.models):
            raise UsageError("there is but one model, 0; give two: stategram explore MODEL MODEL2")
        explored = self.models[number]
        if request.keys() <= {"source"}:  # of the model, of all classes or all states
            found: Answer = explored.once(
                f"{name} of", request.get("source", ""), lambda: function(explored, **request)
            )
            return found
        return function(explored, **request)

    def info(self, *, saved: bool = False) -> Answer:
        """Return what there is to explore."""
        return {
            "saved": saved,
            "text": self.text_name,
            "sample": self.sample,
            "models": [
                {
                    "name": explored.name,
                    "title": explored.model.title,
                    "looks_back": explored.model.looks_back,
                    "classes": [
                        {"source": source, "title": one.title, "n": one.n}
                        for source, one in explored.classes.items()
                    ],
                    "states": [
                        {"source": source, "title": one.title, "n": one.n, "depth": one.tree.depth}
                        for source, one in explored.states.items()
                    ],
                }
                for explored in self.models
            ],
        }
