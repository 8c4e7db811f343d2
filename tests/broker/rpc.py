"""The few requests that the tests send to a broker themselves, encoded by hand.

The layouts are those of Kafka 4.3.1's own message schemas, as printed from the jars, in their flexible versions:
ConsumerGroupHeartbeat v1, ConsumerGroupDescribe v0 and v1, ShareGroupHeartbeat v1, ShareGroupDescribe v1,
StreamsGroupHeartbeat v0, StreamsGroupDescribe v0, DescribeGroups v6, OffsetCommit v10, CreateTopics v7, CreatePartitions v3,
ListOffsets v7, Metadata v11 (2.8 has no newer one). A schema is a list of (name, type); a type is a name of ``_NUMBERS``, ``string``,
``string?``, ``bytes`` or ``uuid``,
``[type]`` for an array, ``("array?", type)`` and ``("struct?", schema)`` for those that may be null, or a schema.
"""

from __future__ import annotations

import base64
import socket
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from groups.wire.rpc import APIS, decode_response, encode_request

from . import schemas

ANSWER_LIMIT_S = 30
"""A loaded two-core machine has kept an answer for seconds; more means that the broker hangs."""


class RpcError(RuntimeError):
    """The broker's answer could not be had, or carries an error code."""


@dataclass(slots=True)
class Reader:
    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        piece = self.data[self.at : self.at + size]
        if len(piece) < size:
            raise RpcError(f"an answer ends at {len(self.data)} where {size} bytes from {self.at} are due")
        self.at += size
        return piece

    def unpack(self, form: str) -> Any:
        return struct.unpack(">" + form, self.take(struct.calcsize(">" + form)))[0]

    def varint(self) -> int:
        value = shift = 0
        while True:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


_NUMBERS = {"int8": "b", "int16": "h", "uint16": "H", "int32": "i", "int64": "q", "bool": "?"}


def encode(kind: Any, value: Any) -> bytes:
    """Bytes of ``value`` under schema type ``kind``; every struct ends with an empty tagged-field section."""
    match kind:
        case str() if kind in _NUMBERS:
            return struct.pack(">" + _NUMBERS[kind], value)
        case "string" | "string?":
            return b"\0" if value is None else _varint(len(value.encode()) + 1) + value.encode()
        case "bytes":
            return _varint(len(value) + 1) + value
        case "uuid":
            return uuid_bytes(value)
        case ("array?", inner):
            return b"\0" if value is None else encode([inner], value)
        case ("struct?", inner):
            return b"\xff" if value is None else b"\1" + encode(inner, value)
        case [(str(), _), *_]:
            return b"".join(encode(inner, _field(value, name, inner)) for name, inner in kind) + b"\0"
        case [inner]:
            return _varint(len(value) + 1) + b"".join(encode(inner, each) for each in value)
    raise TypeError(f"no such schema type: {kind!r}")


def _field(value: dict[str, Any], name: str, kind: Any) -> Any:
    """A field of a struct; one that is not given is null where it may be, else at its default."""
    if name in value:
        return value[name]
    if kind == "string?" or (isinstance(kind, tuple) and kind[0] in ("array?", "struct?")):
        return None
    return schemas.DEFAULTS[name]


def decode(kind: Any, reader: Reader) -> Any:
    """The value under schema type ``kind`` that stands at ``reader``; tagged fields are passed over."""
    match kind:
        case str() if kind in _NUMBERS:
            return reader.unpack(_NUMBERS[kind])
        case "string" | "string?" | "bytes":
            size = reader.varint()
            piece = reader.take(size - 1) if size else None
            return piece if kind == "bytes" or piece is None else piece.decode()
        case "uuid":
            return base64.urlsafe_b64encode(reader.take(16)).decode().rstrip("=")
        case ("array?", inner):
            return decode([inner], reader)
        case ("struct?", inner):
            return decode(inner, reader) if reader.unpack("b") == 1 else None
        case [(str(), _), *_]:
            out = {name: decode(inner, reader) for name, inner in kind}
            for _ in range(reader.varint()):
                reader.varint()
                reader.take(reader.varint())
            return out
        case [inner]:
            size = reader.varint()
            return None if size == 0 else [decode(inner, reader) for _ in range(size - 1)]
    raise TypeError(f"no such schema type: {kind!r}")


def uuid_bytes(text: str) -> bytes:
    """The 16 bytes of a topic id in Kafka's base64 form."""
    return base64.urlsafe_b64decode(text + "==")


