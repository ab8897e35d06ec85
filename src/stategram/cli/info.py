"""`stategram info`: what a model is, how large its files are and how it was made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from stategram.cli.checks import check_inputs
from stategram.cli.console import Console
from stategram.cli.options import ReadingOptions, json_option, memory_options, work_options
from stategram.cli.reading import read_model_and_manifest
from stategram.counts import check_counts, is_counts, open_counts
from stategram.display import Description, description_text, escaped, plural, size
from stategram.errors import BadDataError
from stategram.evaluation import history_sums
from stategram.formats import ModelInfo, model_info
from stategram.progress import subprogress
from stategram.storage import is_archive, is_url

# What is among the facts already, or at the parts.
_SHOWN_ELSEWHERE = frozenset(("ngrams", "parameters", "part", "seed", "model"))
_LONGEST_VALUE = 200
_HISTORIES = 100
_TOLERANCE_OF_TEXT = 1e-4  # ARPA files have five to seven digits


@click.command(
    epilog="""\b
Examples:
  stategram info model
  stategram info model --json
  stategram info other.arpa.gz
  stategram info classes.tsv
  stategram info model --verify
  stategram info counts --verify""",
)
@click.argument("model_name", metavar="MODEL")
@click.option("--verify", is_flag=True, help="Verify MODEL instead; the exit code is 3 if it is damaged.")
@json_option
@memory_options
@work_options
def info(model_name: str, verify: bool, as_json: bool, console: Console) -> None:
    """Show what MODEL is, a model file, an ARPA file, a class file or counts: type, size and provenance.

    Of a model file only the manifest, the vocabulary and the arrays that describe the rest are read, of an
    ARPA file the header. MB are millions of bytes.

    --verify reads all of a model or of counts: checksums, structure, and sums of probabilities after 100
    random histories, always the same. Sums may be off by 0.000001, those of an ARPA file by 0.0001, those of
    a compact model by 0.02.
    """
    if Path(model_name).is_dir() and not is_counts(model_name):
        raise BadDataError(
            f"{model_name}: a folder; expected a model file, an ARPA file, a class file, or a folder of "
            "counts (stategram count)"
        )
    if not verify:
        check_inputs([model_name])
        found = model_info(model_name)
        # ASCII only: names may hold what a terminal would obey.
        click.echo(json.dumps(_as_json(found)) if as_json else _text(found))
    elif as_json:
        raise click.UsageError("--json cannot be combined with --verify; its exit code is for machines")
    elif (is_url(model_name) or Path(model_name).is_dir()) and is_counts(model_name):
        _verify_counts(model_name, console)
    elif _is_class_file(model_name):
        raise click.UsageError(
            f"{model_name} is a class file: it has neither checksums nor probabilities to verify; leave "
            "--verify out"
        )
    else:
        _verify_model(model_name, console)


def _is_class_file(name: str) -> bool:
    if is_url(name) or not Path(name).is_file() or is_archive(name):  # a pipe can be read only once
        return False
    try:
        return model_info(name).kind == "classes"
    except BadDataError:
        return False


def _verify_model(name: str, console: Console) -> None:
    console.steps = 3
    model, manifest = read_model_and_manifest(name, console, ReadingOptions())
    checked = "an ARPA file" if manifest is None else plural(len(manifest["arrays"]), "checksum")
    click.echo(f"OK  {name}: {checked}")
    with console.step("checking the structure"):
        try:
            model.check()
        except BadDataError as error:
            raise BadDataError(f"{name}: {error}") from error
    click.echo(f"OK  structure: {model!r}")
    tolerance = _TOLERANCE_OF_TEXT if manifest is None else model.sum_tolerance
    n_scopes = len(model.histories)
    with console.step("summing probabilities") as progress:
        worst = {
            scope: max(
                history_sums(
                    model.with_history(scope),
                    _HISTORIES,
                    progress=subprogress(progress, number / n_scopes, (number + 1) / n_scopes),
                ),
                key=lambda one: one.error,
            )
            for number, scope in enumerate(model.histories)
        }
    for scope, one in worst.items():
        where = "" if n_scopes == 1 else f" (history {scope})"
        if not one.error <= tolerance:
            advice = "train the model again, or ask whoever made it"
            if one.total < 1 and manifest is None:
                advice = (
                    "sums below one are what vocabulary filters make, such as KenLM's; scores can be used, "
                    "but <unk> lacks what the dropped words had (stategram prune --vocab-file gives it that)"
                )
            raise BadDataError(
                f"{name}: the probabilities after {' '.join(one.history) or 'no words'!r}{where} sum to "
                f"{one.total:.8g}, which is off by {one.error:.2g}; at most {tolerance:g} was expected: "
                f"{advice}"
            )
        click.echo(f"OK  sums{where}: after {_HISTORIES} histories, the worst is off by {one.error:.1e}")


def _verify_counts(name: str, console: Console) -> None:
    console.steps = 1
    with console.step(f"reading {name}") as progress:
        counted = open_counts(name)
        try:
            check_counts(counted, progress)
        except BadDataError as error:
            raise BadDataError(f"{name}: {error}") from error
    click.echo(f"OK  files: {plural(len(counted.manifest.files), 'checksum')}")
    click.echo(f"OK  counts: {counted!r}, n-grams of up to {plural(counted.order, 'word')}")


def _as_json(found: ModelInfo) -> dict[str, Any]:
    sizes = {"bytes": found.bytes, "bytes_per_ngram": found.bytes_per_ngram}
    return {**asdict(found), **sizes, "parts": [_as_json(part) for part in found.parts]}


def _text(found: ModelInfo, indent: str = "") -> str:
    facts = [("Kind", found.kind), *((label, _shown(fact)) for label, fact in found.facts.items())]
    facts += [(f"  of length {length}", f"{count:,}") for length, count in enumerate(found.ngrams, 1)]
    if found.bytes is not None:
        each = found.bytes_per_ngram
        facts.append(("Size", size(found.bytes) + ("" if each is None else f", {each:.2f} bytes per n-gram")))
    facts += _made(found.made or {})
    known = tuple((escaped(label), escaped(fact)) for label, fact in facts)
    shown = description_text(Description(known), indent)
    parts = [
        f"\n{indent}Part {number}\n{_text(part, f'{indent}  ')}" for number, part in enumerate(found.parts, 1)
    ]
    return "\n".join([f"{indent}{escaped(found.title)}", shown, *parts])


def _made(made: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield how a model was made, as far as the manifest says it."""
    if "stategram_version" in made:
        version = f"stategram {made['stategram_version']}, format {made.get('format_version', 'unknown')}"
        yield "Made by", version
    inputs = made.get("inputs")
    for entry in inputs if isinstance(inputs, list) else ():
        if isinstance(entry, dict):
            known = entry.get("bytes")
            large = f" ({size(known)})" if isinstance(known, int) and 0 <= known < 2**63 else ""
            yield f"{entry.get('use', 'other')} input".capitalize(), f"{entry.get('name')}{large}"
    for title, entries in (("Figures", made.get("figures")), ("Options", made.get("options"))):
        shown = {
            str(key): _shown(value)
            for key, value in (entries.items() if isinstance(entries, dict) else ())
            if value is not None and value is not False and key not in _SHOWN_ELSEWHERE
        }
        for number, (key, value) in enumerate(shown.items()):
            yield (title if number == 0 else ""), f"{key.replace('_', ' ')} {value}"
    if "seed" in made:
        yield "Seed", _shown(made["seed"])


def _shown(value: object) -> str:
    """Return a value of any kind, on one line and not too long."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    else:
        text = f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "..."
