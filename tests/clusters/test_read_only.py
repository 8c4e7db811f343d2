"""Nothing is ever sent to a cluster but the list, and nothing in it changes: read from the broker's own request log."""

from __future__ import annotations

import ast
import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from groups.clusters.allowed import ALLOWED, METADATA, NotAllowed, ask
from groups.clusters.brokers import open_cluster
from groups.clusters.offsets import ends, group_configs, topics
from groups.clusters.settings import settings_of
from tests.broker.node import running
from tests.house import ROOT

WRITING = {
    *(
        0,
        8,
        10,
        11,
        12,
        13,
        14,
    ),  # Produce, OffsetCommit, FindCoordinator, JoinGroup, Heartbeat, LeaveGroup, SyncGroup
    *(
        19,
        20,
        21,
        22,
        28,
        33,
        37,
        42,
        44,
        47,
        68,
        76,
        88,
    ),  # topics, transactions, configs, deletions, new heartbeats
}

HEADER = {"correlation_id": 1, "client_id": "test"}


@pytest.mark.parametrize("key", sorted(WRITING))
def test_what_changes_a_cluster_cannot_be_made_into_bytes(key: int) -> None:
    with pytest.raises(NotAllowed):
        ask(key, 0, {}, **HEADER)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "body"),
    [
        (3, {"topics": None, "allowAutoTopicCreation": True, "includeTopicAuthorizedOperations": False}),
        (3, {"topics": None}),
        (1, {"replicaId": 2, "maxWaitMs": 0, "minBytes": 0, "topics": []}),
        (1, {"maxWaitMs": 0, "minBytes": 0, "topics": [{"topic": "orders", "partitions": []}]}),
        (2, {"replicaId": 3, "isolationLevel": 0, "topics": []}),
        (9, {"groups": [{"groupId": "g", "memberId": "m", "memberEpoch": 3, "topics": None}]}),
    ],
)
def test_a_request_that_could_change_a_cluster_by_its_fields_is_not_made(
    key: int, body: dict[str, Any]
) -> None:
    with pytest.raises(NotAllowed):
        ask(key, ALLOWED[key].newest, body, **HEADER)  # type: ignore[arg-type]


def test_a_version_that_cannot_say_that_no_topic_is_made_is_not_sent() -> None:
    with pytest.raises(NotAllowed):
        ask(METADATA, 3, {"topics": [], "allowAutoTopicCreation": False}, **HEADER)  # type: ignore[arg-type]


def test_the_socket_is_written_to_in_one_place_and_with_the_list_alone() -> None:
    """Read from the sources: who opens connections, who writes to one, and what stands before it."""
    opens, writes = set(), set()
    for path in sorted((ROOT / "groups").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr in ("open_connection", "create_connection", "open_unix_connection", "sendall"):
                opens.add(path.name)
            if node.func.attr == "write" and "writer" in ast.unparse(node.func.value).lower():
                writes.add((path.name, ast.unparse(node)))
    # A webhook's message goes to the world, and knows nothing of a cluster.
    assert opens == {"channel.py", "webhook.py"}
    assert writes == {
        ("channel.py", "self.__writer.write(_LENGTH.pack(len(asked.data)) + asked.data)"),
        ("webhook.py", "writer.write(request)"),
    }
    sending = (ROOT / "groups/watching/alerts/webhook.py").read_text()
    assert "groups.clusters" not in sending
    assert "groups.wire" not in sending


@pytest.mark.broker
@pytest.mark.once
def test_an_empty_cluster_that_was_asked_everything_is_as_empty_and_has_seen_the_list_alone(
    released_broker_jars: str, tmp_path: Path
) -> None:
    async def ask_everything(bootstrap: str) -> None:
        settings = settings_of({"bootstrap.servers": bootstrap, "client.id": "explorer-under-test"})
        async with open_cluster(settings) as cluster:
            await cluster.list_groups()
            await cluster.find("nobody")
            await topics(cluster)
            await topics(cluster, ["not-there"])
            await ends(cluster, {"not-there": [0]})
            await group_configs(cluster, ["nobody"])

    with running(tmp_path / "node", request_log=True) as node:
        asyncio.run(ask_everything(node.bootstrap))
        log = node.folder / "broker.log.requests"
        node.stop()
        made = {path.name for path in node.data.iterdir() if path.is_dir()}
    assert made == {"__cluster_metadata-0"}
    seen = list(requests_of(log, "explorer-under-test"))
    assert len(seen) >= 10
    for header, body in seen:
        allowed = ALLOWED[header["requestApiKey"]]
        assert allowed.oldest <= header["requestApiVersion"] <= allowed.newest
        if header["requestApiKey"] == METADATA:
            assert body["allowAutoTopicCreation"] is False


def requests_of(log: Path, client_id: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Header and body of each request of a client, from the lines of ``kafka.request.logger``."""
    found = []
    for line in log.read_text().splitlines():
        if (at := line.find("{")) < 0:
            continue
        told = json.loads(line[at:])
        if told["requestHeader"].get("clientId") == client_id:
            found.append((told["requestHeader"], told["request"]))
    return found
