"""Runs of classic groups, as a reader would tell them."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from groups.history.entries import Entry, Kind
from groups.history.frames.changes import apply, diff, unapply
from groups.history.frames.frame import FrameMaker
from groups.history.replay.fold import replay
from groups.history.state.group import State
from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription
from simulations.world.engine import run
from simulations.world.scenario import load

Owned = dict[str, dict[str, list[int]]]


def entries(text: str) -> list[Entry]:
    """The run of a scenario."""
    return list(run(load(text, "orders")))


def assert_sound(log: Iterable[Entry], state: State) -> None:
    """Nothing in it is odd, and each frame follows from the one before by its changes, both ways."""
    maker, before = FrameMaker(), None
    for entry in log:
        state = replay(state, entry)
        assert not state.anomalies
        frame = maker.frame(state)
        if before is not None:
            changes = diff(before, frame)
            assert apply(before, changes) == frame
            assert unapply(frame, changes) == before
        before = frame


def requests(log: Iterable[Entry], api: str, who: str | None = None) -> list[Entry]:
    return [
        entry
        for entry in log
        if entry.kind is Kind.REQUEST and entry.payload["api"] == api and who in (None, entry.actor)
    ]


def answers(log: Iterable[Entry], api: str, who: str) -> list[Entry]:
    return [
        entry
        for entry in log
        if entry.kind is Kind.RESPONSE and entry.payload["api"] == api and entry.payload["to"] == who
    ]


def callbacks(log: Iterable[Entry], who: str) -> list[tuple[str, tuple[int, ...]]]:
    """``("revoked", (0, 1))``, in order, of one topic or of none."""
    return [
        (
            str(entry.payload["callback"]).removeprefix("on_partitions_"),
            tuple(sorted(p for numbers in entry.payload["partitions"].values() for p in numbers)),
        )
        for entry in log
        if entry.kind is Kind.CALLBACK and entry.actor == who and entry.payload["phase"] == "start"
    ]


def reasons(log: Iterable[Entry], who: str) -> list[str]:
    """Why it joined, of each JoinGroup."""
    return [str(entry.payload["body"]["reason"]) for entry in requests(log, "JoinGroup", who)]


def subscriptions(entry: Entry) -> Mapping[str, dict[str, Any]]:
    """What a JoinGroup tells, by assignor."""
    return {
        protocol["name"]: decode_subscription(base64.b64decode(protocol["metadata"]))
        for protocol in entry.payload["body"]["protocols"]
    }


def generations(log: Iterable[Entry]) -> Iterator[tuple[int, str, dict[str, list[int]]]]:
    """Of each generation that was written: its number, its assignor, and who has which partitions."""
    for entry in log:
        if entry.kind is not Kind.RECORD or entry.payload["type"] != 2 or entry.payload["value"] is None:
            continue
        value = entry.payload["value"]
        if value["members"]:
            yield (
                value["generation"],
                value["protocol"],
                {
                    member["memberId"]: sorted(
                        p
                        for topic in decode_assignment(base64.b64decode(member["assignment"]))[
                            "assignedPartitions"
                        ]
                        for p in topic["partitions"]
                    )
                    for member in value["members"]
                    if member["assignment"]
                },
            )


def owned_at_the_end(log: Iterable[Entry]) -> dict[str, list[int]]:
    """Who processes what when the run is over, as callbacks tell."""
    owned: dict[str, set[int]] = {}
    fenced: set[str] = set()
    for entry in log:
        if entry.kind is Kind.FAULT and entry.payload["fault"] == "kill":
            owned.pop(entry.actor, None)
        if entry.kind is Kind.REQUEST and entry.payload["api"] == "JoinGroup" and entry.actor not in owned:
            # A process that lost its id goes on under another, with what it has not given up.
            stem = entry.actor.partition("~")[0]
            for other in [each for each in fenced & owned.keys() if each.partition("~")[0] == stem]:
                owned[entry.actor] = owned.pop(other)
        if entry.kind is Kind.RESPONSE and entry.payload["body"].get("errorCode") in (22, 25, 82):
            fenced.add(entry.payload["to"])
        if entry.kind is not Kind.CALLBACK:
            continue
        numbers = {p for ps in entry.payload["partitions"].values() for p in ps}
        mine = owned.setdefault(entry.actor, set())
        if entry.payload["callback"] == "on_partitions_assigned":
            mine |= numbers
        elif entry.payload["phase"] == "end":
            mine -= numbers
    return {who: sorted(numbers) for who, numbers in owned.items() if numbers}


def violations(log: Iterable[Entry]) -> list[str]:
    return [
        str(entry.payload["says"])
        for entry in log
        if entry.kind is Kind.FAULT and entry.payload["fault"] == "invariant"
    ]
