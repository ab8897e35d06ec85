"""What a model and its parts are worth on the held-out text, as a table."""

from __future__ import annotations

from collections.abc import Iterator

from stategram.models import Model


def heldout_table(model: Model, perplexity: float | None) -> str:
    """Return the perplexity of a model on the held-out text, and what each part of a mixture is worth."""
    return "\n".join(f"      {line}" for line in _lines(model, perplexity))


def _lines(model: Model, perplexity: float | None) -> Iterator[str]:
    if model.parts:
        yield from _mixture_lines(model, perplexity)
    else:
        yield f"{show_perplexity(perplexity)}   {_name(model)}, on the held-out text"
    for tuning in (part.training_info.get("tuning") for part in model.parts or (model,)):
        if tuning is not None:
            figures = ", ".join(f"{name} {one:,.2f}" for name, one in tuning["while_tuning"].items())
            yield (
                "weights were tuned on this text, so the figure above is optimistic; a single tree, "
                f"scoring each word before learning from it: {figures}"
            )


def _mixture_lines(mixture: Model, perplexity: float | None) -> Iterator[str]:
    found = mixture.training_info
    yield f"{'alone':>11}  {'weight':>6}  {'without it':>11}   on the held-out text"
    for part, model in zip(found["parts"], mixture.parts, strict=True):
        lost = part["without"]
        without = "infinite" if lost is None else f"{lost - found['perplexity']:+,.2f}"
        yield f"{show_perplexity(part['perplexity'])}  {part['weight']:6.3f}  {without:>11}   {_name(model)}"
    yield f"{show_perplexity(perplexity)}  {1:6.3f}  {'':>11}   {mixture!r}"
    chosen = found["buckets"]["kind"]
    tried = [one["perplexity"] for one in found["candidates"] if one["kind"] == chosen]
    if tried:
        both = any("state" in part.feature_names for part in mixture.parts)
        yield (
            f"{show_perplexity(min(tried))}  cross-validated: weights of one half, on the other half"
            + (" (slightly optimistic: state weights were fitted on both halves)" if both else "")
        )


def _name(model: Model) -> str:
    return repr(model) + (" (ended early)" if ended_early(model) else "")


def ended_early(model: Model) -> bool:
    """Whether a clustering of the model was interrupted."""
    return bool(model.metadata.get("ended_early"))


def show_perplexity(perplexity: float | None) -> str:
    """Return a perplexity as the tables show it, None being an infinite one."""
    return f"{perplexity:11,.2f}" if perplexity is not None else f"{'infinite':>11}"
