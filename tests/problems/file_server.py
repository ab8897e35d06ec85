"""A small web server of a folder, on loopback, that can send parts of files."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Of files that are refused, by their names.
_STATUS = {"secret": 403, "gone": 410, "busy": 503}


Lie = Callable[[str, str, int, dict[str, str], bytes], tuple[int, dict[str, str], bytes]]
"""What becomes of an answer, given method, path, status, headers and body."""


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sends_ranges: bool
    sends_etags: bool
    requests: list[tuple[str, str, str | None]]
    lie: Lie | None

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def _answer(self, *, with_body: bool) -> None:
        asked = self.headers.get("Range")
        self.requests.append((self.command, self.path, asked))
        file = Path(self.translate_path(self.path))
        status = _STATUS.get(file.name) or (200 if file.is_file() else 404)
        data = file.read_bytes() if status == 200 else b""
        total = len(data)
        if status == 200 and self.sends_ranges and asked:
            found = re.fullmatch(r"bytes=(\d+)-(\d*)", asked)
            assert found
            begin, end = int(found[1]), min(int(found[2] or total - 1), total - 1)
            data, status = data[begin : end + 1], 206
        headers = {"Content-Length": str(len(data))}
        if self.sends_ranges:
            headers["Accept-Ranges"] = "bytes"
        if self.sends_etags and status in (200, 206):
            headers["ETag"] = f'"{hashlib.sha256(file.read_bytes()).hexdigest()}"'
        if status == 206:
            headers["Content-Range"] = f"bytes {begin}-{end}/{total}"
        if (lie := type(self).lie) is not None:
            status, headers, data = lie(self.command, self.path, status, headers, data)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            try:
                self.wfile.write(data)
                if len(data) < int(headers.get("Content-Length", 0)):
                    self.close_connection = True
            except ConnectionError:
                self.requests.append(("left", self.path, None))
                self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of clients that go away."""


@contextmanager
def serve(
    folder: Path, *, sends_ranges: bool = True, sends_etags: bool = False, lie: Lie | None = None
) -> Iterator[tuple[str, list[tuple[str, str, str | None]]]]:
    """Serve a folder; yield its URL and the list of requests: method, path, range.

    One whose answer was not waited for is there again, as the method `left`.
    """
    requests: list[tuple[str, str, str | None]] = []
    settings = {"sends_ranges": sends_ranges, "sends_etags": sends_etags, "requests": requests, "lie": lie}
    handler = type("Handler", (_Handler,), settings)
    server = _Server(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
