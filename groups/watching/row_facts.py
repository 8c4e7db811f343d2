"""The facts of a group's row in lists: one computation, whether the group is polled or followed.

The source of each fact is the coordinator's newest description, by the watcher's clock. The log of a followed group replaces it
where the coordinator refuses to describe the group, and adds the generation, which no description contains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Final, cast

from groups.cluster_models import STATE_LENGTH_MOST
from groups.history.frames.shapes import Frame
from groups.history.polls.description import UNSTABLE, GroupDescription, GroupKind
from groups.watching.group_row import Facts, LagFacts

REBALANCES_KEPT: Final = 60
"""Times of the last rebalances, for the list's small figure."""

COUNTED_WITHIN_MS: Final = 60_000
"""Between two looks that are further apart, rebalances have no known time: they count once."""

FLIP_MS: Final = 60_000
"""A group that was Stable for no longer, and rebalances again at the same epoch, has not ended its rebalance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupView:
    """What one source shows of a group now. ``number`` is the group epoch or the generation, null where unknown.

    ``settled`` identifies the assignment of a stable classic group whose generation is unknown.
    """

    kind: str
    state: str
    members: int
    group_epoch: int | None
    assignment_epoch: int | None
    behind: int
    is_rebalancing: bool
    number: int | None
    settled: str | None = None


def view_of_description(description: GroupDescription) -> GroupView:
    """A description as a view."""
    is_classic = description.kind is GroupKind.CLASSIC
    return GroupView(
        kind=description.kind.value,
        state=description.state[:STATE_LENGTH_MOST],
        members=len(description.members),
        group_epoch=description.group_epoch,
        assignment_epoch=description.assignment_epoch,
        behind=sum(
            1 for each in description.members if each.epoch not in (None, description.assignment_epoch)
        ),
        is_rebalancing=description.is_rebalancing,
        number=description.group_epoch,
        settled=_settled(description) if is_classic else None,
    )


def with_generation(view: GroupView, generation: int | None) -> GroupView:
    """The view of a classic group with the generation that its log contains; any other view as it is."""
    if view.group_epoch is not None or generation is None:
        return view
    return replace(view, number=generation, settled=None)


def view_of_frame(frame: Frame) -> GroupView:
    """The frame of a followed group as a view."""
    epoch, target_epoch = frame.get("group_epoch"), frame.get("assignment_epoch")
    state, members = (frame.get("state") or "")[:STATE_LENGTH_MOST], frame.get("members") or {}
    return GroupView(
        kind=frame.get("protocol") or "",
        state=state,
        members=len(members),
        group_epoch=epoch,
        assignment_epoch=target_epoch,
        behind=sum(1 for each in members.values() if each.get("epoch") not in (None, target_epoch)),
        is_rebalancing=state in UNSTABLE or (state != "Empty" and epoch != target_epoch),
        number=epoch if epoch is not None else frame.get("generation"),
    )


def facts_after(
    old: Mapping[str, Any],
    old_state: str,
    view: GroupView,
    at_ms: int,
    looked_ms: int | None,
    happened_ms: int | None = None,
) -> dict[str, Any]:
    """The facts of a row after a look at ``at_ms``; all times are the watcher's.

    ``looked_ms``: the look before, null for none by this process. ``happened_ms``: when a rebalance that the look shows happened, if
    a log that is still being read gives that.
    """
    began = view.is_rebalancing and not old.get("rebalancing")
    # A member that is late makes a group Stable for a moment and Reconciling again at the same epoch: that is one rebalance.
    is_flip = (
        began
        and view.group_epoch is not None
        and view.number == old.get("number")
        and old.get("began_ms") is not None
        and at_ms - (old.get("state_since_ms") or 0) <= FLIP_MS
    )
    began_ms = at_ms if began and not is_flip else old.get("began_ms")
    count = _rebalances(old, view, began=began and not is_flip)
    if looked_ms is None or at_ms - looked_ms > COUNTED_WITHIN_MS:
        count = min(count, 1)
    times = [*old.get("rebalanced_ms", ()), *[happened_ms or at_ms] * min(count, REBALANCES_KEPT)]
    had = old.get("members")
    has_lost = had is not None and view.members < had
    is_same_state = view.state == old_state and old.get("state_since_ms") is not None
    facts: Facts = {
        "group_epoch": view.group_epoch,
        "assignment_epoch": view.assignment_epoch,
        "members": view.members,
        "behind": view.behind,
        **_lag_facts(old),
        "state_since_ms": old["state_since_ms"] if is_same_state else at_ms,
        "rebalancing": view.is_rebalancing,
        "since_ms": (began_ms if began else old.get("since_ms")) if view.is_rebalancing else None,
        "rebalanced_ms": times[-REBALANCES_KEPT:],
        "lost_ms": (happened_ms or at_ms) if has_lost else old.get("lost_ms"),
        "began_ms": began_ms,
        "number": view.number,
        "settled": view.settled or (old.get("settled") if view.is_rebalancing else None),
    }
    return cast(dict[str, Any], facts)


def _lag_facts(old: Mapping[str, Any]) -> LagFacts:
    """They come from rounds that ask for offsets; others leave them as they are."""
    return {
        "lag": old.get("lag"),
        "lag_ms": old.get("lag_ms"),
        "lag_is_least": old.get("lag_is_least"),
        "lost_records": old.get("lost_records"),
        "lost_partition": old.get("lost_partition"),
        "skew": old.get("skew"),
        "skew_of": old.get("skew_of"),
    }


def _rebalances(old: Mapping[str, Any], view: GroupView, *, began: bool) -> int:
    """How many rebalances this look shows for the first time."""
    number, settled = old.get("number"), old.get("settled")
    if view.group_epoch is not None:
        # Each group epoch is a rebalance, however many lie between two looks.
        epochs = view.group_epoch - number if number is not None else 0
        return max(epochs, 1 if began or epochs < 0 else 0)
    if number is not None and view.number is not None:
        changed = number != view.number
    else:
        changed = None not in (settled, view.settled) and settled != view.settled
    # A rebalance that was counted when it began ends with a generation, which is not another one.
    return 1 if began or (changed and not old.get("rebalancing")) else 0


def _settled(description: GroupDescription) -> str | None:
    """A digest of who has what; null while the group is between two generations, when no description contains it."""
    if description.state not in ("Stable", "Empty"):
        return None
    rows = sorted(f"{each.member_id} {each.assigned}" for each in description.members)
    return blake2b("\n".join(rows).encode(), digest_size=8).hexdigest()
