"""The report of a trained model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from stategram.evaluation import PerplexityFigures
from stategram.inspection import gallery
from stategram.models import (
    CategoryNgramModel,
    ClusteredModel,
    Mixture,
    Model,
    NgramModel,
)
from stategram.report.chart import Chart, bar_panel, chart_html, check_report_extra
from stategram.report.galleries import gallery_html
from stategram.report.inputs import FileRead, inputs_table
from stategram.report.markup import Html, element, join
from stategram.report.model_parts import (
    all_parts,
    is_tree_model,
    levels_table,
    ngrams_table,
)
from stategram.report.numbers import DASH, change, count, perplexity, share
from stategram.report.page import facts, fold, page
from stategram.report.specs import Datum
from stategram.report.table import Cell, Column, Table, table_html
from stategram.report.terms import terms_html
from stategram.report.weight_bars import Weight, weight_bars
from stategram.text import SPECIAL_WORDS
from stategram.wording import plural

_COLOURS = {NgramModel: "ngram", CategoryNgramModel: "flat", ClusteredModel: "tree", Mixture: "mixture"}
_OF_WEIGHTS = (
    "The weight of each part: on the held-out text the one that all histories would share, on a test text "
    "the average over its events."
)
_HISTORIES = {
    "none": "none: all are alike",
    "length": "the number of words that are known",
    "backoff": "that number and the back-off weight",
    "category": "the category of the last word",
    "state": "the state",
    "all": "all that the parts know, together",
}
_KINDS = {
    NgramModel: "n-gram model",
    CategoryNgramModel: "category n-gram model",
    ClusteredModel: "clustered model",
    Mixture: "mixture",
}


def model_html(
    model: Model,
    name: str,
    *,
    manifest: Mapping[str, Any] | None = None,
    test: PerplexityFigures | None = None,
    files: Iterable[FileRead] = (),
) -> str:
    """Give the report of a model: one HTML file that needs no other and no network.

    Parameters
    ----------
    model, name
        The model, and what it is called.
    manifest
        That of its folder.
    test
        How well it predicts a test text.
    files
        What was read for the report besides a model folder: an ARPA file, test texts.

    """
    check_report_extra()
    said = manifest or {}
    models = list(all_parts(model))
    terms = [terms_html()] if any(isinstance(part, ClusteredModel) for _, part in models) else []
    parts = [
        ("test", "On the test text", _test(model, test) if test else Html("")),
        ("parts", "Its parts", _parts(model, test)),
        *(
            (f"model-{number}", _capital(title), _one(part, title))
            for number, (title, part) in enumerate(models, 1)
        ),
        ("making", "How it was made", _making(model, said, files)),
    ]
    return page(
        f"{name}: {model.title}",
        "Report of a language model",
        [facts(_facts(model, said, test)), *terms],
        [part for part in parts if part[2]],
    )


def _facts(
    model: Model, manifest: Mapping[str, Any], test: PerplexityFigures | None
) -> list[tuple[str, str]]:
    said = [
        ("Vocabulary", plural(len(model.vocabulary) - len(SPECIAL_WORDS), "word")),
        ("Parameters", count(model.parameters)),
    ]
    figures = manifest.get("figures", {})
    if "events" in figures:
        words = figures["events"] - figures["sentences"]
        said.append(
            (
                "Trained on",
                f"{plural(words, 'word')} in {plural(figures['sentences'], 'sentence')}, "
                f"{count(figures['unknown'])} of them unknown",
            )
        )
    if isinstance(model, Mixture) and model.training_info:
        said.append(("Held-out perplexity", _held_out(model)))
    if test:
        said.append(("Test perplexity", perplexity(test.perplexity)))
    return said


def _held_out(model: Mixture) -> str:
    """Say the perplexity of the text that weights were learned on, and what it is on a half they were not."""
    fitted, validated = (
        perplexity(model.training_info["perplexity"]),
        _cross_validated(model).get(model.gate.kind),
    )
    if validated is None:
        return f"{fitted}, on the text that its weights were learned on"
    return (
        f"{perplexity(validated)} cross-validated; {fitted} with weights that were learned on that very text"
    )


def _test(model: Model, test: PerplexityFigures) -> Html:
    words = test.events - test.sentences
    said = [
        ("Events", f"{count(test.events)}: words and sentence ends"),
        ("Sentences", count(test.sentences)),
        ("Unknown words", f"{count(test.unknown)}, {share(test.unknown / max(words, 1))} of the words"),
        ("Perplexity", f"{perplexity(test.perplexity)}, <unk> counted as a word"),
        ("Without <unk>", f"{perplexity(test.perplexity_known)}, without the events of unknown words"),
        ("Bits an event", f"{test.bits:.3f}"),
    ]
    if test.zero_probability:
        said.append(("Ruled out", f"{plural(test.zero_probability, 'event')} of probability zero"))
    tables = []
    if test.orders:
        tables.append(
            Table(
                "By the length of the n-gram that was known",
                (
                    Column("Words"),
                    Column("Events", figures=True),
                    Column("Share", figures=True),
                    Column("Perplexity", figures=True),
                ),
                tuple(
                    (
                        Cell(count(one.order)),
                        Cell(count(one.events)),
                        Cell(share(one.share)),
                        Cell(perplexity(one.perplexity) if one.events else DASH),
                    )
                    for one in reversed(test.orders)
                ),
            )
        )
    if test.parts and isinstance(model, Mixture):
        tables.append(
            Table(
                "The parts on the test text",
                (Column("Part"), Column("Alone", figures=True), Column("Weight", figures=True)),
                tuple(
                    (Cell(name), Cell(perplexity(one.perplexity)), Cell(share(one.weight)))
                    for name, one in zip(model.part_titles, test.parts, strict=True)
                ),
            )
        )
    return join(facts(said), *map(table_html, tables))


def _parts(model: Model, test: PerplexityFigures | None) -> Html:
    """Show what each part of a mixture is worth on the text on which its weights were learned."""
    if not isinstance(model, Mixture) or not model.training_info:
        return Html("")
    found, names = model.training_info, model.part_titles
    table = Table(
        "On the held-out text",
        (
            Column("Part"),
            Column("Alone", figures=True, style="ours"),
            Column("Weight", figures=True),
            Column("Without it", figures=True, may_go=True),
            Column("Lost", figures=True, may_go=True),
            Column("Parameters", figures=True),
        ),
        tuple(
            (
                Cell(name),
                Cell(_perplexity(one["perplexity"])),
                Cell(share(one["weight"])),
                *_without(one["without"], found["perplexity"], alone=len(names) == 1),
                Cell(count(part.parameters)),
            )
            for name, part, one in zip(names, model.parts, found["parts"], strict=True)
        ),
        (
            f"The mixture has {perplexity(found['perplexity'])} on "
            f"{plural(found['events'], 'held-out event')}; "
            "“Without it” is the perplexity of a mixture of the other parts.",
        ),
    ).without_empty_columns()
    colours = [_COLOURS[type(part)] for part in model.parts]
    weights = [
        ("held-out text", list(map(Weight, names, colours, (one["weight"] for one in found["parts"]))))
    ]
    if test and test.parts:
        weights.append(("test text", list(map(Weight, names, colours, (one.weight for one in test.parts)))))
    charts = (_alone(model, names), weight_bars(weights, _OF_WEIGHTS) if len(names) > 1 else None)
    return join(
        table_html(table), *(chart_html(chart) for chart in charts if chart is not None), _buckets(model)
    )


def _without(value: float | None, whole: float, *, alone: bool) -> tuple[Cell, Cell]:
    """Say what is left without a part, and what is lost: all if no other part can predict some event."""
    if alone:
        return Cell(), Cell()
    return Cell(_perplexity(value)), Cell("infinite" if value is None else change(value / whole - 1))


def _perplexity(value: float | None) -> str:
    return "infinite" if value is None else perplexity(value)


def _alone(model: Mixture, names: list[str]) -> Chart:
    """Draw the perplexities of the parts alone and of the mixture, the best first."""
    rows = [
        (name, part, one["perplexity"])
        for name, part, one in zip(names, model.parts, model.training_info["parts"], strict=True)
        if one["perplexity"] is not None
    ]
    rows.append(("the mixture", model, model.training_info["perplexity"]))
    rows.sort(key=lambda row: float(row[2]))
    kinds = list(dict.fromkeys(type(part) for _, part, _ in rows))
    legend = tuple((_KINDS[kind], _COLOURS[kind]) for kind in _KINDS if kind in kinds)
    data: list[Datum] = [
        {
            "name": name,
            "value": value,
            "shown": perplexity(value),
            "series": _KINDS[type(part)],
            "place": 0,
            "text": f"{name}: {perplexity(value)}",
        }
        for name, part, value in rows
    ]
    return Chart(
        "alone",
        "Perplexity of the parts",
        "On the held-out text, each part alone and all of them mixed; lower is better.",
        f"Bars of the held-out perplexity of {plural(len(rows), 'model')}, from {perplexity(rows[0][2])} to "
        f"{perplexity(rows[-1][2])}.",
        (bar_panel(data, legend, "held-out perplexity"),),
        legend,
        Table(
            "Perplexity of the parts",
            (Column("Model"), Column("Perplexity", figures=True)),
            tuple((Cell(name), Cell(perplexity(value))) for name, _, value in rows),
        ),
    )


def _buckets(model: Mixture) -> Html:
    """Show which histories have weights of their own, and what else was tried."""
    best = _cross_validated(model)
    if not best:
        return Html("")
    return table_html(
        Table(
            "Which histories have weights of their own",
            (Column("By"), Column("Cross-validated perplexity", figures=True)),
            tuple(
                (
                    Cell(_HISTORIES.get(kind, kind), "chosen" if kind == model.gate.kind else ""),
                    Cell(perplexity(value)),
                )
                for kind, value in best.items()
            ),
            (f"{plural(model.gate.parameters, 'weight')}.",),
        )
    )


def _cross_validated(model: Mixture) -> dict[str, float]:
    """Give the best perplexity of each way to tell histories apart, halves of the text being exchanged."""
    best: dict[str, float] = {}
    for one in model.training_info.get("candidates", ()):
        if one["perplexity"] is not None:
            best[one["kind"]] = min(one["perplexity"], best.get(one["kind"], one["perplexity"]))
    return best


def _one(model: Model, title: str) -> Html:
    """Show a model that is no mixture."""
    if isinstance(model, NgramModel):
        return _ngrams(model, "word")
    if isinstance(model, CategoryNgramModel):
        said = [("Categories", count(model.n_categories)), ("Smoothing", model.ngram.smoothing)]
        return join(facts(said), _ngrams(model.ngram, "category", "categories"))
    if not isinstance(model, ClusteredModel):
        return Html("")
    shape = "along a context tree" if is_tree_model(model) else "flat: single contexts from the start"
    said = [
        ("Context", str(model.tree.definition)),
        ("States", count(model.n_states)),
        ("Categories", count(model.n_categories)),
        ("Clustered", shape),
        ("Parameters", count(model.parameters)),
    ]
    levels = levels_table(model)
    return join(
        facts(said),
        *([table_html(levels)] if levels else []),
        gallery_html(gallery(model, title), "What is in the clusters"),
    )


def _ngrams(model: NgramModel, one: str, more: str | None = None) -> Html:
    table = table_html(ngrams_table(model, one, more), caption=False)
    return fold(f"{count(sum(model.trie.sizes))} n-grams, by their length", table)


def _making(model: Model, manifest: Mapping[str, Any], files: Iterable[FileRead]) -> Html:
    read = [
        FileRead(one.get("use", "training"), one["name"], one["bytes"], one["sha256"])
        for one in manifest.get("inputs", ())
    ]
    read += files
    parts = []
    if "stategram_version" in manifest:
        said = [("stategram", str(manifest["stategram_version"]))]
        said += [("Seed", str(manifest["seed"]))] if "seed" in manifest else []
        parts.append(facts(said))
    if model.metadata:
        recipe = msgspec.json.format(msgspec.json.encode(dict(model.metadata)), indent=2).decode()
        parts.append(fold("Recipe, with all defaults and numbers", element("pre", recipe)))
    if read:
        parts.append(table_html(inputs_table(read)))
    return join(*parts)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
