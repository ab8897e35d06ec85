"""Model folders of an attacker: what is in their manifests is wrong, but its checksum is right."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def forge_manifest(folder: Path, **changes: Any) -> None:
    """Change entries of a manifest, or remove those that are `...`, as stategram would not write it."""
    manifest = {**json.loads((folder / "manifest.json").read_text()), **changes}
    rest = {name: value for name, value in manifest.items() if name != "checksum" and value is not ...}
    checksum = hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    text = json.dumps({**rest, "checksum": checksum}, indent=2, sort_keys=True)
    (folder / "manifest.json").write_text(text + "\n")
