"""``uniform``: as even as can be, and as much as possible stays where it is.

Members of one subscription are served by the quota rule of this file (``UniformHomogeneousAssignmentBuilder``);
members whose subscriptions differ by the balancing of ``uniform_heterogeneous``.

The quota rule. Everybody may hold ``least = total // members``; ``total % members`` of them one more. Members in
turn keep what they had up to their quota and give up the rest. A member whose old target did not fill the one more
hands it back as long as there are more members to come than extras left, so extras stay with those who hold them
and fresh ones go to the last members. (Kafka 4.0 never handed back; every release since 4.1 does.)

Example: A, B, C are new and a topic has 2 partitions: A nothing, B {0}, C {1}.

Kafka: ``org.apache.kafka.coordinator.group.assignor.UniformAssignor``. Cost: members × topics that they hold, and
what changes hands; what stays is passed on as it is, what is free in whole runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final

from simulations.protocol.assignors.consumer.uniform_heterogeneous import assign_heterogeneous
from simulations.protocol.assignors.explanation import (
    Explanation,
    counted,
    explain_drop,
    explain_quota,
    listed,
    named,
)
from simulations.protocol.assignors.faults import TARGET_OVERLAPS
from simulations.protocol.assignors.interface import (
    AssignorError,
    Change,
    GroupAssignment,
    GroupSpec,
    MemberSpec,
    Owned,
)

RUN_LEAST: Final = 32
"""Members that are looked at one by one before a run of members alike is looked for again."""


class UniformAssignor:
    name = "uniform"

    def assign(self, spec: GroupSpec, explain: Explanation | None = None) -> GroupAssignment:
        if not spec.members:
            return GroupAssignment(members={})
        if spec.homogeneous:
            changes: dict[str, list[Change]] = {}
            return GroupAssignment(members=dict(assign_homogeneous(spec, explain, changes)), changes=changes)
        return assign_heterogeneous(spec, explain)


def assign_homogeneous(
    spec: GroupSpec, explain: Explanation | None = None, changes: dict[str, list[Change]] | None = None
) -> dict[str, Owned]:
    """The quota rule, for members that all subscribe to the same topics.

    ``changes`` gets those of members whose gains the order of their topics does not show.
    """
    subscribed = dict.fromkeys(next(iter(spec.members.values())).topics)
    if not subscribed:
        if explain is not None:
            for member_id, member in spec.members.items():
                explain_drop(explain, member_id, _flat(member.owned), "nobody subscribes to anything")
        return {}
    total = sum(spec.partitions(topic) for topic in subscribed)
    unassigned = spec.unassigned()
    # Runs of one topic's partitions that nobody has, front to back.
    free: list[tuple[str, Sequence[int]]] = (
        [(topic, unassigned[topic]) for topic in spec.topics if topic in subscribed and topic in unassigned]
        if unassigned
        else []
    )
    least, extras = divmod(total, len(spec.members))
    if explain is not None:
        explain_quota(explain, total, len(spec.members), least, extras)
    if not spec.owned_topics():
        return _fresh(list(spec.members), free, least, extras, explain)
    nothing_vanished = spec.owned_topics() <= subscribed.keys()
    answer = spec.owned_by_member()
    unfilled: list[tuple[str, int]] = []
    sizes = spec.owned_sizes()
    looks_for_runs = nothing_vanished and explain is None
    if looks_for_runs and not free and _is_settled(sizes, least, extras):
        return answer
    member_ids, place, run_from = list(answer), -1, 0 if looks_for_runs else len(answer)
    while (place := place + 1) < len(member_ids):
        if place == run_from:
            run, extras = _kept(sizes, place, least, extras)
            place += run
            run_from = place + (1 if run else RUN_LEAST)
            if place == len(member_ids):
                break
        member_id, size, to_come = member_ids[place], sizes[place], len(member_ids) - place
        owned = answer[member_id]
        with_extra = extras > 0
        quota = least + with_extra
        # Most members of a group that changes a little: they keep what they had, or hand back what they never used.
        if nothing_vanished and (size == quota or (size == least and to_come > extras and explain is None)):
            extras -= size > least
            continue
        if size > quota or not (nothing_vanished or owned.keys() <= subscribed.keys()):
            kept, size = _cut(owned, quota, subscribed, free)
            answer[member_id] = kept
            if explain is not None:
                _explain_cut(explain, member_id, owned, kept, quota, subscribed)
        left = quota - size
        if left > 0 and with_extra and to_come > extras:
            left -= 1
            with_extra = False
            if explain is not None:
                explain.say(
                    "hand-back",
                    f"{member_id} does not fill its one more and hands it back: {counted(to_come - 1, 'member')} to come, "
                    f"of whom {extras} may have one more",
                    member=member_id,
                )
        extras -= with_extra
        if left > 0:
            unfilled.append((member_id, left))
    if explain is not None:
        names = named((topic, partition) for topic, partitions in free for partition in partitions)
        explain.say("free", f"Free, in this order: {listed(names)}", partitions=names)
    _hand_out(answer, unfilled, free, explain, spec, changes)
    return answer


def _is_settled(sizes: Sequence[int], least: int, extras: int) -> bool:
    """Whether everybody keeps what they had: as many have one more as may."""
    return sizes.count(least + 1) == extras and sizes.count(least) == len(sizes) - extras


def _kept(sizes: Sequence[int], place: int, least: int, extras: int) -> tuple[int, int]:
    """How many members from this place on keep what they had, all alike, and how many extras are left behind them.

    A group that changes a little has long runs of members with one more, and of members without.
    """
    if with_extra := _run(sizes, place, least + 1, extras):
        return with_extra, extras - with_extra
    # They hand the one more back, as long as there are more members to come than extras left.
    return _run(sizes, place, least, len(sizes) - place - extras), extras


def _run(sizes: Sequence[int], place: int, size: int, most: int) -> int:
    """How many sizes from this place on are this one, so many at most: lists are compared without a loop, in strides."""
    run, stride = 0, RUN_LEAST
    while stride and run < most:
        stride = min(stride, most - run)
        if sizes[place + run : place + run + stride] == [size] * stride:
            run += stride
            stride *= 2
        else:
            stride //= 2
    return run


def _fresh(
    member_ids: Sequence[str],
    free: Sequence[tuple[str, Sequence[int]]],
    least: int,
    extras: int,
    explain: Explanation | None,
) -> dict[str, Owned]:
    """Nobody has anything, so everybody hands the one more back until only as many are to come as may have it."""
    shares: list[dict[str, Sequence[int]]] = []
    plain = len(member_ids) - extras
    share: dict[str, Sequence[int]] = {}
    room = least
    if room == 0:
        shares, room = [{} for _ in range(plain)], 1
    for topic, partitions in free:
        start = 0
        while start < len(partitions):
            if share or len(partitions) - start < room:
                taken = partitions[start : start + room]
                share[topic] = taken
                start += len(taken)
                room -= len(taken)
                if room == 0:
                    shares.append(share)
                    share = {}
            else:
                # As many members as this run serves whole, and none of those who may have one more.
                most = plain - len(shares) if len(shares) < plain else len(member_ids)
                end = start + min((len(partitions) - start) // room, most) * room
                shares += [{topic: range(first, first + room)} for first in range(start, end, room)]
                start = end
            if not share:
                room = least if len(shares) < plain else least + 1
    if explain is not None:
        last = f", and {least + 1} to the last{'' if extras == 1 else f' {extras}'}" if extras else ""
        explain.say(
            "fresh",
            f"Nobody had anything: whole runs, in the order of topics, {least} to each member{last}",
            members=list(member_ids),
        )
        for member_id, had in zip(member_ids, shares, strict=False):
            names = named(_flat(had))
            if names:
                explain.say("give", f"{member_id} gets {listed(names)}", member=member_id, partitions=names)
    shares += [{} for _ in range(len(member_ids) - len(shares))]
    return dict(zip(member_ids, shares, strict=True))


def _cut(
    owned: Owned, quota: int, subscribed: dict[str, None], free: list[tuple[str, Sequence[int]]]
) -> tuple[Owned, int]:
    """What a member keeps of what it had, and how much that is; what it gives up of subscribed topics is free."""
    kept: dict[str, Sequence[int]] = {}
    left = quota
    for topic, partitions in owned.items():
        if topic not in subscribed or not partitions:
            continue
        if left > 0:
            kept[topic] = partitions[:left]
        if len(partitions) > left:
            free.append((topic, partitions[left:]))
        left -= min(left, len(partitions))
    return kept, quota - left


def _hand_out(
    answer: dict[str, Owned],
    unfilled: Sequence[tuple[str, int]],
    free: Sequence[tuple[str, Sequence[int]]],
    explain: Explanation | None,
    spec: GroupSpec,
    changes: dict[str, list[Change]] | None,
) -> None:
    """Gives the free runs, front to back, to members that have room."""
    run = start = 0
    for member_id, room in unfilled:
        share: dict[str, Sequence[int]] = dict(answer[member_id])
        gained: list[tuple[str, Sequence[int]]] = []
        while room and run < len(free):
            topic, partitions = free[run]
            taken = partitions[start : start + room]
            share[topic] = [*share[topic], *taken] if topic in share else taken
            gained.append((topic, taken))
            room -= len(taken)
            start += len(taken)
            if start == len(partitions):
                run, start = run + 1, 0
            if explain is not None and taken:
                names = named((topic, partition) for partition in taken)
                explain.say(
                    "give",
                    f"{member_id} has room, and gets what is free next: {listed(names)}",
                    member=member_id,
                    partitions=names,
                )
        order = [topic for topic, _ in gained]
        if changes is not None and order != [topic for topic in share if topic in order]:
            changes[member_id] = _changes(spec.members[member_id], answer[member_id], gained)
        answer[member_id] = share
    if run < len(free):
        raise AssignorError(
            "partitions are left over: what the members own does not fit the topics", TARGET_OVERLAPS
        )


def _changes(member: MemberSpec, kept: Owned, gained: Iterable[tuple[str, Sequence[int]]]) -> list[Change]:
    """What a member lost of its topics, and then what it gained, run by run."""
    lost = [
        (topic, number, False)
        for topic, number in _flat(member.owned)
        if topic in member.topics and number not in kept.get(topic, ())
    ]
    return [*lost, *((topic, partition, True) for topic, taken in gained for partition in taken)]


def _flat(owned: Owned) -> list[tuple[str, int]]:
    return [(topic, partition) for topic, partitions in owned.items() for partition in partitions]


def _explain_cut(
    explain: Explanation, member_id: str, before: Owned, kept: Owned, quota: int, subscribed: Collection[str]
) -> None:
    """Explains what a member loses: what nobody subscribes to any more, and what is over its quota."""
    staying = {topic: frozenset(partitions) for topic, partitions in kept.items()}
    vanished = [(t, p) for t, p in _flat(before) if t not in subscribed]
    explain_drop(explain, member_id, vanished, "nobody subscribes to the topic")
    gone = named((t, p) for t, p in _flat(before) if t in subscribed and p not in staying.get(t, ()))
    if gone:
        size = sum(len(partitions) for topic, partitions in before.items() if topic in subscribed)
        explain.say(
            "over-quota",
            f"{member_id} had {size} and may keep {quota}: it gives up {listed(gone)}",
            member=member_id,
            quota=quota,
            partitions=gone,
        )
