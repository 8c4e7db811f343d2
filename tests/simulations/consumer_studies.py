"""The case studies whose members all speak the consumer protocol: what the consumer group's checker and tables are about."""

from __future__ import annotations

from simulations.world import studies

CONSUMER_STUDIES = [
    name
    for name in studies.names()
    if all(member.classic is None for member in studies.load(name).members.values())
]
