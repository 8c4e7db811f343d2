"""The table of invariants: what a group of the consumer protocol has to keep, in Kafka's terms."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """``number`` is its chapter: G.1 the coordinator, G.2 clients, G.4 liveness. ``apart`` are exceptions and differences."""

    name: str
    number: str
    statement: str
    source: str
    apart: str = ""


def table(*invariants: Invariant) -> dict[str, Invariant]:
    """By name."""
    return {each.name: each for each in invariants}


INVARIANTS: Final = table(
    Invariant(
        name="one_holder",
        number="G.1 #1",
        statement="A partition is assigned to, or pending revocation of, at most one member, and no record names it twice.",
        source="KIP-848, Data Model; `ConsumerGroup.currentPartitionEpoch`",
    ),
    Invariant(
        name="partition_epochs",
        number="G.1 #2",
        statement="The partition epoch is the member epoch of the holder.",
        source="`ConsumerGroup.addPartitionEpochs`",
        apart="0 and −2 are values like others.",
    ),
    Invariant(
        name="group_epochs",
        number="G.1 #3",
        statement="The group epoch grows by one, the assignment epoch only grows, and it is never ahead of the group epoch.",
        source="KIP-848, Group Epoch",
        apart="A group that is deleted begins again: at 1 in `kafka`, at 0 in `kip`.",
    ),
    Invariant(
        name="member_epoch",
        number="G.1 #4",
        statement="A member epoch never goes back, and is never ahead of the assignment epoch.",
        source="KIP-848, Member Epoch",
        apart="−2 while a static member is away.",
    ),
    Invariant(
        name="previous_epoch",
        number="G.1 #5",
        statement="The previous member epoch is not above the member epoch; of a member that has moved it is not negative.",
        source="`ConsumerGroupMember.updateMemberEpoch`",
        apart="Not above: not of a static member that is away, which keeps an older one.",
    ),
    Invariant(
        name="whole_target",
        number="G.1 #6",
        statement="The target assignment gives each partition of each subscribed topic to one member that subscribes to it, and no other.",
        source="KIP-848, Target Assignment",
        apart="Asked when the assignment epoch is the group epoch; that it is whole only while the target is not older than the metadata. Not of a target with an error of a client-side assignor (`kip`), which may leave partitions to nobody. Nor, in `kafka`, of members whose expression nobody had resolved when the target was computed: it may take the group for one whose members subscribe alike then (Kafka's own fault; a real broker does it, too, and the case study `released-unresolved-regex` tells it).",
    ),
    Invariant(
        name="target_replayed",
        number="G.1 #7",
        statement="The target in memory, of which its inverse is computed, is the one that was written.",
        source="`ModernGroup.invertedTargetAssignment`",
    ),
    Invariant(
        name="stable",
        number="G.1 #8",
        statement="A STABLE member has nothing pending revocation; at the assignment epoch it has its target.",
        source="`CurrentAssignmentBuilder`",
        apart="Its target is asked for only when the assignment epoch is the group epoch. Not, in `kafka`, of a member whose expression nobody had resolved when the target was computed: what it does not subscribe to is cut from its part. In `kip` a member is STABLE too while it was only asked to revoke.",
    ),
    Invariant(
        name="unrevoked",
        number="G.1 #9",
        statement="An UNREVOKED_PARTITIONS member has something pending revocation, and its rebalance timer runs.",
        source="`CurrentAssignmentBuilder`, `scheduleConsumerGroupRebalanceTimeout`",
        apart="A static member that is away keeps the state and has nothing pending. `kip` writes no such state: there the timer runs for whoever was answered less than it has.",
    ),
    Invariant(
        name="unreleased",
        number="G.1 #10",
        statement="An UNRELEASED_PARTITIONS member came there at the assignment epoch, with nothing pending revocation.",
        source="`CurrentAssignmentBuilder`",
        apart="Not a static member that is away.",
    ),
    Invariant(
        name="pending_is_not_assigned",
        number="G.1 #11",
        statement="What is pending revocation is assigned to nobody.",
        source="`ConsumerGroup.addPartitionEpochs`",
    ),
    Invariant(
        name="revoked_by_acknowledgement",
        number="G.1 #12",
        statement="A member is rid of a partition by its own heartbeat that does not own it any more, by its removal or by its static leave.",
        source="KIP-848, Reconciliation",
        apart="`kip` has no pending revocation in its records: there it is asked of what is assigned.",
    ),
    Invariant(
        name="gained_from_target",
        number="G.1 #13",
        statement="What a member gains is of its target.",
        source="`CurrentAssignmentBuilder`",
        apart="Not of a group that was there before the log.",
    ),
    Invariant(
        name="assignment_epochs",
        number="G.1 #13",
        statement="A kept partition keeps its assignment epoch, a gained one has the target's.",
        source="`CurrentMemberAssignmentValue`, AssignmentEpochs",
        apart="`kafka` only, since `kip` writes none. All are 0 of a static member that left for now.",
    ),
    Invariant(
        name="one_instance",
        number="G.1",
        statement="At most one member has an instance id, and another member takes it over only from one that has left for now.",
        source="KIP-848, Static Membership; `GroupMetadataManager.getOrMaybeSubscribeStaticConsumerMember`",
        apart="A member that was removed has none.",
    ),
    Invariant(
        name="group_state",
        number="G.1 #14",
        statement="The group is Stable when all its members are STABLE at the assignment epoch, and only then.",
        source="`ConsumerGroup.maybeUpdateGroupState`",
    ),
    Invariant(
        name="accepted_or_refused",
        number="G.1",
        statement="A heartbeat is accepted or refused by its sender and its epoch, both ways, and a commit with the member's own epoch is accepted.",
        source="`throwIfConsumerGroupMemberEpochIsInvalid`, `getOrMaybeSubscribeStaticConsumerMember`, `ConsumerGroup.validateOffsetCommit`",
        apart="What bounds of the group, an assignor, or a broker that is not the coordinator answers is none of it; nor is a member that asks for its own instance before it has left.",
    ),
    Invariant(
        name="as_asked",
        number="G.1",
        statement="Who is accepted is written down as it asked to be: subscription, expression, rebalance timeout, instance.",
        source="`ConsumerGroupMember.Builder.maybeUpdate…`",
    ),
    Invariant(
        name="assignor_answers",
        number="G.1",
        statement="No client is answered that an assignor of the broker's own threw.",
        source="`GroupMetadataManager.updateTargetAssignment`",
        apart="A scripted assignor may throw, and any may that meets a target of partitions which the coordinator does not know of yet, after a fail-over.",
    ),
    Invariant(
        name="settings_hold",
        number="G.1",
        statement="Responses have the heartbeat interval that is set, the broker's or the group's own, also after a fail-over.",
        source="`GroupConfigManager`, `GroupConfig`",
    ),
    Invariant(
        name="timer_length",
        number="G.1",
        statement="A session or rebalance timer runs for as long as is set where it starts, and does not run out before.",
        source="`scheduleConsumerGroupSessionTimeout`, `scheduleConsumerGroupRebalanceTimeout`",
        apart="A timer that runs keeps its length; the next heartbeat starts it with the new one, which may be shorter.",
    ),
    Invariant(
        name="expressions_go_along",
        number="G.1",
        statement="The topics of an expression are kept as long as a member has it, and no longer.",
        source="`maybeDeleteResolvedRegularExpressions`",
        apart="`kafka` only: `kip` keeps no record of them.",
    ),
    Invariant(
        name="offsets_go_along",
        number="G.1",
        statement="The offsets of a deleted topic are removed, and none else but with the group or past their retention.",
        source="`GroupCoordinatorService.onPartitionsDeleted`, `GroupMetadataManager.createGroupTombstoneRecords`",
        apart="A coordinator that is loading, or takes the group over after the topic went, removes none. That they are gone is asked at rest.",
    ),
    Invariant(
        name="no_anomaly",
        number="G.1 #16",
        statement="No record of a simulated coordinator breaks a rule of replaying.",
        source="`GroupMetadataManager.replay`",
    ),
    Invariant(
        name="session",
        number="G.1 #15",
        statement="The session timer of each member runs.",
        source="`scheduleConsumerGroupSessionTimeout`",
        apart="Not asked within a request, nor before the first answer of a new coordinator.",
    ),
    Invariant(
        name="needed_timers",
        number="G.1 #15",
        statement="No session timer runs for a sender that is no member, and no rebalance timer for a member that has nothing to revoke.",
        source="`cancelConsumerGroupSessionTimeout`, `cancelConsumerGroupRebalanceTimeout`",
        apart="Asked where `session` is. In `kafka` the timers of a static member that another id replaced go on and find nobody, and a leave for now cancels none.",
    ),
    Invariant(
        name="memory_is_replay",
        number="G.1 #16",
        statement="A member in memory is what replaying its records gives.",
        source="`GroupMetadataManager.replay`",
    ),
    Invariant(
        name="compacted_log",
        number="G.1 #16",
        statement="What the log's cleaner leaves gives the same group as the whole log.",
        source="KIP-848, Records; `GroupMetadataManager.replay`",
        apart="Asked at each fail-over, with tombstones and without.",
    ),
    Invariant(
        name="dense_log",
        number="G.1 #17",
        statement="Sequences and offsets have no gap, and a cause comes before its effect.",
        source="`CoordinatorRuntime`, the partition's log",
    ),
    Invariant(
        name="one_batch",
        number="G.1 #17",
        statement="A request writes one batch, whole, before its answer.",
        source="`CoordinatorRuntime`, atomic writes",
    ),
    Invariant(
        name="lost_answer",
        number="G.1 #18",
        statement="A heartbeat that repeats one whose answer was lost (the previous epoch, owning no more than is assigned) is accepted.",
        source="`throwIfConsumerGroupMemberEpochIsInvalid`",
        apart="An error that says nothing of the membership is none of this: a coordinator that loads or is gone, an assignor that throws, an instance that has not left (111: a static join asks as a newcomer does).",
    ),
    Invariant(
        name="refused_writes_nothing",
        number="G.1 #19",
        statement="A heartbeat that is refused writes nothing.",
        source="`GroupMetadataManager.consumerGroupHeartbeat`",
        apart="In `kip` FENCED_MEMBER_EPOCH removes the member.",
    ),
    Invariant(
        name="one_processor",
        number="G.2 #20",
        statement="No two clients may process the same partition.",
        source="KIP-848, Consumer",
        apart="A client that the group has removed, or misunderstood (the next row), processes until it learns so; the time is measured, and no violation. So does one that has a part of a deleted topic, of whose name there is another by then, or received such a part and begins with it before it has named one of the other: callbacks contain names.",
    ),
    Invariant(
        name="owned_is_held",
        number="G.2 #21",
        statement="What a client owns is assigned to it or pending its revocation, as long as the group knows it.",
        source="KIP-848, Reconciliation",
        apart="Not of a static member that is away. Nor of what a client begins with while its acknowledgement of an older assignment is on its way: the coordinator takes that to say that it is rid of it; so it does as long as `on_partitions_assigned` throws (as released: the assignment is applied, not fetched from, and not acknowledged), and no longer than until a heartbeat has named it. Nor, if that answer is lost, of what it had received and has not begun with when it reports everything again: it names nothing of that, so nobody waits for it (as released: what is to be revoked and is not named as owned is gone at once), and it begins with it as long as no response has reached it: an assignment may wait for the application to poll while later responses contain less.",
    ),
    Invariant(
        name="callbacks",
        number="G.2 #22",
        statement="Callbacks do not overlap; revoked and lost is what was owned, assigned what was not; lost comes only after a refusal or a leave.",
        source="`ConsumerRebalanceListener`",
        apart="Lost is also what was given up since the last assignment that was handed over before the refusal or the leave: the released client clears it only then. Whose poll is late may lose before its leave arrives: the leave is sent first, and may take as long as a message can. What a revoked callback threw on stays owned and may be named again; if the client leaves meanwhile it is rid of it with the leave, and names it once more as lost if it leaves because its poll came too late.",
    ),
    Invariant(
        name="given_up_is_left_alone",
        number="G.2 #23",
        statement="A client commits nothing of a partition that it has given up.",
        source="`ConsumerRebalanceListener`",
        apart="A commit that was asked for before and was on its way by then, or waited for a coordinator (a request timeout at most): of a client that has left, or lost a message or its coordinator not longer than two request timeouts before.",
    ),
    Invariant(
        name="commit_epoch",
        number="G.2 #24",
        statement="An accepted commit of a member carries the present member epoch.",
        source="`ConsumerGroup.validateOffsetCommit`",
        apart="`kafka` takes an older one that is not below the partition's assignment epoch. That offsets do not go back is not asked: a scenario may seek.",
    ),
    Invariant(
        name="group_converges",
        number="G.4 #31",
        statement="Once nothing disturbs it, the group becomes Stable.",
        source="KIP-848, Reconciliation",
        apart="Bound: session timeout, two rebalance timeouts and four heartbeat rounds.",
    ),
    Invariant(
        name="members_converge",
        number="G.4 #32",
        statement="Once nothing disturbs it, every member reaches the group epoch.",
        source="KIP-848, Member Epoch",
        apart="The same bound.",
    ),
    Invariant(
        name="partitions_processed",
        number="G.4 #33",
        statement="Once nothing disturbs it, every member's client owns what is assigned to it.",
        source="KIP-848, Consumer",
        apart="The same bound. What `on_partitions_assigned` threw on and is no longer assigned counts as not owned: if the next assignment is the one that was acknowledged last, the released client takes it without a callback, and leaves those partitions with the client, not fetched from.",
    ),
    Invariant(
        name="current_target",
        number="G.4",
        statement="Once nothing disturbs it, the target is whole for the topics that there are, and every expression matches what it should.",
        source="KIP-848, Group Epoch, Regex Subscriptions; `ModernGroup.hasMetadataExpired`",
        apart="The same bound, and ten seconds where members subscribe by expression. That the target is whole is unknown where `whole_target` is not asked, which `fuzz` says.",
    ),
    Invariant(
        name="application_is_heeded",
        number="G.4",
        statement="Once nothing disturbs it, a member's records say what its application subscribed to last.",
        source="`ConsumerMembershipManager`, `ConsumerHeartbeatRequestManager`",
        apart="The same bound. Not of a static member that is away. A join names no expression if there is none, so that a static member that another process had by expression keeps it: the released coordinator does so. Nor does a client whose request failed say anew that it has dropped one: the member keeps it.",
    ),
    Invariant(
        name="rebalance_timeout",
        number="G.4 #34",
        statement="No member waits in UNREVOKED_PARTITIONS longer than its rebalance timeout.",
        source="KIP-848, Rebalance Timeout",
        apart="`kip`: counted from its rebalance timer's start, since no record has it.",
    ),
    Invariant(
        name="session_timeout",
        number="G.4 #35",
        statement="No member that is silent stays longer than its session timeout.",
        source="KIP-848, Session Timeout",
        apart="A new coordinator gives every member a whole session. Commits and leaves are no sign of life.",
    ),
)
