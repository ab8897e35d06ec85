"""What the parts of a mixture are worth, as a table."""

from __future__ import annotations

from stategram.models import ClusteredModel, Mixture, Model


def mixture_table(mixture: Mixture) -> str:
    """Return what each part is worth on the held-out text."""
    found = mixture.training_info
    lines = [f"      {'alone':>11}  {'weight':>6}  {'without it':>11}   on the held-out text"]
    for part, model in zip(found["parts"], mixture.parts, strict=True):
        name = part["name"] + (" (ended early)" if ended_early(model) else "")
        without = "-"
        if len(mixture.parts) > 1:
            lost = part["without"]
            without = "infinite" if lost is None else f"{lost - found['perplexity']:+,.2f}"
        lines.append(
            f"      {show_perplexity(part['perplexity'])}  {part['weight']:6.3f}  {without:>11}   {name}"
        )
    lines.append(f"      {show_perplexity(found['perplexity'])}  {1:6.3f}  {'':>11}   {mixture!r}")
    chosen = found["buckets"]["kind"]
    tried = [one["perplexity"] for one in found["candidates"] if one["kind"] == chosen]
    if tried:
        both = any(isinstance(part, ClusteredModel) for part in mixture.parts)
        lines.append(
            f"      {show_perplexity(min(tried))}  cross-validated: weights of one half, on the other half"
            + (" (slightly optimistic: state weights were fitted on both halves)" if both else "")
        )
    for tuning in (part.training_info.get("tuning") for part in mixture.parts):
        if tuning is not None:
            figures = ", ".join(f"{name} {one:,.2f}" for name, one in tuning["while_tuning"].items())
            lines.append(
                "      weights were tuned on this text, so the figure above is optimistic; a single tree, "
                f"scoring each word before learning from it: {figures}"
            )
    return "\n".join(lines)


def ended_early(model: Model) -> bool:
    """Whether a clustering of the model was interrupted."""
    return bool(model.metadata.get("ended_early"))


def show_perplexity(perplexity: float | None) -> str:
    """Return a perplexity as the tables show it, None being an infinite one."""
    return f"{perplexity:11,.2f}" if perplexity is not None else f"{'infinite':>11}"
