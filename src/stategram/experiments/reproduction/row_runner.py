"""How a row is computed, measured and kept."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.errors import BadDataError
from stategram.evaluation import PartFigures, evaluate
from stategram.experiments.clustered_part import ClusteredPart
from stategram.experiments.recipe_part import Part
from stategram.experiments.recipe_training import train_part, train_resolved
from stategram.experiments.recipes import RECIPES, Recipe
from stategram.experiments.reproduction.measures import bands_of, context_counts, figures_of, perplexity_of
from stategram.experiments.reproduction.paper import PAPER
from stategram.experiments.reproduction.results import RowResult
from stategram.experiments.reproduction.rows import Row
from stategram.experiments.reproduction.texts import Texts
from stategram.experiments.training import Training
from stategram.inspection import ClusterGallery, gallery
from stategram.models import ClusteredModel, fit_weights, interpolate
from stategram.progress import Progress
from stategram.storage import content_key, open_folder, write_folder

_KIND = "row of a reproduction"


@dataclass(frozen=True, eq=False)
class Scores:
    """The natural logarithm of the probability of each event of both texts."""

    heldout: NDArray[np.float64]
    test: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FinishedRow:
    """A row as it is kept; if mixtures are made of it, with log probabilities and representative clusters."""

    row: RowResult
    scores: Scores | None = None
    gallery: ClusterGallery | None = None

    def save(self, place: Path) -> None:
        """Write it to a folder."""
        scores = self.scores
        write_folder(
            place,
            kind=_KIND,
            arrays={"log_probs": {"heldout": scores.heldout, "test": scores.test}} if scores else {},
            manifest={"row": msgspec.to_builtins(self.row), "gallery": msgspec.to_builtins(self.gallery)},
        )

    @classmethod
    def load(cls, place: Path) -> FinishedRow:
        """Open it; log probabilities stay on the disk until they are used."""
        folder = open_folder(place, kind=_KIND)
        try:
            row = msgspec.convert(folder.manifest["row"], RowResult)
            shown = msgspec.convert(folder.manifest["gallery"], ClusterGallery | None)
        except (KeyError, msgspec.ValidationError) as error:
            raise BadDataError(f"{place}: not a {_KIND} ({error})") from error
        scores = Scores(**folder.arrays("log_probs")) if folder.has("log_probs.safetensors") else None
        return cls(row, scores, shown)


@dataclass(eq=False)
class RowRunner:
    """Computes rows, or takes them from the store of the training.

    Parameters
    ----------
    texts, training
        What it works on.
    rows
        All of them.
    finished
        Those that are done, by key.

    """

    texts: Texts
    training: Training
    rows: dict[str, Row]
    finished: dict[str, FinishedRow] = field(default_factory=dict)

    @cached_property
    def _mixed(self) -> Collection[str]:
        """The keys of rows that mixtures are made of."""
        return {key for row in self.rows.values() if row.mixture for key in row.mixture}

    @cached_property
    def _parts(self) -> dict[str, Part]:
        """The parts of rows, resolved for the text."""
        corpus = self.training.corpus
        return {row.key: row.part.resolve(corpus).with_efforts({}) for row in self.rows.values() if row.part}

    @cached_property
    def _recipes(self) -> dict[str, Recipe]:
        """The recipes of rows, resolved for the text."""
        names = {row.recipe for row in self.rows.values() if row.recipe}
        return {name: RECIPES[name].resolve(self.training.corpus) for name in names}

    @cached_property
    def _test_key(self) -> str:
        return content_key(self.texts.test.ids, self.texts.test.sentence_starts)

    def key(self, row: Row) -> str:
        """Return the content key of a row."""
        if row.mixture is not None:
            return content_key([self.key(self.rows[key]) for key in row.mixture])
        if row.recipe is not None:
            return self.training.key(self._test_key, self._recipes[row.recipe].to_json())
        return content_key(self._test_key, self._parts[row.key].key(self.training))

    def take(self, row: Row) -> bool:
        """Take a row from the store; whether it is there."""
        assert self.training.store is not None
        kept = self.training.store.get("row", self.key(row), FinishedRow.load)
        if kept is not None:
            self.finished[row.key] = kept
        return kept is not None

    def run(self, row: Row, progress: Progress | None = None) -> RowResult:
        """Compute a row and keep it."""
        store = self.training.store
        assert store is not None
        started, shared = time.monotonic(), sum(self.training.shared_seconds.values())
        if row.mixture is not None:
            done = self._mixture(row, row.mixture)
        elif row.recipe is not None:
            done = self._recipe(row, self._recipes[row.recipe], progress)
        else:
            done = self._model(row, self._parts[row.key], progress)
        own = time.monotonic() - started - (sum(self.training.shared_seconds.values()) - shared)
        # What earlier runs have done of a clustering counts too.
        seconds = max([own, *(sweep.seconds for sweep in done.row.sweeps)])
        done = replace(done, row=msgspec.structs.replace(done.row, seconds=seconds))
        done.save(store.place("row", self.key(row)))
        store.remove_all("clustering")
        self.take(row)  # its log probabilities stay on the disk
        return done.row

    def _model(self, row: Row, part: Part, progress: Progress | None) -> FinishedRow:
        # Only models that a recipe has too are worth their place on the disk.
        keep = any(part in recipe.part for recipe in self._recipes.values())
        trained = train_part(part, self.training, progress, keep=keep)
        model, found = trained.model, trained.clustering
        scores = Scores(model.log_probs(self.texts.heldout), model.log_probs(self.texts.test))
        result = _result(
            row,
            "ngram" if found is None else "clustered",
            test=figures_of(scores.test, self.texts.test),
            heldout_perplexity=perplexity_of(scores.heldout),
            parameters=model.parameters,
        )
        if found is not None:
            settings = found.settings
            result = msgspec.structs.replace(
                result,
                context=str(found.tree.definition),
                tree=settings.tree,
                states=settings.states,
                categories=settings.categories,
                sweeps=found.history,
                by_count=bands_of(scores.test, context_counts(found.tree, self.texts.test)),
                note=_note(row.part, settings.states, settings.categories),
            )
        if row.key not in self._mixed:
            return FinishedRow(result)
        return FinishedRow(
            result, scores, gallery(model, row.key) if isinstance(model, ClusteredModel) else None
        )

    def _mixture(self, row: Row, keys: tuple[str, str]) -> FinishedRow:
        self.training.forget_contexts()
        parts = [self.finished[key] for key in keys]
        scores = [part.scores for part in parts if part.scores is not None]
        weights = fit_weights([one.heldout for one in scores])
        test = interpolate([one.test for one in scores], weights)
        result = _result(
            row,
            "mixture",
            test=figures_of(test, self.texts.test),
            heldout_perplexity=perplexity_of(interpolate([one.heldout for one in scores], weights)),
            parameters=sum(part.row.parameters for part in parts) + len(parts),
            parts=tuple(
                PartFigures(part.row.key, part.row.test.perplexity, weight)
                for part, weight in zip(parts, weights.tolist(), strict=True)
            ),
        )
        return FinishedRow(result)

    def _recipe(self, row: Row, recipe: Recipe, progress: Progress | None) -> FinishedRow:
        model = train_resolved(recipe, self.training, progress)
        test = evaluate(model, self.texts.test)
        result = _result(
            row,
            "mixture",
            test=replace(test, parts=()),
            heldout_perplexity=evaluate(model, self.texts.heldout).perplexity,
            parameters=model.parameters,
            parts=tuple(
                replace(part, name=name) for part, name in zip(test.parts, model.part_titles, strict=True)
            ),
        )
        return FinishedRow(result)


def _result(row: Row, kind: str, **measured: Any) -> RowResult:
    return RowResult(
        key=row.key,
        table=row.table,
        title=row.title,
        kind=kind,
        seconds=0.0,  # known when all is done
        asked=row.asked,
        compared_with=row.compared_with,
        paper=PAPER.get(row.key),
        **measured,
    )


def _note(wanted: Part | None, states: int, categories: int) -> str:
    """Return why there are fewer clusters than suit the text."""
    assert isinstance(wanted, ClusteredPart)
    limits = []
    if wanted.states != states:
        limits.append(f"contexts for {states:,} states")
    if wanted.categories != categories:
        limits.append(f"words for {categories:,} categories")
    return f"the text has {' and '.join(limits)}" if limits else ""
