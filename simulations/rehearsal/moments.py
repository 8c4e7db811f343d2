"""The group of a timeline's moment as a description: a frame in, a document out, and what the log did not tell."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from groups.history.evidence.display_names import NamedMember
from groups.history.frames.shapes import Frame, MemberFrame
from groups.wire.embedded.user_data import COOPERATIVE_STICKY
from simulations.protocol.assignors.classic.custom import CUSTOM_USER_DATA
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.rehearsal.documents import GroupDocument, MemberDocument, StartDocument
from simulations.rehearsal.reading import TIMEOUT_MOST_MS, name_of
from simulations.rehearsal.values import CONSUMER, NEW_BROKERS, RehearsalError
from simulations.world.scenario.topics import NAME

SESSION_LEAST_MS: Final = 6_000
"""``group.min.session.timeout.ms``"""


def document_of_frame(
    frame: Frame,
    cast: Sequence[NamedMember] = (),
    *,
    client: str | None = None,
    to: str = CONSUMER,
) -> GroupDocument:
    """The members of a moment with their topics, ids and timeouts, as ``question_of`` takes them.

    What a log cannot tell is assumed, and each assumption told in a sentence: the client's release, unless ``client`` is given,
    and the assignors beside the one that the group goes by.
    """
    protocol = frame.get("protocol")
    members = frame["members"]
    if protocol not in ("classic", "consumer"):
        known = f"a {protocol} group" if protocol else "a group that is not known yet"
        raise RehearsalError(f"this moment shows {known}; a classic group is rehearsed", "at")
    if not members:
        raise RehearsalError("nobody is in the group at this moment; choose one with members", "at")
    classic = [member_id for member_id, member in members.items() if member.get("protocol") == "classic"]
    if not classic and to != NEW_BROKERS:
        raise RehearsalError(
            "every member of this moment is of the consumer protocol: there is nothing to upgrade but the brokers "
            f"(to: {NEW_BROKERS})",
            "at",
        )
    counts = _partition_counts(frame)
    if not counts:
        raise RehearsalError("no topic with partitions is known at this moment; choose a later one", "at")
    assumed: list[str] = []
    assignors = _assignors(frame, assumed) if classic else []
    if client is None and classic:
        assumed.append("The log does not tell the clients' release: 3.8 is assumed.")
    if len(classic) < len(members):
        assumed.append("No member is assumed to ask for an assignor of the server (group.remote.assignor).")
    names = _names(members, cast)
    start = _start(frame, names, counts)
    if start is None:
        assumed.append("The group forms anew: at this moment it is not a classic group that is Stable.")
    document: GroupDocument = {
        "group": frame["group"] if NAME.fullmatch(str(frame["group"])) else "group",
        "topics": counts,
        "members": {
            names[member_id]: _member(member_id, members[member_id], counts, assignors, client)
            for member_id in sorted(members, key=list(names).index)
        },
        "assumed": assumed,
    }
    if start is not None:
        document["start"] = start
    return document


def _start(frame: Frame, names: Mapping[str, str], counts: Mapping[str, int]) -> StartDocument | None:
    """What the group is at this moment, if it is a classic one at rest whose partitions have one owner each."""
    generation = frame.get("generation")
    if frame.get("protocol") != "classic" or frame.get("state") != "Stable" or not generation:
        return None
    owned = {
        names[member_id]: {
            topic: list(partitions)
            for topic, partitions in (member.get("assigned") or {}).items()
            if topic in counts
        }
        for member_id, member in frame["members"].items()
    }
    every = [(t, p) for each in owned.values() for t, partitions in each.items() for p in partitions]
    if len(set(every)) < len(every):
        return None
    leader = names.get(frame.get("leader") or "")
    begun: StartDocument = {
        "generation": generation,
        "members": {name: {"owned": owned[name]} for name in names.values() if name in owned},
    }
    if leader is not None:
        begun["leader"] = leader
    return begun


def _member(
    member_id: str,
    member: MemberFrame,
    counts: Mapping[str, int],
    assignors: Sequence[str],
    client: str | None,
) -> MemberDocument:
    classic = member.get("protocol") == "classic"
    known: MemberDocument = {
        "protocol": "classic" if classic else "consumer",
        "subscribe": [topic for topic in member.get("subscribed") or () if topic in counts]
        or [topic for topic in member.get("assigned") or () if topic in counts]
        or list(counts),
        "client": (client or "3.8") if classic else "4.3",
    }
    if classic:
        known["assignors"] = list(assignors)
    instance_id = member.get("instance_id")
    if instance_id is not None and NAME.fullmatch(str(instance_id)):
        known["instance_id"] = instance_id
    session_ms, rebalance_ms = member.get("session_timeout_ms"), member.get("rebalance_timeout_ms")
    if session_ms is not None and SESSION_LEAST_MS <= session_ms <= TIMEOUT_MOST_MS:
        known["session_timeout_ms"] = session_ms
    if rebalance_ms is not None and 1 <= rebalance_ms <= TIMEOUT_MOST_MS:
        known["rebalance_timeout_ms"] = rebalance_ms
    return known


def _assignors(frame: Frame, assumed: list[str]) -> list[str]:
    """What all members list, as far as the log tells: the one that was chosen."""
    chosen = frame.get("protocol_name")
    if chosen is None:
        assumed.append("The log does not tell the classic members' assignors: range is assumed.")
        return ["range"]
    if chosen in STRATEGIES:
        if chosen != COOPERATIVE_STICKY:
            assumed.append(
                f"The group goes by {chosen}; whether its members list others beside it, the log does not tell."
            )
        return [str(chosen)]
    assumed.append(
        f"The group goes by {str(chosen)[:80]}, a class of your own: that it writes user data into its assignments is assumed."
    )
    return [CUSTOM_USER_DATA]


def _names(members: Mapping[str, MemberFrame], cast: Sequence[NamedMember]) -> dict[str, str]:
    """Member id → its name on the board, or A, B, C where those are no names for a scenario or not one each; in order of joining."""
    order = {each["id"]: place for place, each in enumerate(cast)}
    ids = sorted(members, key=lambda member_id: order.get(member_id, len(order)))
    shown = {each["id"]: each["name"] for each in cast}
    names = [shown.get(member_id, member_id).partition("~")[0] for member_id in ids]
    if len(set(names)) < len(names) or not all(NAME.fullmatch(name) for name in names):
        names = [name_of(place) for place in range(len(ids))]
    return dict(zip(ids, names, strict=True))


def _partition_counts(frame: Frame) -> dict[str, int]:
    """Partitions of each topic that somebody subscribes to or has, as far as they are told or seen."""
    counts: dict[str, int] = {}
    for topic, known in (frame.get("topics") or {}).items():
        counts[topic] = known.get("partitions") or 0
    used: set[str] = set()
    for member in frame["members"].values():
        used.update(member.get("subscribed") or ())
        for topic, partitions in (member.get("assigned") or {}).items():
            used.add(topic)
            counts[topic] = max(counts.get(topic, 0), *(partition + 1 for partition in partitions), 0)
    return {
        topic: count for topic, count in counts.items() if count and topic in used and NAME.fullmatch(topic)
    }


def text_of(document: Mapping[str, object]) -> str:
    """A document as text for ``question_of``."""
    return json.dumps(document)
