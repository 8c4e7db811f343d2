"""The rules by which releases differ: one row each, with its source and the first release that follows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

Version = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a release does, rule by rule; ``TABLE`` describes in words what each name means."""

    consumer_protocol: bool
    disabled_policy_refuses_joins: bool
    assignor_change_bumps: bool
    emptied_writes_target_epoch: bool
    full_group_admits_instances: bool
    instance_follows_member: bool
    replacement_target_only_if_changed: bool
    replaced_member_never_in_table: bool
    malformed_join_is_inconsistent: bool
    transactions_have_topic_ids: bool
    setting_out_of_range_names_it: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """``before`` is what releases do that are older than ``since``, ``now`` what the others do."""

    name: str
    since: str
    before: str
    now: str
    source: str

    @property
    def version(self) -> Version:
        return version_of(self.since)


TABLE: Final = (
    Rule(
        name="consumer_protocol",
        since="4.0",
        before="A broker serves groups of the classic protocol alone. It skips records of types that it does not know as it loads the log.",
        now="Where the feature `group.version` is 1 a broker serves the consumer protocol.",
        source="KIP-848; KIP-915",
    ),
    Rule(
        name="disabled_policy_refuses_joins",
        since="4.3.1",
        before="A JoinGroup of the classic protocol to a consumer group is accepted, whatever the migration policy is.",
        now="With `group.consumer.migration.policy` `disabled` it is answered INCONSISTENT_GROUP_PROTOCOL.",
        source="`GroupMetadataManager.classicGroupJoin`, classes of 4.3.0 and 4.3.1",
    ),
    Rule(
        name="assignor_change_bumps",
        since="4.4",
        before="When the assignor that most members ask for changes, the next target is computed by it, whenever that is.",
        now="A heartbeat that changes it raises the group epoch. The assignor before is the first in the group's table of votes, the one "
        "after the first in a copy of it in which the member's vote was withdrawn and cast again: with a tie of two those can differ, "
        "at each heartbeat again.",
        source="KAFKA-20434; measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="emptied_writes_target_epoch",
        since="4.4",
        before="When the last member goes, the target epoch stays behind the group epoch, and the next member may wait for the assignment interval.",
        now="When the last member goes, a type 6 without a time follows the type 3: the target epoch is the group epoch, and the next "
        "member's target is made at once.",
        source="measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="full_group_admits_instances",
        since="4.4",
        before="A full group refuses a static member that comes back under a new member id with GROUP_MAX_SIZE_REACHED.",
        now="A full group does not count a member whose instance id it knows.",
        source="KAFKA-20601; measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="instance_follows_member",
        since="4.4",
        before="A member that joins again under another instance id keeps the first one, too: nobody else can have it.",
        now="The first instance id is free again, and another member may have it.",
        source="KAFKA-20747; measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="replacement_target_only_if_changed",
        since="4.4",
        before="A static member's new id gets a type 7 with each target that is computed in its join.",
        now="It gets one only if its target differs from that of the id before.",
        source="measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="replaced_member_never_in_table",
        since="4.4",
        before="For a target the replaced member is put into the table of members, and removed from it again.",
        now="The replaced member is left out of the table from the beginning, so that the table may be smaller.",
        source="`TargetAssignmentBuilder`; measured with 12 static members on 4.4.0 and 4.3.1",
    ),
    Rule(
        name="malformed_join_is_inconsistent",
        since="4.4",
        before="A JoinGroup to a consumer group whose subscription cannot be read is answered UNKNOWN_SERVER_ERROR.",
        now="It is answered INCONSISTENT_GROUP_PROTOCOL.",
        source="measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="transactions_have_topic_ids",
        since="4.4",
        before="TxnOffsetCommit (up to version 5) names topics, and its records have no topic id.",
        now="Version 6 names topics by id, and answers STALE_MEMBER_EPOCH, GROUP_ID_NOT_FOUND and UNKNOWN_TOPIC_ID where older "
        "versions answer ILLEGAL_GENERATION, ILLEGAL_GENERATION and UNKNOWN_TOPIC_OR_PARTITION. Records of every version have the topic id.",
        source="measured on 4.4.0 with 4.3.1 as control",
    ),
    Rule(
        name="setting_out_of_range_names_it",
        since="4.4",
        before="A group's setting outside the broker's bounds is refused with the name of the broker's setting that it breaks.",
        now="It is refused with the range: `consumer.session.timeout.ms must be in the range 45000 to 60000 inclusive.`",
        source="`GroupConfig.validateValues`, classes of 4.3.1 and 4.4.0",
    ),
)


def version_of(release: str) -> Version:
    """``4.3.1`` as numbers that compare."""
    return tuple(map(int, release.split(".")))


def rules_of(release: str) -> Rules:
    """The rules that a release follows: those of the rows that begin with it or before."""
    version = version_of(release)
    return Rules(**{rule.name: rule.version <= version for rule in TABLE})
