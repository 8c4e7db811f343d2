"""The kinds of rules, what each takes, and whether one holds for a group as it was just seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from groups.history.findings.finding import Finding
from groups.history.findings.patterns.causeless_rebalances import PATTERN as CAUSELESS_PATTERN
from groups.history.findings.registry import incident_kinds, rows
from groups.history.words import THIN_SPACE, counted, duration
from groups.shown import shown_name
from groups.watching.alerts.lag_course import LagCourse


class Kind(StrEnum):
    """What a rule is about."""

    UNASSIGNED = "unassigned"
    STUCK = "stuck"
    STORM = "storm"
    CAUSELESS = "causeless"
    EMPTY = "empty"
    LAG = "lag"
    LATE = "late"
    NOT_CAUGHT_UP = "not_caught_up"
    GROWING = "growing"
    LOST = "lost"
    UNREADABLE = "unreadable"
    UNREACHABLE = "unreachable"
    FINDING = "finding"


@dataclass(frozen=True, slots=True)
class Limit:
    """A number that a rule takes, with its default and its bounds."""

    default: int
    least: int
    most: int


GROUP_LENGTH_MOST: Final = 1000
"""As many letters as a group's name has that is recorded."""

DAY_S: Final = 86_400
_FOR: Final = Limit(30, 1, DAY_S)

_KINDS: Final[Mapping[Kind, tuple[str, Mapping[str, Limit]]]] = {
    Kind.UNASSIGNED: ("a partition that is unassigned", {"for_s": _FOR}),
    Kind.STUCK: ("a rebalance that does not end", {"for_s": Limit(120, 1, DAY_S)}),
    # A group keeps the times of its last 60 rebalances.
    Kind.STORM: ("many rebalances", {"count": Limit(5, 1, 59), "within_s": Limit(600, 10, DAY_S)}),
    Kind.CAUSELESS: ("rebalances without a cause", {}),
    Kind.EMPTY: ("a group without members", {"for_s": Limit(60, 1, DAY_S)}),
    Kind.LAG: ("a large lag, in records", {"count": Limit(10_000, 0, 2**53), "for_s": Limit(60, 0, DAY_S)}),
    Kind.LATE: ("a long lag, in seconds", {"lag_s": Limit(300, 1, 3600), "for_s": Limit(60, 0, DAY_S)}),
    Kind.NOT_CAUGHT_UP: (
        "a rebalance after which the group does not catch up",
        {"for_s": Limit(300, 1, 3600)},
    ),
    Kind.GROWING: ("a lag that grows", {"count": Limit(1_000, 0, 2**53), "within_s": Limit(600, 60, 3600)}),
    Kind.LOST: ("records that were deleted unread", {}),
    Kind.UNREADABLE: ("a group that is not seen", {"for_s": Limit(60, 1, DAY_S)}),
    Kind.UNREACHABLE: ("a cluster that is out of reach", {"for_s": Limit(60, 1, DAY_S)}),
    Kind.FINDING: ("a finding", {}),
}
"""What each kind is about, for somebody who chooses one, and what it takes. ``for_s``: how long it must hold. ``count``: more than so
many. ``within_s``: in the last so many seconds. ``lag_s``: the oldest unread record is older than so many seconds, at most the hour
that the watcher remembers."""

OFFERED: Final = {kind: about for kind, (about, _) in _KINDS.items()}
LIMITS: Final = {kind: limits for kind, (_, limits) in _KINDS.items()}

USUAL: Final[Sequence[Mapping[str, Any]]] = (
    {"kind": "unreachable", "for_s": 60},
    {"kind": "stuck", "for_s": 120},
    {"kind": "unassigned", "for_s": 120},
    {"kind": "causeless"},
    {"kind": "storm", "count": 10, "within_s": 600},
    {"kind": "late", "lag_s": 300, "for_s": 60},
    {"kind": "not_caught_up", "for_s": 600},
    {"kind": "lost"},
)
"""Rules for a cluster of which nothing else is known: what is wrong in nearly every group, and silent in a deploy of some minutes."""

QUIET_PERIODS: Final = 3
"""Rebalances without a cause are over after as many of their periods without another one, at the least ``QUIET_LEAST_MS``."""

QUIET_LEAST_MS: Final = 15_000

OF_CLUSTER: Final = frozenset({Kind.UNREACHABLE})
"""Rules on the cluster itself: they are about no group."""

