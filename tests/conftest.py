from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")

# Its assertions are shown as those of tests.
pytest.register_assert_rewrite("checks")

# What a shell starts in the background ignores Ctrl-C; processes that tests interrupt must not inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, not about the code.
settings.register_profile("stategram", deadline=None, print_blob=True)
settings.load_profile("stategram")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    pytest.importorskip("vl_convert", reason="vl-convert draws the charts")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright drives the browser")
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        pytest.skip(f"no browser: none of {', '.join(_BROWSERS)} is installed")
    # Chromium refuses its sandbox to root.
    arguments = ["--disable-background-networking", "--disable-component-update"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, args=arguments)
        yield started
        started.close()
