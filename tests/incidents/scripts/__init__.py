"""The incidents: what each script does to its clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from tests.incidents.facts import Protocol
from tests.incidents.stage import Stage

from . import classics, compaction, deaths, deploys, migrations, quiet, slow


class Incident(NamedTuple):
    """A script, and how it is announced. ``done`` is the script's own docstring."""

    title: str
    protocol: Protocol
    play: Callable[[Stage], None]
    settings: Mapping[str, object] = MappingProxyType({})
    """Of the broker, beside those of all incidents: such an incident has a broker to itself."""

    @property
    def done(self) -> str:
        return " ".join((self.play.__doc__ or "").split())


INCIDENTS: dict[str, Incident] = {
    "kill-one": Incident("kill -9 of one client", "consumer", deaths.kill_one),
    "kill-two": Incident("kill -9 of two clients", "consumer", deaths.kill_two),
    "flapping-kills": Incident(
        "Flapping: the owner is killed again and again", "consumer", deaths.flapping_kills
    ),
    "freeze": Incident("A client is frozen for longer than its session", "consumer", deaths.freeze),
    "pause": Incident("A client is frozen for less than its session", "consumer", deaths.pause),
    "crash-loop": Incident("A client crashes in a loop", "consumer", deaths.crash_loop),
    "poll-overrun": Incident("Polls that are overdue, again and again", "consumer", slow.poll_overrun),
    "slow-revocation": Incident("A revocation that takes 8 s", "consumer", slow.slow_revocation),
    "rolling-dynamic": Incident("Rolling deploy of dynamic members", "consumer", deploys.rolling_dynamic),
    "rolling-static": Incident("Rolling deploy of static members", "consumer", deploys.rolling_static),
    "migration-both-ways": Incident(
        "To the consumer protocol and back, online", "both", migrations.migration_both_ways
    ),
    "eager-restart": Incident("A restart in an eager classic group", "classic", classics.eager_restart),
    "compaction": Incident("A compacted log", "consumer", compaction.compaction, compaction.CLEANING),
    "quiet-hour": Incident("A quiet hour", "consumer", quiet.quiet_hour),
}
"""Name (the group's, too) → what is played."""
