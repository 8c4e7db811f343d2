"""Makes the archive of classes with which brokers and consumers start (see ``java``): once on a machine, in half a minute."""

from __future__ import annotations

import fcntl
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from . import jars
from .java import QUICK, archive_of
from .members import CLASSIC, CONSUMER, Member
from .node import running

LIMIT_S: Final = 900


def make_once() -> None:
    """Makes the archive if there is none; who comes while another process makes it starts without."""
    archive = archive_of(jars.class_path())
    if archive.exists():
        return
    with (archive.parent / "archive.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        if not archive.exists():
            _make(archive)


def _make(archive: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        listed = _listed(Path(folder))
        arriving = archive.with_suffix(".arriving")
        command = ["java", "-Xshare:dump", f"-XX:SharedClassListFile={listed}"]
        command += [f"-XX:SharedArchiveFile={arriving}", *QUICK, "-cp", f"{jars.JARS}/*"]
        subprocess.run(command, capture_output=True, timeout=LIMIT_S, check=True)
        arriving.rename(archive)


def _listed(folder: Path) -> Path:
    """A file with the classes that a broker, its storage tool and a consumer of each protocol load, which run for it."""
    options = (f"-XX:DumpLoadedClassList={folder}/%p.loaded",)
    with running(folder / "node", options=options) as node:
        for settings in (CONSUMER, CLASSIC):
            name = str(settings["group.protocol"])
            member = Member(node, name, name, "none", settings, options=options).start()
            member.wait_for("ready")
            member.join()
            member.leave()
    listed = folder / "listed"
    lists = folder.glob("*.loaded")
    lines = {line for each in lists for line in each.read_text().splitlines(keepends=True)}
    listed.write_text("".join(sorted(lines)))
    return listed
