"""``make dist``: what a release consists of: the sdist, the wheel made from it, and the list of its parts (CycloneDX).

The same commit gives the same bytes: files carry the commit's time, and the list has no time and no number of its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from groups.places import ROOT

PLOTLY = "static/vendor/plotly-basic.min.js"
EDITOR = "static/vendor/editor.min.js"

NOTICE = re.compile(r"^ ?\* (\S+)(?: \(basic - minified\))? v(\d+\.\d+\.\d+) ?(\S*)$", re.MULTILINE)
"""A package at the head of a file of others: its name, its version, its licence if that is there."""

HEAD_CHARACTERS = 8_000


def vendored() -> list[tuple[str, str, str, str]]:
    """Files of others in the tree: path, each package of npm that it is made of, its version, its licence."""
    found = []
    for path in (PLOTLY, EDITOR):
        for name, version, licence in NOTICE.findall((ROOT / path).read_text()[:HEAD_CHARACTERS]):
            package = "plotly.js-basic-dist-min" if path == PLOTLY else name
            found.append((path, package, version, licence or "MIT"))
    return found


BUILD_MOST_S = 300


def build(folder: Path, uv: str) -> list[Path]:
    """The files of a release in ``folder``, which is made anew. RuntimeError with the builder's words where it fails."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    environment = os.environ | {"SOURCE_DATE_EPOCH": asked("git", "log", "-1", "--format=%ct").strip()}
    built = subprocess.run(
        [uv, "build", "--out-dir", str(folder), str(ROOT)],
        env=environment, capture_output=True, text=True, timeout=BUILD_MOST_S, check=False,
    )  # fmt: skip
    if built.returncode:
        raise RuntimeError(built.stderr)
    (wheel,) = folder.glob("*.whl")
    (folder / ".gitignore").unlink(missing_ok=True)
    parts = folder / f"{wheel.name.split('-py3')[0]}.cdx.json"
    parts.write_text(json.dumps(parts_of(uv), indent=1) + "\n")
    return sorted(folder.iterdir())


def parts_of(uv: str) -> dict[str, Any]:
    """All packages that the program and its extras need, at the locked versions, and the files of others in the tree."""
    found: dict[str, Any] = json.loads(
        asked(uv, "export", "--quiet", "--frozen", "--all-extras", "--no-default-groups", "--format", "cyclonedx1.5")
    )  # fmt: skip
    del found["serialNumber"], found["metadata"]["timestamp"]
    for path, name, version, licence in vendored():
        found["components"].append({
            "type": "library", "bom-ref": f"{path}#{name}", "name": name, "version": version, "purl": f"pkg:npm/{name}@{version}",
            "licenses": [{"license": {"id": licence}}],
        })  # fmt: skip
    return found


def asked(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> int:
    uv = asked(sys.executable, "explorer/bootstrap.py").strip()
    try:
        for path in build(ROOT / "dist", uv):
            sys.stdout.write(f"{path.relative_to(ROOT)}  {path.stat().st_size} bytes\n")
    except RuntimeError as problem:
        sys.stderr.write(f"{problem}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
