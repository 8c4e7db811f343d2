"""What a window announces to the others that look at the same timeline: that it presents, follows, stops or hands over."""

from __future__ import annotations

import re
import time
from typing import Final

import orjson
from django.http import HttpRequest, HttpResponse

from explorer.accounts.guesses import Guesses
from explorer.push.together import name_in
from explorer.web.endpoint import BadRequest, json_body
from groups.jobs.announce import announce, together_group
from groups.models import Timeline
from groups.storage import NoSuchTimeline

DOES: Final = ("presents", "follows", "stops", "hands")
WHO: Final = "^[a-z0-9]{8,32}$"
"""The id of a window, which it draws itself."""

VIEW_MOST: Final = 2000

ANNOUNCED_MOST: Final = 1500
"""Messages of one sender a minute: two presenters that move without a pause."""

announced = Guesses(ANNOUNCED_MOST, 60.0)
"""Of this process, by account; in local mode all windows are of one."""


def say(request: HttpRequest, timeline_id: str) -> HttpResponse:
    """``view`` is the query string of the presenter's board; ``to`` the window that presents from now on.

    Presenters are numbered by ``turn``: whoever takes over has the next number, and of two the higher one counts. The clock
    in milliseconds bounds it, so that nobody takes a number that has no next one.
    """
    name = name_in(getattr(request, "scope", {}))
    if announced.are_too_many(name):
        raise BadRequest(f"{ANNOUNCED_MOST:,} messages a minute are the most of one sender.", status=429)
    said = json_body(request)
    does, turn, view = said.get("does"), said.get("turn", 0), said.get("view", "")
    if does not in DOES:
        raise BadRequest(f"`does` must be one of {', '.join(DOES)}.", field="does")
    # Whatever a body has is sent to every window.
    for field in ("who", "to") if does == "hands" or said.get("to") is not None else ("who",):
        if not isinstance(said.get(field), str) or not re.fullmatch(WHO, said[field]):
            raise BadRequest(f"`{field}` must be 8 to 32 of a-z and 0-9.", field=field)
    if type(turn) is not int or not 0 <= turn <= time.time_ns() // 1_000_000:
        raise BadRequest("`turn` must be a whole number, up to the clock in milliseconds.", field="turn")
    if not isinstance(view, str) or len(view) > VIEW_MOST:
        raise BadRequest(f"`view` must be text of {VIEW_MOST:,} characters at most.", field="view")
    if not Timeline.objects.filter(pk=timeline_id).exists():
        raise NoSuchTimeline(timeline_id)
    text = {"type": does, "who": said["who"], "name": name, "turn": turn, "view": view, "to": said.get("to")}
    announce(together_group(timeline_id), {"type": "together", "text": orjson.dumps(text).decode()})
    return HttpResponse(status=204)
