"""Records read twice, exactly: of a member whose commit is refused, next to what two Java clients log that they read."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.broker.members import CLASSIC, Member
from tests.broker.recorded_texts import log_to
from tests.clusters.secure import Secure
from tests.clusters.watched import until
from tests.serving import ROOT

pytestmark = pytest.mark.broker

PARTITIONS, COMMITTED, MORE = 2, 60, 25


def read_by(member: Member) -> list[tuple[str, int]]:
    """Partition and offset of each record, as its client logs them; of one whose commit was refused, until then."""
    lines = list(member.lines)
    end = lines.index("refused") if "refused" in lines else len(lines)
    words = [line.split() for line in lines[:end] if line.startswith("at ")]
    return [(place, int(offset)) for _, place, offset, _ in words]


def test_the_records_of_a_refused_commit_are_those_that_both_clients_read(
    secure: Secure, tmp_path: Path
) -> None:
    """Provable where a client commits what it read, by itself, and logs that it was refused; its position is then known."""
    topic = f"t{time.time_ns()}"
    group = f"g-{topic}"
    with secure.node.connect() as connection:
        connection.create_topic(topic, PARTITIONS)
    producer = Producer({"bootstrap.servers": secure.node.bootstrap})

    def write(records: int) -> None:
        for partition in range(PARTITIONS):
            for _ in range(records):
                producer.produce(topic, b"x", partition=partition)
        assert producer.flush(60) == 0

    # b hears so late that it was removed that its commit is asked for before.
    late = {"heartbeat.interval.ms": 60_000, "session.timeout.ms": 200_000}
    settings = {**CLASSIC, "enable.auto.commit": "false", "member.reads": "true"}
    a = Member(secure.node, "a", group, topic, settings)
    b = Member(secure.node, "b", group, topic, {**settings, **late})
    log_to(b, tmp_path / "b.log")
    try:
        b.start().wait_for("ready")
        a.start().wait_for("ready")
        b.join()
        b.wait_for("assigned")
        write(COMMITTED)
        until(lambda: len(read_by(b)) == PARTITIONS * COMMITTED)
        b.commit()
        b.wait_for("committed")
        write(MORE)
        until(lambda: len(read_by(b)) == PARTITIONS * (COMMITTED + MORE))
        member = b.wait_for("assigned").split()[1]
        with secure.node.connect() as connection:
            leaving = {"groupId": group, "members": [{"memberId": member, "groupInstanceId": None}]}
            connection.ask("LeaveGroup", 3, leaving)
        a.join()
        until(lambda: len(read_by(a)) >= PARTITIONS * MORE)
        b.commit()
        b.wait_for("refused")
        again = set(read_by(a)) & set(read_by(b))
    finally:
        a.kill()
        b.kill()
    assert len(again) == PARTITIONS * MORE
    environment = {**os.environ, "REBALANCE_VAR": str(tmp_path / "var"), "DATABASE_URL": f"sqlite:///{tmp_path / 'b.sqlite3'}"}  # fmt: skip

    def manage(*words: str) -> str:
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    manage("migrate", "--verbosity", "0")
    segments = sorted(map(str, secure.node.data.glob("__consumer_offsets-*")))
    report = json.loads(manage("import_log", *segments, str(tmp_path / "b.log")))
    [timeline] = [each["id"] for each in report["timelines"] if each["group"] == group]
    lines = manage("timeline", "show", timeline, "--format", "findings").splitlines()
    found = [one for one in map(json.loads, lines) if one["kind"] == "read_twice"]
    ours = {
        (one["partition"], offset) for one in found for offset in range(one["from_offset"], one["to_offset"])
    }
    # Java's client logs the first partition of a refused commit alone.
    [named] = {partition for partition, _ in ours}
    assert ours == {each for each in again if each[0] == named}
