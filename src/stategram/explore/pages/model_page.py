"""The report of a trained model."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from stategram.errors import BadDataError
from stategram.evaluation import PerplexityFigures
from stategram.explore.pages.charts import Chart, Ranked, Weight, perplexity_bars, weight_bars
from stategram.explore.pages.numbers import DASH, MINUS, change, count, percent, perplexity
from stategram.explore.pages.rendering import render
from stategram.explore.pages.surprisal_charts import surprisal_charts
from stategram.explore.pages.tables import Cell, Column, Table, input_files_table, table
from stategram.explore.views import ClusterGallery, ExampleList, examples, gallery
from stategram.models import Model
from stategram.storage import Entries, InputFile, Natural, Positive
from stategram.text import SPECIAL_WORDS, Corpus
from stategram.wording import plural

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

_FEATURES = {
    "none": "the same weights after every history",
    "length": "number of known words",
    "backoff": "number of known words and back-off weight",
    "category": "category of the last word",
    "state": "state",
    "all": "all features of the parts",
}


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
    tables: list[Table]
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
    sentences: Corpus | None = None,
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
        cross_validated=_cross_validated(mixture).get(_weights_by(mixture)) if mixture else None,
        test=test,
        looks_back=_LOOKS_BACK[test_history] if test_history else "",
        test_tables=list(_test_tables(model, test)) if test else [],
        mixture_tables=list(_mixture_tables(mixture)) if mixture else [],
        charts=list(_mixture_charts(mixture, test)) if mixture else [],
        surprisals=surprisal_charts(model, _kind_and_colour(model), text, sentences),
        parts=[_part(title, part, text) for title, part in _leaf_models(model)],
        recipe=_json(model.metadata) if model.metadata else "",
        inputs=input_files_table([*made.inputs, *files]),
    )


def _gain(model: Model, test: PerplexityFigures | None) -> str:
    """Return what a mixture gains over its best part, on a text that its weights were not learned on."""
    if test and test.parts:
        mixed: float | None = test.perplexity
        alone = [part.perplexity for part in test.parts]
    else:
        mixed = _cross_validated(model).get(_weights_by(model))
        alone = [one["perplexity"] for one in model.training_info["parts"] if one["perplexity"] is not None]
    best = min(alone, default=math.inf)
    if mixed is None or not mixed < best < math.inf:
        return ""
    return f", perplexity {percent(1 - mixed / best)} below its best part"


def _test_tables(model: Model, test: PerplexityFigures) -> Iterator[Table]:
    if test.histories:
        yield table(
            "By history",
            (
                Column("The model looks back"),
                Column("Perplexity", "number ours"),
                Column("Without <unk>", "number"),
                Column("Change", "number"),
            ),
            [
                (
                    _LOOKS_BACK[one.history],
                    perplexity(one.perplexity),
                    perplexity(one.perplexity_known),
                    change(one.perplexity / test.perplexity - 1) if number else DASH,
                )
                for number, one in enumerate(test.histories)
            ],
        )
    if test.orders:
        yield table(
            "By length of the longest known n-gram",
            (
                Column("Words"),
                Column("Events", "number"),
                Column("Fraction", "number"),
                Column("Perplexity", "number"),
            ),
            [
                (
                    count(one.order),
                    count(one.events),
                    percent(one.share),
                    perplexity(one.perplexity) if one.events else DASH,
                )
                for one in reversed(test.orders)
            ],
        )
    if len(test.parts) > 1:
        # Those of a word tree model are its trees.
        titles = model.part_titles or [part.name for part in test.parts]
        yield table(
            "Parts on the test text",
            (Column("Part"), Column("Alone", "number"), Column("Average weight", "number")),
            [
                (title, perplexity(part.perplexity), percent(part.weight))
                for title, part in zip(titles, test.parts, strict=True)
            ],
        )


def _mixture_tables(model: Model) -> Iterator[Table]:
    """Return what each part contributes on the held-out text, and what the weights depend on."""
    info = model.training_info
    yield table(
        "On the held-out text",
        (
            Column("Part"),
            Column("Alone", "number ours"),
            Column("Weight", "number"),
            Column("Without it", "number"),
            Column("Loss", "number"),
            Column("Parameters", "number"),
        ),
        [
            (
                name,
                _perplexity(one["perplexity"]),
                percent(one["weight"]),
                _perplexity(one["without"]),
                _loss(one["without"], info["perplexity"]),
                count(part.parameters),
            )
            for name, part, one in zip(model.part_titles, model.parts, info["parts"], strict=True)
        ],
        (
            f"The perplexity of the mixture is {perplexity(info['perplexity'])} on "
            f"{plural(info['events'], 'held-out event')}; “Without it” is that of a mixture of the others.",
        ),
    )
    if candidates := _cross_validated(model):
        yield table(
            "What the weights depend on",
            (Column("Features of the history"), Column("Cross-validated perplexity", "number")),
            [
                (
                    Cell(_FEATURES.get(name, name), "chosen" if name == _weights_by(model) else ""),
                    perplexity(value),
                )
                for name, value in candidates.items()
            ],
            (f"{plural(int(_facts(model)['Weights']), 'learned weight')}.",),
        )


def _perplexity(value: float | None) -> str:
    """Format a perplexity of training information: None is infinite, which JSON cannot hold."""
    return "infinite" if value is None else perplexity(value)


def _loss(without: float | None, mixture: float) -> str:
    return "infinite" if without is None else change(without / mixture - 1)


def _cross_validated(model: Model) -> dict[str, float]:
    """Return the best perplexity of each choice of features, cross-validated between two halves."""
    best: dict[str, float] = {}
    for one in model.training_info.get("candidates", ()):
        if one["perplexity"] is not None:
            best[one["kind"]] = min(one["perplexity"], best.get(one["kind"], one["perplexity"]))
    return best


def _facts(model: Model) -> dict[str, str | int | float]:
    return dict(model.describe().facts)


def _weights_by(model: Model) -> str:
    """Return the features on which the weights of a mixture depend."""
    return str(_facts(model)["Weights by"])


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
        [(name, _value(value)) for name, value in description.facts],
        [
            table(
                one.title,
                [
                    Column(name, "number" if i and _is_number(one.rows[0][i]) else "")
                    for i, name in enumerate(one.columns)
                ],
                [[_value(value) for value in row] for row in one.rows],
            )
            for one in description.tables
            if one.rows
        ],
        gallery(model, title),
        examples(model, text),
    )


def _is_number(value: str | float | None) -> bool:
    return not isinstance(value, str) or value[:1].isdigit()


def _value(value: str | float | None) -> str:
    """Format a value of a description: integers are counts."""
    if value is None or isinstance(value, int):
        return count(value)
    return perplexity(value).replace("-", MINUS) if isinstance(value, float) else value


def _json(value: Mapping[str, Any]) -> str:
    # Not by msgspec, which refuses the lone surrogates of file names.
    return json.dumps(dict(value), indent=2, ensure_ascii=False)
