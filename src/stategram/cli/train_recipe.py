"""`stategram train --recipe`: several models and their mixture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from stategram.cli.console import Console
from stategram.cli.options import TextOptions
from stategram.cli.reading import read_heldout, read_text
from stategram.experiments import Recipe, never_stop, train_recipe
from stategram.models import ClusteredModel, Mixture, Model
from stategram.progress import subprogress
from stategram.storage import input_files


def train_by_recipe(
    texts: tuple[str, ...],
    heldout_name: str,
    recipe: Recipe,
    output: str,
    *,
    text: TextOptions,
    inputs: Sequence[tuple[str, str]],
    checkpoint: str | None,
    resume: bool,
    save_on_interrupt: bool,
    seed: int,
    console: Console,
) -> None:
    """Read the texts, train, show what the parts are worth, write the model."""
    console.steps = 4
    corpus = read_text(texts, text, console)
    heldout = read_heldout(heldout_name, corpus, text, console)
    with (
        _saying_how_to_continue(checkpoint),
        console.step(f"training by the recipe {recipe.name}") as progress,
    ):
        mixture = train_recipe(
            corpus,
            heldout,
            recipe,
            checkpoint=checkpoint,
            resume=resume,
            seed=seed,
            interruptible=console.finish_on_interrupt if save_on_interrupt else never_stop,
            progress=progress,
        )
    console.info(_as_table(mixture))
    with console.step(f"writing {output}") as progress:
        manifest = {
            "inputs": [asdict(file) for file in input_files(inputs, subprogress(progress, 0.0, 0.5))],
            "figures": {
                "events": corpus.n_events,
                "sentences": corpus.n_sentences,
                "unknown": corpus.n_unknown,
                "heldout_perplexity": mixture.training_info["perplexity"],
                "parameters": mixture.parameters,
            },
            "seed": seed,
        }
        model = replace(mixture, metadata={**mixture.metadata, **text_settings(text)})
        model.save(Path(output).absolute(), manifest=manifest)
    if checkpoint and any(map(_ended_early, mixture.parts)):
        console.info(f"      {checkpoint} is needed to do the rest: the same command with --resume --force")
    elif checkpoint:
        console.info(f"      {checkpoint} is no longer needed")
    console.info(f"      try: stategram eval {output} test.txt")


def text_settings(text: TextOptions) -> dict[str, Any]:
    """Return what a model says of how its text was read."""
    return {
        "vocabulary_size": text.vocab,
        "vocabulary_file": text.vocab_file,
        "lowercase": text.lowercase,
        "digits": text.digits,
        "encoding_errors": text.encoding_errors,
    }


@contextmanager
def _saying_how_to_continue(checkpoint: str | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as end:
        if checkpoint is None:
            raise
        raise KeyboardInterrupt(f"progress saved in {checkpoint}; rerun with --resume to continue") from end


def _as_table(mixture: Mixture) -> str:
    """Return what each part is worth on the held-out text."""
    found = mixture.training_info
    lines = [f"      {'alone':>11}  {'weight':>6}  {'without it':>11}   on the held-out text"]
    for part, model in zip(found["parts"], mixture.parts, strict=True):
        name = part["name"] + (" (ended early)" if _ended_early(model) else "")
        without = "-"
        if len(mixture.parts) > 1:
            lost = part["without"]
            without = "infinite" if lost is None else f"{lost - found['perplexity']:+,.2f}"
        lines.append(f"      {_number(part['perplexity'])}  {part['weight']:6.3f}  {without:>11}   {name}")
    lines.append(f"      {_number(found['perplexity'])}  {1:6.3f}  {'':>11}   {mixture!r}")
    chosen = found["buckets"]["kind"]
    tried = [one["perplexity"] for one in found["candidates"] if one["kind"] == chosen]
    if tried:
        both = any(isinstance(part, ClusteredModel) for part in mixture.parts)
        lines.append(
            f"      {_number(min(tried))}  cross-validated: weights of one half, on the other half"
            + (" (slightly optimistic: state weights were fitted on both halves)" if both else "")
        )
    return "\n".join(lines)


def _ended_early(model: Model) -> bool:
    return bool(model.metadata.get("ended_early"))


def _number(perplexity: float | None) -> str:
    return f"{perplexity:11,.2f}" if perplexity is not None else f"{'infinite':>11}"
