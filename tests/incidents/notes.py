"""Facts that several scripts note in one form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .coordinator_log import generations
from .stage import Stage

if TYPE_CHECKING:
    from .connect import Worker


def strategy(stage: Stage, before: str, after: str, clients: list[str]) -> None:
    """From here on all members name the assignor ``after``."""
    stage.note(
        "strategy_changed",
        f"The group's assignor becomes {after}; it was {before}.",
        clients=clients,
        tellable=True,
        detail=after,
    )


def roll(stage: Stage, names: list[str], at_ms: int) -> None:
    """All were replaced since ``at_ms``, one after the other."""
    last = max(each["at_ms"] for each in stage.facts if each["kind"] == "rejoined")
    stage.note(
        "rolling_deploy",
        f"{len(names)} clients are replaced one after the other.",
        at_ms=at_ms,
        duration_ms=last - at_ms,
        clients=names,
        times=len(names),
        tellable=True,
    )


def rounds(stage: Stage, names: list[str], times: int) -> None:
    """All were replaced in several rounds, each noted before."""
    rolls = [each for each in stage.facts if each["kind"] == "rolling_deploy"]
    until_ms = rolls[-1]["at_ms"] + (rolls[-1]["duration_ms"] or 0)
    stage.note(
        "rolled_in_rounds",
        f"All {len(names)} clients are replaced in {times} rounds.",
        at_ms=rolls[0]["at_ms"],
        duration_ms=until_ms - rolls[0]["at_ms"],
        clients=names,
        times=times,
        tellable=True,
    )


def idle(stage: Stage) -> None:
    """The clients that have no partition now."""
    for client in stage.clients:
        if not stage.ledger.held(client.client_id, client.life):
            stage.note(
                "idle_member",
                f"{client.client_id} is a member and has no partition.",
                clients=[client.client_id],
                tellable=True,
            )


def given(stage: Stage, client: str, partitions: Sequence[str], sentence: str = "") -> None:
    """A client was given these partitions, when its callback printed it."""
    since = [
        min(each.from_ms for each in stage.ledger.stretches[partition] if each.client_id == client)
        for partition in partitions
    ]
    stage.note(
        "given",
        sentence or f"{client} is given {', '.join(partitions)}.",
        at_ms=max(since),
        clients=[client],
        partitions=list(partitions),
        source="client",
        tellable=True,
    )


def new(stage: Stage, topic: str, first: int) -> None:
    """Who was given the partitions of a topic from number ``first`` on, for the first time."""
    owners: dict[str, list[str]] = {}
    for partition, stretches in sorted(stage.ledger.stretches.items()):
        name, _, number = partition.rpartition("-")
        if name == topic and int(number) >= first:
            owners.setdefault(stretches[0].client_id, []).append(partition)
    for client, partitions in sorted(owners.items()):
        given(stage, client, partitions, f"{client} is given the new {', '.join(partitions)}.")


def leader(stage: Stage, workers: Sequence[Worker]) -> Worker:
    """The worker that leads now: the coordinator took its assignment last."""
    last = generations(stage.broker_log(), stage.group)[-1]
    leading = next(each for each in workers if each.is_one(last.leader))
    stage.note(
        "leader",
        f"{leading.client_id} leads the group in generation {last.generation}.",
        clients=[leading.client_id],
        tellable=True,
        source="broker",
    )
    return leading
