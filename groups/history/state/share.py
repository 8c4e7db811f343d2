"""State of a share group (KIP-932), as replaying its records gives it. Its partitions may have several readers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from groups.history.state.consumer import STABLE, STATE_NAMES
from groups.history.state.epochs import ModernGroup, ModernMember, Target


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareMember(ModernMember):
    """A member as in its type 10 and type 14 records. It gives nothing up: what it reads changes at once."""

    STATE_NAMES: ClassVar[Mapping[int, str]] = STATE_NAMES

    state: int | None = STABLE


@dataclass(frozen=True, kw_only=True)
class ShareGroup(ModernGroup):
    """The group, and which partitions have a share state (type 15): only those are given to members.

    ``initializing`` and ``initialized`` are topic id → partitions, ``deleting`` the ids of topics whose state goes.
    """

    members: Mapping[str, ShareMember] = field(default_factory=dict)
    initializing: Target = field(default_factory=dict)
    initialized: Target = field(default_factory=dict)
    deleting: tuple[str, ...] = ()
