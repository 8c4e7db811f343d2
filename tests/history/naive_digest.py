"""What a digest has to say, computed the slow way: every frame looked at as a whole, as the board would draw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groups.history.digests import values as v
from groups.history.digests.part import Digest
from groups.history.digests.values import MemberValue, PartitionKey, PartitionValue

Frame = Mapping[str, Any]
State = tuple[dict[str, MemberValue], dict[PartitionKey, PartitionValue]]


def known(frame: Frame) -> bool:
    epoch = frame.get("group_epoch")
    return epoch is not None and epoch > 0 and frame["assignment_epoch"] == epoch


def keys(partitions: Mapping[str, Sequence[int]] | None) -> set[PartitionKey]:
    return {(topic, number) for topic, numbers in (partitions or {}).items() for number in numbers}


def has_stopped(frame: Frame) -> bool:
    """Whether an eager classic group was described between two generations: nobody is known to have anything."""
    between = frame["state"] in ("PreparingRebalance", "CompletingRebalance")
    eager = frame.get("protocol_name") in ("range", "roundrobin", "sticky")
    return between and eager and not frame.get("barrier") and frame["clients"] is None


class Naive:
    """Takes every frame of a timeline, since a topic that was met keeps its place; tells the state of any."""

    def __init__(self) -> None:
        self.met: set[str] = set()

    def see(self, frame: Frame) -> None:
        told = {topic for topic, each in frame["topics"].items() if each["partitions"]}
        for member in frame["members"].values():
            self.met |= told & set(member.get("subscribed") or ())
            for name in ("assigned", "pending_revocation"):
                self.met |= {topic for topic, _ in keys(member.get(name))}
        for member_id, client in (frame.get("clients") or {}).items():
            if member_id in frame["members"]:
                read = client["owned"] if frame.get("barrier") else None
                self.met |= {topic for topic, _ in keys(client["revoking"]) | keys(read)}
        for target in (frame.get("target") or {}).values():
            self.met |= {topic for topic, _ in keys(target)}

    def state(self, frame: Frame) -> State:
        members, clients = frame["members"], frame.get("clients") or {}
        share, streams = frame["protocol"] == "share", frame["protocol"] == "streams"
        assigned = {
            m: set()
            if has_stopped(frame)
            else keys(clients.get(m, {}).get("owned") if frame.get("barrier") else part["assigned"])
            for m, part in members.items()
        }
        revoking = {
            m: keys(part.get("pending_revocation")) | keys(clients.get(m, {}).get("revoking"))
            for m, part in members.items()
        }
        held = {m: assigned[m] | revoking[m] for m in members}
        targets = {m: keys(part) for m, part in (frame.get("target") or {}).items()}
        everything = set().union(*held.values(), *targets.values())
        if not streams:
            for topic in self.met:
                count = frame["topics"].get(topic, {}).get("partitions") or 0
                everything |= {(topic, number) for number in range(count)}
        partitions: dict[PartitionKey, PartitionValue] = {}
        flags = dict.fromkeys(members, v.MEMBER)
        wanted = dict.fromkeys({*members, *targets}, 0)
        for key in everything:
            holders = sorted(m for m in members if key in held[m])
            wants = sorted(m for m in targets if key in targets[m])
            if not share:
                wants = wants[-1:]
            if known(frame):
                for m in wants:
                    wanted[m] += m not in holders
            if not holders:
                partitions[key] = PartitionValue(None, v.FREE)
                continue
            owner = min(holders, key=lambda m: (key not in assigned[m], m))
            mode = v.OWN
            if len(holders) > 1 and not share:
                mode = v.MODE_TWICE
                for m in holders:
                    flags[m] |= v.TWICE
            elif any(key in revoking[m] for m in holders):
                mode = v.MODE_REVOKING
            elif known(frame) and not share and holders != wants:
                mode = v.MODE_LEAVING
                flags[owner] |= v.LEAVING
            partitions[key] = PartitionValue(owner, mode)
        rows: dict[str, MemberValue] = {}
        for m, part in members.items():
            epoch = part.get("epoch")
            if frame.get("group_epoch") is not None and epoch is not None and epoch < frame["group_epoch"]:
                flags[m] |= v.BEHIND
            flags[m] |= (v.WAITS if wanted.get(m) else 0) | (v.REVOKING if revoking[m] else 0)
            rows[m] = MemberValue(
                flags[m] | hard(clients.get(m, {})), len(held[m]), len(revoking[m]), wanted.get(m, 0)
            )
        for m, client in clients.items():
            if m not in members:
                bits = hard(client) | (v.OUTSIDE if keys(client["owned"]) else 0)
                if bits:
                    rows[m] = MemberValue(bits, 0, 0, 0)
        return rows, partitions


def hard(client: Frame) -> int:
    return sum(
        bit
        for name, bit in (("cut", v.CUT), ("paused", v.PAUSED), ("killed", v.KILLED), ("fenced", v.FENCED))
        if client.get(name)
    )


def naive_columns(states: Sequence[State], bounds: Sequence[tuple[int, int]]) -> list[State]:
    """The states of each column, merged; ``bounds`` says which states (both included) are in each."""
    return [
        (
            merge([state[0] for state in states[low : high + 1]], v.NOBODY),
            merge([state[1] for state in states[low : high + 1]], v.NOWHERE),
        )
        for low, high in bounds
    ]


def merge(rows: Sequence[dict[Any, Any]], nothing: Any) -> dict[Any, Any]:
    merged = {}
    for key in {key for row in rows for key in row}:
        value = rows[0].get(key, nothing)
        for row in rows[1:]:
            value = value.merged(row.get(key, nothing))
        merged[key] = value
    return merged


def unrolled(digest: Digest) -> list[State]:
    """What a digest says of each of its columns, row by row."""
    told: list[State] = []
    for name, nothing in (("members", v.NOBODY), ("partitions", v.NOWHERE)):
        rows = getattr(digest, name)
        state = dict(rows.start or {})
        changes = iter(rows.changes)
        change = next(changes, None)
        for column in range(len(digest.columns)):
            seen = set()
            while change is not None and change[0] == column:
                assert change[1] not in seen, "a row is told twice in one column"
                seen.add(change[1])
                if change[2] == nothing:
                    state.pop(change[1], None)
                else:
                    state[change[1]] = change[2]
                change = next(changes, None)
            if name == "members":
                told.append((dict(state), {}))
            else:
                told[column] = (told[column][0], dict(state))
        assert change is None or change[0] >= len(digest.columns)
    return told
