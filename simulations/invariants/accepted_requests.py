"""Which heartbeats and commits are accepted, and which are refused: the table of the protocol, held to both ways (G.1).

Asked where a request is answered: what was handled before it has taken effect by then, and nothing after it has. What
an assignor, a bound of the group, or a broker that is not the coordinator answers is none of the table.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from groups.history.entries import Entry
from simulations.invariants.handled_request import HandledRequest
from simulations.invariants.model import LEFT_FOR_NOW, Member, listed
from simulations.invariants.payloads import AnyAnswer, AnyRequest
from simulations.invariants.violations import Violations

NONE: Final = 0
SERVER_ERROR: Final = -1
UNKNOWN_MEMBER_ID: Final = 25
FENCED_INSTANCE_ID: Final = 82
FENCED_MEMBER_EPOCH: Final = 110
UNRELEASED_INSTANCE_ID: Final = 111
STALE_MEMBER_EPOCH: Final = 113

NOT_KNOWN: Final = frozenset({UNKNOWN_MEMBER_ID, 69, FENCED_INSTANCE_ID})
"""With GROUP_ID_NOT_FOUND and the instance that is another's: what somebody is answered who is no member."""

OF_MEMBERSHIP: Final = frozenset(
    {UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID, FENCED_MEMBER_EPOCH, UNRELEASED_INSTANCE_ID, STALE_MEMBER_EPOCH}
)
"""What is answered because of the sender and its epoch."""


class AnswerChecks:
    """``heartbeat`` and ``commit`` are shown each answer, with the sender as it was when the request was handled."""

    def __init__(self, violations: Violations, *, kafka: bool) -> None:
        self._violations = violations
        self._kafka = kafka
        self.may_throw = False
        """Whether the group's assignor is not a bundled one, and may throw."""

    def copy(self, violations: Violations) -> AnswerChecks:
        other = AnswerChecks(violations, kafka=self._kafka)
        other.may_throw = self.may_throw
        return other

    def heartbeat(
        self,
        entry: Entry,
        asked: HandledRequest,
        code: int,
        before: Member | None,
        holder: tuple[str, Member] | None,
    ) -> None:
        """``before``: the sender as the group knew it; ``holder``: who had the instance that it names, and as what."""
        who, body = asked.entry.actor, asked.body
        if code == SERVER_ERROR:
            if self.may_throw:
                return
            text = f"The assignor throws, and {who} receives the error"
            self._add("assignor_answers", text, entry, asked, who)
            return
        wanted = self._wanted(who, body, before, holder)
        if wanted is None:
            return
        was = "is no member" if before is None else f"is at epoch {before.epoch}"
        asks = f"{who}, which {was}, asks with epoch {body.get('memberEpoch')}"
        if code not in wanted and (code == NONE or code in OF_MEMBERSHIP):
            text = f"{asks} and is answered {code or 'as if all were well'}, not {_named(wanted)}"
            self._add("accepted_or_refused", text, entry, asked, who)

    def _wanted(
        self, who: str, body: AnyRequest, before: Member | None, holder: tuple[str, Member] | None
    ) -> frozenset[int] | None:
        """The codes that the table has for the request; ``None`` where it has none."""
        epoch = body.get("memberEpoch", 0)
        if holder is not None and holder[0] != who:
            if epoch == 0:
                # Another process has the instance: it has to have left for now.
                away = holder[1].epoch == LEFT_FOR_NOW
                return frozenset({NONE}) if away else frozenset({UNRELEASED_INSTANCE_ID})
            return NOT_KNOWN
        if epoch == 0:
            if before is not None and before.instance is not None and before.epoch != LEFT_FOR_NOW:
                # It asks for its own instance: Kafka's released coordinator takes it back or has it wait, depending on its record.
                return None
            return frozenset({NONE})
        if before is None:
            return NOT_KNOWN
        if epoch < 0:
            return frozenset({NONE})
        if epoch == before.epoch:
            return frozenset({NONE})
        owned = body.get("topicPartitions")
        if (
            epoch == before.previous < before.epoch
            and owned is not None
            and listed(owned).keys() <= before.assigned.keys()
        ):
            return frozenset({NONE})
        return frozenset({FENCED_MEMBER_EPOCH})

    def commit(self, entry: Entry, asked: HandledRequest, member: Member | None) -> None:
        """What a member commits with its own epoch is taken (``commit_epoch`` finds commits that should not be)."""
        epoch, who = asked.body.get("generationIdOrMemberEpoch", -1), asked.entry.actor
        if member is None or epoch != member.epoch:
            return
        for topic, number, code in _answers(entry.payload["body"]):
            if code in OF_MEMBERSHIP:
                text = f"{who}, which is at epoch {epoch}, commits {topic}-{number} with it and is refused ({code})"
                self._add("accepted_or_refused", text, entry, asked, who)

    def _add(self, invariant: str, text: str, entry: Entry, asked: HandledRequest, who: str) -> None:
        self._violations.add(invariant, text, (asked.entry.sequence, asked.wrote, entry.sequence), (who,))


def _answers(body: AnyAnswer) -> Iterator[tuple[str, int, int]]:
    for topic in body.get("topics") or ():
        for partition in topic.get("partitions") or ():
            name = str(topic.get("name") or topic.get("topicId"))
            yield name, partition["partitionIndex"], partition["errorCode"]


def _named(codes: frozenset[int]) -> str:
    return " or ".join(str(code) if code else "accepted" for code in sorted(codes))
