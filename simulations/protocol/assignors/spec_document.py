"""An assignment spec as JSON, and the answer as JSON.

    {"protocol": "consumer", "assignor": "uniform",
     "topics": {"foo": {"partitions": 6, "racks": {"0": ["a", "b"]}, "id": null}},
     "members": {"A": {"subscribed_topics": ["foo"], "instance_id": null, "rack_id": null,
                       "owned": {"foo": [0, 1, 2]}, "generation": 7, "user_data": null}}}

What Kafka can meet is accepted, however odd: topics that do not exist, partitions beyond the count or with two
owners, user data that cannot be read. What it never sees is refused with the name of the field.
"""

from __future__ import annotations

import binascii
import difflib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, NotRequired, TypedDict, cast, final

from groups.history.state.plain import to_plain
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.broker_order import (
    classic_in_broker_order,
    consumer_in_broker_order,
    topic_id_of,
)
from simulations.protocol.assignors.claims import claims_in
from simulations.protocol.assignors.client_side import CLIENT_ASSIGNORS, ClientAssignor, OnGroup
from simulations.protocol.assignors.explanation import Explanation, Step
from simulations.protocol.assignors.interface import (
    Assignor,
    AssignorError,
    GroupSpec,
    MemberSpec,
    Owned,
    Topic,
)
from simulations.protocol.assignors.measures import FiguresSheet, concluded, measure, protocol_of
from simulations.protocol.assignors.validation import problems

PARTITIONS_MAX: Final = 10_000_000
"""Of all topics together: ten times the largest group that is measured, and about a gigabyte while it is assigned."""

INT32_MAX: Final = 2**31 - 1
ID_BYTES: Final = 16

CLIENT: Final = "client:"
"""Before the name of an assignor that runs on a client of the consumer protocol."""

ClientAssignors = Mapping[str, Callable[[], ClientAssignor]]

ORDERS: Final = ("document", "broker")

SPEC_KEYS: Final = ("protocol", "assignor", "topics", "members")
TOPIC_KEYS: Final = ("partitions", "racks", "id")
MEMBER_KEYS: Final = ("subscribed_topics", "instance_id", "rack_id", "owned", "generation", "user_data")


Assigned = dict[str, dict[str, list[int]]]
"""Member → topic → partitions, ascending."""


@final
class SpecAnswer(FiguresSheet):
    """``intended``: of a first cooperative round, what the members are to have after the second."""

    assignment: Assigned
    intended: NotRequired[Assigned]
    valid: bool
    problems: list[dict[str, object]]
    faults: list[str]
    steps: NotRequired[list[Step]]


@final
class SpecRefusal(TypedDict):
    """The assignor throws, as Kafka's does."""

    error: str
    faults: list[str]
    steps: NotRequired[list[Step]]


