"""Whether a script can be done: nothing happens to a member that is not there, and nothing ends that has not begun."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from simulations.protocol.assignors.streams_like import STREAMS_LIKE
from simulations.protocol.coordinator import group_config
from simulations.protocol.coordinator.errors import ConfigRefused
from simulations.protocol.coordinator.settings import Settings
from simulations.world.scenario.access import Denial
from simulations.world.scenario.actions import COORDINATOR, EVERYTHING, Action, How, Verb
from simulations.world.scenario.brokers import OF_BROKERS, BrokerOrder
from simulations.world.scenario.nodes import Node
from simulations.world.scenario.values import PARTITIONS_MAX, Member, ScenarioTopic

AWAY, RUNNING, PAUSED, DEAD = "has not joined", "is running", "is paused", "was killed"

ALLOWED: Final[Mapping[Verb, tuple[str, ...]]] = {
    Verb.JOIN: (AWAY, DEAD),
    Verb.LEAVE: (RUNNING,),
    Verb.KILL: (RUNNING, PAUSED),
    Verb.PAUSE: (RUNNING,),
    Verb.RESUME: (PAUSED,),
    Verb.RESTART: (RUNNING, PAUSED, DEAD),
    Verb.BOUNCE: (RUNNING, PAUSED, DEAD),
    Verb.ENFORCE_REBALANCE: (RUNNING,),
    Verb.HEARTBEAT: (RUNNING,),
    Verb.COMMIT: (RUNNING,),
    Verb.SLOW_REVOKE: (AWAY, RUNNING, PAUSED),
    Verb.FAIL_CALLBACK: (AWAY, RUNNING, PAUSED),
    Verb.POLL_LATE: (RUNNING,),
    Verb.SUBSCRIBE: (RUNNING,),
    Verb.REPORT: (RUNNING,),
}
LEADS_TO: Final[Mapping[Verb, str]] = {
    Verb.JOIN: RUNNING,
    Verb.LEAVE: AWAY,
    Verb.KILL: DEAD,
    Verb.PAUSE: PAUSED,
    Verb.RESUME: RUNNING,
    Verb.RESTART: RUNNING,
    Verb.BOUNCE: RUNNING,
}


def check_order(
    read: Sequence[tuple[Action, Node]],
    members: Mapping[str, Member],
    topics: Mapping[str, ScenarioTopic],
    there: Iterable[str],
    settings: Settings,
    denied: Iterable[Denial] = (),
) -> None:
    """Refuses what cannot be done at its time, such as to kill a member that has not joined."""
    order = _Order(members, topics, there, settings, denied)
    for action, line in read:
        order.check(action, line)


class _Order:
    """What is there at the time of the line that is looked at."""

    def __init__(
        self,
        members: Mapping[str, Member],
        topics: Mapping[str, ScenarioTopic],
        there: Iterable[str],
        settings: Settings,
        denied: Iterable[Denial],
    ) -> None:
        self._members = members
        self._denied = set(denied)
        self._states = dict.fromkeys(members, AWAY)
        self._states |= dict.fromkeys(there, RUNNING)
        self._partitions = {name: topic.partitions for name, topic in topics.items()}
        self._cuts: set[tuple[str, str | None]] = set()
        self._settings = settings
        self._config: dict[str, int] = {}
        self._checks: Mapping[Verb, Callable[[Action, Node, str], None]] = {
            Verb.ADD_PARTITIONS: self._add_partitions,
            Verb.CREATE_TOPIC: self._create_topic,
            Verb.DELETE_TOPIC: self._delete_topic,
            Verb.CUT: self._cut,
            Verb.HEAL: self._heal,
            Verb.FAIL_OVER: self._fail_over,
            Verb.SET_CONFIG: self._set_config,
            Verb.DENY: self._deny,
            Verb.ALLOW: self._allow,
            **dict.fromkeys(OF_BROKERS, BrokerOrder(settings).check),
        }

    def check(self, action: Action, line: Node) -> None:
        when = f"at {action.at_ms / 1000:g} s"
        if action.verb in self._checks:
            self._checks[action.verb](action, line, when)
        elif action.verb in ALLOWED:
            if action.verb is Verb.REPORT and STREAMS_LIKE not in self._members[action.who].assignors:
                raise line.wrong(f"report {action.who}: it does not bring the assignor {STREAMS_LIKE}")
            state = self._states[action.who]
            if state not in ALLOWED[action.verb]:
                raise line.wrong(f"{action.verb} {action.who}: it {state} {when}")
            self._states[action.who] = LEADS_TO.get(action.verb, state)

    def _add_partitions(self, action: Action, line: Node, when: str) -> None:
        self._exists(action, line, when)
        count, wanted = self._partitions[action.who], action.partitions or 0
        if wanted <= count:
            raise line.wrong(
                f"{action.who} has {count} partitions {when}; it can only grow, not go to {wanted}"
            )
        self._partitions[action.who] = wanted
        self._check_total(line)

    def _create_topic(self, action: Action, line: Node, when: str) -> None:
        if action.who in self._partitions:
            raise line.wrong(f"{action.who} is there {when}; it would have to be deleted first")
        self._partitions[action.who] = action.partitions or 0
        beyond = [partition for partition in action.racks if partition >= self._partitions[action.who]]
        if beyond:
            raise line.wrong(f"{action.who} has no partition {beyond[0]} that could have racks")
        self._check_total(line)

    def _delete_topic(self, action: Action, line: Node, when: str) -> None:
        self._exists(action, line, when)
        del self._partitions[action.who]

    def _exists(self, action: Action, line: Node, when: str) -> None:
        if action.who not in self._partitions:
            raise line.wrong(f"{action.verb} {action.who}: there is no such topic {when}")

    def _check_total(self, line: Node) -> None:
        if sum(self._partitions.values()) > PARTITIONS_MAX:
            raise line.wrong(f"all topics together have at most {PARTITIONS_MAX} partitions")

    def _cut(self, action: Action, line: Node, when: str) -> None:
        if action.who == EVERYTHING:
            raise line.wrong(
                f"cut names a member, {COORDINATOR}, or a pair of them; {EVERYTHING} can be healed"
            )
        if _ends(action) in self._cuts:
            raise line.wrong(f"cut {_said(action)}: it is cut already {when}")
        self._cuts.add(_ends(action))

    def _heal(self, action: Action, line: Node, when: str) -> None:
        if action.who == EVERYTHING:
            self._cuts.clear()
        elif _ends(action) not in self._cuts:
            raise line.wrong(f"heal {_said(action)}: it is not cut {when}")
        else:
            self._cuts.remove(_ends(action))

    def _set_config(self, action: Action, line: Node, when: str) -> None:
        self._config |= action.config
        try:
            group_config.check(self._config, self._settings)
        except ConfigRefused as refused:
            raise line.wrong(str(refused)) from None

    def _deny(self, action: Action, line: Node, when: str) -> None:
        if (action.who, action.right) in self._denied:
            raise line.wrong(f"deny {action.who}: {action.right} is denied already {when}")
        self._denied.add((action.who, action.right))

    def _allow(self, action: Action, line: Node, when: str) -> None:
        if (action.who, action.right) not in self._denied:
            raise line.wrong(f"allow {action.who}: {action.right} is not denied {when}")
        self._denied.remove((action.who, action.right))

    def _fail_over(self, action: Action, line: Node, when: str) -> None:
        if action.how is How.MOVE and action.lost:
            raise line.wrong(
                "a coordinator that is moved hands its whole log over; lost goes with how: crash"
            )


def _ends(action: Action) -> tuple[str, str | None]:
    return action.who, action.peer


def _said(action: Action) -> str:
    return action.who if action.peer is None else f"[{action.who}, {action.peer}]"
