"""A case as a scenario that the simulator plays on the board, or why it cannot."""

from __future__ import annotations

import base64
import json
from typing import Final

from simulations.laboratory.assignor_answers import Answer
from simulations.laboratory.cases import NOBODY, Case, Event
from simulations.laboratory.sentences import title_of

EVENT_AT_S: Final = 3
"""When the event comes: after everybody's first heartbeat was seen."""

TAIL_S: Final = 45
"""After it: each member hears of the target, gives up and gains, heartbeat by heartbeat."""

EPOCH: Final = 1

GROUP: Final = "laboratory"


def why_not(case: Case, answer: Answer) -> str | None:
    """The reason in a sentence, or None where the simulator plays this board."""
    board = answer.board
    if board.protocol != "consumer":
        return (
            f"The simulator plays groups of the consumer protocol, and {board.assignor} here is one of the classic "
            "protocol. Open 5 (range) or 6 (uniform)."
        )
    if answer.error is not None:
        return f"Kafka throws here, so there is nothing to play: {answer.error}."
    if case.event is Event.STABLE:
        return "Nothing happens in this event, so there is nothing to play. Choose another event."
    if any(not member.topics for member in case.everybody):
        return "A member subscribes to nothing; the simulator's members need a topic."
    if not all(_is_kafkas_name(name) for name in (*case.names, *case.topic_names)):
        return "A name has other letters than Kafka's names; the simulator does not take it."
    return None


def scenario_of(case: Case, answer: Answer) -> str:
    """The YAML of the run (which is JSON): the group as it stood, then the event. ``why_not`` has been asked before."""
    names, topics = case.names, case.topic_names
    there = range(len(case.members))
    document: dict[str, object] = {
        "title": f"{title_of(case)} ({answer.board.assignor})",
        "group": GROUP,
        "semantics": "kafka",
        "assignor": answer.board.assignor,
        "topics": {
            name: {"partitions": topic.partitions, "id": _topic_id(place)}
            for place, (name, topic) in enumerate(zip(topics, case.topics, strict=True))
        },
        "members": {
            name: {"subscribe": [topics[at] for at in member.topics]}
            | ({"rack_id": member.rack} if member.rack else {})
            for name, member in zip(names, case.everybody, strict=True)
        },
        "script": _script(case),
        "until": f"{EVENT_AT_S + TAIL_S}s",
    }
    if case.event is not Event.FULL:
        owned = _owned(case, answer)
        document["start"] = {
            "group_epoch": EPOCH,
            "assignment_epoch": EPOCH,
            "members": {names[place]: {"epoch": EPOCH, "owned": owned[place]} for place in there},
        }
    return "".join(f"{key}: {json.dumps(value)}\n" for key, value in document.items())


def _topic_id(place: int) -> str:
    """Small numbers in the order of the topics: a broker's hash tables walk them in that order, as the laboratory does.

    0 and 1 are Kafka's own.
    """
    raw = (place + 2).to_bytes(16, "big")
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _script(case: Case) -> list[dict[str, object]]:
    names, at = case.names, f"{EVENT_AT_S}s"
    if case.event is Event.FULL:
        return [{"at": "0s", "join": list(names)}]
    if case.event is Event.LEAVE:
        return [{"at": at, "leave": [names[place] for place in case.leaving]}]
    if case.grown is not None:
        topic, by = case.grown
        return [
            {"at": at, "add_partitions": case.topic_names[topic], "to": case.topics[topic].partitions + by}
        ]
    return [{"at": at, "join": list(names[len(case.members) :])}]


def _owned(case: Case, answer: Answer) -> list[dict[str, list[int]]]:
    owned: list[dict[str, list[int]]] = [{} for _ in case.members]
    column = 0
    for name, topic, size in zip(case.topic_names, case.topics, case.sizes, strict=True):
        for partition in range(topic.partitions):
            owner = answer.before[column + partition]
            if owner != NOBODY:
                owned[owner].setdefault(name, []).append(partition)
        column += size
    return owned


def _is_kafkas_name(name: str) -> bool:
    return all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in name)
