"""Requests to the explorer, damaged, cut off, or from a client that goes away."""

from __future__ import annotations

import json
import logging
import socket
import threading
import time
from pathlib import Path
from typing import Any

import uvicorn

from explorers import explorer
from fuzz.campaign import BrokenPromiseError, Campaign
from fuzz.mutation import damage_bytes, damage_json
from stategram.explore.app import listen
from stategram.explore.app.server import create_app

_REQUESTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("score", {"text": "the old king"}),
    ("predict", {"history": "a small", "prefix": "s"}),
    ("ladder", {"history": "the old", "watched": ["king"]}),
    ("compare", {"text": "the king"}),
    ("tree", {"source": "2"}),
    ("info", {}),
)


class Requests(Campaign):
    """Each try sends a request of a kind, then a good one."""

    name = "requests"
    promise = "the explorer answers or refuses each request, and prints no traceback"

    def __init__(self, place: Path, seed: int) -> None:
        super().__init__(place, seed)
        logging.disable(logging.NOTSET)
        self.errors: list[str] = []
        handler = logging.Handler(logging.ERROR)
        handler.emit = lambda record: self.errors.append(handler.format(record))  # type: ignore[method-assign]
        for name in ("uvicorn", "uvicorn.error", "asyncio", "stategram"):
            logging.getLogger(name).handlers = [handler]
            logging.getLogger(name).propagate = False
        listening = listen(0)
        self.port = listening.getsockname()[1]
        config = uvicorn.Config(create_app(explorer()), log_config=None, access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
        while not server.started:
            time.sleep(0.05)
        self.good = self._ask(self._request("score", b'{"text": "the old king"}'))

    def attempt(self, number: int) -> None:
        """Send a request."""
        chance = self.random(number)
        name, value = chance.choice(_REQUESTS)
        what = chance.choice(("value", "body", "bytes", "cut"))
        body = json.dumps(damage_json(value, chance) if what == "value" else value, default=str).encode()
        request = self._request(name, damage_bytes(body, chance) if what == "body" else body)
        if what == "bytes":
            request = damage_bytes(request, chance)
        if what == "cut":
            request = request[: chance.randrange(len(request))]
        self._ask(request, leaves=what == "cut" or chance.random() < 0.2)
        if self._ask(self._request("score", b'{"text": "the old king"}')) != self.good:
            raise BrokenPromiseError("a good request is answered in another way")
        if self.errors:
            raise BrokenPromiseError(self.errors.pop())

    def _request(self, name: str, body: bytes) -> bytes:
        head = f"POST /api/{name} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nContent-Type: application/json"
        return f"{head}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body

    def _ask(self, request: bytes, *, leaves: bool = False) -> bytes:
        """Return the answer without its date; nothing if it is not waited for."""
        with socket.create_connection(("127.0.0.1", self.port), 20) as client:
            client.sendall(request)
            client.settimeout(3)
            data = b""
            try:
                while not leaves and (part := client.recv(1 << 16)):
                    data += part
            except TimeoutError:  # as the rest of a request is waited for
                return b""
        if b" 500 " in data[:20]:
            raise BrokenPromiseError(f"{data[:300]!r}")
        return data.partition(b"\r\n\r\n")[2]
