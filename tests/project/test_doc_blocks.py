"""Code and commands of the documents run as they stand there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "run_docs.py"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHORT = ("README", "tutorial")

pytestmark = [
    pytest.mark.skipif(not TOOL.is_file(), reason="the documents are not here"),
    pytest.mark.skipif(
        sys.platform == "win32" or not shutil.which("bash"), reason="commands are those of bash"
    ),
]


def run(page: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, page], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=[] if page.stem in SHORT else pytest.mark.slow)
        for page in PAGES
    ],
)
def test_blocks_of_a_page_run(page: Path) -> None:
    done = run(page)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```console\n$ stategram eval nowhere test.txt\n```\n", "page.md:2: exit code 1: stategram eval"),
        ("```console\n$ true  # exit 1\n```\n", "exit code 0: true"),
        ("```python\nx = 1\n```\n\n```python\nx + y\n```\n", "NameError: name 'y' is not defined"),
        ("```python\n>>> 1 + 1\n3\n```\n", "Got:\n    2"),
        ('```toml\n[[part]]\nmodel = "nothing"\n```\n', "nothing"),
        ("<!-- prepare\n$ false\n-->\n", "page.md:2: exit code 1: false"),
        ("<!-- not run: no time -->\n```python\nx\n```\n", "'no time' is no reason"),
    ],
)
def test_a_block_that_fails_is_noticed(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(text)
    done = run(tmp_path / "page.md")
    assert done.returncode == 1
    assert message in done.stdout + done.stderr


def test_order_heredocs_and_marks(tmp_path: Path) -> None:
    """Blocks see what those before them made; those that are not to run do not."""
    (tmp_path / "page.md").write_text(
        "<!-- prepare\n$ echo 3 > number\n-->\n"
        "```console\n$ cat > code.py <<'END'\nx = 4\nEND\noutput\n"
        "$ stategram --version \\\n    > version\n```\n"
        "```python\nfrom pathlib import Path\n"
        "assert Path('number').read_text() == '3\\n'\nassert Path('version').stat().st_size\n"
        "assert Path('code.py').read_text() == 'x = 4\\n'\n"
        "assert len(Path('train.txt').read_text().splitlines()) == 400\n```\n"
        "<!-- run: site -->\n```python\n1 / 0\n```\n"
        "<!-- not run: acoustic model -->\n```python\n1 / 0\n```\n"
        "```text\n$ false\n```\n"
    )
    done = run(tmp_path / "page.md")
    assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run(
        [sys.executable, TOOL, "--all", tmp_path / "page.md"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "ZeroDivisionError" in done.stdout
