"""Mistakes in how a coordinator reconciles a member, and in how it treats static ones."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

RECONCILIATION: Final = "simulations/protocol/coordinator/consumer/reconciliation.py"
STATIC: Final = "simulations/protocol/coordinator/consumer/static_members.py"

RECONCILING: Final = (
    _m(
        "revoked-at-once",
        RECONCILIATION,
        "if revoked and self._still_owns(revoked):",
        "if False and self._still_owns(revoked):",
        "a member is rid of partitions before it has acknowledged",
    ),
    _m(
        "held-is-free",
        RECONCILIATION,
        "if holder == NO_PARTITION_EPOCH or partition in own_pending:",
        "if True or partition in own_pending:",
        "a partition is assigned while another member still holds it",
    ),
    _m(
        "stays-unreleased",
        RECONCILIATION,
        "state=UNRELEASED_PARTITIONS if waits else STABLE,",
        "state=UNRELEASED_PARTITIONS,",
        "a member never becomes STABLE again",
    ),
    _m(
        "stable-too-early",
        RECONCILIATION,
        "state=UNRELEASED_PARTITIONS if waits else STABLE,",
        "state=STABLE,",
        "a member is STABLE though it waits for partitions",
    ),
    _m(
        "previous-epoch-ahead",
        RECONCILIATION,
        """            epoch=self.target_epoch,
            previous_epoch=member.epoch,""",
        """            epoch=self.target_epoch,
            previous_epoch=self.target_epoch + 1,""",
        "the previous epoch is above the epoch",
    ),
    _m(
        "epoch-ahead",
        RECONCILIATION,
        """            epoch=self.target_epoch,
            previous_epoch=member.epoch,""",
        """            epoch=self.target_epoch + 1,
            previous_epoch=member.epoch,""",
        "a member goes beyond the assignment epoch",
    ),
    _m(
        "revoking-advances",
        RECONCILIATION,
        """                epoch=epoch,
                previous_epoch""",
        """                epoch=epoch + 1,
                previous_epoch""",
        "a member gets a new epoch while it still has to give up",
    ),
    _m(
        "silence-acknowledges",
        RECONCILIATION,
        """        if self.owned is None:
            return True
        return any(""",
        """        if self.owned is None:
            return False
        return any(""",
        "a heartbeat that says nothing of partitions is taken for an acknowledgement",
    ),
    _m(
        "pending-is-lost",
        RECONCILIATION,
        "pending_revocation=revoked,",
        "pending_revocation={},",
        "what a member is to give up is written nowhere",
    ),
    _m(
        "kept-and-pending",
        RECONCILIATION,
        """                assigned=kept,
                pending_revocation=revoked,""",
        """                assigned=member.assigned,
                pending_revocation=revoked,""",
        "what a member is to give up stays assigned to it",
    ),
    _m(
        "unsubscribed-stays",
        RECONCILIATION,
        "return tuple(self.target.get(topic_id, ())) if topic_id in self.subscribed_ids else ()",
        "return tuple(self.target.get(topic_id, ()))[:-1]",
        "a member never gets the last partition of a topic",
    ),
    _m(
        "epochs-of-kept-renewed",
        RECONCILIATION,
        "part.setdefault(topic_id, {})[partition] = epoch\n",
        "part.setdefault(topic_id, {})[partition] = self.target_epoch\n",
        "a kept partition gets a new assignment epoch",
    ),
    _m(
        "unreleased-waits-for-ever",
        RECONCILIATION,
        """        if member.state == UNRELEASED_PARTITIONS:
            return self._next(member, member.epoch)""",
        """        if member.state == UNRELEASED_PARTITIONS:
            return member""",
        "who waits for partitions is never given them",
    ),
    _m(
        "revoking-for-ever",
        RECONCILIATION,
        "if not self._still_owns(member.pending_revocation):",
        "if not self._still_owns(member.pending_revocation) and not member.assigned:",
        "an acknowledgement is overlooked as long as the member keeps something",
    ),
    _m(
        "one-is-enough",
        RECONCILIATION,
        """        return any(
            not set(self.owned.get(topic_id, ())).isdisjoint(numbers)""",
        """        return all(
            not set(self.owned.get(topic_id, ())).isdisjoint(numbers)""",
        "a member is taken to have given up everything once it has given up one topic",
    ),
    _m(
        "topic-dropped-at-once",
        RECONCILIATION,
        "if pending and self._still_owns(pending):",
        "if False and self._still_owns(pending):",
        "a topic that a member does not subscribe to any more is taken from it at once",
    ),
)

STATIC_MEMBERS: Final = (
    _m(
        "leave-for-now-drops",
        STATIC,
        "for topic_id in HashOrder.filled(uuid_hash, kept)\n",
        "for topic_id in list(HashOrder.filled(uuid_hash, kept))[:1]\n",
        "a static member that leaves for now keeps one topic only",
    ),
    _m(
        "instance-taken-over",
        STATIC,
        "    if holder.epoch != STATIC_LEAVE_EPOCH and not holder.uses_classic:\n",
        "    if False:\n",
        "a static member takes the place of one that has not left",
    ),
    _m(
        "replacement-keeps-epoch",
        STATIC,
        "return replace(holder, member_id=member_id, epoch=JOIN_EPOCH, previous_epoch=JOIN_EPOCH)",
        "return replace(holder, member_id=member_id)",
        "a replacement begins at the epoch of the one that left",
    ),
    _m(
        "leave-for-now-forgets",
        STATIC,
        """        assigned={
            topic_id: dict.fromkeys(HashOrder.filled(int_hash, kept[topic_id]), EPOCH_OF_KEPT_PARTITIONS)
            for topic_id in HashOrder.filled(uuid_hash, kept)
        },""",
        "        assigned={},",
        "a static member that leaves for now keeps nothing",
    ),
)
