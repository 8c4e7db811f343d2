"""A transcript through the simulated coordinator: the same requests at the same moments, and what comes out otherwise.

The coordinator's clock is the transcript's. Between two requests its timers run out when they are due; records are
committed at once. Compared are each answer, field by field, with when it came, and each record; the times that stand in
records may be apart by as long as the broker took for its answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from groups.history.state.group import Semantics
from simulations.proof.conformance import settings_of
from simulations.proof.conformance.classic_requests import ask_classic
from simulations.proof.conformance.comparing import aligned, differing
from simulations.proof.conformance.recording import RecordedRequest
from simulations.proof.conformance.requests import ask
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.image import Image, ImageTopic
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.coordinator.timers import TimerCancel, TimerCommand
from simulations.protocol.messages.classic_requests import CLASSIC_APIS

from .transcript import Fields, Restarted, Sent, Transcript

SLACK_MS = 60
"""On top of the slowest answer of the transcript: how far a time may be from when the simulated coordinator has it."""

LATE_MS = (0, 5, 20, 50, 100, 200)
"""How late a broker's timers may be: a busy machine handles a request some milliseconds after it was sent, and looks at
its timers as late."""

AT_ONCE_MS = 2_000
"""An answer that took longer was parked, and tells nothing of how slow the broker was."""

TIMES = frozenset({"currentStateTimestamp", "commitTimestamp", "assignmentTimestamp", "expireTimestamp"})

CONSTANTS = {
    "ConsumerGroupHeartbeat": "CONSUMER_GROUP_HEARTBEAT",
    "OffsetCommit": "OFFSET_COMMIT",
    "OffsetFetch": "OFFSET_FETCH",
    "OffsetDelete": "OFFSET_DELETE",
    "DeleteGroups": "DELETE_GROUPS",
    "ConsumerGroupDescribe": "CONSUMER_GROUP_DESCRIBE",
}

Timer = tuple[str, str | None]


class Repeated:
    """The simulated coordinator beside a transcript; ``written`` and ``answers`` are what it made of it."""

    def __init__(
        self,
        settings: Mapping[str, str],
        topics: Mapping[str, tuple[str, int]],
        group: str,
        *,
        late_ms: int = 0,
    ) -> None:
        self._late_ms = late_ms
        made = {
            name: ImageTopic(name=name, topic_id=topic_id, partitions=count)
            for name, (topic_id, count) in topics.items()
        }
        self._made = Image(topics=made, version=1)
        self._settings = settings_of(settings)
        self._group = group
        self.shard = self._new_shard()
        self.timers: dict[Timer, tuple[int, int | None]] = {}
        self.written: list[Fields] = []
        self.answers: dict[int, tuple[Fields, int]] = {}

    def next_deadline_ms(self) -> int | None:
        return min((deadline for deadline, _ in self.timers.values()), default=None)

    def pass_until(self, at_ms: int) -> None:
        """Timers run out that are due by then, in their order; each is late by ``late_ms``."""
        while True:
            due = min(
                (
                    (deadline, index, key)
                    for index, (key, (deadline, _)) in enumerate(self.timers.items())
                    if deadline + self._late_ms <= at_ms
                ),
                default=None,
            )
            if due is None:
                return
            deadline, _, (timer, member_id) = due
            _, bound = self.timers.pop((timer, member_id))
            now_ms = deadline + self._late_ms
            self._take(self.shard.expired(timer, member_id, bound, now_ms), now_ms)

    def send(self, sent: Sent) -> None:
        self.pass_until(sent.at_ms)
        if sent.api in CLASSIC_APIS:
            answer, outcome = ask_classic(
                self.shard,
                sent.api,
                sent.body,
                sent.at_ms,
                version=sent.version,
                ticket=sent.ticket,
                client=sent.client,
                host="/127.0.0.1",
                recorded=sent.answer,
            )
            self._take(outcome, sent.at_ms)
        elif sent.api == "DescribeGroups":
            answer = _described(self.shard, sent)
        elif sent.api == "ListGroups":
            answer = {"groups": [row] if (row := self.shard.listed()) is not None else []}
        else:
            told = ask(self.shard, _asked(self._group, sent), sent.at_ms)
            answer = told.answer
            self.written += told.records
            self._command(told.timers, sent.at_ms)
            for parked in told.parked_answers:
                self.answers[parked.ticket] = parked.answer.body(), sent.at_ms
        if answer is not None:
            self.answers[sent.ticket] = answer, sent.at_ms

    def restart(self, stopped_ms: int, at_ms: int) -> None:
        """Another coordinator: it knows what is in the log."""
        self.pass_until(stopped_ms)
        self.shard = self._new_shard()
        self.timers = {}
        self.shard.load(self.written)
        self._take(self.shard.loaded(at_ms), at_ms)

    def _new_shard(self) -> Shard:
        return Shard(self._group, Semantics.KAFKA, self._settings, self._made)

    def _take(self, outcome: Outcome[Any], now_ms: int) -> None:
        self.written += outcome.records
        self._command(outcome.timers, now_ms)
        for parked in outcome.parked_answers:
            self.answers[parked.ticket] = parked.answer.body(), now_ms
        if outcome.follow_up is not None:
            self._take(self.shard.appended(outcome.follow_up, now_ms), now_ms)

    def _command(self, commands: tuple[TimerCommand, ...], now_ms: int) -> None:
        for command in commands:
            key = command.timer, command.member_id
            self.timers.pop(key, None)
            if not isinstance(command, TimerCancel):
                self.timers[key] = now_ms + command.length_ms, command.bound_epoch


def differences(transcript: Transcript) -> list[str]:
    """One line for each thing that the simulated coordinator would have answered or written otherwise.

    Where a request and a timer come at nearly one moment, the transcript does not tell which was first: timers that are
    late by a few of ``LATE_MS`` are tried, and the least that is left is told.
    """
    found = None
    for late_ms in LATE_MS:
        left = _differences(transcript, late_ms)
        if not left:
            return []
        if found is None or len(left) < len(found):
            found = left
    return found or []


def _differences(transcript: Transcript, late_ms: int) -> list[str]:
    repeated = Repeated(transcript.settings, transcript.topics, transcript.group, late_ms=late_ms)
    found: list[str] = []
    for event in transcript.events:
        if isinstance(event, Restarted):
            repeated.restart(event.stopped_ms, event.at_ms)
        else:
            repeated.send(event)
    repeated.pass_until(transcript.end_ms)
    slack_ms = slack_of(transcript)
    for event in transcript.events:
        if isinstance(event, Sent):
            found += _answer_differs(event, repeated.answers.get(event.ticket), slack_ms)
    found += _records_differ(transcript, repeated, slack_ms)
    return found


def slack_of(transcript: Transcript) -> int:
    took = [
        event.done_ms - event.at_ms
        for event in transcript.events
        if isinstance(event, Sent) and event.done_ms is not None
    ]
    return SLACK_MS + max((each for each in took if each < AT_ONCE_MS), default=0)


def _answer_differs(sent: Sent, simulated: tuple[Fields, int] | None, slack_ms: int) -> Iterator[str]:
    who = f"#{sent.ticket} {sent.api} of {sent.client}"
    if sent.answer is None or sent.done_ms is None:
        if simulated is not None:
            yield f"{who}: the broker did not answer, simulated {simulated[0]}"
        return
    if simulated is None:
        yield f"{who}: recorded {dict(sent.answer)}, simulated no answer"
        return
    answer, at_ms = simulated
    for path, left, right in differing(sent.answer, _as_told(sent.answer, answer)):
        yield f"{who}: {path}: recorded {left!r}, simulated {right!r}"
    if not -slack_ms <= sent.done_ms - at_ms <= slack_ms:
        yield f"{who}: answered {sent.done_ms - sent.at_ms} ms later, simulated {at_ms - sent.at_ms} ms"


def _as_told(recorded: Any, simulated: Any) -> Any:
    """The simulated answer without fields that the version of the recorded one does not have."""
    if isinstance(recorded, Mapping) and isinstance(simulated, Mapping):
        return {name: _as_told(recorded[name], simulated[name]) for name in simulated if name in recorded}
    if isinstance(recorded, list) and isinstance(simulated, list) and len(recorded) == len(simulated):
        return [_as_told(left, right) for left, right in zip(recorded, simulated, strict=True)]
    return simulated


def _records_differ(transcript: Transcript, repeated: Repeated, slack_ms: int) -> Iterator[str]:
    recorded = [each.payload for each in transcript.written]
    for left, right in aligned(recorded, repeated.written):
        if left is None or right is None:
            yield f"record: recorded {left}, simulated {right}"
            continue
        for path, one, other in differing(left, right):
            near = path.rpartition(".")[2] in TIMES and isinstance(one, int) and isinstance(other, int)
            if not (near and abs(one - other) <= slack_ms):
                yield f"record of type {left['type']}: {path}: recorded {one!r}, simulated {other!r}"


def _described(shard: Shard, sent: Sent) -> Fields:
    """Below version 6 there is no error for a group that is not there."""
    told: dict[str, Any] = dict(shard.describe_classic())
    if sent.version < 6 and told["groupState"] == "Dead":
        told["errorCode"] = 0
    return {"groups": [told]}


def _asked(group: str, sent: Sent) -> RecordedRequest:
    assert sent.answer is not None, sent
    return RecordedRequest(
        group=group,
        api=CONSTANTS[sent.api],
        version=sent.version,
        client=sent.client,
        host="/127.0.0.1",
        request=sent.body,
        response=sent.answer,
        arrived_ms=sent.at_ms,
        done_ms=sent.done_ms or sent.at_ms,
        line=sent.ticket,
    )
