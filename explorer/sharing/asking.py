"""What a request to hand something on asks for: JSON in, values out, one line for what cannot be."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, cast

from django.utils import timezone

from explorer.sharing.links import DAYS_MOST, DAYS_USUAL, Asked
from explorer.web.endpoint import BadRequest
from groups.exporting import Wanted, fresh_key
from groups.incidents.pieces import Stretch
from groups.incidents.redaction import KEY_BYTES
from groups.models import Timeline

VIEWS: Final = ("reader", "investigator")
ORIGIN: Final = re.compile(r"https?://[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:[0-9]{1,5})?", re.IGNORECASE)
"""A page's origin as a policy names it; no path, no wildcard."""

ORIGINS_MOST: Final = 8


def wanted_of(body: dict[str, Any], timeline: Timeline) -> Wanted:
    view = body.get("view", "investigator")
    if view not in VIEWS:
        raise BadRequest(f"view={view!r} must be one of {', '.join(VIEWS)}.", field="view")
    hides = body.get("hide_names", False)
    if not isinstance(hides, bool):
        raise BadRequest(f"hide_names={hides!r} must be true or false.", field="hide_names")
    return Wanted(
        made=timezone.now(),
        stretch=stretch_of(body, timeline),
        key=key_of(body) if hides else None,
        view=cast(Literal["reader", "investigator"], view),
    )


def asked_of(body: dict[str, Any], timeline: Timeline) -> Asked:
    days = body.get("days", DAYS_USUAL)
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= DAYS_MOST:
        raise BadRequest(f"days={days!r} must be a whole number from 1 to {DAYS_MOST}.", field="days")
    origins = body.get("embed_origins", [])
    if (
        not isinstance(origins, list)
        or len(origins) > ORIGINS_MOST
        or not all(isinstance(origin, str) and ORIGIN.fullmatch(origin) for origin in origins)
    ):
        raise BadRequest(
            f"embed_origins must be a list of at most {ORIGINS_MOST} origins such as https://wiki.example.",
            field="embed_origins",
        )
    return Asked(wanted=wanted_of(body, timeline), days=days, embed_origins=tuple(origins))


def stretch_of(body: dict[str, Any], timeline: Timeline) -> Stretch | None:
    """All of it where neither end is told."""
    ends = {}
    for name, usual in (("from", 1), ("to", timeline.last)):
        given = body.get(name, usual)
        if not isinstance(given, int) or isinstance(given, bool) or given < 1:
            raise BadRequest(f"{name}={given!r} must be a whole number from 1.", field=name)
        ends[name] = given
    if "from" not in body and "to" not in body:
        return None
    return Stretch(first=ends["from"], last=ends["to"])


def key_of(body: dict[str, Any]) -> bytes:
    """The key that a preview was made with, so that what it showed is what is made; or a new one."""
    given = body.get("key")
    if given is None:
        return fresh_key()
    if not isinstance(given, str) or not re.fullmatch(rf"[0-9a-f]{{{2 * KEY_BYTES}}}", given):
        raise BadRequest(
            f"key must be the {2 * KEY_BYTES} hexadecimal digits that a preview gave.", field="key"
        )
    return bytes.fromhex(given)
