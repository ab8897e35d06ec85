"""Opens a cluster: processes of this machine, or the scheduler of a Dask cluster."""

from __future__ import annotations

import ipaddress
import logging
import os
import pkgutil
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

import stategram
from stategram.display import plural
from stategram.errors import StategramError, UsageError
from stategram.resources import Executor, Resources, use_resources
from stategram.workers.executor import ClusterExecutor, other_versions

_log = logging.getLogger(__name__)

_LOCAL = re.compile(r"local:(\d{1,4})")
_REMOTE = re.compile(r"(tls|tcp)://(\[[^\]]+\]|[^:/\[\]]+):(\d{1,5})")
_MAX_LOCAL_WORKERS = 512
_SECONDS_TO_CONNECT = 15
_SECONDS_TO_WORKERS = 30
_CERTIFICATES = {
    "tls_ca_file": "DASK_DISTRIBUTED__COMM__TLS__CA_FILE",
    "tls_client_cert": "DASK_DISTRIBUTED__COMM__TLS__CLIENT__CERT",
    "tls_client_key": "DASK_DISTRIBUTED__COMM__TLS__CLIENT__KEY",
}
"""The attributes of Dask's security, and the variables of the environment that set them."""
_FORMS = "local:N, tls://HOST:PORT or tcp://127.0.0.1:PORT"


