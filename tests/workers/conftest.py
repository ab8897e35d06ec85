from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator

import pytest

from stategram.resources import Executor, use_resources
from stategram.workers import open_cluster


@pytest.fixture(scope="session")
def local() -> Iterator[Executor]:
    """Workers of this machine, in a context of their own: they are not to be the executor of all tests."""
    dask = pytest.importorskip("dask", reason="Dask runs the tasks")
    pytest.importorskip("distributed", reason="Dask runs the tasks")
    context, stack = contextvars.copy_context(), contextlib.ExitStack()
    context.run(stack.enter_context, dask.config.set({"distributed.scheduler.allowed-failures": 1}))
    context.run(stack.enter_context, use_resources(threads=4))
    found = context.run(stack.enter_context, open_cluster("local:2"))
    try:
        yield found
    finally:
        context.run(stack.close)
