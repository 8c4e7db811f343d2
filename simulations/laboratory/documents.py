"""A case as JSON, and back.

    {"members": [{"topics": [0, 1, 2], "rack": "a", "name": null, "id": null}],
     "joining": [{"topics": [0, 1, 2]}], "leaving": [], "grown": null,
     "topics": [{"partitions": 12, "name": null}],
     "event": "join", "before": "range", "given": null, "seed": 1}

``topics`` of a member are places in the list of topics, all of them if left out. What is null may be left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

from simulations.laboratory.cases import (
    MEMBERS_MOST,
    PARTITIONS_MOST,
    TOPICS_MOST,
    Before,
    Case,
    CaseError,
    CaseTopic,
    Event,
    Member,
)
from simulations.laboratory.shapes import CaseDocument, MemberDocument

E = TypeVar("E", Event, Before)

CASE_KEYS: Final = ("members", "joining", "leaving", "grown", "topics", "event", "before", "given", "seed")
MEMBER_KEYS: Final = ("topics", "rack", "name", "id")
TOPIC_KEYS: Final = ("partitions", "name")


def to_json(case: Case) -> CaseDocument:
    """The document of a case."""
    return {
        "members": [_member(member) for member in case.members],
        "joining": [_member(member) for member in case.joining],
        "leaving": list(case.leaving),
        "grown": None if case.grown is None else {"topic": case.grown[0], "by": case.grown[1]},
        "topics": [{"partitions": topic.partitions, "name": topic.name} for topic in case.topics],
        "event": str(case.event),
        "before": str(case.before),
        "given": None if case.given is None else [list(owners) for owners in case.given],
        "seed": case.seed,
    }


def from_json(document: object) -> Case:
    """The case of a document; ``CaseError`` names the field that is wrong."""
    keys = _object(document, "the case", CASE_KEYS)
    topics = tuple(
        _read_topic(value, f"topics.{place}")
        for place, value in enumerate(_list(keys.get("topics"), "topics", TOPICS_MOST))
    )
    event = _choice(keys.get("event", "stable"), Event, "event")
    given = keys.get("given")
    grown = keys.get("grown")
    return Case(
        members=_read_members(keys.get("members"), "members", len(topics)),
        joining=_read_members(keys.get("joining") or [], "joining", len(topics)),
        leaving=tuple(_wholes(keys.get("leaving") or [], "leaving", MEMBERS_MOST)),
        grown=None if grown is None else _read_grown(grown),
        topics=topics,
        event=event,
        before=_choice(keys.get("before", "range"), Before, "before"),
        given=None
        if given is None
        else tuple(
            tuple(_wholes(owners, f"given.{place}", PARTITIONS_MOST, least=-1))
            for place, owners in enumerate(_list(given, "given", TOPICS_MOST))
        ),
        seed=_whole(keys.get("seed", 1), "seed"),
    )


def _member(member: Member) -> MemberDocument:
    return {
        "topics": list(member.topics),
        "rack": member.rack,
        "name": member.name,
        "id": member.member_id,
    }


def _read_members(value: object, at: str, topics: int) -> tuple[Member, ...]:
    members = []
    for place, each in enumerate(_list(value, at, MEMBERS_MOST)):
        here = f"{at}.{place}"
        known = _object(each, here, MEMBER_KEYS)
        subscribed = known.get("topics")
        members.append(
            Member(
                topics=tuple(range(topics))
                if subscribed is None
                else tuple(_wholes(subscribed, f"{here}.topics", TOPICS_MOST)),
                rack=_text(known.get("rack"), f"{here}.rack"),
                name=_text(known.get("name"), f"{here}.name"),
                member_id=_text(known.get("id"), f"{here}.id"),
            )
        )
    return tuple(members)


def _read_topic(value: object, at: str) -> CaseTopic:
    keys = _object(value, at, TOPIC_KEYS)
    return CaseTopic(
        partitions=_whole(keys.get("partitions"), f"{at}.partitions"),
        name=_text(keys.get("name"), f"{at}.name"),
    )


def _read_grown(value: object) -> tuple[int, int]:
    known = _object(value, "grown", ("topic", "by"))
    return _whole(known.get("topic"), "grown.topic"), _whole(known.get("by"), "grown.by")


def _object(value: object, at: str, keys: Sequence[str]) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise CaseError(f"{at} must be an object", at)
    for key in value:
        if key not in keys:
            raise CaseError(f"{at} has no {str(key)[:40]!r}; there are {', '.join(keys)}", at)
    return value


def _list(value: object, at: str, most: int) -> list[object]:
    if not isinstance(value, list):
        raise CaseError(f"{at} must be a list", at)
    if len(value) > most:
        raise CaseError(f"{at} has {len(value):,}, more than the laboratory's {most:,}", at)
    return value


def _wholes(value: object, at: str, most: int, least: int = 0) -> list[int]:
    return [_whole(each, at, least) for each in _list(value, at, most)]


def _whole(value: object, at: str, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise CaseError(f"{at} must be a whole number from {least}", at)
    return value


def _text(value: object, at: str) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    raise CaseError(f"{at} must be text", at)


def _choice(value: object, kind: type[E], at: str) -> E:
    try:
        return kind(str(value))
    except ValueError:
        raise CaseError(f"{at} must be one of {', '.join(kind)}", at) from None
