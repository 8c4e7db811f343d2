"""Which clusters are watched by one process, and which gets one of its own."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from explorer.watchers import SHARED_MOST, batches
from groups.address_space import memory_bytes
from groups.cluster_models import Cluster
from groups.places import ROOT
from groups.watching.child import SHARED_BYTES_MOST, SHARED_GROUPS_MOST, too_large

ADD = """
import os, json, django
os.environ["DJANGO_SETTINGS_MODULE"] = "explorer.settings"
django.setup()
from groups.watching import registry
keys = [registry.add(name, {"bootstrap.servers": "127.0.0.1:1"}).pk for name in ("a", "b", "c")]
assert all(registry.take(key, "test") for key in keys)
print(json.dumps(keys))
"""


def cluster(name: str, groups: int | None) -> Cluster:
    return Cluster(pk=name, name=name, seen={} if groups is None else {"groups": groups})


def test_small_clusters_share_processes_and_large_ones_and_those_that_disturbed_have_their_own() -> None:
    clusters = [cluster(f"c{number}", 20) for number in range(SHARED_MOST + 2)]
    clusters += [cluster("new", None), cluster("large", SHARED_GROUPS_MOST + 1)]
    found = [[one.pk for one in some] for some in batches(clusters, {"c3"})]
    assert [len(some) for some in found] == [SHARED_MOST, 2, 1, 1]
    assert found[-2:] == [["c3"], ["large"]]
    assert sorted(pk for some in found for pk in some) == sorted(one.pk for one in clusters)


def test_the_largest_is_let_go_where_it_has_too_many_groups_or_all_take_too_much_memory() -> None:
    seen = {"a": {"groups": 10}, "b": {"groups": 30}, "c": {}}
    assert too_large(seen, 0) is None
    assert too_large(seen, SHARED_BYTES_MOST + 1) == "b"
    assert too_large(seen | {"d": {"groups": SHARED_GROUPS_MOST + 1}}, 0) == "d"
    assert too_large({"d": {"groups": SHARED_GROUPS_MOST + 1}}, SHARED_BYTES_MOST + 1) is None
    assert memory_bytes() > 10_000_000


def within(seconds: float, is_so: Callable[[], bool]) -> bool:
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        if is_so():
            return True
        time.sleep(0.2)
    return False


@pytest.mark.once
@pytest.mark.long
def test_one_process_watches_several_clusters_and_one_that_is_paused_disturbs_no_other(
    tmp_path: Path,
) -> None:
    environment = {**os.environ, "REBALANCE_VAR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""}

    subprocess.run(
        [sys.executable, "manage.py", "migrate"], cwd=ROOT, env=environment, capture_output=True, check=True
    )
    added = subprocess.run(
        [sys.executable, "-c", ADD], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    keys = orjson.loads(added.stdout)
    with subprocess.Popen(
        [sys.executable, "-m", "groups.watching.child"],
        cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    ) as child:  # fmt: skip
        assert child.stdin is not None
        child.stdin.write(orjson.dumps({"clusters": keys, "owner": "test"}) + b"\n")
        child.stdin.flush()
        [file] = tmp_path.glob("*.sqlite3")
        with contextlib.closing(sqlite3.connect(file, timeout=30)) as rows:

            def states() -> dict[str, tuple[str, str]]:
                found = rows.execute("SELECT name, status, lease_owner FROM groups_cluster")
                return {name: (status, owner) for name, status, owner in found}

            failing = dict.fromkeys("abc", ("failing", "test"))
            assert within(60, lambda: states() == failing), states()
            rows.execute("UPDATE groups_cluster SET watched = 0 WHERE name = 'b'")
            rows.commit()
            assert within(30, lambda: states()["b"][1] == ""), states()
            assert states()["a"] == states()["c"] == ("failing", "test")
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(30) == 0
