"""Writes docs/commands.md: every command's --help, as the command line prints it.

Usage: python tools/help_pages.py [--check]
"""

from __future__ import annotations

import sys
from pathlib import Path

import click

from stategram.cli.entry import cli

PAGE = Path(__file__).parent.parent / "docs" / "commands.md"
INTRODUCTION = """# The commands

The `--help` of each command. `make docs` writes this page; a test compares it with the program.
"""


def help_pages() -> str:
    """Return the page."""
    root = click.Context(cli, info_name="stategram", terminal_width=100, **cli.context_settings)
    parts = [INTRODUCTION, _page("stategram", cli.get_help(root))]
    for name in cli.list_commands(root):
        command = cli.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root, terminal_width=100)
        parts.append(_page(f"stategram {name}", command.get_help(context)))
    return "\n".join(parts)


def _page(name: str, text: str) -> str:
    return f"## {name}\n\n```\n{text}\n```\n"


if __name__ == "__main__":
    if "--check" not in sys.argv:
        PAGE.write_text(help_pages(), encoding="utf-8")
    elif PAGE.read_text(encoding="utf-8") != help_pages():
        sys.exit("docs/commands.md is not what the commands say; run: make docs")
