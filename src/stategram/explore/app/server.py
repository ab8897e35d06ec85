"""The web application: pages, files and the API, served to this machine only until it is interrupted."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from stategram.errors import StategramError
from stategram.explore.app import page
from stategram.explore.app.explorer import ENDPOINTS, Explorer
from stategram.explore.app.requests import MAX_BODY, Answer

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

HOST, PORT = "127.0.0.1", 8421
_log = logging.getLogger(__name__)
_HOSTS = ("127.0.0.1", "localhost", "[::1]")
_SECONDS = 30.0
# So many requests are computed at a time; others wait.
_AT_A_TIME = 8
_HEADERS = {
    "Content-Security-Policy": page.POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


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

    threading.Thread(target=announce, daemon=True).start()
    with suppress(KeyboardInterrupt):  # the way to stop it
        server.run(sockets=[listening])


class _RefusedError(Exception):
    """A request that is refused: the status of the answer, and why."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


def create_app(explorer: Explorer, *, seconds: float = _SECONDS) -> Starlette:
    """Return the application; `seconds` is the time that an answer may take."""
    from starlette.applications import Starlette
    from starlette.requests import ClientDisconnect
    from starlette.responses import Response
    from starlette.routing import Route

    html, script, style = page.served_page(explorer), page.script(), page.style()
    at_a_time = asyncio.Semaphore(_AT_A_TIME)

    def text(content: str | bytes, kind: str, status: int = 200) -> Response:
        return Response(content, status, _HEADERS, kind)

    def json(answer: Answer, status: int = 200) -> Response:
        return text(msgspec.json.encode(answer), "application/json", status)

    async def index(request: Request) -> Response:
        _check_host(request)
        return text(html, "text/html; charset=utf-8")

    async def static(request: Request) -> Response:
        _check_host(request)
        name = request.path_params["name"]
        if name == "explorer.js":
            return text(script, "text/javascript; charset=utf-8")
        if name == "explorer.css":
            return text(style, "text/css; charset=utf-8")
        raise _RefusedError(404, f"no file {name}")

    async def api(request: Request) -> Response:
        _check_host(request)
        _check_origin(request)
        name = request.path_params["name"]
        if name != "info" and name not in ENDPOINTS:
            raise _RefusedError(404, f"no answer {name}; there are info, {', '.join(ENDPOINTS)}")
        body = await _body(request)
        async with at_a_time:
            answer = await asyncio.wait_for(asyncio.to_thread(explorer.reply, name, body), seconds)
        return json(answer)

    async def failed(_request: Request, error: Exception) -> Response:
        if isinstance(error, _RefusedError):
            return json({"error": str(error)}, error.status)
        if isinstance(error, StategramError | msgspec.DecodeError | UnicodeError):
            return json({"error": str(error)}, 400)
        if isinstance(error, TimeoutError):
            return json({"error": f"no answer within {seconds:g} seconds; ask for less"}, 503)
        _log.error("an answer failed: %r", error)
        return json({"error": "the answer failed; the message is where stategram explore runs"}, 500)

    async def gone(_request: Request, _error: Exception) -> Response:
        return text("", "text/plain", 400)  # nobody reads it

    async def not_found(_request: Request, error: Exception) -> Response:
        status = getattr(error, "status_code", 404)
        return json({"error": "there is nothing at this address, or not for this method"}, status)

    routes = [
        Route("/", index),
        Route("/static/{name}", static),
        Route("/api/{name}", api, methods=["POST"]),
    ]
    kinds = (_RefusedError, StategramError, msgspec.DecodeError, UnicodeError, TimeoutError, Exception)
    handlers = dict.fromkeys(kinds, failed) | {404: not_found, 405: not_found, ClientDisconnect: gone}
    return Starlette(routes=routes, exception_handlers=handlers)


def _check_host(request: Request) -> None:
    """Refuse a name of another machine: a page of the web could have it lead here."""
    host = request.headers.get("host", "")
    name, _, port = host.rpartition(":")
    if (name if port.isdigit() else host) not in _HOSTS:
        raise _RefusedError(403, "the explorer answers only as 127.0.0.1 or localhost")


def _check_origin(request: Request) -> None:
    """Refuse what another page of the browser sends, and what a form could send."""
    origin = request.headers.get("origin")
    if origin is not None and origin != f"http://{request.headers.get('host', '')}":
        raise _RefusedError(403, "the request comes from another page")
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise _RefusedError(415, "send JSON, with Content-Type: application/json")


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY:
            raise _RefusedError(413, f"the request is larger than {MAX_BODY:,} bytes; send less at a time")
    return bytes(body)