ALSO: Final = frozenset({"anomaly", "emptied", "gap", "migrated", "removed"})
"""Findings that are no incident, and that a team may want an alert for all the same."""

FINDINGS: Final = tuple(sorted(incident_kinds() | ALSO))
"""Findings that a rule may name: those of what goes wrong, and of what changes for good."""


LOSS_FINDINGS: Final = frozenset({"removed", "emptied", "session_expiry"})
"""Findings of a group that lost members."""

AFTER_A_LOSS: Final = frozenset({Kind.UNASSIGNED, Kind.STUCK, Kind.EMPTY, Kind.NOT_CAUGHT_UP, Kind.FINDING})
"""Rules that may hold since a group lost members."""

NEED_COURSE: Final = frozenset({Kind.NOT_CAUGHT_UP, Kind.GROWING})
"""Rules on how the lag went on, which a process that has just begun to watch does not know yet."""

SOURCES_POLLED: Final = frozenset({"records", "the metadata log"})
SOURCES_FOLLOWED: Final = SOURCES_POLLED | {"commits", "batch headers"}
"""What findings of a live group can be read from, by ``Row.needs``: it has no requests, timers and callbacks."""


def missing_sources(finding: str, *, is_followed: bool) -> str | None:
    """What a finding needs that a live group does not have; null if it can be found."""
    sources = SOURCES_FOLLOWED if is_followed else SOURCES_POLLED
    needs = next((row.needs for row in rows() if finding in row.kinds), "")
    lacking = [set(way.split(" and ")) - sources for way in needs.split(" or ") if needs]
    if not lacking or set() in lacking:
        return None
    fewest: set[str] = min(lacking, key=lambda each: len(each))
    return " and ".join(sorted(fewest))


