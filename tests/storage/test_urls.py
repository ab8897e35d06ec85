"""Texts by their URLs, ranges of bytes, and blobs in a folder or a store."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import pickle
import socket
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pytest

from command_line import run
from file_server import Lie, serve
from stategram import count_text
from stategram.counts.blobs import OVERHEAD, Blobs
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.storage import expand_urls, input_files, shown_url, url_stamp
from stategram.storage.urls import url_errors
from stategram.text import compression, file_size, file_sizes, read_blocks, read_corpus, total_size
from stategram.text.files import BLOCK_SIZE

fsspec = pytest.importorskip("fsspec", reason="fsspec opens URLs")
pytest.importorskip("aiohttp", reason="aiohttp opens web pages")

TEXT = b"the cat sat\non the mat\n"


@pytest.fixture
def memory() -> Iterator[str]:
    yield "memory://stategram-tests"
    if fsspec.filesystem("memory").exists("/stategram-tests"):
        fsspec.filesystem("memory").rm("/stategram-tests", recursive=True)


def read(name: str, begin: int = 0, end: int | None = None) -> bytes:
    return b"".join(block for block, _ in read_blocks(name, begin=begin, end=end))


def test_a_range_has_exactly_its_bytes(tmp_path: Path) -> None:
    data = os.urandom(BLOCK_SIZE + 1000)
    file = tmp_path / "text"
    file.write_bytes(b"text" + data)
    data = b"text" + data
    size = len(data)
    assert file_size(str(file)) == size
    with serve(tmp_path) as (url, _):
        for name in (str(file), file.as_uri(), f"{url}/text"):
            for begin, end in ((0, None), (0, size), (0, 3), (5, None), (7, 7), (9, 8), (size, size)):
                assert read(name, begin, end) == data[begin:end]
            assert read(name, 11, BLOCK_SIZE + 100) == data[11 : BLOCK_SIZE + 100]
            taken = [taken for _, taken in read_blocks(name, begin=1, end=BLOCK_SIZE + 11)]
            assert taken == [BLOCK_SIZE, BLOCK_SIZE + 10]
            with pytest.raises(BadDataError, match=rf"text: it ends at byte {size:,}, before {size + 1:,}"):
                read(name, 5, size + 1)


def test_a_range_of_a_compressed_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "text.gz"
    file.write_bytes(gzip.compress(TEXT))
    assert compression(str(file)) == "gzip"
    assert read(str(file)) == TEXT
    with pytest.raises(StategramError, match=r"text\.gz: it is compressed \(gzip\); read it whole"):
        read(str(file), 0, 20)
    (tmp_path / "plain").write_bytes(TEXT)
    assert compression(str(tmp_path / "plain")) is None


def test_a_corpus_from_urls(tmp_path: Path, memory: str) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(TEXT))
    fsspec.filesystem("memory").pipe_file("/stategram-tests/c", TEXT)
    with serve(tmp_path) as (url, _):
        names = [f"{url}/a.txt", f"{url}/b.txt.gz", f"{memory}/c", (tmp_path / "a.txt").as_uri()]
        assert total_size(names) == 3 * len(TEXT) + (tmp_path / "b.txt.gz").stat().st_size
        corpus = read_corpus(names)
    assert corpus.n_sentences == 8
    assert corpus.ids.tolist() == read_corpus([tmp_path / "a.txt"] * 4).ids.tolist()


def test_a_url_is_read_piece_by_piece(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"a line of text\n" * 2_000_000)
    with serve(tmp_path) as (url, requests):
        for begin in (0, 1000):
            with contextlib.closing(cast("Any", read_blocks(f"{url}/text", begin=begin))) as blocks:
                next(blocks)
        while ("left", "/text", None) not in requests:
            time.sleep(0.01)
        (part,) = (found for _, _, found in requests if found)
        assert part.startswith("bytes=1000-")
        assert int(part.rpartition("-")[2]) < 8_000_000


def test_a_server_without_ranges(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(TEXT * 500_000)
    with serve(tmp_path, sends_ranges=False) as (url, _):
        assert read(f"{url}/text") == TEXT * 500_000
        assert read(f"{url}/text", 0, 10) == TEXT[:10]
        with pytest.raises(StategramError, match=f"cannot read {url}/text: .* range requests"):
            read(f"{url}/text", 5, 10)


def test_errors_name_the_url(tmp_path: Path, memory: str) -> None:
    (tmp_path / "secret").write_bytes(TEXT)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(TEXT)[:-9])
    with serve(tmp_path) as (url, _):
        with pytest.raises(StategramError, match=f"{url}/none: no such file; check the URL"):
            read(f"{url}/none")
        with pytest.raises(StategramError, match=f"cannot read {url}/secret: .*403"):
            file_size(f"{url}/secret")
        with pytest.raises(BadDataError, match=f"{url}/cut.gz: the gzip data is truncated"):
            read(f"{url}/cut.gz")
    with pytest.raises(StategramError, match="memory://none/a: no such file"):
        file_sizes(["memory://none/a"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}/a"
    with pytest.raises(StategramError, match=f"cannot read {closed}: .*; check the URL and the connection"):
        read(closed)
    with pytest.raises(UsageError, match="foo://a: foo:// is not known; use a file, s3://"):
        read("foo://a")
    with pytest.raises(StategramError) as found:
        read(closed.replace("//", "//me:secret@"))
    assert "secret" not in str(found.value)
    fsspec.filesystem("memory").pipe_file("/stategram-tests/folder/a", TEXT)
    assert file_size(f"{memory}/folder") is None
    with pytest.raises(StategramError, match=r"(cannot read )?memory://stategram-tests/folder: "):
        read(f"{memory}/folder")


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("https://me:secret@example.org/a", "https://example.org/a"),
        ("https://me:se@cr@et@example.org/a@b", "https://example.org/a@b"),
        ("https://example.org/a?signature=secret/@secret", "https://example.org/a"),
        ("https://me:secr?et@example.org/a?secret", "https://example.org/a"),
        ("s3://bucket/a@b", "s3://bucket/a@b"),
        ("file:///a@b?c", "file:///a@b?c"),
        ("a@b?c", "a@b?c"),
        ("-", "-"),
    ],
)
def test_secrets_are_not_shown(name: str, shown: str) -> None:
    assert shown_url(name) == shown
    assert [found.name for found in input_files([("training", name)])] == [shown]


def test_secrets_are_not_kept_with_a_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT)
    with serve(tmp_path) as (url, _):
        name = f"{url}/a.txt?signature=secret".replace("//", "//me:secret@")
        assert read_corpus(name).stats.files == (f"{url}/a.txt",)
        for missing in ("none", "busy"):
            with pytest.raises(StategramError, match=f"{url}/{missing}: ") as error:
                read(name.replace("a.txt", missing))
            assert "signature" not in str(error.value)


def test_secrets_are_taken_out_of_messages() -> None:
    url = "https://me:it's a secret@example.org/a"
    text = f"no answer from {url}, ('https://h/b?signature=secret'), see https://h/c?secret."
    with pytest.raises(StategramError) as error, url_errors("read", url):
        raise ValueError(text)
    assert "no answer from https://example.org/a, ('https://h/b'), see https://h/c.; check" in str(
        error.value
    )


def test_a_changed_file_has_another_stamp(tmp_path: Path, memory: str) -> None:
    file = tmp_path / "a"
    system = fsspec.filesystem("memory")
    found = []
    with serve(tmp_path, sends_etags=True) as (tagged, _), serve(tmp_path) as (plain, _):
        for data in (b"one", b"two"):
            file.write_bytes(data)
            os.utime(file, (0, data[0]))
            system.pipe_file("/stategram-tests/a", data)
            names = (f"{tagged}/a", file.as_uri(), f"{memory}/a")
            assert [url_stamp(name) for name in names] == [url_stamp(name) for name in names]
            found.append([url_stamp(name) for name in names])
            assert url_stamp(f"{plain}/a") is None
    for first, second in zip(*found, strict=True):
        assert first
        assert second
        assert first != second


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "s3fs", None)
    with pytest.raises(StategramError, match="s3://bucket/a: s3:// needs a package: pip install s3fs"):
        read("s3://bucket/a")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(StategramError, match=r's3://b/a: URLs need fsspec: pip install "stategram\[scale\]"'):
        read("s3://b/a")


def test_patterns(memory: str) -> None:
    system = fsspec.filesystem("memory")
    for name in "bac":
        system.pipe_file(f"/stategram-tests/{name}.txt", TEXT)
    expected = [f"memory:///stategram-tests/{name}.txt" for name in "abc"]
    assert expand_urls([f"{memory}/*.txt", "x*"]) == [*expected, "x*"]
    with pytest.raises(StategramError, match=r"memory://stategram-tests/\*\.gz: no file matches"):
        expand_urls([f"{memory}/*.gz"])


def test_commands_read_urls(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_bytes(TEXT * 20)
    with serve(tmp_path) as (url, _):
        code, there, _ = run("classes", f"{url}/a.txt", "-k", "3", capfd=capfd)
        assert code == 0
        assert there == run("classes", tmp_path / "a.txt", "-k", "3", capfd=capfd)[1]
        code, _, messages = run("classes", f"{url}/b.txt", "-k", "3", capfd=capfd)
        assert code == 1
        assert f"{url}/b.txt: no such file; check the URL" in messages


def check_blobs(place: str | Path) -> None:
    blobs = Blobs(place)
    assert blobs.sizes() == {}
    with blobs.hold("a"):
        assert all(name.endswith(".running") for name in blobs.sizes())
    assert blobs.sizes() == {}
    assert not blobs.has("a.gz")
    blobs.write("b", b"")
    bounds, sha256 = blobs.write("a.gz", memoryview(b"0123456789"), b"", b"word")
    assert bounds == [0, 10 + OVERHEAD, 10 + 2 * OVERHEAD, 14 + 3 * OVERHEAD]
    blobs.write("b", bytearray(b"new"))
    assert list(blobs.sizes().items()) == [("a.gz", bounds[-1]), ("b", 3 + OVERHEAD)]
    assert blobs.has("a.gz")
    assert [blobs.read("a.gz", *ends) for ends in pairwise(bounds)] == [b"0123456789", b"", b"word"]
    assert bytes(blobs.read("a.gz", bounds[-2])) == b"word"
    assert bytes(blobs.read("b")) == b"new"
    assert blobs.kept("a.gz") == (bounds, sha256)
    assert blobs.kept("c") is None
    assert Blobs(place, anew=True).kept("a.gz") is None
    with pytest.raises(
        BadDataError, match=r"a\.gz: damaged, its checksum does not match; remove it, and run"
    ):
        blobs.read("a.gz", 3, bounds[1])
    with pytest.raises(BadDataError, match=r"a\.gz: damaged, its checksum does not match; remove it"):
        blobs.read("a.gz", 3, 140)
    blobs.remove("b")
    blobs.remove("b")
    assert pickle.loads(pickle.dumps(blobs)).sizes() == blobs.sizes() == {"a.gz": bounds[-1]}
    for ask in (blobs.get, blobs.read):
        with pytest.raises(StategramError, match=r"b( is missing; run the command|: no such file)"):
            ask("b")
    for name in ("", "a/b", "../a", ".hidden", "a b"):
        with pytest.raises(UsageError, match="cannot be the name of a blob"):
            blobs.has(name)


def test_blobs_in_a_folder(tmp_path: Path) -> None:
    check_blobs(tmp_path / "new" / "folder")


@pytest.mark.parametrize("scheme", ["file", "local"])
def test_blobs_in_a_folder_by_its_url(tmp_path: Path, scheme: str) -> None:
    check_blobs(f"{scheme}://{(tmp_path / 'new').as_posix()}")
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["a.gz"]


def test_blobs_in_a_store(memory: str) -> None:
    check_blobs(memory)


@pytest.mark.parametrize("sends_ranges", [True, False])
def test_blobs_of_a_web_server(tmp_path: Path, sends_ranges: bool) -> None:
    Blobs(tmp_path).write("a", bytes(range(100)))
    with serve(tmp_path, sends_ranges=sends_ranges) as (url, _):
        blobs = Blobs(url)
        assert blobs.has("a")
        assert not blobs.has("b")
        assert not blobs.has("gone")
        for name, status in (("busy", 503), ("secret", 403)):
            with pytest.raises(StategramError, match=f"cannot read {url}/{name}: {status}"):
                blobs.has(name)
        assert not Blobs(f"{url}/a?signature=x").has("b")  # whose path would be that of a
        assert blobs.read("a") == bytes(range(100))
        if sends_ranges:
            assert blobs.get("a", 18, 28) == bytes(range(10, 20))
        with pytest.raises(StategramError, match=f"cannot write {url}/b: "):
            blobs.write("b", b"x")


@pytest.mark.parametrize("scheme", ["", "file://", "local://"])
def test_a_full_disk_leaves_no_blob(tmp_path: Path, scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    blobs = Blobs(f"{scheme}{tmp_path}")
    with pytest.raises(StategramError, match="No space left on device; free some space"):
        blobs.write("a", b"x")
    assert blobs.sizes() == {}
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with (
        pytest.raises(StategramError, match=r"cannot write to .*file: File exists"),
        Blobs(tmp_path / "file").hold("a"),
    ):
        pass
    with pytest.raises(StategramError, match=r"cannot list .*file"):
        Blobs(tmp_path / "file").sizes()
    with pytest.raises(UsageError, match="the folder is empty"):
        Blobs("")


def _short_head(method: str, path: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    return status, headers | ({"Content-Length": "3000"} if method == "HEAD" else {}), body


def _other_range(method: str, path: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    return status, headers | ({"Content-Range": "bytes 0-99/4600"} if status == 206 else {}), body


def _no_range(method: str, path: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    return status, {name: value for name, value in headers.items() if name != "Content-Range"}, body


def _short_part(method: str, path: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    return (
        (status, headers | {"Content-Length": "10"}, body[:10]) if status == 206 else (status, headers, body)
    )


def _login(method: str, path: str, status: int, headers: dict[str, str], body: bytes) -> Any:
    if path != "/login":
        return 302, {"Location": "/login", "Content-Length": "0"}, b""
    page = b"<html>Please log in</html>\n"
    return 200, {"Content-Type": "text/html", "Content-Length": str(len(page))}, page


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        (_short_head, r"asked for the bytes .* of 3000, but got bytes .*/4600; download"),
        (_other_range, "but got bytes 0-99/4600"),
        (_no_range, "but got others"),
        (_short_part, "asked for the bytes"),
        (_login, "the server leads to a web page, http.*/login; log in there"),
    ],
)
def test_a_server_that_sends_something_else(tmp_path: Path, lie: Lie, message: str) -> None:
    (tmp_path / "text.txt").write_bytes(TEXT * 200)
    with serve(tmp_path, lie=lie) as (url, _), pytest.raises(BadDataError, match=message):
        count_text(f"{url}/text.txt", tmp_path / "counts", 2, shard_size=1 << 10)
    if lie is _login:
        with serve(tmp_path, lie=lie) as (url, _), pytest.raises(BadDataError, match=message):
            read_corpus(f"{url}/text.txt")
