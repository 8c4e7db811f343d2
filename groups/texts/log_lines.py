"""Lines that a broker's group coordinator, Java consumers and librdkafka log, as events of their groups.

A line has a time, words of a layout, and a message that is one of ``_MESSAGES``. What follows from all of them is worked out where the
lines of all files are together (``inferred``).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from groups.texts import telemetry
from groups.texts.client_metrics import METRIC, ClientMetrics
from groups.texts.found import PASSED_OVER, Found, LineProblem, LogEvent, Remark, TextFormat
from groups.texts.line_time import MOST_MS, line_time

BROKER: Final = "broker"

TIME_CHARS: Final = 120
"""The time is within so many characters of a line: a container's name and a level may come before it."""

CLIENTS_MOST: Final = 10_000
"""Clients of librdkafka whose group is remembered, since not each of their lines names it."""

_JAVA: Final = re.compile(
    r"\[(?:Consumer|Worker|Connect worker)\b[^\]]{0,200}?clientId=([^,\]]{0,999}), groupId=([^\]]{0,999})\]\s*(.*)",
    re.DOTALL,
)
_RDKAFKA: Final = re.compile(r"\|([A-Z_]+)\|([^|]*)\|\s*(?:\[thrd:[^\]]*\]:)?\s*(.*)", re.DOTALL)
_RDKAFKA_GROUP: Final = re.compile(r'[Gg]roup "([^"]*)"')
_CLUSTER: Final = re.compile(r"\bCluster ID: ([\w-]{22})(?![\w-])")
CLUSTERS_MOST: Final = 5
_STATISTICS: Final = re.compile(r'\{\s*"name":\s*"[^"]{0,999}#consumer-\d{1,9}",\s*"client_id":')
"""The beginning of the JSON that librdkafka gives to a consumer's ``stats_cb``."""

_LAYOUT_END: Final = re.compile(r"\((?:org\.apache\.)?kafka\.[\w.$]+\)")

