"""A process whose client speaks the consumer protocol, as all of its group do."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from simulations.invariants import rules
from simulations.proof.exploration.canonical import Rename
from simulations.proof.exploration.coordinator_entries import Answer
from simulations.proof.exploration.coordinators import Wrongs
from simulations.proof.exploration.processes import Client, Process, Processes, changes_nothing
from simulations.protocol.client.consumer import Call, Callback
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.messages.client_mode import InstallAssignment, PrepareAssignment
from simulations.protocol.messages.groups import (
    JOIN_EPOCH,
    Heartbeat,
    HeartbeatAnswer,
    OffsetCommit,
    Partitions,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsumerProcess(Process):
    """``revoked`` is what it gave up since it was last assigned something; ``thrown_out``: it is no member, and may not know it."""

    revoked: int = 0
    thrown_out: bool = False

    @property
    def deaf(self) -> bool:
        return not self.alive or (not self.follows and self.over)

    @property
    def rests(self) -> bool:
        return True

    def own_part(self, _rename: Rename) -> tuple[Hashable, ...]:
        return self.revoked, self.thrown_out


class ConsumerProcesses(Processes[ConsumerProcess]):
    """Takes the steps of processes; partitions stand under topic ids."""

    def fresh(self, client: Client) -> ConsumerProcess:
        return ConsumerProcess(consumer=client)

    def mask(self, partitions: Partitions) -> int:
        return self.bits.of_topics(partitions)

    def hears(self, process: ConsumerProcess, _request: Request, answer: Answer) -> ConsumerProcess:
        refused = isinstance(answer, HeartbeatAnswer) and answer.error_code != 0
        return replace(process, thrown_out=process.thrown_out or refused)

    def given_up(self, process: ConsumerProcess, call: Call) -> ConsumerProcess:
        if call.callback is Callback.LOST:
            return replace(process, owned=0)
        if call.callback is Callback.ASSIGNED:
            return process
        mask = self.mask(call.partitions)
        return replace(process, owned=process.owned & ~mask, revoked=process.revoked | mask)

    def is_quiet(self, process: ConsumerProcess) -> bool:
        """Whether its only answer contains nothing but that it may send the next heartbeat."""
        if len(process.answers) != 1 or any(wanted for _, wanted, _ in process.requests):
            return False
        return changes_nothing(process, *process.answers[0])

    def sends(
        self, process: ConsumerProcess, client: Client, request: Request
    ) -> tuple[ConsumerProcess, Wrongs]:
        after, _ = super().sends(process, client, request)
        if isinstance(request, PrepareAssignment | InstallAssignment):
            return after, ()
        assert isinstance(request, Heartbeat | OffsetCommit), "no other request was configured"
        if isinstance(request, Heartbeat):
            epoch = request.member_epoch
            out = epoch < JOIN_EPOCH or (process.thrown_out and epoch != JOIN_EPOCH)
            return replace(after, thrown_out=out), ()
        committed = self.bits.of((each.topic_id, each.partition) for each in request.offsets)
        return after, _wrongs(
            rules.commits_strange(process.member_id, self.named(committed & ~process.owned))
        )

    def begins(self, process: ConsumerProcess, call: Call) -> Wrongs:
        running = process.calling
        return _wrongs(
            rules.callback_begins(
                process.member_id,
                str(call.callback),
                self.named(self.mask(call.partitions)),
                owned=self.named(process.owned),
                revoked=self.named(process.revoked),
                running=str(running.callback) if running is not None else None,
                thrown_out=process.thrown_out,
            )
        )

    def begun(self, process: ConsumerProcess, call: Call) -> tuple[ConsumerProcess, int]:
        after, gained = super().begun(process, call)
        return (replace(after, revoked=0) if call.callback is Callback.ASSIGNED else after), gained

    def named(self, mask: int) -> set[tuple[str, int]]:
        """Partitions by topic name."""
        return {
            (self.names.get(topic_id, topic_id), number) for topic_id, number in self.bits.partitions(mask)
        }


def _wrongs(found: list[rules.Wrong]) -> Wrongs:
    return tuple((invariant, text) for invariant, text, _ in found)
