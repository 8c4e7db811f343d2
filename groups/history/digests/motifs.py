"""Motifs: what happened to the same member or partition several times in one timeline, each with the entries that prove it.

Pure: of a digest whose columns are single moments. A process is its lane, whatever its member id is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, Literal, TypedDict

from groups.history.digests import values as v
from groups.history.digests.digest_json import runs_of
from groups.history.digests.part import Digest
from groups.history.evidence.display_names import NamedMember
from groups.history.words import listed, listed_partitions

LEAVES_LEAST: Final = 3

RECONCILES: Final = v.BEHIND | v.LEAVING | v.WAITS | v.REVOKING

Kind = Literal["returned", "joined_amid", "left_often"]


class Motif(TypedDict):
    """``returned``: partitions are back with a former owner. ``joined_amid``: a member joined while others reconciled.

    ``left_often``: a process was ``LEAVES_LEAST`` times or more a member no longer. ``sequences`` are the proof, in order; the board opens at the last.
    """

    kind: Kind
    sequences: list[int]
    at_ms: int
    text: str


def motifs_of(digest: Digest, members: Mapping[str, NamedMember], topics: Mapping[str, str]) -> list[Motif]:
    """All motifs, by the entry at which each was complete. ``members``: by id; ``topics``: names by what the digest calls them."""
    found = [*_returned(digest, members, topics), *_of_members(digest, members)]
    return sorted(found, key=lambda one: (one["sequences"][-1], one["text"]))


def _motif(kind: Kind, digest: Digest, columns: list[int], text: str) -> Motif:
    """Its proof are the moments of these columns."""
    sequences = [digest.columns.first[column] for column in columns]
    return {"kind": kind, "sequences": sequences, "at_ms": digest.columns.from_ms[columns[-1]], "text": text}


def _name(members: Mapping[str, NamedMember], member_id: str) -> str:
    return members[member_id]["name"] if member_id in members else member_id


def _lane(members: Mapping[str, NamedMember], member_id: str) -> str:
    return members[member_id]["lane"] if member_id in members else member_id


def _returned(
    digest: Digest, members: Mapping[str, NamedMember], topics: Mapping[str, str]
) -> Iterator[Motif]:
    """Partitions that return to one owner at once, after the same others took them, are one motif."""
    together: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for (topic, partition), runs in runs_of(digest.partitions, len(digest.columns)).items():
        owners: list[str] = []
        taken: list[int] = []
        for column, value in runs:
            if value.owner is None:
                continue
            lane = _lane(members, value.owner)
            if owners and lane == owners[-1]:
                continue
            if lane in owners:
                before = len(owners) - 1 - owners[::-1].index(lane)
                proof = (*taken[before:], column)
                together.setdefault((lane, proof), []).append(f"{topics.get(topic, topic)}-{partition}")
            owners.append(lane)
            taken.append(column)
    for (lane, proof), places in together.items():
        others = "another member" if len(proof) == 3 else f"{len(proof) - 2} other owners"
        verb = "returns" if len(places) == 1 else "return"
        text = f"{listed_partitions(places)} {verb} to {_name(members, lane)} after {others}"
        yield _motif("returned", digest, list(proof), text)


def _of_members(digest: Digest, members: Mapping[str, NamedMember]) -> Iterator[Motif]:
    changes: dict[int, list[tuple[str, v.MemberValue]]] = {}
    for member_id, runs in runs_of(digest.members, len(digest.columns)).items():
        for column, value in runs:
            changes.setdefault(column, []).append((member_id, value))
    now: dict[str, int] = {}
    reconcile: dict[str, int] = {}
    """Since which column each member reconciles."""
    left: dict[str, list[int]] = {}
    for column, changed in sorted(changes.items()):
        joined = [one for one, value in changed if value.flags & v.MEMBER and not now.get(one, 0) & v.MEMBER]
        if column and joined and (amid := {one: reconcile[one] for one in reconcile if one not in joined}):
            who, whom = (listed([_name(members, one) for one in some]) for some in (joined, amid))
            verbs = ("joins" if len(joined) == 1 else "join", "reconciles" if len(amid) == 1 else "reconcile")
            text = f"{who} {verbs[0]} while {whom} {verbs[1]}"
            yield _motif("joined_amid", digest, [*sorted({*amid.values()}), column], text)
        for one, value in changed:
            if now.get(one, 0) & v.MEMBER and not value.flags & v.MEMBER:
                left.setdefault(_lane(members, one), []).append(column)
            if value.flags & v.MEMBER and value.flags & RECONCILES:
                reconcile.setdefault(one, column)
            else:
                reconcile.pop(one, None)
            now[one] = value.flags
    for lane, columns in left.items():
        if len(columns) >= LEAVES_LEAST:
            text = f"{_name(members, lane)} leaves {len(columns)} times"
            yield _motif("left_often", digest, columns, text)
