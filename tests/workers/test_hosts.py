"""A cluster of several hosts, which are network namespaces made here: links that are cut and mended."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from counted_texts import files_of, make_story
from dask_processes import Processes
from stategram import count_text

pytest.importorskip("distributed", reason="Dask runs the tasks")
pytestmark = pytest.mark.slow

HOSTS = ("scheduler", "worker1", "worker2", "driver")


class Hosts:
    """Hosts that reach each other through a switch, and nothing else."""

    def __init__(self) -> None:
        self._prefix = f"stg{os.getpid()}"
        self._made: list[str] = []
        self._add("switch")
        self._ip("switch", "link", "add", "bridge", "type", "bridge")
        self._ip("switch", "link", "set", "bridge", "up")
        for number, host in enumerate(HOSTS, 1):
            self._add(host)
            other = self._name("switch")
            self._ip(host, "link", "add", "eth", "type", "veth", "peer", "name", host, "netns", other)
            self._ip("switch", "link", "set", host, "master", "bridge", "up")
            self._ip(host, "address", "add", f"10.77.0.{number}/24", "dev", "eth")
            self._ip(host, "link", "set", "eth", "up")
            self._ip(host, "link", "set", "lo", "up")

    def wrapper(self, host: str) -> list[str]:
        """Return what a command begins with that runs on a host."""
        return ["ip", "netns", "exec", self._name(host)]

    def cut(self, host: str) -> None:
        self._ip("switch", "link", "set", host, "down")

    def mend(self, host: str) -> None:
        self._ip("switch", "link", "set", host, "up")

    def remove(self) -> None:
        for name in self._made:
            subprocess.run(["ip", "netns", "delete", name], check=False)

    def _name(self, host: str) -> str:
        return f"{self._prefix}-{host}"

    def _add(self, host: str) -> None:
        subprocess.run(["ip", "netns", "add", self._name(host)], check=True, capture_output=True)
        self._made.append(self._name(host))

    def _ip(self, host: str, *arguments: str) -> None:
        subprocess.run(["ip", "-n", self._name(host), *arguments], check=True, capture_output=True)


@pytest.fixture
def hosts() -> Iterator[Hosts]:
    if shutil.which("ip") is None:
        pytest.skip("no command ip (iproute2)")
    with contextlib.ExitStack() as stack:
        try:
            found = Hosts()
        except subprocess.CalledProcessError as error:
            pytest.skip(f"network namespaces cannot be made: {error.stderr.decode().strip()}")
        stack.callback(found.remove)
        yield found


class _Cluster:
    """A scheduler, two workers and a driver, each on a host of its own."""

    def __init__(self, hosts: Hosts, place: Path) -> None:
        self.hosts, self.place = hosts, place
        (place / "text").mkdir()
        self.text = make_story(place / "text")
        self.processes = Processes(place, "10.77.0.1", hosts.wrapper("scheduler"))
        self.start_workers()

    def start_workers(self) -> None:
        for number, host in enumerate(HOSTS[1:3], 2):
            self.processes.start_worker("--host", f"10.77.0.{number}", wrapper=self.hosts.wrapper(host))

    def count(self) -> subprocess.Popen[str]:
        names = {"ca-file": "CA_FILE", "cert": "CLIENT__CERT", "key": "CLIENT__KEY"}
        tls = {f"DASK_DISTRIBUTED__COMM__TLS__{names[n]}": str(f) for n, f in self.processes.files.items()}
        command = [
            sys.executable,
            "-m",
            "stategram",
            "count",
            str(self.text),
            "-o",
            str(self.place / "found"),
        ]
        command += ["--order", "3", "--shard-size", "1K", "--cluster", self.processes.address]
        return subprocess.Popen(
            [*self.hosts.wrapper("driver"), *command],
            env={**os.environ, **tls},
            stderr=subprocess.PIPE,
            text=True,
        )

    def wait_for_files(self, n: int, process: subprocess.Popen[str]) -> None:
        def is_there() -> bool:
            assert process.poll() is None, process.communicate()[1]
            return (self.place / "found").is_dir() and len(files_of(self.place / "found")) >= n

        _wait_until(is_there)


def _wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 600
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture
def cluster(hosts: Hosts, tmp_path: Path) -> Iterator[_Cluster]:
    found = _Cluster(hosts, tmp_path)
    try:
        yield found
    finally:
        found.processes.stop()


@pytest.mark.parametrize("host", ["worker1", "scheduler"])
def test_a_link_that_is_cut_and_mended_changes_nothing(cluster: _Cluster, host: str, tmp_path: Path) -> None:
    process = cluster.count()
    cluster.wait_for_files(20, process)
    cluster.hosts.cut(host)
    time.sleep(3)
    cluster.hosts.mend(host)
    _, messages = process.communicate(timeout=600)
    assert process.returncode == 0, messages
    count_text(cluster.text, tmp_path / "expected", 3, shard_size=1024)
    assert files_of(tmp_path / "found") == files_of(tmp_path / "expected")


def test_a_link_that_stays_cut_is_an_error_and_the_command_continues(
    cluster: _Cluster, tmp_path: Path
) -> None:
    process = cluster.count()
    cluster.wait_for_files(20, process)
    cluster.hosts.cut("scheduler")
    _, messages = process.communicate(timeout=600)
    assert process.returncode == 1, messages
    assert "Traceback" not in messages
    assert f"the connection to the cluster {cluster.processes.address} was lost" in messages
    assert "rerun the same command to continue" in messages
    n = len(files_of(tmp_path / "found"))
    cluster.hosts.mend("scheduler")
    cluster.start_workers()  # those before have ended, or come back
    again = cluster.count()
    _, messages = again.communicate(timeout=600)
    assert again.returncode == 0, messages
    assert "read before" in messages
    assert n >= 20
    count_text(cluster.text, tmp_path / "expected", 3, shard_size=1024)
    assert files_of(tmp_path / "found") == files_of(tmp_path / "expected")
