"""The assignors of the classic protocol, which the leader's client runs."""

from __future__ import annotations

from simulations.assignors.classic.cooperative_sticky import CooperativeStickyAssignor
from simulations.assignors.classic.range import RangeAssignor
from simulations.assignors.classic.roundrobin import RoundRobinAssignor
from simulations.assignors.classic.sticky import StickyAssignor

__all__ = ["CooperativeStickyAssignor", "RangeAssignor", "RoundRobinAssignor", "StickyAssignor"]
