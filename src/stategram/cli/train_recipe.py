"""`stategram train --recipe`: several models and their mixture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from stategram.cli.console import Console, Report
from stategram.cli.interrupt import finish_on_interrupt
from stategram.cli.options import TextOptions
from stategram.cli.reading import read_heldout, read_text
from stategram.cli.train_record import inputs_of, text_recipe
from stategram.experiments import Recipe, Steps, Stop, n_steps, recipe_files, train_recipe
from stategram.models import ClusteredModel, Mixture, Model
from stategram.text import Corpus


def train_by_recipe(texts: tuple[str, ...], recipe: Recipe, options: dict[str, Any]) -> None:
    """Read the texts, train, say what the parts are worth, write the model."""
    console = Console(quiet=options["quiet"], verbose=options["verbose"], steps=None)
    text = TextOptions.from_values(options)
    corpus = read_text(texts, text, console)
    heldout = read_heldout(options["heldout"], corpus, text, console)
    checkpoint = options["checkpoint"]
    # Reading twice came first, writing comes last.
    console.steps = n_steps(recipe, corpus, checkpoint if options["resume"] else None) + 3
    with _saying_how_to_go_on(checkpoint):
        mixture = train_recipe(
            corpus,
            heldout,
            recipe,
            checkpoint=checkpoint,
            resume=options["resume"],
            seed=options["seed"],
            steps=_ConsoleSteps(console, save=options["on_interrupt"] == "save"),
        )
    console.say(_as_table(mixture))
    with console.step(f"writing {options['output']}") as report:
        _write(mixture, texts, recipe, corpus, options, report)
    if checkpoint and any(map(_ended_early, mixture.parts)):
        console.say(f"      {checkpoint} is needed to do the rest: the same command with --resume --force")
    elif checkpoint:
        console.say(f"      {checkpoint} is not needed any more")
    console.say(f"      try: stategram eval {options['output']} test.txt")


@contextmanager
def _saying_how_to_go_on(checkpoint: str | None) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt as end:
        if checkpoint is None:
            raise
        raise KeyboardInterrupt(
            f"what is done is in {checkpoint}; the same command with --resume goes on"
        ) from end


class _ConsoleSteps(Steps):
    """Shows the steps of a training; with `save`, Ctrl-C ends only the clustering under way."""

    def __init__(self, console: Console, *, save: bool) -> None:
        self.console = console
        self.save = save

    @contextmanager
    def step(self, title: str) -> Iterator[Report]:
        with self.console.step(title) as report:
            yield report

    @contextmanager
    def clustering(self, title: str) -> Iterator[tuple[Report, Stop | None]]:
        if not self.save:
            with self.step(title) as report:
                yield report, None
            return
        with finish_on_interrupt(self.console.say) as stop, self.step(title) as report:
            yield report, stop

    def say(self, message: str) -> None:
        self.console.say(message)

    def detail(self, message: str) -> None:
        self.console.detail(message)


def _write(
    mixture: Mixture,
    texts: tuple[str, ...],
    recipe: Recipe,
    corpus: Corpus,
    options: dict[str, Any],
    report: Report,
) -> None:
    uses = [("training", name) for name in texts] + [("held-out", options["heldout"])]
    uses += recipe_files(recipe)
    if options["vocab_file"]:
        uses.append(("vocabulary", options["vocab_file"]))
    inputs = inputs_of([name for _, name in uses], report)
    manifest = {
        "inputs": [{**one, "use": use} for one, (use, _) in zip(inputs, uses, strict=True)],
        "figures": {
            "events": corpus.n_events,
            "sentences": corpus.n_sentences,
            "unknown": corpus.n_unknown,
            "heldout_perplexity": mixture.training_info["perplexity"],
            "parameters": mixture.parameters,
        },
        "seed": options["seed"],
    }
    model = replace(mixture, metadata={**mixture.metadata, **text_recipe(options)})
    model.save(Path(options["output"]).absolute(), manifest=manifest)


def _as_table(mixture: Mixture) -> str:
    """Say what each part is worth on the held-out text."""
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
        trust = any(isinstance(part, ClusteredModel) for part in mixture.parts)
        lines.append(
            f"      {_number(min(tried))}  cross-validated: weights of one half, on the other half"
            + (" (a little too good: trust in states is of both)" if trust else "")
        )
    return "\n".join(lines)


def _ended_early(model: Model) -> bool:
    return bool(model.metadata.get("ended_early"))


def _number(perplexity: float | None) -> str:
    return f"{perplexity:11,.2f}" if perplexity is not None else f"{'infinite':>11}"
