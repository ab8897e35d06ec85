"""The web application of the explorer: its answers, its limits, and whom it answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from explorers import HOSTILE, explorer
from stategram.explore.app.requests import MAX_BODY, MAX_CHARACTERS

pytest.importorskip("starlette", reason="starlette serves the explorer")
pytest.importorskip("uvicorn", reason="uvicorn serves the explorer")
pytest.importorskip("httpx2", reason="httpx2 asks the explorer")

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
        ("overview", {}),
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


def test_a_client_that_goes_away_while_it_sends_is_no_error() -> None:
    import asyncio

    from stategram.explore.app.server import create_app

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/score",
        "query_string": b"",
        "headers": [(b"host", b"127.0.0.1:8421"), (b"content-type", b"application/json")],
    }
    parts: list[dict[str, Any]] = [
        {"type": "http.request", "body": b'{"te', "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return parts.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(create_app(explorer())(scope, receive, send))
    assert not parts
    assert sent[0]["status"] == 400


def test_many_unknown_words_are_noted(client: TestClient) -> None:
    shouted = client.post("/api/score", json={"text": "THE OLD KING SEES THE DOG\n" * 4}).json()
    assert "are unknown to the model; in lower case all are known: lowercase the text" in shouted["note"]
    assert client.post("/api/score", json={"text": "the old king"}).json()["note"] is None
