"""Makes later imports start quickly: ``python -m groups.pipeline.class_archive [PATH…]``.

Runs one import whose JVM writes the archive of its loaded classes (AppCDS) when it ends; with the archive, Spark is
ready in a quarter of the time. ``make run`` does this behind the server once Spark's packages are there. Nothing is
kept of what it reads, and where the archive cannot be made (no base archive in the Java that is used) nothing happens.
"""

from __future__ import annotations

import io
import sys
import tempfile

from groups.child_side import Lines
from groups.pipeline.engine import SPARK
from groups.pipeline.job import run
from groups.pipeline.spark.java import NoJava, find_java
from groups.pipeline.spark.session import CACHE, class_archive
from groups.pipeline.spark.warm import WarmSession
from groups.places import ROOT

SAMPLES = ROOT / "groups" / "samples"


def main(paths: list[str]) -> int:
    CACHE.mkdir(parents=True, exist_ok=True)
    try:
        java = find_java(CACHE)
    except NoJava as error:
        sys.stderr.write(f"{error}\n")
        return 1
    if not java.base_archive or class_archive(java, CACHE).exists():
        return 0
    warm = WarmSession(archive=True)
    with tempfile.TemporaryDirectory() as store:
        request = {"paths": paths or [str(SAMPLES)], "store": store, "folder": "archive", "engine": SPARK}
        run(request, Lines(io.BytesIO()), warm)
        warm.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
