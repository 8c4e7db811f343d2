"""What a request to hand something on asks for: JSON in, values out, one line for what cannot be."""

from __future__ import annotations

import re
from typing import Any, Final, Literal, cast

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from explorer.pages.laboratory.asking import board_of
from explorer.pages.sweeps.describing import shown_of
from explorer.pages.sweeps.views import check_place
from explorer.sharing.comparing import Compared
from explorer.sharing.laboratory import Group, group_of, group_of_cell
from explorer.sharing.links import DAYS_MOST, DAYS_USUAL, WHO, Asked, Terms
from explorer.web.endpoint import BadRequest, choice
from groups.exporting import Wanted, fresh_key
from groups.incidents.pieces import Stretch
from groups.incidents.redaction import KEY_BYTES
from groups.models import Timeline
from simulations.jobs import sweep_runs
from simulations.sweeps.summary import MEASURES

VIEWS: Final = ("reader", "investigator")
ORIGIN: Final = re.compile(r"https?://[a-z0-9]([a-z0-9.-]{0,250}[a-z0-9])?(:[0-9]{1,5})?", re.IGNORECASE)
"""A page's origin as a policy names it; no path, no wildcard."""

ORIGINS_MOST: Final = 8

MS_MOST: Final = 2**53 - 1
"""What a browser counts exactly."""


def wanted_of(body: dict[str, Any], timeline: Timeline) -> Wanted:
    view = choice(body.get("view", "investigator"), "view", VIEWS)
    return Wanted(
        made=timezone.now(),
        stretch=stretch_of(body, timeline),
        key=hiding_key_of(body),
        view=cast(Literal["reader", "investigator"], view),
        at=at_of(body, timeline),
        notes=flag_of(body, "notes"),
    )


def compared_of(body: dict[str, Any]) -> Compared:
    """``{"runs": [ids], "from_ms", "at_ms", "hide_names", "key"}``."""
    runs = body.get("runs")
    if not isinstance(runs, list) or not all(isinstance(run, str) for run in runs):
        raise BadRequest("runs must be a list of ids of timelines.", field="runs")
    times = {}
    for name in ("from_ms", "at_ms"):
        given = body.get(name, 0)
        if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given <= MS_MOST:
            raise BadRequest(f"{name}={given!r} must be a whole number of milliseconds from 0.", field=name)
        times[name] = given
    return Compared(made=timezone.now(), runs=runs, key=hiding_key_of(body), **times)


def hiding_key_of(body: dict[str, Any]) -> bytes | None:
    """The key under which names are hidden; null where they are shown."""
    key = key_of(body)
    return key if flag_of(body, "hide_names") else None


def flag_of(body: dict[str, Any], name: str) -> bool:
    value = body.get(name, False)
    if not isinstance(value, bool):
        raise BadRequest(f"{name}={value!r} must be true or false.", field=name)
    return value


def asked_of(body: dict[str, Any], timeline: Timeline) -> Asked:
    return Asked(
        wanted=wanted_of(body, timeline),
        days=days_of(body),
        signed_in=signed_in_of(body),
        embed_origins=origins_of(body),
    )


def terms_of(body: dict[str, Any], *, hides_names: bool) -> Terms:
    """Of what is no timeline: it has no view for readers of its own."""
    return Terms(
        view="investigator",
        hides_names=hides_names,
        made=timezone.now(),
        days=days_of(body),
        signed_in=signed_in_of(body),
        embed_origins=origins_of(body),
    )


def signed_in_of(body: dict[str, Any]) -> bool:
    """Whether only accounts may open a link."""
    signed_in = choice(body.get("who", WHO[0]), "who", WHO) != WHO[0]
    if signed_in and not settings.LOGIN:
        raise BadRequest("Nobody signs in at this server: a link is for anyone who has it.", field="who")
    if signed_in and body.get("embed_origins"):
        raise BadRequest("Nobody can sign in within a frame: leave embed_origins out.", field="embed_origins")
    return signed_in


def days_of(body: dict[str, Any]) -> int:
    days = body.get("days", DAYS_USUAL)
    if not isinstance(days, int) or isinstance(days, bool) or not 1 <= days <= DAYS_MOST:
        expected = f"a whole number from 1 to {DAYS_MOST}"
        raise BadRequest(f"days={days!r} must be {expected}.", field="days", expected=expected)
    return days


def origins_of(body: dict[str, Any]) -> tuple[str, ...]:
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
    return tuple(origins)


def group_in(request: HttpRequest, body: dict[str, Any]) -> Group:
    """``{"query", "board", "hide_names"}``: a group of the laboratory; or ``{"cell": {"sweep", "cell", "seed", "measure"}}``."""
    if (cell := body.get("cell")) is not None:
        return _cell_in(request, cell)
    query = body.get("query")
    if not isinstance(query, str):
        raise BadRequest("query must be that of a group of the laboratory.", field="query")
    hides = hiding_key_of(body) is not None
    return group_of(request, query, board_of(body) + 1, hides_names=hides)


def _cell_in(request: HttpRequest, cell: Any) -> Group:
    if not isinstance(cell, dict) or not isinstance(cell.get("sweep"), str):
        raise BadRequest('cell must be {"sweep": id, "cell": number, "seed": number}.', field="cell")
    for name in ("cell", "seed"):
        if not isinstance(cell.get(name), int) or isinstance(cell[name], bool):
            raise BadRequest(f"{name}={cell.get(name)!r} must be a whole number.", field=name)
    shown = shown_of({"measure": str(cell.get("measure", MEASURES[0].key))})
    if isinstance(shown, str):
        raise BadRequest(shown, field="measure")
    sweep = sweep_runs.get(cell["sweep"])
    check_place(sweep, cell["cell"], cell["seed"])
    return group_of_cell(request, sweep, cell["cell"], cell["seed"], shown)


def at_of(body: dict[str, Any], timeline: Timeline) -> int | None:
    """The entry at which a file opens; null where it opens like the timeline itself."""
    at = body.get("at")
    if at is None:
        return None
    if not isinstance(at, int) or isinstance(at, bool) or not 0 <= at <= timeline.last:
        raise BadRequest(f"at={at!r} must be a whole number from 0 to {timeline.last}.", field="at")
    return at


def stretch_of(body: dict[str, Any], timeline: Timeline) -> Stretch | None:
    """All of it if neither end is given."""
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
