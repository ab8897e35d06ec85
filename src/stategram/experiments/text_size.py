"""How many clusters suit a text of a given size, for recipes and reproductions."""

from stategram.clustering import by_size

__all__ = ["by_size"]
