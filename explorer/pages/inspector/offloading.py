"""Where an answer is made: here if it takes some hundredths of a second, else in a child, so that no page waits behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import orjson
from django.http import HttpRequest

from explorer.pages.inspector.answering import Asked, Refused
from explorer.pages.inspector.child import answer_here, question_of
from explorer.web.children import answer_of
from explorer.web.endpoint import BadRequest
from groups.jobs.warm_children import WarmChildren

HERE_BYTES_MOST: Final = 4 * 1024
"""Bytes that are laid out in the server's own process: 2,000 empty names of them take 0.06 s. Records are seldom larger."""

CHILDREN_MOST: Final = 2
"""Questions about more bytes that are answered at once: each takes a processor."""

children = WarmChildren("explorer.pages.inspector.child", CHILDREN_MOST)

REFUSED: Final = b'{"refused":'


def weight(sides: Sequence[Asked]) -> int:
    """Bytes that have to be laid out: each edit lays out all of them again."""
    return sum(len(side.data) * (1 + len(side.edits)) for side in sides)


def answer_text(request: HttpRequest, *sides: Asked, guesses: bool = True) -> bytes:
    """The answer as JSON: of one side an inspection, of two their comparison. ``BadRequest`` where there is none."""
    try:
        if weight(sides) <= HERE_BYTES_MOST:
            return orjson.dumps(answer_here(sides, guesses=guesses))
    except Refused as error:
        raise BadRequest(str(error), status=error.status, **error.facts) from error
    busy = f"{CHILDREN_MOST} large questions are being answered, as many as this server answers at once. Try again soon."
    line = answer_of(children, request, question_of(sides, guesses=guesses), busy=busy, name="The inspector")
    if line.startswith(REFUSED):
        refused = orjson.loads(line)["refused"]
        raise BadRequest(refused["message"], status=refused["status"], **refused["facts"])
    return line


def answer(request: HttpRequest, *sides: Asked, guesses: bool = True) -> dict[str, Any]:
    """The same as an object."""
    found: dict[str, Any] = orjson.loads(answer_text(request, *sides, guesses=guesses))
    return found
