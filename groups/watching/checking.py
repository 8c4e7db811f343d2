"""A followed group, compared with what its coordinator says when it is asked: a pull checks, it never folds.

Who reads the log is mostly ahead of who asks. So an answer counts as different only when the log, read to its end,
does not come to say the same within seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from groups.history.polls.description import UNSTABLE, GroupDescription, GroupKind
from groups.watching.log_storing import LogStore
from groups.watching.pulling import Round
from groups.watching.recorders import Epochs
from groups.watching.rows import row_of

DIFFERS_AFTER_MS: Final = 5_000
"""A follower is some milliseconds behind its leader, a suspended one longer; what is different for so long is so."""

KINDS: Final = frozenset({GroupKind.CONSUMER, GroupKind.SHARE, GroupKind.STREAMS})
"""Groups that have epochs; of a classic one an answer tells neither generation nor, outside Stable, assignment."""


@dataclass(slots=True)
class Checks:
    """``equal`` and ``different`` count answers that were compared in the end."""

    store: LogStore
    equal: int = 0
    different: int = 0
    _waiting: dict[str, tuple[GroupDescription, int]] = field(default_factory=dict)

    def take(self, seen: Round, *, at_end: bool) -> list[dict[str, Any]]:
        """Compare a round's answers; the rows that changed. ``at_end``: whether the log is read to its end."""
        for name, told in seen.told.items():
            if isinstance(told, GroupDescription) and told.kind in KINDS:
                self._waiting[name] = (told, seen.at_ms)
        for name, (told, at_ms) in list(self._waiting.items()):
            self._compare(name, told, seen.at_ms - at_ms, at_end=at_end, now_ms=seen.at_ms)
        return [*self._phases(seen), *(self.store.lag(seen.lag) if seen.lag is not None else ())]

    def _compare(
        self, name: str, told: GroupDescription, waited_ms: int, *, at_end: bool, now_ms: int
    ) -> None:
        followed = self.store.followed.get(name)
        known = followed.epochs if followed is not None else None
        if known is None:
            # Nothing of it was folded by this process: its row says what its timeline does.
            del self._waiting[name]
            return
        if known == described_epochs(told):
            del self._waiting[name]
            self.equal += 1
            return
        ahead = (known[0] or 0, known[1] or 0) > (
            told.group_epoch or 0,
            told.assignment_epoch or 0,
        )
        if ahead:
            # An answer of before: the next one is compared.
            del self._waiting[name]
        elif at_end and waited_ms >= DIFFERS_AFTER_MS:
            del self._waiting[name]
            self.different += 1
            self.store.say(name, _says(known, told), now_ms)

    def _phases(self, seen: Round) -> list[dict[str, Any]]:
        """A classic group's joining and syncing leave no record: its row says them as they are listed."""
        changed = []
        for name, listed in seen.listing.groups.items():
            followed = self.store.followed.get(name)
            if followed is None or listed.kind is not GroupKind.CLASSIC or followed.row.state == listed.state:
                continue
            row, rebalancing = followed.row, listed.state in UNSTABLE
            since_ms = followed.facts.get("since_ms") if followed.facts.get("rebalancing") else seen.at_ms
            followed.facts = followed.facts | {
                "rebalancing": rebalancing,
                "since_ms": since_ms if rebalancing else None,
            }
            row.kind, row.state, row.facts = GroupKind.CLASSIC.value, listed.state, followed.facts
            row.save(update_fields=["kind", "state", "facts", "changed"])
            changed.append(row_of(row))
        return changed


def described_epochs(told: GroupDescription) -> Epochs:
    return (
        told.group_epoch,
        told.assignment_epoch,
        {each.member_id: each.epoch for each in told.members},
    )


def _says(known: Epochs, told: GroupDescription) -> str:
    epoch, assignment_epoch, members = known
    return (
        f"The coordinator says group epoch {told.group_epoch}, assignment epoch {told.assignment_epoch} and "
        f"{len(told.members)} members; the log has told {epoch}, {assignment_epoch} and {len(members)}"
    )
