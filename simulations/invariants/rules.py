"""Rules of clients as functions of what is the case: a run's entries are held to them, and so are an exploration's worlds.

Each gives what is wrong as ``(invariant, sentence, partitions)``; nothing where the rule is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Final

from simulations.invariants.model import Held, Member
from simulations.invariants.violations import Partition, named

ASSIGNED: Final = "on_partitions_assigned"
LOST: Final = "on_partitions_lost"

Wrong = tuple[str, str, Set[Partition]]

NONE: Final[frozenset[Partition]] = frozenset()


def callback_begins(
    who: str,
    callback: str,
    partitions: Set[Partition],
    *,
    owned: Set[Partition],
    revoked: Set[Partition],
    running: str | None,
    thrown_out: bool,
) -> list[Wrong]:
    """A callback of ``who`` begins while it owns ``owned``; ``running`` is one that has not returned.

    ``revoked`` is what it gave up since it was last assigned something: the released client takes that out of the subscription only
    as it hands over the new assignment, so that it is lost once more. Where an assignment that was waiting is handed
    over after the loss was decided, that is still so: the loss names what was there as it was decided.
    """
    found: list[Wrong] = []
    if running is not None:
        found.append(("callbacks", f"{callback} of {who} begins while {running} runs", NONE))
    if callback == ASSIGNED:
        again = partitions & owned
        if again:
            found.append(
                ("callbacks", f"{callback} of {who} names {named(again)}, which it owns already", again)
            )
        return found
    strange = partitions - owned - (revoked if callback == LOST else NONE)
    if strange:
        text = f"{callback} of {who} names {named(strange)}, which it does not own"
        found.append(("callbacks", text, strange))
    return found + (loses_for_no_reason(who) if callback == LOST and not thrown_out else [])


def loses_for_no_reason(who: str) -> list[Wrong]:
    """``who`` called ``on_partitions_lost``, has been refused by nobody, and has not left."""
    return [("callbacks", f"{who} loses partitions, and nobody has refused it", NONE)]


def begins_with_strange(who: str, partitions: Set[Partition], held: Iterable[Partition]) -> list[Wrong]:
    """``who`` begins to own partitions; ``held`` is what the group holds for it."""
    strange = partitions - set(held)
    if not strange:
        return []
    text = f"{who} begins with {named(strange)}, which the group does not hold for it"
    return [("owned_is_held", text, strange)]


def still_owns(who: str, gone: Iterable[Partition], owned: Set[Partition]) -> list[Wrong]:
    """The group holds ``gone`` for ``who`` no more."""
    kept = owned & set(gone)
    if not kept:
        return []
    return [
        (
            "owned_is_held",
            f"{who} still owns {named(kept)}, of which the group takes it to be rid",
            kept,
        )
    ]


def begins_with_anothers(who: str, other: str, both: Set[Partition]) -> list[Wrong]:
    """``who`` and ``other``, both members, own the same."""
    if not both:
        return []
    return [("one_processor", f"{who} begins with {named(both)} while {other} still has it", both)]


def is_known(member: Member | None) -> bool:
    """Whether the group counts on it: it is a member, and not away."""
    return member is not None and member.epoch > 0


def wrongly_taken(
    member: Member | None,
    epoch: int,
    accepted: Iterable[Held],
    *,
    group_is_empty: bool,
    older_epochs: bool,
) -> list[Held]:
    """Partitions whose commit, sent with ``epoch``, should not have been accepted.

    ``older_epochs``: an epoch is good that is not below the partition's assignment epoch (released Kafka).
    """
    if (epoch < 0 and group_is_empty) or (member is not None and member.epoch == epoch):
        return []
    if not older_epochs or member is None or epoch >= member.epoch:
        return list(accepted)
    held: Mapping[Held, int | None] = {**member.pending, **member.assigned}
    return [key for key in accepted if key not in held or (since := held[key]) is None or epoch < since]


def commits_strange(who: str, strange: Set[Partition]) -> list[Wrong]:
    """``who`` commits offsets of partitions that it does not own."""
    if not strange:
        return []
    text = f"{who} commits offsets of {named(strange)}, which it does not own"
    return [("given_up_is_left_alone", text, strange)]
