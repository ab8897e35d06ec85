"""The web page to look inside a model: answers as JSON, the page that shows them, the server of both."""

from stategram.explore.app.explored import ExploredModel
from stategram.explore.app.explorer import Explorer
from stategram.explore.app.page import saved_page
from stategram.explore.app.server import listen, serve

__all__ = ["ExploredModel", "Explorer", "listen", "saved_page", "serve"]
