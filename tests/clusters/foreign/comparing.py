"""Brackets: Kafka's own tool, what the app shows of a group in each of its two ways, the tool again.

Where both answers of the tool are equal, row and board must show the same. The app learns of a change a moment later: what differs is
looked at again until it is equal (late), the tool has another answer (undecided), or ``DIFFERENT_S`` are over (different).
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.error import HTTPError

from tests.clusters.releases.sampling import RESTING, facts_of
from tests.clusters.releases.tool import GroupFacts, MemberFacts, Tool, differences
from tests.serving import Served

DIFFERENT_S: Final = 15.0
"""A watched group is described several times a second while it rebalances, every few seconds at rest."""

LOOK_AGAIN_S: Final = 0.2


@dataclass(slots=True)
class Comparer:
    """One broker's groups in the app, next to the tool of its release."""

    served: Served
    tool: Tool
    clusters: Mapping[str, str]
    """Way (followed, polled) → the cluster's id."""

    equal: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By group and state."""

    late_s: list[tuple[float, str]] = field(default_factory=list)
    undecided: list[tuple[float, str]] = field(default_factory=list)
    different: list[str] = field(default_factory=list)

    def bracket(self, group: str) -> bool:
        """Compares the group once it is as the tool has it; returns whether it was decided and equal."""
        first_s, theirs = time.monotonic(), self.tool.facts(group)
        if theirs is None:
            # Before its first member and after its deletion there is neither a group nor a row.
            return not any(self.row(cluster, group) for cluster in self.clusters.values())
        was: list[str] = []
        while True:
            found = self.differences(group, theirs)
            now = time.monotonic()
            # What differs is compared with what the tool prints now: the group may have changed meanwhile.
            if self.tool.facts(group) != theirs:
                if was:
                    self.undecided.append((now - first_s, "; ".join(was)))
                return False
            if not found:
                self.equal[group, theirs.state] += 1
                if was:
                    self.late_s.append((now - first_s, f"{group}: {'; '.join(was)}"))
                return True
            if now - first_s > DIFFERENT_S:
                self.different.append(f"{group}, {theirs.state}: {'; '.join(found)}")
                return False
            was = was or found
            time.sleep(LOOK_AGAIN_S)

    def look(self, group: str) -> list[str]:
        """What differs at this moment, without patience."""
        theirs = self.tool.facts(group)
        return ["the tool has no answer"] if theirs is None else self.differences(group, theirs)

    def differences(self, group: str, theirs: GroupFacts) -> list[str]:
        """What either way shows otherwise than the tool, and what the two rows do not agree in."""
        found = []
        rows = {}
        for way, cluster in self.clusters.items():
            row = rows[way] = self.row(cluster, group)
            if row is None:
                found.append(f"{way}: no row")
                continue
            found += [f"{way} row: {each}" for each in row_differences(row, theirs)]
            board = self.ask(f"/api/timelines/{row['timeline']}/frame") if row["timeline"] else None
            if board is None:
                found.append(f"{way}: no board")
                continue
            found += [f"{way} board: {each}" for each in board_differences(board, theirs)]
        return found

    def row(self, cluster: str, group: str) -> dict[str, Any] | None:
        listed = self.ask(f"/api/clusters/{cluster}/groups") or []
        return next((each for each in listed if each["group"] == group), None)

    def ask(self, address: str) -> Any:
        try:
            with self.served.open(address) as answer:
                return json.load(answer)
        except HTTPError as refused:
            with refused:
                # A board that is being made is answered 503; it is asked again.
                if refused.code in (404, 429, 503):
                    return None
            raise


def row_differences(row: Mapping[str, Any], theirs: GroupFacts) -> list[str]:
    """What a row of the list shows otherwise than the tool."""
    wanted: dict[str, Any] = {"state": theirs.state, "members": len(theirs.members)}
    if theirs.group_epoch is not None:
        wanted |= {"group_epoch": theirs.group_epoch, "assignment_epoch": theirs.assignment_epoch}
    return [f"{name}: {row[name]}, tool {value}" for name, value in wanted.items() if row[name] != value]


def board_differences(board: dict[str, Any], theirs: GroupFacts) -> list[str]:
    """What a group's board shows otherwise than the tool.

    Outside of its resting states a classic group's answer has no assignment, so state and members are compared alone.
    """
    ours = facts_of(board)
    if (theirs.group_epoch is None or board["protocol"] == "classic") and theirs.state not in RESTING:
        ours, theirs = (
            GroupFacts(facts.state, dict.fromkeys(facts.members, MemberFacts(frozenset())))
            for facts in (ours, theirs)
        )
    return differences(ours, theirs)
