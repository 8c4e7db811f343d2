"""What a script can make happen, and what a narrated step can stand after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from simulations.scenario.surroundings import Network

COORDINATOR: Final = "coordinator"
"""The broker that is the group's coordinator at the time, where a script names one."""

EVERYTHING: Final = "everything"
"""What ``heal`` names to end all cuts and losses at once."""


class Verb(StrEnum):
    """What a script can make happen; ``simulations.scenario.verbs`` tells what each needs."""

    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    RESTART = "restart"
    HEARTBEAT = "heartbeat"
    COMMIT = "commit"
    SLOW_REVOKE = "slow_revoke"
    POLL_LATE = "poll_late"
    FAIL_CALLBACK = "fail_callback"
    SUBSCRIBE = "subscribe"
    ADD_PARTITIONS = "add_partitions"
    CREATE_TOPIC = "create_topic"
    DELETE_TOPIC = "delete_topic"
    FAIL_OVER = "fail_over"
    CUT = "cut"
    HEAL = "heal"
    NETWORK = "network"
    CLOCK_JUMP = "clock_jump"
    SET_CONFIG = "set_config"
    DELETE_GROUP = "delete_group"
    EXPIRE_OFFSETS = "expire_offsets"


class Event(StrEnum):
    """What a narrated step can stand after; each is something that one settled moment showed.

    ``join``: the member is in the group. ``target``: a target assignment was computed. ``advances``: the member's
    epoch rose. ``revokes``: the member was told to give partitions up. ``acknowledges``: it has given them up.
    ``gains``: it was assigned more. ``heartbeat``: the coordinator handled a heartbeat of it. ``leaves``: it said
    that it leaves. ``removed``: it is not in the group any more. ``commits``: an offset of it was written.
    ``kill``, ``pause``, ``resume``: the fault. ``metadata``: the topic's partition count changed.
    """

    JOIN = "join"
    TARGET = "target"
    ADVANCES = "advances"
    REVOKES = "revokes"
    ACKNOWLEDGES = "acknowledges"
    GAINS = "gains"
    HEARTBEAT = "heartbeat"
    LEAVES = "leaves"
    REMOVED = "removed"
    COMMITS = "commits"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    METADATA = "metadata"


class How(StrEnum):
    """In which way a member leaves (``CloseOptions.GroupMembershipOperation``), or a coordinator goes."""

    DEFAULT = "default"
    LEAVE = "leave"
    REMAIN = "remain"
    CRASH = "crash"
    MOVE = "move"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One line of the script, for one ``who``: a member, a topic, the group, ``coordinator`` or ``everything``.

    ``length_ms`` is a callback's (``slow_revoke``), an application's silence (``poll_late``), a load's
    (``fail_over``) or a clock's jump (``clock_jump``, which may be negative). ``cut`` and ``heal`` of a pair name
    its other end in ``peer``. What a verb does not speak of keeps its default.
    """

    at_ms: int
    verb: Verb
    who: str
    length_ms: int | None = None
    topics: tuple[str, ...] = ()
    regex: str | None = None
    offset: int | None = None
    partitions: int | None = None
    racks: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    topic_id: str | None = None
    how: How = How.DEFAULT
    lost: int = 0
    compacted: bool = False
    peer: str | None = None
    config: Mapping[str, int] = field(default_factory=dict)
    network: Network | None = None
