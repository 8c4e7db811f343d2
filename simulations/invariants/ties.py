"""Group epochs without a cause: in releases that bump for a change of the preferred assignor, a tie of two raises them for ever."""

from __future__ import annotations

from collections import Counter
from typing import Final

from groups.history.entries import Entry
from groups.history.state.group import State

GROUP_EPOCH: Final = 3
CAUSES: Final = frozenset({5, 16})
"""Records of what a member subscribes to, and of what an expression matches: with them an epoch has a cause."""


class AssignorTies:
    """``goes_on``: the last group epoch came without a cause, and the votes have been tied since then."""

    def __init__(self) -> None:
        self.goes_on = False
        self._hash: int | None = None
        self._raises = False
        self._has_cause = False

    def record(self, entry: Entry, state: State) -> None:
        payload = entry.payload
        value, record_type = payload["value"], payload["type"]
        if value is None or record_type in CAUSES:
            self._has_cause = True
        elif record_type == GROUP_EPOCH:
            before, self._hash = self._hash, value.get("metadataHash", 0)
            self._raises = True
            self._has_cause = self._has_cause or before != self._hash
        if not entry.settled:
            return
        if self._raises:
            self.goes_on = not self._has_cause and state.release.rules.assignor_change_bumps
        elif self._has_cause:
            # A classic member that joins again writes its record, and the votes are what they were.
            self.goes_on = self.goes_on and _is_tied(state)
        self._raises = self._has_cause = False


def _is_tied(state: State) -> bool:
    members = state.consumer.members.values()
    votes = Counter(each.server_assignor for each in members if each.server_assignor is not None)
    first = votes.most_common(2)
    return len(first) == 2 and first[0][1] == first[1][1]
