"""A disk without a free byte: pages open, what is new is refused, and what is there can be deleted and cancelled.

The disk is a real one, and a small one; the server is a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from groups.reserve import LEFT_FREE_BYTES, RESERVE_BYTES
from tests.serving import ROOT, Served, environment_for, served

pytestmark = pytest.mark.once

DISK_MB = 160
"""The static files take about 20, the reserve 32."""

ROWS = """
import os
from datetime import timedelta
import orjson
from django.db import connection
from django.utils import timezone
from groups import storage
from groups.imports import lifecycle
from groups.models import Batch, Import, Timeline
from groups.watching import registry
from groups.watching.alerts import registry as rules
from simulations.jobs import sweep_runs
from simulations.models import Sweep
from simulations.sweeps.asked import axes_of

running = {"status": "running", "lease_until": timezone.now() + timedelta(days=1)}
made = {"timelines": [], "imports": [], "sweeps": [], "clusters": []}
for number in range(2):
    timeline = storage.create_timeline(title="Large", source="import")
    for first in range(1, 21):
        Batch.objects.create(timeline=timeline, first=first, last=first, entries=os.urandom(500_000))
    Timeline.objects.filter(pk=timeline.id).update(last=20, **running)
    made["timelines"].append(timeline.id)
    made["imports"].append(lifecycle.create(title="Large", paths=["/nowhere"]).id)
    made["sweeps"].append(sweep_runs.create(axes_of({})).id)
    made["clusters"].append(registry.add(f"none-{number}", {"bootstrap.servers": "127.0.0.1:1"}).id)
rule = {"kind": "unreadable"}
made["rule"] = rules.add(registry.get(made["clusters"][0]), rule).id
Import.objects.update(**running)
Sweep.objects.update(**running)
# What its journal keeps for the next transactions is no free disk.
with connection.cursor() as cursor:
    cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
print(orjson.dumps(made).decode())
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system in memory."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a file system cannot be mounted here: it takes the rights of root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def managed(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "manage.py"), *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def filled(folder: Path) -> Path:
    """Fill the disk to its last byte; the file that does."""
    path = folder / "whatever.bin"
    with path.open("wb", buffering=0) as file:
        for size in (1024**2, 4096, 1):
            try:
                while file.write(bytes(size)) == size:
                    pass
            except OSError:
                continue
    assert os.statvfs(folder).f_bavail == 0
    return path


def asked(server: Served, method: str, address: str, body: Any = None) -> tuple[int, Any]:
    """Status and JSON of an answer."""
    data = None if body is None else orjson.dumps(body)
    headers = {**server.headers, "Content-Type": "application/json"}
    request = urllib.request.Request(server.url + address, data=data, headers=headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return answer.status, orjson.loads(text) if text[:1] in (b"{", b"[") else text
    except urllib.error.HTTPError as refused:
        with refused:
            text = refused.read()
            return refused.code, orjson.loads(text) if text[:1] == b"{" else text


@pytest.mark.long
def test_a_full_disk_is_emptied_by_its_own_server(small_disk: Path) -> None:
    with served(small_disk) as server:
        made = orjson.loads(managed(server.environment, "shell", "-c", ROWS).stdout.splitlines()[-1])
        reserve = small_disk / "rebalance-explorer.sqlite3.reserve"
        assert reserve.stat().st_size == RESERVE_BYTES
        status, link = asked(server, "POST", "/api/timelines/kip848-basic/links", {})
        assert status == 201, link
        filled(small_disk)

        # Reading needs no room.
        for address in ("/", "/import/", "/api/timelines", "/api/imports", "/t/kip848-basic"):
            assert asked(server, "GET", address)[0] == 200, address
        # What is new is refused in a sentence, and does not touch the reserve.
        status, answer = asked(server, "POST", "/api/runs", {"scenario": "kip848-basic"})
        assert (status, "disk" in answer["error"]["message"]) == (507, True)
        assert reserve.stat().st_size == RESERVE_BYTES

        # What others can see ends at once, and what is asked of clusters.
        assert asked(server, "GET", link["url"])[0] == 200
        assert asked(server, "DELETE", f"/api/links/{link['id']}") == (204, b"")
        assert asked(server, "GET", link["url"])[0] == 404
        paused, removed = made["clusters"]
        rule = f"/api/clusters/{paused}/rules/{made['rule']}"
        assert asked(server, "PATCH", rule, {"enabled": False})[0] == 200
        assert asked(server, "DELETE", rule) == (204, b"")
        status, answer = asked(server, "PATCH", f"/api/clusters/{paused}", {"watched": False})
        assert (status, answer["watched"]) == (200, False), answer
        assert asked(server, "DELETE", f"/api/clusters/{removed}") == (204, b"")

        for kind in ("timelines", "imports", "sweeps"):
            cancelled, deleted = made[kind]
            status, answer = asked(server, "POST", f"/api/{kind}/{cancelled}/cancel")
            assert (status, answer.get("status")) == (200, "cancelled"), (kind, answer)
            assert asked(server, "DELETE", f"/api/{kind}/{deleted}") == (204, b""), kind
            assert asked(server, "GET", f"/api/{kind}/{deleted}")[0] == 404, kind
            # What was given back is there again for the next one.
            assert reserve.stat().st_size >= RESERVE_BYTES - LEFT_FREE_BYTES - 2 * 1024**2, kind

        # The room of what was deleted serves what is new, though the disk is as full as before.
        status, answer = asked(server, "POST", "/api/runs", {"scenario": "kip848-basic"})
        assert status == 201, answer


@pytest.mark.long
def test_a_server_that_ended_starts_on_a_full_disk_and_the_command_deletes(small_disk: Path) -> None:
    environment = environment_for(small_disk)
    with served(small_disk) as server:
        made = orjson.loads(managed(server.environment, "shell", "-c", ROWS).stdout.splitlines()[-1])
        log = server.log
    (small_disk / "server.log").write_text("")
    assert log.parent == small_disk
    filler = filled(small_disk)

    done = managed(environment, "timeline", "remove", made["timelines"][0])
    assert done.returncode == 0, done.stderr
    with filler.open("ab", buffering=0) as file:
        while True:
            try:
                file.write(bytes(4096))
            except OSError:
                break
    with served(small_disk) as server:
        assert asked(server, "DELETE", f"/api/timelines/{made['timelines'][1]}") == (204, b"")
