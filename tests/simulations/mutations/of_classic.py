"""Mistakes in the coordinator of the classic protocol and in online migration.

They are found by what a broker was recorded to do (``tests/broker/classic``): some exchange comes out otherwise.
"""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

CLASSIC: Final = "simulations/protocol/coordinator/classic/"
GROUP: Final = CLASSIC + "group.py"
JOINING: Final = CLASSIC + "join_requests.py"
REBALANCING: Final = CLASSIC + "join_phase.py"
SYNCING: Final = CLASSIC + "syncing.py"
SESSIONS: Final = CLASSIC + "sessions.py"
STATIC: Final = CLASSIC + "static_members.py"
LOADING: Final = CLASSIC + "loading.py"
COMMITS: Final = CLASSIC + "commit_checks.py"
DESCRIBING: Final = CLASSIC + "describing.py"
COORDINATOR: Final = CLASSIC + "coordinator.py"
UPGRADING: Final = "simulations/protocol/coordinator/consumer/released/upgrading.py"
DOWNGRADING: Final = "simulations/protocol/coordinator/consumer/released/downgrading.py"
MEMBERS: Final = "simulations/protocol/coordinator/consumer/released/classic_members.py"

CLASSIC_MUTATIONS: Final = (
    _m(
        "classic-first-vote-wins",
        GROUP,
        "if votes[name] == most)",
        "if votes[name])",
        "any protocol that somebody votes for is chosen",
    ),
    _m(
        "classic-empty-supports-all",
        GROUP,
        "            return bool(protocol_type and protocols)\n",
        "            return True\n",
        "an empty group takes a member without protocols",
    ),
    _m(
        "classic-leader-stays",
        GROUP,
        "        if self.leader == member_id:\n",
        "        if False:\n",
        "a leader that is removed goes on leading",
    ),
    _m(
        "classic-pending-not-waited-for",
        GROUP,
        "return len(self.members) == self.awaiting_join and not self.pending",
        "return len(self.members) == self.awaiting_join",
        "a rebalance does not wait for ids that were drawn",
    ),
    _m(
        "classic-members-in-any-order",
        GROUP,
        "return (self.members[member_id] for member_id in self._order(self.members))",
        "return iter(self.members.values())",
        "members stand in the order in which they joined",
    ),
    _m(
        "classic-shortest-timeout",
        GROUP,
        "return max((member.rebalance_timeout_ms",
        "return min((member.rebalance_timeout_ms",
        "the shortest rebalance timeout counts",
    ),
    _m(
        "classic-new-members-alive",
        GROUP,
        "return not self.is_new and (self.awaits_join or self.awaits_sync)",
        "return self.awaits_join",
        "a member that waits for its assignment expires",
    ),
    _m(
        "classic-no-member-id-required",
        JOINING,
        "elif request.version >= MEMBER_ID_REQUIRED_VERSION:",
        "elif False:",
        "a dynamic member joins with its first request",
    ),
    _m(
        "classic-refused-id-kept",
        JOINING,
        "        operation.group = operation.group.removed(member_id)\n        refuse(",
        "        refuse(",
        "an id that is refused for lack of room stays in the group",
    ),
    _m(
        "classic-counts-members-rebalancing",
        JOINING,
        "group.awaiting_join < most",
        "len(group.members) < most",
        "while members join again those count that have not",
    ),
    _m(
        "classic-follower-rebalances",
        JOINING,
        "elif group.state is STABLE and same and member_id != group.leader:",
        "elif False:",
        "a follower that joins again without a change sets a rebalance going",
    ),
    _m(
        "classic-leader-not-rebalancing",
        JOINING,
        "elif group.state is STABLE and same and member_id != group.leader:",
        "elif group.state is STABLE and same:",
        "a leader that joins again sets no rebalance going",
    ),
    _m(
        "classic-delay-not-extended",
        JOINING,
        "group = replace(group, new_member_added=True)",
        "group = replace(group, new_member_added=False)",
        "new members do not lengthen the first join phase",
    ),
    _m(
        "classic-no-first-record",
        JOINING,
        "    if is_new_group:\n",
        "    if False:\n",
        "a new group is not written down",
    ),
    _m(
        "classic-initial-completes-early",
        REBALANCING,
        "if group.state is PREPARING and group.previous_state is not EMPTY and group.all_joined:",
        "if group.state is PREPARING and group.all_joined:",
        "the first join phase ends before its delay",
    ),
    _m(
        "classic-static-removed",
        REBALANCING,
        "if not member.awaits_join and member.instance_id is None:",
        "if not member.awaits_join:",
        "static members that do not join again are removed",
    ),
    _m(
        "classic-generation-stands",
        REBALANCING,
        "generation=group.generation + 1,",
        "generation=group.generation,",
        "the generation does not grow",
    ),
    _m(
        "classic-everybody-told-members",
        REBALANCING,
        "with_members=member.member_id == group.leader)",
        "with_members=True)",
        "followers are told the members, too",
    ),
    _m(
        "classic-syncs-forgotten",
        REBALANCING,
        "        withdraw_assignments(operation, ErrorCode.REBALANCE_IN_PROGRESS)\n",
        "        pass\n",
        "who waits for an assignment is not told of a new rebalance",
    ),
    _m(
        "classic-no-sync-timer",
        REBALANCING,
        "    operation.start(SYNC, None, group.rebalance_timeout_ms, bound_epoch=group.generation)\n",
        "",
        "nobody looks whether members ask for their assignment",
    ),
    _m(
        "classic-remaining-delay-forgotten",
        REBALANCING,
        "remaining_ms = max(delay.remaining_ms - delay.delay_ms, 0)",
        "remaining_ms = delay.remaining_ms",
        "the first join phase may be lengthened for ever",
    ),
    _m(
        "classic-sync-any-generation",
        SYNCING,
        "    code = check_generation(group, request.member_id, request.instance_id, request.generation)\n",
        "    code = check_generation(group, request.member_id, request.instance_id, group.generation)\n",
        "SyncGroup of another generation is answered",
    ),
    _m(
        "classic-follower-assigns",
        SYNCING,
        "    if group.leader == request.member_id:\n",
        "    if request.assignments:\n",
        "whoever brings assignments assigns",
    ),
    _m(
        "classic-heartbeat-keeps-nothing",
        SESSIONS,
        "    operation.restart_session(group.members[request.member_id])\n    return",
        "    return",
        "a heartbeat does not start the session anew",
    ),
    _m(
        "classic-heartbeat-says-nothing",
        SESSIONS,
        "return ErrorCode.REBALANCE_IN_PROGRESS if group.state is PREPARING else ErrorCode.NONE",
        "return ErrorCode.NONE",
        "members are not told to join again",
    ),
    _m(
        "classic-waiting-expires",
        SESSIONS,
        "if member is None or member.satisfies_heartbeat:",
        "if member is None:",
        "a member that waits for an answer expires",
    ),
    _m(
        "classic-leaver-unanswered",
        SESSIONS,
        "    operation.answer_join(member_id, JoinAnswer(error_code=ErrorCode.UNKNOWN_MEMBER_ID))\n",
        "",
        "who leaves while it waits in the join phase is never answered",
    ),
    _m(
        "classic-static-always-rebalances",
        STATIC,
        "if group.state is STABLE and group.selected_protocol() == group.protocol_name:",
        "if False:",
        "a static member that comes back sets a rebalance going",
    ),
    _m(
        "classic-static-never-skips",
        STATIC,
        "skip_assignment=leads)",
        "skip_assignment=False)",
        "a static leader that comes back assigns anew",
    ),
    _m(
        "classic-static-not-fenced",
        STATIC,
        "    operation.answer_sync(holder, SyncAnswer(error_code=fence))\n",
        "",
        "the waiting SyncGroup of a static member that was replaced is not fenced",
    ),
    _m(
        "classic-load-no-sessions",
        LOADING,
        "    for member in group.in_order():\n        operation.restart_session(member)\n",
        "",
        "a new coordinator starts no session",
    ),
    _m(
        "classic-load-forgets-generation",
        LOADING,
        "        generation=recorded.generation,\n",
        "        generation=0,\n",
        "a new coordinator begins with generation 0",
    ),
    _m(
        "classic-commit-completing",
        COMMITS,
        "return ErrorCode.REBALANCE_IN_PROGRESS if waits else ErrorCode.NONE",
        "return ErrorCode.NONE",
        "offsets are committed between join and sync",
    ),
    _m(
        "classic-commit-any-generation",
        COMMITS,
        "        if request.member_epoch != group.generation:\n",
        "        if request.member_epoch > group.generation:\n",
        "offsets of older generations are committed",
    ),
    _m(
        "classic-described-joining",
        DESCRIBING,
        "    stable = group.state is STABLE\n",
        "    stable = True\n",
        "the protocol is told of a group that is not stable",
    ),
    _m(
        "classic-session-bounds",
        COORDINATOR,
        "if not least_ms <= request.session_timeout_ms <= most_ms:",
        "if not least_ms < request.session_timeout_ms <= most_ms:",
        "the least session timeout is refused",
    ),
    _m(
        "classic-unreadable-subscribes",
        GROUP,
        "return group.is_consumer if group.subscribed is None else topic in group.subscribed",
        "return group.subscribed is not None and topic in group.subscribed",
        "offsets of a group whose topics cannot be read are deleted",
    ),
    _m(
        "upgrade-keeps-waiting",
        UPGRADING,
        "    send_back(operation)\n    try",
        "    try",
        "members that wait are not told of a conversion",
    ),
    _m(
        "upgrade-next-epoch",
        UPGRADING,
        "records.group_epoch(group_id, group.generation, context",
        "records.group_epoch(group_id, group.generation + 1, context",
        "a converted group begins with another epoch than its generation",
    ),
    _m(
        "upgrade-takes-user-data",
        UPGRADING,
        '        if assignment["userData"] and not keeps_data:\n',
        "        if False:\n",
        "a custom assignor's data are dropped silently",
    ),
    _m(
        "upgrade-no-sessions",
        UPGRADING,
        "        timers=(*sessions, *outcome.timers),\n",
        "        timers=outcome.timers,\n",
        "classic members of a converted group have the sessions from before",
    ),
    _m(
        "downgrade-no-rebalance",
        DOWNGRADING,
        "    operation = _begun(context, group, {})\n    prepare_rebalance(operation)\n",
        "    operation = _begun(context, group, {})\n",
        "a group that became classic again does not rebalance",
    ),
    _m(
        "downgrade-assigned-not-target",
        DOWNGRADING,
        "        target = in_memory_target(targets.get(classic.member_id, {}))\n",
        "        target = in_memory_target({})\n",
        "a group that became classic again has no assignments",
    ),
    _m(
        "downgrade-while-consumers-remain",
        DOWNGRADING,
        "        and all(member.uses_classic for member in remaining)\n",
        "        and any(member.uses_classic for member in remaining)\n",
        "a group becomes classic while it has members of the consumer protocol",
    ),
    _m(
        "mixed-heartbeat-group-epoch",
        MEMBERS,
        "        member.epoch < context.group.assignment_epoch\n",
        "        member.epoch < context.group.group_epoch\n",
        "classic members are sent back for a target that nobody has made",
    ),
    _m(
        "mixed-join-timer-restarts",
        MEMBERS,
        "    if member.member_id in context.memory.joining:\n",
        "    if False:\n",
        "each heartbeat gives a classic member more time to join again",
    ),
    _m(
        "mixed-any-protocol",
        MEMBERS,
        "        all(name in names for names in listed) for name, _ in request.protocols\n",
        "        True for name, _ in request.protocols\n",
        "a classic member joins that has no protocol in common with the others",
    ),
    _m(
        "mixed-no-sync-timer",
        MEMBERS,
        "timers=(session, syncing)",
        "timers=(session,)",
        "nobody looks whether a classic member asks for its assignment",
    ),
    _m(
        "mixed-sync-any-generation",
        MEMBERS,
        "    if member.epoch != generation:\n",
        "    if member.epoch < generation:\n",
        "a classic member of an older epoch is answered",
    ),
)
