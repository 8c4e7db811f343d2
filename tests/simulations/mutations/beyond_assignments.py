"""Mistakes beyond who holds what: metadata, settings, timers, answers, what applications ask for, what is left behind."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

KAFKA_COORDINATOR: Final = "simulations/protocol/coordinator/consumer/released/coordinator.py"
COMMITS: Final = "simulations/protocol/coordinator/consumer/commits.py"
CLUSTER: Final = "simulations/world/engine/cluster.py"
LOADING: Final = "simulations/protocol/coordinator/consumer/loading.py"
TIMERS: Final = "simulations/world/engine/timers.py"
EXPRESSIONS: Final = "simulations/protocol/coordinator/consumer/expressions.py"
REGEXES: Final = "simulations/protocol/coordinator/consumer/regexes.py"
SUBSCRIPTIONS: Final = "simulations/protocol/coordinator/consumer/subscriptions.py"
RECORDS: Final = "simulations/protocol/coordinator/consumer/records.py"
UNIFORM: Final = "simulations/protocol/assignors/consumer/uniform.py"
CLIENT_HEARTBEATS: Final = "simulations/protocol/client/consumer/heartbeats.py"

BEYOND: Final = (
    _m(
        "grown-topic-overlooked",
        KAFKA_COORDINATOR,
        "        return Outcome(answer=None, memory=replace(context.memory, refresh=Refresh()))\n",
        "        return Outcome(answer=None)\n",
        "the coordinator never looks at new partitions",
    ),
    _m(
        "expression-matches-beginnings",
        REGEXES,
        "[name for name in image.topics if pattern.fullmatch(name)]",
        "[name for name in image.topics if pattern.fullmatch(name[:2])]",
        "an expression is held against the beginning of a name",
    ),
    _m(
        "expressions-resolved-once",
        EXPRESSIONS,
        "    if needed or len(counts.regexes) != len(context.group.regexes) or last is None:\n",
        "    if last is not None:\n        return False\n    if needed or last is None:\n",
        "expressions are resolved once, and topics that come later are overlooked",
    ),
    _m(
        "own-epoch-refused",
        COMMITS,
        "    if request.member_epoch == member.epoch:\n        return ErrorCode.NONE\n",
        "    if request.member_epoch == member.epoch and not member.pending_revocation:\n        return ErrorCode.NONE\n"
        "    if request.member_epoch == member.epoch:\n        return stale\n",
        "who is to give something up may not commit",
    ),
    _m(
        "timeout-overlooked",
        SUBSCRIPTIONS,
        "            if request.rebalance_timeout_ms != UNCHANGED_TIMEOUT\n",
        "            if request.rebalance_timeout_ms < 0\n",
        "the rebalance timeout that a member asks for is not written down",
    ),
    _m(
        "uniform-throws",
        UNIFORM,
        "total = sum(spec.partitions(topic) for topic in subscribed)",
        'total = sum(spec.partitions(topic if len(spec.members) < 4 else "none") for topic in subscribed)',
        "the assignor throws where there are four members and more",
    ),
    _m(
        "load-forgets-settings",
        CLUSTER,
        "        shard.group_config = last.shard.group_config\n",
        "",
        "a new coordinator does not know the group's own settings",
    ),
    _m(
        "load-halves-sessions",
        LOADING,
        "length_ms=context.settings.session_timeout_ms)",
        "length_ms=context.settings.session_timeout_ms // 2)",
        "a new coordinator gives members half a session",
    ),
    _m(
        "timer-keeps-deadline",
        TIMERS,
        "            running.deadline_ms, running.bound_epoch = deadline_ms, command.bound_epoch\n",
        "            running.bound_epoch = command.bound_epoch\n",
        "a timer that is started anew runs out when it would have run out before",
    ),
    _m(
        "expression-left-behind",
        EXPRESSIONS,
        "            written.append(records.regex_gone(context.state.group, gone))\n",
        "            pass\n",
        "the topics of an expression stay when its last member takes another",
    ),
    _m(
        "offsets-left-behind",
        CLUSTER,
        "        if gone:\n",
        "        if False:\n",
        "the offsets of a deleted topic stay",
    ),
    _m(
        "offsets-of-all-go",
        CLUSTER,
        "lambda shard, now_ms: shard.topics_deleted(gone, now_ms)",
        "lambda shard, now_ms: shard.topics_deleted(before.topics.values(), now_ms)",
        "with one topic the offsets of all are removed",
    ),
    _m(
        "removal-begins-with-member",
        RECORDS,
        """            CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
            CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
            CONSUMER_GROUP_MEMBER_METADATA,
        )""",
        """            CONSUMER_GROUP_MEMBER_METADATA,
            CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT,
            CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER,
        )""",
        "a member's own record is removed before what hangs on it, which a broker refuses to load",
    ),
    _m(
        "client-keeps-subscription",
        CLIENT_HEARTBEATS,
        "    other_names = names_before is None or set(names_before) != set(subscription.names)\n",
        "    other_names = names_before is None\n",
        "a client does not say that it subscribes to other topics",
    ),
)
