"""A transcript as a recording for ``conform``: what a broker's request log would have told of it.

A request that was never answered stands in no request log, and is left out.
"""

from __future__ import annotations

from simulations.proof.conformance import ImageChange, RecordedRequest, Recording, Written, image_of_names
from simulations.proof.conformance.requests import CLASSIC, can_ask
from simulations.proof.conformance.splitting import bounded

from .repeating import AT_ONCE_MS, CONSTANTS
from .transcript import Restarted, Sent, Transcript

PARTITION = 0
"""Of the offsets topic; any will do."""

UNLOGGED = frozenset(
    {
        "classic-commit-keeps-alive",
        "classic-max-size-pending",
        "classic-restart-completing",
        "classic-sync-refused",
    }
)
"""Exchanges in which a request that was never answered counts: no request log has it."""

CONSTANT = {**CONSTANTS, "DescribeGroups": "DESCRIBE_GROUPS", **{name: api for api, name in CLASSIC.items()}}


def recording_of(transcript: Transcript) -> Recording:
    topics = {topic_id: (name, count) for name, (topic_id, count) in transcript.topics.items()}
    asked = [
        _asked(transcript.group, event)
        for event in transcript.events
        if isinstance(event, Sent) and event.answer is not None and can_ask(CONSTANT.get(event.api, ""))
    ]
    slowest_ms = max(
        (took for each in asked if (took := each.done_ms - each.arrived_ms) < AT_ONCE_MS), default=0
    )
    times = [each.at_ms for each in transcript.written]
    written = [
        Written(
            partition=PARTITION,
            offset=offset,
            # A batch has one timestamp: where the next one begins.
            batch=times.index(each.at_ms),
            at_ms=each.at_ms,
            payload=each.payload,
        )
        for offset, each in enumerate(transcript.written)
    ]
    images = image_of_names(topics)
    loads = [
        ImageChange(at_ms=event.at_ms, version=number + 1, image=images[0].image, elected=(PARTITION,))
        for number, event in enumerate(transcript.events)
        if isinstance(event, Restarted)
    ]
    return Recording(
        group=transcript.group,
        asked=tuple(
            sorted(
                (bounded(each, slowest_ms) for each in asked),
                key=lambda each: (each.arrived_ms, each.done_ms),
            )
        ),
        written=tuple(written),
        images=(*images, *loads),
        slowest_ms=slowest_ms,
    )


def _asked(group: str, sent: Sent) -> RecordedRequest:
    assert sent.answer is not None
    assert sent.done_ms is not None
    answer = sent.answer["groups"][0] if sent.api == "DescribeGroups" else sent.answer
    return RecordedRequest(
        group=group,
        api=CONSTANT[sent.api],
        version=sent.version,
        client=sent.client,
        host="/127.0.0.1",
        request=sent.body,
        response=answer,
        arrived_ms=sent.at_ms,
        done_ms=sent.done_ms,
        line=sent.ticket,
    )
