"""What a frame gives for a scenario: names of members, partitions of topics, a classic group's start and its assignors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NotRequired, TypedDict

from groups.history.evidence.display_names import NamedMember
from groups.history.frames.shapes import Frame, MemberFrame, Partitions
from groups.wire.embedded.user_data import COOPERATIVE_STICKY
from simulations.protocol.assignors.classic.custom import CUSTOM_USER_DATA
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.world.scenario.topics import NAME

LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class OwnedDocument(TypedDict):
    """What a member has, by topic."""

    owned: dict[str, list[int]]


class StartDocument(TypedDict):
    """A classic group as it is: a scenario's ``start``."""

    generation: int
    leader: NotRequired[str]
    members: dict[str, OwnedDocument]


def name_of(number: int) -> str:
    """A, B, … Z, A1, B1 and so on."""
    turn, letter = divmod(number, len(LETTERS))
    return LETTERS[letter] + (str(turn) if turn else "")


def names_of(members: Mapping[str, MemberFrame], cast: Sequence[NamedMember]) -> dict[str, str]:
    """Member id → its name on the board, or A, B, C where those are no names for a scenario or not one each; in order of joining."""
    order = {each["id"]: place for place, each in enumerate(cast)}
    ids = sorted(members, key=lambda member_id: order.get(member_id, len(order)))
    shown = {each["id"]: each["name"] for each in cast}
    names = [shown.get(member_id, member_id).partition("~")[0] for member_id in ids]
    if len(set(names)) < len(names) or not all(NAME.fullmatch(name) for name in names):
        names = [name_of(place) for place in range(len(ids))]
    return dict(zip(ids, names, strict=True))


def partition_counts(frame: Frame) -> dict[str, int]:
    """Partitions of each topic that somebody subscribes to or has, as far as they are known."""
    counts: dict[str, int] = {}
    for topic, known in (frame.get("topics") or {}).items():
        counts[topic] = known.get("partitions") or 0
    used: set[str] = set()
    for member in frame["members"].values():
        used.update(member.get("subscribed") or ())
        _count(counts, used, member.get("assigned") or {})
        _count(counts, used, member.get("pending_revocation") or {})
    for target in (frame.get("target") or {}).values():
        _count(counts, used, target)
    return {
        topic: count for topic, count in counts.items() if count and topic in used and NAME.fullmatch(topic)
    }


def _count(counts: dict[str, int], used: set[str], partitions: Partitions) -> None:
    for topic, numbers in partitions.items():
        used.add(topic)
        counts[topic] = max(counts.get(topic, 0), *(number + 1 for number in numbers), 0)


def classic_start(frame: Frame, names: Mapping[str, str], counts: Mapping[str, int]) -> StartDocument | None:
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


def classic_assignors(frame: Frame, assumed: list[str]) -> list[str]:
    """What all members list, as far as the log shows: the one that was chosen."""
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
