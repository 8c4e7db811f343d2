"""Kafka Connect's embedded protocol: what workers and their leader say to each other (protocol type ``connect``).

A blob is an int16 version and a body without compact forms, as the consumer protocol's. Version 0 is that of the group protocol
``default``; 1 (``compatible``, KIP-415) and 2 (``sessioned``, KIP-507) have the same fields::

    worker state   REST url, offset of the config topic; v1 + allocation: the assignment that the worker runs, or null
    assignment     error, leader, its url, offset, connectors with their tasks; v1 + revoked ones, delay of the next rebalance

A task of -1 is the connector itself. From version 1 on an assignment holds only what is new and what is revoked: a worker runs its
allocation without what is revoked, and what is new. Source: ``ConnectProtocol``, ``IncrementalCooperativeConnectProtocol`` and
``WorkerCoordinator`` of Kafka's connect-runtime module.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, NotRequired, TypedDict, cast

from groups.wire.codecs.codec import encode_versioned
from groups.wire.codecs.primitives import from_base64
from groups.wire.codecs.schema import Array, Field, Message, Primitive, fields
from groups.wire.codecs.values import Value
from groups.wire.embedded.consumer_protocol import VERSION_BYTES, read_blob

CONNECT_PROTOCOL_TYPE: Final = "connect"

NEWEST_VERSION: Final = 2

CONNECTOR_TASK: Final = -1
"""The task number that stands for the connector itself."""

_CONNECTORS: Final = Array(
    fields(Field("connector", Primitive.STRING), Field("tasks", Array(Primitive.INT32)))
)

WORKER_STATE: Final = Message(
    "ConnectWorkerState",
    fields(
        Field("url", Primitive.STRING),
        Field("configOffset", Primitive.INT64),
        Field("allocation", Primitive.BYTES, since=1, nullable_since=1, default=None),
    ),
    newest=NEWEST_VERSION,
)

CONNECT_ASSIGNMENT: Final = Message(
    "ConnectAssignment",
    fields(
        Field("error", Primitive.INT16),
        Field("leader", Primitive.STRING),
        Field("leaderUrl", Primitive.STRING),
        Field("configOffset", Primitive.INT64),
        Field("assignment", _CONNECTORS, nullable_since=1, default=()),
        Field("revoked", _CONNECTORS, since=1, nullable_since=1, default=None),
        Field("delay", Primitive.INT32, since=1, default=0),
    ),
    newest=NEWEST_VERSION,
)


class ConnectorTasks(TypedDict):
    connector: str
    tasks: list[int]


class WorkerState(TypedDict):
    """``allocation`` is an assignment's bytes in base64, or null."""

    version: int
    url: str
    configOffset: int
    allocation: NotRequired[str | None]


class ConnectAssignment(TypedDict):
    version: int
    error: int
    leader: str
    leaderUrl: str
    configOffset: int
    assignment: list[ConnectorTasks] | None
    revoked: NotRequired[list[ConnectorTasks] | None]
    delay: NotRequired[int]
    """Milliseconds until the worker joins again by itself."""


class Work(NamedTuple):
    """What a worker runs: connectors, and tasks by connector; ascending."""

    connectors: tuple[str, ...]
    tasks: Mapping[str, tuple[int, ...]]


def decode_worker_state(data: bytes) -> WorkerState:
    """What a worker's bytes in JoinGroup contain; ``RecordError`` for damaged bytes."""
    return cast(WorkerState, read_blob(WORKER_STATE, data, NEWEST_VERSION)[0])


def decode_connect_assignment(data: bytes) -> ConnectAssignment:
    """What the leader gives a worker; ``RecordError`` likewise."""
    return cast(ConnectAssignment, read_blob(CONNECT_ASSIGNMENT, data, NEWEST_VERSION)[0])


def encode_worker_state(value: Mapping[str, Value]) -> bytes:
    return _encode(WORKER_STATE, value)


def encode_connect_assignment(value: Mapping[str, Value]) -> bytes:
    return _encode(CONNECT_ASSIGNMENT, value)


def work(state: WorkerState | None, given: ConnectAssignment | None) -> Work:
    """What a worker runs after a rebalance, or while it joins (``given`` is ``None``)."""
    running = set[tuple[str, int]]()
    allocation = state.get("allocation") if state is not None else None
    if allocation and (given is None or given["version"] > 0):
        running = _pairs(decode_connect_assignment(from_base64(allocation))["assignment"])
    if given is not None:
        running = (running - _pairs(given.get("revoked"))) | _pairs(given["assignment"])
    tasks: dict[str, list[int]] = {}
    for connector, task in sorted(running):
        if task != CONNECTOR_TASK:
            tasks.setdefault(connector, []).append(task)
    connectors = tuple(sorted(connector for connector, task in running if task == CONNECTOR_TASK))
    return Work(connectors, {connector: tuple(numbers) for connector, numbers in tasks.items()})


def _pairs(connectors: Iterable[ConnectorTasks] | None) -> set[tuple[str, int]]:
    return {(each["connector"], task) for each in connectors or () for task in each["tasks"]}


def _encode(message: Message, value: Mapping[str, Value]) -> bytes:
    version, body = encode_versioned(message, value)
    return VERSION_BYTES.pack(version) + body
