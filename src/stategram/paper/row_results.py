"""A row as it is trained, measured and kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from stategram.contexts import ContextTree
from stategram.errors import BadDataError, StategramError
from stategram.evaluation import (
    PartFigures,
    PerplexityFigures,
    ResampledPerplexity,
    evaluate,
    evaluate_resampled,
    score_in_pieces,
)
from stategram.explore.content import gallery
from stategram.models import Scores, State, fit_weights, interpolate
from stategram.paper.published import PAPER
from stategram.paper.results import Clusters, CountBand, RowName, RowResult
from stategram.paper.rows import STRICT, Row
from stategram.progress import Progress
from stategram.recipes.clustered_part import ClusteredPart
from stategram.recipes.part import Part
from stategram.recipes.pipeline import train_resolved
from stategram.recipes.recipe import Recipe
from stategram.recipes.training import Training
from stategram.storage import open_archive, write_archive
from stategram.text import Corpus

_KIND = "row of a reproduction"
_BANDS = ((0, 0), (1, 1), (2, 5), (6, 20), (21, 100), (101, 1000), (1001, None))
_LogProbs = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FinishedRow:
    """A row as it is kept; if mixtures are made of it, with log probabilities.

    `resamples` are its perplexities on resamples of the test text, the same resamples for all rows;
    `log_probs` are natural logarithms, one for each event of the texts ``heldout`` and ``test``.
    """

    row: RowResult
    resamples: NDArray[np.float64]
    log_probs: dict[str, _LogProbs] = field(default_factory=dict)

    def save(self, place: Path) -> None:
        """Write it to a file."""
        write_archive(
            place,
            kind=_KIND,
            arrays={"resamples": {"perplexities": self.resamples}}
            | ({"log_probs": self.log_probs} if self.log_probs else {}),
            manifest={"row": msgspec.to_builtins(self.row)},
        )

    @classmethod
    def load(cls, place: Path) -> FinishedRow:
        """Open it; log probabilities stay on the disk until they are used."""
        archive = open_archive(place, kind=_KIND)
        try:
            row = msgspec.convert(archive.manifest["row"], RowResult)
            resamples = archive.arrays("resamples", mmap=False)["perplexities"]
        except (KeyError, msgspec.ValidationError) as error:
            raise BadDataError(f"{place}: not a {_KIND} ({error})") from error
        log_probs = archive.arrays("log_probs") if archive.has("log_probs") else {}
        return cls(row, resamples, log_probs)

    @property
    def resampled(self) -> ResampledPerplexity:
        """Its test perplexity with those of resamples."""
        return ResampledPerplexity(self.row.test.perplexity, self.resamples)


def model_row(
    row: Row,
    part: Part,
    training: Training,
    test: Corpus,
    progress: Progress | None,
    *,
    keep_log_probs: bool,
) -> FinishedRow:
    """Train and measure a row that is one model."""
    trained = part.train(training, progress)
    model, found = trained.model, trained.clustering
    texts = {"heldout": training.heldout, "test": test}
    log_probs = {name: model.score(text).log_probs for name, text in texts.items()}
    figures, resamples = _test_figures(log_probs["test"], test)
    result = _result(
        row,
        "ngram" if found is None else "clustered",
        test=figures,
        heldout_perplexity=_perplexity(log_probs["heldout"]),
        parameters=model.parameters,
    )
    if found is not None:
        assert isinstance(part, ClusteredPart)
        settings, counts = found.settings, found.tree.levels[-1].counts
        result = msgspec.structs.replace(
            result,
            clusters=Clusters(
                context=str(found.tree.definition),
                tree=settings.tree,
                states=settings.states,
                categories=settings.categories,
                contexts=int(np.count_nonzero(counts)),
                rare_contexts=int(np.count_nonzero((counts > 0) & (counts < settings.min_count))),
            ),
            sweeps=() if part.strict else found.history,  # those of the smoothed tree
            by_count=bands_of(log_probs["test"], context_counts(found.tree, test)),
            note=_note(part, settings.states, settings.categories),
        )
    if not keep_log_probs:
        return FinishedRow(result, resamples)
    result = msgspec.structs.replace(result, gallery=gallery(model, row.key))
    return FinishedRow(result, resamples, log_probs)


def mixture_row(row: Row, parts: list[FinishedRow], test: Corpus) -> FinishedRow:
    """Interpolate rows, with weights learned on the held-out text."""
    weights = fit_weights([part.log_probs["heldout"] for part in parts])
    mixed = {
        use: interpolate([part.log_probs[use] for part in parts], weights) for use in ("heldout", "test")
    }
    figures, resamples = _test_figures(mixed["test"], test)
    result = _result(
        row,
        "mixture",
        test=figures,
        heldout_perplexity=_perplexity(mixed["heldout"]),
        parameters=sum(part.row.parameters for part in parts) + len(parts),
        parts=tuple(
            PartFigures(part.row.key, part.row.test.perplexity, weight, part.row.test.interval)
            for part, weight in zip(parts, weights.tolist(), strict=True)
        ),
    )
    return FinishedRow(result, resamples)


def recipe_row(
    row: Row, recipe: Recipe, training: Training, test: Corpus, progress: Progress | None
) -> FinishedRow:
    """Train and measure a row that is a recipe; the model is trained once, for all histories."""
    model = train_resolved(recipe, training, progress).with_history(row.history)
    figures, resampled = evaluate_resampled(score_in_pieces(model, test), model.order)
    result = _result(
        row,
        model.kind.replace("-", " "),
        test=replace(figures, parts=(), orders=()),
        heldout_perplexity=evaluate(model, training.heldout).perplexity,
        parameters=model.parameters,
    )
    return FinishedRow(result, resampled.resamples)


def _result(row: Row, kind: str, **measured: Any) -> RowResult:
    return RowResult(
        **{name: getattr(row, name) for name in RowName.__struct_fields__},
        kind=kind,
        seconds=0.0,  # known when all is done
        paper=PAPER.get(row.key.removesuffix(f" {STRICT}")),
        **measured,
    )


def _note(part: ClusteredPart, states: int, categories: int) -> str:
    """Return why there are fewer clusters than suit the text."""
    wanted, limits = part.states, []  # and as many categories
    if wanted != states:
        limits.append(f"contexts for {states:,} states")
    if wanted != categories:
        limits.append(f"words for {categories:,} categories")
    return f"the text has {' and '.join(limits)}" if limits else ""


def _perplexity(log_probs: _LogProbs) -> float:
    """Return the perplexity of events; StategramError if it is infinite."""
    _check_finite(log_probs)
    return float(np.exp(-log_probs.mean()))


def _check_finite(log_probs: _LogProbs) -> None:
    if not np.isfinite(log_probs).all():
        impossible = int(np.count_nonzero(~np.isfinite(log_probs)))
        raise StategramError(
            f"{impossible:,} of {len(log_probs):,} events have no probability, so there is no perplexity; "
            "give more training text, or --vocab, so that it has unknown words"
        )


def _test_figures(log_probs: _LogProbs, corpus: Corpus) -> tuple[PerplexityFigures, _LogProbs]:
    """Return what a table shows of a text, and the perplexities of its resamples."""
    _check_finite(log_probs)
    figures, resampled = evaluate_resampled(Scores(corpus, log_probs, State(None)))
    return figures, resampled.resamples


def context_counts(tree: ContextTree, corpus: Corpus) -> NDArray[np.uint32]:
    """Return for each event how often its complete context was seen in the text of the tree."""
    nodes, levels = tree.find(corpus)
    counts = np.zeros(corpus.n_events, np.uint32)
    known = levels == tree.depth
    counts[known] = tree.levels[-1].counts[nodes[known]]
    return counts


def bands_of(log_probs: _LogProbs, counts: NDArray[np.uint32]) -> tuple[CountBand, ...]:
    """Return the perplexity of the events of each band of counts, without bands that have none."""
    found = []
    for least, most in _BANDS:
        here = (counts >= least) & (True if most is None else counts <= most)
        if here.any():
            found.append(CountBand(least, most, int(np.count_nonzero(here)), _perplexity(log_probs[here])))
    return tuple(found)
