"""Forks over HTTP: the tree of a timeline, what a moment gives, and a new branch."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from explorer.pages.forks.starting import branch_of, described, offer_of, tree_of
from explorer.web.endpoint import BadRequest, created_response, json_body, json_response, number
from groups import storage
from groups.models import TITLE_LENGTH_MOST
from simulations.fork.edits import edits_of
from simulations.fork.values import ForkError

FIELDS = ("at", "title", "set", "faults")


def offered(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``GET …/forks?at=``: the tree, and with ``at`` what a fork of this moment starts from."""
    timeline = storage.get(timeline_id)
    answer: dict[str, object] = {"branches": tree_of(timeline)}
    if "at" in request.GET:
        answer["start"] = offer_of(timeline, number(request.GET, "at"))
    return json_response(answer)


def start(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``POST {"at", "title", "set", "faults"}``: 201 with the branch, which is queued; 400 or 409 in one sentence."""
    timeline, body = storage.get(timeline_id), json_body(request)
    for key in body:
        if key not in FIELDS:
            raise BadRequest(f"{key[:40]!r} is no field; there are {', '.join(FIELDS)}.", field=key[:40])
    at, title = body.get("at", timeline.last), body.get("title", "")
    if not isinstance(at, int) or isinstance(at, bool) or at < 0:
        raise BadRequest("at must be an entry's number.", field="at")
    if not isinstance(title, str) or len(title) > TITLE_LENGTH_MOST:
        raise BadRequest(f"title must be text of at most {TITLE_LENGTH_MOST} characters.", field="title")
    try:
        branch, made = branch_of(timeline, at, edits_of(body.get("set"), body.get("faults")), title.strip())
    except ForkError as error:
        status, field = (409, "at") if error.field == "at" else (400, error.field)
        message = str(error) if field == "at" else f"{field}: {error}."
        raise BadRequest(message, status=status, field=field) from error
    return created_response("timeline", branch.id, page="board", api="api-timeline", **described(made))
