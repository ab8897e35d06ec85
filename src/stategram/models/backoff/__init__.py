"""The best back-off n-gram model in place of any model."""

from stategram.models.backoff.approximation import approximate

__all__ = ["approximate"]
