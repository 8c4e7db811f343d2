"""Logs of a consumer group whose clients commit: told by what happens when, written in the order of time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tests.history.logs import FOO, HASH, STABLE, UNREVOKED, Log, Records

R = Records()

EVERY_MS = 2_000
"""Between two commits of a client."""

RATE = 5
"""Records that a partition gets in a second."""


def member_id(name: str, life: int = 1) -> str:
    """An id as Kafka draws them: 22 characters."""
    return f"{name}-{life}-".ljust(22, "x")


class Story:
    """``assign`` is a rebalance that is over at once; ``commits`` what a living client does, as long as it holds anything."""

    def __init__(self, *, start_ms: int = 0) -> None:
        self.start_ms = start_ms
        self._events: list[tuple[int, int, Callable[[Log], Any]]] = []
        self.epoch = 1
        self.holds: dict[str, tuple[int, ...]] = {}
        self.at(0, lambda log: log.topics(foo={"id": FOO, "partitions": None}))

    def at(self, at_ms: int, act: Callable[[Log], Any]) -> None:
        self._events.append((self.start_ms + at_ms, len(self._events), act))

    def assign(self, at_ms: int, holds: Mapping[str, Iterable[int]], **fields: Any) -> None:
        """From now on these members hold these partitions; ``fields`` are of the records of those who join."""
        after = {member: tuple(partitions) for member, partitions in holds.items()}
        before, self.epoch = dict(self.holds), self.epoch + 1
        epoch, self.holds = self.epoch, dict(after)
        new = [member for member in after if member not in before]

        def act(log: Log) -> None:
            joined = [
                R.member(member, **{"clientId": member.split("-x")[0].rsplit("-", 1)[0], **fields})
                for member in new
            ]
            targets = [R.target(member, *partitions) for member, partitions in after.items()]
            # Who gives something up stands first, so that nobody has what another one holds.
            order = sorted(after, key=lambda member: len(after[member]) - len(before.get(member, ())))
            current = [
                R.current(
                    member,
                    epoch,
                    0 if member in new else epoch - 1,
                    STABLE,
                    {p: epoch if p not in before.get(member, ()) else 2 for p in after[member]},
                )
                for member in order
            ]
            log.write(*joined, R.epoch(epoch, HASH), *targets, R.target_epoch(epoch, 1), *current)

        self.at(at_ms, act)

    def remove(self, at_ms: int, member: str) -> None:
        """Its tombstones, as a leave and an expired session write them."""
        self.holds.pop(member)
        self.epoch += 1
        epoch = self.epoch
        self.at(at_ms, lambda log: log.write(*R.leave(member, epoch, HASH)))

    def revoking(self, at_ms: int, member: str, keeps: Iterable[int], gives_up: Iterable[int]) -> None:
        epoch, kept, going = self.epoch, tuple(keeps), tuple(gives_up)
        record = R.current(
            member, epoch - 1, epoch - 1, UNREVOKED, dict.fromkeys(kept, 2), dict.fromkeys(going, 2)
        )
        self.at(at_ms, lambda log: log.write(record))

    def commits(
        self,
        partitions: Iterable[int],
        from_ms: int,
        to_ms: int,
        *,
        every_ms: int = EVERY_MS,
        idle: bool = False,
        behind_ms: int = 0,
    ) -> None:
        """One request in ``every_ms`` that commits all of them; the offset is where the records are by then.

        ``behind_ms``: for so long no records came.
        """
        numbers = tuple(partitions)
        for at_ms in range(from_ms, to_ms, every_ms):
            offset = 0 if idle else (at_ms - behind_ms) * RATE // 1000
            commits = [R.commit(number, offset, at_ms=at_ms) for number in numbers]
            self.at(at_ms, lambda log, commits=commits: log.write(*commits))

    def log(self) -> Log:
        log = Log(start_ms=self.start_ms)
        for at_ms, _, act in sorted(self._events, key=lambda event: event[:2]):
            act(log.at(at_ms))
        return log

    # -- what tests look at

    def summary(self) -> dict[str, Any]:
        return dict(self.log().recorded().summary)

    def found(self, kind: str) -> list[dict[str, Any]]:
        return [one for one in self.summary()["findings"] if one["kind"] == kind]

    def verdict(self) -> str:
        return str(self.summary()["verdict"]["text"]).replace("\u202f", " ")


A, B, C = member_id("app-a"), member_id("app-b"), member_id("app-c")


def two_reading(until_ms: int, *, a_until_ms: int | None = None, start_ms: int = 0) -> Story:
    """A and B read three partitions each; A's client commits until it stops."""
    story = Story(start_ms=start_ms)
    story.assign(0, {A: (0, 1, 2)})
    story.assign(1_000, {A: (0, 1), B: (2, 3)})
    story.commits((0, 1), 2_000, until_ms if a_until_ms is None else a_until_ms)
    story.commits((2, 3), 2_500, until_ms)
    return story
