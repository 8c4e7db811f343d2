"""The incident: what the recording measured from a moment on, and the same from there on in the simulator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

import yaml

from groups.history.entries import Entry
from groups.history.evidence.display_names import NamedMember
from groups.history.findings.finding import Finding
from groups.history.findings.removed import REJOIN_MS
from groups.history.frames.shapes import Frame
from simulations.fork.continuing import Line, document_of, text_of
from simulations.fork.group_of_frame import name_of, names_of
from simulations.fork.taking_over import taken_over
from simulations.fork.values import CLASSIC, Document, Edits, Moment
from simulations.remedies.drawing import DRAWN
from simulations.remedies.lines import at_of
from simulations.remedies.measuring import Meter, measured, with_rates
from simulations.remedies.values import (
    LENGTH_MOST_MS,
    MEMBERS_MOST,
    PARTITIONS_MOST,
    Incident,
    Recorded,
    RemediesError,
)
from simulations.world.scenario import Scenario, Verb, load, with_release
from simulations.world.scenario.classic_members import Classic
from simulations.world.scenario.topics import NAME

LINES_MOST: Final = 500
"""Members' events of one incident; a log with more is looked at in parts."""


DEAD: Final = ("session_expired", "stopped")
"""What a removal looks like whose member had died a while before."""

HEARTBEAT_MS: Final = Classic().heartbeat_interval_ms
KNOWN_AFTER_MS: Final = HEARTBEAT_MS // 2
"""The others learn at their next heartbeat that they have to join again: on average, half an interval later."""


class LaterEvents:
    """Sees the frames of a log after the moment, in order. The cast maps its ids to processes.

    A log's findings infer from commits what its records do not show: which removed members had died and when, and since when a
    whole classic group stopped, as somebody joined. A classic group has records of neither a join nor a leave, but of the
    generation after it: who left had gone when it committed last.
    """

    def __init__(self, start: Frame, cast: Sequence[NamedMember], findings: Iterable[Finding] = ()) -> None:
        self.began_ms = start["at_ms"]
        self._known_after_ms = KNOWN_AFTER_MS if start["protocol"] == CLASSIC else 0
        self._ends: dict[str, tuple[int, Verb]] = {}
        self._ended_ms: dict[str, int] = {}
        """By name, when its former process ended."""
        self._stops: list[tuple[int, int]] = []
        for each in findings:
            member, quiet_ms = each.get("member"), each.get("quiet_ms")
            if each["kind"] == "removed" and member and quiet_ms is not None:
                ended_ms = (each["at_ms"] or 0) - quiet_ms
                if each["looks_like"] in DEAD:
                    self._ends[member] = ended_ms, Verb.KILL
                elif self._known_after_ms and quiet_ms <= REJOIN_MS:
                    self._ends[member] = ended_ms, Verb.LEAVE
            elif each["kind"] == "group_stopped":
                self._stops.append((each["from_ms"], each["to_ms"] or 0))
        self._names = names_of(start["members"], cast)
        self._shown = {each["id"]: each["name"].partition("~")[0] for each in cast}
        self._members = set(start["members"])
        self._instances = {
            member_id: member.get("instance_id") for member_id, member in start["members"].items()
        }
        self._gone: set[str] = set()
        self.lines: list[Line] = []

    def see(self, frame: Frame) -> None:
        members = frame["members"]
        if members.keys() == self._members:
            return
        at_ms = frame["at_ms"]
        removed, added = self._members - members.keys(), members.keys() - self._members
        self._members = set(members)
        for member_id in sorted(added):
            instance_id = members[member_id].get("instance_id")
            former = next(
                (
                    each
                    for each in sorted(removed)
                    if instance_id and self._instances.get(each) == instance_id
                ),
                None,
            )
            self._instances[member_id] = instance_id
            if former is not None:
                removed.discard(former)
                self._names[member_id] = self._names[former]
                self._add(at_ms, Verb.RESTART, self._names[former])
        for member_id in sorted(removed):
            name = self._names[member_id]
            self._gone.add(name)
            ended_ms, verb = self._ends.get(member_id, (self.began_ms, Verb.LEAVE))
            if ended_ms <= self.began_ms:
                # It ended before the replay begins, or the findings do not have when: it closes at its removal.
                ended_ms, verb = at_ms - self._known_after_ms, Verb.LEAVE
            self._ended_ms[name] = ended_ms
            self._add(ended_ms, verb, name)
        at_ms = next((from_ms for from_ms, to_ms in self._stops if from_ms < at_ms <= to_ms), at_ms)
        at_ms -= self._known_after_ms
        for member_id in sorted(added):
            if member_id not in self._names:
                self._names[member_id] = name = self._name(member_id)
                self._gone.discard(name)
                self._add(max(at_ms, self._ended_ms.get(name, at_ms)), Verb.JOIN, name)

    def _add(self, at_ms: int, verb: Verb, name: str) -> None:
        self.lines.append({"at": f"{max(1, at_ms - self.began_ms)}ms", str(verb): name})

    def _name(self, member_id: str) -> str:
        """A process that came back has its former name, if that is free; another one a new name."""
        taken = set(self._names.values())
        shown = self._shown.get(member_id, "")
        if NAME.fullmatch(shown) and (shown not in taken or shown in self._gone):
            return shown
        number = 0
        while name_of(number) in taken:
            number += 1
        return name_of(number)


