"""Mistakes in what a coordinator does around a group, and in clients."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

COMMITS: Final = "simulations/protocol/coordinator/consumer/commits.py"
KAFKA: Final = "simulations/protocol/coordinator/consumer/released/heartbeat.py"
KAFKA_ADVANCING: Final = "simulations/protocol/coordinator/consumer/released/advancing.py"
KAFKA_LEAVING: Final = "simulations/protocol/coordinator/consumer/released/leaving.py"
KIP_JOINING: Final = "simulations/protocol/coordinator/consumer/proposal/joining.py"
LOADING: Final = "simulations/protocol/coordinator/consumer/loading.py"
CLIENT_RECONCILING: Final = "simulations/protocol/client/consumer/reconciling.py"
CLIENT_MEMBERSHIP: Final = "simulations/protocol/client/consumer/membership.py"
CLIENT_HEARTBEATS: Final = "simulations/protocol/client/consumer/heartbeats.py"
CLUSTER: Final = "simulations/world/engine/cluster.py"
COORDINATING: Final = "simulations/world/engine/runtime.py"

AROUND: Final = (
    _m(
        "repeat-is-refused",
        KAFKA,
        "request.member_epoch == member.previous_epoch\n",
        "request.member_epoch == member.epoch\n",
        "a member whose answer was lost is fenced when it asks again",
    ),
    _m(
        "no-rebalance-timer",
        KAFKA_ADVANCING,
        "if member.state != UNREVOKED_PARTITIONS:",
        "if member.state or True:",
        "nobody looks whether a member gives up in time",
    ),
    _m(
        "epoch-jumps",
        KAFKA_ADVANCING,
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
        "epoch = group.group_epoch + 1",
        "epoch = group.group_epoch",
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
        "shard.load(records)",
        "shard = last.shard",
        "a new coordinator knows of what was never committed",
    ),
    _m(
        "load-misses-last",
        CLUSTER,
        "shard.load(records)",
        "shard.load(records[:-1])",
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
)

CLIENTS: Final = (
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
