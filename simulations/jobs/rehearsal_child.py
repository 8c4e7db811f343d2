"""The child process that rehearses upgrades: a line of JSON in, a line out, one after the other.

A question has ``document``, or ``moment`` of a timeline (``frame``, ``cast``, ``timeline``, ``at``); ``wishes`` are keys that are
set on top of it. With ``way`` the answer is ``{"scenario", "title"}``, with ``markdown`` it is ``{"markdown", "title"}``, else
``{"title"}``, a tab and the sheet's own JSON, so that it can be passed on unread; or ``{"error", "field"}``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from groups.child_side import answer_lines
from simulations.rehearsal.judging import answer, scenario_for
from simulations.rehearsal.markdown import markdown_of
from simulations.rehearsal.moments import document_of_frame, text_of
from simulations.rehearsal.question_yaml import question_of
from simulations.rehearsal.values import CONSUMER, Question, RehearsalError
from simulations.rehearsal.ways import WayName


def question_in(asked: Mapping[str, Any]) -> Question:
    """What a line asks, as a question."""
    return question_of(text_of(wished_document(asked)))


def wished_document(asked: Mapping[str, Any]) -> dict[str, Any]:
    """The document of a line: of its moment or its own, with its wishes. Of a moment, ``client`` and ``assignors`` are of all
    members."""
    wishes: dict[str, Any] = dict(asked.get("wishes") or {})
    moment = asked.get("moment")
    if moment is None:
        return {**asked["document"], **wishes}
    document = document_of_frame(
        moment["frame"],
        moment["cast"],
        client=wishes.pop("client", None),
        to=wishes.get("to", CONSUMER),
    )
    assignors, static = wishes.pop("assignors", None), wishes.pop("static", None)
    for name, member in document["members"].items():
        if member["protocol"] != "classic":
            continue
        if assignors is not None:
            member["assignors"] = assignors
        if static:
            member.setdefault("instance_id", name)
    if assignors is not None:
        document["assumed"] = [
            each for each in document["assumed"] if "assignor" not in each and "goes by" not in each
        ]
    return {**document, **wishes, "timeline": moment["timeline"], "at": moment["at"]}


def answered(asked: Mapping[str, Any]) -> bytes:
    try:
        question = question_in(asked)
        if asked.get("way") is not None:
            text, way = scenario_for(question, WayName(asked["way"]))
            return orjson.dumps({"scenario": text, "title": way.title})
        sheet = answer(question)
        if asked.get("markdown"):
            return orjson.dumps({"markdown": markdown_of(sheet), "title": sheet["title"]})
        return orjson.dumps({"title": sheet["title"]}) + b"\t" + orjson.dumps(sheet)
    except RehearsalError as error:
        return orjson.dumps({"error": str(error), "field": error.field})


if __name__ == "__main__":
    answer_lines(answered)
