"""Tasks on workers: real processes, on loopback."""

from __future__ import annotations

import contextlib
import datetime
import gzip
import ipaddress
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import cluster_tasks as tasks
import stategram
from command_line import run
from counted_texts import files_of, make_story
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.resources import Executor, Resources, use_resources
from stategram.workers import cluster, executor, open_cluster
from stategram.workers.executor import TaskSettings, run_task

dask = pytest.importorskip("dask", reason="Dask runs the tasks")
pytest.importorskip("distributed", reason="Dask runs the tasks")
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


class Processes:
    """A scheduler, workers, and certificates for both and for us."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = make_certificates(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tls://127.0.0.1:{port}"
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start(
            "dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--no-dashboard",
            "--protocol",
            "tls",
        )

    def start(self, program: str, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        tls = (f"--tls-{name}={file}" for name, file in self.files.items())
        log = (self.folder / f"{program}-{len(self._started)}.log").open("wb")
        with log:
            started = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{program}", *arguments, *tls],
                env={**os.environ, "PYTHONPATH": str(Path(tasks.__file__).parent), **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
            )
        self._started.append(started)
        return started

    def start_worker(self, **environment: str) -> subprocess.Popen[bytes]:
        # Without a nanny: the process is the worker, so that it can be killed.
        return self.start(
            "dask_worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard", **environment
        )

    @contextlib.contextmanager
    def open(self, threads: int | None = None) -> Iterator[Executor]:
        with dask.config.set(configuration(self.files)), open_cluster(self.address, threads=threads) as found:
            yield found

    def stop(self) -> None:
        for one in self._started:
            one.kill()
        for one in self._started:
            one.wait()


def configuration(files: Mapping[str, Path]) -> dict[str, str]:
    """Return Dask's settings for the certificates of a client."""
    names = {"ca-file": "ca-file", "cert": "client.cert", "key": "client.key"}
    return {f"distributed.comm.tls.{names[name]}": str(file) for name, file in files.items()}


def make_certificates(folder: Path) -> dict[str, Path]:
    """Make a certificate that signs itself, as the authority of all."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "stategram tests")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    files = {"ca-file": folder / "ca.pem", "cert": folder / "cert.pem", "key": folder / "key.pem"}
    files["ca-file"].write_bytes(certificate.public_bytes(encoding))
    files["cert"].write_bytes(certificate.public_bytes(encoding))
    files["key"].write_bytes(
        key.private_bytes(encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return files


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
        with pytest.raises(
            StategramError, match=r"has had no worker for 1 seconds; start some, then run the"
        ):
            list(connected.map(tasks.wait_for, items))
        assert "has no worker left; waiting for one" in caplog.text
        killed.join()

        monkeypatch.setattr(executor, "_SECONDS_WITHOUT_WORKERS", 100.0)
        submitted = tmp_path / "submitted"
        killed = threading.Thread(target=lambda: kill_after(submitted, processes.scheduler))
        killed.start()
        with pytest.raises(StategramError, match=r"connection to the cluster tls://.* was lost") as error:
            list(connected.map(tasks.wait_for, touching(submitted, items)))
        assert "run the same command again: it continues with what is not done yet" in str(error.value)
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
