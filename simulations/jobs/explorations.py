"""An exploration on several processes, each of which walks a share of the worlds (``simulations.proof.exploration.partitioned_search``).

The parent knows no world: it passes on what the shares have for each other, and puts together what they found.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

from groups.history.state.group import Semantics
from simulations.proof.exploration import STATES_MAX, Budgets, Report
from simulations.proof.exploration.consumer.world import ConsumerWorlds
from simulations.proof.exploration.findings import Progress
from simulations.proof.exploration.loops import loop_of
from simulations.proof.exploration.partitioned_search import SearchPartition, together
from simulations.proof.exploration.plan import Plan
from simulations.world.scenario import Scenario

JOIN_S: Final = 5.0
"""How long a process may take to end of itself."""


def explore_shared(
    scenario: Scenario,
    semantics: Semantics | str | None = None,
    budgets: Budgets | None = None,
    *,
    processes: int,
    states_max: int = STATES_MAX,
    unhurried: bool = False,
    progress: Progress | None = None,
) -> tuple[Report, ConsumerWorlds]:
    """As ``explore``, with the same report; where there are more states than ``states_max`` it ends with a level."""
    plan = Plan(scenario, semantics or scenario.semantics)

    def worlds() -> ConsumerWorlds:
        return ConsumerWorlds(plan, budgets or Budgets(), unhurried=unhurried)

    with ExitStack() as stack:
        pipes = [stack.enter_context(_share(worlds, index, processes)) for index in range(processes)]
        states, transitions, depth, goes_on = 1, 0, 0, True
        while goes_on:
            first: set[Any] = set().union(*_received(pipes))
            _send(pipes, [first] * processes)
            handed = _received(pipes)
            _send(pipes, [[packed[index] for packed in handed] for index in range(processes)])
            orders = _received(pipes)
            _send(pipes, [orders] * processes)
            known = _received(pipes)
            goes_on = any(frontier for frontier, _, _ in known)
            transitions, states = sum(taken for _, taken, _ in known), known[0][2]
            depth += goes_on
            within = states <= states_max
            _send(pipes, [goes_on and within] * processes)
            if progress is not None:
                progress(states, transitions, depth)
            if not within:
                break
        found = together(_received(pipes))
    whole = worlds()
    loops = partial(loop_of, whole)
    return found.report(transitions=transitions, depth=depth, complete=within, loop_of=loops), whole


def _walk(worlds: Callable[[], ConsumerWorlds], index: int, count: int, pipe: Connection) -> None:
    """One process: its share, to the end."""
    share = SearchPartition(worlds(), index, count)
    goes_on = True
    while goes_on:
        pipe.send(share.first_steps())
        share.learn(pipe.recv())
        pipe.send(share.expand())
        for packed in pipe.recv():
            share.take(packed)
        pipe.send(share.orders())
        frontier = share.number(pipe.recv())
        pipe.send((frontier, share.transitions, share.states))
        goes_on = pipe.recv()
    pipe.send((share.mine, share.found))


@contextmanager
def _share(worlds: Callable[[], ConsumerWorlds], index: int, count: int) -> Iterator[Connection]:
    """A process, and the pipe to it."""
    # Forked: every share has to go through sets of texts in the same order, which a seed decides that is inherited.
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process: BaseProcess = context.Process(target=_walk, args=(worlds, index, count, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.close()
        process.join(JOIN_S)
        if process.is_alive():
            process.terminate()
            process.join()


def _received(pipes: list[Connection]) -> list[Any]:
    return [pipe.recv() for pipe in pipes]


def _send(pipes: list[Connection], messages: list[Any]) -> None:
    for pipe, message in zip(pipes, messages, strict=True):
        pipe.send(message)
