"""Text like that of a domain, chosen from a large pool by cross-entropy difference or perplexity."""

from stategram.selection.pool import POOL_FORMATS
from stategram.selection.select import CRITERIA, By, Selection, select

__all__ = ["CRITERIA", "POOL_FORMATS", "By", "Selection", "select"]
