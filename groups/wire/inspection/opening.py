"""Blobs that are opened in place: bytes fields whose content is known from what is around them.

The broker never looks into these bytes. What they are is said by the group's protocol type (``consumer`` means the
consumer protocol of ``groups.wire.embedded.consumer_protocol``, ``connect`` that of ``connect_protocol``), and user data inside them belongs to the assignor whose name is
with the protocol. Where neither is there (old versions of a request leave it out), the bytes are tried, and what
reads to the last byte is said to look like it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from groups.wire.codecs.primitives import from_base64
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.embedded.connect_protocol import CONNECT_PROTOCOL_TYPE
from groups.wire.errors import RecordError
from groups.wire.inspection.framing import RECORDS
from groups.wire.inspection.kinds import kebab, kinds
from groups.wire.inspection.layouts import Listing
from groups.wire.inspection.nodes import REST, Node
from groups.wire.inspection.walk import Stopped, Walk

CONSUMER: Final = "consumer"
"""The protocol type of consumer groups; Schema Registry has one, too, with blobs that are not opened."""

CONNECT_KINDS: Final = {"subscription": "connect-worker-state", "assignment": "connect-assignment"}
"""What Kafka Connect has instead of each of the consumer protocol's blobs."""

DEEPEST: Final = 4
"""Blobs within blobs: a record's subscription's user data is the third."""

Ancestors = Sequence[Sequence[Node]]
"""The fields around a node: those next to it first, the outermost last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the fields around a blob show of it: which kinds it can be, whether that is certain, whose user data it has."""

    kinds: tuple[str, ...]
    certain: bool
    """Opened even where it cannot be read to the end."""
    guessed: bool = False
    assignor: str | None = None


def open_blobs(
    fields: list[Node], message: str, walk: Walk, assignor: str | None = None, depth: int = 0
) -> None:
    """Opens every blob under ``fields``, which ``message`` declares; ``walk`` is that which listed them."""
    if depth < DEEPEST:
        _open_within([fields], "", message, walk, assignor, depth)


def _open_within(
    around: list[list[Node]], path: str, message: str, walk: Walk, assignor: str | None, depth: int
) -> None:
    for node in around[0]:
        here = path if node.name.isdigit() else f"{path}.{node.name}" if path else node.name
        if node.is_message:
            _open_within([node.fields or []], "", message, walk, assignor, depth)
        elif node.fields is not None:
            _open_within([node.fields, *around], here, message, walk, assignor, depth)
        elif node.type.startswith("bytes") and isinstance(node.value, str) and node.value:
            say = SENTENCES.get((node.message or message, here))
            said = say(around, assignor) if say else None
            if said is not None:
                _open(node, said, walk, depth)


def _open(node: Node, said: Said, walk: Walk, depth: int) -> None:
    data = from_base64(node.value)
    base = node.offset + node.prefix
    for name in said.kinds:
        kind = kinds().get(name)
        if kind is None or not data:
            continue
        inner = Walk(data, base, walk.budget)
        listing = Listing()
        problem = None
        try:
            kind.layout.into(listing, inner, None)
        except (Stopped, RecordError) as stopped:
            problem = stopped.problem if isinstance(stopped, Stopped) else None
            if not said.certain or problem is None:
                continue
        whole = problem is None and listing.read == len(data)
        if not said.certain and not whole:
            continue
        if problem is None and not whole:
            rest = inner.node(listing.fields, REST, "bytes", listing.read)
            rest.length = len(data) - listing.read
        node.kind, node.fields, node.problem = kind.name, listing.fields, problem
        node.guessed = said.guessed
        open_blobs(listing.fields, listing.message, inner, said.assignor, depth + 1)
        return


def _text(nodes: Sequence[Node], name: str) -> str | None:
    """A string field among ``nodes``; ``None`` if it is not there, null, or empty."""
    found = next((node for node in nodes if node.name == name), None)
    return found.value or None if found is not None and isinstance(found.value, str) else None


def _embedded(kind: str, protocol_type: str | None, assignor: str | None) -> Said | None:
    if protocol_type is None:
        return Said(kinds=(kind, CONNECT_KINDS[kind]), certain=False, guessed=True, assignor=assignor)
    if protocol_type == CONNECT_PROTOCOL_TYPE:
        return Said(kinds=(CONNECT_KINDS[kind],), certain=True)
    return Said(kinds=(kind,), certain=True, assignor=assignor) if protocol_type == CONSUMER else None