RATE: Final = 100
"""Records a second of each partition where nobody gives a rate: what is not read does not depend on it, what is read twice does."""

NOTHING: Final = (
    "Nothing to remedy: from this moment on every partition was read. Choose a moment before the incident"
)


def of_run(moment: Moment) -> Incident:
    """The incident of a simulated run: its script continues after the moment."""
    scenario = moment.scenario
    assert scenario is not None
    length_ms = scenario.start_ms + scenario.until_ms - moment.at_ms
    _check(moment, length_ms)
    measures, epochs = measured(with_rate(scenario), moment.semantics, moment.seed, moment.at_ms)
    recorded: Recorded = {
        "not_read_ms": measures.not_read_ms,
        "unassigned_ms": measures.unassigned_ms,
        "epochs": epochs,
    }
    if not measures.not_read_ms:
        raise RemediesError(NOTHING)
    return _incident(moment, length_ms, recorded)


def of_log(moment: Moment, entries: Iterable[Entry], findings: Iterable[Finding] = ()) -> Incident:
    """The incident of a log: its members go and come after the moment as ``entries`` (all, from the first on) have it."""
    frame = moment.frame
    meter = Meter(str(frame["group"]), moment.semantics, frame["at_ms"])
    later = LaterEvents(frame, moment.cast, findings)
    at_ms = frame["at_ms"]
    generation = None
    for entry in entries:
        meter.add(entry)
        if entry.sequence <= frame["sequence"] and meter.frame.get("generation") != generation:
            generation = meter.frame.get("generation")
            # Members begin a generation together, and so their heartbeats: the replay begins with the last ones.
            later.began_ms = frame["at_ms"] - (frame["at_ms"] - entry.at_ms) % HEARTBEAT_MS
        at_ms = max(at_ms, entry.at_ms)
        if entry.sequence > frame["sequence"] and (entry.settled or entry.kind != "record"):
            later.see(meter.frame)
            if len(later.lines) > LINES_MOST:
                raise RemediesError(
                    f"After this moment members of the log go and come more than {LINES_MOST} times; choose a later one"
                )
    later.lines.sort(key=at_of)
    length_ms = at_ms - later.began_ms
    _check(moment, length_ms)
    if not later.lines:
        raise RemediesError("No member goes or comes after this moment; choose a moment before the incident")
    recorded: Recorded = {
        "not_read_ms": None,
        "unassigned_ms": meter.end(at_ms).unassigned_ms,
        "epochs": meter.epochs,
    }
    return _incident(replace(moment, later=later.lines), length_ms, recorded)


def with_rate(scenario: Scenario) -> Scenario:
    """The same scenario with a rate for each topic, so that the run shows who fetches."""
    parts = document_of(scenario)
    document: Document = {**parts, "name": scenario.name, "group": scenario.group}
    document["topics"] = with_rates(document["topics"], RATE)
    document.pop("title", None)
    document.pop("steps", None)
    loaded = load(text_of(document, parts["script"])[0], scenario.name)
    return with_release(loaded, scenario.settings.release)


def _check(moment: Moment, length_ms: int) -> None:
    members = len(moment.frame["members"])
    partitions = sum(known.get("partitions") or 0 for known in moment.frame["topics"].values())
    for value, most, what in (
        (members, MEMBERS_MOST, "members"),
        (partitions, PARTITIONS_MOST, "partitions"),
    ):
        if value > most:
            raise RemediesError(
                f"This group has {value:,} {what}; remedies are searched for {most:,} at most"
            )
    if length_ms <= 0:
        raise RemediesError("Nothing happens after this moment; choose a moment before the incident")
    if length_ms > LENGTH_MOST_MS:
        raise RemediesError(
            f"{length_ms / 60_000:,.0f} minutes follow this moment; remedies are searched over {LENGTH_MOST_MS // 60_000} at most"
        )


def _incident(moment: Moment, length_ms: int, recorded: Recorded) -> Incident:
    made = taken_over(moment, Edits(settings={"length_ms": length_ms}))
    document: Document = yaml.safe_load(made.text)
    document["protocol"] = str(moment.frame["protocol"])
    document["topics"] = with_rates(document["topics"], RATE)
    rows = [row for row in made.assumptions if row["key"] not in ("length_ms", "clock")]
    for row in rows:
        if row["key"] == "rate" and row["value"] is None:
            row |= {"value": RATE, "mark": "assumed", "reason": "only what is read twice depends on it"}
    return Incident(
        document=document,
        semantics=moment.semantics,
        seed=made.seed,
        recorded=recorded,
        assumptions=(*rows, *DRAWN),
        of_records=moment.scenario is None,
    )
