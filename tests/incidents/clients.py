"""One process of a client, and what is done to it: each act is noted by its stage."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tests.broker.members import Member
from tests.broker.rpc import RpcError

from .facts import Process

if TYPE_CHECKING:
    from .stage import Stage

JOIN_LIMIT_S = 90
"""A rebalance takes seconds; a JVM that starts beside nine others may take twenty."""


HANGING_MS = 60_000
"""Longer than a script goes on behind it."""


def now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(slots=True)
class Client:
    """One process of a client; ``life`` counts the processes under one client id."""

    member: Member
    client_id: str
    life: int
    process: Process
    stage: Stage
    protocol: str
    leaving: bool = False

    def hear(self, line: str) -> None:
        self.stage.hear(self, line)

    def enter(self) -> Client:
        """Joins and waits until it was given partitions."""
        return self.join().wait_for_partitions()

    def join(self) -> Client:
        self.stage.note(
            "joined" if self.life == 1 else "rejoined",
            f"{self.client_id} joins."
            if self.life == 1
            else f"{self.client_id} joins again, as a new process.",
            clients=[self.client_id],
            tellable=True,
        )
        self.member.join()
        return self

    def wait_for(self, start: str, *, times: int = 1, limit_s: float = JOIN_LIMIT_S) -> Client:
        self.member.wait_for(start, times=times, limit_s=limit_s)
        return self

    def wait_for_partitions(self) -> Client:
        """Until it holds a partition, by its own callbacks."""
        deadline = time.monotonic() + JOIN_LIMIT_S
        while not self.stage.ledger.held(self.client_id, self.life):
            if time.monotonic() > deadline:
                raise RpcError(
                    f"{self.client_id} was given no partition in {JOIN_LIMIT_S} s: {self.member.lines}"
                )
            time.sleep(0.1)
        return self

    def said(self, start: str) -> int:
        return sum(1 for line in list(self.member.lines) if line.startswith(start))

    def kill(self) -> None:
        """SIGKILL."""
        at_ms = now_ms()
        self.member.kill()
        self._ended(at_ms)
        held = self.stage.ledger.stopped(self.client_id, self.life, "killed", at_ms)
        self.stage.note(
            "killed",
            f"{self.client_id} is killed with SIGKILL.",
            at_ms=at_ms,
            clients=[self.client_id],
            partitions=held,
            why_not="The log shows that it was removed; a killed, a frozen and a cut-off process look the same.",
        )

    def leave(self) -> None:
        """A clean end: SIGTERM in a service that closes its consumer."""
        at_ms = now_ms()
        # It reads until its consumer, which is being closed, takes the partitions from it.
        self.leaving = True
        self.member.leave()
        self._ended(now_ms())
        self.stage.ledger.stopped(self.client_id, self.life, "left", now_ms())
        self.stage.note(
            "left", f"{self.client_id} closes its consumer and ends.", at_ms=at_ms, clients=[self.client_id]
        )

    def fenced(self) -> None:
        """Waits until it ends by itself, because another process has its group.instance.id."""
        self.member.wait_until_ended()
        at_ms = now_ms()
        self._ended(at_ms)
        self.stage.ledger.stopped(self.client_id, self.life, "fenced", at_ms)

    def freeze(self, length_s: float, kind: Literal["frozen", "paused"]) -> None:
        """SIGSTOP for so long, then SIGCONT: a long collection of garbage, a suspended machine, a lost network."""
        at_ms = now_ms()
        self.member.suspend()
        held = self.stage.ledger.stopped(self.client_id, self.life, kind, at_ms)
        time.sleep(length_s)
        self.member.resume()
        until_ms = now_ms()
        beyond = kind == "frozen"
        # Beyond its session it goes on with what is no longer its own, until it hears of that a moment later.
        self.stage.ledger.resumed(self.client_id, self.life, until_ms, reads=not beyond)
        if beyond:
            self.wait_for("lost")
        self.stage.note(
            kind,
            f"{self.client_id} is stopped with SIGSTOP for {length_s:g} s, {'longer' if beyond else 'shorter'} than its session.",
            at_ms=at_ms,
            clients=[self.client_id],
            partitions=held,
            duration_ms=until_ms - at_ms,
            why_not="The log shows that it was removed; a killed, a frozen and a cut-off process look the same."
            if beyond
            else "No record is written of it; a few commits are missing, as when nothing was to be read.",
        )

    def stall(self, length_ms: int) -> None:
        """Does not poll for so long, while its heartbeats go on; returns when it polls again."""
        at_ms, times = now_ms(), self.said("stalled")
        self.member.stall(length_ms)
        held = self.stage.ledger.stopped(self.client_id, self.life, "poll_overrun", at_ms)
        self.wait_for("stalled", times=times + 1)
        until_ms = now_ms()
        self.stage.ledger.resumed(self.client_id, self.life, until_ms, reads=False)
        self.stage.note(
            "poll_overrun",
            f"{self.client_id} does not poll for {(until_ms - at_ms) / 1000:.1f} s, longer than max.poll.interval.ms.",
            at_ms=at_ms,
            clients=[self.client_id],
            partitions=held,
            duration_ms=until_ms - at_ms,
            tellable=True,
        )
        if self.protocol == "classic":
            # The coordinator's log does not say of a classic member that it was there before.
            self.stage.note(
                "rejoined",
                f"{self.client_id} polls and joins again, under a new member id.",
                at_ms=until_ms,
                clients=[self.client_id],
                tellable=True,
            )

    def hang(self) -> None:
        """Polls no more; the process stays. Its client leaves the group when max.poll.interval.ms is over."""
        at_ms = now_ms()
        self.member.stall(HANGING_MS)
        held = self.stage.ledger.stopped(self.client_id, self.life, "poll_overrun", at_ms)
        self.stage.note(
            "poll_overrun",
            f"{self.client_id} polls no more; its process stays.",
            at_ms=at_ms,
            clients=[self.client_id],
            partitions=held,
            duration_ms=HANGING_MS,
            tellable=True,
        )

    def abort(self, times: int) -> None:
        """Aborts its next transactions, one after the other."""
        at_ms = now_ms()
        self.member.tell(f"abort {times}")
        self.wait_for("aborted", times=times)
        lines = [line.split()[1:] for line in self.member.lines if line.startswith("aborted")]
        self.stage.note(
            "transactions_aborted",
            f"{self.client_id} aborts {times} transactions with offsets.",
            at_ms=at_ms,
            duration_ms=now_ms() - at_ms,
            partitions=sorted({partition for line in lines for partition in line}),
            times=times,
            tellable=True,
        )

    def hang_transaction(self) -> list[str]:
        """Sends the offsets of a transaction that it never ends; returns the partitions."""
        self.member.tell("hang")
        return self.member.wait_for("hanging").split()[1:]

    def _ended(self, at_ms: int) -> None:
        self.process["ended_ms"] = at_ms
