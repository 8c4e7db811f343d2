"""The group of a timeline's moment as a description: a frame in, a document out, and what the log did not contain."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Final

from groups.history.evidence.display_names import NamedMember
from groups.history.frames.shapes import Frame, MemberFrame
from simulations.fork.group_of_frame import classic_assignors, classic_start, names_of, partition_counts
from simulations.rehearsal.documents import GroupDocument, MemberDocument
from simulations.rehearsal.question_yaml import TIMEOUT_MOST_MS
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

    What a log cannot determine is assumed, with a sentence for each assumption: the client's release, unless ``client`` is given,
    and the assignors besides the one that the group goes by.
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
    counts = partition_counts(frame)
    if not counts:
        raise RehearsalError("no topic with partitions is known at this moment; choose a later one", "at")
    assumed: list[str] = []
    assignors = classic_assignors(frame, assumed) if classic else []
    if client is None and classic:
        assumed.append("The log does not tell the clients' release: 3.8 is assumed.")
    if len(classic) < len(members):
        assumed.append("No member is assumed to ask for an assignor of the server (group.remote.assignor).")
    names = names_of(members, cast)
    start = classic_start(frame, names, counts)
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


def text_of(document: Mapping[str, object]) -> str:
    """A document as text for ``question_of``."""
    return json.dumps(document)
