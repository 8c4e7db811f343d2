"""Mistakes in what a roll and ``group.version`` do to groups: runs of the preset ``rolling`` find them."""

from __future__ import annotations

from typing import Final

from tests.simulations.mutations.mutation import mutation as _m

SIMULATION: Final = "simulations/world/engine/simulation.py"
CLUSTER: Final = "simulations/world/engine/cluster.py"
BROKERS: Final = "simulations/world/engine/brokers.py"
RELEASED: Final = "simulations/protocol/coordinator/consumer/released/coordinator.py"
PROPOSAL: Final = "simulations/protocol/coordinator/consumer/proposal/coordinator.py"

_MOVES: Final = "            self.fail_over(crash=False, lost=0, loading_ms=loading_ms)\n"

BROKER_MUTATIONS: Final = (
    _m(
        "roll-forgets-members",
        SIMULATION,
        _MOVES,
        f"            self.cluster.committed = type(self.cluster.committed)()\n{_MOVES}",
        "who takes a group over from a broker that is rolled does not know its members",
    ),
    _m(
        "roll-forgets-one-member",
        SIMULATION,
        _MOVES,
        """            gone = next(iter(self.shard.state.consumer.members), None)
            kept = [each for each in self.cluster.committed._records if each["key"].get("memberId") != gone]
            self.cluster.committed._records = kept
"""
        + _MOVES,
        "who takes a group over from a broker that is rolled does not know its first member",
    ),
    _m(
        "roll-keeps-coordinator",
        SIMULATION,
        "        if broker is self.cluster.coordinator:\n",
        "        if False:\n",
        "a broker that is down is still the coordinator",
    ),
    _m(
        "lowered-ends-members",
        RELEASED,
        """their sessions end.\"""
        return Outcome(answer=None)
""",
        """their sessions end.\"""
        from simulations.protocol.coordinator.consumer.proposal import disabling

        return disabling.lost(context)
""",
        "a lowered feature ends the group with its members at once, in the release",
    ),
    _m(
        "lowered-serves-on",
        SIMULATION,
        "self.cluster.group_version, level\n",
        "self.cluster.group_version, max(level, self.cluster.group_version)\n",
        "heartbeats are answered as if the feature had not been lowered",
    ),
    _m(
        "raised-refuses-on",
        SIMULATION,
        "self.cluster.group_version, level\n",
        "self.cluster.group_version, min(level, self.cluster.group_version)\n",
        "heartbeats are refused though the feature was raised again",
    ),
    _m(
        "lowered-refuses-commits",
        BROKERS,
        "not isinstance(request, OF_CONSUMER_PROTOCOL)",
        "not hasattr(request, 'member_epoch')",
        "a lowered feature refuses commits, too",
    ),
    _m(
        "old-release-serves",
        BROKERS,
        "serves = group_version > 0 and self.release.rules.consumer_protocol",
        "serves = group_version > 0 or not self.release.rules.consumer_protocol",
        "a broker that does not know the consumer protocol answers its heartbeats",
    ),
    _m(
        "kip-lost-group-stays-classic",
        PROPOSAL,
        "return replace(outcome, records=(gone, *outcome.records))",
        "return outcome if gone else outcome",
        "a coordinator goes on with the empty classic group in whose place a consumer group began",
    ),
    _m(
        "kip-loaded-group-stays",
        CLUSTER,
        "            if not self.group_version:\n",
        "            if False:\n",
        "a group that was loading when the feature was lowered is not lost, in the proposal",
    ),
)
