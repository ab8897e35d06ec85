"""What the paper says of its own results, as far as it is known here for certain.

Joerg P. Ueberla and Ian R. Gransden (1996), "Clustered Language Models with Context-Equivalent States",
ICSLP 96; arXiv cmp-lg/9606002. The gains, and the verdict on back-off models, are those of its abstract;
beside them only the time of a sweep and of the whole tree are quoted. Nothing is guessed.
"""

from __future__ import annotations

from stategram.experiments.reproduction.results import PaperRow

__all__ = ["CITATION", "MIXTURE_GAIN", "PAPER_ROWS", "TREE_GAIN", "paper_row"]

CITATION = (
    "Joerg P. Ueberla and Ian R. Gransden (1996), Clustered Language Models with Context-Equivalent States, "
    "ICSLP 96, arXiv cmp-lg/9606002"
)
TREE_GAIN = 0.12
MIXTURE_GAIN = 0.09

_UP_TO_NINE = PaperRow(note="interpolation with the back-off trigram gains up to 9%")
PAPER_ROWS = {
    "w-2,w-1 tree": PaperRow(
        change=-TREE_GAIN, note="up to 12% lower; about 5 hours a sweep, about 3 days in all"
    ),
    "w-1 2000,2000 + back-off 3": _UP_TO_NINE,
    "w-2,w-1 tree + back-off 3": _UP_TO_NINE,
    "t-4,t-3,t-2,t-1 tree + back-off 3": _UP_TO_NINE,
    "g-2,g-1 tree + back-off 3": _UP_TO_NINE,
}


def paper_row(key: str) -> PaperRow | None:
    """Give what the paper says of a row, None if nothing is known."""
    return PAPER_ROWS.get(key)