_M, _G = r"(?P<member>\S+)", r"(?P<group>.{1,999}?)"
_OLD_MEMBER: Final = r"(?:MemberMetadata\(memberId=)?(?P<member>[^\s,]+)(?:, .{0,999}?\))?"
_MESSAGES: Final[tuple[tuple[str, str], ...]] = (
    (
        "known",
        rf"Dynamic member with unknown member id joins (?:the )?(?:consumer )?group {_G} in .{{0,99}} requesting the member to rejoin",
    ),
    (
        "joined",
        rf"(?:Pending d|D)ynamic [Mm]ember with (?:unknown member )?id (?:{_M} )?joins group {_G} in \S+ state",
    ),
    (
        "joined",
        rf"(?:groupInstanceId=(?P<groupInstanceId>\S+) .{{0,99}}?)?joins group {_G} in (?:state \S+|\S+ state)\. Created a new member id (?P<member>\S+)",
    ),
    (
        "took_over",
        rf"groupInstanceId=(?P<groupInstanceId>\S+) .{{0,99}}?joins group {_G} in \S+ state\. Replacing previously mapped member (?P<before>\S+)",
    ),
    (
        "joined_modern",
        rf"\[GroupId {_G}\] (?:Static m|M)ember {_M} (?:with instance id (?P<instanceId>\S+) )?joins the consumer group",
    ),
    (
        "left_for_now",
        rf"\[GroupId {_G}\] Static member {_M} with instance id (?P<instanceId>\S+) temporarily left",
    ),
    (
        "took_over_modern",
        rf"\[GroupId {_G}\] Static member with instance id (?P<instanceId>\S+) re-joins .{{0,99}}? Created a new member {_M} to replace the existing member (?P<before>[^\s.]+)",
    ),
    (
        "resubscribed",
        rf"\[GroupId {_G}\] Member {_M} updated its subscribed topics to: \[?(?P<topics>[^\]]*)",
    ),
    ("moved", rf"\[GroupId={_G}\] Unloaded group metadata"),
    ("moved", rf"Loaded (?:consumer|classic) group {_G} with \d+ members"),
    (
        "preparing",
        rf"Preparing to rebalance group {_G} in state \S+ with old generation (?P<generation>\d+).{{0,99}}?\(reason: (?P<reason>.*?)\)?\.?$",
    ),
    (
        "stabilized",
        rf"Stabilized group {_G} generation (?P<generation>\d+)(?: \(__consumer_offsets-\d+\))?(?: with (?P<count>\d+) members)?",
    ),
    (
        "assigned",
        rf"Assignment received from leader (?:(?P<leader>\S+) )?for group {_G} for generation (?P<generation>\d+)(?:\. The group has (?P<count>\d+) members)?",
    ),
    ("failed", rf"Member {_OLD_MEMBER} in group {_G} has failed, removing it"),
    (
        "left",
        rf"(?:\[Group(?:Id)? {_G}\] )?(?:Dynamic m|Static m|M)ember {_OLD_MEMBER} (?:with instance id \S+ )?has left group (?:(?P<group2>\S+) )?through explicit(?:.{{0,99}}?client reason: (?P<reason>.{{0,499}}))?",
    ),
    (
        "removed",
        rf"Group {_G} removed (?:dynamic )?members who haven't (?:joined|sent their sync requests?): (?P<members>.*)",
    ),
    ("empty", rf"Group {_G} with generation (?P<generation>\d+).{{0,99}} is now empty"),
    ("left_modern", rf"\[GroupId {_G}\] Member {_M} left the consumer group"),
    ("fenced", rf"\[GroupId {_G}\] Member {_M} fenced from the group because (?P<reason>.*)"),
    (
        "bumped",
        rf"\[GroupId {_G}\] Bumped group epoch to (?P<epoch>\d+)(?: with metadata hash (?P<hash>-?\d{{1,19}}))?",
    ),
    (
        "target",
        rf"\[GroupId {_G}\] Computed a new target assignment for epoch (?P<epoch>\d+) with '(?P<assignor>[^']*)'",
    ),
)
_JAVA_MESSAGES: Final[tuple[tuple[str, str], ...]] = (
    (
        "joined_generation",
        r"Successfully joined group with generation (?:Generation\{generationId=)?(?P<generation>\d+)(?:, memberId='(?P<member>[^']*)', protocol='(?P<protocol>[^']*)')?",
    ),
    (
        "synced",
        r"Successfully synced group in generation Generation\{generationId=(?P<generation>\d+), memberId='(?P<member>[^']*)', protocol='(?P<protocol>[^']*)'\}",
    ),
    ("finished", r"Finished assignment for group at generation (?P<generation>\d+): \{(?P<assignments>.*)"),
    ("assigned_partitions", r"Adding newly assigned partitions:? ?\[?(?P<partitions>[^\]]*)"),
    ("revoked_partitions", r"Revoke previously assigned partitions:? ?\[?(?P<partitions>[^\]]*)"),
    ("lost_partitions", r"Lost previously assigned partitions:? ?\[?(?P<partitions>[^\]]*)"),
    (
        "leaving",
        r"Member (?P<member>\S+) sending LeaveGroup request to coordinator .{0,499}? due to (?P<reason>.*)",
    ),
    ("subscribed", r"Subscribed to (?:topic\(s\)|pattern): (?P<topics>.*)"),
    ("given_id", r"Request joining group due to: need to re-join with the given member-id: (?P<member>\S+)"),
    ("reason", r"Request joining group due to: (?P<reason>.*)"),
    ("reason", r"(?P<reason>[Cc]onsumer poll timeout has expired)"),
    (
        "state",
        r"Member (?P<member>\S+) with epoch (?P<epoch>-?\d+) transitioned from (?P<old>\w+) to (?P<new>\w+)",
    ),
    ("reconciling", r"Reconciling assignment with local epoch"),
    (
        "refused_commit",
        r"Offset commit failed on partition (?P<topic>[\w.-]{1,249})-(?P<partition>\d{1,9}) at offset (?P<offset>\d{1,19}): (?P<why>.{1,499})",
    ),
)
_RDKAFKA_MESSAGES: Final[tuple[tuple[str, str], ...]] = (
    (
        "joined_generation",
        r"JoinGroup response: GenerationId (?P<generation>\d+), Protocol (?P<protocol>\S+), LeaderId (?P<leader>\S+), my MemberId (?P<member>\S+), .{0,499}\(no error\)",
    ),
    ("given_id", r'updating member id "(?:\(not-set\))?" -> "(?P<member>[^"]+)"'),
    ("named", r'updating member id ".{0,999}?" -> "(?P<member>[^"]+)"'),
    ("assigned_partitions", r"delegating (?:incremental )?assign of \d+ partition"),
    ("revoked_partitions", r"delegating (?:incremental )?revoke of \d+ partition"),
    ("lost_partitions", r"current assignment of \d+ partition\(s\) lost: (?P<reason>.*)"),
    ("listed", r"^(?P<topic>\S+) \[(?P<partition>\d+)\] offset \S+"),
    (
        "refused_commits",
        r"Offset commit \(.{0,99}?\) failed for \d+/\d+ partition\(s\) in join-state \S+: (?P<why>[^\[]{1,99}): (?P<partitions>\S{1,400}\[\d.*)",
    ),
    ("reason", r"(?P<reason>Application maximum poll interval \(.*)"),
    ("reason", r"(?P<reason>Consumer group session timed out .*)"),
    ("reason", r"\(re\)joining in join-state .{0,99}?: (?P<reason>.*)"),
    (
        "state",
        r'ConsumerGroupHeartbeat response received for member id "(?P<member>[^"]*)" with epoch (?P<epoch>-?\d+)',
    ),
    ("acknowledged", r'Acknowledging target assignment "(?P<assignment>.*)"'),
)
_OF_BROKER, _OF_JAVA, _OF_RDKAFKA = (
    tuple((what, re.compile(pattern)) for what, pattern in table)
    for table in (_MESSAGES, _JAVA_MESSAGES, _RDKAFKA_MESSAGES)
)
_ASSIGNED: Final = re.compile(r"^\s*Assigned partitions:\s+\[(.*)\]?")
_RECONCILED: Final = re.compile(r"^\s*(?:Member|Current owned|Added|Revoked)\b.*?:")
_CUT: Final = re.compile(
    r"^\W*(?:Preparing to rebalance group|Stabilized group|Assignment received from leader|Finished assignment for group)\b"
)
_LISTS: Final = ("GRPASSIGNMENT", "ASSIGNMENT")


