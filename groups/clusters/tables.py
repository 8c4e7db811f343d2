"""What ``kafka-consumer-groups`` prints of a group: columns, order of columns and words are Kafka's own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from groups.clusters.offsets import Committed
from groups.clusters.settings import Address
from groups.history.polls.description import (
    CLASSIC_MEMBER,
    GroupDescription,
    GroupKind,
    MemberDescription,
    Partitions,
)
from groups.terminal import terminal_name

MISSING: Final = "-"

UNREADABLE: Final = "?"
"""Cell of what a member's bytes would contain, if they could be decoded. Kafka's tool ends with an error there."""

LEAST_WIDTH: Final = 15

Row = Sequence[str]


def table(head: Row, rows: Iterable[Row]) -> str:
    """Columns as wide as their widest cell, and no narrower than Kafka's."""
    lines = [head, *([terminal_name(cell) for cell in row] for row in rows)]
    widths = [max(LEAST_WIDTH, *(len(line[column]) for line in lines)) for column in range(len(head))]
    return "\n".join(
        " ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def listing(rows: Iterable[tuple[str, str, str]], *, types: bool, states: bool) -> str:
    """``--list``: names alone, or with the type, the state, or both. A row is (group, type, state)."""
    if not types and not states:
        return "\n".join(terminal_name(group) for group, _, _ in rows)
    chosen = [(True, "GROUP"), (types, "TYPE"), (states, "STATE")]
    return table(
        [name for wanted, name in chosen if wanted],
        [[cell for (wanted, _), cell in zip(chosen, row, strict=True) if wanted] for row in rows],
    )


def states(group: GroupDescription, coordinator: tuple[int, Address | None], *, verbose: bool) -> str:
    """``--describe --state``."""
    node, address = coordinator
    head = ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE"]
    where = f"{address.host}:{address.port}  ({node})" if address is not None else f"({node})"
    row = [group.group, where, group.assignor, group.state]
    if verbose:
        head += ["GROUP-EPOCH", "TARGET-ASSIGNMENT-EPOCH"]
        row += [_number(group.group_epoch), _number(group.assignment_epoch)]
    return table([*head, "#MEMBERS"], [[*row, str(len(group.members))]])


def members(group: GroupDescription, *, verbose: bool) -> str:
    """``--describe --members``; the column TARGET-EPOCH is the group's assignment epoch, as in Kafka's tool."""
    statics = any(member.instance_id is not None for member in group.members)
    # A column of its own where some member still speaks the classic protocol.
    mixed = group.kind is GroupKind.CONSUMER and any(
        member.member_type == CLASSIC_MEMBER for member in group.members
    )
    head = [
        "GROUP",
        "CONSUMER-ID",
        *(["GROUP-INSTANCE-ID"] if statics else []),
        "HOST",
        "CLIENT-ID",
        "#PARTITIONS",
    ]
    if verbose:
        head += ["CURRENT-EPOCH", "CURRENT-ASSIGNMENT", "TARGET-EPOCH", "TARGET-ASSIGNMENT"]
        head += ["UPGRADED"] if mixed else []
    rows = []
    for member in group.members:
        row = [group.group, member.member_id, *([member.instance_id or ""] if statics else [])]
        is_known = "assignment" not in member.unreadable
        row += [member.host, member.client_id, str(_count(member.assignment)) if is_known else UNREADABLE]
        if verbose:
            row += [_number(member.epoch), _assignment(member.assignment) if is_known else UNREADABLE]
            row += [
                _number(group.assignment_epoch),
                _assignment(member.target or {}) if member.target else MISSING,
            ]
            row += [str(member.member_type != CLASSIC_MEMBER).lower()] if mixed else []
        rows.append(row)
    return table(head, rows)


def offsets(
    group: GroupDescription,
    committed: Iterable[Committed],
    ends: Mapping[tuple[str, int], int],
    *,
    verbose: bool,
) -> str:
    """``--describe``: a row for each partition that somebody reads or that was committed."""
    head = ["GROUP", "TOPIC", "PARTITION", *(["LEADER-EPOCH"] if verbose else [])]
    head += ["CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
    known = {(each.topic, each.partition): each for each in committed}
    rows = []
    for place, member in readers(group, known):
        one = known.get(place)
        end = ends.get(place)
        offset = None if one is None or one.offset < 0 else one.offset
        epoch = None if one is None or one.leader_epoch < 0 else one.leader_epoch
        lag = None if offset is None or end is None else end - offset
        row = [group.group, place[0], str(place[1]), *([_number(epoch)] if verbose else [])]
        row += [_number(offset), _number(end), _number(lag)]
        row += [member.member_id, member.host, member.client_id] if member else [MISSING] * 3
        rows.append(row)
    return table(head, rows)


def readers(
    group: GroupDescription, committed: Iterable[tuple[str, int]]
) -> list[tuple[tuple[str, int], MemberDescription | None]]:
    """Each partition with its member, those of members first; then what was committed and nobody reads."""
    found: list[tuple[tuple[str, int], MemberDescription | None]] = [
        ((topic, partition), member)
        for member in group.members
        for topic, partitions in sorted(member.assignment.items())
        for partition in partitions
    ]
    taken = {place for place, _ in found}
    return found + [(place, None) for place in sorted(committed) if place not in taken]


def said_of_state(group: GroupDescription) -> str | None:
    """The line that Kafka's tool puts above a group that is not Stable."""
    if group.state == "Empty":
        return f"Consumer group '{group.group}' has no active members."
    if group.state in ("PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling"):
        return f"Warning: Consumer group '{group.group}' is rebalancing."
    return None


def _assignment(partitions: Partitions) -> str:
    """``foo:0,1;bar:2``, as Kafka's tool writes it."""
    return (
        ";".join(
            f"{topic}:{','.join(map(str, numbers))}"
            for topic, numbers in sorted(partitions.items())
            if numbers
        )
        or MISSING
    )


def _count(partitions: Partitions) -> int:
    return sum(map(len, partitions.values()))


def _number(value: int | None) -> str:
    return MISSING if value is None else str(value)