@contextmanager
def open_cluster(address: str, *, threads: int | None = None) -> Iterator[Executor]:
    """Run what `count_text` does in the ``with`` block on a cluster. Counts do not depend on it.

    Parameters
    ----------
    address
        ``local:N``: N processes on this machine. ``tls://host:port``: the scheduler of a Dask cluster, with
        the certificates of Dask's configuration (``distributed.comm.tls``). ``tcp://127.0.0.1:port``: one
        without encryption, on this machine only.
    threads
        The threads of each worker; by default those of `use_resources`, divided among local workers, or all
        processors of another machine. A limit of memory is divided among local workers too.

    Notes
    -----
    Workers read the same files under the same names, or URLs, and have the same version of stategram.
    Whoever reaches the scheduler of a Dask cluster can run code on its workers: see the page on clusters.

    In a script the call has to be below ``if __name__ == "__main__":``, as local workers import the script.

    Examples
    --------
    >>> import stategram
    >>> with stategram.open_cluster("local:2"):  # doctest: +SKIP
    ...     counted = stategram.count_text("text.txt.gz", "counts", order=3)

    """
    with ExitStack() as stack:
        if local := _LOCAL.fullmatch(address):
            n_workers = int(local[1])
            if not 1 <= n_workers <= _MAX_LOCAL_WORKERS:
                raise UsageError(f"{address}: the number of workers must be 1 to {_MAX_LOCAL_WORKERS}")
            distributed = _import_distributed(stack)
            with _interrupt_later():
                client = _start_local(distributed, n_workers, stack)
            threads = threads or max(1, Resources.current().threads // n_workers)
            sharing: int | None = n_workers
        else:
            _check_address(address)
            distributed = _import_distributed(stack)
            client = _connect(distributed, address, _security(distributed, address), stack)
            sharing = None
        executor = ClusterExecutor(client, address, threads, sharing)
        with use_resources(executor=executor):
            yield executor


def _check_address(address: str) -> None:
    found = _REMOTE.fullmatch(address)
    if found is None or int(found[3]) > 65535:
        raise UsageError(f"{address!r} is not the address of a cluster; write {_FORMS}")
    if found[1] == "tcp" and not _is_loopback(found[2].strip("[]")):
        raise UsageError(
            f"{address} is another machine, and tcp:// is not encrypted: whoever reaches it can run code on "
            "the workers; start the scheduler and the workers with TLS (dask scheduler --protocol tls "
            "--tls-ca-file CA.pem --tls-cert CERT.pem --tls-key KEY.pem) and use "
            f"--cluster tls://{found[2]}:{found[3]} with {', '.join(_CERTIFICATES.values())}"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _import_distributed(stack: ExitStack) -> Any:
    """Import Dask; it is kept from writing to stderr what becomes an error of ours."""
    try:
        import distributed
    except ImportError as error:
        raise StategramError('a cluster needs Dask: pip install "stategram[scale]"') from error
    # Some of Dask's loggers have a level of their own; those below it write tracebacks of lost connections.
    names = [name for name in logging.root.manager.loggerDict if re.match("(distributed|tornado)[.]", name)]
    for logger in map(logging.getLogger, ("distributed", "asyncio", "tornado", *names)):
        stack.callback(logger.setLevel, logger.level)
        logger.setLevel(logging.CRITICAL + 1)
    return distributed


def _start_local(distributed: Any, n_workers: int, stack: ExitStack) -> Any:
    """Start workers on this machine. They speak TLS, with a key of their own: other users cannot join."""
    scratch = stack.enter_context(
        tempfile.TemporaryDirectory(
            prefix="stategram-workers-", dir=Resources.current().tmp, ignore_cleanup_errors=True
        )
    )
    import dask

    try:
        # Dask always has a web server; nobody can see anything in this one.
        with dask.config.set({f"distributed.{who}.http.routes": [] for who in ("scheduler", "worker")}):
            cluster = distributed.LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                memory_limit=0,
                local_directory=scratch,
                security=distributed.Security.temporary(),
                silence_logs=logging.CRITICAL + 1,
            )
        stack.callback(_stop_local, cluster)
        return _client(distributed, stack, cluster)
    except ImportError as error:
        raise StategramError(f'{error}: pip install "stategram[scale]"') from error
    except (OSError, RuntimeError, TimeoutError) as error:
        raise StategramError(
            f"the workers on this machine did not start ({_first_line(error)}); in a Python script, put what "
            'it does below `if __name__ == "__main__":`, as each worker imports the script'
        ) from error


@contextmanager
def _interrupt_later() -> Iterator[None]:
    """Let Ctrl-C wait until the end of the block: Dask does not clean up what has started only in part."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def note(signum: int, frame: FrameType | None) -> None:
        nonlocal interrupted
        interrupted = True

    before = signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if interrupted:
            raise KeyboardInterrupt


def _stop_local(cluster: Any) -> None:
    """End the workers. Those still at work, after an error or Ctrl-C, are not waited for."""
    for nanny in cluster.workers.values():
        nanny.auto_restart = False
        if nanny.pid is not None:
            with suppress(OSError):
                os.kill(nanny.pid, signal.SIGTERM if sys.platform == "win32" else signal.SIGKILL)
    cluster.close()


def _security(distributed: Any, address: str) -> Any:
    """Return what Dask is to use: encryption with certificates both ways, or none on this machine."""
    if address.startswith("tcp:"):
        return distributed.Security(require_encryption=False)
    security = distributed.Security(require_encryption=True)
    files = {variable: getattr(security, name) for name, variable in _CERTIFICATES.items()}
    if missing := [variable for variable, file in files.items() if not file]:
        raise UsageError(
            f"{address} needs certificates: set {', '.join(missing)}, or distributed.comm.tls in the "
            "configuration of Dask"
        )
    for file in files.values():
        if not Path(file).is_file():
            raise StategramError(f"{file}: no such file; expected a certificate or key in PEM format")
    return security


def _connect(distributed: Any, address: str, security: Any, stack: ExitStack) -> Any:
    try:
        client = _client(distributed, stack, address, security=security, timeout=_SECONDS_TO_CONNECT)
    except Exception as error:  # whatever the libraries below Dask raise
        raise StategramError(
            f"cannot connect to {address}: {_first_line(error)}; check the address and the certificates, and "
            "that its scheduler runs (dask scheduler)"
        ) from error
    try:
        client.wait_for_workers(1, timeout=_SECONDS_TO_WORKERS)
        found = client.run(pkgutil.resolve_name, "stategram:__version__", on_error="return")
    except TimeoutError as error:
        raise StategramError(
            f"{address} has no workers; start some: dask worker {address} --nthreads 1"
        ) from error
    except Exception as error:
        raise StategramError(f"{address} does not answer: {_first_line(error)}; try again") from error
    others = {
        worker: version if isinstance(version, str) else f"none ({_first_line(version)})"
        for worker, version in found.items()
        if version != stategram.__version__
    }
    if others:
        raise other_versions(others)
    _log.info("%s: %s", address, plural(len(found), "worker"))
    return client


def _client(distributed: Any, stack: ExitStack, *arguments: Any, **options: Any) -> Any:
    """Return a client; it is closed in all cases, also if it cannot connect, or whatever closing raises."""
    client = distributed.Client.__new__(distributed.Client)

    @stack.callback
    def close() -> None:
        with suppress(Exception):
            client.close()

    client.__init__(*arguments, set_as_default=False, name="stategram", **options)
    return client


def _first_line(error: BaseException) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
