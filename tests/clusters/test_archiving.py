"""The whole log of a real cluster's groups, copied by Structured Streaming: the broker's own bytes, across restarts."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from groups.archiving.job import CHECKPOINT, alone, belongs, cause_of, copy
from groups.archiving.segments import LOG, TOPICS, ArchiveError, positions
from groups.archiving.source import sink_of, source_of
from groups.child_side import Lines
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.settings import settings_of
from tests.broker.node import OFFSETS_PARTITIONS, Node, running
from tests.clusters.watched import until
from tests.conftest import manage
from tests.pipeline.folds import fold_paths
from tests.serving import environment_for

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.once]

LIMIT_S = 300
"""A query's start takes ten seconds on a quiet machine."""

TOPIC = "orders"
JOINING: dict[str, Any] = {"subscribed": [TOPIC], "rebalance_timeout_ms": 60_000, "owned": {}}


@pytest.fixture(scope="module")
def node(released_broker_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Node]:
    with running(tmp_path_factory.mktemp("archived")) as node:
        with node.connect() as connection:
            connection.create_topic(TOPIC, 4)
        live(node, "first")
        yield node


def live(node: Node, name: str, groups: int = 8) -> None:
    """Groups that meet and part: records in every partition of the log."""
    with node.connect() as connection:
        for number in range(groups):
            group = f"{name}-{number}"
            until(lambda group=group: not connection.find_coordinator(group))  # type: ignore[misc]
            until(lambda group=group: not connection.heartbeat(group, "m", 0, **JOINING)["errorCode"])  # type: ignore[misc]
            connection.heartbeat(group, "m", -1)


class Copying:
    """The query of one folder, in a session that others have, too."""

    def __init__(self, spark: Any, node: Node, folder: Path) -> None:
        self.spark, self.folder = spark, folder
        self.out = io.BytesIO()
        settings = settings_of({"bootstrap.servers": node.bootstrap, "request.timeout.ms": "3000"})
        folder.mkdir(exist_ok=True)
        spark.dataSource.register(source_of(settings, folder))
        spark.dataSource.register(sink_of(folder))

    def run(self, *, once: bool = True) -> None:
        copy(self.spark, self.folder, Lines(self.out), every_s=1, once=once)

    def said(self, kind: str) -> list[dict[str, Any]]:
        lines = [json.loads(line) for line in self.out.getvalue().splitlines()]
        return [line for line in lines if line["type"] == kind]


def logs(folder: Path) -> dict[int, bytes]:
    """The bytes of each partition's segments, joined."""
    return {
        number: b"".join(
            file.read_bytes() for file in sorted((folder / f"__consumer_offsets-{number}").glob("*.log"))
        )
        for number in range(OFFSETS_PARTITIONS)
    }


def ends(node: Node) -> dict[int, int]:
    with node.connect() as connection:
        return {
            number: connection.end_offset("__consumer_offsets", number)
            for number in range(OFFSETS_PARTITIONS)
        }


def assert_is_the_brokers(node: Node, folder: Path, up_to: dict[int, int]) -> None:
    """The copy is a beginning of the broker's own files, byte for byte, and reaches as far as they did."""
    theirs, ours = logs(node.data), logs(folder / LOG)
    assert any(ours.values())
    for number, data in ours.items():
        assert theirs[number].startswith(data), number
    assert {number: each.next for number, each in positions(folder).items()}.items() >= {
        number: end for number, end in up_to.items() if end
    }.items()


def test_the_copy_is_the_brokers_own_bytes_and_goes_on_from_its_checkpoint(
    spark: Any, node: Node, tmp_path: Path
) -> None:
    copying = Copying(spark, node, tmp_path)
    copying.run()
    assert_is_the_brokers(node, tmp_path, ends(node))
    first = logs(tmp_path / LOG)
    topics = json.loads((tmp_path / TOPICS).read_bytes())
    assert {"name": TOPIC, "partitions": 4} in topics.values()

    live(node, "second")
    # A process that was killed as it wrote leaves half a batch behind what it had said.
    [*_, segment] = sorted((tmp_path / LOG).rglob("*.log"))
    with segment.open("ab") as file:
        file.write(first[int(segment.parent.name.rpartition("-")[2])][:70])
    again = Copying(spark, node, tmp_path)
    again.run()
    assert_is_the_brokers(node, tmp_path, ends(node))
    assert all(data.startswith(first[number]) for number, data in logs(tmp_path / LOG).items())
    # The second query went on behind the first one's batch, from the offsets that its checkpoint holds.
    assert [line["batch"] for line in copying.said("batch") + again.said("batch")] == [0, 1]
    assert sorted(file.name for file in (tmp_path / CHECKPOINT / "commits").glob("[0-9]*")) == ["0", "1"]
    held = again.said("batch")[-1]
    assert held["bytes"] == sum(map(len, logs(tmp_path / LOG).values()))

    Copying(spark, node, tmp_path).run()
    assert_is_the_brokers(node, tmp_path, ends(node))


