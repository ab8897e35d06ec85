"""Short names of models, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stategram.models.category_ngram import CategoryNgramModel
from stategram.models.clustered import ClusteredModel
from stategram.models.mixture import Mixture
from stategram.models.ngram import NgramModel
from stategram.models.protocol import Model
from stategram.wording import plural


def model_name(model: Model) -> str:
    """Say in a few words what a model is."""
    if isinstance(model, NgramModel):
        known = "" if model.smoothing == "unknown" else f", {model.smoothing}"  # ARPA files do not say
        return f"{model.order}-gram model{known}"
    if isinstance(model, CategoryNgramModel):
        return f"{model.order}-gram model of {plural(model.n_categories, 'category', 'categories')}"
    if isinstance(model, ClusteredModel):
        return f"clustered model of {model.tree.definition}"
    if isinstance(model, Mixture):
        return f"mixture of {plural(len(model.parts), 'model')}"
    return repr(model)


def part_names(parts: Sequence[Model]) -> list[str]:
    """Give each part a name of its own; those that would have the same are numbered."""
    names = [model_name(part) for part in parts]
    total, met = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        met[name] += 1
        numbered.append(f"{name} ({met[name]})" if total[name] > 1 else name)
    return numbered