class SpecError(ValueError):
    """The document is no assignment spec; the message names the field and what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecDocument:
    """A spec that was read. ``names`` are all names that each member subscribes to, existing or not; ``ids`` the ids
    of all topics, those that are only owned included."""

    protocol: str
    assignor: str
    group: GroupSpec
    names: Mapping[str, Sequence[str]]
    ids: Mapping[str, str]

    def in_order(self, order: str) -> GroupSpec:
        """The group in the document's order, or in a real broker's."""
        if order == "document":
            return self.group
        if self.protocol == "classic":
            return classic_in_broker_order(self.group)
        return consumer_in_broker_order(self.group, self.names, self.ids)


def read_spec(document: object, clients: ClientAssignors = CLIENT_ASSIGNORS) -> SpecDocument:
    """Checks a document that JSON gave, and makes a group of it; ``SpecError`` names the field that is wrong.

    ``clients`` are the assignors that may be named as ``client:`` and their name.
    """
    spec = _object(document, "the spec")
    _known(spec, SPEC_KEYS, "")
    protocol = _choice(spec, "protocol", ASSIGNORS)
    assignor = _choice(spec, "assignor", _named(protocol, clients))
    topics: dict[str, Topic] = {}
    ids: dict[str, str] = {}
    total = 0
    for name, value in _object(spec.get("topics", {}), "topics").items():
        topics[name], ids[name] = _topic(name, value)
        total += topics[name].partitions
        if total > PARTITIONS_MAX:
            raise SpecError(f"topics: more than {PARTITIONS_MAX:,} partitions in all")
    members: dict[str, MemberSpec] = {}
    names: dict[str, tuple[str, ...]] = {}
    # Equal subscriptions are one object, by which assignors recognise whole groups of members.
    same: dict[tuple[str, ...], tuple[str, ...]] = {}
    for member_id, value in _object(spec.get("members", {}), "members").items():
        subscribed, member = _member(member_id, value, protocol)
        names[member_id] = same.setdefault(subscribed, subscribed)
        existing = tuple(t for t in subscribed if t in topics) if protocol == "consumer" else subscribed
        members[member_id] = MemberSpec(
            topics=same.setdefault(existing, existing),
            owned=member.owned,
            instance_id=member.instance_id,
            rack_id=member.rack_id,
            generation=member.generation,
            user_data=member.user_data,
        )
        for topic in member.owned:
            if topic not in ids:
                ids[topic] = topic_id_of(topic)
    subscriptions = {frozenset(subscribed) for subscribed in set(names.values())}
    group = GroupSpec(members=members, topics=topics, homogeneous=len(subscriptions) <= 1)
    return SpecDocument(protocol=protocol, assignor=assignor, group=group, names=names, ids=ids)


def answer_to(
    document: object,
    order: str = "document",
    *,
    explain: bool = False,
    clients: ClientAssignors = CLIENT_ASSIGNORS,
) -> SpecAnswer | SpecRefusal:
    """The answer to one document, with ``steps`` where it is to ``explain``. ``SpecError`` if the document is no spec."""
    spec = read_spec(document, clients)
    group = spec.in_order(order)
    explanation = Explanation() if explain else None
    try:
        answered = _named(spec.protocol, clients)[spec.assignor]().assign(group, explanation)
    except AssignorError as error:
        refusal: SpecRefusal = {"error": str(error), "faults": [error.fault] if error.fault else []}
        if explanation is not None:
            refusal["steps"] = explanation.to_json()
        return refusal
    members = spec.group.members
    protocol = protocol_of(spec.protocol, spec.assignor)
    numbers = measure(
        spec.group,
        answered,
        protocol,
        claims_in(spec.group, spec.protocol, spec.assignor),
    )
    wrong = problems(spec.group, answered.members if answered.intended is None else answered.intended)
    intended = {} if answered.intended is None else {"intended": _as_written(answered.intended, members)}
    assignment = {
        "assignment": _as_written(answered.members, members),
        **intended,
        **numbers.to_json(),
        "valid": not wrong,
        "problems": [to_plain(problem) for problem in wrong],
        "faults": list(answered.faults),
    }
    # No type checker follows which keys are unpacked into another dict.
    answer = cast(SpecAnswer, assignment)
    if explanation is not None:
        explanation.say("result", concluded(numbers, protocol), **numbers.to_json())
        answer["steps"] = explanation.to_json()
    return answer


def _named(protocol: str, clients: ClientAssignors) -> dict[str, Callable[[], Assignor]]:
    if protocol != "consumer":
        return {**ASSIGNORS[protocol]}
    on_clients: dict[str, Callable[[], Assignor]] = {
        CLIENT + name: partial(OnGroup, make) for name, make in clients.items()
    }
    return {**ASSIGNORS[protocol], **on_clients}


def _as_written(assignment: Mapping[str, Owned], members: Collection[str]) -> Assigned:
    """Every member in the document's order; topics and partitions sorted, topics without partitions left out."""
    return {
        member_id: {
            topic: sorted(partitions)
            for topic, partitions in sorted(assignment.get(member_id, {}).items())
            if partitions
        }
        for member_id in members
    }


def _topic(name: str, value: object) -> tuple[Topic, str]:
    at = f"topics.{name}"
    topic = _object(value, at)
    _known(topic, TOPIC_KEYS, at)
    if "partitions" not in topic:
        raise SpecError(f"{at}.partitions is missing: expected a whole number from 0")
    partitions = _whole(topic["partitions"], f"{at}.partitions", 0, PARTITIONS_MAX)
    topic_id = topic.get("id")
    if topic_id is None:
        return Topic(partitions=partitions, racks=_racks(topic.get("racks"), partitions, at)), topic_id_of(
            name
        )
    if not isinstance(topic_id, str) or not _is_id(topic_id):
        raise SpecError(
            f"{at}.id: expected a topic id in Kafka's base64 form (22 characters), found {_shown(topic_id)}"
        )
    return Topic(partitions=partitions, racks=_racks(topic.get("racks"), partitions, at)), topic_id


def _is_id(text: str) -> bool:
    try:
        return len(binascii.a2b_base64(text.replace("-", "+").replace("_", "/") + "==")) == ID_BYTES
    except ValueError:
        return False


