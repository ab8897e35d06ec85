"""The report of a trained model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from stategram.display import Description, DisplayTable, value_text
from stategram.errors import BadDataError
from stategram.evaluation import PerplexityFigures, cross_validated, describe_perplexity, heldout_tables
from stategram.explore.pages.charts import (
    Chart,
    Ranked,
    Weight,
    perplexity_bars,
    surprisal_charts,
    weight_bars,
)
from stategram.explore.pages.rendering import input_files_table, render
from stategram.explore.views import ClusterGallery, ExampleList, examples, gallery
from stategram.models import Model
from stategram.storage import Entries, InputFile, Natural, Positive
from stategram.text import SPECIAL_WORDS, Corpus, LineBlock
from stategram.wording import percent

_COLOURS = {
    "ngram": "ngram",
    "category-ngram": "flat",
    "clustered": "tree",
    "cache": "flat",
    "mixture": "mixture",
}
"""The colour of a kind of model in charts, if it has one of its own."""

_LOOKS_BACK = {
    "sentence": "inside the sentence",
    "document": "to earlier sentences of the document, too",
    "adaptive": "to caches of all words so far, too",
}
"""What each history means."""


class _Figures(Entries, frozen=True):
    events: Natural | None = None
    sentences: Natural = 0
    unknown: Natural = 0
    heldout_perplexity: Positive | None = None


class _Manifest(Entries, frozen=True):
    """What the page shows of a manifest besides the model itself."""

    stategram_version: str | None = None
    seed: int | None = None
    inputs: tuple[InputFile, ...] = ()
    figures: _Figures = _Figures()


@dataclass(frozen=True)
class _Part:
    """A model that is not a mixture, as the page shows it."""

    title: str
    facts: list[tuple[str, str]]
    tables: list[DisplayTable]
    gallery: ClusterGallery | None
    examples: list[ExampleList]


def model_html(
    model: Model,
    name: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    test: PerplexityFigures | None = None,
    test_history: str | None = None,
    text: Corpus | None = None,
    sentences: LineBlock | None = None,
    files: Iterable[InputFile] = (),
    n_bytes: int | None = None,
) -> str:
    """Return the report of a model: one HTML file that needs no other file and no network.

    Parameters
    ----------
    model, name
        The model, and what it is called.
    manifest
        That of its file.
    test, test_history, text
        Its figures on a test text, the history that was chosen for it, and the text itself.
    sentences
        Sentences to show word by word; by default one of the test text, or one that the model makes up.
    files
        What was read for the report besides a model file: an ARPA file, test texts.
    n_bytes
        The size of the model on disk.

    """
    try:
        made = msgspec.convert(manifest or {}, _Manifest)
    except ValueError as error:  # of msgspec, or a lone surrogate where no text is expected
        raise BadDataError(f"{name}: its manifest cannot be shown ({error}); write it again") from error
    if text is not None:
        text = text.in_vocabulary(model.vocabulary)
    mixture = model if model.parts and model.training_info else None
    return render(
        "model.html",
        title=f"{name}: {model.title}" + (_gain(mixture, test) if mixture else ""),
        n_bytes=n_bytes,
        model=model,
        n_words=len(model.vocabulary) - len(SPECIAL_WORDS),
        made=made,
        heldout=mixture.training_info["perplexity"] if mixture else made.figures.heldout_perplexity,
        cross_validated=cross_validated(mixture).get(_weights_by(mixture)) if mixture else None,
        test=test,
        on_test=_on_test(model, test, test_history) if test else None,
        mixture_tables=heldout_tables(mixture, None) if mixture else (),
        charts=list(_mixture_charts(mixture, test)) if mixture else [],
        surprisals=surprisal_charts(model, _kind_and_colour(model), text, sentences),
        parts=[_part(title, part, text) for title, part in _leaf_models(model)],
        recipe=_json(model.options) if model.options else "",
        inputs=input_files_table([*made.inputs, *files]),
    )


def _gain(model: Model, test: PerplexityFigures | None) -> str:
    """Return what a mixture gains over its best part, on a text that its weights were not learned on."""
    if test and test.parts:
        mixed: float | None = test.perplexity
        alone = [part.perplexity for part in test.parts]
    else:
        mixed = cross_validated(model).get(_weights_by(model))
        alone = [one["perplexity"] for one in model.training_info["parts"] if one["perplexity"] is not None]
    best = min(alone, default=math.inf)
    if mixed is None or not mixed < best < math.inf:
        return ""
    return f", perplexity {percent(1 - mixed / best)} below its best part"


def _on_test(model: Model, test: PerplexityFigures, history: str | None) -> Description:
    """Return the figures of a test text; the parts of a mixture have their titles, trees are numbered."""
    if len(model.part_titles) == len(test.parts):
        named = zip(test.parts, model.part_titles, strict=True)
        test = replace(test, parts=tuple(replace(part, name=title) for part, title in named))
    histories = tuple(replace(one, history=_LOOKS_BACK[one.history]) for one in test.histories)
    found = describe_perplexity(replace(test, histories=histories))
    looks_back = (("History", f"the model looks back {_LOOKS_BACK[history]}"),) if history else ()
    facts = ((label.strip(), value_text(value)) for label, value in (*found.facts, *looks_back))
    return Description(tuple(facts), tuple(one for one in found.tables if one.rows))


def _weights_by(model: Model) -> str:
    """Return the features on which the weights of a mixture depend."""
    return str(dict(model.describe().facts)["Weights by"])


def _mixture_charts(model: Model, test: PerplexityFigures | None) -> Iterator[Chart]:
    names, found = model.part_titles, model.training_info["parts"]
    ranked: list[tuple[str, Model, float | None]]
    ranked = [("mixture of all parts", model, model.training_info["perplexity"])]
    ranked += [
        (name, part, one["perplexity"]) for name, part, one in zip(names, model.parts, found, strict=True)
    ]
    yield perplexity_bars(
        "alone",
        "Perplexity of the parts",
        "On the held-out text, each part alone and all of them mixed; lower is better.",
        [Ranked(name, *_kind_and_colour(part), value) for name, part, value in ranked if value is not None],
    )
    colours = [_kind_and_colour(part)[1] for part in model.parts]
    texts = [("held-out text", [one["weight"] for one in found])]
    if test and test.parts:
        texts.append(("test text", [part.weight for part in test.parts]))
    yield weight_bars(
        [(title, list(map(Weight, names, colours, weights))) for title, weights in texts],
        "The weight of each part: on the held-out text one weight for all histories, on the test text "
        "the average over its events.",
    )


def _kind_and_colour(model: Model) -> tuple[str, str]:
    return model.kind_title, _COLOURS.get(model.kind, "series-1")


def _leaf_models(model: Model, prefix: str = "") -> Iterator[tuple[str, Model]]:
    """Return the models that are not mixtures, with titles: the parts of a mixture, or the model itself."""
    if not model.parts:
        yield prefix or model.title, model
        return
    for title, part in zip(model.part_titles, model.parts, strict=True):
        yield from _leaf_models(part, f"{prefix}: {title}" if prefix else title)


def _part(title: str, model: Model, text: Corpus | None) -> _Part:
    description = model.describe()
    return _Part(
        title[:1].upper() + title[1:],
        [(name, value_text(value)) for name, value in description.facts],
        [one for one in description.tables if one.rows],
        gallery(model, title),
        examples(model, text),
    )


def _json(value: Mapping[str, Any]) -> str:
    # Not by msgspec, which refuses the lone surrogates of file names.
    return json.dumps(dict(value), indent=2, ensure_ascii=False)
