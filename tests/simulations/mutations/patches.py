"""The list. ``old`` stands exactly once in its file; a test says so, and names the patch that no longer applies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RECONCILIATION: Final = "simulations/coordinator/reconciliation.py"
STATIC: Final = "simulations/coordinator/static_members.py"
TARGETS: Final = "simulations/coordinator/targets.py"
COMMITS: Final = "simulations/coordinator/commits.py"
KAFKA: Final = "simulations/coordinator/kafka/heartbeat.py"
KAFKA_LEAVING: Final = "simulations/coordinator/kafka/leaving.py"
KIP_JOINING: Final = "simulations/coordinator/kip/joining.py"
LOADING: Final = "simulations/coordinator/loading.py"
CLIENT_RECONCILING: Final = "simulations/clients/reconciling.py"
CLIENT_MEMBERSHIP: Final = "simulations/clients/membership.py"
CLIENT_HEARTBEATS: Final = "simulations/clients/heartbeats.py"
UNIFORM: Final = "simulations/assignors/consumer/uniform.py"
UNIFORM_OTHERS: Final = "simulations/assignors/consumer/uniform_heterogeneous.py"
SHARING: Final = "simulations/assignors/sharing.py"
CLUSTER: Final = "simulations/engine/cluster.py"
COORDINATING: Final = "simulations/engine/coordinating.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    name: str
    file: str
    old: str
    new: str
    breaks: str
    """What is wrong from then on, in words."""


def _m(name: str, file: str, old: str, new: str, breaks: str) -> Mutation:
    return Mutation(name=name, file=file, old=old, new=new, breaks=breaks)


MUTATIONS: Final = (
    # The coordinator's reconciliation.
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
        "epochs = {topic_id: dict(known) for topic_id, known in kept.items()}",
        "epochs = {topic_id: dict.fromkeys(known, epoch) for topic_id, known in kept.items()}",
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
    # Static members.
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
    # Targets and assignors.
    _m(
        "target-record-left-out",
        TARGETS,
        "return {t: frozenset(p) for t, p in left.items() if p} == {t: frozenset(p) for t, p in right.items() if p}",
        "return {t: len(list(p)) for t, p in left.items() if p} == {t: len(list(p)) for t, p in right.items() if p}",
        "a member's new target is not written if it has as many partitions as the old one",
    ),
    _m(
        "joiner-left-out",
        TARGETS,
        """    if joiner is not None:
        order.put(joiner)""",
        """    if joiner is not None and len(group.members) < 2:
        order.put(joiner)""",
        "a third member that joins is not in the target",
    ),
    _m(
        "uniform-quota-of-all",
        UNIFORM,
        "total = sum(spec.partitions(topic) for topic in subscribed)",
        "total = sum(spec.partitions(topic) for topic in spec.topics) - len(spec.members)",
        "the quota counts too few partitions",
    ),
    _m(
        "uniform-cut-is-kept",
        UNIFORM,
        "kept[topic] = partitions[:left]",
        "kept[topic] = partitions[: left + 1]",
        "a partition that is over the quota stays, and is given to another, too",
    ),
    _m(
        "uniform-cut-is-lost",
        UNIFORM,
        "free.append((topic, partitions[left:]))",
        "free.append((topic, partitions[left + 1 :]))",
        "a partition that is over the quota goes to nobody",
    ),
    _m(
        "uniform-hands-out-twice",
        UNIFORM,
        """            room -= len(taken)
            start += len(taken)
            if start == len(partitions):
                run, start = run + 1, 0
            if explain""",
        """            room -= len(taken)
            start += len(taken) - (start > 0)
            if start == len(partitions):
                run, start = run + 1, 0
            if explain""",
        "a free partition is handed out twice",
    ),
    _m(
        "uniform-fresh-one-less",
        UNIFORM,
        "shares += [{topic: range(first, first + room)} for first in range(start, end, room)]",
        "shares += [{topic: range(first, first + room - (first > 2))} for first in range(start, end, room)]",
        "of a new group's runs the last partitions go to nobody",
    ),
    _m(
        "uniform-leaves-first",
        UNIFORM_OTHERS,
        "free = [partition for partition, owner in enumerate(of_topic) if owner == NOBODY]",
        "free = [partition for partition, owner in enumerate(of_topic) if partition and owner == NOBODY]",
        "where subscriptions differ the first partition of a topic goes to nobody",
    ),
    _m(
        "range-drops-the-rest",
        SHARING,
        "size = least + (position < extra)",
        "size = least",
        "partitions beyond an equal share go to nobody",
    ),
    _m(
        "range-overlaps",
        SHARING,
        """        put(shares, place, topics, range(start, start + size))
        start += size
""",
        """        put(shares, place, topics, range(start, start + size))
        start += size - (position == 1 and size > 1)
