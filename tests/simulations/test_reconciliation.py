"""One member towards its target: each transition of Kafka's own tests of its ``CurrentAssignmentBuilder``."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from groups.history.state.consumer import ConsumerGroup, ConsumerMember
from simulations.protocol.coordinator.consumer.reconciliation import Reconciliation
from simulations.protocol.coordinator.errors import RequestRefused
from tests.simulations.broker import FOO

STABLE, UNREVOKED, UNRELEASED, UNKNOWN = 0, 1, 2, 127


@dataclass(frozen=True, kw_only=True)
class Case:
    """``before`` and ``after``: state, epoch, assigned, pending; ``held`` are partitions of others."""

    before: tuple[int, int, list[int], list[int]]
    target: list[int]
    target_epoch: int = 11
    held: list[int] = field(default_factory=list)
    owned: list[int] | None = None
    after: tuple[int, int, list[int], list[int]] | None


CASES = {
    "stable at the target's epoch: nothing": Case(before=(STABLE, 11, [1, 2], []), target=[1, 2], after=None),
    "stable, the same target at a newer epoch": Case(
        before=(STABLE, 10, [1, 2], []), target=[1, 2], after=(STABLE, 11, [1, 2], [])
    ),
    "stable gains what is free": Case(
        before=(STABLE, 10, [1], []), target=[1, 2], after=(STABLE, 11, [1, 2], [])
    ),
    "stable revokes first, though the new one is free": Case(
        before=(STABLE, 10, [1, 2], []), target=[1, 3], after=(UNREVOKED, 10, [1], [2])
    ),
    "stable waits for what others hold": Case(
        before=(STABLE, 10, [1], []), target=[1, 2, 3], held=[2], after=(UNRELEASED, 11, [1, 3], [])
    ),
    "what the client does not own needs no revocation": Case(
        before=(STABLE, 10, [1, 2], []), target=[3], held=[3], owned=[], after=(UNRELEASED, 11, [], [])
    ),
    "unrevoked ignores a newer target while it says nothing": Case(
        before=(UNREVOKED, 10, [1], [2]), target=[1, 4], target_epoch=12, after=None
    ),
    "unrevoked ignores a newer target while it owns one": Case(
        before=(UNREVOKED, 10, [1], [2]), target=[4], target_epoch=12, owned=[1, 2], after=None
    ),
    "unrevoked goes to the target's epoch once it has given up": Case(
        before=(UNREVOKED, 10, [1], [2]), target=[1], target_epoch=12, owned=[1], after=(STABLE, 12, [1], [])
    ),
    "unrevoked has to give up more for a newer target": Case(
        before=(UNREVOKED, 10, [1, 3], [2]),
        target=[1],
        target_epoch=12,
        owned=[1, 3],
        after=(UNREVOKED, 10, [1], [3]),
    ),
    "unrevoked gets its own partition back at once": Case(
        before=(UNREVOKED, 10, [1], [2]), target=[1, 2], held=[2], owned=[1], after=(STABLE, 11, [1, 2], [])
    ),
    "unrevoked waits after giving up": Case(
        before=(UNREVOKED, 10, [1], [2]), target=[1, 4], held=[4], owned=[1], after=(UNRELEASED, 11, [1], [])
    ),
    "unreleased gets what became free": Case(
        before=(UNRELEASED, 11, [1], []), target=[1, 2], after=(STABLE, 11, [1, 2], [])
    ),
    "unreleased revokes for a newer target at its own epoch": Case(
        before=(UNRELEASED, 11, [1, 2], []),
        target=[1, 3],
        target_epoch=12,
        held=[3],
        after=(UNREVOKED, 11, [1], [2]),
    ),
    "a state of a newer release that owns nothing starts over": Case(
        before=(UNKNOWN, 10, [1], []), target=[1], owned=[], after=(STABLE, 11, [1], [])
    ),
}


def step(case: Case) -> tuple[ConsumerMember, ConsumerMember]:
    state, epoch, assigned, pending = case.before
    member = ConsumerMember(
        member_id="A",
        state=state,
        epoch=epoch,
        previous_epoch=epoch - 1,
        assigned={FOO: dict.fromkeys(assigned, 9)} if assigned else {},
        pending_revocation={FOO: dict.fromkeys(pending, 9)} if pending else {},
    )
    others = dict.fromkeys([*assigned, *pending], epoch) | dict.fromkeys(case.held, 10)
    reconciliation = Reconciliation(
        group=ConsumerGroup(
            group_epoch=12, assignment_epoch=case.target_epoch, partition_epochs={FOO: others}
        ),
        target={FOO: tuple(case.target)},
        target_epoch=case.target_epoch,
        subscribed_ids=frozenset({FOO}),
        subscribes_to_nothing=False,
        subscription_changed=False,
        owned=None if case.owned is None else ({FOO: tuple(case.owned)} if case.owned else {}),
    )
    return member, reconciliation.step(member)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_member_moves_as_in_kafka(case: Case) -> None:
    before, after = step(case)
    if case.after is None:
        assert after is before
        return
    state, epoch, assigned, pending = case.after
    assert (after.state, after.epoch) == (state, epoch)
    assert sorted(after.assigned.get(FOO, ())) == assigned
    assert sorted(after.pending_revocation.get(FOO, ())) == pending
    assert after.previous_epoch == before.epoch
    kept = {p: e for p, e in after.assigned.get(FOO, {}).items() if p in case.before[2]}
    assert set(kept.values()) <= {9}, "what is kept keeps its epoch"
    gained = {p: e for p, e in after.assigned.get(FOO, {}).items() if p not in case.before[2]}
    assert set(gained.values()) <= {case.target_epoch}, "what is gained gets the target's"


@pytest.mark.parametrize("owned", [None, [1]])
def test_a_state_of_a_newer_release_that_may_own_something_is_fenced(owned: list[int] | None) -> None:
    with pytest.raises(RequestRefused, match="unknown state"):
        step(Case(before=(UNKNOWN, 10, [1], []), target=[1], owned=owned, after=None))


def test_the_step_back_from_unreleased_changes_the_previous_epoch_alone() -> None:
    before, after = step(Case(before=(UNRELEASED, 11, [], []), target=[2], held=[2], after=None))
    assert (before.previous_epoch, after.previous_epoch) == (10, 11)
    assert (after.state, after.epoch, after.assigned) == (UNRELEASED, 11, {})
