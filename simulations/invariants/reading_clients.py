"""Clients that show what they read: is it what their callbacks have handed over, and do they stop when they cannot?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groups.history.entries import Entry, Payload
from simulations.invariants.violations import Partition, Violations, named

HANDED_OVER: Final = "reads_what_it_has"

PAUSED: Final = "is paused"
CUT_OFF: Final = "is cut off"
KILLED: Final = "is killed"
CALLING: Final = "is in a callback"


@dataclass(slots=True)
class _Client:
    """``has`` is what callbacks have handed over, ``reads`` what it has reported last, in the entry ``reported_at``.

    ``giving_up`` is what it has stopped to read, though no callback has taken it yet: that comes at its next poll. ``stopped``: why it
    can read nothing, and since when.
    """

    has: set[Partition] = field(default_factory=set)
    reads: frozenset[Partition] = frozenset()
    giving_up: frozenset[Partition] = frozenset()
    fetches: bool = False
    denied: frozenset[str] = frozenset()
    reported_at: int = 0
    raised: bool = False
    stopped: dict[str, int] = field(default_factory=dict)


class ReadingClients:
    """By member id."""

    def __init__(self, violations: Violations) -> None:
        self._violations = violations
        self._clients: dict[str, _Client] = {}
        self._denied: set[tuple[str, str, str]] = set()
        """Member of the scenario, operation, topic."""

    def callback(self, entry: Entry) -> None:
        client, payload = self._client(entry.actor), entry.payload
        partitions = {(topic, n) for topic, numbers in payload["partitions"].items() for n in numbers}
        if payload["phase"] == "start":
            client.stopped.setdefault(CALLING, entry.at_ms)
            if payload["callback"] != "on_partitions_assigned":
                client.has -= partitions
                client.giving_up -= partitions
            return
        self._stops_over(entry.actor, CALLING, entry)
        raised = bool(payload.get("raised"))
        client.raised |= raised
        if payload["callback"] == "on_partitions_assigned" or raised:
            client.has |= partitions

    def fault(self, entry: Entry) -> None:
        who_left: str | None = entry.payload.get("member")
        who = who_left or ""
        match entry.payload["fault"]:
            case "pause":
                self._client(who).stopped[PAUSED] = entry.at_ms
            case "resume":
                self._stops_over(who, PAUSED, entry)
            case "cut" if who in self._clients and "peer" not in entry.payload:
                self._clients[who].stopped[CUT_OFF] = entry.at_ms
            case "heal" if "peer" not in entry.payload:
                for each in self._clients if who_left is None else (who,):
                    self._stops_over(each, CUT_OFF, entry)
            case "kill":
                client = self._client(who)
                client.stopped[KILLED] = entry.at_ms
                client.has.clear()

    def right(self, payload: Payload) -> None:
        """A member of the scenario may not read a topic from here on, or may again."""
        if "topic" in payload:
            change = self._denied.discard if payload["allowed"] else self._denied.add
            change((payload["member"], payload["operation"], payload["topic"]))

    def reads(self, entry: Entry, partitions: set[Partition], *, begins: bool) -> None:
        """It reads these from here on; where the run ``begins``, with what it had before."""
        payload, former = entry.payload, entry.payload.get("former")
        if former in self._clients:
            self._clients[entry.actor] = self._clients.pop(former)
        client = self._client(entry.actor)
        self._stopped(entry.actor, client, entry.at_ms, entry.sequence)
        keeps = PAUSED in client.stopped and KILLED not in client.stopped
        if keeps and (dropped := client.reads - partitions):
            text = f"{entry.actor} is paused, and does not stay where it is with {named(dropped)}"
            self._add(text, (client.reported_at, entry.sequence), entry.actor, dropped)
        if begins:
            client.has |= partitions
        client.giving_up = (client.giving_up | client.reads) & client.has - partitions
        client.reads, client.fetches, client.reported_at = (
            frozenset(partitions),
            payload["fetches"],
            entry.sequence,
        )
        client.denied = frozenset(payload.get("denied") or ())
        if others := partitions - client.has:
            text = f"{entry.actor} reads {named(others)}, which nobody has handed over to it"
            self._add(text, (entry.sequence,), entry.actor, others)
        self._rights(entry.actor, client, entry.sequence)

    def forgotten(self, topic: str) -> None:
        """It is deleted: a client that reads the next topic of that name reports so."""
        for client in self._clients.values():
            client.reads = frozenset(partition for partition in client.reads if partition[0] != topic)

    def stopped(self, at_ms: int, sequence: int) -> None:
        """Members that cannot fetch now stopped fetching at this entry."""
        for who, client in self._clients.items():
            self._stopped(who, client, at_ms, sequence)

    def at_rest(self, topics: Mapping[str, Sequence[object]], sequence: int) -> None:
        """What there is to read of what it was handed over is read."""
        for who, client in self._clients.items():
            self._rights(who, client, sequence)
            unread = client.has - client.reads - client.giving_up
            left = {(topic, n) for topic, n in unread if n < len(topics.get(topic, ()))}
            if left and not client.raised:
                text = f"{who} was handed over {named(left)}, and does not read it"
                self._add(text, (client.reported_at, sequence), who, left)

    def _rights(self, who: str, client: _Client, sequence: int) -> None:
        name = who.partition("~")[0]
        topics = {topic for topic, _ in client.reads}
        denied = {topic for topic in topics if any((name, right, topic) in self._denied for right in ("read", "describe"))}  # fmt: skip
        if client.denied & topics != denied:
            words = ", ".join(sorted(client.denied ^ denied))
            text = f"{who} reads as if its rights on {words} were others than they are"
            self._add(
                text,
                (client.reported_at, sequence),
                who,
                {each for each in client.reads if each[0] in denied},
            )

    def _stops_over(self, who: str, why: str, entry: Entry) -> None:
        client = self._client(who)
        self._stopped(who, client, entry.at_ms, entry.sequence)
        client.stopped.pop(why, None)

    def _stopped(self, who: str, client: _Client, at_ms: int, sequence: int) -> None:
        """It was not to read in the meantime, which is over now."""
        if not client.fetches or not client.reads:
            return
        for why, since_ms in client.stopped.items():
            if since_ms < at_ms:
                text = f"{who} {why}, and reads {named(client.reads)}"
                self._add(text, (client.reported_at, sequence), who, client.reads)

    def _client(self, who: str) -> _Client:
        return self._clients.setdefault(who, _Client())

    def _add(
        self,
        text: str,
        sequences: tuple[int, ...],
        who: str,
        partitions: set[Partition] | frozenset[Partition],
    ) -> None:
        self._violations.add(HANDED_OVER, text, sequences, (who,), partitions)
