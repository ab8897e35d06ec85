"""A small web server of a folder, on loopback, that can send parts of files."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

# Of files that are refused, by their names.
_STATUS = {"secret": 403, "gone": 410, "busy": 503}


class _Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sends_ranges: bool
    sends_etags: bool
    requests: list[tuple[str, str, str | None]]

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
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        if self.sends_ranges:
            self.send_header("Accept-Ranges", "bytes")
        if self.sends_etags and status in (200, 206):
            self.send_header("ETag", f'"{hashlib.sha256(file.read_bytes()).hexdigest()}"')
        if status == 206:
            self.send_header("Content-Range", f"bytes {begin}-{end}/{total}")
        self.end_headers()
        if with_body:
            try:
                self.wfile.write(data)
            except ConnectionError:
                self.requests.append(("left", self.path, None))
                self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def serve(
    folder: Path, *, sends_ranges: bool = True, sends_etags: bool = False
) -> Iterator[tuple[str, list[tuple[str, str, str | None]]]]:
    """Serve a folder; yield its URL and the list of requests: method, path, range.

    One whose answer was not waited for is there again, as the method `left`.
    """
    requests: list[tuple[str, str, str | None]] = []
    settings = {"sends_ranges": sends_ranges, "sends_etags": sends_etags, "requests": requests}
    handler = type("Handler", (_Handler,), settings)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder)))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
