"""What went wrong, or came close: broken invariants, fences, refusals, fail-overs, lost batches, members that stood still
or were cut off; where a broker and the simulated coordinator differ; and static members replaced.

An incremental fold over steps, like ``Ownership``; ``trouble_findings`` makes findings of it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, TypedDict, Unpack

from groups.history.entries import Entry, Kind
from groups.history.evidence.steps import Step
from groups.history.replay.fields import mapping, text
from groups.history.replay.volatile import FENCES
from groups.history.state.declared import document
from groups.history.state.group import Protocol, State

KEPT_MAX: Final = 100
"""Of each kind, those that are listed one by one, the first ones; all are counted."""

KINDS: Final = (
    "violations",
    "differences",
    "stood_still",
    "cut_off",
    "fences",
    "refused",
    "fail_overs",
    "lost",
    "replaced",
    "coordinators",
    "matched",
    "topics_deleted",
    "topics_remade",
)


BUSY: Final = frozenset({14, 15, 16})
"""Answers of a coordinator that loads or is elsewhere: the fail-over is reported, not each of its answers."""

BEGINNINGS: Final[Mapping[str, str]] = {"pause": "stood_still", "cut": "cut_off"}
ENDS: Final[Mapping[str, str]] = {"resume": "stood_still", "heal": "cut_off"}


class IncidentFields(TypedDict, total=False):
    """What is kept of one thing that went wrong: each kind (``KINDS``) has some of these."""

    at_ms: int
    from_ms: int
    to_ms: int | None
    """Null while it goes on."""
    member: str | None
    error: str
    code: int
    old: str
    """Of a member that was replaced, as the next three: both ids, whether it committed in the step, whether it was another process."""
    new: str
    active: bool
    other_process: bool
    invariant: str
    says: str
    members: list[str]
    partitions: dict[str, list[int]]
    proof: list[int]
    what: str
    loading_ms: int | None
    release: str | None
    """Of a new coordinator that does not know the consumer protocol."""
    records: int | None
    leader_epoch: int
    topic: str
    regex: str
    topics: list[str]
    count: int


class Incident(IncidentFields):
    """With the entry that reported it."""

    sequence: int


def member_of(one: Incident) -> str:
    """The member of a kind that is never the coordinator's."""
    member = one["member"]
    assert member is not None
    return member


@document
@dataclass(slots=True)
class Incidents:
    """``kept[kind]`` are the first of a kind, each with its ``sequence``; ``counts[kind]`` how many there were."""

    kept: dict[str, list[Incident]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))

    def add(self, step: Step, active: Collection[str] = ()) -> None:
        """Fold one step; ``active``: members that are replaced in it and committed until then."""
        for old, new in step.replaced.items():
            before, after = _process(step.before, old), _process(step.after, new)
            self._keep(
                "replaced",
                step.sequence,
                old=old,
                new=new,
                at_ms=step.after.at_ms,
                active=old in active,
                other_process=before is not None and before != after,
            )
        self._regexes(step)
        entry = step.entries[-1]
        if entry.kind is Kind.FAULT:
            self._fault(entry)
        elif entry.kind is Kind.RESPONSE:
            self._answer(entry)
        elif entry.kind is Kind.NOTE and entry.payload.get("note") == "topics":
            self._topics(step, entry)
        elif entry.kind is Kind.NOTE and entry.payload.get("note") == "coordinator":
            epoch = entry.payload.get("leader_epoch")
            if isinstance(epoch, int):
                self._keep("coordinators", entry.sequence, leader_epoch=epoch, at_ms=entry.at_ms)

    def _topics(self, step: Step, entry: Entry) -> None:
        """Topics that go, and those that are there again under another id."""
        for name in map(str, mapping(entry.payload.get("topics"))):
            old, new = step.before.topics.get(name), step.after.topics.get(name)
            if old is not None and new is None:
                self._keep("topics_deleted", entry.sequence, topic=name, at_ms=entry.at_ms)
            elif new is not None and new != old and name in step.after.former.values():
                again = old is None or (old.topic_id is not None and old.topic_id != new.topic_id)
                if again:
                    self._keep("topics_remade", entry.sequence, topic=name, at_ms=entry.at_ms)

    def _fault(self, entry: Entry) -> None:
        payload = entry.payload
        match payload.get("fault"):
            case "difference":
                self._keep("differences", entry.sequence, what=str(payload.get("what")))
            case "pause" | "cut" as fault:
                self._keep(
                    BEGINNINGS[fault],
                    entry.sequence,
                    member=text(payload.get("member")),
                    from_ms=entry.at_ms,
                    to_ms=None,
                )
            case "resume" | "heal" as fault:
                self._ended(ENDS[fault], text(payload.get("member")), entry.at_ms)
            case "invariant":
                self._keep(
                    "violations",
                    entry.sequence,
                    invariant=str(payload.get("invariant")),
                    says=str(payload.get("says")),
                    members=[str(member) for member in payload.get("members") or ()],
                    partitions={
                        str(topic): [each for each in numbers if isinstance(each, int)]
                        for topic, numbers in mapping(payload.get("partitions")).items()
                        if isinstance(numbers, list)
                    },
                    proof=[each for each in payload.get("sequences") or () if isinstance(each, int)],
                )
            case "fail_over":
                loading_ms = payload.get("loading_ms")
                self._keep(
                    "fail_overs",
                    entry.sequence,
                    loading_ms=loading_ms if isinstance(loading_ms, int) else None,
                    release=text(payload.get("release")) if "skipped" in payload else None,
                    at_ms=entry.at_ms,
                )
            case "lost_batch":
                records = payload.get("records")
                number = records if isinstance(records, int) else None
                self._keep("lost", entry.sequence, records=number, at_ms=entry.at_ms)

    def _ended(self, kind: str, member_id: str | None, now_ms: int) -> None:
        """A fault is over; without a member it is over for everybody."""
        for one in self.kept[kind]:
            if one["to_ms"] is None and member_id in (None, one["member"]):
                one["to_ms"] = now_ms

    def _answer(self, entry: Entry) -> None:
        payload = entry.payload
        code, member_id = mapping(payload.get("body")).get("errorCode"), text(payload.get("to"))
        if payload.get("api") != "ConsumerGroupHeartbeat" or not isinstance(code, int) or member_id is None:
            return
        if code in FENCES:
            self._keep("fences", entry.sequence, member=member_id, error=FENCES[code], at_ms=entry.at_ms)
        elif code and code not in BUSY:
            self._keep("refused", entry.sequence, member=member_id, code=code, at_ms=entry.at_ms)

    def _regexes(self, step: Step) -> None:
        before, after = step.before.consumer.regexes, step.after.consumer.regexes
        if before is after:
            return
        for regex, resolved in after.items():
            old = before.get(regex)
            if old is None or old.topics != resolved.topics:
                topics = list(resolved.topics)
                self._keep(
                    "matched",
                    step.sequence,
                    regex=regex,
                    topics=topics[:KEPT_MAX],
                    count=len(topics),
                    at_ms=step.after.at_ms,
                )

    def _keep(self, kind: str, sequence: int, **known: Unpack[IncidentFields]) -> None:
        self.counts[kind] += 1
        if len(self.kept[kind]) < KEPT_MAX:
            self.kept[kind].append({"sequence": sequence, **known})


def _process(state: State, member_id: str) -> tuple[str, str] | None:
    """Client id and host of a member."""
    classic = state.protocol is Protocol.CLASSIC
    member = state.classic.members.get(member_id) if classic else state.modern.members.get(member_id)
    return None if member is None else (member.client_id, member.client_host)