""",
        "the third subscriber begins with the last partition of the second",
    ),
    # What a coordinator does around it.
    _m(
        "repeat-is-refused",
        KAFKA,
        "request.member_epoch == member.previous_epoch\n",
        "request.member_epoch == member.epoch\n",
        "a member whose answer was lost is fenced when it asks again",
    ),
    _m(
        "no-rebalance-timer",
        KAFKA,
        "if member.state != UNREVOKED_PARTITIONS:",
        "if member.state or True:",
        "nobody looks whether a member gives up in time",
    ),
    _m(
        "epoch-jumps",
        KAFKA,
        "epoch += 1",
        "epoch += 2",
        "the group epoch grows by two",
    ),
    _m(
        "no-session-timer",
        KAFKA,
        "TimerStart(timer=SESSION, member_id=updated.member_id,",
        "TimerStart(timer=REBALANCE, member_id=updated.member_id,",
        "a heartbeat does not start the session anew",
    ),
    _m(
        "leave-keeps-epoch",
        KAFKA_LEAVING,
        "group.group_epoch + 1, metadata_hash",
        "group.group_epoch, metadata_hash",
        "a leave writes the old group epoch again",
    ),
    _m(
        "old-commits-taken",
        COMMITS,
        "if request.member_epoch == member.epoch:",
        "if request.member_epoch <= member.epoch:",
        "a commit of any older epoch is taken",
    ),
    _m(
        "load-forgets-sessions",
        LOADING,
        "for member_id in timeline_order(context.group, context.memory.member_slots):",
        "for member_id in list(timeline_order(context.group, context.memory.member_slots))[1:]:",
        "a new coordinator starts no session for the first member",
    ),
    _m(
        "load-forgets-waiting",
        LOADING,
        "        if member.state == UNREVOKED_PARTITIONS:\n",
        "        if False:\n",
        "a new coordinator does not look whether members give up in time",
    ),
    _m(
        "load-keeps-uncommitted",
        CLUSTER,
        "shard.load(self.committed.read(clean=compacted))",
        "shard = last.shard",
        "a new coordinator knows of what was never committed",
    ),
    _m(
        "load-misses-last",
        CLUSTER,
        "shard.load(self.committed.read(clean=compacted))",
        "shard.load(list(self.committed.read(clean=compacted))[:-1])",
        "a new coordinator does not read the log's last record",
    ),
    _m(
        "answers-before-commit",
        COORDINATING,
        """        operation.matched = self.shard.matched()
""",
        """        operation.matched = self.shard.matched()
        if operation.exchange is not None:
            self._respond(operation.exchange, operation.outcome.answer, operation.cause)
            operation.exchange = None
""",
        "a request is answered before its records are committed",
    ),
    _m(
        "old-timers-run-on",
        COORDINATING,
        "        self.timers.forget()\n",
        "",
        "the timers of a coordinator that is gone still write",
    ),
    _m(
        "loading-handles",
        COORDINATING,
        "        if self.loading:\n",
        "        if False:\n",
        "a coordinator handles requests before it has read the log",
    ),
    _m(
        "kip-removal-keeps-epoch",
        KIP_JOINING,
        "            *bump(context, stay),\n",
        "",
        "the proposal's removal starts no new group epoch",
    ),
    _m(
        "kip-join-computes-nothing",
        KIP_JOINING,
        "timers=(assignment_timer(context), session_timer(context, member_id)),",
        "timers=(session_timer(context, member_id),),",
        "the proposal's join has no target computed",
    ),
    # Clients.
    _m(
        "client-skips-revoked",
        CLIENT_RECONCILING,
        "    if reconciliation.revoked:\n",
        "    if False:\n",
        "a client acknowledges without calling on_partitions_revoked",
    ),
    _m(
        "client-assigned-again",
        CLIENT_RECONCILING,
        "added, revoked = minus(resolved.partitions, m.owned), minus(",
        "added, revoked = resolved.partitions, minus(",
        "on_partitions_assigned names what the client has already",
    ),
    _m(
        "client-misses-target",
        CLIENT_MEMBERSHIP,
        "if m.target is NONE or m.target.partitions != partitions:",
        "if m.target is NONE or len(m.target.partitions) != len(partitions):",
        "a client overlooks a new assignment of as many topics",
    ),
    _m(
        "client-loses-silently",
        CLIENT_MEMBERSHIP,
        "    if not lost:\n",
        "    if lost or not lost:\n",
        "a client that is thrown out never calls on_partitions_lost",
    ),
    _m(
        "client-never-acknowledges",
        CLIENT_HEARTBEATS,
        "owned=tidy(current.partitions) if joins or current != sent.current else None,",
        "owned=tidy(current.partitions) if joins else None,",
        "a client does not say that it has given up",
    ),
    _m(
        "client-beats-late",
        CLIENT_HEARTBEATS,
        """    m.built_ms = now_ms
    m.next_beat_ms = now_ms + m.interval_ms
""",
        """    m.built_ms = now_ms
    m.next_beat_ms = now_ms + 20 * m.interval_ms
""",
        "a client's heartbeats are rarer than its session timeout",
    ),
)
