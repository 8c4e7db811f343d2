"""Two members of a sticky assignor, one with broken user data: the leader cannot assign, so no rebalance ever ends.

The leader of a real client throws in its assignor and joins again; the coordinator goes between PreparingRebalance and
CompletingRebalance. These two do the same by the protocol alone.
"""

from __future__ import annotations

import base64
import contextlib
import threading
import time
from collections.abc import Iterator

from groups.wire.embedded.consumer_protocol import encode_subscription
from tests.broker.node import Node, wait_for_coordinator
from tests.broker.rpc import Connection, RpcError

SESSION_MS = 30_000
TRIES_EVERY_S = 0.7
BROKEN = b"\xff\xff\xff\xff"
UNKNOWN_MEMBER_ID = 25


@contextlib.contextmanager
def endless(node: Node, group: str, topic: str) -> Iterator[threading.Event]:
    """Both members, until the end of the block; where the event is set, the leader is mended and assigns."""
    wait_for_coordinator(node, group)
    ended, mended = threading.Event(), threading.Event()
    threads = [
        threading.Thread(target=_member, args=(node, group, topic, name, data, ended, mended))
        for name, data in (("sound", b""), ("broken", BROKEN))
    ]
    for thread in threads:
        thread.start()
    try:
        yield mended
    finally:
        ended.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def _member(
    node: Node,
    group: str,
    topic: str,
    name: str,
    data: bytes,
    ended: threading.Event,
    mended: threading.Event,
) -> None:
    member_id, tries = "", 0
    with contextlib.suppress(RpcError, OSError), node.connect(name) as connection:
        while not ended.is_set():
            joined = _join(connection, group, member_id, _subscription(topic, data, tries))
            member_id = "" if joined["errorCode"] == UNKNOWN_MEMBER_ID else joined["memberId"] or member_id
            if joined["errorCode"]:
                continue
            if joined["leader"] == member_id and not mended.is_set():
                # Its assignor throws: it joins again, with other user data, so that all have to join again.
                time.sleep(TRIES_EVERY_S)
                tries += 1
                continue
            is_leader = joined["leader"] == member_id
            given = [{"memberId": each["memberId"], "assignment": ""} for each in joined["members"]]
            if _sync(connection, group, member_id, joined, given if is_leader else []):
                _beat(connection, group, member_id, joined["generationId"], ended)
        connection.ask(
            "LeaveGroup", 3, {"groupId": group, "members": [{"memberId": member_id, "groupInstanceId": None}]}
        )


def _subscription(topic: str, data: bytes, tries: int) -> str:
    user_data = base64.b64encode(data + bytes([tries % 256])).decode()
    told = {"version": 1, "topics": [topic], "userData": user_data, "ownedPartitions": []}
    return base64.b64encode(encode_subscription(told)).decode()


def _join(connection: Connection, group: str, member_id: str, subscription: str) -> dict[str, str]:
    return connection.ask(
        "JoinGroup",
        5,
        {
            "groupId": group, "sessionTimeoutMs": SESSION_MS, "rebalanceTimeoutMs": 5_000, "memberId": member_id,
            "groupInstanceId": None, "protocolType": "consumer", "protocols": [{"name": "sticky", "metadata": subscription}],
        },
    )  # fmt: skip


def _sync(
    connection: Connection, group: str, member_id: str, joined: dict[str, str], given: list[dict[str, str]]
) -> bool:
    answer = connection.ask(
        "SyncGroup",
        3,
        {
            "groupId": group, "generationId": joined["generationId"], "memberId": member_id,
            "groupInstanceId": None, "assignments": given,
        },
    )  # fmt: skip
    return not answer["errorCode"]


def _beat(
    connection: Connection, group: str, member_id: str, generation: str, ended: threading.Event
) -> None:
    while not ended.is_set():
        body = {"groupId": group, "generationId": generation, "memberId": member_id, "groupInstanceId": None}
        if connection.ask("Heartbeat", 3, body)["errorCode"]:
            return
        time.sleep(0.2)
