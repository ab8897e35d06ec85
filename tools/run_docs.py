"""Runs the code blocks and commands of the documents, page by page.

Usage: python tools/run_docs.py [--all] [PAGE ...]

A page has one temporary folder with small texts, in which its blocks run in their order: ``python`` blocks in
one namespace, and the lines of ``console`` blocks that begin with "$ ", with their heredocs. Recipes
in ``toml`` blocks are read. Above a block may stand

    <!-- run: site -->        it takes longer: only with --all, which is what `make site` runs
    <!-- not run: REASON -->  one of REASONS

and a comment that begins with a line ``<!-- prepare`` has "$ " lines that readers need not see.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REASONS = ("another tool", "acoustic model", "your text", "download")

_OPENING = re.compile(
    r"^(?P<mark><!-- (?P<when>run|not run): (?P<why>[^\n]*?) -->\n)?"
    r"(?P<indent> *)(?P<fence>`{3,})(?P<language>[\w-]*)[^\n`]*\n(?P<text>.*?)^(?P=indent)(?P=fence)`*[ ]*$"
    r"|^<!-- prepare\n(?P<prepare>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_EXIT_CODE = re.compile(r"# exit (\d+)\s*$")


@dataclass(frozen=True)
class Block:
    """A block of a page that can run."""

    language: str
    text: str
    line: int
    is_long: bool


def pages() -> list[Path]:
    """Return the pages whose blocks run."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def blocks(page: str) -> list[Block]:
    r"""Return the blocks of a page that run, hidden preparations included.

    >>> blocks("a\n<!-- run: site -->\n```python\nx\n```\n")
    [Block(language='python', text='x\n', line=4, is_long=True)]
    """
    found = []
    for match in _OPENING.finditer(page):
        if match["prepare"] is not None:
            found.append(
                Block("console", match["prepare"], page.count("\n", 0, match.start("prepare")) + 1, False)
            )
            continue
        line = page.count("\n", 0, match.start("text")) + 1
        if match["when"] == "not run" and match["why"] not in REASONS:
            raise ValueError(f"line {line}: {match['why']!r} is no reason; reasons are: {', '.join(REASONS)}")
        if match["when"] == "run" and match["why"] != "site":
            raise ValueError(f"line {line}: expected <!-- run: site -->, found {match['why']!r}")
        if match["when"] != "not run" and match["language"] in ("python", "console", "toml"):
            text = re.sub(rf"^{match['indent']}", "", match["text"], flags=re.MULTILINE)
            found.append(Block(match["language"], text, line, match["when"] == "run"))
    return found


def commands(text: str) -> Iterator[tuple[str, int, int]]:
    r"""Yield the commands of a console block, their exit codes and the number of lines before each.

    >>> list(commands("$ cat > x <<END\na\nEND\noutput\n$ ls \\\n  x  # exit 2\n"))
    [('cat > x <<END\na\nEND', 0, 0), ('ls \\\n  x  # exit 2', 2, 4)]
    """
    lines = text.splitlines()
    at = 0
    while at < len(lines):
        begin, at = at, at + 1
        if not lines[begin].startswith("$ "):
            continue
        command = [lines[begin][2:]]
        while command[-1].endswith("\\") and at < len(lines):
            command.append(lines[at])
            at += 1
        if heredoc := _HEREDOC.search(command[-1]):
            while heredoc[1] != command[-1] and at < len(lines):
                command.append(lines[at])
                at += 1
        code = _EXIT_CODE.search(command[-1])
        yield "\n".join(command), int(code[1]) if code else 0, begin


def write_texts(folder: Path) -> None:
    """Write small texts, one sentence per line: train.txt, valid.txt, test.txt and text.txt."""
    for name, number in (("train", 400), ("valid", 80), ("test", 80), ("text", 60)):
        (folder / f"{name}.txt").write_text("\n".join(_sentences(number, name)) + "\n", encoding="utf-8")


def _sentences(n: int, seed: str) -> Iterator[str]:
    draw = random.Random(seed)
    nouns = "cat dog house tree river king queen ship bird stone road horse child garden people mat".split()
    verbs = "sees likes finds leaves knows wants follows meets".split()
    for _ in range(n):
        subject, thing, place = (
            draw.choice(["the ", "the ", "a "])
            + draw.choice(["", "old ", "red ", "small "])
            + draw.choice(nouns)
            for _ in range(3)
        )
        end = (
            f" {draw.choice(['near', 'behind', 'under', 'of', 'on'])} {place}" if draw.random() < 0.5 else ""
        )
        yield f"{subject} {draw.choice(verbs)} {thing}{end} ."


def run_page(path: Path, *, run_long: bool) -> list[str]:
    """Run a page in a folder of its own; return what failed, one text for each failure."""
    before = Path.cwd()
    namespace: dict[str, Any] = {"__name__": "__page__"}
    failures = []
    with tempfile.TemporaryDirectory(prefix="stategram-docs-") as folder:
        write_texts(Path(folder))
        os.chdir(folder)
        try:
            for block in blocks(path.read_text(encoding="utf-8")):
                if block.is_long and not run_long:
                    continue
                failures += [
                    f"{_name(path)}:{block.line + offset}: {found}"
                    for offset, found in _run_block(block, namespace)
                ]
        finally:
            os.chdir(before)
    return failures


def _run_block(block: Block, namespace: dict[str, Any]) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each failure."""
    if block.language == "console":
        for command, expected, offset in commands(block.text):
            done = subprocess.run(
                ["bash", "-c", command],
                env={**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != expected:
                yield (
                    offset,
                    f"exit code {done.returncode}: {command}\n{done.stdout[-500:]}{done.stderr[-1500:]}",
                )
    elif block.language == "toml":
        if "[[part]]" in block.text:
            from stategram import StategramError, read_recipe

            Path("recipe-of-this-page.toml").write_text(block.text, encoding="utf-8")
            try:
                read_recipe("recipe-of-this-page.toml")
            except StategramError as error:
                yield 0, str(error)
    elif ">>> " in block.text:
        report = io.StringIO()
        test = doctest.DocTestParser().get_doctest(block.text, namespace, "block", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
        if runner.run(test, out=report.write, clear_globs=False).failed:
            yield 0, report.getvalue()
        namespace.update(test.globs)
    else:
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block.text, f"line {block.line}", "exec"), namespace)
        except Exception:
            yield 0, traceback.format_exc(limit=-3)


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT) if page.is_relative_to(ROOT) else page)


def main(arguments: list[str]) -> int:
    """Run the pages; return how many have failed."""
    run_long = "--all" in arguments
    chosen = [Path(one).resolve() for one in arguments if one != "--all"] or pages()
    n_failed = 0
    for page in chosen:
        began = time.monotonic()
        failures = run_page(page, run_long=run_long)
        n_failed += bool(failures)
        print(f"{_name(page)}  {time.monotonic() - began:.1f} s", *failures, sep="\n", flush=True)
    return n_failed


if __name__ == "__main__":
    sys.exit(min(main(sys.argv[1:]), 1))
