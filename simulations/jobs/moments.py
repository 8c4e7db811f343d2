"""A stored timeline's moment as a fork takes it: the frame, the members' newest metadata, and a simulated run's scenario."""

from __future__ import annotations

from typing import Final

from groups import storage
from groups.history.state.group import Semantics
from groups.models import Timeline
from groups.releases import release_of
from simulations.fork.values import Document, ForkError, Moment
from simulations.world import studies
from simulations.world.scenario import Scenario, load, with_release

ENTRIES_BACK_MOST: Final = 5_000
"""Entries that are searched for the members' metadata: more take longer than a reader waits."""

MEMBER_METADATA: Final = 5
"""The type of ``ConsumerGroupMemberMetadata``."""


def moment_of(timeline: Timeline, at: int) -> Moment:
    """The moment after entry ``at``. ``ForkError`` if there is no such entry."""
    frame = storage.frame_at(timeline, at)
    if frame is None:
        raise ForkError(f"Timeline {timeline.id} has entries 1 to {timeline.last}; there is no {at}")
    return Moment(
        frame=frame,
        cast=storage.summary(timeline).get("cast") or [],
        metadata=metadata_at(timeline, at, set(frame["members"])),
        scenario=scenario_of(timeline, str(frame["group"])),
        semantics=Semantics(timeline.semantics or Semantics.KAFKA),
        seed=1 if timeline.seed is None else timeline.seed,
    )


def metadata_at(timeline: Timeline, at: int, members: set[str]) -> dict[str, Document]:
    """Member id → its newest metadata record up to entry ``at``, of those among the last ``ENTRIES_BACK_MOST`` entries."""
    found: dict[str, Document] = {}
    for looked, entry in enumerate(storage.entries_before(timeline, at + 1)):
        if len(found) == len(members) or looked >= ENTRIES_BACK_MOST:
            break
        payload = entry["payload"]
        if entry["kind"] != "record" or payload.get("type") != MEMBER_METADATA or not payload.get("value"):
            continue
        member_id = payload["key"].get("memberId")
        if member_id in members:
            found.setdefault(member_id, payload["value"])
    return found


def scenario_of(timeline: Timeline, group: str) -> Scenario | None:
    """The scenario of a simulated run, with the release that it ran with."""
    text = timeline.scenario
    if not text and timeline.source == Timeline.Source.CASE_STUDY and timeline.id in studies.names():
        text = studies.text(timeline.id)
    if not text:
        return None
    scenario = load(text, group)
    return with_release(scenario, release_of(timeline.release)) if timeline.release else scenario
