"""The best back-off n-gram model in place of any model."""

from stategram.models.approximation.closest_model import approximate

__all__ = ["approximate"]
