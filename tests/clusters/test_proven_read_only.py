"""All of the product is used against a broker behind a recording proxy: what reached the broker is the list, and changed nothing."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from groups.clusters.allowed import ALLOWED, METADATA
from groups.wire.rpc import APIS, decode_request
from groups.wire.rpc.apis import CLUSTER_APIS
from tests.broker.members import CLASSIC, CONSUMER, Member
from tests.broker.node import Node
from tests.clusters.proxy import Proxy, recording
from tests.clusters.secure import free_ports
from tests.conftest import manage
from tests.serving import Served, served

pytestmark = [pytest.mark.broker, pytest.mark.once]

LIMIT_S = 180
READING = {
    "ApiVersions", "DescribeCluster", "Metadata", "ListGroups", "ConsumerGroupDescribe", "DescribeGroups", "OffsetFetch",
    "ListOffsets", "DescribeConfigs", "Fetch",
}  # fmt: skip
"""What a use of everything must have sent, or the proof is one of nothing."""


@dataclass(frozen=True, slots=True)
class Watched:
    """A broker of which one listener is reached through the proxy alone, and a server that watches it there."""

    node: Node
    proxy: Proxy
    folder: Path

    @property
    def properties(self) -> Path:
        file = self.folder / "watched.properties"
        file.write_text(f"bootstrap.servers=127.0.0.1:{self.proxy.port}\nclient.id=explorer-under-test\n")
        return file


@pytest.fixture(scope="module")
def watched(released_broker_jars: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    folder = tmp_path_factory.mktemp("watched")
    direct, behind, front, controller = free_ports(4)
    settings = {
        "listeners": f"PLAINTEXT://127.0.0.1:{direct},BEHIND://127.0.0.1:{behind},CONTROLLER://127.0.0.1:{controller}",
        # Whoever comes by the proxy is told the proxy's address, so nothing goes past it.
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{direct},BEHIND://127.0.0.1:{front},CONTROLLER://127.0.0.1:{controller}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BEHIND:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
    }
    node = Node(folder / "node", settings)
    node.port, node._controller_port = direct, controller
    node.start(same_ports=True)
    try:
        with recording(front, behind) as proxy:
            yield Watched(node, proxy, folder)
    finally:
        node.stop()


def use_everything(watched: Watched, server: Served, group: str) -> None:
    """Every page, every answer of the API and every command that has to do with a live cluster."""

    def ask(address: str, body: Any = None, method: str | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        with server.open(address, data) as answer:
            text = answer.read()
            return json.loads(text) if "json" in answer.headers["Content-Type"] else text

    def until(holds: Callable[[], Any]) -> Any:
        deadline = time.monotonic() + LIMIT_S
        while not (found := holds()):
            assert time.monotonic() < deadline, server.log.read_text()[-2000:]
            time.sleep(0.3)
        return found

    bootstrap = f"127.0.0.1:{watched.proxy.port}"
    ask("/clusters")
    checked = ask("/api/clusters/check", {"properties": {"bootstrap.servers": bootstrap}})
    assert checked["ok"], checked
    [cluster] = [each for each in ask("/api/clusters") if each["name"] == "proven"]
    url = f"/api/clusters/{cluster['id']}"
    until(lambda: ask(url)["status"] == "connected")
    ask(cluster["url"])
    ask(f"{url}/rules", {"kind": "stuck", "for_s": 1})
    if group:
        [timeline] = until(
            lambda: [
                each["timeline"]
                for each in ask(f"{url}/groups")
                if each["group"] == group and each["timeline"]
            ]
        )
        for address in ("", "/assignment", "/frame", "/metrics", "/entries", "/figures/epochs"):
            ask(f"/api/timelines/{timeline}{address}")
        ask(f"/t/{timeline}")
    ask(f"{url}/alerts")
    of = ("--command-config", str(watched.properties), "--bootstrap-server", bootstrap)
    groups = ("--group", group or "nobody", "--group", "another-that-is-not")
    tables = ((), ("--members", "--verbose"), ("--state",)) if group else (("--json",),)
    for command in (
        ("groups", "list", "--state", *of),
        *(("groups", "describe", *groups, *which, *of) for which in tables),
        ("watch", *of, "--seconds", "2"),
    ):
        done = manage(*command, environment=server.environment | {"WATCH_CLUSTERS": "0"})
        assert done.returncode in (0, 1), (command, done.stderr)


def seen(proxy: Proxy) -> Counter[str]:
    """The requests by name; each is on the list, with a version of the list, and could make nothing."""
    found: Counter[str] = Counter()
    known = {**APIS, **CLUSTER_APIS}
    for data in list(proxy.requests):
        told = decode_request(data, known)
        key, version = told["header"]["requestApiKey"], told["header"]["requestApiVersion"]
        assert key in ALLOWED, key
        assert ALLOWED[key].oldest <= version <= ALLOWED[key].newest
        assert ALLOWED[key].rule(told["body"])
        if key == METADATA:
            assert told["body"]["allowAutoTopicCreation"] is False
        found[ALLOWED[key].api.name] += 1
    assert proxy.broken == []
    return found


def made(node: Node) -> set[str]:
    return {path.name for path in node.data.iterdir() if path.is_dir()}


def test_everything_that_the_product_does_reads_and_an_empty_cluster_stays_empty(watched: Watched) -> None:
    """In one story, as a broker's start is what takes the time: empty first, then with groups that rebalance meanwhile."""
    empty = made(watched.node)
    (watched.folder / "var").mkdir()
    with served(watched.folder / "var", REBALANCE_CLUSTER_PROVEN=str(watched.properties)) as server:
        use_everything(watched, server, "")
        assert made(watched.node) == empty == {"__cluster_metadata-0"}
        assert seen(watched.proxy)["ListGroups"] > 3

        with watched.node.connect() as connection:
            connection.create_topic("orders", 4)
        members = [
            Member(watched.node, name, group, "orders", settings, program="rdkafka").start()
            for name, group, settings in (
                ("anna", "modern", CONSUMER),
                ("ben", "modern", CONSUMER),
                ("cleo", "classic", CLASSIC),
            )
        ]
        try:
            for member in members:
                member.wait_for("ready")
                member.join()
                member.wait_for("assigned")
            before = made(watched.node)
            members[1].kill()
            use_everything(watched, server, "modern")
            all_groups = manage(
                "groups",
                "describe",
                "--all-groups",
                "--json",
                "--cluster",
                "proven",
                environment=server.environment,
            )
            assert all_groups.returncode == 0, all_groups.stderr
        finally:
            for member in members:
                member.kill()
        assert made(watched.node) == before
    assert seen(watched.proxy).keys() >= READING
