"""A page to look inside a model: its classes, states and probabilities."""

from stategram.explore.app.explored import ExploredText
from stategram.explore.app.explorer import Explorer
from stategram.explore.app.page import saved_page
from stategram.explore.app.server import check_explore_extra, listen, serve

__all__ = ["ExploredText", "Explorer", "check_explore_extra", "listen", "saved_page", "serve"]
