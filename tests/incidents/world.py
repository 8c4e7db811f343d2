"""What was so, asked as the judge asks it: from the facts file of one recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from .facts import Fact, Facts, Kind

RECORD_MS = 3_000
"""Between a client's callback and the coordinator's record lie a heartbeat (1 s) and what two busy cores add."""

JOINING_MS = 15_000
"""Between a client's start to join and its first record: a classic group waits for all others first, and a JVM that starts
beside nine others on two cores has taken eleven seconds."""

GOING_MS = 10_000
"""Between a client's close, or the coordinator's decision, and the record: a classic group writes it when the others are back."""

COMMIT_MS = 2_000

COMMIT_SLACK_MS = 1_500
"""By which a commit is late on two busy cores, and a callback's line."""

LEAD_MS = 500
"""The clocks are one; threads that note times are not."""


class Span(NamedTuple):
    from_ms: int
    to_ms: int


class World:
    def __init__(self, facts: Facts) -> None:
        self.all = facts
        self.facts = facts["facts"]
        self.end_ms = facts["copied_ms"]
        self.commit_ms = int(facts["settings"].get("auto.commit.interval.ms", COMMIT_MS))

    @property
    def incident(self) -> list[Fact]:
        """What was done and what followed, after the group had formed."""
        return [each for each in self.facts if each["at_ms"] >= self.all["began_ms"]]

    def of(self, *kinds: Kind, client: str | None = None) -> list[Fact]:
        return [
            each
            for each in self.facts
            if each["kind"] in kinds and (client is None or client in each["clients"])
        ]

    def near(
        self,
        at_ms: int,
        *kinds: Kind,
        client: str | None = None,
        before_ms: int = LEAD_MS,
        after_ms: int = RECORD_MS,
    ) -> Fact | None:
        """The nearest fact that began at most ``after_ms`` before ``at_ms`` (a record comes after what it tells)."""
        near = [
            each
            for each in self.of(*kinds, client=client)
            if each["at_ms"] - before_ms <= at_ms <= each["at_ms"] + after_ms
        ]
        return min(near, key=lambda each: abs(at_ms - each["at_ms"]), default=None)

    def holes(self, partition: str) -> Iterator[tuple[str, Span]]:
        """Stretches in which nobody read a partition, each with the client that read it last."""
        until, last = -1, ""
        for each in self.all["readings"].get(partition, ()):
            if until >= 0 and each["from_ms"] > until:
                yield last, Span(until, each["from_ms"])
            to_ms = self.end_ms if each["to_ms"] is None else each["to_ms"]
            if to_ms > until:
                until, last = to_ms, each["client_id"]
        if 0 <= until < self.end_ms:
            yield last, Span(until, self.end_ms)

    def readers(self, partition: str) -> list[tuple[str, Span]]:
        return [
            (
                each["client_id"],
                Span(each["from_ms"], self.end_ms if each["to_ms"] is None else each["to_ms"]),
            )
            for each in self.all["readings"].get(partition, ())
        ]

    def changes(self, partition: str) -> list[str]:
        """Who read a partition, one after the other, without repetitions."""
        out: list[str] = []
        for client, _ in self.readers(partition):
            if not out or out[-1] != client:
                out.append(client)
        return out

    def processes(self, client: str) -> list[Span]:
        return [
            Span(each["started_ms"], self.end_ms if each["ended_ms"] is None else each["ended_ms"])
            for each in self.all["processes"]
            if each["client_id"] == client
        ]

    @property
    def settings(self) -> Mapping[str, str]:
        return self.all["settings"]
