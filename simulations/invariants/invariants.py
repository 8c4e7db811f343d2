"""What a group of the consumer protocol has to keep, by name; ``docs/reference/invariants.md`` has each with its source and exceptions."""

from __future__ import annotations

from typing import Final

INVARIANTS: Final = frozenset(
    {
        # The coordinator.
        *("one_holder", "partition_epochs", "group_epochs", "member_epoch", "previous_epoch", "whole_target"),
        *("target_replayed", "stable", "unrevoked", "unreleased", "pending_is_not_assigned"),
        *("revoked_by_acknowledgement", "gained_from_target", "assignment_epochs", "one_instance"),
        *("group_state", "accepted_or_refused", "as_asked", "assignor_answers", "settings_hold"),
        *("timer_length", "expressions_go_along", "offsets_go_along", "no_anomaly", "session"),
        *("needed_timers", "memory_is_replay", "compacted_log", "dense_log", "one_batch", "lost_answer"),
        "refused_writes_nothing",
        # Clients.
        *("one_processor", "owned_is_held", "callbacks", "given_up_is_left_alone", "commit_epoch"),
        # Liveness.
        *("group_converges", "members_converge", "partitions_processed", "current_target"),
        *("application_is_heeded", "rebalance_timeout", "session_timeout"),
    }
)
