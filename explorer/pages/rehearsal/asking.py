"""What a request asks to be rehearsed: a group in the address, in a document, or of a timeline's moment; in a child.

The address has everything, so that a rehearsal can be sent: ``members=3&topics=orders:6&assignors=range&to=consumer``, or
``timeline=…&at=…`` in place of the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import orjson
from django.http import HttpRequest, QueryDict

from explorer.web.children import answer_of
from explorer.web.endpoint import BadRequest, choice, no_such_entry, number
from groups import storage
from groups.jobs.warm_children import WarmChildren
from simulations.rehearsal.question_yaml import WISH_KEYS
from simulations.rehearsal.ways import WayName

CHILDREN_MOST: Final = 2
"""Rehearsals at once: each takes a processor, the largest for five seconds."""

children = WarmChildren("simulations.jobs.rehearsal_child", CHILDREN_MOST)

GROUP_FIELDS: Final = ("members", "topics", "group")
MOMENT_FIELDS: Final = ("timeline", "at")
WISH_FIELDS: Final = ("client", "assignors", "static", *WISH_KEYS)
FIELDS: Final = (*GROUP_FIELDS, *MOMENT_FIELDS, *WISH_FIELDS)
NUMBERS: Final = ("at_once", "away_ms", "turn_after")

EXAMPLE: Final = {
    "group": "orders-enrich",
    "members": "3",
    "topics": "orders:6",
    "client": "3.8",
    "assignors": "range",
}
"""What the page shows where nobody asks for anything: the smallest group in which one member waits for another."""

BODY_FIELDS: Final = ("query", "document", "way")


class Asked(TypedDict, total=False):
    """A question as ``simulations.jobs.rehearsal_child`` takes it."""

    document: dict[str, Any]
    moment: dict[str, Any]
    wishes: dict[str, Any]
    way: str
    markdown: bool


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A rehearsal: its title, and the sheet as JSON."""

    title: str
    json: bytes


def given_in(query: str) -> dict[str, str]:
    """The fields of an address that say something; the example's where it names no group and no timeline."""
    known = QueryDict(query)
    for key in known:
        if key not in FIELDS:
            raise BadRequest(f"{key[:40]!r} is no field; there are {', '.join(FIELDS)}.", field=key[:40])
    given = {key: value.strip() for key, value in known.items() if isinstance(value, str) and value.strip()}
    if any("\0" in value for value in given.values()):
        raise BadRequest("No name has the character U+0000 in it.", field="group")
    if "timeline" in given or "members" in given or "topics" in given:
        return given
    return {**EXAMPLE, **given}


def asked_in(given: Mapping[str, str]) -> Asked:
    """The question of an address."""
    wishes: dict[str, Any] = {key: given[key] for key in WISH_FIELDS if key in given}
    for key in NUMBERS:
        if key in wishes:
            wishes[key] = number(given, key, least=1)
    if "assignors" in wishes:
        wishes["assignors"] = [each.strip() for each in wishes["assignors"].split(",") if each.strip()]
    if "static" in wishes:
        wishes["static"] = wishes["static"] in ("on", "true", "1", "yes")
    if "timeline" in given:
        for key in ("members", "topics"):
            if key in given:
                raise BadRequest(f"{key} is read from the timeline: leave it out.", field=key)
        return {"moment": _moment(given), "wishes": wishes}
    document: dict[str, Any] = {
        "members": number(given, "members", least=1),
        "topics": _topics(given.get("topics", "orders:6")),
    }
    if "group" in given:
        document["group"] = given["group"]
    return {"document": document, "wishes": wishes}


def asked_in_body(body: Mapping[str, Any]) -> Asked:
    """``query`` (a link's) or ``document`` (a description), one of the two; ``way`` where a run is wanted."""
    for key in body:
        if key not in BODY_FIELDS:
            raise BadRequest(f"{key[:40]!r} is no field; there are {', '.join(BODY_FIELDS)}.", field=key[:40])
    query, document = body.get("query"), body.get("document")
    if (query is None) == (document is None):
        raise BadRequest(
            "The request needs query (a link's) or document (a description), one of the two.", field="query"
        )
    if document is not None:
        if not isinstance(document, dict):
            raise BadRequest("document must be an object with topics and members.", field="document")
        return {"document": document}
    if not isinstance(query, str):
        raise BadRequest("query must be text.", field="query")
    return asked_in(given_in(query.removeprefix("?")))


def way_in(value: object) -> WayName:
    return WayName(choice(value, "way", [str(each) for each in WayName]))


def rehearsed(request: HttpRequest, asked: Asked) -> Rehearsed:
    """The sheet."""
    known, _, sheet = _answer(request, asked).partition(b"\t")
    return Rehearsed(str(orjson.loads(known)["title"]), sheet)


def scenario_of(request: HttpRequest, asked: Asked, way: WayName) -> str:
    """The scenario that plays a way."""
    known: dict[str, str] = orjson.loads(_answer(request, {**asked, "way": str(way)}))
    return known["scenario"]


def plan_of(request: HttpRequest, asked: Asked) -> str:
    """The plan as Markdown."""
    known: dict[str, str] = orjson.loads(_answer(request, {**asked, "markdown": True}))
    return known["markdown"]


def _answer(request: HttpRequest, asked: Asked) -> bytes:
    busy = (
        f"{CHILDREN_MOST} upgrades are being rehearsed, as many as this server does at once. Try again soon."
    )
    line = answer_of(children, request, asked, busy=busy, name="The rehearsal")
    known: dict[str, Any] = orjson.loads(line.partition(b"\t")[0])
    if "error" in known:
        problem, field = str(known["error"]), str(known["field"])
        raise BadRequest(
            f"{field}: {problem}." if field else f"{problem[:1].upper()}{problem[1:]}.", field=field
        )
    return line


def _moment(given: Mapping[str, str]) -> dict[str, Any]:
    timeline = storage.get(given["timeline"])
    at = number(given, "at") if "at" in given else storage.last_with_members(timeline)
    frame = storage.frame_at(timeline, at)
    if frame is None:
        raise no_such_entry(timeline, at)
    cast = storage.summary(timeline).get("cast") or []
    return {"frame": frame, "cast": cast, "timeline": timeline.id, "at": at}


def _topics(text: str) -> dict[str, int]:
    """``orders:6, payments:12``; a plain number is the partitions of one topic."""
    topics: dict[str, int] = {}
    for part in text.split(","):
        name, colon, count = part.strip().rpartition(":")
        name = name if colon else "orders"
        if not count.isascii() or not count.isdigit() or len(count) > 6 or name in topics:
            raise BadRequest(
                f"topics={text[:80]!r} must be names with their partitions, such as orders:6,payments:12.",
                field="topics",
            )
        topics[name] = int(count)
    return topics
