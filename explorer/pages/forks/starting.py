"""Starting a branch: what the API and the command have in common."""

from __future__ import annotations

import contextlib
from typing import Final, TypedDict

from explorer.pages.runs.starting import start_run
from groups.models import TITLE_LENGTH_MOST, Timeline
from simulations.fork.edits import HAPPENS, Value
from simulations.fork.forking import fork
from simulations.fork.taking_over import taken_over
from simulations.fork.values import Assumption, Edits, Fault, Fork, ForkError, How, Moment
from simulations.jobs.moments import moment_of

BRANCHES_MOST: Final = 200
"""Timelines of one tree that are listed: a reader compares a few."""


class Branch(TypedDict):
    """A timeline of a tree; ``at`` is the parent's entry from which it continues otherwise, ``None`` of the root."""

    id: str
    title: str
    parent: str | None
    at: int | None
    status: str


class Offer(TypedDict):
    """What a moment gives a fork: ``why`` is null if it can be forked, else one sentence."""

    why: str | None
    same_run: bool
    protocol: str | None
    members: list[str]
    topics: list[str]
    assumptions: list[Assumption]


def branch_of(timeline: Timeline, at: int, edits: Edits, title: str = "") -> tuple[Timeline, Fork]:
    """Stores and queues a branch. ``ForkError`` or ``BadRequest`` in one sentence if there is none."""
    made = fork(moment_of(timeline, at), edits)
    branch = start_run(
        made.text,
        str(made.semantics),
        made.seed,
        timeline.release if made.how is How.SAME_RUN else None,
        title=title or title_of(edits),
        parent=timeline,
        fork_sequence=at,
    )
    return branch, made


def title_of(edits: Edits) -> str:
    """A branch is called by what it changes, in the words of the panel."""
    parts = [_changed(key, value) for key, value in edits.settings.items() if key != "length_ms"]
    parts += [_happens(fault) for fault in edits.faults]
    return f"Fork: {', '.join(parts)}"[:TITLE_LENGTH_MOST] if parts else "Fork without a change"


def _changed(key: str, value: Value) -> str:
    if key == "static":
        return "static members" if value else "dynamic members"
    shown = ", ".join(value) if isinstance(value, list) else value
    if key.endswith("_ms") and isinstance(value, int):
        key, shown = key.removesuffix("_ms"), f"{value / 1000:g} s"
    return f"{key.replace('_', ' ')} {shown}"


def _happens(fault: Fault) -> str:
    text = HAPPENS[fault.verb].format(who=fault.who, to=fault.to)
    length = "" if fault.for_ms is None else f" for {fault.for_ms / 1000:g} s"
    return f"{text}{length} after {fault.after_ms / 1000:g} s"


def offer_of(timeline: Timeline, at: int) -> Offer:
    """What a fork of the moment starts from; of a simulated run the values that the scenario has."""
    offer: Offer = {
        "why": None,
        "same_run": False,
        "protocol": None,
        "members": [],
        "topics": [],
        "assumptions": [],
    }
    try:
        moment = moment_of(timeline, at)
        made = fork(moment, Edits())
    except ForkError as error:
        return offer | {"why": str(error), "assumptions": list(error.assumptions)}
    return offer | {
        "same_run": made.how is How.SAME_RUN,
        "protocol": moment.frame.get("protocol"),
        "members": list(made.members),
        "topics": list(moment.scenario.topics if moment.scenario else moment.frame["topics"]),
        "assumptions": _rows(moment, made),
    }


def _rows(moment: Moment, made: Fork) -> list[Assumption]:
    """A simulated run's own settings, too: whatever is changed of them makes the fork take the state over."""
    with contextlib.suppress(ForkError):
        return list(taken_over(moment, Edits()).assumptions)
    return list(made.assumptions)


def tree_of(timeline: Timeline) -> list[Branch]:
    """The timelines that are joined with this one by forks, the root first, each after its parent."""
    root, seen = timeline, {timeline.pk}
    while root.parent is not None and root.parent.pk not in seen:
        root = root.parent
        seen.add(root.pk)
    tree: list[Branch] = []
    waiting = [root]
    while waiting and len(tree) < BRANCHES_MOST:
        each = waiting.pop()
        tree.append(
            {
                "id": each.id,
                "title": each.title,
                "parent": each.parent_id,
                "at": each.fork_sequence,
                "status": each.status,
            }
        )
        waiting += each.forks.order_by("-created", "-id")[:BRANCHES_MOST]
    return tree


def described(fork_made: Fork) -> dict[str, object]:
    """What a new branch is, for its answer."""
    return {
        "how": str(fork_made.how),
        "assumptions": list(fork_made.assumptions),
        "left_out": list(fork_made.left_out),
    }
