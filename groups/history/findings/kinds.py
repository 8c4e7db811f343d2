"""The fields of each kind of finding, as the verdict reads them.

A finder may give more: what no sentence is made of is in ``finding.Finding`` or in the finder's own docstring. A test holds
these shapes to what the finders give.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from groups.history.findings.finding import BasicFinding


class Steps(BasicFinding):
    """What happened some times, ``steps`` where."""

    steps: list[int]


class Counted(Steps):
    """``count`` is the number of all, also of those that are not listed one by one."""

    count: int


class Lasting(Steps):
    """A pattern that went on for a while."""

    from_ms: int
    to_ms: int


class Loop(Lasting):
    """``crash_loop``, ``left_and_back``: a process that comes and goes."""

    name: str
    lane: str
    looks_like: NotRequired[str | None]


class RollingRestart(Lasting):
    """``round`` of ``rounds``: the same processes were restarted as often."""

    lanes: list[str]
    round: int
    rounds: int


class ShortRebalanceTimeout(Lasting):
    names: list[str]
    lanes: list[str]


class TwoOwners(Steps):
    """``to_ms`` is null up to the log's end."""

    from_ms: int
    to_ms: int | None
    length_ms: int


class GroupStopped(Lasting):
    length_ms: int


class Storm(Lasting):
    names: list[str]


class Removed(BasicFinding):
    """``short`` is what it looks like, if it looks like a pattern."""

    at_ms: int
    name: str
    lane: str
    why: str | None
    polled: bool
    looks_like: str | None
    short: str | None
    partitions: list[str]
    timeout_ms: int | None
    silent_from_ms: int | None
    silent_sequence: int | None
    killed_ms: int | None
    killed_sequence: int | None
    back_ms: int | None
    back_sequence: int | None
    quiet_ms: int | None


class Joined(BasicFinding):
    at_ms: int
    name: str
    lane: str
    again: int
    forming: bool


class Stopped(BasicFinding):
    """No commit of a partition for a while."""

    partition: str
    from_ms: int
    to_ms: int
    length_ms: int


class NoOwner(BasicFinding):
    """``first``: nobody had owned it before; ``noun``: what its kind of group calls a partition."""

    partition: str
    noun: str
    from_ms: int
    length_ms: int
    first: bool
    open: bool
    forming: bool
    count: int


class Unread(BasicFinding):
    partition: str
    name: str | None
    member: str | None
    after: str | None
    why: str
    from_ms: int
    length_ms: int
    open: bool


class Away(BasicFinding):
    lane: str
    from_ms: int
    length_ms: int
    open: bool


class Silent(BasicFinding):
    name: str
    partitions: list[str]
    from_ms: int
    length_ms: int
    open: bool


class WaitedFor(BasicFinding):
    """``name`` is who was waited for."""

    name: str
    waiter_name: str
    partitions: list[str]
    from_ms: int
    length_ms: int
    open: bool
    forming: bool
    slow: bool


class Idle(Steps):
    """Members that hold nothing; ``open`` up to the log's end."""

    from_ms: int
    open: bool


class FirstAssigned(BasicFinding):
    """Partitions that have an owner for the first time."""

    at_ms: int
    name: str
    partitions: list[str]
    new_topics: list[str]


class Stable(BasicFinding):
    """``throughout``: nothing else happened after the group had formed."""

    from_ms: int
    throughout: bool


class OffsetEvent(BasicFinding):
    """``offset_back``, ``offsets_set``, ``offsets_deleted``: at a time."""

    at_ms: int
    why: str
    partitions: list[str]


class OffsetSeries(BasicFinding):
    """``two_writers``, ``unowned_commits``, ``open_transaction``, ``passed_over``: for a while."""

    partitions: list[str]
    from_ms: int
    length_ms: int


class Emptied(BasicFinding):
    """``open``: the group is empty at the end."""

    from_ms: int
    length_ms: int
    open: bool


class Moves(Counted):
    """``follows``: the process whose comings and goings all of them follow, if it is one."""

    follows: str | None
    after_forming: int
    """How many of them, all where the group did not form in the log."""
    released_before_taken: bool


