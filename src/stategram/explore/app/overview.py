"""The overview of a model: what it is, its figures, examples of its content, how it was made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from stategram.display import DisplayTable, Fact, perplexity, plural, printable, size, value_text
from stategram.errors import BadDataError
from stategram.evaluation import (
    cross_validated,
    describe_perplexity,
    evaluate,
    heldout_tables,
)
from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.requests import Answer
from stategram.explore.content import representative_members, representative_states
from stategram.explore.pages import input_files_table
from stategram.models import Model, frequent_ngrams
from stategram.storage import Entries, InputFile, Natural, Positive
from stategram.text import SPECIAL_WORDS

CLUSTERS = 6
"""So many typical classes and states are shown."""
_LONGEST_NGRAMS, _NGRAMS, _WORDS, _CONTEXTS = 4, 8, 6, 3


class _Figures(Entries, frozen=True):
    events: Natural | None = None
    sentences: Natural = 0
    unknown: Natural = 0
    heldout_perplexity: Positive | None = None


class _Manifest(Entries, frozen=True):
    """What the overview shows of a manifest besides the model itself."""

    stategram_version: str | None = None
    seed: int | None = None
    inputs: tuple[InputFile, ...] = ()
    figures: _Figures = _Figures()


def overview(explored: ExploredModel) -> Answer:
    """Return the facts of a model, its examples, and sections of facts, tables, weights and text."""
    model = explored.model
    try:
        made = msgspec.convert(explored.manifest, _Manifest)
    except ValueError as error:  # of msgspec, or a lone surrogate where no text is expected
        raise BadDataError(
            f"{explored.name}: its manifest cannot be shown ({error}); write it again"
        ) from error
    mixture = model if model.parts and model.training_info else None
    sections = [_on_text(explored)] if explored.text is not None else []
    if mixture:
        weights = [part["weight"] for part in mixture.training_info["parts"]]
        tables = heldout_tables(mixture, None)
        sections.append(
            _section("Parts of the mixture", tables=tables, weights=weights, titles=model.part_titles)
        )
    sections += [
        _section(title[:1].upper() + title[1:], shown.facts, shown.tables, is_folded=bool(model.parts))
        for title, part in _leaves(model)
        for shown in [part.describe()]
    ]
    return {
        "title": model.title,
        "facts": _facts(_sizes(explored, made.figures, mixture)),
        "ngrams": frequent_texts(model),
        "classes": [
            {
                "source": source,
                "title": one.title,
                "examples": [
                    {"number": number, "words": explored.class_set(source).top(number, _WORDS)}
                    for number in representative_members(explored.class_set(source), CLUSTERS)
                ],
            }
            for source, one in explored.classes.items()
        ],
        "states": [
            {
                "source": source,
                "title": one.title,
                "examples": [
                    {
                        "number": number,
                        "contexts": [of.context for of in found.contexts(number, _CONTEXTS)],
                        "words": [of.word for of in found.next_words(number, _WORDS)],
                    }
                    for found in [explored.state_set(source)]
                    for number in representative_states(found, CLUSTERS)
                ],
            }
            for source, one in explored.states.items()
        ],
        "sections": [*sections, _training(explored, made)],
    }


def _section(
    title: str,
    facts: Iterable[Fact] = (),
    tables: Iterable[DisplayTable] = (),
    *,
    titles: Sequence[str] = (),
    weights: Sequence[float] = (),
    text: str = "",
    is_folded: bool = False,
) -> Answer:
    """Return a section; `weights` are those of the parts with these titles."""
    return {
        "title": title,
        "facts": _facts(facts),
        "tables": [table_answer(one) for one in tables if one.rows],
        "titles": titles,
        "weights": weights,
        "text": printable(text),
        "folded": is_folded,
    }


def _facts(facts: Iterable[Fact]) -> list[tuple[str, str]]:
    return [(label.strip(), printable(value_text(value))) for label, value in facts]


def table_answer(shown: DisplayTable) -> Answer:
    """Return a table as JSON has it."""
    return {
        "title": shown.title,
        "columns": [{"title": column.title, "style": column.style} for column in shown.columns],
        "rows": [[printable(cell.text) for cell in row] for row in shown.rows],
        "notes": shown.notes,
    }


def _sizes(explored: ExploredModel, figures: _Figures, mixture: Model | None) -> Iterator[Fact]:
    model = explored.model
    yield "Vocabulary", plural(len(model.vocabulary) - len(SPECIAL_WORDS), "word")
    yield "Parameters", model.parameters
    if explored.n_bytes is not None:
        yield "Size", size(explored.n_bytes)
    if figures.events is not None:
        words, sentences = figures.events - figures.sentences, plural(figures.sentences, "sentence")
        unknown = plural(figures.unknown, "unknown word")
        yield "Trained on", f"{plural(words, 'word')} in {sentences}; {unknown}"
    if mixture is None:
        if figures.heldout_perplexity is not None:
            yield "Held-out perplexity", perplexity(figures.heldout_perplexity)
        return
    heldout = perplexity(mixture.training_info["perplexity"])
    weights_by = str(dict(mixture.describe().facts)["Weights by"])
    if (validated := cross_validated(mixture).get(weights_by)) is not None:
        heldout = f"{perplexity(validated)} cross-validated; {heldout} with weights learned on the same text"
    else:
        heldout += ", on the text that its weights were learned on"
    yield "Held-out perplexity", heldout


def _on_text(explored: ExploredModel) -> Answer:
    """Return the figures of the text, as `stategram eval` has them."""
    model, corpus = explored.model, explored.corpus
    assert corpus is not None
    try:
        found = evaluate(model, corpus, all_histories=not explored.history)
    except BadDataError as error:  # it has none of the words
        return _section("On the text", [("Perplexity", str(error))])
    history = [("History", explored.history)] if explored.history else []
    shown = describe_perplexity(found)
    return _section(
        "On the text",
        [*shown.facts, *history],
        shown.tables,
        titles=[part.name for part in found.parts],
        weights=[part.weight for part in found.parts],
    )


def _leaves(model: Model, prefix: str = "") -> Iterator[tuple[str, Model]]:
    """Return the models that have no parts, with their titles."""
    if not model.parts:
        yield prefix or model.title, model
    for title, part in zip(model.part_titles, model.parts, strict=True):
        yield from _leaves(part, f"{prefix}: {title}" if prefix else title)


def frequent_texts(model: Model) -> list[list[str]]:
    """Return the n-grams of 1, 2, ... words that the first n-gram model of words takes for most frequent."""
    ngrams = next((one for leaf in model.leaves.values() if (one := leaf.word_ngrams) is not None), None)
    if ngrams is None:
        return []
    frequent = frequent_ngrams(ngrams, min(ngrams.order, _LONGEST_NGRAMS), _NGRAMS)
    return [[" ".join(map(ngrams.vocabulary.word, one.ids)) for one in row] for row in frequent if row]


def _training(explored: ExploredModel, made: _Manifest) -> Answer:
    facts: list[Fact] = []
    if made.stategram_version is not None:
        facts.append(("stategram", made.stategram_version))
    if made.seed is not None:
        facts.append(("Seed", str(made.seed)))
    files = input_files_table([*made.inputs, *explored.files])
    options = explored.model.options
    # Not by msgspec, which refuses the lone surrogates of file names.
    recipe = json.dumps(dict(options), indent=2, ensure_ascii=False) if options else ""
    return _section("How it was made", facts, [files], text=recipe)
