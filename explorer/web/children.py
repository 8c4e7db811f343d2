"""Answers that are made in a process of their own, and what a request gets if there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.http import HttpRequest

from explorer.web.endpoint import BadRequest
from groups.jobs.children import ChildFailed, ParentStops
from groups.jobs.warm_children import AskerLeft, Busy, WarmChildren


def left_of(request: HttpRequest) -> Callable[[], bool]:
    """Whether the client has gone. The gate notices; a test's request has come past it, and its client stays."""
    left = getattr(request, "scope", {}).get("client_left")
    return left.is_set if left else lambda: False


def answer_of(
    children: WarmChildren, request: HttpRequest, question: Mapping[str, Any], *, busy: str, name: str
) -> bytes:
    """The child's line. ``BadRequest`` with ``busy`` where all are at work, or where ``name`` has no answer."""
    try:
        return children.ask(question, left_of(request))
    except Busy:
        raise BadRequest(busy, status=429) from None
    except AskerLeft:
        raise BadRequest("The client left before its answer.", status=499) from None
    except (ChildFailed, ParentStops) as error:
        raise BadRequest(f"{name} has no answer: {error}", status=503) from error
