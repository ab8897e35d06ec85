"""Runs the command line as a user does."""

from __future__ import annotations

import pytest

from stategram.cli import main


def run(*arguments: object, capfd: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    """Give exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as end:
        main([str(a) for a in arguments])
    out, err = capfd.readouterr()
    assert isinstance(end.value.code, int)
    return end.value.code, out, err
