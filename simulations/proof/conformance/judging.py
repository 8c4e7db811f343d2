"""A whole recording judged: every group of it, by the release that the recording shows unless one is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from groups.releases import Release, release_by
from groups.texts.request_log import LoggedRequest
from simulations.proof.conformance.recording import ImageChange, Written
from simulations.proof.conformance.releases import bounds_of
from simulations.proof.conformance.report import Report, report
from simulations.proof.conformance.requests import HEARTBEAT
from simulations.proof.conformance.search import Judge
from simulations.proof.conformance.splitting import NotJudged, recordings
from simulations.protocol.coordinator.settings import Settings


class NotServed(ValueError):
    """The release that was named does not have the consumer protocol, which the recording uses; the message names a group."""


class Judged(Report):
    """The report, with the release that was judged by, and why it was that one."""

    release: str
    release_because: str


def judged(
    requests: Sequence[LoggedRequest],
    written: Mapping[str, list[Written]],
    images: tuple[ImageChange, ...],
    settings: Settings,
    *,
    release: Release | None = None,
    only: str | None = None,
) -> tuple[Judged, list[Judge], NotJudged]:
    """The report, the groups that it is about, and what was left out; raises :class:`NotServed`."""
    if release and not release.rules.consumer_protocol:
        for request in requests:
            group = request.request.get("groupId")
            if request.api == HEARTBEAT and only in (None, group):
                raise NotServed(
                    f"the recorded group {group} uses the consumer protocol, which brokers {release} do not serve"
                )
    found, why = (release, "--release names it") if release else release_by(bounds_of(requests, written))
    not_judged, judges = NotJudged(), []
    for recording in recordings(requests, written, images, not_judged, only=only):
        judge = Judge(recording, replace(settings, release=found))
        judge.judge()
        judges.append(judge)
    result = report((judge.tally for judge in judges), not_judged)
    return {"release": found, "release_because": why, **result}, judges, not_judged
