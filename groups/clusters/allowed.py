"""The list: every request that this program may send to a cluster, with its versions and its fields.

All of them read. Two that are usually taken for reading can create something, and are sent only so that they cannot:

* Metadata makes topics that are asked for by name, unless ``allowAutoTopicCreation`` is false; versions before 4 cannot
  say so, and are not on the list.
* FindCoordinator makes the topic ``__consumer_offsets``. It is not on the list: a broker lists the groups that it
  coordinates, so the listing shows which broker coordinates it.

Brokers close a connection without a byte for a version that they do not know; what is sent is what both sides have
(``Allowed.version``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from groups.wire.codecs.schema import Array, FieldType, Struct
from groups.wire.rpc import APIS, encode_request
from groups.wire.rpc.apis import CLUSTER_APIS, Api

Body = Mapping[str, Any]
Rule = Callable[[Body], bool]

FETCH, LIST_OFFSETS, METADATA, OFFSET_FETCH = 1, 2, 3, 9
DESCRIBE_GROUPS, LIST_GROUPS, SASL_HANDSHAKE, API_VERSIONS = 15, 16, 17, 18
DESCRIBE_CONFIGS, SASL_AUTHENTICATE, DESCRIBE_CLUSTER = 32, 36, 60
CONSUMER_GROUP_DESCRIBE, SHARE_GROUP_DESCRIBE, STREAMS_GROUP_DESCRIBE = 69, 77, 89

OFFSETS_TOPIC: Final = "__consumer_offsets"

EARLIEST, LATEST = -2, -1
"""The two timestamps of ListOffsets that are no search through the log."""


class NotAllowed(Exception):
    """Something tried to send what is not on the list: a fault of this program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """One request that may be sent, in versions ``oldest`` to ``newest``, with a body that ``rule`` takes."""

    api: Api
    oldest: int
    newest: int
    rule: Rule = lambda body: True

    def version(self, least: int, most: int) -> int | None:
        """The newest version that the broker (``least`` to ``most``) has too; null where there is none."""
        newest = min(self.newest, most)
        return newest if newest >= max(self.oldest, least) else None


def _no_topic_is_made(body: Body) -> bool:
    return body.get("allowAutoTopicCreation") is False


def _as_a_consumer(body: Body) -> bool:
    """Not as a follower, whose fetches move the high watermark."""
    state = body.get("replicaState", {"replicaId": -1})
    return bool(body.get("replicaId", -1) == -1 and state.get("replicaId") == -1)


def _offsets_topic_alone(body: Body) -> bool:
    topics = (*body["topics"], *body.get("forgottenTopicsData", ()))
    return _as_a_consumer(body) and all(topic["topic"] == OFFSETS_TOPIC for topic in topics)


def _ends_alone(body: Body) -> bool:
    asked = (partition["timestamp"] for topic in body["topics"] for partition in topic["partitions"])
    return _as_a_consumer(body) and all(timestamp in (EARLIEST, LATEST) for timestamp in asked)


def _of_no_member(body: Body) -> bool:
    """A member's own fetch is checked against its epoch; this is nobody's."""
    return all(
        group.get("memberId") is None and group.get("memberEpoch", -1) == -1
        for group in body.get("groups", ())
    )


_ROWS: Final[tuple[tuple[int, int, int, Rule | None], ...]] = (
    # Of one topic alone, and by its name, which versions from 13 on do not say.
    (FETCH, 4, 12, _offsets_topic_alone),
    (LIST_OFFSETS, 1, 9, _ends_alone),
    (METADATA, 4, 13, _no_topic_is_made),
    (OFFSET_FETCH, 2, 9, _of_no_member),
    (DESCRIBE_GROUPS, 0, 6, None),
    (LIST_GROUPS, 0, 5, None),
    (SASL_HANDSHAKE, 1, 1, None),
    (API_VERSIONS, 0, 3, None),
    (DESCRIBE_CONFIGS, 1, 4, None),
    (SASL_AUTHENTICATE, 0, 2, None),
    (DESCRIBE_CLUSTER, 0, 1, None),
    (CONSUMER_GROUP_DESCRIBE, 0, 1, None),
    (SHARE_GROUP_DESCRIBE, 1, 1, None),
    (STREAMS_GROUP_DESCRIBE, 0, 0, None),
)

_KNOWN: Final[Mapping[int, Api]] = {**APIS, **CLUSTER_APIS}

ALLOWED: Final[Mapping[int, Allowed]] = {
    key: Allowed(
        api=_KNOWN[key],
        oldest=oldest,
        newest=newest,
        **({} if rule is None else {"rule": rule}),
    )
    for key, oldest, newest, rule in _ROWS
}
"""By API key. A test compares it with what reaches a broker, and with the docs."""

_APIS: Final[Mapping[int, Api]] = {key: allowed.api for key, allowed in ALLOWED.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """A request of the list, as bytes: ``channel`` sends nothing else. Made by ``ask`` alone."""

    key: int
    version: int
    data: bytes

    @property
    def api(self) -> Api:
        return _APIS[self.key]


def ask(key: int, version: int, body: Body, *, correlation_id: int, client_id: str) -> Ask:
    """The bytes of a request, without its length; ``NotAllowed`` for what is not on the list.

    ``body`` has the fields of the newest version; what an older one cannot say is left out, after the rule saw it.
    """
    allowed = ALLOWED.get(key)
    if allowed is None:
        raise NotAllowed(f"API key {key} is not on the list of requests that are sent to a cluster.")
    if not allowed.oldest <= version <= allowed.newest:
        raise NotAllowed(
            f"{allowed.api.name} is sent in versions {allowed.oldest} to {allowed.newest}, not in {version}."
        )
    if not allowed.rule(body):
        raise NotAllowed(f"{allowed.api.name} is not sent with these fields: they could change the cluster.")
    fitting = _in_version(allowed.api.request.body, version, body)
    header = {
        "requestApiKey": key,
        "requestApiVersion": version,
        "correlationId": correlation_id,
        "clientId": client_id,
    }
    data = encode_request({"header": header, "body": fitting}, _APIS)
    return Ask(key=key, version=version, data=data)


def _in_version(declared: FieldType, version: int, value: Any) -> Any:
    """The value without the fields that ``version`` does not have."""
    match declared:
        case Array():
            return None if value is None else [_in_version(declared.of, version, each) for each in value]
        case Struct() if isinstance(value, Mapping):
            return {
                field.name: _in_version(field.type, version, value[field.name])
                for field in declared.fields
                if field.name in value and field.is_in(version)
            }
    return value
