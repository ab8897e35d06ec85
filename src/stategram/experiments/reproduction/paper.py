"""The paper's own results, and what it leaves open.

Joerg P. Ueberla and Ian R. Gransden (1996), "Clustered Language Models with Context-Equivalent States",
ICSLP 96; arXiv cmp-lg/9606002. Wall Street Journal, about 38 million words, a vocabulary of 20,000 words.
"""

from __future__ import annotations

from stategram.clustering import PRESETS
from stategram.experiments.reproduction.results import PaperFigures

VOCABULARY_SIZE = 20_000
_HOUR = 3600.0

PAPER = {
    # Table 1. On a DEC Alpha workstation, elapsed; the other models took between 10 hours and 3 days.
    "w-1 500,500": PaperFigures(perplexity=242),
    "w-1 2000,2000": PaperFigures(perplexity=190, seconds=10 * _HOUR, sweep_seconds=5 * _HOUR),
    "w-2,w-1 flat": PaperFigures(perplexity=180),
    "w-2,w-1 tree": PaperFigures(perplexity=158, seconds=72 * _HOUR),
    "back-off 2": PaperFigures(perplexity=172),
    "back-off 3": PaperFigures(perplexity=112),
    # Table 2: 61 tags of Brill's tagger, one per word.
    "t-1": PaperFigures(perplexity=443),
    "t-2,t-1 flat": PaperFigures(perplexity=343),
    "t-2,t-1 tree": PaperFigures(perplexity=342),
    "t-3,t-2,t-1 flat": PaperFigures(perplexity=304.6),
    "t-3,t-2,t-1 tree": PaperFigures(perplexity=301),
    "t-4,t-3,t-2,t-1 flat": PaperFigures(perplexity=305.0),
    "t-4,t-3,t-2,t-1 tree": PaperFigures(perplexity=292),
    # Table 3: 1,000 learned classes.
    "g-2,g-1 flat": PaperFigures(perplexity=184),
    "g-2,g-1 tree": PaperFigures(perplexity=170),
    # Table 4: interpolated linearly with the back-off trigram.
    "w-1 2000,2000 + back-off 3": PaperFigures(perplexity=107),
    "w-2,w-1 tree + back-off 3": PaperFigures(perplexity=102),
    "t-4,t-3,t-2,t-1 tree + back-off 3": PaperFigures(perplexity=104),
    "g-2,g-1 tree + back-off 3": PaperFigures(perplexity=104),
}
"""The perplexities of all four tables, by the keys of rows."""

_CRITERIA = {"ml": "maximum likelihood", "leave-one-out": "leaving-one-out"}
_CRITERION = PRESETS["paper"].criterion
OTHER_CRITERION = next(name for name in _CRITERIA if name != _CRITERION)
"""The criterion that tables 1 to 4 are not made with here; table 5 shows it."""
OTHER_CRITERION_TITLE = f"{_CRITERIA[OTHER_CRITERION]} criterion"

CHOICES = (
    "What the paper does not say was chosen here. The initial clustering gives the most frequent words, and "
    "the most frequent contexts, a cluster each, and the first sweep places the others; without a tree, "
    "contexts begin in the state of their nearest value. Every sweep considers all clusters; the heuristic "
    "version of Ueberla (1995) that the paper uses is not described in it. "
    f"The criterion of tables 1 to 4 is {_CRITERIA[_CRITERION]}; table 5 shows "
    f"{_CRITERIA[OTHER_CRITERION]} beside it. Probabilities of categories after states are smoothed by "
    "absolute discounting and interpolated over the levels of the tree, with weights learned on the held-out "
    "text. As in the paper, elements with fewer than 6 events do not move, and a level ends when an "
    "iteration improves the criterion by less than 1%."
)
"""What the paper leaves open, and what was chosen."""
