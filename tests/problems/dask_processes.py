"""A scheduler and workers as somebody would start them, and certificates."""

from __future__ import annotations

import contextlib
import datetime
import ipaddress
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import cluster_tasks as tasks
from stategram.resources import Executor
from stategram.workers import open_cluster


class Processes:
    """A scheduler, workers, and certificates for both and for us."""

    def __init__(self, folder: Path, host: str = "127.0.0.1", wrapper: Sequence[str] = ()) -> None:
        self.folder = folder
        self.files = make_certificates(folder)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tls://{host}:{port}"
        self._started: list[subprocess.Popen[bytes]] = []
        self.scheduler = self.start(
            "dask_scheduler",
            "--host",
            host,
            "--port",
            str(port),
            "--no-dashboard",
            "--protocol",
            "tls",
            wrapper=wrapper,
        )

    def start(
        self, program: str, *arguments: str, wrapper: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        tls = (f"--tls-{name}={file}" for name, file in self.files.items())
        log = (self.folder / f"{program}-{len(self._started)}.log").open("wb")
        with log:
            started = subprocess.Popen(
                [*wrapper, sys.executable, "-m", f"distributed.cli.{program}", *arguments, *tls],
                env={**os.environ, "PYTHONPATH": str(Path(tasks.__file__).parent), **environment},
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
            )
        self._started.append(started)
        return started

    def start_worker(
        self, *arguments: str, wrapper: Sequence[str] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        # Without a nanny: the process is the worker, so that it can be killed.
        common = ("--no-nanny", "--nthreads", "1", "--no-dashboard")
        return self.start("dask_worker", self.address, *common, *arguments, wrapper=wrapper, **environment)

    @contextlib.contextmanager
    def open(self, threads: int | None = None) -> Iterator[Executor]:
        import dask

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
