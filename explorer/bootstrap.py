"""Finds uv, or gets it, with the standard library alone: what ``make`` runs before anything is installed.

Prints the path of a usable ``uv`` on standard output. In order: ``$UV``, ``uv`` on the PATH, the copy that an
earlier call left under ``.tools/``, ``pip`` in a virtual environment under ``.tools/``, and where Python comes
without ``venv`` (Debian's does), uv's wheel from the configured package index, unpacked.
"""

from __future__ import annotations

import configparser
import hashlib
import io
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from urllib.parse import urljoin

UV_VERSION = "0.13.8"
"""The release that wrote ``uv.lock``; CI uses it too."""

UV_OLDEST = (0, 9)
"""Older releases do not read this lock file's revision."""

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / ".tools"
PYTHON_OLDEST = (3, 11)
DEFAULT_INDEX = "https://pypi.org/simple"


def main() -> int:
    if sys.version_info < PYTHON_OLDEST:
        return fail(
            f"Python {platform.python_version()} is too old: Rebalance Explorer needs 3.11 or newer. "
            "Name another one with `make PYTHON=/path/to/python3.11 …`."
        )
    for candidate in (os.environ.get("UV"), shutil.which("uv"), str(TOOLS / "bin" / "uv")):
        if candidate and is_usable(candidate):
            return answer(candidate)
    say(f"Getting uv {UV_VERSION}, which installs the locked packages …")
    uv = by_pip() or by_wheel()
    if uv is None:
        return fail(
            "uv could not be installed: neither pip nor the package index answered. "
            "Install uv by hand (https://docs.astral.sh/uv/) and run make again."
        )
    return answer(uv)


def is_usable(uv: str) -> bool:
    try:
        said = subprocess.run(
            [uv, "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return False
    found = re.search(r"(\d+)\.(\d+)", said)
    return found is not None and (int(found[1]), int(found[2])) >= UV_OLDEST


def by_pip() -> str | None:
    """uv through pip in a virtual environment of its own; None where ``venv`` or pip is missing."""
    home = TOOLS / "venv"
    python = home / "bin" / "python"
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(home)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"uv=={UV_VERSION}"],
    ]
    for step in steps:
        try:
            subprocess.run(
                step, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300
            )
        except (OSError, subprocess.SubprocessError):
            return None
    return keep(home / "bin" / "uv")


def by_wheel() -> str | None:
    """uv's wheel from the package index, checked against the index's own hash, unpacked without pip."""
    for index in indexes():
        try:
            found = wheel_for_this_machine(index)
            if found is None:
                continue
            url, expected = found
            data = fetch(url)
        except (OSError, ValueError):
            continue
        if expected and hashlib.sha256(data).hexdigest() != expected:
            say(f"The wheel from {index} does not match its published hash; it is not used.")
            continue
        with zipfile.ZipFile(io.BytesIO(data)) as wheel:
            inside = next((n for n in wheel.namelist() if n.endswith(".data/scripts/uv")), None)
            if inside is None:
                continue
            TOOLS.mkdir(exist_ok=True)
            unpacked = TOOLS / "uv-unpacked"
            unpacked.write_bytes(wheel.read(inside))
        kept = keep(unpacked)
        unpacked.unlink()
        return kept
    return None


def indexes() -> list[str]:
    """Package indexes that this machine's owner configured, most specific first, PyPI last."""
    named = [os.environ.get(name) for name in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")]
    for file in ("/etc/pip.conf", "~/.pip/pip.conf", "~/.config/pip/pip.conf"):
        config = configparser.ConfigParser(interpolation=None)
        try:
            config.read(Path(file).expanduser())
            named.append(config.get("global", "index-url", fallback=None))
        except configparser.Error:
            continue
    return [url.rstrip("/") for url in named if url] + [DEFAULT_INDEX]


def wheel_for_this_machine(index: str) -> tuple[str, str | None] | None:
    """Address and sha256 of uv's wheel for this system and processor, from the index's JSON or HTML page."""
    page_url = f"{index}/uv/"
    accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
    text = fetch(page_url, accept).decode()
    try:
        files = [
            (f["filename"], f["url"], f.get("hashes", {}).get("sha256")) for f in json.loads(text)["files"]
        ]
    except (ValueError, KeyError):
        links = re.findall(r'href="([^"#]+)(?:#sha256=([0-9a-f]{64}))?"', text)
        files = [(href.rsplit("/", 1)[-1], href, sha or None) for href, sha in links]
    wanted = platform_tag()
    for name, url, sha in files:
        if name.startswith(f"uv-{UV_VERSION}-") and name.endswith(".whl") and wanted.search(name):
            return urljoin(page_url, url), sha
    return None


def platform_tag() -> re.Pattern[str]:
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    if sys.platform == "darwin":
        return re.compile(rf"macosx_\d+_\d+_{'arm64' if machine == 'aarch64' else machine}\.whl$")
    libc = "musllinux" if "musl" in (platform.libc_ver()[0] or "musl") else "manylinux"
    return re.compile(rf"{libc}[\w.]*{machine}[\w.]*\.whl$")


def fetch(url: str, accept: str = "*/*") -> bytes:
    if not url.startswith(("https://", "http://")):
        raise ValueError(f"{url} is no web address")
    request = urllib.request.Request(url, headers={"Accept": accept})  # noqa: S310  the scheme was just checked
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        data: bytes = answer.read()
    return data


def keep(uv: Path) -> str | None:
    """Puts the program where the next call finds it."""
    if not uv.exists():
        return None
    kept = TOOLS / "bin" / "uv"
    kept.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(uv, kept)
    kept.chmod(0o755)
    return str(kept) if is_usable(str(kept)) else None


def answer(uv: str) -> int:
    sys.stdout.write(uv + "\n")
    return 0


def say(line: str) -> None:
    sys.stderr.write(line + "\n")


def fail(line: str) -> int:
    say(line)
    return 1


if __name__ == "__main__":
    sys.exit(main())
