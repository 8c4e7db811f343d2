"""Answers that are made to fill memory are refused in a sentence, before they are read."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.test import Client

from groups.clusters.allowed import ALLOWED
from groups.clusters.bounds import BROKERS_MOST, bounded
from groups.clusters.brokers import open_cluster
from groups.clusters.channel import Answer
from groups.clusters.connection import decoded
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import settings_of
from groups.wire.codecs.schema import ELEMENTS_MOST, Array, FieldType, Struct
from tests.clusters.hostile import METADATA, NEWEST_METADATA, hostile_broker, many_brokers

pytestmark = pytest.mark.once

MANY = 2_100_000
SAYS = f"a list of {MANY:,} elements; {BROKERS_MOST:,} at most are read"


@pytest.mark.long
def test_the_test_of_a_cluster_that_names_two_million_brokers_ends_at_once_and_the_server_stays_small() -> (
    None
):
    before_kb = _peak_kb()
    with hostile_broker({METADATA: many_brokers(MANY)}) as address:
        begun_s = time.monotonic()
        body = {"properties": {"bootstrap.servers": address}}
        told = Client().post("/api/clusters/check", body, content_type="application/json").json()
    assert told["ok"] is False
    last = told["steps"][-1]
    assert last["state"] == "failed"
    assert SAYS in last["says"]
    assert "brokers" in last["says"]
    assert time.monotonic() - begun_s < 20
    # The broker's own answer is made in this process: 24 MB, sent in one piece.
    assert _peak_kb() - before_kb < 80 * 1024


async def test_a_watcher_of_a_cluster_that_names_two_million_brokers_is_told_the_same() -> None:
    with (
        hostile_broker({METADATA: many_brokers(MANY)}) as address,
        pytest.raises(ClusterError, match="elements") as refused,
    ):
        async with open_cluster(settings_of({"bootstrap.servers": address})):
            raise AssertionError("the answer was believed")
    assert refused.value.fault is Fault.UNREADABLE
    assert SAYS in str(refused.value)


@pytest.mark.parametrize("count", [BROKERS_MOST, BROKERS_MOST + 1])
def test_a_thousand_brokers_are_read_and_one_more_is_refused(count: int) -> None:
    body = many_brokers(count)(NEWEST_METADATA)
    # No cluster id, controller 1, no topics, error code 0, no tags.
    data = b"\0\0\0\1" + b"\0" + body + b"\0" + b"\0\0\0\1" + b"\1" + b"\0\0" + b"\0"
    answer = Answer(key=METADATA, version=NEWEST_METADATA, data=data)
    if count <= BROKERS_MOST:
        assert len(decoded(answer)["brokers"]) == count
    else:
        with pytest.raises(ClusterError, match="1,001 elements; 1,000 at most"):
            decoded(answer)


@pytest.mark.parametrize("key", sorted(ALLOWED))
def test_every_array_of_every_answer_has_a_bound(key: int) -> None:
    def bounds(declared: FieldType) -> list[int]:
        match declared:
            case Array():
                return [declared.most, *bounds(declared.of)]
            case Struct():
                return [most for field in declared.fields for most in bounds(field.type)]
        return []

    assert all(most < ELEMENTS_MOST for most in bounds(bounded(key).response.body))
    assert len(bounds(bounded(key).response.body)) == len(bounds(ALLOWED[key].api.response.body))


def test_an_answer_within_the_bounds_that_takes_too_much_memory_is_a_sentence_and_not_the_end() -> None:
    """As the child that tests, and the one that watches, have it: with a limit on their memory."""
    program = """
import resource
from groups.clusters.channel import Answer
from groups.clusters.connection import decoded
from groups.clusters.faults import ClusterError
count = 99_999
head = b"\\0\\0\\0\\1" + b"\\0" + b"\\0\\0\\0\\0" + b"\\0\\0"
def answer(count):
    groups = (b"\\x04" + b"abc" + b"\\1\\1\\1" + b"\\0") * count
    length = bytes([(count + 1) & 0x7F | 0x80, (count + 1) >> 7 & 0x7F | 0x80, (count + 1) >> 14])
    return Answer(key=16, version=5, data=head + length + groups + b"\\0")
assert len(decoded(answer(20_000))["groups"]) == 20_000
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 4 * 1024**2,) * 2)
try:
    decoded(answer(count))
except ClusterError as error:
    print(error.fault, error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("too_large The broker's answer to ListGroups (")
    assert "takes more memory to read than this process may have" in done.stdout


@pytest.mark.parametrize("command", [["watch", "--seconds", "1"], ["groups", "list"]])
def test_commands_that_read_a_clusters_answers_have_a_bound_on_their_memory(
    command: list[str], tmp_path: Path
) -> None:
    """A watcher that fills its memory ends by itself, with a sentence."""
    program = f"""
import resource, sys
from django.core.management import execute_from_command_line
from groups.command_line import TerminalCommand
def fill(self, *args, **options):
    print(resource.getrlimit(resource.RLIMIT_AS)[0] // 1024**3, "GiB", flush=True)
    bytearray(6 * 1024**3)
TerminalCommand.execute = fill
execute_from_command_line(["manage.py", *{command}, "--bootstrap-server", "127.0.0.1:1"])
"""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "explorer.settings",
        "REBALANCE_VAR": str(tmp_path),
    }
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, env=environment
    )
    assert (done.returncode, done.stdout) == (1, "4 GiB\n"), done.stderr
    assert done.stderr.strip() == "It needs more than the 4 GiB of memory that this command may have."


def _peak_kb() -> int:
    status = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
