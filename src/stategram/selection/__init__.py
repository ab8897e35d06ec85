"""Text like that of a domain, chosen from a large pool by cross-entropy difference or perplexity."""

from stategram.selection.criterion import CRITERIA, By, cross_entropy_difference
from stategram.selection.select import Selection, select

__all__ = ["CRITERIA", "By", "Selection", "cross_entropy_difference", "select"]
