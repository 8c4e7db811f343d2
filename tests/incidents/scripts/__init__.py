"""The incidents: what each script does to its clients."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from tests.incidents.facts import Protocol
from tests.incidents.stage import Stage

from . import (
    brokers,
    classics,
    compaction,
    connects,
    deaths,
    deploys,
    early,
    growth,
    migrations,
    positions,
    quiet,
    scaling,
    seats,
    slow,
    topics,
    upgrades,
)


class Incident(NamedTuple):
    """A script, and how it is announced. ``done`` is the script's own docstring."""

    title: str
    protocol: Protocol
    play: Callable[[Stage], None]
    settings: Mapping[str, object] = MappingProxyType({})
    """Of the broker, beside those of all incidents."""
    alone: bool = False
    """It stops the broker."""

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
    "static-kill": Incident("kill -9 of a static member", "consumer", deaths.static_kill),
    "librdkafka-kill": Incident("kill -9 of a client of librdkafka", "consumer", deaths.librdkafka_kill),
    "classic-overrun": Incident(
        "Polls that are overdue, in a classic group", "classic", slow.classic_overrun
    ),
    "topic-grown": Incident("A topic grows", "consumer", topics.topic_grown),
    "topic-deleted": Incident("A topic is deleted and made anew", "consumer", topics.topic_deleted),
    "regex-topic": Incident("A regular expression meets a new topic", "consumer", topics.regex_topic),
    "scale-up": Incident("From two clients to six", "consumer", scaling.scale_up),
    "twin-instances": Incident("Two processes with one group.instance.id", "classic", seats.twin_instances),
    "coordinator-restart": Incident(
        "The coordinator restarts", "consumer", brokers.coordinator_restart, alone=True
    ),
    "cooperative-scale-up": Incident(
        "A cooperative classic group grows", "classic", scaling.cooperative_scale_up
    ),
    "classic-kill": Incident("kill -9 in an eager classic group", "classic", classics.classic_kill),
    "commits-on-move": Incident("Clients that commit only what moved", "consumer", quiet.commits_on_move),
    "dry-topic": Incident("A topic to which nothing is written for a minute", "consumer", quiet.dry_topic),
    "pauses": Incident("A client is frozen for 3 s, three times", "consumer", deaths.pauses),
    "scale-down": Incident("From four clients to two", "consumer", scaling.scale_down),
    "deploy-with-kill": Incident(
        "A deploy in which one client is killed", "consumer", deploys.deploy_with_kill
    ),
    "rolling-classic-static": Incident(
        "Rolling deploy of static members of a classic group", "classic", deploys.rolling_classic_static
    ),
    "two-overruns": Incident("Polls of two clients that are overdue", "consumer", slow.two_overruns),
    "group-reborn": Incident("A group is deleted and made again", "consumer", scaling.group_reborn),
    "flapping-leaves": Incident(
        "Flapping: two clients leave and come back", "consumer", scaling.flapping_leaves
    ),
    "quiet-hour": Incident("A quiet hour", "consumer", quiet.quiet_hour),
    "kip429-upgrade": Incident(
        "From range to cooperative-sticky in two rounds", "classic", upgrades.kip429_upgrade
    ),
    "kip429-static": Incident(
        "Static members from range to cooperative-sticky", "classic", upgrades.kip429_static
    ),
    "strategy-rolled-back": Incident(
        "From cooperative-sticky back to range", "classic", upgrades.strategy_rolled_back
    ),
    "strategy-restart": Incident(
        "A stop, and a start with another assignor", "classic", upgrades.strategy_restart
    ),
    "to-consumer": Incident("To the consumer protocol, online", "both", upgrades.to_consumer),
    "to-classic": Incident("Back to the classic protocol, online", "both", upgrades.to_classic),
    "two-deploys": Incident("Two deploys, one after the other", "consumer", upgrades.two_deploys),
    "early-kill": Incident("kill -9 in a group that has just formed", "consumer", early.early_kill),
    "early-leave": Incident("A leave in a group that has just formed", "classic", early.early_leave),
    "late-member": Incident("A member that comes late", "consumer", early.late_member),
    "kill-then-quiet": Incident("kill -9, and nothing since", "consumer", early.kill_then_quiet),
    "leave-after-commit": Incident("A leave 0.8 s after a commit", "classic", early.leave_after_commit),
    "overrun-no-return": Incident("A poll that never comes", "classic", early.overrun_no_return),
    "idle-classic": Incident("More members than partitions", "classic", growth.idle_classic),
    "idle-consumer": Incident("A new partition for an idle member", "consumer", growth.idle_consumer),
    "grown-classic": Incident("A topic of a classic group grows", "classic", growth.grown_classic),
    "regex-librdkafka": Incident(
        "A regular expression of librdkafka meets a new topic", "classic", growth.regex_librdkafka
    ),
    "regex-two-topics": Incident(
        "A regular expression meets two new topics", "consumer", growth.regex_two_topics
    ),
    "silent-partition": Incident("A partition for which nobody commits", "consumer", growth.silent_partition),
    "aborted-transactions": Incident("Aborted transactions", "consumer", positions.aborted_transactions),
    "transaction-timeout": Incident(
        "A transaction that times out", "consumer", positions.transaction_timeout
    ),
    "open-transaction": Incident("A transaction without an end", "consumer", positions.open_transaction),
    "offsets-reset": Incident("An administrator sets offsets back", "consumer", positions.offsets_reset),
    "connect-grows": Incident("A third Kafka Connect worker", "classic", connects.connect_grows),
    "connect-leader-leaves": Incident(
        "The leader of Kafka Connect's workers leaves", "classic", connects.connect_leader_leaves
    ),
}
"""Name (the group's, too) → what is played."""
