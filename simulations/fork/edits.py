"""Reads a fork's edits: settings by their keys, and faults at their times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from groups.releases import Release
from simulations.fork.values import CLASSIC, CONSUMER, FAULTS_MOST, Edits, Fault, ForkError
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.protocol.assignors.classic.strategies import STRATEGIES
from simulations.protocol.client.classic.releases import CLIENTS
from simulations.protocol.coordinator.settings import MAX_INT
from simulations.world.scenario import Verb
from simulations.world.scenario.actions import COORDINATOR
from simulations.world.scenario.errors import nearest
from simulations.world.scenario.topics import RATE_MAX
from simulations.world.scenario.values import PARTITIONS_MAX, UNTIL_MAX_MS

TIMEOUT_MOST_MS: Final = 1_800_000
"""``group.max.session.timeout.ms``"""

SEED_MOST: Final = 2**53 - 1
"""The largest whole number that JavaScript keeps exactly."""

NEEDS_LENGTH: Final = (Verb.SLOW_REVOKE, Verb.POLL_LATE)
ENDED_BY: Final[Mapping[Verb, Verb]] = {Verb.PAUSE: Verb.RESUME, Verb.KILL: Verb.JOIN, Verb.CUT: Verb.HEAL}
"""Faults that end after ``for_ms``, if that is given, and the verb that ends each: a killed process is started again."""

TAKES_LENGTH: Final = (*NEEDS_LENGTH, *ENDED_BY, Verb.BOUNCE)

HAPPENS: Final[Mapping[Verb, str]] = {
    Verb.KILL: "{who} is killed",
    Verb.LEAVE: "{who} leaves",
    Verb.PAUSE: "{who} is paused",
    Verb.RESUME: "{who} goes on",
    Verb.RESTART: "{who} is restarted",
    Verb.BOUNCE: "{who} is bounced",
    Verb.CUT: "{who} is cut off",
    Verb.HEAL: "{who} is reachable again",
    Verb.SLOW_REVOKE: "slow callback of {who}",
    Verb.POLL_LATE: "late poll of {who}",
    Verb.FAIL_CALLBACK: "{who}'s callback fails",
    Verb.ENFORCE_REBALANCE: "{who} asks for a rebalance",
    Verb.JOIN: "{who} joins",
    Verb.FAIL_OVER: "fail-over of the coordinator",
    Verb.ADD_PARTITIONS: "{who} has {to} partitions",
}
"""Faults of a branch, by the scenario's own verbs, and what happens then."""

VERBS: Final = tuple(HAPPENS)

FAULT_KEYS: Final = ("after_ms", "do", "who", "for_ms", "to")

SUBSCRIBE: Final = ".subscribe"
EPOCH: Final = ".epoch"
PARTITIONS: Final = ".partitions"
"""Behind a member's or a topic's name: values that a log may lack."""

Value = str | int | bool | list[str]


def edits_of(settings: object, faults: object) -> Edits:
    """The edits of a request; ``None`` for none."""
    return Edits(settings=_settings(settings), faults=_faults(faults))


def _settings(given: object) -> dict[str, Value]:
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ForkError("must be an object of settings, such as {session_timeout_ms: 60000}", "set")
    return {str(key): _setting(str(key), value) for key, value in given.items()}


def _setting(key: str, value: object) -> Value:
    field = f"set.{key[:60]}"
    if key in _READ:
        return _READ[key](value, field)
    if key.endswith(SUBSCRIBE):
        names = value.split(",") if isinstance(value, str) else value
        if (
            isinstance(names, list)
            and names
            and all(isinstance(name, str) and name.strip() for name in names)
        ):
            return [name.strip() for name in names]
        raise ForkError("must be a list of topics", field)
    if key.endswith(EPOCH):
        return _whole(0, MAX_INT)(value, field)
    if key.endswith(PARTITIONS):
        return _whole(1, PARTITIONS_MAX)(value, field)
    raise ForkError(f"unknown setting; {nearest(key, _READ)}", field)


def _whole(least: int, most: int) -> Callable[[object, str], int]:
    def read(value: object, field: str) -> int:
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 18:
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ForkError(f"must be a whole number from {least} to {most}", field)
        return value

    return read


def _one_of(choices: Sequence[str]) -> Callable[[object, str], str]:
    def read(value: object, field: str) -> str:
        if not isinstance(value, str) or value not in choices:
            raise ForkError(f"must be one of {', '.join(choices)}", field)
        return value

    return read


