"""`stategram info`: what a model is, how large its files are and how it was made."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import click

from stategram.cli.checks import check_inputs
from stategram.display import Description, description_text
from stategram.formats import ModelInfo, model_info
from stategram.wording import escaped, size

# What is among the facts already, or at the parts.
_SHOWN_ELSEWHERE = frozenset(("ngrams", "parameters", "part", "seed", "model"))
_LONGEST_VALUE = 200


@click.command(
    epilog="""\b
Examples:
  stategram info model
  stategram info model --json
  stategram info other.arpa.gz
  stategram info classes.tsv""",
)
@click.argument("model_name", metavar="MODEL")
@click.option("--json", "as_json", is_flag=True, help="Everything as JSON.")
def info(model_name: str, as_json: bool) -> None:
    """Print what MODEL is, a model file, an ARPA file, a class file or counts: sizes, how it was made.

    Of a model file only the manifest, the vocabulary and the arrays that describe the rest are read, of an
    ARPA file the header: nothing is verified (stategram verify does that). MB are millions of bytes.
    """
    check_inputs([model_name])
    found = model_info(model_name)
    if as_json:
        # ASCII only: names may hold what a terminal would obey.
        click.echo(json.dumps(_as_json(found)))
        return
    click.echo(_text(found))


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
