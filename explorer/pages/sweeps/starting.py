"""Starting a sweep, and going on with one: what the API and the page have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.http import QueryDict

from explorer.web.endpoint import BadRequest, check_room
from simulations.jobs import sweep_runs
from simulations.jobs.sweep_tasks import run_sweep
from simulations.laboratory import BOARDS, CaseError
from simulations.laboratory.links import case_of
from simulations.laboratory.presets import (
    Racks,
    Shape,
    Sizes,
    Subscriptions,
    racks_in,
    sizes_in,
    subscriptions_in,
)
from simulations.models import Sweep
from simulations.sweeps.asked import USUAL_HAPPENINGS, USUAL_SEEDS, USUAL_SHAPES, AxesError, axes_of
from simulations.sweeps.axes import GroupShape, name_of

SWEEPS_WAITING_MOST: Final = 10
"""Sweeps that may wait or run at once: each takes every core for as long as it lasts."""

SHAPES_LENGTH_MOST: Final = 4_000
"""Letters of the field for shapes of one's own."""


def start(document: Mapping[str, Any]) -> Sweep:
    """Store a sweep and queue it."""
    try:
        axes = axes_of(document)
    except AxesError as error:
        message = str(error)
        raise BadRequest(f"{message[:1].upper()}{message[1:]}.", field=error.field) from error
    _room_for_one_more()
    with transaction.atomic():
        sweep = sweep_runs.create(axes, master=settings.SPARK_MASTER)
        _queue(sweep)
    return sweep


def go_on(sweep_id: str) -> Sweep:
    """Queue a sweep that stopped before its end."""
    _room_for_one_more()
    try:
        with transaction.atomic():
            sweep = sweep_runs.take_up_again(sweep_id)
            _queue(sweep)
    except sweep_runs.CannotGoOn as error:
        raise BadRequest(str(error), status=409) from error
    return sweep


def asked_in_form(form: QueryDict) -> dict[str, Any]:
    """The axes of the page's form."""
    more = form.get("more", "")[:SHAPES_LENGTH_MOST].replace(",", " ").split()
    seeds = form.get("seeds", "").strip()
    return {
        "assignors": form.getlist("assignors"),
        "shapes": [*form.getlist("shapes"), *more],
        "events": form.getlist("events"),
        "seeds": int(seeds) if seeds.isascii() and seeds.isdigit() and len(seeds) < 10 else seeds,
    }


def wished(query: QueryDict) -> dict[str, Any]:
    """What the form begins with: the axes of an address, or shapes like the laboratory's group; the rest as usual."""
    usual: dict[str, list[str]] = {
        "assignors": [name_of(board) for board in BOARDS],
        "shapes": list(USUAL_SHAPES),
        "events": [str(event) for event in USUAL_HAPPENINGS],
    }
    if "g" in query and (shapes := shapes_like(query.urlencode())):
        usual["shapes"] = shapes
    given: dict[str, Any] = {key: query.getlist(key) or default for key, default in usual.items()}
    return given | {"seeds": query.get("seeds", str(USUAL_SEEDS))}


def shapes_like(query: str) -> list[str]:
    """The shape of a group in a link of the laboratory, then the other layouts of its size; none if there is no group."""
    try:
        case = case_of(query)
    except CaseError:
        return []
    size = Shape(len(case.members), len(case.topics), sum(case.sizes_before))
    own = GroupShape(
        size,
        sizes_in(case) or Sizes.EQUAL,
        subscriptions_in(case) or Subscriptions.SAME,
        racks_in(case) or Racks.NONE,
    )
    others = (
        GroupShape(size),
        GroupShape(size, sizes=Sizes.SKEWED),
        GroupShape(size, racks=Racks.THREE),
        GroupShape(size, subscriptions=Subscriptions.NESTED),
        GroupShape(size, subscriptions=Subscriptions.DISJOINT),
    )
    return list(dict.fromkeys(str(shape) for shape in (own, *others)))


def _queue(sweep: Sweep) -> None:
    # Where the queue cannot be reached, housekeeping queues what is stored as soon as it can: nothing is lost.
    transaction.on_commit(lambda: run_sweep.delay(sweep.id), robust=True)


def _room_for_one_more() -> None:
    check_room(sweep_runs.sweeps.open_count(), SWEEPS_WAITING_MOST, "sweeps")