def _yes(value: object, field: str) -> bool:
    if value in (True, "true", "on", "yes"):
        return True
    if value in (False, "false", "off", "no"):
        return False
    raise ForkError("must be true or false", field)


ASSIGNORS: Final = tuple(dict.fromkeys((*SERVER_ASSIGNORS, *STRATEGIES)))

_READ: Final[Mapping[str, Callable[[object, str], Value]]] = {
    "assignor": _one_of(ASSIGNORS),
    "protocol": _one_of((CONSUMER, CLASSIC)),
    "static": _yes,
    "session_timeout_ms": _whole(1, TIMEOUT_MOST_MS),
    "heartbeat_interval_ms": _whole(1, TIMEOUT_MOST_MS),
    "rebalance_timeout_ms": _whole(1, TIMEOUT_MOST_MS),
    "callback_ms": _whole(0, TIMEOUT_MOST_MS),
    "rate": _whole(1, RATE_MAX),
    "brokers": _one_of([str(release) for release in Release]),
    "client": _one_of(tuple(CLIENTS)),
    "group_epoch": _whole(1, MAX_INT),
    "assignment_epoch": _whole(1, MAX_INT),
    "seed": _whole(0, SEED_MOST),
    "length_ms": _whole(1, UNTIL_MAX_MS),
}


def _faults(given: object) -> tuple[Fault, ...]:
    if given is None:
        return ()
    if not isinstance(given, list):
        raise ForkError("must be a list, such as [{do: kill, who: B, after_ms: 12000}]", "faults")
    if len(given) > FAULTS_MOST:
        raise ForkError(f"a branch has at most {FAULTS_MOST} faults, these are {len(given)}", "faults")
    return tuple(_fault(each, f"faults[{place}]") for place, each in enumerate(given))


def _fault(given: object, field: str) -> Fault:
    if not isinstance(given, Mapping):
        raise ForkError("must be an object, such as {do: kill, who: B, after_ms: 12000}", field)
    if unknown := [str(key) for key in given if key not in FAULT_KEYS]:
        raise ForkError(f"{unknown[0][:40]} is no field of a fault; {nearest(unknown[0], FAULT_KEYS)}", field)
    verb = Verb(_one_of(VERBS)(given.get("do"), f"{field}.do"))
    who = given.get("who", COORDINATOR if verb is Verb.FAIL_OVER else None)
    if not isinstance(who, str) or not who:
        what = "a topic's" if verb is Verb.ADD_PARTITIONS else "a member's"
        raise ForkError(f"must be {what} name", f"{field}.who")
    length, to = given.get("for_ms"), given.get("to")
    if verb in NEEDS_LENGTH and length is None:
        raise ForkError(f"{verb} needs for_ms, its length", f"{field}.for_ms")
    if length is not None and verb not in TAKES_LENGTH:
        raise ForkError(f"{verb} has no length", f"{field}.for_ms")
    if (verb is Verb.ADD_PARTITIONS) != (to is not None):
        raise ForkError("add_partitions, and it alone, needs to: the new number of partitions", f"{field}.to")
    return Fault(
        after_ms=_whole(0, UNTIL_MAX_MS)(given.get("after_ms", 0), f"{field}.after_ms"),
        verb=verb,
        who=who,
        for_ms=None if length is None else _whole(0, UNTIL_MAX_MS)(length, f"{field}.for_ms"),
        to=None if to is None else _whole(1, PARTITIONS_MAX)(to, f"{field}.to"),
    )


def lines_of(fault: Fault, moment_ms: int) -> list[dict[str, object]]:
    """The script's lines of a fault; ``moment_ms`` is the run's time at the moment.

    It happens a millisecond after the moment at the earliest, so that nothing up to the moment changes.
    """
    at_ms = moment_ms + max(1, fault.after_ms)
    line: dict[str, object] = {"at": f"{at_ms}ms", str(fault.verb): fault.who}
    if fault.to is not None:
        line["to"] = fault.to
    if fault.for_ms is None:
        return [line]
    ended_by = ENDED_BY.get(fault.verb)
    if ended_by is None:
        return [line | {"for": f"{fault.for_ms}ms"}]
    return [line, {"at": f"{at_ms + fault.for_ms}ms", str(ended_by): fault.who}]
