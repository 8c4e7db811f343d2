"""Rules that separate the releases before those that are simulated: what their brokers do otherwise, for readers and for sentences.

The simulated coordinator has none of the ``before`` side, so these are no fields of ``Rules``.
"""

from __future__ import annotations

from typing import Final

from groups.releases.table import TABLE, Rule

_CLASSES: Final = "the group coordinator's classes of 4.0.2, 4.1.2, 4.2.1 and 4.3.0"
_MEASURED: Final = "measured on 4.0.2, 4.1.2, 4.2.1, 4.3.0, 4.3.1 and 4.4.0"

OLDER: Final = (
    Rule(
        name="epoch_has_metadata_hash",
        since="4.1",
        before="The topics' partitions are written down as a type 4, and a type 3 has no hash.",
        now="A type 3 has a hash of the topics; a type 4 is only ever a tombstone.",
        source=_MEASURED,
    ),
    Rule(
        name="dropped_regex_bumps",
        since="4.1.2",
        before="A member that drops its regular expression raises no group epoch, where the same topics stay subscribed to.",
        now="It raises the group epoch.",
        source="KAFKA-19899; " + _MEASURED + ", and on 4.1.0 and 4.1.1",
    ),
    Rule(
        name="commit_by_topic_id",
        since="4.2",
        before="OffsetCommit and OffsetFetch are offered up to version 9, and an offset's record has no topic id.",
        now="Version 10 of both names topics by id. Such a commit's record has the id, and a fetch by id compares it.",
        source=_MEASURED,
    ),
    Rule(
        name="rejoining_member_accepted",
        since="4.2",
        before="A dynamic member that joins with epoch 0 while the group has it at another epoch may be fenced, again and again.",
        now="Epoch 0 of a known member is accepted.",
        source="KAFKA-19233; " + _MEASURED,
    ),
    Rule(
        name="target_cut_to_subscription",
        since="4.2",
        before="A member keeps partitions of topics that it no longer subscribes to until the next target.",
        now="A member's target is cut to what it subscribes to when it is reconciled.",
        source="KAFKA-19431; "
        + _CLASSES
        + ", not measured: until 4.2 each change of a subscription has its target in the same request",
    ),
    Rule(
        name="revoked_goes_to_target_epoch",
        since="4.2",
        before="A member that acknowledges a revocation, and has more to revoke by then, goes to the epoch after its own.",
        now="It stays at its epoch while it has more to revoke, and then goes to the target's.",
        source="KAFKA-19974; " + _MEASURED,
    ),
    Rule(
        name="first_epoch_is_two",
        since="4.3",
        before="A group's first epoch is 1, and a member that joins with epoch 0 raises it, whatever it subscribes to.",
        now="The first epoch that is written is 2, and a member that subscribes to nothing raises none.",
        source=_MEASURED,
    ),
    Rule(
        name="commit_by_name_has_topic_id",
        since="4.3",
        before="The record of a commit that names its topic by name (OffsetCommit up to 9) has no topic id.",
        now="It has the topic's id, too.",
        source=_MEASURED,
    ),
    Rule(
        name="target_has_time",
        since="4.3",
        before="A target is computed with the heartbeat that raises the epoch, and a type 6 has no time.",
        now="Targets are computed one assignment interval apart at least, and a type 6 has the time.",
        source=_MEASURED,
    ),
    Rule(
        name="assignment_epochs",
        since="4.3",
        before="A commit with an older member epoch is refused with STALE_MEMBER_EPOCH.",
        now="A type 8 has for each partition the epoch since which the member has it, and a commit is accepted with any epoch from then on.",
        source="KIP-1251; " + _MEASURED,
    ),
    Rule(
        name="classic_told_by_target_epoch",
        since="4.3",
        before="A classic member of a consumer group is answered REBALANCE_IN_PROGRESS as soon as the group epoch is ahead of it.",
        now="It is answered so when the target's epoch is ahead of it.",
        source="KAFKA-20272; " + _MEASURED,
    ),
    Rule(
        name="deletion_by_topic_id",
        since="4.3",
        before="When a topic is deleted, all offsets of its name are.",
        now="Only the offsets of its id are deleted.",
        source=_CLASSES + ", not measured: one broker keeps no offset of another topic of the same name",
    ),
)
"""The rules that begin with 4.1 to 4.3, the earlier first."""

_SINCE: Final = {rule.name: rule.since for rule in (*OLDER, *TABLE)}


def since(rule: str) -> str:
    """The first release that follows a rule, for a sentence; ``KeyError`` for a name that no table has."""
    return _SINCE[rule]
