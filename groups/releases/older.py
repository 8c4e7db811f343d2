"""Rules that separate the releases before those that are simulated, for sentences; ``docs/reference/releases.md`` has both sides of each.

The simulated coordinator has none of the older side, so these are no fields of ``Rules``.
"""

from __future__ import annotations

from typing import Final

from groups.releases.table import TABLE

OLDER: Final = {
    "epoch_has_metadata_hash": "4.1",
    "dropped_regex_bumps": "4.1.2",
    "commit_by_topic_id": "4.2",
    "rejoining_member_accepted": "4.2",
    "target_cut_to_subscription": "4.2",
    "revoked_goes_to_target_epoch": "4.2",
    "first_epoch_is_two": "4.3",
    "commit_by_name_has_topic_id": "4.3",
    "target_has_time": "4.3",
    "assignment_epochs": "4.3",
    "classic_told_by_target_epoch": "4.3",
    "deletion_by_topic_id": "4.3",
}
"""The rules that begin with 4.1 to 4.3, each with its first release, the earlier first."""

_SINCE: Final = OLDER | {rule.name: rule.since for rule in TABLE}


def since(rule: str) -> str:
    """The first release that follows a rule, for a sentence; ``KeyError`` for a name that no table has."""
    return _SINCE[rule]
