"""A page to look inside a model: its classes, states and probabilities, and a JSON API for programs."""

from stategram.explorer.explored import ExploredText
from stategram.explorer.explorer import Explorer
from stategram.explorer.page import saved_page
from stategram.explorer.server import check_explore_extra, listen, serve

__all__ = ["ExploredText", "Explorer", "check_explore_extra", "listen", "saved_page", "serve"]
