"""Who read what, and when nobody did: told by the callbacks of the clients and by what was done to their processes.

A process reads a partition from its ``assigned`` callback to its ``revoked`` or ``lost`` one, and not while it is stopped
(frozen, in a poll that is overdue, dead). A partition that no process reads is a hole; who is to blame for it is what the
process did that read it last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Stop = Literal["killed", "frozen", "paused", "poll_overrun", "left", "fenced", "revoked", "revoking"]
"""Why a process stopped reading: it was stopped as a whole, or it gave the partition up."""


class Hole(NamedTuple):
    """A stretch of time in which nobody read a partition. ``to_ms`` is None where it lasts to the end."""

    partition: str
    client_id: str
    life: int
    stop: Stop
    from_ms: int
    to_ms: int | None


class Stretch(NamedTuple):
    client_id: str
    life: int
    from_ms: int
    to_ms: int | None
    stop: Stop | None


@dataclass(slots=True)
class Ledger:
    """Keeps a stretch for each time that a process read a partition."""

    stretches: dict[str, list[Stretch]] = field(default_factory=dict)
    _held: dict[tuple[str, int], set[str]] = field(default_factory=dict)
    _stopped: dict[tuple[str, int], Stop] = field(default_factory=dict)

    def assigned(self, client_id: str, life: int, partitions: list[str], at_ms: int) -> None:
        self._held.setdefault((client_id, life), set()).update(partitions)
        if (client_id, life) not in self._stopped:
            for partition in partitions:
                self._begin(partition, client_id, life, at_ms)

    def given_up(
        self, client_id: str, life: int, partitions: list[str], at_ms: int, stop: Stop = "revoked"
    ) -> None:
        self._held.setdefault((client_id, life), set()).difference_update(partitions)
        for partition in partitions:
            self._end(partition, client_id, life, at_ms, stop)

    def busy(self, client_id: str, life: int, at_ms: int, until_ms: int) -> None:
        """In a callback it reads nothing of what it keeps, either: callbacks run where records are read."""
        for partition in sorted(self._held.get((client_id, life), ())):
            self._end(partition, client_id, life, at_ms, "revoking")
            self._begin(partition, client_id, life, until_ms)

    def stopped(self, client_id: str, life: int, stop: Stop, at_ms: int) -> list[str]:
        """The process reads nothing from now on; what it held."""
        self._stopped[client_id, life] = stop
        held = sorted(self._held.get((client_id, life), ()))
        for partition in held:
            self._end(partition, client_id, life, at_ms, stop)
        return held

    def resumed(self, client_id: str, life: int, at_ms: int, *, reads: bool) -> None:
        """It reads again what it held, or (without ``reads``) only what it will be assigned from now on."""
        self._stopped.pop((client_id, life), None)
        for partition in sorted(self._held.get((client_id, life), ())):
            if reads:
                self._begin(partition, client_id, life, at_ms)

    def held(self, client_id: str, life: int) -> list[str]:
        return sorted(self._held.get((client_id, life), ()))

    def of(self, client_id: str) -> list[Stretch]:
        return [
            each for several in self.stretches.values() for each in several if each.client_id == client_id
        ]

    def owners_since(self, partition: str, since_ms: int) -> list[str]:
        """Clients that read a partition after that moment, one after the other, without repetitions."""
        owners: list[str] = []
        for each in sorted(self.stretches[partition], key=lambda each: each.from_ms):
            if (each.to_ms is None or each.to_ms > since_ms) and owners[-1:] != [each.client_id]:
                owners.append(each.client_id)
        return owners

    def first_end(self, client_id: str, after_ms: int) -> int:
        """When a client first stopped to read a partition after that moment."""
        ends = [
            each.to_ms
            for stretches in self.stretches.values()
            for each in stretches
            if each.client_id == client_id and each.to_ms is not None and each.to_ms > after_ms
        ]
        return min(ends)

    def back_and_forth(self, since_ms: int) -> list[str]:
        """Partitions that came back at least twice to a client that had read them before."""
        out = []
        for partition, stretches in sorted(self.stretches.items()):
            readers: list[str] = []
            for each in sorted(stretches, key=lambda each: each.from_ms):
                if (each.to_ms is None or each.to_ms > since_ms) and readers[-1:] != [each.client_id]:
                    readers.append(each.client_id)
            if sum(who in readers[:at] for at, who in enumerate(readers)) >= 2:
                out.append(partition)
        return out

    def holes(self, end_ms: int) -> Iterator[Hole]:
        """All holes between two stretches of a partition, and behind the last one, in the order of partitions."""
        for partition, stretches in sorted(self.stretches.items()):
            until, last = -1, stretches[0]
            for stretch in sorted(stretches, key=lambda each: each.from_ms):
                if until >= 0 and stretch.from_ms > until:
                    yield Hole(
                        partition, last.client_id, last.life, last.stop or "revoked", until, stretch.from_ms
                    )
                to_ms = end_ms if stretch.to_ms is None else stretch.to_ms
                if to_ms > until:
                    until, last = to_ms, stretch
            if until < end_ms:
                yield Hole(partition, last.client_id, last.life, last.stop or "revoked", until, None)

    def _begin(self, partition: str, client_id: str, life: int, at_ms: int) -> None:
        self.stretches.setdefault(partition, []).append(Stretch(client_id, life, at_ms, None, None))

    def _end(self, partition: str, client_id: str, life: int, at_ms: int, stop: Stop) -> None:
        stretches = self.stretches.get(partition, [])
        for index, each in enumerate(stretches):
            if (each.client_id, each.life, each.to_ms) == (client_id, life, None):
                stretches[index] = each._replace(to_ms=at_ms, stop=stop)
