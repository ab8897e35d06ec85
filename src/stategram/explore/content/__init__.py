"""Sets of classes and states of models, and the representative ones: what pages and the explorer show."""

from stategram.explore.content.class_sets import (
    ClassSet,
    Data,
    WordExample,
    class_set,
    class_sources,
    greatest,
    word_fractions,
)
from stategram.explore.content.examples import (
    CategoryExample,
    ClusterGallery,
    gallery,
    representative_members,
    representative_states,
)
from stategram.explore.content.state_sets import (
    ContextExample,
    StateExample,
    StateSet,
    state_set,
    state_sources,
)

__all__ = [
    "CategoryExample",
    "ClassSet",
    "ClusterGallery",
    "ContextExample",
    "Data",
    "StateExample",
    "StateSet",
    "WordExample",
    "class_set",
    "class_sources",
    "gallery",
    "greatest",
    "representative_members",
    "representative_states",
    "state_set",
    "state_sources",
    "word_fractions",
]
