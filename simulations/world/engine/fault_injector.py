"""The trouble that a preset makes by chance (``simulations.world.scenario.environment``), in the first part of a run.

Each kind of trouble draws from a generator of its own, so that more of one changes nothing of another. What has begun
is ended at the latest when the storm is over; then all is healed, and the group has the rest of the run to converge.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random

from simulations.protocol.client.consumer.states import MemberState
from simulations.world.engine.actions import Acting
from simulations.world.engine.queue import EventQueue, Priority
from simulations.world.scenario import Action, How, Scenario, Verb
from simulations.world.scenario.actions import COORDINATOR, EVERYTHING
from simulations.world.scenario.environment import CALM, STORM_SHARE, WORLDS, FaultRates


class FaultInjector:
    """Plans the trouble of the scenario's preset; in a calm world nothing is planned."""

    def __init__(self, scenario: Scenario, acting: Acting, queue: EventQueue, seed: int) -> None:
        self._scenario = scenario
        self._acting = acting
        self._queue = queue
        self._seed = seed
        self._ends_ms = scenario.start_ms + int(scenario.until_ms * STORM_SHARE)
        self._pending: dict[int, Callable[[], None]] = {}
        self._count = 0

    def begin(self) -> None:
        if self._scenario.world == CALM:
            return
        world = WORLDS[self._scenario.world]
        for name, trouble, strikes in (
            ("pauses", world.pauses, self._pause),
            ("kills", world.kills, self._kill),
            ("cuts", world.cuts, self._cut),
            ("fail-overs", world.fail_overs, self._fail_over),
        ):
            if trouble is not None:
                self._next(trouble, Random(f"{name} of {self._seed}"), strikes)
        self._queue.plan(self._ends_ms, Priority.SCRIPT, self._clear_up)

    def _next(
        self, trouble: FaultRates, random: Random, strikes: Callable[[FaultRates, Random], None]
    ) -> None:
        at_ms = self._queue.now_ms + 1 + int(random.expovariate(1 / trouble.every_ms))
        if at_ms >= self._ends_ms:
            return

        def strike() -> None:
            strikes(trouble, random)
            self._next(trouble, random, strikes)

        self._queue.plan(at_ms, Priority.SCRIPT, strike)

    def _clear_up(self) -> None:
        pending, self._pending = self._pending, {}
        for end in pending.values():
            end()
        self._act(Verb.HEAL, EVERYTHING)

    def _ends(self, length_ms: int, end: Callable[[], None]) -> None:
        """Does it then, or when the storm is over."""
        self._count += 1
        number = self._count
        self._pending[number] = end

        def due() -> None:
            if self._pending.pop(number, None) is not None:
                end()

        self._queue.plan(self._queue.now_ms + length_ms, Priority.SCRIPT, due)

    def _pause(self, trouble: FaultRates, random: Random) -> None:
        who = self._somebody(random)
        length_ms = random.randint(*trouble.length_ms)
        if who is not None:
            self._act(Verb.PAUSE, who)
            self._ends(length_ms, partial(self._act, Verb.RESUME, who))

    def _kill(self, trouble: FaultRates, random: Random) -> None:
        who = self._somebody(random)
        length_ms = random.randint(*trouble.length_ms)
        if who is not None:
            self._act(Verb.KILL, who)
            self._ends(length_ms, partial(self._start_again, who, self._queue.now_ms))

    def _start_again(self, who: str, killed_ms: int) -> None:
        """Unless the script has sent it away meanwhile."""
        since, now = killed_ms - self._scenario.start_ms, self._queue.now_ms - self._scenario.start_ms
        sent_away = any(
            action.who == who and action.verb in (Verb.LEAVE, Verb.KILL) and since <= action.at_ms <= now
            for action in self._scenario.script
        )
        if not sent_away:
            self._act(Verb.JOIN, who)

    def _cut(self, trouble: FaultRates, random: Random) -> None:
        who = self._somebody(random)
        length_ms = random.randint(*trouble.length_ms)
        if who is not None:
            self._act(Verb.CUT, who)
            self._ends(length_ms, partial(self._act, Verb.HEAL, who))

    def _fail_over(self, trouble: FaultRates, random: Random) -> None:
        self._acting.act(
            Action(
                at_ms=self._queue.now_ms,
                verb=Verb.FAIL_OVER,
                who=COORDINATOR,
                how=How.CRASH,
                loading_ms=random.randint(*trouble.length_ms),
                lost=random.randint(0, trouble.lost),
            )
        )

    def _act(self, verb: Verb, who: str) -> None:
        self._acting.act(Action(at_ms=self._queue.now_ms, verb=verb, who=who))

    def _somebody(self, random: Random) -> str | None:
        """A member whose process runs, is not paused and has joined; the draw is made even if there is none."""
        draw = random.random()
        able = [
            name
            for name, process in self._acting.processes.items()
            if process.alive and not process.paused and process.consumer.state is not MemberState.UNSUBSCRIBED
        ]
        return able[int(draw * len(able))] if able else None
