"""Tasks on workers: real processes, on loopback."""

from __future__ import annotations

import contextlib
import gzip
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import cluster_tasks as tasks
import stategram
from command_line import run
from counted_texts import files_of, make_story
from dask_processes import Processes, configuration, make_certificates
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.resources import Executor, Resources, use_resources
from stategram.workers import cluster, executor, open_cluster
from stategram.workers.executor import TaskSettings, run_task

dask = pytest.importorskip("dask", reason="Dask runs the tasks")
comm = pytest.importorskip("distributed.comm", reason="Dask runs the tasks")
pytestmark = [
    # Of Dask, when processes are killed; what goes wrong shows in the results.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::RuntimeWarning", "ignore::UserWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TEXT = b"the cat sat\non the mat\n"


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_results_come_in_the_order_of_the_items(local: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(local.map(tasks.double, [])) == []
    with use_resources(executor=local):
        assert list(Resources.current().map(tasks.double, range(30))) == list(range(0, 60, 2))
    monkeypatch.setattr(executor, "_MAX_OUTSTANDING", 3)
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(20):
            taken.append(number)
            yield number

    results = local.map(tasks.double, items())
    assert [next(results), next(results)] == [0, 2]
    assert len(taken) < 10
    assert list(results) == list(range(4, 40, 2))


def test_nobody_else_sees_local_workers(local: Any) -> None:
    psutil = pytest.importorskip("psutil")  # of Dask
    us = psutil.Process()
    ports = [
        found.laddr
        for process in (us, *us.children(recursive=True))
        for found in process.net_connections("tcp")
        if found.status == psutil.CONN_LISTEN
    ]
    assert len(ports) >= 4  # of the scheduler, of each worker, and web servers
    assert {port.ip for port in ports} == {"127.0.0.1"}
    answers = set()
    for port in ports:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port.port}/", timeout=10)
            answers.add(port.port)
    assert answers == set()


def test_workers_share_the_resources_of_the_driver(local: Executor, tmp_path: Path) -> None:
    with use_resources(memory="1G", tmp=tmp_path):
        found = list(local.map(tasks.see, range(12)))
    assert len({one.process for one in found} - {os.getpid()}) == 2
    assert {one[1:] for one in found} == {(2, 2**29, tmp_path, False)}


def test_notes_come_once(local: Executor, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        assert list(local.map(tasks.warn, range(5))) == list(range(5))
    assert [(one.name, one.getMessage()) for one in caplog.records] == [("stategram.tests", "a note")]


def test_an_error_of_a_task_is_raised_at_once(local: Executor, tmp_path: Path) -> None:
    go = tmp_path / "go"
    with pytest.raises(BadDataError, match=r"^text\.txt:3: bad data$"):
        list(local.map(tasks.fail_or_wait, [(number, str(go)) for number in range(9)]))
    go.touch()  # for the tasks before it, which were not waited for
    with pytest.raises(ZeroDivisionError):
        list(local.map(tasks.divide, [0]))


def test_damaged_and_missing_files_are_named_and_not_tried_again(local: Executor, tmp_path: Path) -> None:
    cut, log = tmp_path / "cut.gz", tmp_path / "log"
    cut.write_bytes(gzip.compress(TEXT * 100)[:-9])
    with pytest.raises(BadDataError, match=r"cut\.gz: the gzip data is truncated"):
        list(local.map(tasks.append_and_read, [(str(log), str(cut))]))
    assert log.read_text() == "ran\n"
    with pytest.raises(StategramError, match=r"^cannot read .*none.txt: No such file.*; check the name$"):
        list(local.map(tasks.count_words, [str(tmp_path / "none.txt")]))


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_task_that_kills_its_workers_is_named(local: Any) -> None:
    with pytest.raises(StategramError, match="2: 2 workers were lost while they were at work on it"):
        list(local.map(tasks.kill_worker, [1, 2]))
    local._client.wait_for_workers(2, timeout=600)  # for the tests after this one


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_the_tasks_of_a_worker_that_is_stopped_go_to_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(executor, "_SECONDS_BETWEEN_CHECKS", 0.2)
    monkeypatch.setattr(executor, "_SECONDS_TO_NOTE", 0.5)
    monkeypatch.setattr(executor, "_SECONDS_OF_SILENCE", 5.0)
    go, found = tmp_path / "go", set[int]()

    def stop_one() -> None:
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
        stopped = int(min(tmp_path.glob("*.pid")).stem)
        os.kill(stopped, signal.SIGSTOP)
        go.touch()
        found.add(stopped)

    with open_cluster("local:2") as connected:
        thread = threading.Thread(target=stop_one)
        thread.start()
        answers = list(connected.map(tasks.wait_for, [(str(tmp_path), str(go))] * 6))
        thread.join()
        assert len(answers) == 6
        assert len(set(answers)) == 1
        assert not set(answers) & found
        assert list(connected.map(tasks.double, range(9))) == list(range(0, 18, 2))
    wait_until(lambda: not is_alive(*found))
    assert re.search(r"waiting for \('.*'\), on worker tls://127\.0\.0\.1:\d+", caplog.text)
    assert re.search(r"worker tls://127\.0\.0\.1:\d+ does not answer: .* goes to another one", caplog.text)


class _Broken:
    """A client and a future of a connection that has broken, and its scheduler."""

    status = "lost"
    key = ""

    def __init__(self, error: Exception, where: str) -> None:
        self.error = error
        self.where = where
        self.scheduler = self

    def submit(self, *_: object, **__: object) -> _Broken:
        return self._raise("submit")

    def add_done_callback(self, function: Callable[[Any], object]) -> None:
        if self.where == "result":
            function(self)

    def result(self, timeout: float) -> _Broken:
        return self._raise("result")

    def sync(self, *_: object, **__: object) -> _Broken:
        return self._raise("sync")

    def _raise(self, where: str) -> _Broken:
        if where == self.where:
            raise self.error
        return self

    def __getattr__(self, name: str) -> Any:
        return self


@pytest.mark.parametrize("where", ["submit", "result", "sync"])
@pytest.mark.parametrize("kind", [ValueError, OSError, RuntimeError, AssertionError, comm.CommClosedError])
def test_whatever_a_lost_connection_raises_is_one_error(
    kind: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tornado, asyncio and ssl have errors of their own for a scheduler that is gone."""
    monkeypatch.setattr(executor, "_SECONDS_BETWEEN_CHECKS", 0.01)
    broken = executor.ClusterExecutor(_Broken(kind("7, of tornado"), where), "tls://a:1", 1, None)
    message = (
        r"^the connection to the cluster tls://a:1 was lost \(7, of tornado\); .* rerun the same command"
    )
    with pytest.raises(StategramError, match=message):
        list(broken.map(tasks.double, [1]))


def test_a_result_on_a_worker_that_does_not_answer_is_made_again() -> None:
    class Client(_Broken):
        status = "finished"
        results: ClassVar[list[Any]] = [TimeoutError(), TimeoutError(), executor.Outcome(4, None, ())]
        timeouts: ClassVar[list[float]] = []

        def submit(self, *_: object, **__: object) -> _Broken:
            return Client(ValueError(), "result")

        def result(self, timeout: float) -> Any:
            self.timeouts.append(timeout)
            result = self.results.pop(0)
            if isinstance(result, Exception):
                raise result
            return result

    connected = executor.ClusterExecutor(Client(ValueError(), ""), "tls://a:1", 1, None)
    assert list(connected.map(tasks.double, [2])) == [4]
    assert Client.timeouts == [5.0, 10.0, 15.0]


def test_a_client_that_cannot_connect_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    before = set(threading.enumerate())

    async def fail(*_: object, **__: object) -> None:
        raise ValueError("of tornado")

    monkeypatch.setattr(distributed.Client, "_ensure_connected", fail)
    with pytest.raises(StategramError, match=r"cannot connect to tcp://127.0.0.1:9: of tornado; check"):
        with_cluster("tcp://127.0.0.1:9")
    wait_until(
        lambda: not [one for one in threading.enumerate() if one not in before and "IO loop" in one.name]
    )


@pytest.mark.slow
def test_a_closed_cluster_says_so() -> None:
    with open_cluster("local:1") as found:
        assert Resources.current().executor is found
    assert Resources.current().executor is None
    with pytest.raises(StategramError, match="connection to the cluster local:1 was lost"):
        list(found.map(tasks.double, [1]))


@pytest.mark.parametrize(
    "name", ["local:0", "local:513", "local:", "local", "tls://", "tls://a:99999", "10.0.0.1"]
)
def test_what_is_no_cluster(name: str) -> None:
    with pytest.raises(UsageError, match=r"local:N, tls://HOST:PORT or tcp|workers must be 1 to 512"):
        with_cluster(name)


def with_cluster(name: str) -> None:
    with open_cluster(name):
        pass


@pytest.mark.parametrize("host", ["10.0.0.1", "example.org", "[2001:db8::1]", "localhost.example.org"])
def test_other_machines_need_tls(host: str) -> None:
    with pytest.raises(UsageError, match=r"tcp:// is not encrypted.*--protocol tls.*--cluster tls://.*:8786"):
        with_cluster(f"tcp://{host}:8786")


def test_certificates_are_checked_before_anything_else(tmp_path: Path) -> None:
    prefix = "DASK_DISTRIBUTED__COMM__TLS__"
    with pytest.raises(
        UsageError, match=f"set {prefix}CA_FILE, {prefix}CLIENT__CERT, {prefix}CLIENT__KEY, or"
    ):
        with_cluster("tls://127.0.0.1:1")
    files = make_certificates(tmp_path)
    with (
        dask.config.set({"distributed.comm.tls.ca-file": str(files["ca-file"])}),
        pytest.raises(UsageError, match=f"set {prefix}CLIENT__CERT, {prefix}CLIENT__KEY, or"),
    ):
        with_cluster("tls://127.0.0.1:1")
    with (
        dask.config.set(configuration({**files, "key": tmp_path / "none.pem"})),
        pytest.raises(StategramError, match=r"none\.pem: no such file; expected a certificate"),
    ):
        with_cluster("tls://127.0.0.1:1")


def test_dask_is_asked_for_only_if_needed() -> None:
    script = (
        "import sys, stategram; sys.modules['distributed'] = None\n"
        "with stategram.open_cluster('local:1'): pass"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert 'a cluster needs Dask: pip install "stategram[scale]"' in done.stderr
    script = (
        "import sys, stategram.cli.options, stategram.workers; "
        "sys.exit('distributed' in sys.modules or 'fsspec' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_an_address_where_nothing_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_SECONDS_TO_CONNECT", 1)
    with pytest.raises(StategramError, match=r"cannot connect to tcp://127.0.0.1:9: .*; check the address"):
        with_cluster("tcp://127.0.0.1:9")


def test_a_task_refuses_another_version() -> None:
    settings = TaskSettings("0.0.9", 1, None, None, shows_worker=True)
    error = run_task(tasks.double, 1, settings).error
    assert f"worker process {os.getpid()} has {stategram.__version__}" in str(error)


# ---- a scheduler and workers as somebody would start them


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    found = Processes(tmp_path)
    try:
        yield found
    finally:
        found.stop()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_a_worker_is_killed_then_the_scheduler(
    processes: Processes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    workers = [processes.start_worker() for _ in range(2)]
    go = tmp_path / "go"
    items = [(str(tmp_path), str(go))] * 6
    found: list[int] = []
    with processes.open(threads=3) as connected:
        assert [one.threads for one in connected.map(tasks.see, [0])] == [3]
        thread = threading.Thread(target=lambda: found.extend(connected.map(tasks.wait_for, items)))
        thread.start()
        # Both hold a task; one is killed, and the other one does all.
        wait_until(lambda: all((tmp_path / f"{one.pid}.pid").exists() for one in workers))
        workers[0].send_signal(signal.SIGKILL)
        workers[0].wait()
        go.touch()
        thread.join(600)
        assert found == [workers[1].pid] * 6

        with pytest.raises(StategramError, match=r"^cannot read a \(on worker tls://127\.0\.0\.1:\d+\)$"):
            list(connected.map(tasks.fail_plainly, [0]))

        go.unlink()
        (tmp_path / f"{workers[1].pid}.pid").unlink()
        monkeypatch.setattr(executor, "_SECONDS_BETWEEN_CHECKS", 0.1)
        monkeypatch.setattr(executor, "_SECONDS_WITHOUT_WORKERS", 1.0)
        killed = threading.Thread(target=lambda: kill_after(tmp_path / f"{workers[1].pid}.pid", workers[1]))
        killed.start()
        with pytest.raises(StategramError, match=r"has had no worker for 1 seconds; start some, then rerun"):
            list(connected.map(tasks.wait_for, items))
        assert "has no worker left; waiting for one" in caplog.text
        killed.join()

        monkeypatch.setattr(executor, "_SECONDS_WITHOUT_WORKERS", 100.0)
        submitted = tmp_path / "submitted"
        killed = threading.Thread(target=lambda: kill_after(submitted, processes.scheduler))
        killed.start()
        with pytest.raises(StategramError, match=r"connection to the cluster tls://.* was lost") as error:
            list(connected.map(tasks.wait_for, touching(submitted, items)))
        assert "then rerun the same command to continue" in str(error.value)
        killed.join()


def kill_after(file: Path, process: subprocess.Popen[bytes]) -> None:
    """Kill a process when there is a file."""
    wait_until(file.exists)
    process.kill()
    process.wait()


def touching(file: Path, items: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield items, and make a file when they are taken."""
    yield from items
    file.touch()


@pytest.mark.slow
def test_workers_of_another_version_and_none_at_all(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_SECONDS_TO_WORKERS", 1)
    with (
        pytest.raises(StategramError, match="has no workers; start some: dask worker tls://"),
        processes.open(),
    ):
        pass
    for name, line in (
        ("old", "stategram.__version__ = '0.0.1'"),
        ("none", "sys.modules['stategram'] = None"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "sitecustomize.py").write_text(f"import stategram, sys\n{line}\n")
        processes.start_worker(PYTHONPATH=str(tmp_path / name))
    distributed = pytest.importorskip("distributed")
    security = distributed.Security(
        tls_ca_file=str(processes.files["ca-file"]),
        tls_client_cert=str(processes.files["cert"]),
        tls_client_key=str(processes.files["key"]),
    )
    with distributed.Client(processes.address, security=security, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=600)
    with pytest.raises(StategramError) as found, processes.open():
        pass
    assert re.fullmatch(
        rf"this is stategram {stategram.__version__}, but worker tls://\S+ has (0\.0\.1|none \(.*\)), "
        r"tls://\S+ has (0\.0\.1|none \(.*stategram.*\)); install the same version on all machines .*",
        str(found.value),
    )


def test_our_certificate_has_to_be_known(
    processes: Processes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "_SECONDS_TO_CONNECT", 3)
    (tmp_path / "other").mkdir()
    others = make_certificates(tmp_path / "other")
    with (
        dask.config.set(configuration(others)),
        pytest.raises(StategramError, match=r"cannot connect to tls://.*; check the address and the cert"),
    ):
        with_cluster(processes.address)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_ends_the_workers(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "import cluster_tasks as tasks\n"
        "from stategram import open_cluster\n"
        'if __name__ == "__main__":\n'
        "    folder, file = sys.argv[1:]\n"
        '    with open_cluster("local:1") as cluster:\n'
        "        list(cluster.map(tasks.wait_for, [(folder, file)]))\n"
    )
    started = subprocess.Popen(
        [sys.executable, script, tmp_path, tmp_path / "never"],
        env={**os.environ, "PYTHONPATH": str(Path(tasks.__file__).parent)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_until(lambda: list(tmp_path.glob("*.pid")))
    (worker,) = tmp_path.glob("*.pid")
    os.killpg(started.pid, signal.SIGINT)
    _, messages = started.communicate(timeout=600)
    assert started.returncode in (1, -signal.SIGINT)
    assert "KeyboardInterrupt" in messages
    wait_until(lambda: not is_alive(int(worker.stem)))


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_script_without_a_guard_is_told_so(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import stategram\nwith stategram.open_cluster('local:1'):\n    pass\n")
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 1
    assert 'put what it does below `if __name__ == "__main__":`' in done.stderr


# ---- commands


def count(text: Path, output: Path, capfd: pytest.CaptureFixture[str], *options: str) -> dict[str, bytes]:
    status, _, messages = run("count", text, "-o", output, "--order", 2, *options, capfd=capfd)
    assert status == 0, messages
    return files_of(output)


def test_the_option_opens_a_cluster(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = make_story(tmp_path)
    found = count(text, tmp_path / "found", capfd, "--cluster", "local:1", "--shard-size", "20K")
    assert found == count(text, tmp_path / "expected", capfd, "--shard-size", "20K")
    command = ("count", text, "-o", tmp_path / "none", "--cluster", "tcp://10.0.0.1:8786")
    status, _, messages = run(*command, capfd=capfd)
    assert status == 2
    assert "tcp:// is not encrypted" in messages
    # Complete counts need no workers.
    assert count(text, tmp_path / "found", capfd, "--cluster", "local:0", "--shard-size", "20K") == found


@pytest.mark.parametrize("fault", ["stdin", "folder", "pipe", "place", "counts", "file", "memory"])
def test_what_cannot_be_counted_is_found_before_workers_start(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("stategram.cli.count.open_cluster", None)
    text, place = str(make_story(tmp_path)), tmp_path / "counts"
    message = "workers cannot read"
    if fault == "stdin":
        text = "-"
    elif fault == "folder":
        text = str(tmp_path)
    elif fault == "pipe":
        text = str(tmp_path / "pipe")
        os.mkfifo(text)
    elif fault == "place":
        place, message = tmp_path, "is not a file of stategram count"
    elif fault == "counts":
        count(Path(text), place, capfd)
        message = "there are counts in"
    elif fault == "file":
        text, message = str(tmp_path / "none"), "no such file"
    else:
        place, message = "memory://x", "memory:// is lost when the command ends"  # type: ignore[assignment]
    status, _, messages = run("count", text, "-o", place, "--cluster", "local:1", capfd=capfd)
    assert status in (1, 2)
    assert message in messages


def test_certificates_come_from_the_environment(
    processes: Processes, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    processes.start_worker()
    variables = {"ca-file": "CA_FILE", "cert": "CLIENT__CERT", "key": "CLIENT__KEY"}
    tls = {f"DASK_DISTRIBUTED__COMM__TLS__{variables[name]}": str(f) for name, f in processes.files.items()}
    (tmp_path / "text").mkdir()
    text, output = make_story(tmp_path / "text"), tmp_path / "found"
    command = ("count", text, "-o", output, "--order", "2", "--cluster", processes.address)
    done = subprocess.run(
        [sys.executable, "-m", "stategram", *command],
        env={**os.environ, **tls},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert files_of(output) == count(text, tmp_path / "expected", capfd)
