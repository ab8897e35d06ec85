"""What a context is: its definition, the tags of words, the tree of all contexts of a text."""

from stategram.contexts.brill import tags_from_brill
from stategram.contexts.definition import MAX_VALUES, ContextDefinition, ContextValue
from stategram.contexts.tags import (
    TagCounts,
    TagMap,
    check_tags,
    file_of_tags,
    parse_tags,
    tags_from_conllu,
    tags_from_file,
)
from stategram.contexts.tree import ContextTree, ValueMap, build_tree, context_values

__all__ = [
    "MAX_VALUES",
    "ContextDefinition",
    "ContextTree",
    "ContextValue",
    "TagCounts",
    "TagMap",
    "ValueMap",
    "build_tree",
    "check_tags",
    "context_values",
    "file_of_tags",
    "parse_tags",
    "tags_from_brill",
    "tags_from_conllu",
    "tags_from_file",
]
