"""What an assignor takes a member to own, and since which generation."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from struct import Struct, unpack_from
from struct import error as StructError
from typing import Final

from groups.wire.embedded.user_data import COOPERATIVE_STICKY, NO_GENERATION, STICKY, member_data
from simulations.protocol.assignors.interface import GroupSpec, MemberSpec, Owned


@dataclass(frozen=True, slots=True)
class Claims:
    """``partitions`` as ``(topic, partitions)`` in the given order, a topic perhaps twice; ``generation`` is ``None``
    if nothing contains one, ``NO_GENERATION`` if the bytes say that there is none."""

    partitions: Iterable[tuple[str, Sequence[int]]]
    generation: int | None = None


NOTHING: Final = Claims(())
"""Of a member that is new, as most are in a fresh group."""


def claims_of(assignor: str, member: MemberSpec) -> Claims:
    """The claims of a classic member, as a sticky assignor reads them out of its subscription.

    ``sticky`` asks the user data alone; a member that is given none wrote what it owns, as the client would have.
    """
    if member.user_data is None and member.generation is None and not member.owned:
        return NOTHING
    if assignor == STICKY:
        if member.user_data is not None:
            return _in_user_data(member.user_data)
        if not any(member.owned.values()):
            return NOTHING
        return Claims(member.owned.items(), NO_GENERATION if member.generation is None else member.generation)
    if assignor == COOPERATIVE_STICKY:
        generation = member.generation
        if member.user_data is None:
            return Claims(
                member.owned.items(), generation if generation is not None and generation >= 0 else None
            )
        if generation is None or generation < 0:
            user_data = member_data(COOPERATIVE_STICKY, {"userData": _text(member.user_data)})
            generation = user_data.generation
        return Claims(member.owned.items(), generation)
    return Claims(member.owned.items(), member.generation)


def claims_in(spec: GroupSpec, protocol: str, assignor: str) -> Mapping[str, Owned]:
    """Member → what it is taken to own, of a group of either protocol: what ``moved`` is counted against."""
    if protocol == "consumer" or assignor != STICKY:
        return {member_id: member.owned for member_id, member in spec.members.items()}
    return {
        member_id: member.owned if member.user_data is None else _joined(claims_of(assignor, member))
        for member_id, member in spec.members.items()
    }


def claims_of_all(assignor: str, members: Iterable[MemberSpec]) -> list[Claims]:
    """The claims of all members of a group; names that stand in the user data of many are decoded once."""
    names: dict[bytes, str] = {}
    return [
        (assignor == STICKY and member.user_data and _read_at_once(member.user_data, names))
        or claims_of(assignor, member)
        for member in members
    ]


_COUNT_AND_FIRST: Final = Struct(">ii")


def _read_at_once(data: bytes, names: dict[bytes, str]) -> Claims | None:
    """User data of version 1 without anything odd in them, as most are; ``None`` for the others.

    The reader of ``groups.wire`` shows what is wrong and where; here are a hundred thousand partitions in a call.
    """
    runs: list[tuple[str, list[int]]] = []
    try:
        (topics,) = unpack_from(">i", data)
        if topics < 0:
            return None
        at = 4
        for _ in range(topics):
            end = at + 2 + (data[at] << 8 | data[at + 1])
            name = data[at + 2 : end]
            topic = names.get(name)
            if topic is None:
                topic = names[name] = name.decode()
            count, first = _COUNT_AND_FIRST.unpack_from(data, end)
            at = end + 4 + 4 * count
            if count == 1:
                runs.append((topic, [first]))
            elif count > 1:
                runs.append((topic, [*unpack_from(f">{count}i", data, end + 4)]))
            else:
                return None
        (generation,) = unpack_from(">i", data, at)
    except (StructError, IndexError, UnicodeDecodeError):
        return None
    return Claims(runs, generation)


def _in_user_data(data: bytes) -> Claims:
    user_data = member_data(STICKY, {"userData": _text(data)})
    runs: list[tuple[str, list[int]]] = []
    for topic, partition in user_data.partitions:
        if not runs or runs[-1][0] != topic:
            runs.append((topic, []))
        runs[-1][1].append(partition)
    return Claims(runs, user_data.generation)


def _joined(claims: Claims) -> Owned:
    owned: dict[str, list[int]] = {}
    for topic, partitions in claims.partitions:
        owned.setdefault(topic, []).extend(partitions)
    return owned


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