@dataclass(slots=True)
class LogReader:
    """Lines in any order of any number of programs."""

    written_ms: int = 0
    undated: int = 0
    first_undated: int = 0
    zoneless: int = 0
    clusters: dict[str, int] = field(default_factory=dict)
    """Cluster ids that Java clients log, each with its first line."""
    groups: dict[str, str] = field(default_factory=dict)
    """Clients → the group that they named last."""
    metrics: ClientMetrics = field(init=False)
    rebalances: dict[tuple[str, int], int] = field(default_factory=dict)
    """Names of librdkafka's handles, each with the second when it was started → how many rebalances its last statistics
    count. Where an application names no client, each of its processes has `rdkafka#consumer-1`."""
    groupless: int = 0
    held: LogEvent | None = None
    """An event whose partitions follow in lines of their own."""
    held_partitions: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.metrics = ClientMetrics(self.written_ms, self.groups)

    def take(self, number: int, line: str) -> Iterable[Found] | None:
        if (measured := self.metrics.take(number, line)) is not None:
            return measured
        if self.held is not None and (assigned := _ASSIGNED.search(line)) is not None:
            self.held_partitions.append(assigned[1].rstrip("]"))
            return self._let_go()
        if (statistics := _STATISTICS.search(line)) is not None:
            return self._statistics(number, line[statistics.start() :])
        found = self._message(line)
        if found is None:
            if (cluster := _CLUSTER.search(line)) is not None and len(self.clusters) < CLUSTERS_MOST:
                self.clusters.setdefault(cluster[1], number)
                return PASSED_OVER
            if _RECONCILED.search(line) is not None and self.held is not None:
                return PASSED_OVER
            if _CUT.search(line[TIME_CHARS:] if len(line) > TIME_CHARS else line):
                return [LineProblem(number, None, "the line is cut off before it names what happened")]
            return None
        source, group, what, fields = found
        time = line_time(line[:TIME_CHARS])
        if time is None:
            self.undated += 1
            self.first_undated = self.first_undated or number
            return PASSED_OVER
        self.zoneless += not time.zoned
        if what == "listed":
            if self.held is not None and self.held.source == source:
                self.held_partitions.append(f"{fields['topic']}-{fields['partition']}")
            return PASSED_OVER
        out = self._let_go()
        event = LogEvent(group, time.at_ms, source, what, fields)
        if what == "reconciling" or (
            what in ("assigned_partitions", "revoked_partitions") and "partitions" not in fields
        ):
            self.held = event
            return out
        return [*out, event]

    def end(self) -> Iterator[Found]:
        yield from self._let_go()
        yield from self.metrics.end()
        if self.undated:
            yield Remark(
                f"{self.undated:,} lines of logs have no date and time in front (the first is line {self.first_undated}): they have no place on an axis"
            )
        if self.groupless:
            yield Remark(
                f"{self.groupless:,} statistics of librdkafka are of clients that no log line before them puts into a group: they name none themselves"
            )
        if len(self.clusters) > 1:
            named = ", ".join(f"{cluster} from line {first}" for cluster, first in self.clusters.items())
            count = "two" if len(self.clusters) == 2 else f"{len(self.clusters)} or more"
            yield Remark(
                f"the lines are of {count} clusters ({named}): groups of the same name are read as one group"
            )
        if self.zoneless:
            yield Remark(
                f"{self.zoneless:,} lines state no time zone: they are read as UTC, unless records of the same group show how far they are from it",
                True,
            )

    def _statistics(self, number: int, text: str) -> Iterable[Found]:
        """What librdkafka's statistics report of rebalances since the client's last ones."""
        try:
            found, _ = json.JSONDecoder().raw_decode(text)
            name, counters = str(found["name"]), found["cgrp"]
            count, age_ms = int(counters["rebalance_cnt"]), int(counters["rebalance_age"])
            at_ms, reason = int(found["time"]) * 1000, str(counters["rebalance_reason"])[:400]
            started = int(found["time"]) - int(found["age"]) // 1_000_000 if "age" in found else 0
            # JSON may name half of a surrogate pair, which no file of entries can have.
            reason = reason.encode(errors="replace").decode()
        except (ValueError, TypeError, LookupError, RecursionError, OverflowError):
            return [LineProblem(number, None, "the statistics of librdkafka are cut off, or not whole")]
        if not 0 <= at_ms - age_ms <= at_ms < MOST_MS or count < 0:
            return [
                LineProblem(number, None, "the statistics of librdkafka have no time or count that can be")
            ]
        client = name.partition("#")[0]
        if client not in self.groups:
            self.groupless += 1
            return PASSED_OVER
        # A process may have several clients of one name, each with counters of its own.
        # Time and age are both rounded down, so it was started a second earlier or later.
        near = [(name, started + shift) for shift in (0, -1, 1)]
        key = next((each for each in near if each in self.rebalances), near[0])
        if key not in self.rebalances and len(self.rebalances) >= CLIENTS_MOST:
            return PASSED_OVER
        events = []
        if key not in self.rebalances and any(other == name for other, _ in self.rebalances):
            sentence = "counters of its own: it was started again, or another client has the same name"
            events.append(LogEvent(self.groups[client], at_ms, client, "reason", {"reason": sentence}))
        before, self.rebalances[key] = self.rebalances.get(key, 0), count
        if count < before:
            sentence = f"its counters began again, {before:,} rebalances before: it was started again"
            return [LogEvent(self.groups[client], at_ms, client, "reason", {"reason": sentence})]
        if count == before:
            return events
        sentence = f"rebalance {count:,} since it started: {reason or 'no reason'}"
        return [
            *events,
            LogEvent(self.groups[client], at_ms - age_ms, client, "reason", {"reason": sentence}),
        ]

    def _let_go(self) -> list[Found]:
        event, partitions = self.held, self.held_partitions
        self.held, self.held_partitions = None, []
        if event is None or (event.what == "reconciling" and not partitions):
            return []
        return [event._replace(fields={**event.fields, "partitions": ", ".join(partitions)})]

    def _message(self, line: str) -> tuple[str, str, str, dict[str, str]] | None:
        """Whose line it is, of which group, what it contains, and the words that prove it."""
        if (java := _JAVA.search(line)) is not None:
            if java[2] == "null":
                # So Java prints a consumer without a group.
                return None
            if java[1] in self.groups or len(self.groups) < CLIENTS_MOST:
                self.groups[java[1]] = java[2]
            found = _first(_OF_JAVA, _without_class(java[3]))
            return None if found is None else (java[1] or "consumer", java[2], *found)
        if (rdkafka := _RDKAFKA.search(line)) is not None:
            level, client, message = rdkafka.groups()
            client = client.partition("#")[0] or client
            if (named := _RDKAFKA_GROUP.search(message)) is not None and len(self.groups) < CLIENTS_MOST:
                self.groups[client] = named[1]
            found = _first(_OF_RDKAFKA, message)
            if found is None or client not in self.groups or (found[0] == "listed" and level not in _LISTS):
                return None
            return client, self.groups[client], *found
        if "roup" not in line:
            return None
        found = _first(_OF_BROKER, _without_class(line))
        if found is None:
            return None
        group = found[1].pop("group", "") or found[1].pop("group2", "")
        return (BROKER, group, *found) if group else None