class Violation(Counted):
    """``at`` is the entry that broke the invariant."""

    at: int
    at_ms: NotRequired[int | None]


class Gap(BasicFinding):
    compacted: bool
    continued: NotRequired[bool]
    """Nothing is missing: the group's earlier timeline was full."""
    missing: NotRequired[int | None]
    offsets: NotRequired[int | None]


class Formed(Steps):
    """``first`` and ``last``: the epochs, or generations of a ``classic`` group, in which it formed."""

    names: list[str]
    joined: int
    """How many there were; ``names`` are of the first of them."""
    from_ms: int
    to_ms: int
    first: int | None
    last: int | None
    classic: bool


class Happened(Counted):
    """What happened to the group, its coordinator or a member."""

    at_ms: NotRequired[int | None]
    length_ms: NotRequired[int | None]
    name: NotRequired[str]
    member: NotRequired[str | None]


class Fenced(Happened):
    """``fenced`` and ``refused``, by which error."""

    error: str


class TopicEvent(BasicFinding):
    """``partitions_added``, ``matched``, ``topics_deleted``, ``topics_remade``."""

    at_ms: int | None
    topic: NotRequired[str]


class Migrated(BasicFinding):
    """``to``: the protocol; ``online``: with members in it; ``back``: to where it came from."""

    at_ms: int
    to: str
    online: bool
    back: bool


class Anomaly(BasicFinding):
    anomaly: str
    at_ms: NotRequired[int | None]


class ByKind(TypedDict, total=False):
    """The findings of a timeline that its verdict is made of."""

    aborted_transactions: list[OffsetSeries]
    anomaly: list[Anomaly]
    assigned_unsubscribed: list[Steps]
    away: list[Away]
    began: list[BasicFinding]
    commits: list[BasicFinding]
    coordinator_moved: list[Happened]
    crash_loop: list[Loop]
    cut_off: list[Happened]
    deleted: list[BasicFinding]
    difference: list[Counted]
    eager_rebalance: list[Steps]
    feature: list[Happened]
    emptied: list[Emptied]
    failed_over: list[Happened]
    fenced: list[Fenced]
    first_assigned: list[FirstAssigned]
    flapping: list[Lasting]
    formed: list[Formed]
    gap: list[Gap]
    group_stopped: list[GroupStopped]
    group_type: list[BasicFinding]
    idle_members: list[Idle]
    joined: list[Joined]
    leader_changed: list[Happened]
    left_and_back: list[Loop]
    lost_batch: list[Happened]
    matched: list[TopicEvent]
    midway: list[BasicFinding]
    migrated: list[Migrated]
    moves: list[Moves]
    no_owner: list[NoOwner]
    offset_back: list[OffsetEvent]
    offsets_deleted: list[OffsetEvent]
    offsets_set: list[OffsetEvent]
    open_transaction: list[OffsetSeries]
    partitions_added: list[TopicEvent]
    partitions_not_assigned: list[Steps]
    passed_over: list[OffsetSeries]
    refused: list[Fenced]
    release_changed: list[Happened]
    removed: list[Removed]
    replaced: list[Happened]
    rolled: list[Happened]
    rolling_restart: list[RollingRestart]
    short_rebalance_timeout: list[ShortRebalanceTimeout]
    silent: list[Silent]
    stable: list[Stable]
    strategy_changed: list[Happened]
    stood_still: list[Happened]
    stopped: list[Stopped]
    storm: list[Storm]
    topic_not_assigned: list[Steps]
    topics_deleted: list[TopicEvent]
    topics_remade: list[TopicEvent]
    twin_instance: list[Lasting]
    two_clients: list[Happened]
    two_round_cooperative: list[Steps]
    two_owners: list[TwoOwners]
    two_writers: list[OffsetSeries]
    unowned_commits: list[OffsetSeries]
    unread: list[Unread]
    violation: list[Violation]
    waited_for: list[WaitedFor]
