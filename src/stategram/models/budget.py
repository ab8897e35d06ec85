"""How large a model may be."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec
from msgspec import Meta

from stategram.errors import UsageError
from stategram.storage import check_fields


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """How large a model may be: at most one limit, and whether its values are rounded.

    Parameters
    ----------
    prune, max_ngrams, max_size
        The limit; none by default. N-grams without which the perplexity rises by less than a fraction, such
        as 1e-8, are dropped (Stolcke 1998); or there are at most so many n-grams, words included; or the
        file has at most so many bytes.
    compact
        Round the values of n-grams; see `compact_model`.
    reserved
        Bytes of ``max_size`` for what is written to the file besides the model, such as names of inputs.

    Examples
    --------
    >>> from stategram import Budget, NgramModel, prune_model
    >>> model = NgramModel.train(["the cat sat", "the dog sat", "a cat ran", "the dog ran"], order=3)
    >>> prune_model(model, Budget(max_ngrams=14))
    NgramModel(order 3, 9 + 5 + 0 n-grams, kneser-ney)

    """

    prune: (
        Annotated[
            float,
            Meta(
                gt=0,
                description="drop n-grams without which the perplexity rises by less than this fraction, "
                "such as 1e-8",
                extra={"metavar": "FRACTION"},
            ),
        ]
        | None
    ) = None
    max_ngrams: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="maximum number of n-grams, words included; the least useful are dropped first",
            ),
        ]
        | None
    ) = None
    max_size: (
        Annotated[
            int,
            Meta(
                ge=1,
                description="maximum size in bytes, such as 50M (K, M and G are powers of 1024); "
                "the least useful per byte is dropped first",
                extra={"metavar": "SIZE"},
            ),
        ]
        | None
    ) = None
    compact: Annotated[
        bool,
        Meta(
            description="quantize probabilities to 8 to 12 bits: under 5 bytes per n-gram instead of 8; "
            "perplexity changes by less than 0.1%, sums by less than 2%"
        ),
    ] = False
    reserved: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        check_fields(self)
        limits = [one for one in (self.prune, self.max_ngrams, self.max_size) if one is not None]
        if len(limits) > 1:
            raise UsageError("prune, max_ngrams and max_size all limit the size of a model; give one of them")
        if not all(limit < math.inf for limit in limits):
            raise UsageError(f"prune is {self.prune}; expected a fraction above 0, such as 1e-8")

    @property
    def has_limit(self) -> bool:
        """Whether there is a limit."""
        return (self.prune, self.max_ngrams, self.max_size) != (None, None, None)


NO_LIMIT = Budget()
"""No limit, nothing rounded."""