def _without_class(text: str) -> str:
    """The message without the name of the class, which Kafka's layout puts behind it."""
    text = text.rstrip()
    at = text.rfind("(")
    return text[:at].rstrip() if at >= 0 and _LAYOUT_END.fullmatch(text, at) else text


def _first(table: tuple[tuple[str, re.Pattern[str]], ...], text: str) -> tuple[str, dict[str, str]] | None:
    for what, pattern in table:
        if (match := pattern.search(text)) is not None:
            return what, {name: value for name, value in match.groupdict().items() if value is not None}
    return None


LOG_LINES: Final = TextFormat(
    name="lines of logs",
    recognised=re.compile(
        r"\[GroupCoordinator \S|\[GroupId .{1,999}?\] |(?:Preparing to rebalance|Stabilized) group |\[Consumer clientId=.{0,999}?groupId="
        r'|\|[A-Z]+\|[^|]+\| \[thrd:|has left group .{0,999}?through explicit|Member \S+ in group .{1,999}? has failed|Group "[^"]+": |'
        + f"{_STATISTICS.pattern}|{METRIC.pattern}|{telemetry.LINE.pattern}",
        re.MULTILINE,
    ),
    reader=LogReader,
    carries="who joined, was removed and left, with the reasons that were logged, generations and epochs; what clients were assigned, as far as their lines are here",
    lacks="commits, members that no line names, and all that no line says",
)
