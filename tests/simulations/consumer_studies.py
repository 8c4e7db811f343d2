"""The case studies whose members all speak the consumer protocol all the time: what the consumer group's checker and tables are about.

Where a feature is lowered, brokers refuse on purpose: ``test_brokers`` has those.
"""

from __future__ import annotations

from simulations.world import studies
from simulations.world.scenario import Verb

CONSUMER_STUDIES = [
    name
    for name in studies.names()
    for study in [studies.load(name)]
    if all(member.classic is None for member in study.members.values())
    if not any(
        action.verb is Verb.DOWNGRADE_FEATURE or action.changes.get("protocol") == "classic"
        for action in study.script
    )
]
