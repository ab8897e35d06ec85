"""What a model and its parts are worth on the text that weights were learned on, as tables."""

from __future__ import annotations

from stategram.display import Column, DisplayTable, change, display_table, percent, perplexity, plural
from stategram.models import Model

_FEATURES = {
    "none": "the same weights after every history",
    "length": "number of known words",
    "backoff": "number of known words and back-off weight",
    "category": "category of the last word",
    "state": "state",
    "all": "all features of the parts",
}


def heldout_tables(model: Model, value: float | None) -> tuple[DisplayTable, ...]:
    """Return the perplexity of the held-out text, and of a mixture what each part adds."""
    if model.parts:
        return _parts_table(model), *_features_table(model)
    row = model.title, _perplexity(value), model.parameters
    columns = "Model", Column("Perplexity", "number"), Column("Parameters", "number")
    return (display_table("On the held-out text", columns, [row], _tuning_notes(model)),)


def cross_validated(mixture: Model) -> dict[str, float]:
    """Return the best perplexity of each choice of features, cross-validated between two halves."""
    best: dict[str, float] = {}
    for one in mixture.training_info.get("candidates", ()):
        if one["perplexity"] is not None:
            best[one["kind"]] = min(one["perplexity"], best.get(one["kind"], one["perplexity"]))
    return best


def _parts_table(mixture: Model) -> DisplayTable:
    info = mixture.training_info
    whole = info["perplexity"]
    rows = [
        (
            title,
            _perplexity(one["perplexity"]),
            percent(one["weight"]),
            _perplexity(one["without"]),
            "infinite" if one["without"] is None else change(one["without"] / whole - 1),
            part.parameters,
        )
        for title, part, one in zip(mixture.part_titles, mixture.parts, info["parts"], strict=True)
    ]
    notes = [f"Perplexities of {plural(info['events'], 'held-out event')}; without it: of the other parts."]
    return display_table(
        "On the held-out text",
        (
            "Part",
            Column("Alone", "number ours"),
            Column("Weight", "number"),
            Column("Without it", "number"),
            Column("Loss", "number"),
            Column("Parameters", "number"),
        ),
        [*rows, ("mixture", _perplexity(whole), "", "", "", mixture.parameters)],
        [*notes, *(note for part in mixture.parts for note in _tuning_notes(part))],
    )


def _features_table(mixture: Model) -> tuple[DisplayTable, ...]:
    found = cross_validated(mixture)
    if not found:
        return ()
    facts = dict(mixture.describe().facts)
    fitted = any(part.kind == "clustered" for part in mixture.parts)
    optimistic = "; slightly optimistic, as state weights were fitted on both halves" * fitted
    return (
        display_table(
            "What the weights depend on",
            ("Features of the history", Column("Cross-validated perplexity", "number")),
            [
                (
                    _FEATURES.get(name, name) + " (chosen)" * (name == facts["Weights by"]),
                    perplexity(value),
                )
                for name, value in found.items()
            ],
            (
                f"{plural(int(facts['Weights']), 'learned weight')}. Cross-validated: with the "
                f"weights of one half of the text, on the other half{optimistic}.",
            ),
        ),
    )


def _tuning_notes(model: Model) -> list[str]:
    tuning = model.training_info.get("tuning")
    if tuning is None:
        return []
    figures = ", ".join(f"{perplexity(value)} ({name})" for name, value in tuning["while_tuning"].items())
    return [
        "Held-out perplexity is optimistic (weights were tuned on this text). Honest estimate, of a single "
        f"tree that scores each word before learning from it: {figures}."
    ]


def _perplexity(value: float | None) -> str:
    """Return a perplexity of training information: None is infinite, which JSON cannot hold."""
    return "infinite" if value is None else perplexity(value)
