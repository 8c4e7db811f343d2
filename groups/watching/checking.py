"""A followed group and its coordinator's answers: they are the source of its row, and its log is compared with them.

The log is mostly ahead of the answers. So an answer counts as different only when the log, read to its end, does not contain
the same within seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from groups.clusters.faults import ClusterError
from groups.history.polls.description import (
    GROUP_AUTHORIZATION_FAILED,
    MOVING,
    TOPIC_AUTHORIZATION_FAILED,
    DescribedGroup,
    GroupDescription,
    GroupKind,
)
from groups.history.polls.recording import Condition
from groups.watching.followed import Epochs
from groups.watching.group_row import GroupRow
from groups.watching.log_storing import LogStore
from groups.watching.pulling import Round
from groups.watching.row_facts import GroupView, view_of_description
from groups.watching.rows import row_of

DIFFERS_AFTER_MS: Final = 5_000
"""A follower is some milliseconds behind its leader, a suspended one longer; what is different for so long is so."""

KINDS: Final = frozenset({GroupKind.CONSUMER, GroupKind.SHARE, GroupKind.STREAMS})
"""Groups that have epochs; of a classic one an answer reports neither generation nor, outside Stable, assignment."""

OBSERVED_AT_ONCE: Final = 200
"""Phases that are stored in one round: to store a group takes some 10 ms, and records must not wait behind them for long."""

REFUSED: Final = frozenset({GROUP_AUTHORIZATION_FAILED, TOPIC_AUTHORIZATION_FAILED})


@dataclass(slots=True)
class Checks:
    """``equal`` and ``different`` count answers that were compared in the end."""

    store: LogStore
    equal: int = 0
    different: int = 0
    _waiting: dict[str, tuple[GroupDescription, int]] = field(default_factory=dict)
    _views: dict[str, GroupView | None] = field(default_factory=dict)
    """The newest answers, until the log was read to its end: before that, rows are what the log reports."""

    _phases: dict[str, GroupDescription] = field(default_factory=dict)
    """The newest descriptions of classic groups, until what they add to the log is stored."""

    _caught_up: bool = False

    def take(
        self, seen: Round, *, at_end: bool, skews: Mapping[int, int] = MappingProxyType({})
    ) -> list[GroupRow]:
        """Take a round's answers; the rows that changed. ``at_end``: whether the log is read to its end.

        ``skews``: by partition how far its broker's clock is ahead of the watcher's, as far as it was measured.
        """
        self.store.session_timeouts = seen.settings
        for followed in list(self.store.groups.values()):
            followed.skew_ms = skews.get(followed.source.partition)
        for name, answer in seen.answers.items():
            if isinstance(answer, GroupDescription) and answer.kind in KINDS:
                self._waiting[name] = (answer, seen.at_ms)
        for name, (answer, at_ms) in list(self._waiting.items()):
            self._compare(name, answer, seen.at_ms - at_ms, at_end=at_end, now_ms=seen.at_ms)
        return [*self._rows(seen, at_end=at_end), *(self.store.lag(seen.lag) if seen.lag is not None else ())]

    def _rows(self, seen: Round, *, at_end: bool) -> list[GroupRow]:
        """Bring the rows up to date with the coordinators' answers; those that changed."""
        self._caught_up = self._caught_up or at_end
        for name, answer in seen.answers.items():
            if isinstance(answer, GroupDescription):
                self._views[name] = view_of_description(answer)
                if answer.kind is GroupKind.CLASSIC:
                    self._phases[name] = answer
            elif not isinstance(answer, ClusterError) and answer.code in REFUSED:
                self._views[name] = None
        changed = []
        for name, followed in list(self.store.groups.items()):
            row = followed.row
            if row.condition == Condition.DELETED:
                # An answer of before its end is not one of its next life.
                self._views.pop(name, None)
                self._phases.pop(name, None)
                continue
            if not followed.source.has_begun:
                continue
            is_new = self._caught_up and name in self._views
            if is_new:
                followed.described = self._views.pop(name)
            is_stirred = followed.stirred_ms is not None and followed.stirred_ms < seen.at_ms
            if is_stirred:
                followed.stirred_ms = None
            before = row.condition
            if name in seen.answers:
                row.condition = _condition(seen.answers[name], row.condition)
            is_other = (is_new or is_stirred) and followed.look(seen.at_ms)
            followed.looked_ms = seen.at_ms
            if is_other or row.condition != before:
                row.save(update_fields=["kind", "state", "condition", "facts", "changed"])
                changed.append(row_of(row))
        if self._caught_up:
            self._observe(seen.at_ms)
        return changed

    def _observe(self, now_ms: int) -> None:
        """Store the phases of classic groups, which leave no record."""
        new: dict[str, GroupDescription] = {}
        for name, description in list(self._phases.items()):
            followed = self.store.groups.get(name)
            if followed is None or not followed.source.has_begun:
                continue
            if followed.stirred_ms is not None:
                # A record came after the answer: the next answer is newer than both.
                continue
            del self._phases[name]
            if followed.source.phases.differs(description):
                new[name] = description
            if len(new) == OBSERVED_AT_ONCE:
                break
        if new:
            self.store.observe(new, now_ms)

    def _compare(
        self, name: str, description: GroupDescription, waited_ms: int, *, at_end: bool, now_ms: int
    ) -> None:
        followed = self.store.groups.get(name)
        known = followed.epochs if followed is not None else None
        if known is None:
            # Nothing of it was folded by this process: its row contains what its timeline does.
            del self._waiting[name]
            return
        if known == described_epochs(description):
            del self._waiting[name]
            self.equal += 1
            return
        ahead = (known[0] or 0, known[1] or 0) > (
            description.group_epoch or 0,
            description.assignment_epoch or 0,
        )
        if ahead:
            # An answer of before: the next one is compared.
            del self._waiting[name]
        elif at_end and waited_ms >= DIFFERS_AFTER_MS:
            del self._waiting[name]
            self.different += 1
            self.store.say(name, _gap_text(known, description), now_ms)


def _condition(answer: DescribedGroup | ClusterError, condition: str) -> str:
    """Whether the group can be seen after this answer. What the rights hide of it, its log reports."""
    if isinstance(answer, ClusterError):
        return Condition.MOVING.value
    if isinstance(answer, GroupDescription) or answer.code in REFUSED:
        return Condition.SEEN.value
    return Condition.MOVING.value if answer.code in MOVING else condition


def described_epochs(description: GroupDescription) -> Epochs:
    return (
        description.group_epoch,
        description.assignment_epoch,
        {each.member_id: each.epoch for each in description.members},
    )


def _gap_text(known: Epochs, description: GroupDescription) -> str:
    epoch, assignment_epoch, members = known
    return (
        f"The coordinator says group epoch {description.group_epoch}, assignment epoch {description.assignment_epoch} and "
        f"{len(description.members)} members; the log has told {epoch}, {assignment_epoch} and {len(members)}"
    )
