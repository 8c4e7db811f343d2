"""The coordinator of a group whose members all speak the consumer protocol, and what worlds ask of it."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace

from groups.history.entries import Entry
from groups.history.state.group import Semantics
from simulations.invariants import rules
from simulations.invariants.coordinator import GroupChecks
from simulations.invariants.violations import named
from simulations.proof.exploration.coordinators import (
    Coordinator,
    CoordinatorRuntime,
    CoordinatorStep,
    Wrongs,
)
from simulations.protocol.client.consumer.requests import Request
from simulations.protocol.coordinator.consumer.outcome import Outcome
from simulations.protocol.coordinator.shard import Shard
from simulations.protocol.messages.groups import CommitAnswer, OffsetCommit


@dataclass(slots=True, kw_only=True)
class ConsumerCoordinator(Coordinator):
    """``held`` and ``assigned`` leave out members that are away; ``converged``: everybody is STABLE at the group epoch."""

    converged: bool = True

    @property
    def rests(self) -> bool:
        return self.converged

    @property
    def members(self) -> Set[str]:
        return self.checks.members.keys()


class ConsumerRuntime(CoordinatorRuntime[ConsumerCoordinator]):
    """Takes the steps of the coordinator."""

    memory_is_replay = True

    def fresh(self, shard: Shard, checks: GroupChecks) -> ConsumerCoordinator:
        return ConsumerCoordinator(shard=shard, checks=checks)

    def handle(
        self, node: ConsumerCoordinator, request: Request, who: str, ticket: int
    ) -> CoordinatorStep[ConsumerCoordinator]:
        """A request arrives; offsets are taken from those alone who may commit them."""
        step = super().handle(node, request, who, ticket)
        ((_, answer),) = step.answers
        if not isinstance(request, OffsetCommit) or not isinstance(answer, CommitAnswer):
            return step
        strange = rules.wrongly_taken(
            node.checks.members.get(who),
            request.member_epoch,
            [(topic_id, number) for topic_id, number, code in answer.error_codes if not code],
            group_is_empty=not node.checks.members,
            older_epochs=self._semantics is Semantics.KAFKA,
        )
        if not strange:
            return step
        which = named((self._names.get(topic_id, topic_id), number) for topic_id, number in strange)
        text = f"Offsets of {which} are taken from {who} at epoch {request.member_epoch}"
        return replace(step, wrong=(*step.wrong, ("commit_epoch", text)))

    def judge(
        self,
        _before: ConsumerCoordinator,
        after: ConsumerCoordinator,
        entries: tuple[Entry, ...],
        _outcome: Outcome[object],
    ) -> Wrongs:
        checks = after.checks
        for entry in entries:
            checks.see(entry, after.shard.state)
        known = {name: member for name, member in checks.members.items() if rules.is_known(member)}
        after.held = {name: self._bits.of(member.held()) for name, member in known.items()}
        after.assigned = {name: self._bits.of(member.assigned) for name, member in known.items()}
        settled = checks.converged and checks.targets.is_of_now(checks.members)
        after.converged = not checks.members or settled
        return tuple((violation.invariant, violation.sentence) for violation in checks.take())
