"""The rows, made one after the other; what several need is made once."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.clustering import PRESETS, WordClasses, class_labels, cluster_tree
from stategram.contexts import ContextDefinition, ContextTree, TagMap, build_tree
from stategram.experiments.cluster_examples import ClusterGallery
from stategram.experiments.gallery import gallery
from stategram.experiments.recipe_parts import NgramPart, Recipe
from stategram.experiments.recipes import RECIPES
from stategram.experiments.reproduction.measures import (
    bands_of,
    context_counts,
    figures_of,
    perplexity_of,
    sweeps_of,
)
from stategram.experiments.reproduction.paper_figures import paper_row
from stategram.experiments.reproduction.plan import (
    BEST_NGRAM,
    ClusteredPlan,
    MixturePlan,
    NgramPlan,
    RecipePlan,
    RowPlan,
)
from stategram.experiments.reproduction.results import Part, RowResult
from stategram.experiments.reproduction.steps import RowSteps
from stategram.experiments.reproduction.texts import Texts
from stategram.experiments.reproduction.work_folder import Scores, WorkFolder
from stategram.experiments.resolution import resolve
from stategram.experiments.steps import Report, Steps, sweeps_to
from stategram.experiments.training import n_steps, train_recipe
from stategram.models import (
    ClusteredModel,
    Model,
    NgramModel,
    fit_weights,
    interpolate,
    load_model,
)
from stategram.text import Corpus


@dataclass(frozen=True, eq=False)
class _Contexts:
    """The contexts of the rows under way; `seen`: how often that of each test event was, in training."""

    name: str
    tree: ContextTree
    seen: NDArray[np.uint32]


@dataclass
class Making:
    """A reproduction under way.

    Parameters
    ----------
    texts, tags
        What it is made of.
    folder
        Where finished rows are kept.
    mixed
        The keys of rows that mixtures are made of: their log probabilities and galleries are kept too.
    seed, steps
        As in `reproduce`.

    """

    texts: Texts
    tags: TagMap | None
    folder: WorkFolder
    mixed: Collection[str]
    seed: int
    steps: RowSteps
    _contexts: _Contexts | None = field(default=None, init=False)

    def make(self, plan: RowPlan) -> RowResult:
        """Make a row and keep it."""
        clusters: ClusterGallery | None = None
        if isinstance(plan, NgramPlan):
            row, scores = self._ngram(plan)
        elif isinstance(plan, ClusteredPlan):
            row, scores, clusters = self._clustered(plan)
        elif isinstance(plan, MixturePlan):
            row, scores = self._mixture(plan)
        else:
            assert isinstance(plan, RecipePlan)
            row, scores = self._recipe(plan)
        self.folder.keep_row(row, scores if plan.key in self.mixed else None, clusters)
        self.folder.spend()
        return row

    @contextmanager
    def shared(self, name: str, title: str) -> Iterator[Report]:
        """Do something that rows share, as a step; its seconds are kept under a name."""
        started = time.monotonic()
        with self.steps.step(title) as report:
            yield report
        self.folder.spend(**{name: time.monotonic() - started})

    def _ngram(self, plan: NgramPlan) -> tuple[RowResult, Scores]:
        self._contexts = None
        started = time.monotonic()
        with self.steps.step(plan.title) as report:
            model = NgramModel.train(
                self.texts.train,
                plan.order,
                smoothing=plan.smoothing,
                min_counts=plan.min_counts,
                progress=report,
            )
            scores = self._scores(model)
            if plan.key == BEST_NGRAM:
                self._keep_for_recipe(plan, model)
        return self._row(plan, "ngram", scores, started, model.parameters), scores

    def _clustered(self, plan: ClusteredPlan) -> tuple[RowResult, Scores, ClusterGallery | None]:
        contexts = self._contexts_of(plan)
        most_states, most_categories = _most(contexts.tree, self.texts.train)
        states, categories = min(plan.wanted[0], most_states), min(plan.wanted[1], most_categories)
        preset = PRESETS[plan.preset]
        settings = preset.replace(
            states=states,
            categories=categories,
            tree=plan.tree,
            criterion=plan.criterion or preset.criterion,
            seed=self.seed,
        )
        started = time.monotonic()
        with self.steps.step(plan.title) as report:
            found = cluster_tree(
                contexts.tree,
                settings,
                checkpoint=self.folder.under_way(plan.key),
                resume=True,
                progress=sweeps_to(report),
            )
            model = ClusteredModel.train(found, self.texts.heldout)
            scores = self._scores(model)
        row = self._row(
            plan,
            "clustered",
            scores,
            # What earlier runs have done of it counts too.
            min(started, time.monotonic() - found.history[-1].seconds),
            model.parameters,
            context=plan.context,
            tree=plan.tree,
            states=states,
            categories=categories,
            asked=plan.asked,
            sweeps=sweeps_of(found.history),
            by_count=bands_of(scores.test, contexts.seen),
            note=_note((states, categories), plan, (most_states, most_categories)),
        )
        if plan.key not in self.mixed:
            return row, scores, None
        return row, scores, gallery(model, plan.key)

    def _mixture(self, plan: MixturePlan) -> tuple[RowResult, Scores]:
        self._contexts = None
        started = time.monotonic()
        with self.steps.step(plan.title):
            both = [self.folder.scores(key) for key in plan.parts]
            weights = fit_weights([one.heldout for one in both])
            scores = Scores(
                interpolate([one.heldout for one in both], weights),
                interpolate([one.test for one in both], weights),
            )
        rows = [self.folder.row(key) for key in plan.parts]
        parts = tuple(
            Part(name=key, weight=weight) for key, weight in zip(plan.parts, weights.tolist(), strict=True)
        )
        parameters = sum(row.parameters for row in rows if row is not None) + len(parts)
        return self._row(plan, "mixture", scores, started, parameters, parts=parts), scores

    def _recipe(self, plan: RecipePlan) -> tuple[RowResult, Scores]:
        self._contexts = None
        started = time.monotonic()
        number = n_steps(RECIPES[plan.recipe], self.texts.train, self.folder.recipe)
        with self.steps.step(plan.title) as report:
            model = train_recipe(
                self.texts.train,
                self.texts.heldout,
                plan.recipe,
                trained=self._kept_for_recipe(),
                checkpoint=self.folder.recipe,
                resume=True,
                seed=self.seed,
                steps=_PartsOf(report, number),
            )
            scores = self._scores(model)
            weights = [part.weight for part in model.score(self.texts.test).parts]
        parts = tuple(
            Part(name=name, weight=weight) for name, weight in zip(model.part_titles, weights, strict=True)
        )
        return self._row(plan, "mixture", scores, started, model.parameters, parts=parts), scores

    def _row(
        self, plan: RowPlan, kind: str, scores: Scores, started: float, parameters: int, **more: Any
    ) -> RowResult:
        return RowResult(
            key=plan.key,
            table=plan.table,
            title=plan.title,
            kind=kind,
            test=figures_of(scores.test, self.texts.test),
            heldout_perplexity=perplexity_of(scores.heldout),
            seconds=time.monotonic() - started,
            parameters=parameters,
            compared_with=plan.compared_with,
            paper=paper_row(plan.key),
            **more,
        )

    def _scores(self, model: Model) -> Scores:
        return Scores(
            model.log_probs(self.texts.heldout),
            model.log_probs(self.texts.test),
        )

    def _contexts_of(self, plan: ClusteredPlan) -> _Contexts:
        if self._contexts is None or self._contexts.name != plan.context:
            self._contexts = None  # two trees would be much memory
            definition = ContextDefinition.parse(plan.context)
            classes = self._classes(plan.classes) if plan.classes is not None else None
            with self.shared(f"contexts {plan.context}", f"counting the contexts {plan.context}"):
                tree = build_tree(
                    self.texts.train,
                    definition,
                    tags=self.tags if definition.needs_tags else None,
                    classes=classes,
                )
                seen = context_counts(tree, self.texts.test)
            self._contexts = _Contexts(plan.context, tree, seen)
        return self._contexts

    def _classes(self, number: int) -> NDArray[np.uint32]:
        if (kept := self.folder.classes()) is not None:
            return kept
        vocabulary = self.texts.train.vocabulary
        number = min(number, _most_categories(self.texts.train))
        with self.shared("classes", f"learning {number:,} word classes for contexts") as report:
            words = WordClasses(number, random_state=self.seed)
            words.fit(self.texts.train, progress=sweeps_to(report))
            found = dict(zip(words.words_, words.labels_.tolist(), strict=True))
            labels = class_labels(found, vocabulary).astype(np.uint32)
            self.folder.keep_classes(labels)
        return labels

    def _keep_for_recipe(self, plan: NgramPlan, model: NgramModel) -> None:
        """Keep an n-gram model for recipes that have a part like it."""
        recipe = {"order": plan.order, "smoothing": plan.smoothing, "min_counts": plan.min_counts}
        part = msgspec.convert({"model": "ngram", **recipe}, NgramPart)
        (found,) = resolve(Recipe(name=plan.key, part=[part]), self.texts.train).part
        replace(model, metadata=msgspec.to_builtins(found)).save(self.folder.ngram)

    def _kept_for_recipe(self) -> list[Model]:
        return [load_model(self.folder.ngram)] if self.folder.ngram.is_dir() else []


class _PartsOf(Steps):
    """Takes the steps of a training for shares of one step."""

    def __init__(self, report: Report, number: int) -> None:
        self.report = report
        self.number = number
        self.done = 0

    @contextmanager
    def step(self, title: str) -> Iterator[Report]:
        begin = min(self.done / self.number, 1.0)
        self.report(begin, title)
        yield lambda share, words: self.report(
            min(begin + share / self.number, 1.0), f"{title}: {words}" if words else title
        )
        self.done += 1


def _most(tree: ContextTree, corpus: Corpus) -> tuple[int, int]:
    """Give the most states and categories that make sense.

    Half of the contexts, half of the words: with more of them most clusters would have one member. Contexts
    of tags are so few, and so frequent, that each may have a state of its own.
    """
    contexts = int(np.count_nonzero(tree.levels[-1].counts))
    if any(value.kind != "t" for value in tree.definition.values):
        contexts //= 2
    return max(1, contexts), _most_categories(corpus)


def _most_categories(corpus: Corpus) -> int:
    return max(1, int(np.count_nonzero(corpus.word_counts)) // 2)


def _note(numbers: tuple[int, int], plan: ClusteredPlan, most: tuple[int, int]) -> str:
    """Say why there are fewer clusters than suit the text."""
    limits = [
        f"contexts for {limit:,} states" if side == 0 else f"words for {limit:,} categories"
        for side, limit in enumerate(most)
        if numbers[side] < plan.wanted[side]
    ]
    return f"the text has {' and '.join(limits)}" if limits else ""