class BadRule(Exception):
    """A rule that cannot be taken: one line, and the field that is wrong."""

    def __init__(self, message: str, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule by its values: numbers are 0 where its kind has none. ``group``: a name, or a pattern in which ``*`` is any text."""

    kind: Kind
    group: str = ""
    for_s: int = 0
    count: int = 0
    within_s: int = 0
    lag_s: int = 0
    finding: str = ""

    @property
    def text(self) -> str:
        """The rule in words, as lists and messages name it."""
        length = _length(self.for_s)
        match self.kind:
            case Kind.UNASSIGNED:
                return f"A partition unassigned for {length}"
            case Kind.STUCK:
                return f"Rebalancing for {length}"
            case Kind.STORM:
                return f"More than {counted(self.count, 'rebalance')} in {_length(self.within_s)}"
            case Kind.CAUSELESS:
                return "Rebalances without a cause"
            case Kind.EMPTY:
                return f"No member for {length}"
            case Kind.LAG:
                return f"Lag over {self.count:,}" + (f" for {length}" if self.for_s else "")
            case Kind.LATE:
                return f"Lag over {_length(self.lag_s)}" + (f" for {length}" if self.for_s else "")
            case Kind.NOT_CAUGHT_UP:
                return f"Not caught up {length} after a rebalance"
            case Kind.GROWING:
                return f"Lag grew by over {self.count:,} in {_length(self.within_s)}"
            case Kind.LOST:
                return "Records deleted before they were read"
            case Kind.UNREADABLE:
                return f"Not seen for {length}"
            case Kind.UNREACHABLE:
                return f"The cluster out of reach for {length}"
            case Kind.FINDING:
                return f"Finding {self.finding}"

    @property
    def limits(self) -> dict[str, Any]:
        """What its kind has, to be stored and shown."""
        if self.kind is Kind.FINDING:
            return {"finding": self.finding}
        return {name: getattr(self, name) for name in LIMITS[self.kind]}

    def is_about(self, group: str) -> bool:
        return self.kind not in OF_CLUSTER and (not self.group or is_match(self.group, group))


def is_match(pattern: str, group: str) -> bool:
    """Whether a group has this name, or one of this pattern: ``*`` is any text, all else is itself."""
    if "*" not in pattern or pattern == group:
        return pattern == group
    first, *middle, last = pattern.split("*")
    end = len(group) - len(last)
    at = len(first)
    if at > end or not (group.startswith(first) and group.endswith(last)):
        return False
    for part in middle:
        found_at = group.find(part, at, end)
        if found_at < 0:
            return False
        at = found_at + len(part)
    return True


def _length(seconds: int) -> str:
    """Whole seconds without a tenth, whole minutes without seconds: ``30 s``, ``5 min``."""
    text = duration(seconds * 1000).replace(f".0{THIN_SPACE}s", f"{THIN_SPACE}s")
    return text.removesuffix(f" 0{THIN_SPACE}s")


def rule_of(given: Mapping[str, Any]) -> Rule:
    """A rule from JSON: ``kind``, ``group``, and the numbers of its kind, which have defaults. ``BadRule`` contains what is wrong."""
    kinds = ", ".join(Kind)
    try:
        kind = Kind(given.get("kind", ""))
    except ValueError:
        raise BadRule(f"kind must be one of {kinds}.", "kind") from None
    group = "" if given.get("group") is None else given["group"]
    if not isinstance(group, str) or len(group) > GROUP_LENGTH_MOST:
        raise BadRule(
            "group must be the name of a group or a pattern such as orders-*, or empty for all.", "group"
        )
    if group and kind in OF_CLUSTER:
        raise BadRule(f"group must be empty: {kind} is about the cluster, and not about a group.", "group")
    values: dict[str, Any] = {"kind": kind, "group": group}
    for name, limit in LIMITS[kind].items():
        value = given.get(name, limit.default)
        if isinstance(value, bool) or not isinstance(value, int) or not limit.least <= value <= limit.most:
            raise BadRule(f"{name} must be a whole number from {limit.least} to {limit.most}.", name)
        values[name] = value
    if kind is Kind.FINDING:
        finding = given.get("finding")
        if finding not in FINDINGS:
            raise BadRule(f"finding must be one of {', '.join(FINDINGS)}.", "finding")
        values["finding"] = finding
    return Rule(**values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Free:
    """A partition that nobody owns: its name, since when (null: by a clock that is not measured), and the entry that released it."""

    name: str
    since_ms: int | None
    sequence: int
    count: int = 1
    """How many partitions nobody owns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A group as it was just seen. Times are the watcher's clock, in milliseconds."""

    group: str
    at_ms: int
    state: str
    is_seen: bool
    """False where it could not be described: then only ``unreadable`` can begin or end."""

    members: int | None = None
    lag: int | None = None
    lag_ms: int | None = None
    lag_is_least: bool = False
    """Whether the lag is ``lag_ms`` old or older."""

    course: LagCourse | None = None
    """Null where no rule needs it, or no lag is known."""

    lost_records: int = 0
    lost_partition: str = ""
    rebalancing_since_ms: int | None = None
    rebalanced_ms: Sequence[int] = ()
    free: Free | None = None
    """The one that has been so for the longest time."""

    last: int | None = None
    """The timeline's last entry."""

    epoch_began: int | None = None
    """The entry with which the last group epoch or generation began, or a rebalance that has brought none yet was first observed."""

    findings: Sequence[Finding] = ()
    skew_ms: int = 0
    """How far the clock of the findings is ahead of the watcher's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """That a rule holds: its sentence on the group, since when, and the entry that shows it."""

    text: str
    since_ms: int
    sequence: int | None
    key: str = ""
    number: int | None = None
    """What it counts now; while it holds, another number is another sentence."""


def holds(rule: Rule, look: Look, since_ms: int | None = None) -> Held | None:
    """Whether the rule's condition is there now, however short; ``long_enough`` judges the time.

    ``since_ms``: since when the condition was there at each look before, for those whose time is not in the group.
    """
    begun = look.at_ms if since_ms is None else since_ms
    if rule.kind is Kind.UNREADABLE:
        if look.is_seen:
            return None
        text = f"{shown_name(look.group)} has not been seen for {duration(look.at_ms - begun)}"
        return Held(text=text, since_ms=begun, sequence=look.last)
    if not look.is_seen:
        return None
    match rule.kind:
        case Kind.UNASSIGNED if look.free is not None and look.members:
            free = look.free
            since_ms = begun if free.since_ms is None else free.since_ms
            length = duration(max(0, look.at_ms - since_ms))
            text = f"{free.name} has been unassigned for {length}"
            if free.count > 1:
                text = f"{free.count} partitions are unassigned in {shown_name(look.group)}, {free.name} for {length}"
            return Held(text=text, since_ms=since_ms, sequence=free.sequence, number=free.count)
        case Kind.STUCK if look.rebalancing_since_ms is not None:
            length = duration(look.at_ms - look.rebalancing_since_ms)
            text = f"{shown_name(look.group)} has been rebalancing for {length}; it is {look.state}"
            return Held(text=text, since_ms=look.rebalancing_since_ms, sequence=look.epoch_began or look.last)
        case Kind.STORM:
            recent = [at for at in look.rebalanced_ms if at > look.at_ms - rule.within_s * 1000]
            if len(recent) > rule.count:
                text = f"{shown_name(look.group)} rebalanced {len(recent)} times in {duration(look.at_ms - recent[0])}"
                return Held(text=text, since_ms=recent[0], sequence=look.epoch_began or look.last)
        case Kind.CAUSELESS:
            return _causeless(look, begun)
        case Kind.EMPTY if look.members == 0:
            text = f"{shown_name(look.group)} has had no member for {duration(look.at_ms - begun)}"
            return Held(text=text, since_ms=begun, sequence=look.last)
        case Kind.LAG if look.lag is not None and look.lag > rule.count:
            text = f"{shown_name(look.group)} lags by {look.lag:,} records"
            return Held(text=text, since_ms=begun, sequence=look.last, number=look.lag)
        case Kind.LATE if look.lag_ms is not None and look.lag_ms > rule.lag_s * 1000:
            least = "at least " if look.lag_is_least else ""
            text = f"{shown_name(look.group)} lags by {least}{duration(look.lag_ms)}"
            # Half a minute more or less is no news.
            return Held(text=text, since_ms=begun, sequence=look.last, number=look.lag_ms // 30_000)
        case Kind.NOT_CAUGHT_UP if look.course is not None and look.course.behind_since_ms is not None:
            since_ms, usual = look.course.behind_since_ms, look.course.usual
            length = duration(look.at_ms - since_ms)
            text = (
                f"{shown_name(look.group)} has not caught up {length} after a rebalance: it lags by {look.lag:,} records, "
                f"and lagged by {usual:,} at most in the minute before"
            )
            return Held(text=text, since_ms=since_ms, sequence=look.epoch_began or look.last)
        case Kind.GROWING if look.course is not None:
            growth = look.course.growth(look.at_ms, rule.within_s * 1000)
            if growth > rule.count:
                text = f"The lag of {shown_name(look.group)} grew by {growth:,} records in {_length(rule.within_s)}, to {look.lag:,}"
                return Held(text=text, since_ms=begun, sequence=look.last, number=look.lag)
        case Kind.LOST if look.lost_records:
            were = counted(look.lost_records, "record")
            text = f"{were} were deleted before {shown_name(look.group)} read them, most in {look.lost_partition}"
            return Held(text=text, since_ms=begun, sequence=look.last, number=look.lost_records)
    return None


def _causeless(look: Look, begun_ms: int) -> Held | None:
    for finding in look.findings:
        if finding["kind"] == CAUSELESS_PATTERN.kind:
            last_ms = _moved(finding.get("to_ms"), look.skew_ms)
            quiet_ms = max(QUIET_LEAST_MS, QUIET_PERIODS * (finding.get("every_ms") or 0))
            if last_ms is None or look.at_ms - last_ms > quiet_ms:
                return None
            return Held(
                text=f"{shown_name(look.group)}: {finding['says']}",
                since_ms=begun_ms,
                sequence=look.epoch_began or look.last,
                number=finding.get("count"),
            )
    return None


def long_enough(rule: Rule, held: Held, at_ms: int) -> bool:
    return at_ms - held.since_ms >= rule.for_s * 1000


def _moved(at_ms: int | None, skew_ms: int) -> int | None:
    """A time of a log as the watcher's clock has it."""
    return None if at_ms is None else at_ms - skew_ms


def found(rule: Rule, look: Look, after_ms: int) -> list[Held]:
    """The findings that a rule of kind ``finding`` is about, each once by its key; none that is older than ``after_ms``."""
    if rule.kind is not Kind.FINDING or not look.is_seen:
        return []
    helds = []
    for finding in look.findings:
        if finding["kind"] != rule.finding:
            continue
        at_ms = _moved(finding.get("at_ms", finding.get("from_ms")), look.skew_ms)
        until_ms = _moved(finding.get("to_ms"), look.skew_ms) or at_ms
        if until_ms is not None and until_ms < after_ms:
            continue
        sequences = finding["sequences"]
        first = sequences[0] if sequences else look.last
        key = f"{rule.finding} {first} {finding.get('partition') or finding.get('name') or ''}"[:150]
        helds.append(
            Held(
                text=f"{shown_name(look.group)}: {finding['says']}",
                since_ms=look.at_ms if at_ms is None else at_ms,
                sequence=first,
                key=key,
            )
        )
    return helds
