"""Rows of the error catalogue that need no real broker: each has its plain sentence, and the rest goes on."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from groups.clusters.allowed import API_VERSIONS, CONSUMER_GROUP_DESCRIBE, LIST_GROUPS, METADATA
from groups.clusters.brokers import Brokers, Listed, Listing
from groups.clusters.connection import UNSUPPORTED_VERSION, Connection, connect
from groups.clusters.faults import ClusterError, Fault
from groups.clusters.offsets import Committed, LogOffsets
from groups.clusters.sentences import undescribed
from groups.clusters.settings import settings_of
from groups.history.polls.description import GroupKind, Undescribed
from groups.watching import pulling
from groups.watching.pulling import Puller

TLS = {"security.protocol": "SSL"}


async def connected(properties: dict[str, str]) -> Connection:
    settings = settings_of(properties)
    return await connect(settings.servers[0], settings)


async def refusal(properties: dict[str, str]) -> ClusterError:
    with pytest.raises(ClusterError) as refused:
        await connected(properties)
    return refused.value


@pytest.fixture
def full_port() -> Iterator[int]:
    """A port whose queue of connections is full: what is sent there is dropped, as a firewall drops it."""
    with contextlib.ExitStack() as held:
        listening = held.enter_context(socket.socket())
        listening.bind(("127.0.0.1", 0))
        listening.listen(0)
        port = listening.getsockname()[1]
        for _ in range(8):
            waiting = held.enter_context(socket.socket())
            waiting.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                waiting.connect(("127.0.0.1", port))
        yield port


async def test_packets_that_are_dropped_are_told_as_what_a_firewall_does(full_port: int) -> None:
    error = await refusal({"bootstrap.servers": f"127.0.0.1:{full_port}", "request.timeout.ms": "1000"})
    assert str(error) == (
        f"127.0.0.1:{full_port} does not answer at all within 1 s: a firewall may drop what is sent there."
    )
    assert (error.fault, error.may_pass) == (Fault.UNREACHABLE, True)


Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@contextlib.asynccontextmanager
async def serving(answer: Callable[[Streams], Awaitable[None]]) -> AsyncIterator[int]:
    """A port on which each connection is answered so, and closed behind it; all are over when the block is."""
    over: list[asyncio.Event] = []

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        over.append(ended := asyncio.Event())
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            await answer((reader, writer))
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    server = await asyncio.start_server(one, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for ended in over:
            await ended.wait()


async def test_a_port_that_lets_a_handshake_wait_is_told() -> None:
    async def keep_silent(streams: Streams) -> None:
        await streams[0].read()

    async with serving(keep_silent) as port:
        error = await refusal({"bootstrap.servers": f"127.0.0.1:{port}", "request.timeout.ms": "1000", **TLS})
    assert str(error) == f"127.0.0.1:{port} accepts connections but does not answer."
    assert error.seen == "no TLS handshake within 1 s"


OLD = {METADATA: (0, 5), LIST_GROUPS: (0, 1), API_VERSIONS: (0, 0)}
"""What a broker of long ago has."""


def old_broker(asked: list[tuple[int, int]]) -> AbstractAsyncContextManager[int]:
    """Answers ApiVersions, a version that it does not know in the form of version 0, and Metadata; it closes at all else."""

    async def answer(streams: Streams) -> None:
        reader, writer = streams
        while True:
            (length,) = struct.unpack(">i", await reader.readexactly(4))
            key, version, number = struct.unpack_from(">hhi", await reader.readexactly(length))
            asked.append((key, version))
            if key == METADATA:
                # Throttled for 0 ms, no brokers, no cluster id, no controller, no topics.
                said = struct.pack(">iiihii", number, 0, 0, -1, -1, 0)
            elif key == API_VERSIONS and version == 0:
                rows = b"".join(struct.pack(">hhh", each, *span) for each, span in OLD.items())
                said = struct.pack(">ihi", number, 0, len(OLD)) + rows
            elif key == API_VERSIONS:
                said = struct.pack(">ihi", number, UNSUPPORTED_VERSION, 0)
            else:
                return
            writer.write(struct.pack(">i", len(said)) + said)

    return serving(answer)


async def test_what_a_broker_did_not_name_is_never_sent_to_it() -> None:
    asked: list[tuple[int, int]] = []
    async with old_broker(asked) as port:
        connection = await connected({"bootstrap.servers": f"127.0.0.1:{port}"})
        # Both know it, and in a version that both know.
        assert connection.version(LIST_GROUPS) == 1
        with pytest.raises(ClusterError) as refused:
            await connection.ask(
                CONSUMER_GROUP_DESCRIBE, {"groupIds": ["g"], "includeAuthorizedOperations": False}
            )
        await connection.close()
    assert str(refused.value) == (
        f"127.0.0.1:{port} does not know ConsumerGroupDescribe in a version that is spoken here: its Kafka is older than "
        "4.0, or its protocol is off."
    )
    assert asked == [(API_VERSIONS, 3), (API_VERSIONS, 0), (METADATA, 5)]


@pytest.mark.parametrize(
    ("code", "message", "says"),
    [
        (69, "", "Group g does not exist: its coordinator has no group of this name."),
        (
            30,
            "",
            "Group g may not be described, or does not exist: the right DESCRIBE on the group is missing.",
        ),
        (
            29,
            "",
            "Group g is unreadable now: it is assigned a topic on which the right DESCRIBE is missing. "
            "This comes and goes with the assignment.",
        ),
        (14, "", "Group g cannot be described now: its coordinator is moving to another broker."),
        (15, "", "Group g cannot be described now: its coordinator is moving to another broker."),
        (16, "", "Group g cannot be described now: its coordinator is moving to another broker."),
        (42, "no such thing", "Group g was not described: INVALID_REQUEST: no such thing"),
        (4242, "", "Group g was not described: 4242."),
    ],
)
def test_each_code_of_a_coordinator_has_its_sentence(code: int, message: str, says: str) -> None:
    assert undescribed(Undescribed(group="g", code=code, message=message)) == says


class Asked(Brokers):
    """A cluster that lists two classic groups and is asked for nothing else."""

    def __init__(self) -> None:
        super().__init__(settings_of({"bootstrap.servers": "127.0.0.1:1"}))

    async def list_groups(self, **_: Any) -> Listing:
        return Listing(groups={}, silent={})


async def test_a_lag_of_which_a_topic_is_hidden_is_not_told_as_if_it_were_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Committed offsets of a topic without the right DESCRIBE are silently missing from the answer, error 0."""

    async def committed_of(cluster: Brokers, node: int, groups: list[str]) -> dict[str, list[Committed]]:
        seen = Committed(topic="seen", partition=0, offset=7, leader_epoch=-1, metadata="")
        return {group: [seen] for group in groups}

    async def log_offsets(cluster: Brokers, wanted: Any, **_: Any) -> LogOffsets:
        return LogOffsets(ends={"seen": {0: 10}}, starts={}, topic_ids={})

    monkeypatch.setattr(pulling, "committed_of", committed_of)
    monkeypatch.setattr(pulling, "log_offsets", log_offsets)
    puller = Puller(Asked())
    puller._partitions = {"seen": 1}
    puller._reads = {"whole": frozenset({"seen"}), "partly": frozenset({"seen", "hidden"})}
    rows = [
        Listed(group=name, kind=GroupKind.CLASSIC, state="Stable", protocol_type="consumer", broker=1)
        for name in ("whole", "partly")
    ]
    shown = puller._lag(await puller._ask_positions(rows, 0.0))
    assert {name: facts["lag"] for name, facts in shown.items()} == {"whole": 3, "partly": None}
