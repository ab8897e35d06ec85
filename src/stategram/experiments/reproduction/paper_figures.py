"""What the paper says of its own results, as far as it is known here.

Joerg P. Ueberla and Ian R. Gransden (1996), "Clustered Language Models with Context-Equivalent States",
ICSLP 96; arXiv cmp-lg/9606002. Its abstract gives the largest gain of the tree (up to 12%), the largest of
interpolation (up to 9%), and that no clustered model competes with a back-off trigram. What is said of tags
and classes, and the times, are from the text of the paper as it is known second-hand. The figures of its
tables are not known here, and none is guessed.
"""

from __future__ import annotations

from stategram.experiments.reproduction.results import PaperRow

CITATION = (
    "Joerg P. Ueberla and Ian R. Gransden (1996), Clustered Language Models with Context-Equivalent States, "
    "ICSLP 96, arXiv cmp-lg/9606002"
)
TREE_GAIN = 0.12
MIXTURE_GAIN = 0.09

_UP_TO_NINE = PaperRow(
    change=-MIXTURE_GAIN, up_to=True, note="the best interpolation with the back-off trigram is 9% lower"
)
PAPER_ROWS = {
    "w-2,w-1 tree": PaperRow(
        change=-TREE_GAIN,
        up_to=True,
        note="the best tree is 12% lower than flat clusters; about 5 hours a sweep, about 3 days in all",
    ),
    "w-1 2000,2000 + back-off 3": _UP_TO_NINE,
    "w-2,w-1 tree + back-off 3": _UP_TO_NINE,
    "t-4,t-3,t-2,t-1 tree + back-off 3": _UP_TO_NINE,
    "g-2,g-1 tree + back-off 3": _UP_TO_NINE,
}


def paper_row(key: str) -> PaperRow | None:
    """Give what the paper says of a row, None if nothing is known."""
    return PAPER_ROWS.get(key)
