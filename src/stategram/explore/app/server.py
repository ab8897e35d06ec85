"""Serves the explorer on this machine until it is interrupted."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec

from stategram.errors import StategramError
from stategram.explore.app.explorer import Explorer
from stategram.explore.app.page import vega_script
from stategram.explore.app.routes import create_app

HOST, PORT = "127.0.0.1", 8421
_LIBRARIES = ("altair", "jinja2", "starlette", "uvicorn", "vl_convert")


def check_explore_extra() -> None:
    """Raise an error now, before any long work, if a library of the explorer is not installed."""
    missing = [name for name in _LIBRARIES if find_spec(name) is None]
    if missing:
        raise StategramError(
            f'the explorer needs {", ".join(missing)}, not installed: pip install "stategram[explore]"'
        )


def listen(port: int | None) -> socket.socket:
    """Return a socket that listens on a port: any that is free for 0; 8421, or else a free one, for None."""
    try:
        return _listen(PORT if port is None else port)
    except OSError as error:
        if port is None:
            return _listen(0)
        raise StategramError(
            f"port {port} cannot be used ({error.strerror}); choose another, or leave out --port"
        ) from error


def _listen(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOST, port))
        found.listen(128)
    except OSError:
        found.close()
        raise
    return found


def serve(
    explorer: Explorer,
    listening: socket.socket,
    *,
    open_browser: bool,
    started: Callable[[str], None],
) -> None:
    """Serve the explorer until Ctrl-C; `started` is called with its address once it answers."""
    import uvicorn

    address = f"http://{HOST}:{listening.getsockname()[1]}/"
    config = uvicorn.Config(
        create_app(explorer),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=30,
        limit_concurrency=200,
        lifespan="off",
    )
    server = uvicorn.Server(config)

    def announce() -> None:
        while not server.started and not server.should_exit:
            threading.Event().wait(0.02)
        if server.started:
            started(address)
            if open_browser:
                webbrowser.open(address)
            vega_script()  # which takes a second

    threading.Thread(target=announce, daemon=True).start()
    with suppress(KeyboardInterrupt):  # the way to stop it
        server.run(sockets=[listening])
