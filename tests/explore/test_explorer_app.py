"""The web application of the explorer: its answers, its limits, and whom it answers."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from command_line import run
from explorers import HOSTILE, bigram, explorer
from stategram.explore.app.requests import MAX_BODY, MAX_CHARACTERS

pytest.importorskip("starlette", reason="starlette serves the explorer")
pytest.importorskip("uvicorn", reason="uvicorn serves the explorer")
pytest.importorskip("httpx2", reason="httpx2 asks the explorer")
pytest.importorskip("vl_convert", reason="vl-convert has the charts")

if TYPE_CHECKING:
    from starlette.testclient import TestClient

ADDRESS = "http://127.0.0.1:8421"


@pytest.fixture(scope="module")
def client() -> TestClient:
    from starlette.testclient import TestClient

    from stategram.explore.app.server import create_app

    return TestClient(create_app(explorer()), base_url=ADDRESS, raise_server_exceptions=False)


def test_the_api_answers_as_the_library_does(client: TestClient) -> None:
    request = {"text": f"the old king\n{HOSTILE}"}
    answer = client.post("/api/score", json=request)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == explorer().answer("score", request)


def test_several_users_at_once_get_the_answers_of_one(client: TestClient) -> None:
    requests: list[tuple[str, dict[str, Any]]] = [
        ("score", {"text": "the old king sees anna\n" * 20}),
        ("ranks", {"text": "the dog finds a small stone\n" * 5}),
        ("ladder", {"history": "the old", "watched": ["king"]}),
        ("predict", {"history": "a small", "prefix": "s"}),
        ("tree", {"source": "2"}),
        ("compare", {"text": HOSTILE}),
    ]
    expected = [client.post(f"/api/{name}", json=request).content for name, request in requests]

    def ask(number: int) -> bytes:
        name, request = requests[number % len(requests)]
        return bytes(client.post(f"/api/{name}", json=request).content)

    with ThreadPoolExecutor(8) as users:
        for number, answer in enumerate(users.map(ask, range(96))):
            assert answer == expected[number % len(requests)]


def test_only_this_machine_and_this_page_are_answered(client: TestClient) -> None:
    for host in ("example.com", "127.0.0.1.example.com:8421", "example.com:8421", ""):
        for path in ("/", "/static/explorer.js"):
            assert client.get(path, headers={"Host": host}).status_code == 403
        assert client.post("/api/info", json={}, headers={"Host": host}).status_code == 403
    for origin in ("http://example.com", "null", "http://127.0.0.1:9999", "https://127.0.0.1:8421"):
        answer = client.post("/api/info", json={}, headers={"Origin": origin})
        assert answer.status_code == 403, origin
        assert "access-control-allow-origin" not in answer.headers
    assert client.post("/api/info", json={}, headers={"Origin": ADDRESS}).status_code == 200
    assert client.post("/api/info", json={}, headers={"Host": "localhost:8421"}).status_code == 200
    # What a form of another page could send.
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post("/api/info", content="{}", headers={"Content-Type": kind})
        assert answer.status_code == 415


def test_pages_allow_no_inline_script(client: TestClient) -> None:
    answer = client.get("/")
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "default-src 'none'" in policy
    assert "<script>" not in answer.text
    assert " onclick" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "explorer.start();" in client.get("/static/explorer.js").text
    assert "vegaEmbed" in client.get("/static/vega.js").text


def test_bad_requests_get_a_reason_and_no_traceback(client: TestClient) -> None:
    cases: list[tuple[str, bytes, int, str]] = [
        ("/api/score", b"", 400, "truncated"),
        ("/api/score", b"{", 400, "truncated"),
        ("/api/score", b'{"text": 3}', 400, "Expected `str`"),
        ("/api/score", b'{"text": "\xff"}', 400, "utf-8"),
        ("/api/score", b'{"text": "a\\ud800 b c"}', 400, "surrogate"),
        ("/api/score", b'{"text": "a\\u0000b"}', 400, "NUL"),
        ("/api/score", b'{"text": "a", "model": 2}', 400, "model"),
        ("/api/score", b'{"text": "' + b"a" * (MAX_CHARACTERS + 1) + b'"}', 400, "length"),
        ("/api/score", b'"' + b"a" * MAX_BODY + b'"', 413, "larger"),
        ("/api/predict", b'{"top": 0}', 400, "top"),
        ("/api/class", b'{"source": "2", "number": 1000}', 400, "no class 1000"),
        ("/api/nothing", b"{}", 404, "no answer nothing"),
        ("/static/secrets", b"", 405, "nothing"),
    ]
    for path, body, status, reason in cases:
        answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
        assert (answer.status_code, reason in answer.json()["error"]) == (status, True), answer.text
        assert "Traceback" not in answer.text
    for path in ("/static/../app.py", "/static/core.js", "/etc/passwd", "/api/score"):
        assert client.get(path).status_code in (404, 405)


def test_what_takes_too_long_is_given_up() -> None:
    from starlette.testclient import TestClient

    from stategram.explore.app.server import create_app

    slow = TestClient(create_app(explorer(), seconds=1e-6), base_url=ADDRESS, raise_server_exceptions=False)
    answer = slow.post("/api/ranks", json={"text": "the old king\n" * 100})
    assert answer.status_code == 503
    assert "ask for less" in answer.json()["error"]


def test_a_saved_page_is_one_file_that_hostile_words_do_not_break(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    bigram().save(tmp_path / "model")
    (tmp_path / "text").write_text(f"the old king\n{HOSTILE}\n", encoding="utf-8")
    page = tmp_path / "page.html"
    done = run("explore", tmp_path / "model", "--text", tmp_path / "text", "--save", page, "-q", capfd=capfd)
    assert done[0] == 0
    text = page.read_text(encoding="utf-8")
    saved = text.partition('id="saved">')[2].partition("</script>")[0]
    answers = json.loads(saved)
    assert answers["info?{}"]["saved"] is True
    score = next(value for key, value in answers.items() if key.startswith("score?"))
    assert "<script>alert(1)</script>" in score["sentences"][1]["words"]
    assert "<script>alert" not in text


def _saved(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8").partition('id="saved">')[2].partition("</script>")[0]
    answers: dict[str, Any] = json.loads(text)
    return answers


@pytest.mark.parametrize("text", ["file", "-"])
def test_each_model_reads_the_raw_text_once(
    text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = ["The list has 3 items, and 4 keys. It has 12 names.", "A list has 7 keys."]
    Path("raw").write_text("\n".join(lines * 20) + "\n")
    sample = "\ufeffThe list has 12 items, and 7 keys. A list has 3 names.\r\n\nA LIST has 1 keys.\n"
    Path("file").write_bytes(sample.encode())
    tokenized = ("--lowercase", "--digits", "N", "--tokenize", "prose")
    assert run("train", "raw", "-o", "fm", *tokenized, "-q", capfd=capfd)[0] == 0
    assert run("train", "raw", "-o", "plain", "-q", capfd=capfd)[0] == 0
    assert run("train", "raw", "-o", "lower", "--lowercase", "-q", capfd=capfd)[0] == 0

    def explore(*arguments: str) -> tuple[dict[str, Any], list[dict[str, Any]], dict[str, Any]]:
        """Return all answers, the scores by each model, and the comparison."""
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sample.encode())))
        done = run("explore", *arguments, "--text", text, "--save", "page", "-q", capfd=capfd)
        assert (done[0], done[2]) == (0, "")
        answers = _saved(Path("page"))
        scores = [value for key, value in answers.items() if key.startswith("score?")]
        (compared,) = (value for key, value in answers.items() if key.startswith("compare?"))
        return answers, scores, compared

    answers, scores, compared = explore("fm", "plain")
    assert answers["info?{}"]["text"]["sample"] == sample[1:].strip().replace("\r\n", "\n")
    for model, score in zip(("fm", "plain"), scores, strict=True):
        figures = json.loads(run("eval", model, "file", "--json", "-q", capfd=capfd)[1])
        assert score["perplexity"] == pytest.approx(figures["perplexity"], abs=0.01)
    words, plain = (score["sentences"][0]["words"] for score in scores)
    assert words[3:6] == ["12", "items", ","]
    assert plain[3:5] == ["12", "items,"]
    for place, word in enumerate(words):
        request = {"history": " ".join(words[:place]), "model": 0, "word": word}
        explained = answers["explain?" + json.dumps(request, separators=(",", ":"))]
        assert explained["surprisal"] == scores[0]["sentences"][0]["surprisal"][place]
        assert not explained["unknown"]
    assert "split differently" in compared["error"]

    _, scores, compared = explore("lower", "plain")
    assert compared["perplexity"] == [one["perplexity"] for one in scores]
    assert [one["unknown"] for one in scores] == [1, 2]
    _, scores, _ = explore("lower", "plain", "--lowercase")
    assert scores[1]["sentences"][0]["words"][0] == "The"
    assert scores[1]["sentences"][0]["unknown"][0]


def test_the_command_refuses_what_makes_no_sense(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bigram().save(tmp_path / "model")
    empty = tmp_path / "empty"
    empty.write_text("")
    cases: list[tuple[list[object], int, str]] = [
        (["nothing"], 1, "no such model"),
        ([tmp_path / "model"] * 3, 2, "at most two"),
        ([tmp_path / "model", "--save", tmp_path / "p.html", "--port", "1"], 2, "--port"),
        ([tmp_path / "model", "--text", empty, "--save", tmp_path / "p.html"], 3, "empty"),
        ([tmp_path / "model", "--save", tmp_path / "model"], 2, "model"),
    ]
    for arguments, status, reason in cases:
        code, out, err = run("explore", *arguments, capfd=capfd)
        assert (code, reason in err, out) == (status, True, ""), err
    assert not (tmp_path / "p.html").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_it_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    bigram().save(tmp_path / "model")
    command = [
        sys.executable,
        "-m",
        "stategram",
        "explore",
        str(tmp_path / "model"),
        "--no-browser",
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        request = urllib.request.Request(
            f"{address}api/predict", b'{"history": "the"}', {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert len(json.load(answer)["words"]) == 10
        port = address.rstrip("/").rpartition(":")[2]
        taken = subprocess.run([*command[:-1], port], capture_output=True, text=True, check=False)
        assert (taken.returncode, f"port {port}" in taken.stderr) == (1, True)
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        _, messages = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in messages
