"""What the words of this field mean: a sentence each."""

from __future__ import annotations

from stategram.report.markup import Html
from stategram.report.page import facts

_TERMS = (
    (
        "w-1, t-1, g-1",
        "A context: the word before the one to predict, its part-of-speech tag, its learned word class; "
        "w-2 is the word before that.",
    ),
    ("State", "Contexts after which much the same words come; they share one distribution."),
    (
        "Category",
        "Words that come after the same states: a model predicts the category after a state, then the word "
        "in it.",
    ),
    ("{a|b|…}", "A word class in a context, shown by its most frequent words."),
)


def terms_html() -> Html:
    """Explain contexts, states and categories."""
    return facts(_TERMS)
