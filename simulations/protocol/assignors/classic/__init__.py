"""The assignors of the classic protocol, which the leader's client runs."""

from simulations.protocol.assignors.classic.cooperative_sticky import CooperativeStickyAssignor
from simulations.protocol.assignors.classic.range import RangeAssignor
from simulations.protocol.assignors.classic.roundrobin import RoundRobinAssignor
from simulations.protocol.assignors.classic.sticky import StickyAssignor