@dataclass(slots=True)
class Connection:
    """One connection to a broker: a request, then its answer."""

    port: int
    client_id: str = "test"
    correlation: int = 0
    _socket: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self.port), ANSWER_LIMIT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def call(self, api: str, request: dict[str, Any], *, version: int | None = None) -> dict[str, Any]:
        """Sends a request of ``schemas.APIS[api]`` and returns its answer, both with Kafka's own field names."""
        key, newest, ask, answers = schemas.APIS[api]
        version = newest if version is None else version
        self.correlation += 1
        name = self.client_id.encode()
        header = struct.pack(">hhih", key, version, self.correlation, len(name)) + name + b"\0"
        message = header + encode(ask, request)
        self._socket.sendall(struct.pack(">i", len(message)) + message)
        size = struct.unpack(">i", self._receive(4))[0]
        reader = Reader(self._receive(size))
        if reader.unpack("i") != self.correlation:
            raise RpcError(f"{api}: an answer to another request")
        reader.varint()
        out: dict[str, Any] = decode(answers[version] if isinstance(answers, dict) else answers, reader)
        if reader.at != len(reader.data):
            raise RpcError(f"{api} v{version}: {len(reader.data) - reader.at} bytes of the answer left over")
        return out

    def ask(self, api: str, version: int, body: Mapping[str, Any]) -> dict[str, Any]:
        """Sends a request of any version through the product's own codecs (``groups.wire.rpc``) and returns its answer."""
        found = next(each for each in APIS.values() if each.name == api)
        self.correlation += 1
        header = {
            "requestApiKey": found.key,
            "requestApiVersion": version,
            "correlationId": self.correlation,
            "clientId": self.client_id,
        }
        message = encode_request({"header": header, "body": body})
        self._socket.sendall(struct.pack(">i", len(message)) + message)
        answer = self._receive(struct.unpack(">i", self._receive(4))[0])
        told: dict[str, Any] = decode_response(answer, found, version)["body"]
        return told

    def _receive(self, size: int) -> bytes:
        out = b""
        while len(out) < size:
            piece = self._socket.recv(size - len(out))
            if not piece:
                raise RpcError("the broker closed the connection")
            out += piece
        return out

    # What the tests ask for, by name.

    def create_topic(self, name: str, partitions: int, **configs: str) -> str:
        """Makes a topic, with settings whose dots are underscores here, and returns its id in Kafka's base64 form."""
        topic = {
            "name": name,
            "numPartitions": partitions,
            "replicationFactor": 1,
            "assignments": [],
            "configs": [{"name": name.replace("_", "."), "value": value} for name, value in configs.items()],
        }
        made = self.call("CreateTopics", {"topics": [topic], "timeoutMs": 10_000, "validateOnly": False})
        (answer,) = made["topics"]
        _good("CreateTopics", answer)
        return str(answer["topicId"])

    def grow_topic(self, name: str, partitions: int) -> None:
        """Raises a topic's partition count to ``partitions``."""
        topic = {"name": name, "count": partitions, "assignments": None}
        request = {"topics": [topic], "timeoutMs": 10_000, "validateOnly": False}
        (answer,) = self.call("CreatePartitions", request)["results"]
        _good("CreatePartitions", answer)

    def delete_topic(self, name: str) -> None:
        topic = {"name": name, "topicId": "A" * 22}
        (answer,) = self.call("DeleteTopics", {"topics": [topic], "timeoutMs": 10_000})["responses"]
        _good("DeleteTopics", answer)

    def configure_group(self, group: str, settings: Mapping[str, object | None]) -> int:
        """Sets dynamic settings of a group, or takes those away that are ``None``; the error code."""
        configs = [
            {
                "name": name,
                "configOperation": 1 if value is None else 0,
                "value": None if value is None else str(value),
            }
            for name, value in settings.items()
        ]
        resource = {"resourceType": 32, "resourceName": group, "configs": configs}
        request = {"resources": [resource], "validateOnly": False}
        (answer,) = self.call("IncrementalAlterConfigs", request)["responses"]
        return int(answer["errorCode"])

    def update_feature(self, name: str, level: int, *, downgrade: bool = False) -> tuple[int, str | None]:
        """Sets the level of a feature, as ``kafka-features.sh upgrade`` and ``downgrade`` do; error code and message."""
        update = {"feature": name, "maxVersionLevel": level, "upgradeType": 2 if downgrade else 1}
        request = {"timeoutMs": 10_000, "featureUpdates": [update], "validateOnly": False}
        answer = self.call("UpdateFeatures", request)
        if answer["errorCode"]:
            return int(answer["errorCode"]), answer["errorMessage"]
        failed = [each for each in answer["results"] if each["errorCode"]]
        return (int(failed[0]["errorCode"]), failed[0]["errorMessage"]) if failed else (0, None)

    def group_settings(self, group: str) -> dict[str, str | None]:
        """The settings of a group as the broker knows them, its own among them."""
        resource = {"resourceType": 32, "resourceName": group, "configurationKeys": None}
        request = {"resources": [resource], "includeSynonyms": False, "includeDocumentation": False}
        (answer,) = self.call("DescribeConfigs", request)["results"]
        _good("DescribeConfigs", answer)
        return {each["name"]: each["value"] for each in answer["configs"]}

    def brokers(self) -> int:
        """How many brokers the node names; 0 while it is still starting."""
        request = {
            "topics": [],
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
        }
        return len(self.call("Metadata", request)["brokers"])

    def leaders_of(self, name: str) -> int:
        """How many partitions of a topic have a leader by now."""
        request = {
            "topics": [{"topicId": "A" * 22, "name": name}],
            "allowAutoTopicCreation": False,
            "includeTopicAuthorizedOperations": False,
        }
        (topic,) = self.call("Metadata", request)["topics"]
        return sum(1 for each in topic["partitions"] if each["errorCode"] == 0)

    def end_offset(self, topic: str, partition: int) -> int:
        """The offset behind the last record that consumers may read (the high watermark)."""
        asked = {"partitionIndex": partition, "currentLeaderEpoch": -1, "timestamp": -1}
        topics = [{"name": topic, "partitions": [asked]}]
        answer = self.call("ListOffsets", {"replicaId": -1, "isolationLevel": 0, "topics": topics})
        (told,) = answer["topics"][0]["partitions"]
        if told["errorCode"] != 0:
            raise RpcError(f"ListOffsets of {topic}-{partition}: error {told['errorCode']}")
        return int(told["offset"])

    def find_coordinator(self, group: str) -> int:
        """Asks who coordinates a group, which also has the broker make ``__consumer_offsets``; the error code."""
        request = {"keyType": 0, "coordinatorKeys": [group]}
        return int(self.call("FindCoordinator", request)["coordinators"][0]["errorCode"])

    def describe_consumer_group(self, group: str, *, version: int = 1) -> dict[str, Any]:
        request = {"groupIds": [group], "includeAuthorizedOperations": False}
        return dict(self.call("ConsumerGroupDescribe", request, version=version)["groups"][0])

    def describe_classic_group(self, group: str) -> dict[str, Any]:
        request = {"groups": [group], "includeAuthorizedOperations": False}
        return dict(self.call("DescribeGroups", request)["groups"][0])

    def heartbeat(
        self,
        group: str,
        member: str,
        epoch: int,
        *,
        subscribed: Sequence[str] | None = None,
        rebalance_timeout_ms: int = -1,
        owned: dict[str, list[int]] | None = None,
    ) -> dict[str, Any]:
        """One ConsumerGroupHeartbeat v1; ``owned`` is by topic id, None where nothing is reported."""
        partitions = None if owned is None else [{"topicId": t, "partitions": p} for t, p in owned.items()]
        request = {
            "groupId": group,
            "memberId": member,
            "memberEpoch": epoch,
            "instanceId": None,
            "rackId": None,
            "rebalanceTimeoutMs": rebalance_timeout_ms,
            "subscribedTopicNames": None if subscribed is None else list(subscribed),
            "subscribedTopicRegex": None,
            "serverAssignor": None,
            "topicPartitions": partitions,
        }
        return self.call("ConsumerGroupHeartbeat", request)

    def commit(self, group: str, member: str, epoch: int, topic_id: str, partition: int, offset: int) -> int:
        """Commits one offset and returns the error code."""
        commit = {
            "partitionIndex": partition,
            "committedOffset": offset,
            "committedLeaderEpoch": -1,
            "committedMetadata": "",
        }
        request = {
            "groupId": group,
            "generationIdOrMemberEpoch": epoch,
            "memberId": member,
            "groupInstanceId": None,
            "topics": [{"topicId": topic_id, "partitions": [commit]}],
        }
        answer = self.call("OffsetCommit", request)
        return int(answer["topics"][0]["partitions"][0]["errorCode"])


def _good(api: str, answer: dict[str, Any]) -> None:
    if answer["errorCode"] != 0:
        raise RpcError(f"{api}: error {answer['errorCode']}: {answer['errorMessage']}")
