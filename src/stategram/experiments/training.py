"""Training by a recipe: the parts one after the other, what they share once, then their mixture."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from stategram.clustering import WordClasses, class_labels, cluster
from stategram.contexts import TagMap, parse_tags
from stategram.errors import BadDataError, UsageError
from stategram.experiments.recipe_parts import CategoryNgramPart, ClusteredPart, NgramPart, Part, Recipe
from stategram.experiments.recipes import read_recipe, recipe_files, with_tags
from stategram.experiments.resolution import beyond_limits, definition_of, most_states, resolve
from stategram.experiments.run_folder import RunFolder, fingerprint
from stategram.experiments.steps import NoticedStop, Report, Steps, sweeps_to
from stategram.experiments.summaries import coverage_line, level_line, trials_line
from stategram.formats import read_classes
from stategram.models import CategoryNgramModel, ClusteredModel, Mixture, Model, NgramModel
from stategram.text import Corpus, as_corpus, contains_text, corpus_from_sentences


def train_recipe(
    corpus: Corpus | Iterable[str],
    heldout: Corpus | Iterable[str],
    recipe: Recipe | str | os.PathLike[str],
    *,
    tags: str | None = None,
    trained: Sequence[Model] = (),
    checkpoint: str | os.PathLike[str] | None = None,
    resume: bool = False,
    seed: int = 0,
    steps: Steps | None = None,
) -> Mixture:
    """Train the models of a recipe on a text and mix them.

    The same held-out text is used twice: clustered models learn from it how far their states can be trusted,
    a few dozen numbers each, and the mixture its weights. Its perplexity there is therefore a little too
    good; that of a test text is what counts.

    Parameters
    ----------
    corpus
        The text: a corpus, or sentences.
    heldout
        Further text, of the same kind, of which nothing is in `corpus`.
    recipe
        ``fast``, ``paper``, ``best``, the name of a TOML file, or a `Recipe`.
    tags
        The tags of contexts that have some but do not say which: ``brill``, or a file.
    trained
        Models that need not be trained again: those whose ``recipe`` is that of a part.
    checkpoint
        A folder in which finished parts and clusterings under way are kept.
    resume
        Whether to go on from what is in it, if something is; the result is that of an uninterrupted run.
    seed
        Of all annealing.
    steps
        Is told of each step.

    Returns
    -------
    Mixture
        Its ``recipe`` has all defaults and numbers, its ``report`` says what each part is worth.

    Examples
    --------
    >>> from stategram import corpus_from_sentences, train_recipe
    >>> corpus = corpus_from_sentences(["the cat sat", "the dog sat", "a cat ran", "a dog ran"] * 5)
    >>> heldout = corpus_from_sentences(["the cat ran", "a dog sat"], vocabulary=corpus.vocabulary)
    >>> [type(part).__name__ for part in train_recipe(corpus, heldout, "fast").parts]
    ['NgramModel', 'CategoryNgramModel', 'ClusteredModel']

    """
    if not isinstance(recipe, Recipe):
        recipe = read_recipe(recipe)
    if not isinstance(corpus, Corpus):
        corpus = corpus_from_sentences(corpus)
    if corpus.n_events == 0:
        raise BadDataError("the text has no words; give sentences of words separated by white space")
    heldout = _heldout(heldout, corpus)
    steps = steps or Steps()
    for note in beyond_limits(recipe, corpus):
        steps.say(f"note: {note}")
    recipe = resolve(with_tags(recipe, tags), corpus)
    opened: AbstractContextManager[RunFolder | None] = nullcontext()
    if checkpoint is not None:
        files = [name for _, name in recipe_files(recipe)]
        run = fingerprint(recipe, corpus, heldout, seed, files)
        opened = RunFolder.open(checkpoint, run, resume=resume, say=steps.say)
    with opened as folder:
        run_ = _Training(corpus, heldout, folder, seed, steps, trained)
        models = [run_.model(number, part) for number, part in enumerate(recipe.part, 1)]
        with run_.timed("mixing") as report:
            mixture = Mixture.fit(models, heldout, buckets=recipe.mixture.buckets, progress=report)
    said = {**recipe.to_json(), "part": [dict(model.metadata) for model in models], "seed": seed}
    return replace(mixture, metadata=said)


def n_steps(recipe: Recipe, corpus: Corpus, checkpoint: str | os.PathLike[str] | None = None) -> int:
    """Give the number of steps of a training; parts that are done already need nothing any more."""
    found = resolve(recipe, corpus)
    folder = None if checkpoint is None else RunFolder(Path(checkpoint))
    shared = {
        need
        for number, part in enumerate(found.part, 1)
        if folder is None or not folder.is_finished(number)
        for need in _needs(part)
    }
    return len(found.part) + len(shared) + 1


def _needs(part: Part) -> list[tuple[str, ...]]:
    """Give what a part shares with others and has to be learned or found first."""
    needs: list[tuple[str, ...]] = []
    if isinstance(part, CategoryNgramPart) and isinstance(part.classes, int):
        needs.append(("classes", str(part.classes), part.effort))
    if isinstance(part, ClusteredPart):
        if isinstance(part.context_classes, int):
            needs.append(("classes", str(part.context_classes), str(part.effort)))
        if part.tags is not None:
            needs.append(("tags", part.tags, str(part.guess_tags)))
    return needs


def _heldout(given: Corpus | Iterable[str], corpus: Corpus) -> Corpus:
    """Give the held-out text in the vocabulary of the text, if it is of any use."""
    try:
        heldout = as_corpus(corpus.vocabulary, given)
    except BadDataError as error:
        raise BadDataError(f"held-out text: {error}") from error
    if contains_text(corpus, heldout):
        raise UsageError(
            "the held-out text is in the training text: all weight would go to the model that remembers it "
            "best; give a text of which nothing is in the training text"
        )
    return heldout


@dataclass
class _Training:
    """A training under way, with what its parts share."""

    corpus: Corpus
    heldout: Corpus
    folder: RunFolder | None
    seed: int
    steps: Steps
    trained: Sequence[Model]
    classes: dict[tuple[str, ...], dict[str, int]] = field(default_factory=dict)
    cut_off: set[tuple[str, ...]] = field(default_factory=set)
    """Those classes whose learning was ended early."""
    tags: dict[tuple[str, bool], TagMap] = field(default_factory=dict)

    def model(self, number: int, part: Part) -> Model:
        """Train a part, or take it from what was given or from the folder of the run."""
        for known in self.trained:
            if dict(known.metadata) == msgspec.to_builtins(part):
                with self.timed(f"part {number}: {_title(part)}"):
                    self.steps.say(f"      given: {known!r}")
                return known
        if self.folder is not None and (done := self.folder.finished(number)) is not None:
            with self.timed(f"part {number}: {_title(part)}"):
                self.steps.say(f"      kept: {done!r}")
            return done
        if isinstance(part, NgramPart):
            model = self._ngram(number, part)
        elif isinstance(part, CategoryNgramPart):
            model = self._category_ngram(number, part)
        else:
            model = self._clustered(number, part)
        # What was ended early is not kept: a resumed training gives the result of a whole one.
        if self.folder is not None and not model.metadata.get("ended_early"):
            model.save(self.folder.part(number))
        return model

    @contextmanager
    def _seconds(self) -> Iterator[None]:
        started = time.monotonic()
        yield
        self.steps.say(f"      {time.monotonic() - started:,.1f} s")

    @contextmanager
    def timed(self, title: str) -> Iterator[Report]:
        with self._seconds(), self.steps.step(title) as report:
            yield report

    @contextmanager
    def _clustering(self, title: str) -> Iterator[tuple[Report, NoticedStop]]:
        with self._seconds(), self.steps.clustering(title) as (report, stop):
            yield report, NoticedStop(stop)

    def _ngram(self, number: int, part: NgramPart) -> Model:
        with self.timed(f"part {number}: {_title(part)}") as report:
            model = NgramModel.train(
                self.corpus,
                part.order,
                smoothing=part.smoothing,
                min_counts=part.min_counts,
                prune=part.prune,
                progress=report,
            )
        return replace(model, metadata=msgspec.to_builtins(part))

    def _category_ngram(self, number: int, part: CategoryNgramPart) -> Model:
        classes = self._classes(part.classes, part.effort)
        with self.timed(f"part {number}: {_title(part)}") as report:
            model = CategoryNgramModel.train(
                self.corpus,
                classes,
                part.order,
                smoothing=part.smoothing,
                progress=report,
            )
        return replace(model, metadata=_said(part, self._are_cut_off(part.classes, part.effort)))

    def _clustered(self, number: int, part: ClusteredPart) -> Model:
        labels, cut_off = None, False
        if part.context_classes is not None:
            classes = self._classes(part.context_classes, part.effort or "normal")
            labels = class_labels(classes, self.corpus.vocabulary)
            cut_off = self._are_cut_off(part.context_classes, part.effort or "normal")
        tags = self._tags(part.tags, part.guess_tags) if part.tags is not None else None
        title = f"part {number}: {_title(part)}"
        with self._clustering(title) as (report, stop):
            definition, states = definition_of(part), part.states
            if isinstance(states, int):
                most = most_states(self.corpus, definition, tags=tags, classes=labels)
                if states > most:
                    self.steps.say(
                        f"      note: only {most:,} of {states:,} states are possible: half of the contexts"
                    )
                states = min(states, most)
            place = None if self.folder is None or cut_off else self.folder.part(number)
            found = cluster(
                self.corpus,
                definition,
                states=states,
                categories=part.categories,
                preset=part.preset,
                tree=part.tree,
                criterion=part.criterion,
                min_count=part.min_count,
                tolerance=part.tolerance,
                max_sweeps=part.max_sweeps,
                anneal=part.anneal,
                candidates=part.candidates,
                tags=tags,
                classes=labels,
                checkpoint=place,
                resume=place is not None,
                seed=self.seed,
                progress=sweeps_to(report),
                stop=stop,
            )
            model = ClusteredModel.train(found, self.heldout)
        for level in found.levels:
            self.steps.detail(level_line(level))
        if found.trials:
            self.steps.say(trials_line(found))
        said = _said(part, cut_off or stop.asked)
        said |= {"states": found.settings.states, "categories": found.settings.categories}
        return replace(model, metadata=said)

    def _classes(self, given: int | str, effort: str) -> dict[str, int]:
        """Give the class of each word, in the order of the vocabulary: the same, learned or read again."""
        key = _key(given, effort)
        if key not in self.classes:
            self.classes[key] = self._in_order(
                self._learned(given, effort) if isinstance(given, int) else read_classes(given)
            )
        return self.classes[key]

    def _are_cut_off(self, given: int | str, effort: str) -> bool:
        return _key(given, effort) in self.cut_off

    def _learned(self, number: int, effort: str) -> dict[str, int]:
        name = f"{number}-{effort}"
        if self.folder is not None and (kept := self.folder.classes(name)) is not None:
            with self.timed(f"{number:,} word classes ({effort})"):
                self.steps.say("      kept")
            return kept
        with self._clustering(f"{number:,} word classes ({effort})") as (report, stop):
            words = WordClasses(number, effort=effort, random_state=self.seed)
            words.fit(self.corpus, progress=sweeps_to(report), stop=stop)
        self.steps.detail(f"      {len(words.history_)} sweeps, training perplexity {words.perplexity_:,.1f}")
        found = dict(zip(words.words_, words.labels_.tolist(), strict=True))
        if stop.asked:
            self.cut_off.add(_key(number, effort))
        elif self.folder is not None:
            self.folder.keep_classes(name, found)
        return found

    def _in_order(self, classes: Any) -> dict[str, int]:
        numbers: dict[object, int] = {}
        return {
            word: numbers.setdefault(classes[word], len(numbers))
            for word in self.corpus.vocabulary.words
            if word in classes
        }

    def _tags(self, source: str, guess: bool) -> TagMap:
        if (source, guess) not in self.tags:
            with self.timed(f"tags ({source})"):
                found = parse_tags(source, self.corpus.vocabulary, guess=guess)
                self.tags[source, guess] = found
                self.steps.say(coverage_line(found))
        return self.tags[source, guess]


def _key(classes: int | str, effort: str) -> tuple[str, ...]:
    return (str(classes), effort) if isinstance(classes, int) else (classes,)


def _said(part: Part, ended_early: bool) -> dict[str, Any]:
    """Give what a manifest says of a part."""
    said: dict[str, Any] = msgspec.to_builtins(part)
    return said | {"ended_early": True} if ended_early else said


def _title(part: Part) -> str:
    if isinstance(part, NgramPart):
        return f"{part.order}-gram model ({part.smoothing})"
    if isinstance(part, CategoryNgramPart):
        classes = f"{part.classes:,} classes" if isinstance(part.classes, int) else part.classes
        return f"{part.order}-gram model of {classes}"
    return f"clustered model of {part.context} ({part.preset})"
