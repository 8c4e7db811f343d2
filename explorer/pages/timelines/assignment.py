"""The assignment that a group gets next, predicted; and whether the one that came is what was to be expected."""

from __future__ import annotations

import contextlib
from collections import Counter
from typing import TypedDict

from django.http import HttpRequest, HttpResponse

from explorer.web.endpoint import BadRequest, json_response, no_such_entry, number
from groups import storage
from groups.history.frames.shapes import Frame
from groups.models import Timeline
from simulations.jobs.moments import metadata_at
from simulations.laboratory.next_assignment import (
    Comparison,
    Moved,
    NotPredicted,
    Prediction,
    Target,
    compare,
    follows,
    holdings,
    predict,
)


class Came(Comparison):
    """The current target, compared with the prediction from its members and the target before it."""

    epoch: int
    sequence: int


class Next(TypedDict):
    """``epoch`` is that of the target to come; ``is_due`` where the group epoch is ahead of it already."""

    epoch: int | None
    is_due: bool
    target: Target
    moves: list[Moved]


class Answer(TypedDict):
    """``why``: the reason if nothing is predicted; ``assumed``: what the source does not report and was assumed."""

    sequence: int
    assignor: str | None
    assumed: list[str]
    came: Came | None
    next: Next | None
    why: str | None


def next_assignment(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``GET …/assignment?at=&leaves=&joins=``: of the moment ``at``, by default the last one."""
    timeline = storage.get(timeline_id)
    at = number(request.GET, "at", timeline.last)
    joins = request.GET.get("joins", "0")
    if joins not in ("0", "1"):
        raise BadRequest("joins must be 0 or 1.", field="joins")
    frame = storage.frame_at(timeline, at)
    if frame is None:
        raise no_such_entry(timeline, at)
    return json_response(
        answer_at(timeline, at, frame, request.GET.get("leaves") or None, joins=joins == "1")
    )


def answer_at(timeline: Timeline, at: int, frame: Frame, leaves: str | None, *, joins: bool) -> Answer:
    answer: Answer = {
        "sequence": at,
        "assignor": None,
        "assumed": [],
        "came": None,
        "next": None,
        "why": None,
    }
    assignor = assignor_at(timeline, at, frame)
    try:
        prediction = predict(frame, assignor=assignor, leaves=leaves, joins=joins)
    except NotPredicted as error:
        answer["why"] = str(error)
    else:
        answer |= {
            "assignor": prediction.assignor,
            "assumed": prediction.assumed,
            "next": _next(frame, prediction),
        }
    with contextlib.suppress(NotPredicted):
        answer["came"] = _came(timeline, at, frame, assignor)
    return answer


def _next(frame: Frame, prediction: Prediction) -> Next:
    epoch, target_epoch = frame.get("group_epoch"), frame.get("assignment_epoch")
    due = epoch is not None and target_epoch is not None and epoch > target_epoch
    return {
        "epoch": None if epoch is None else epoch if due else epoch + 1,
        "is_due": due,
        "target": prediction.target,
        "moves": prediction.moves,
    }


def _came(timeline: Timeline, at: int, frame: Frame, assignor: str | None) -> Came | None:
    """Null where the target was there before the log begins, or is a leader's."""
    epoch = frame.get("assignment_epoch")
    if frame.get("protocol") != "consumer" or epoch is None:
        return None
    changed = storage.last_change(timeline, ["assignment_epoch"], at)
    if changed is None:
        return None
    [entry] = storage.entries_between(timeline, changed, changed)
    before = storage.frame_at(timeline, (entry.get("unit") or changed) - 1)
    after = storage.frame_at(timeline, changed)
    if before is None or after is None or not follows(before, after):
        # Targets in between were not seen, or this one is where the log begins.
        return None
    compared = compare(predict(after, before, assignor=assignor).target, holdings(after))
    return {"epoch": epoch, "sequence": changed, **compared}


def assignor_at(timeline: Timeline, at: int, frame: Frame) -> str | None:
    """What the leader chose in a classic group; in a consumer group the one that most members ask for, as a coordinator takes it."""
    if frame.get("protocol") == "classic":
        return frame.get("protocol_name")
    found = metadata_at(timeline, at, set(frame.get("members") or ()))
    wanted = Counter(name for value in found.values() if (name := value.get("serverAssignor")))
    return wanted.most_common(1)[0][0] if wanted else None