def _in_record(kind: str) -> Callable[[Ancestors, str | None], Said | None]:
    return lambda around, _: _embedded(kind, _text(around[-1], "protocolType"), _text(around[-1], "protocol"))


def _in_member(around: Ancestors, _: str | None) -> Said | None:
    # Only members of consumer groups can be of the classic protocol there, so the type need not be there.
    return _embedded("subscription", CONSUMER, _text(around[0], "name"))


def _in_join(around: Ancestors, _: str | None) -> Said | None:
    return _embedded("subscription", _text(around[-1], "protocolType"), _text(around[0], "name"))


def _in_joined(around: Ancestors, _: str | None) -> Said | None:
    return _embedded("subscription", _text(around[-1], "protocolType"), _text(around[-1], "protocolName"))


def _in_sync(around: Ancestors, _: str | None) -> Said | None:
    return _embedded("assignment", _text(around[-1], "protocolType"), _text(around[-1], "protocolName"))


def _in_described(kind: str) -> Callable[[Ancestors, str | None], Said | None]:
    # Next to the bytes: the member, the list of members, the group.
    def say(around: Ancestors, _: str | None) -> Said | None:
        group = around[2]
        return _embedded(kind, _text(group, "protocolType"), _text(group, "protocolData"))

    return say


def _key(around: Ancestors, _: str | None) -> Said:
    # A batch does not say which topic it is of, so that a key is opened only where it can be read.
    return Said(kinds=("key",), certain=False)


def _value(around: Ancestors, _: str | None) -> Said | None:
    key = next((node for node in around[0] if node.name == "key"), None)
    type_ = key.child("type") if key is not None and key.kind == "key" else None
    known = RECORD_TYPES.get(type_.value) if type_ is not None and isinstance(type_.value, int) else None
    return None if known is None else Said(kinds=(kebab(known.value.name),), certain=True)


USER_DATA: Final = {
    "sticky": ("sticky-user-data", None),
    "cooperative-sticky": ("cooperative-sticky-user-data", None),
    "stream": ("streams-subscription-info", "streams-assignment-info"),
}
"""By the assignor's name: the kinds of the user data in a subscription, and in an assignment."""


def _user_data(side: int) -> Callable[[Ancestors, str | None], Said | None]:
    def say(around: Ancestors, assignor: str | None) -> Said | None:
        if assignor is None:
            candidates = tuple(kind for pair in reversed(USER_DATA.values()) if (kind := pair[side]))
            return Said(kinds=candidates, certain=False, guessed=True)
        kind = USER_DATA.get(assignor, (None, None))[side]
        return Said(kinds=(kind,), certain=True) if kind else None

    return say


SENTENCES: Final[dict[tuple[str, str], Callable[[Ancestors, str | None], Said | None]]] = {
    ("GroupMetadataValue", "members.subscription"): _in_record("subscription"),
    ("GroupMetadataValue", "members.assignment"): _in_record("assignment"),
    ("ConsumerGroupMemberMetadataValue", "classicMemberMetadata.supportedProtocols.metadata"): _in_member,
    ("JoinGroupRequest", "protocols.metadata"): _in_join,
    ("JoinGroupResponse", "members.metadata"): _in_joined,
    ("SyncGroupRequest", "assignments.assignment"): _in_sync,
    ("SyncGroupResponse", "assignment"): _in_sync,
    ("DescribeGroupsResponse", "groups.members.memberMetadata"): _in_described("subscription"),
    ("DescribeGroupsResponse", "groups.members.memberAssignment"): _in_described("assignment"),
    **{(message, f"{path}key"): _key for message, path in RECORDS},
    **{(message, f"{path}value"): _value for message, path in RECORDS},
    ("ConnectWorkerState", "allocation"): lambda *_: Said(kinds=("connect-assignment",), certain=True),
    ("ConsumerProtocolSubscription", "userData"): _user_data(0),
    ("ConsumerProtocolAssignment", "userData"): _user_data(1),
}
"""By message and field (numbers of elements left out): what to ask for what the bytes are."""
