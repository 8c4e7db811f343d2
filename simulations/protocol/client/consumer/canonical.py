"""What decides a consumer's future, for model checking: times are left out, epochs renamed."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from simulations.protocol.client.consumer.effects import frozen
from simulations.protocol.client.consumer.state import NONE, ClientState, Event, Reconciliation


def canonical(m: ClientState, rename: Callable[[int], int]) -> Hashable:
    """Local epochs are only ever compared: what is as old as the target, and what was sent, is all that matters.

    No time in it decides whether something is due: a twin goes on a moment later (``later``).
    """
    target, current, sent = m.target, m.current, m.sent.current
    return (
        m.state,
        rename(m.epoch),
        m.member_id,
        m.subscription,
        frozen(m.owned),
        frozen(m.given_up) if m.given_up else None,
        None if target is NONE else frozen(target.partitions),
        None if current is NONE else frozen(current.partitions),
        current.local_epoch == target.local_epoch,
        sent is None,
        sent == current,
        sent == NONE,  # What is current is that again once it leaves.
        sent is not None and sent.local_epoch == target.local_epoch,
        m.sent.subscription,
        m.in_flight is not None,
        m.joined_empty,
        m.released,
        _reconciliation(m, m.reconciliation),
        _event(m, m.calling) if m.calling is not None else None,
        tuple(_event(m, event) for event in m.events),
        m.wish,
        m.leaving,
        m.joins_again,
        m.closed,
        m.busy_until_ms > 0,
        m.lookup.known,
        m.lookup.node_id,
        m.lookup.request is not None,
        tuple(
            (
                commit.kind.value,
                commit.offsets,
                commit.request is not None and rename(commit.request.member_epoch),
                commit.stale_epoch is not None and rename(commit.stale_epoch),
                commit.reconciliation is not None and commit.reconciliation is m.reconciliation,
            )
            for commit in m.commits
        ),
        tuple(
            (
                frozen(fetch.partitions),
                fetch.request is not None and rename(fetch.request.member_epoch),
                fetch.stale_epoch is not None and rename(fetch.stale_epoch),
            )
            for fetch in m.fetches
        ),
        tuple(sorted(m.metadata.items())) if m.metadata is not None else None,
        m.asked,
    )


def later(m: ClientState) -> ClientState:
    """A copy for the next step: what was not to leave in the same millisecond as what it repeats may leave by now."""
    twin = m.copy()
    twin.not_before_ms = 0
    return twin


def _reconciliation(m: ClientState, reconciliation: Reconciliation | None) -> Hashable:
    if reconciliation is None:
        return None
    return (
        reconciliation.target.local_epoch == m.target.local_epoch,
        frozen(reconciliation.target.partitions),
        frozen(reconciliation.added),
    )


def _event(m: ClientState, event: Event) -> Hashable:
    return (
        event.purpose.value,
        event.callback,
        frozen(event.partitions),
        event.reconciliation is not None and event.reconciliation is m.reconciliation,
        _reconciliation(m, event.reconciliation),
        event.error_code,
    )
