"""Files by their URLs, such as ``s3://bucket/text.zst``, through fsspec; loaded only when there is one."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import IO, TYPE_CHECKING, Any, cast

from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage.files import URL, shown_url

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

# A URL within a message, without the punctuation after it.
_URL_IN_TEXT = re.compile(rf"""{URL.pattern}\S+?(?=['"),;.]*(?:\s|$))""")
# What is fetched beyond what was asked for: the next blocks of a text.
_READ_AHEAD = 4 << 20
_SECONDS_WITHOUT_DATA = 60.0


def url_file_system(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path there; an error says what is to be installed."""
    try:
        import fsspec
    except ImportError as error:
        raise StategramError(f'{shown_url(url)}: URLs need fsspec: pip install "stategram[scale]"') from error
    options: dict[str, Any] = {}
    protocol = url.partition("://")[0].lower()
    try:
        if protocol in ("http", "https"):
            import aiohttp

            # By default a request may take five minutes, however much arrives.
            limits = aiohttp.ClientTimeout(
                total=None, sock_connect=_SECONDS_WITHOUT_DATA, sock_read=_SECONDS_WITHOUT_DATA
            )
            options["client_kwargs"] = {"timeout": limits, "trace_configs": [_watch_answers()]}
        found: tuple[Any, str] = fsspec.url_to_fs(url, **options)
    except ImportError as error:
        package = _PACKAGES.get(protocol)
        advice = f"pip install {package}" if package else str(error)
        raise StategramError(f"{shown_url(url)}: {protocol}:// needs a package: {advice}") from error
    except ValueError as error:
        raise UsageError(
            f"{shown_url(url)}: {protocol}:// is not known; use a file, s3://, gs://, az:// or https://"
        ) from error
    return found


@cache
def _watch_answers() -> Any:
    """Return what checks each answer of a web server, as fsspec does not: size, range, and kind.

    The content of another file, or of another part of it, would be counted as that of the text.
    """
    import aiohttp

    sizes: dict[str, str] = {}  # as HEAD has them

    async def check(_session: Any, _context: Any, found: aiohttp.TraceRequestEndParams) -> None:
        answer, length = found.response, found.response.headers.get("Content-Length", "")
        url = str((answer.history or (answer,))[0].url)
        if answer.history and answer.content_type == "text/html" and answer.status < _FIRST_ERROR:
            raise BadDataError(
                f"{shown_url(url)}: the server leads to a web page, {shown_url(str(answer.url))}; log in "
                "there and download the file, or use another URL"
            )
        if found.method == "HEAD" and length and answer.status < _FIRST_ERROR:
            sizes[url] = length
        is_plain = (
            found.method == "GET" and answer.status == _WHOLE and "Content-Encoding" not in answer.headers
        )
        expected = sizes.get(url, "")
        if is_plain and length.isdigit() and expected.isdigit() and int(length) < int(expected):
            raise BadDataError(
                f"{shown_url(url)}: the server sent {length} of {expected} bytes; run the command again"
            )
        asked = _RANGE.fullmatch(found.headers.get("Range", ""))
        if asked is None or answer.status != _PARTIAL:
            return
        sent = _CONTENT_RANGE.fullmatch(answer.headers.get("Content-Range", ""))
        begin, end, total = (sent[1], sent[2], sent[3]) if sent else ("", "", "")
        is_short = total.isdigit() and int(end or 0) + 1 == int(total)
        is_right = (
            begin == asked[1] and (end == asked[2] or is_short) and total in ("*", sizes.get(url, total))
        )
        if not is_right or (length and int(length) != int(end) - int(begin) + 1):
            raise BadDataError(
                f"{shown_url(url)}: asked for the bytes {asked[1]} to {asked[2]} of {sizes.get(url, '?')}, "
                f"but got {answer.headers.get('Content-Range', 'others')}; download the file first"
            )

    watch = aiohttp.TraceConfig()
    watch.on_request_end.append(check)
    return watch


_WHOLE, _PARTIAL, _FIRST_ERROR = 200, 206, 400
_RANGE = re.compile(r"bytes=(\d+)-(\d*)")
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")
_PACKAGES = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "http": "aiohttp",
    "https": "aiohttp",
}


@contextmanager
def url_errors(action: str, url: str) -> Iterator[None]:
    """Turn what goes wrong with a URL into a `StategramError`: each store raises errors of its own."""
    try:
        yield
    except (StategramError, MemoryError):
        raise
    except Exception as error:
        reason = _reason(error)
        if isinstance(reason, StategramError):
            raise reason from error
        shown = shown_url(url)
        if is_missing(error):
            raise StategramError(f"{shown}: no such file; check the URL") from error
        if isinstance(reason, PermissionError):
            advice = "permission denied; check the URL, and your credentials for it"
        else:
            message = (str(reason) or type(reason).__name__).replace(url, shown).splitlines()[0]
            message = _URL_IN_TEXT.sub(lambda found: shown_url(found[0]), message)
            advice = f"{message}; check the URL and the connection, and run the command again"
        raise StategramError(f"cannot {action} {shown}: {advice}") from error


def is_missing(error: Exception) -> bool:
    """Return whether an error of fsspec means that there is no such file."""
    return isinstance(_reason(error), FileNotFoundError)


def _reason(error: Exception) -> BaseException:
    """Return what is behind an error: of web servers, fsspec calls nearly everything a missing file."""
    cause = error.__cause__
    is_of_web = type(cause).__module__.startswith("aiohttp") or isinstance(cause, TimeoutError | BadDataError)
    if isinstance(error, FileNotFoundError) and is_of_web and getattr(cause, "status", None) not in _MISSING:
        return cause or error
    return error


# Not found, and gone.
_MISSING = (404, 410)


def url_size(url: str) -> int | None:
    """Return the size of a file; None if its server does not say it, or if it is a folder."""
    with url_errors("read", url):
        system, path = url_file_system(url)
        info = system.info(path)
        size = info["size"] if info["type"] == "file" else None
        return None if size is None else int(size)


def url_stamp(url: str) -> str | None:
    """Return a token that changes when the remote file changes; None if its server shows no change."""
    with url_errors("read", url):
        system, path = url_file_system(url)
        system.invalidate_cache(path)
        info = system.info(path)
        found = {key: str(info[key]) for key in sorted(info) if _CHANGING.fullmatch(key) and info[key]}
        return f"{url} {info.get('size')} {found}" if found else None


# What file systems call it that a file has changed: ETag, Last-Modified, LastModified, mtime, md5Hash, ...
_CHANGING = re.compile(
    "etag|(last[-_]?)?modified|updated|created|mtime|(content[-_]?)?md5(hash)?|crc32c|digest|generation|"
    "version[-_]?id",
    re.IGNORECASE,
)


@contextmanager
def open_url(url: str, begin: int = 0) -> Iterator[IO[bytes]]:
    """Open a file to be read from byte `begin` on, piece by piece."""
    with url_errors("read", url):
        system, path = url_file_system(url)
        # From the beginning, every web server can send a file in one stream; not every one sends parts.
        is_stream = begin == 0 and url.lower().startswith(("http://", "https://"))
        file = system.open(path, "rb", block_size=0 if is_stream else _READ_AHEAD, cache_type="readahead")
        # s3fs opens a folder as an empty file.
        if (getattr(file, "details", None) or {}).get("type") == "directory":
            raise StategramError(f"cannot read {shown_url(url)}: it is a folder; name the files in it")
    try:
        with url_errors("read", url):
            if begin:
                file.seek(begin)
        yield cast(IO[bytes], _UrlFile(url, file))
    finally:
        with contextlib.suppress(Exception):  # nothing was written that could be lost
            file.close()


class _UrlFile(io.RawIOBase):
    """A file of fsspec whose errors are ours."""

    def __init__(self, url: str, file: Any) -> None:
        self._url = url
        self._opened = file

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        with url_errors("read", self._url):
            return bytes(self._opened.read(size))

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)
