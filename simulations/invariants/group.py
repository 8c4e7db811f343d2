"""The group as in its records: members, who holds which partition, and which instance is whose."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Self

from groups.history.entries import Entry
from groups.history.payloads.records import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
)
from simulations.invariants.model import STABLE, Held, Member, listed


class Group:
    """Takes records and judges nothing. ``touched`` are members as they were before the last unit, ``None`` if absent.

    ``replaced`` are those whose instance another member, or the same one, took over in the last unit.
    """

    def __init__(self, first_epoch: int) -> None:
        self.members: dict[str, Member] = {}
        self.touched: dict[str, Member | None] = {}
        self.replaced: dict[str, str] = {}
        self.epoch = first_epoch
        self.epoch_wrote = 0
        self.holders: dict[Held, set[str]] = {}
        self.stable_at: Counter[int] = Counter()
        self._first_epoch = first_epoch
        self._instances: dict[str, str] = {}

    def copy(self) -> Self:
        """The group as it is, to go on along another way."""
        other = copy(self)
        other.members, other.touched = dict(self.members), dict(self.touched)
        other.replaced = dict(self.replaced)
        other.holders = {held: set(names) for held, names in self.holders.items()}
        other.stable_at, other._instances = self.stable_at.copy(), dict(self._instances)
        return other

    def begin_unit(self) -> None:
        self.touched, self.replaced = {}, {}

    def new_epoch(self, entry: Entry, value: ConsumerGroupMetadataValue | None) -> None:
        if value is None:
            self.epoch, self.epoch_wrote = self._first_epoch, 0
        else:
            self.epoch, self.epoch_wrote = value["epoch"], entry.sequence

    def subscribes(
        self, entry: Entry, name: str, value: ConsumerGroupMemberMetadataValue | None
    ) -> Member | None:
        """A type 5 record; the member after it."""
        old = self._touch(name)
        if value is None:
            if old is not None:
                self._replace(name, None)
            return None
        member = old.copy() if old is not None else Member(wrote=entry.sequence)
        member.names = frozenset(value["subscribedTopicNames"])
        member.regex = value.get("subscribedTopicRegex") or ""
        member.instance = value.get("instanceId")
        member.rebalance_timeout_ms = value.get("rebalanceTimeoutMs", -1)
        if member.instance is not None:
            holder = self._instances.get(member.instance)
            if old is None and holder in self.touched:
                # A replacement takes over what its predecessor had.
                self.replaced[name] = holder
                self.touched[name] = self.touched[holder]
            elif holder is not None and holder != name and holder in self.members:
                self.replaced[name] = holder
            self._instances[member.instance] = name
        self._replace(name, member)
        return member

    def holds(
        self, entry: Entry, name: str, value: ConsumerGroupCurrentMemberAssignmentValue | None
    ) -> Member:
        """A type 8 record; the member after it."""
        member = (self._touch(name) or Member()).copy()
        member.wrote = entry.sequence
        if value is None:
            member.assigned, member.pending, member.state = {}, {}, STABLE
        else:
            member.epoch, member.previous = value["memberEpoch"], value["previousMemberEpoch"]
            member.state = value.get("state")
            member.assigned = listed(value["assignedPartitions"])
            member.pending = listed(value.get("partitionsPendingRevocation") or ())
        self._replace(name, member)
        return member

    def _touch(self, name: str) -> Member | None:
        member = self.members.get(name)
        self.touched.setdefault(name, member)
        return member

    def _replace(self, name: str, new: Member | None) -> None:
        old = self.members.pop(name, None)
        if old is not None:
            if old.state == STABLE:
                self.stable_at[old.epoch] -= 1
            for held in old.held():
                holders = self.holders[held]
                holders.discard(name)
                if not holders:
                    del self.holders[held]
        if new is None:
            return
        self.members[name] = new
        if new.state == STABLE:
            self.stable_at[new.epoch] += 1
        for held in new.held():
            self.holders.setdefault(held, set()).add(name)
