"""A question answered: its ways played, measured and described, as one document that pages, commands and programs read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, TypedDict

import orjson

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import Recorder
from simulations.protocol.assignors.classic.custom import CUSTOM_COOPERATIVE, CUSTOM_USER_DATA, STREAM
from simulations.rehearsal import sentences
from simulations.rehearsal.documents import MemberDocument, QuestionDocument
from simulations.rehearsal.playing import Played, Refusal, Stage, Violation, play
from simulations.rehearsal.scenarios import scenario_of, start_of
from simulations.rehearsal.values import NEW_BROKERS, GroupMember, Question
from simulations.rehearsal.warnings import Warned, warnings_of
from simulations.rehearsal.ways import Settings, Way, WayName, today, ways_of
from simulations.world.engine import run
from simulations.world.scenario import load

STEPS_MOST: Final = 8
"""Moments of a trace: the last ones, which is what somebody reads."""


class TraceStep(TypedDict):
    sequence: int
    at_ms: int
    says: str


def trace_of(scenario: str, violation: Violation, first: int) -> list[TraceStep]:
    """The moments that led to a violation, from entry ``first`` on, in order; the violation itself is the last.

    Each entry names the one that brought it about. From the entries that prove the violation those links are followed back, and
    so they are from the last JoinGroup of either member: the last member to come releases a parked answer.
    """
    loaded = load(scenario, "rehearsal")
    recorder = Recorder(group=loaded.group)
    entries: dict[int, Entry] = {}
    for entry in run(loaded):
        recorder.add(entry)
        entries[entry.sequence] = entry
        if entry.sequence > violation.sequence:
            break
    causes: set[int] = set()
    waiting = [*violation.proof, violation.sequence, *_joins(entries, violation)]
    while waiting:
        sequence = waiting.pop()
        if sequence in causes or sequence < first or sequence not in entries:
            continue
        causes.add(sequence)
        cause = entries[sequence].cause
        if cause is not None:
            waiting.append(cause)
    batch = recorder.flush(final=True)
    moments = orjson.loads(batch.moments) if batch is not None else []
    steps: list[TraceStep] = [
        {"sequence": moment["sequence"], "at_ms": moment["at_ms"], "says": moment["says"]}
        for moment in moments
        if any(moment["first"] <= sequence <= moment["sequence"] for sequence in causes)
    ]
    return steps[-STEPS_MOST:]


def _joins(entries: Mapping[int, Entry], violation: Violation) -> Iterable[int]:
    """The last JoinGroup of each member before the violation."""
    last: dict[str, int] = {}
    for sequence, entry in entries.items():
        name = entry.actor.partition("~")[0]
        asks = entry.kind is Kind.REQUEST and entry.payload["api"] == "JoinGroup"
        if asks and name in violation.members and sequence < violation.sequence:
            last[name] = sequence
    return last.values()


class AssignorRow(TypedDict):
    """``server`` is null where no server assignor does the same; ``used`` whether a member of the group lists it."""

    client: str
    server: str | None
    says: str
    used: bool


_ROWS: Final = (
    ("range", "range", "The same partitions of each topic to the same member."),
    ("roundrobin", "uniform", "As even; a member may own other partitions, and keeps what it has."),
    ("sticky", "uniform", "Even and sticky; partitions move one by one, nobody gives up everything."),
    ("cooperative-sticky", "uniform", "Even and sticky; only what moves is revoked."),
    (
        STREAM,
        None,
        "Kafka Streams is no consumer group of the new protocol: it has a protocol of its own (group.protocol=streams, KIP-1071).",
    ),
    (
        CUSTOM_COOPERATIVE,
        None,
        "A class of your own: it is converted, as its assignments carry no user data, and its rule is gone then.",
    ),
    (
        CUSTOM_USER_DATA,
        None,
        "A class of your own with user data in its assignments: the coordinator refuses to convert the group.",
    ),
)


def assignor_map(question: Question) -> list[AssignorRow]:
    """All of Kafka's, and those of one's own that the group lists."""
    used = {name for member in question.classic for name in member.assignors}
    return [
        {"client": client, "server": server, "says": text, "used": client in used}
        for client, server, text in _ROWS
        if server is not None or client in used
    ]


DONE: Final = "done"
REFUSED: Final = "refused"
UNSAFE: Final = "unsafe"
UNFINISHED: Final = "unfinished"
NOTHING: Final = "nothing"
"""How a way ends: as wished; a process is refused for good; two processes read one partition; not at rest; nothing to do."""


class MemberCell(TypedDict):
    """A member at the end of a stage; ``status`` is ``member``, or ``out`` where its process was refused or is not in the group."""

    name: str
    protocol: str
    client: str
    assignors: list[str]
    rebalance: str | None
    upgrade_from: bool
    bounced: bool
    status: str


class EpochRow(TypedDict):
    """An epoch that the group came to, of the protocol that it had then."""

    protocol: str
    epoch: int


class ViolationRow(TypedDict):
    """An invariant that was broken; ``proof``: the sequences that show it."""

    says: str
    sequence: int
    at_ms: int
    proof: list[int]
    members: list[str]


class StageRow(TypedDict):
    """A bounce, or what is done to the ``brokers``; number 0 is the group before. ``first`` and ``last`` are the sequences of its entries in the run."""

    number: int
    title: str
    brokers: str | None
    round: int
    back: bool
    from_ms: int
    to_ms: int
    first: int
    last: int
    protocol: str | None
    epoch: int
    assignor: str | None
    epochs: list[EpochRow]
    members: list[MemberCell]
    stopped: dict[str, int]
    without_reader_ms: int
    longest_ms: int
    unread: int
    conversion: str | None
    read_twice: list[str]
    refusals: list[Refusal]
    violations: list[ViolationRow]
    says: list[str]
    way_back: dict[str, str]


class WaySheet(TypedDict):
    """``trace``: of a way that is unsafe, the moments that led to its first violation."""

    name: str
    title: str
    outcome: str
    says: str
    bounces: int
    stopped: int
    without_reader_ms: int
    longest_ms: int
    entries: int
    trace: list[TraceStep]
    stages: list[StageRow]


class Sheet(TypedDict):
    """What ``GET /api/rehearsal`` answers. ``release``: what the brokers are played as, once they serve what is asked."""

    title: str
    release: str
    question: QuestionDocument
    says: list[str]
    outcome: str
    assumed: list[str]
    warnings: list[Warned]
    assignors: list[AssignorRow]
    policies: list[dict[str, str]]
    ways: list[WaySheet]


def answer(question: Question) -> Sheet:
    """Plays every way of the question."""
    played = [play(question, way) for way in ways_of(question)]
    sheets = [_way(question, each) for each in played]
    warnings = warnings_of(question)
    return {
        "title": sentences.title_of(question),
        "release": _played_as(question),
        "question": asked(question),
        "says": sentences.headline(question, played, sheets_outcomes(sheets), warnings),
        "outcome": sheets[0]["outcome"],
        "assumed": list(question.assumed),
        "warnings": warnings,
        "assignors": assignor_map(question),
        "policies": sentences.policies(question),
        "ways": sheets,
    }


def sheets_outcomes(sheets: list[WaySheet]) -> dict[str, str]:
    return {sheet["name"]: sheet["outcome"] for sheet in sheets}


def scenario_for(question: Question, name: WayName) -> tuple[str, Way]:
    """The scenario that plays a way on the board, and the way."""
    ways = {way.name: way for way in ways_of(question)}
    way = ways.get(name, ways[WayName.PLANNED])
    return scenario_of(question, way), way


def asked(question: Question) -> QuestionDocument:
    """The question as a document that ``question_of`` takes."""
    document: QuestionDocument = {
        "group": question.group,
        "topics": dict(question.topics),
        "members": {member.name: _member(member) for member in question.members},
        "to": question.to,
        "brokers": question.brokers,
        "new_client": question.new_client,
        "migration_policy": str(question.migration_policy),
        "at_once": question.at_once,
        "away_ms": question.away_ms,
    }
    if question.to == NEW_BROKERS:
        document["new_brokers"] = question.new_brokers
    if question.start is not None:
        document["start"] = start_of(question.start)
    if question.turn_after is not None:
        document["turn_after"] = question.turn_after
    if question.server_assignor is not None:
        document["server_assignor"] = question.server_assignor
    if question.assumed:
        document["assumed"] = list(question.assumed)
    if question.timeline is not None:
        document["timeline"], document["at"] = question.timeline
    return document


def _member(member: GroupMember) -> MemberDocument:
    known: MemberDocument = {
        "subscribe": list(member.topics),
        "protocol": member.protocol,
        "client": member.client,
    }
    if member.is_classic:
        known["assignors"] = list(member.assignors)
    if member.remote_assignor is not None:
        known["remote_assignor"] = member.remote_assignor
    if member.instance_id is not None:
        known["instance_id"] = member.instance_id
    known["session_timeout_ms"] = member.session_timeout_ms
    known["rebalance_timeout_ms"] = member.rebalance_timeout_ms
    return known


def _played_as(question: Question) -> str:
    if question.to == NEW_BROKERS:
        return f"{question.broker_release}, then {question.new_release}"
    return str(question.new_release if question.rolls_brokers else question.broker_release)


def outcome_of(played: Played) -> str:
    if not played.way.bounces:
        return NOTHING
    if played.unsafe:
        return UNSAFE
    if played.refusals:
        return REFUSED
    last = played.stages[-1]
    return UNFINISHED if played.unfinished or last.unread or last.restless else DONE


def _way(question: Question, played: Played) -> WaySheet:
    settings = {member.name: today(member) for member in question.members}
    stages: list[StageRow] = []
    for number, stage in enumerate(played.stages):
        bounce = played.way.bounces[number - 1] if number else None
        if bounce is not None:
            settings |= bounce.settings
        before = played.stages[number - 1] if number else None
        stages.append(
            {
                "number": number,
                "title": played.way.heading(number, question.brokers),
                "brokers": str(bounce.brokers) if bounce and bounce.brokers else None,
                "round": bounce.round if bounce else 0,
                "back": bounce.back if bounce else False,
                "from_ms": stage.from_ms,
                "to_ms": stage.to_ms,
                "first": stage.first,
                "last": stage.last,
                "protocol": stage.protocol,
                "epoch": stage.epoch,
                "assignor": stage.assignor,
                "epochs": [{"protocol": protocol, "epoch": epoch} for protocol, epoch in stage.epochs],
                "members": [
                    _cell(
                        member.name,
                        settings[member.name],
                        stage,
                        bounce is not None and member.name in bounce.members,
                    )
                    for member in question.members
                ],
                "stopped": dict(stage.stopped),
                "without_reader_ms": stage.without_reader_ms,
                "longest_ms": stage.longest_ms,
                "unread": stage.unread,
                "conversion": stage.conversion,
                "read_twice": stage.twice,
                "refusals": stage.refusals,
                "violations": [
                    {
                        "says": each.sentence,
                        "sequence": each.sequence,
                        "at_ms": each.at_ms,
                        "proof": list(each.proof),
                        "members": list(each.members),
                    }
                    for each in stage.violations
                ],
                "says": sentences.of_stage(question, bounce, stage, before),
                "way_back": sentences.way_back(question, settings, stage),
            }
        )
    outcome = outcome_of(played)
    return {
        "name": str(played.way.name),
        "title": played.way.title,
        "outcome": outcome,
        "says": sentences.of_way(question, played, outcome),
        "bounces": played.way.steps,
        "stopped": sum(sum(stage.stopped.values()) for stage in played.stages[1:]),
        "without_reader_ms": sum(stage.without_reader_ms for stage in played.stages[1:]),
        "longest_ms": max((stage.longest_ms for stage in played.stages[1:]), default=0),
        "entries": played.entries,
        "trace": _trace(played),
        "stages": stages,
    }


def _trace(played: Played) -> list[TraceStep]:
    """How the first violation of a way came about; nothing where there is none."""
    for stage in played.stages:
        for violation in stage.violations:
            return trace_of(played.scenario, violation, stage.first)
    return []


def _cell(name: str, settings: Settings, stage: Stage, bounced: bool) -> MemberCell:
    refused = any(refusal["member"] == name for refusal in stage.refusals)
    status = stage.statuses.get(name)
    return {
        "name": name,
        "protocol": settings.protocol,
        "client": settings.client,
        "assignors": list(settings.assignors),
        "rebalance": settings.rebalance,
        "upgrade_from": settings.upgrade_from,
        "bounced": bounced,
        "status": "out" if refused or status != settings.protocol else "member",
    }
