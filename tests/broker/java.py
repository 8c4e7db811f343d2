"""How a process of Java starts here: quickly, since most of them live for seconds and there are hundreds of them.

Until a broker answers, it uses 6 s of a processor. With the quick compiler alone and the serial collector that is 4 s, with an
archive of the classes that a broker and a consumer load (AppCDS) 2 s.
"""

from __future__ import annotations

import functools
import hashlib
import re
import subprocess
from pathlib import Path
from typing import Final

QUICK: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def java(class_path: str, *options: str) -> list[str]:
    """The command to which a main class and its arguments are added; with the archive of its classes, if there is one."""
    archive = archive_of(class_path)
    shared = [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds=off"] if archive.exists() else []
    return ["java", *QUICK, *shared, *options, "-cp", class_path]


def archive_of(class_path: str) -> Path:
    """Where the archive of the jars at the beginning of a class path is: next to them, one for each Java."""
    jars = Path(class_path.split(":", 1)[0].removesuffix("/*"))
    return jars.parent / f"classes-{hashlib.sha256(version().encode()).hexdigest()[:8]}.jsa"


@functools.cache
def version() -> str:
    """What ``java -version`` prints; asked once, since each question is a process."""
    return subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr


def major_version() -> int:
    number = re.search(r'version "(?:1\.)?(\d+)', version())
    return int(number[1]) if number else 0
