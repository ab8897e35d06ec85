"""Training by a recipe: the parts one after the other, then the mixture of several."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path

import msgspec

from stategram.errors import BadDataError, UsageError
from stategram.models import (
    NO_LIMIT,
    Budget,
    Mixture,
    Model,
    compact_model,
    load_model,
    size_within,
)
from stategram.progress import Progress, subprogress, with_time_left
from stategram.recipes.max_size import TrainedPart, parts_within
from stategram.recipes.part import Part, Trained
from stategram.recipes.recipe import Recipe, read_recipe
from stategram.recipes.training import Training, TrainingText
from stategram.storage import Store
from stategram.text import Corpus, as_corpus, contains_text, corpus_from_sentences

_log = logging.getLogger(__name__)

# What a manifest says besides the recipe: its name and the seed.
_MORE_BYTES = 256


def train_recipe(
    corpus: TrainingText | Iterable[str],
    heldout: Corpus | Iterable[str] | None,
    recipe: Recipe | str | os.PathLike[str],
    *,
    tags: str | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    seed: int = 0,
    budget: Budget = NO_LIMIT,
    progress: Progress | None = None,
) -> Model:
    """Train the models of a recipe on a text and mix them.

    The same held-out text is used twice: clustered models learn from it the weights of their states, a few
    dozen numbers each, and the mixture its weights. Its perplexity there is therefore slightly optimistic;
    that of a test text is what counts.

    Parameters
    ----------
    corpus
        The text: a corpus, a text in shards or its counts (`count_text`), or sentences. Counts without their
        text (`read_counts`) are enough for an n-gram model of words.
    heldout
        Further text, of the same kind, of which nothing is in `corpus`; needed to learn weights, not for a
        recipe with one part that learns none, such as an n-gram model. With it, the probability of ``<unk>``
        of n-gram models is fitted (`Model.fit_unknown`).
    recipe
        ``fast``, ``paper``, ``best``, the name of a TOML file, or a `Recipe`.
    tags
        The tags of contexts that have some but do not say which: ``brill``, or a file.
    checkpoint
        A folder for finished parts and clusterings under way. The same training continues from there, with
        the result of an uninterrupted run; UsageError if the folder belongs to another training.
    seed
        Of all annealing.
    budget
        How large the model may be. By ``max_size`` what is least useful per byte is left out: n-grams,
        chains, trees, whole parts; other limits are for a recipe with one part that has n-grams. UsageError
        if it is too small.
    progress
        Called with the fraction done and a few words.

    Returns
    -------
    Model
        A mixture, whose ``training_info`` has what each part is worth, or the model of the only part. Its
        ``metadata`` has all defaults and numbers.

    Examples
    --------
    >>> from stategram import corpus_from_sentences, train_recipe
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> heldout = corpus_from_sentences(["the cat ran", "a dog sat"], vocabulary=corpus.vocabulary)
    >>> [type(part).__name__ for part in train_recipe(corpus, heldout, "paper").parts]
    ['NgramModel', 'ClusteredModel']

    """
    if not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe)
    recipe.check_budget(budget)
    progress = with_time_left(progress)
    text = corpus if isinstance(corpus, TrainingText) else corpus_from_sentences(corpus)
    if text.n_events == 0:
        raise BadDataError("the text has no words; give sentences of words separated by white space")
    if heldout is None and recipe.needs_heldout:
        raise UsageError(f"recipe {recipe.name} learns weights; give a held-out text")
    no_text = corpus_from_sentences([], vocabulary=text.vocabulary)
    training = Training(text, no_text, seed=seed, fits_unknown=True)
    if heldout is not None:
        training.heldout = _heldout(heldout, training, whole=recipe.needs_heldout)
    recipe = recipe.with_tags(tags).resolve(text)
    opened: AbstractContextManager[Store | None] = nullcontext()
    if checkpoint is not None:
        parts = recipe.to_json() | {"name": None}
        run = training.key(parts, *(Path(name) for _, name in recipe.files()))
        opened = Store.open(checkpoint, run, kind="training")
    with opened as training.store:
        model = train_resolved(recipe, training, progress, budget=budget)
    return compact_model(model, progress=progress) if budget.compact else model


def train_resolved(
    recipe: Recipe, training: Training, progress: Progress | None = None, *, budget: Budget = NO_LIMIT
) -> Model:
    """Train the parts of a recipe that is resolved for the text, and mix them if there are several."""
    end = 0.8 if len(recipe.part) > 1 else 1.0
    models = _train_parts(recipe, training, budget, subprogress(progress, 0.0, end))
    of_part = msgspec.structs.replace(budget, reserved=0)
    parts = [TrainedPart(*one, training, of_part) for one in zip(recipe.part, models, strict=True)]
    while True:
        model = _together(recipe, [one.model for one in parts], training, subprogress(progress, end, 1.0))
        size = size_within(budget)(model) if budget.max_size is not None else 0
        if budget.max_size is None or size <= budget.max_size:
            return model
        rest = size - sum(one.size for one in parts)
        parts = parts_within(parts, budget.max_size, rest, subprogress(progress, end, 1.0))


def _train_parts(
    recipe: Recipe, training: Training, budget: Budget, progress: Progress | None
) -> list[Model]:
    # Of several parts others may have to go instead.
    limit = _of_one_part(recipe, budget) if len(recipe.part) == 1 else NO_LIMIT
    models: list[Model] = []
    total = len(recipe.part)
    for number, part in enumerate(recipe.part, 1):
        started = time.monotonic()
        title = f"part {number} of {total}: {part.title}" if total > 1 else ""
        step = subprogress(progress, (number - 1) / total, number / total, title)
        if title:
            _log.info("%s", title)
        models.append(train_part(part, training, step, budget=limit).model)
        _log.info("%r, %.1f s", models[-1], time.monotonic() - started)
    training.forget_counts()
    return models


def _of_one_part(recipe: Recipe, budget: Budget) -> Budget:
    """Return the budget of the only part; what the manifest has of the recipe, JSON in JSON, is reserved."""
    of_recipe = len(json.dumps(json.dumps(recipe.to_json()))) + _MORE_BYTES
    return msgspec.structs.replace(budget, reserved=budget.reserved + of_recipe)


def _together(
    recipe: Recipe, models: Sequence[Model], training: Training, progress: Progress | None
) -> Model:
    """Return the mixture of several models, or the only one."""
    if len(models) == 1:
        metadata = {**models[0].metadata, "name": recipe.name, "seed": training.seed}
        return replace(models[0], metadata=metadata)
    started = time.monotonic()
    mixture = Mixture.fit(
        models,
        training.heldout,
        buckets=recipe.mixture.buckets,
        progress=subprogress(progress, 0.0, 1.0, "mixing"),
    )
    _log.info("mixing, %.1f s", time.monotonic() - started)
    parts = [dict(model.metadata) for model in models]
    return replace(mixture, metadata={**recipe.to_json(), "part": parts, "seed": training.seed})


def train_part(
    part: Part,
    training: Training,
    progress: Progress | None = None,
    *,
    budget: Budget = NO_LIMIT,
) -> Trained:
    """Train a part and keep it in the store, or take it from there."""
    store = training.store

    def train() -> Trained:
        if budget.has_limit:
            return part.train_within(training, budget, progress)
        return part.train(training, progress)

    if store is None:
        return train()
    key = part.key(training)
    if budget.has_limit:
        key = training.key(key, msgspec.to_builtins(budget))
    if (kept := store.get("model", key, load_model)) is not None:
        _log.info("kept")
        return Trained(kept)
    trained = train()
    trained.model.save(store.place("model", key))
    store.remove("clustering", key)
    return trained


def _heldout(given: Corpus | Iterable[str], training: Training, *, whole: bool) -> Corpus:
    """Return the held-out text in the vocabulary of the text, if it is of any use."""
    try:
        heldout = as_corpus(training.text.vocabulary, given)
    except BadDataError as error:
        raise BadDataError(f"held-out text: {error}") from error
    # N-grams are counted without the whole text in memory: it is not read for this alone.
    if (whole or isinstance(training.text, Corpus)) and contains_text(training.corpus, heldout):
        raise UsageError(
            "the held-out text is in the training text: all weight would go to the model that remembers it "
            "best; give a text of which nothing is in the training text"
        )
    return heldout
