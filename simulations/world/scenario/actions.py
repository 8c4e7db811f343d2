"""What a script can make happen, and what a narrated step can stand after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from groups.releases import Release
from groups.wire.codecs.values import Value
from simulations.protocol.assignors.streams_like import Reason
from simulations.world.scenario.access import Operation, Resource, Right
from simulations.world.scenario.raw_requests import RawRequest

COORDINATOR: Final = "coordinator"
"""The broker that is the group's coordinator at the time, where a script names one."""

EVERYTHING: Final = "everything"
"""What ``heal`` names to end all cuts and losses at once."""


class Verb(StrEnum):
    """What a script can make happen; ``simulations.world.scenario.verbs`` lists what each needs."""

    JOIN = "join"
    LEAVE = "leave"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    RESTART = "restart"
    BOUNCE = "bounce"
    ENFORCE_REBALANCE = "enforce_rebalance"
    HEARTBEAT = "heartbeat"
    COMMIT = "commit"
    COMMIT_IN_TRANSACTION = "commit_in_transaction"
    END_TRANSACTION = "end_transaction"
    SLOW_REVOKE = "slow_revoke"
    POLL_LATE = "poll_late"
    FAIL_CALLBACK = "fail_callback"
    SUBSCRIBE = "subscribe"
    REPORT = "report"
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
    SEND = "send"
    DENY = "deny"
    ALLOW = "allow"
    UPGRADE_FEATURE = "upgrade_feature"
    DOWNGRADE_FEATURE = "downgrade_feature"
    ROLL = "roll"


class Event(StrEnum):
    """What a narrated step can stand after; each is something that one settled moment showed.

    From the state: ``join``: the member is in the group. ``target``: a target assignment was computed. ``advances``:
    the member's epoch rose. ``acknowledges``: it has given partitions up. ``gains``: it was assigned more.
    ``removed``: it is not in the group any more. ``group_deleted``: the group is gone.

    From what the coordinator did: ``heartbeat``: it handled one of the member. ``revokes``: it asked the member to give
    partitions up. ``leaves``: the member said that it leaves; ``poll_expires``: because its application had not
    polled. ``commits``: an offset of it was written. ``fenced``: it got the answer that it is no member, or at no such epoch, or
    that its instance is another's. ``turned_away``: the broker is not the coordinator, or is loading. ``refused``: it
    any other error, and any at all for a commit. ``reports``: a client-side assignor of it gave a
    reason for another assignment. ``computes``: it was asked to compute the target; ``prepares``: it was handed the group
    for that; ``installs``: what it computed became the target. ``assignment_error``: an assignment came to it with
    an error of the client-side assignor. ``regex``: the topics of an expression were written. ``config``: the group's
    settings changed. ``metadata``, ``created``, ``deleted``: it knows that the topic has another number of partitions,
    that it is there, that it is gone.

    From what happened around: ``kill``, ``pause``, ``resume``, ``cut``, ``heal``, ``clock_jump``, ``fail_over``: the
    fault. ``feature``: the level of ``group.version`` changed. ``broker_stops``, ``broker_starts``: a broker that is rolled
    went down, is back. ``loaded``: the new coordinator has read the log. ``lost``: a message between the member and the
    coordinator was lost. ``loses``: the member's ``on_partitions_lost`` began. ``raises``: a callback of it raised.
    ``violates``: an invariant was broken.

    Of the classic protocol: ``generation``: a new one was written. ``join_group``, ``sync_group``: the coordinator has
    the member's request. ``rebalancing``: a heartbeat of it was answered that the group rebalances. ``gives_up``,
    ``takes``: its ``on_partitions_revoked`` or ``on_partitions_assigned`` began, with some partition. ``throws``: its
    application got an exception out of ``poll()``.
    """

    JOIN = "join"
    TARGET = "target"
    ADVANCES = "advances"
    REVOKES = "revokes"
    ACKNOWLEDGES = "acknowledges"
    GAINS = "gains"
    HEARTBEAT = "heartbeat"
    LEAVES = "leaves"
    POLL_EXPIRES = "poll_expires"
    REMOVED = "removed"
    COMMITS = "commits"
    FENCED = "fenced"
    TURNED_AWAY = "turned_away"
    REFUSED = "refused"
    REPORTS = "reports"
    COMPUTES = "computes"
    PREPARES = "prepares"
    INSTALLS = "installs"
    ASSIGNMENT_ERROR = "assignment_error"
    REGEX = "regex"
    CONFIG = "config"
    METADATA = "metadata"
    CREATED = "created"
    DELETED = "deleted"
    GROUP_DELETED = "group_deleted"
    KILL = "kill"
    PAUSE = "pause"
    RESUME = "resume"
    CUT = "cut"
    HEAL = "heal"
    CLOCK_JUMP = "clock_jump"
    FAIL_OVER = "fail_over"
    LOADED = "loaded"
    FEATURE = "feature"
    BROKER_STOPS = "broker_stops"
    BROKER_STARTS = "broker_starts"
    LOST = "lost"
    LOSES = "loses"
    RAISES = "raises"
    VIOLATES = "violates"
    GENERATION = "generation"
    JOIN_GROUP = "join_group"
    SYNC_GROUP = "sync_group"
    REBALANCING = "rebalancing"
    GIVES_UP = "gives_up"
    TAKES = "takes"
    THROWS = "throws"


class How(StrEnum):
    """In which way a member leaves (``CloseOptions.GroupMembershipOperation``), a coordinator goes, or a transaction ends."""

    DEFAULT = "default"
    LEAVE = "leave"
    REMAIN = "remain"
    CRASH = "crash"
    MOVE = "move"
    COMMIT = "commit"
    ABORT = "abort"


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """One line of the script, for one ``who``: a member, a topic, the group, ``coordinator`` or ``everything``.

    ``length_ms`` is a callback's (``slow_revoke``), an application's silence (``poll_late``), a broker's
    that is down (``roll``) or a clock's jump (``clock_jump``, which may be negative). ``cut`` and ``heal`` of a pair name
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
    rate: int | None = None
    how: How | None = None
    lost: int | None = None
    compacted: bool = False
    peer: str | None = None
    config: Mapping[str, int] = field(default_factory=dict)
    reason: Reason = Reason.NONE
    lags: Mapping[int, int] = field(default_factory=dict)
    """Of ``report``: task → records that its standby is behind."""
    reason_text: str | None = None
    """Of ``enforce_rebalance``."""
    changes: Mapping[str, object] = field(default_factory=dict)
    """Of ``bounce``: ``protocol``, and fields of ``Classic`` that the new process is started with."""
    rates: Mapping[str, Value] = field(default_factory=dict)
    """The fields of ``NetworkRates`` that ``network`` sets."""
    operation: Operation = Operation.READ
    resource: tuple[Resource, str] = (Resource.GROUP, "")
    """Of ``deny`` and ``allow``, with ``operation``."""
    level: int = 0
    """Of ``upgrade_feature`` and ``downgrade_feature``."""
    release: Release | None = None
    """Of ``roll``: what the broker runs when it is back; ``None``: what it ran."""
    loading_ms: int = 0
    """Of ``fail_over`` and ``roll``: how long the next coordinator reads the log."""
    request: RawRequest | None = None
    """Of ``send``."""

    @property
    def right(self) -> Right:
        """What ``deny`` takes, and ``allow`` gives."""
        return Right(self.operation, *self.resource)
