"""Word tree models: words are leaves of binary trees, and many contexts give evidence at each node."""

from stategram.models.word_tree.chains import Cache, Chain
from stategram.models.word_tree.model import WordTreeModel
from stategram.models.word_tree.tree import WordTree, build_word_tree
from stategram.models.word_tree.values import Value, ValueSources

__all__ = [
    "Cache",
    "Chain",
    "Value",
    "ValueSources",
    "WordTree",
    "WordTreeModel",
    "build_word_tree",
]