def test_the_command_copies_what_is_there_and_import_log_takes_it(node: Node, tmp_path: Path) -> None:
    (tmp_path / "var").mkdir()
    environment = environment_for(tmp_path / "var")
    folder = tmp_path / "archive"
    words = ("archive_log", "--bootstrap-server", node.bootstrap, "--into", str(folder), "--once")
    done = manage(*words, environment=environment)
    assert done.returncode == 0, done.stderr
    [line] = [json.loads(each) for each in done.stdout.splitlines()]
    assert line["records"] == sum(each.records for each in positions(folder).values()) > 0
    imported = fold_paths(str(folder / LOG), topics=json.loads((folder / TOPICS).read_bytes()))
    assert {line["group"] for line in imported.of("timeline")} >= {f"first-{number}" for number in range(8)}
    [records] = [line["records"] for line in imported.of("done")]
    assert records["skipped"] == []


def test_import_log_reads_the_topic_of_a_cluster_to_its_end_and_goes_on_from_there(
    node: Node, tmp_path: Path
) -> None:
    (tmp_path / "var").mkdir()
    properties = tmp_path / "prod.properties"
    properties.write_text(f"bootstrap.servers={node.bootstrap}\n")
    environment = {**environment_for(tmp_path / "var"), "REBALANCE_CLUSTER_PROD": str(properties)}

    def imported() -> dict[str, Any]:
        done = manage("import_log", "--cluster", "prod", environment=environment)
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    first = imported()
    names = {timeline["group"] for timeline in first["timelines"]}
    assert names >= {f"first-{number}" for number in range(8)}
    assert first["records"]["skipped"] == []
    live(node, "third", groups=2)
    again = imported()
    assert {timeline["group"] for timeline in again["timelines"]} - names == {"third-0", "third-1"}
    [copy] = (tmp_path / "var").rglob("*.topic")
    assert sorted(file.name for file in (copy / CHECKPOINT / "commits").glob("[0-9]*")) == ["0", "1"]
    assert_is_the_brokers(node, copy, ends(node))

    unknown = manage("import_log", "--cluster", "nope", environment=environment)
    assert (unknown.returncode, len(unknown.stderr.splitlines())) == (2, 1)


def test_a_cluster_that_does_not_answer_is_told_in_one_line(tmp_path: Path) -> None:
    words = (
        "archive_log",
        "--bootstrap-server",
        "127.0.0.1:1",
        "--into",
        str(tmp_path / "archive"),
        "--once",
    )
    done = manage(*words, environment=environment_for(tmp_path))
    assert (done.returncode, done.stderr.strip().splitlines()[-1]) == (
        1,
        "CommandError: Nothing listens on 127.0.0.1:1.",
    )


def test_a_folder_is_of_one_cluster_and_of_one_process_at_a_time(tmp_path: Path) -> None:
    with alone(tmp_path):
        belongs(tmp_path, "one")
        belongs(tmp_path, "one")
        with pytest.raises(ArchiveError, match="is of cluster one, and this is two: give another folder"):
            belongs(tmp_path, "two")
        with pytest.raises(ArchiveError, match="Another process copies into"), alone(tmp_path):
            pass


def test_what_a_task_raised_is_told_in_its_own_words() -> None:
    pages = "[STREAM_FAILED] …\nTraceback …\ngroups.clusters.faults.ClusterError: Nothing listens on x:1.\n\tat java…"
    cause = cause_of(RuntimeError(pages))
    assert isinstance(cause, ClusterError)
    assert (str(cause), cause.fault) == ("Nothing listens on x:1.", Fault.SILENT)
    other = RuntimeError("something else")
    assert cause_of(other) is other


def test_a_broker_that_is_gone_is_waited_for_and_nothing_is_missing_then(
    spark: Any, node: Node, tmp_path: Path
) -> None:
    """The last one: the node ends with the thread that started it anew."""
    copying = Copying(spark, node, tmp_path)

    def happen() -> None:
        try:
            until(lambda: copying.said("batch"), LIMIT_S)
            node.kill()
            until(lambda: copying.said("waiting"), LIMIT_S)
            node.start(same_ports=True)
            live(node, "third")
            up_to = {number: end for number, end in ends(node).items() if end}
            until(
                lambda: all(positions(tmp_path)[number].next >= end for number, end in up_to.items()), LIMIT_S
            )
        finally:
            # It ends by itself then, as one that is stopped.
            until(lambda: spark.streams.active, LIMIT_S)
            for query in spark.streams.active:
                query.stop()

    with ThreadPoolExecutor(1) as meanwhile:
        happened = meanwhile.submit(happen)
        copying.run(once=False)
        happened.result()
    # A broker that is killed while it is asked closes the connection first.
    reason = copying.said("waiting")[0]["message"]
    assert "Nothing listens on" in reason or "closed the connection" in reason
    theirs = logs(node.data)
    assert all(theirs[number].startswith(data) for number, data in logs(tmp_path / LOG).items())
