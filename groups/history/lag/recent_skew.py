"""Who falls behind alone in the last minutes, of all groups of a cluster: what ``skew`` finds in a week of looks, from a few numbers a partition."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.history.lag.course import Place
from groups.history.lag.partition import Lag
from groups.history.lag.skew import LOOKS_LEAST, Skew, skews

EVERY_MS: Final = 30_000
"""Between two commits a lag rises and falls: looks are so far apart, and ``LOOKS`` of them are kept."""

LOOKS: Final = LOOKS_LEAST + 3

Owners = Mapping[Place, str]


@dataclass(slots=True)
class _Looks:
    owners: Owners
    lags: dict[Place, array[int]] = field(default_factory=dict)
    ends: dict[Place, array[int]] = field(default_factory=dict)
    found: Skew | None = None


@dataclass(slots=True)
class RecentSkew:
    """``look`` is called with each round; most rounds change nothing."""

    _groups: dict[str, _Looks] = field(default_factory=dict)
    _looked_ms: int = 0

    def is_due(self, at_ms: int) -> bool:
        """Whether this round is one of those that are kept; the others repeat what was found."""
        is_due = not 0 <= at_ms - self._looked_ms < EVERY_MS
        self._looked_ms = at_ms if is_due else self._looked_ms
        return is_due

    def of(self, group: str) -> Skew | None:
        known = self._groups.get(group)
        return known.found if known is not None else None

    def look(
        self,
        group: str,
        committed: Sequence[tuple[str, int, int]],
        ends: Mapping[str, Mapping[int, int]],
        owners: Owners,
    ) -> None:
        """Add a look: what the group committed of topics and partitions, and where these end. Other owners begin anew."""
        lags = {
            (topic, partition): (end - offset, end)
            for topic, partition, offset in committed
            if 0 <= offset <= (end := ends.get(topic, {}).get(partition, -1))
        }
        known = self._groups.get(group)
        if known is None or known.owners != owners or known.lags.keys() != lags.keys():
            known = self._groups[group] = _Looks(
                owners, {each: array("q") for each in lags}, {each: array("q") for each in lags}
            )
        if not any(lag for lag, _ in lags.values()):
            # Nobody is behind.
            self._groups.pop(group)
            return
        for place, (lag, end) in lags.items():
            known.lags[place].append(lag)
            known.ends[place].append(end)
            del known.lags[place][:-LOOKS], known.ends[place][:-LOOKS]
        found = skews(
            {place: [Lag(each, None) for each in some] for place, some in known.lags.items()},
            {place: some[-1] - some[0] for place, some in known.ends.items()},
            known.owners,
        )
        known.found = found[0] if found else None

    def keep(self, groups: Mapping[str, object]) -> None:
        """Forget all other groups."""
        self._groups = {group: known for group, known in self._groups.items() if group in groups}