def _racks(value: object, partitions: int, at: str) -> dict[int, tuple[str, ...]] | None:
    if value is None:
        return None
    racks: dict[int, tuple[str, ...]] = {}
    for key, replicas in _object(value, f"{at}.racks").items():
        if not (
            key.isascii()
            and key.isdecimal()
            and len(key) < 10
            and str(int(key)) == key
            and int(key) < partitions
        ):
            raise SpecError(
                f"{at}.racks: expected partitions below {partitions} as keys, found {_shown(key)}"
            )
        each = enumerate(_array(replicas, f"{at}.racks.{key}"))
        racks[int(key)] = tuple(
            _text(rack, f"{at}.racks.{key}.{index}") for index, rack in each if rack is not None
        )
    return racks


def _member(member_id: str, value: object, protocol: str) -> tuple[tuple[str, ...], MemberSpec]:
    """The names subscribed to, and the rest. A classic subscription is a list and may name a topic twice."""
    at = f"members.{member_id}"
    member = _object(value, at)
    _known(member, MEMBER_KEYS, at)
    if "subscribed_topics" not in member:
        raise SpecError(f"{at}.subscribed_topics is missing: expected a list of topic names")
    each = enumerate(_array(member["subscribed_topics"], f"{at}.subscribed_topics"))
    subscribed = [_text(topic, f"{at}.subscribed_topics.{index}") for index, topic in each]
    if protocol == "consumer" and len(set(subscribed)) < len(subscribed):
        twice = next(topic for index, topic in enumerate(subscribed) if topic in subscribed[:index])
        raise SpecError(f"{at}.subscribed_topics: {twice} stands there twice")
    given = member.get("generation")
    generation = None if given is None else _whole(given, f"{at}.generation", -INT32_MAX - 1, INT32_MAX)
    return tuple(subscribed), MemberSpec(
        topics=(),
        owned=_owned(member.get("owned"), f"{at}.owned"),
        instance_id=_text_or_none(member.get("instance_id"), f"{at}.instance_id"),
        rack_id=_text_or_none(member.get("rack_id"), f"{at}.rack_id"),
        generation=generation,
        user_data=_hex(member.get("user_data"), f"{at}.user_data"),
    )


def _owned(value: object, at: str) -> dict[str, list[int]]:
    if value is None:
        return {}
    owned: dict[str, list[int]] = {}
    for topic, numbers in _object(value, at).items():
        partitions = _numbers(numbers, f"{at}.{topic}")
        if not partitions:
            continue
        if len(set(partitions)) < len(partitions):
            seen: set[int] = set()
            twice = next(p for p in partitions if p in seen or seen.add(p))  # type: ignore[func-returns-value]
            raise SpecError(f"{at}.{topic}: partition {twice} stands there twice")
        owned[topic] = partitions
    return owned


def _numbers(value: object, at: str) -> list[int]:
    """Partitions; each is looked at by itself only where one of them is none."""
    if not isinstance(value, list):
        raise SpecError(f"{at}: expected a list, found {_shown(value)}")
    if value and (set(map(type, value)) != {int} or min(value) < 0 or max(value) > INT32_MAX):
        for index, partition in enumerate(value):
            _whole(partition, f"{at}.{index}", 0, INT32_MAX)
    return value


def _hex(value: object, at: str) -> bytes | None:
    if value is None:
        return None
    try:
        return bytes.fromhex(_text(value, at))
    except ValueError as error:
        if isinstance(error, SpecError):
            raise
        raise SpecError(f"{at}: expected bytes in hex, found {_shown(value)}") from None


def _choice(spec: Mapping[str, object], key: str, choices: Collection[str]) -> str:
    given = spec.get(key)
    if isinstance(given, str) and given in choices:
        return given
    among = ", ".join(choices)
    if key not in spec:
        raise SpecError(f"{key} is missing: there are {among}")
    raise SpecError(f"{key}: expected one of {among}, found {_shown(given)}")


def _known(value: Mapping[str, object], keys: Sequence[str], at: str) -> None:
    for key in value:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, 1)
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(keys)}"
            raise SpecError(f"{at}{'.' if at else ''}{key} is no field{hint}")


def _object(value: object, at: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise SpecError(f"{at}: expected an object, found {_shown(value)}")
    return value


def _array(value: object, at: str) -> list[object]:
    if not isinstance(value, list):
        raise SpecError(f"{at}: expected a list, found {_shown(value)}")
    return value


def _text(value: object, at: str) -> str:
    if not isinstance(value, str):
        raise SpecError(f"{at}: expected text, found {_shown(value)}")
    return value


def _text_or_none(value: object, at: str) -> str | None:
    return None if value is None else _text(value, at)


def _whole(value: object, at: str, least: int, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise SpecError(f"{at}: expected a whole number from {least} to {most}, found {_shown(value)}")
    return value


SHOWN_MAX: Final = 60


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = repr(value)
    return text if len(text) <= SHOWN_MAX else f"{text[:SHOWN_MAX]}…"
