"""The part of a heartbeat, and of a task's result, that is about regular expressions; what they are is in ``regexes``.

Kafka: ``GroupMetadataManager.maybeUpdateRegularExpressions`` and ``handleRegularExpressionsResult``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from groups.history.state.consumer import ConsumerMember, ResolvedRegex
from simulations.protocol.assignors.java_orders import HashOrder, TimelineOrder, string_hash
from simulations.protocol.coordinator.consumer import records
from simulations.protocol.coordinator.consumer.counts import Counts
from simulations.protocol.coordinator.consumer.outcome import (
    Context,
    Outcome,
    Record,
    Refresh,
    Resolution,
    ResolveRegexes,
)
from simulations.protocol.coordinator.consumer.regexes import description
from simulations.protocol.coordinator.consumer.subscriptions import abandoned_regex
from simulations.protocol.coordinator.errors import RequestRefused
from simulations.protocol.messages.errors import ErrorCode

LEAST_BETWEEN_RESOLUTIONS_MS: Final = 10_000
"""How long after a resolution no other is started, also for a new expression; no setting of Kafka's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expressions:
    """What a heartbeat does about expressions.

    ``resolved``: the member's topics may be others at once, since its new expression is known already or its old one
    is gone. A new one that nobody has resolved changes nothing yet.
    """

    changed: bool = False
    resolved: bool = False
    records: tuple[Record, ...] = ()
    tasks: tuple[ResolveRegexes, ...] = ()


def update_expressions(context: Context, old: ConsumerMember, new: ConsumerMember) -> Expressions:
    """``RequestRefused`` if the member brings an expression that does not compile and nobody else has."""
    before, after = old.subscribed_topic_regex, new.subscribed_topic_regex
    written: list[Record] = []
    needed = resolved = False
    if before != after:
        gone = abandoned_regex(context, old, new)
        if gone is not None:
            written.append(records.regex_gone(context.state.group, gone))
        if not after:
            resolved = bool(before)
        elif after not in context.counts.regexes:
            _check(after)
            needed = True
        else:
            resolved = after in context.group.regexes
    counts = context.counts.changed(old, new)
    due = resolution_is_due(context, counts, needed=needed)
    task = ResolveRegexes(regexes=_in_order(context, before, after), member_id=new.member_id)
    return Expressions(
        changed=before != after,
        resolved=resolved,
        records=tuple(written),
        tasks=(task,) if due else (),
    )


def resolution_is_due(context: Context, counts: Counts, *, needed: bool = False) -> bool:
    """Whether a heartbeat starts a task; ``counts`` are those after it, ``needed`` if it brings a new expression."""
    if (not needed and not context.counts.regexes) or context.memory.resolving:
        return False
    last = _first_resolved(context)
    if last is not None and context.now_ms <= last.timestamp_ms + LEAST_BETWEEN_RESOLUTIONS_MS:
        return False
    if not counts.regexes:
        return False
    if needed or len(counts.regexes) != len(context.group.regexes) or last is None:
        return True
    return (
        last.version < context.memory.new_topics_version
        or context.now_ms > last.timestamp_ms + context.settings.regex_refresh_interval_ms
    )


def regexes_resolved(context: Context, resolution: Resolution) -> Outcome[None]:
    """Type 16 for each expression that somebody still has; type 3 if topics changed. No target: a heartbeat makes it."""
    if not context.group_exists:
        return Outcome(answer=None)
    group, group_id = context.group, context.state.group
    written: list[Record] = []
    found = dict(group.regexes)
    bump = False
    for regex in HashOrder.with_capacity(string_hash, len(resolution.topics), resolution.topics):
        if regex not in context.counts.regexes:
            continue
        topics = resolution.topics[regex]
        written.append(records.regex(group_id, regex, topics, resolution.version, resolution.timestamp_ms))
        known = group.regexes.get(regex)
        bump = bump or set(topics) != set(known.topics if known is not None else ())
        found[regex] = ResolvedRegex(
            topics=topics, version=resolution.version, timestamp_ms=resolution.timestamp_ms
        )
    names = {*context.counts.by_name, *(name for each in found.values() for name in each.topics)}
    metadata_hash = context.image.metadata_hash(names)
    if not bump and metadata_hash == group.metadata_hash:
        return Outcome(answer=None, records=tuple(written))
    epoch = group.group_epoch + 1
    written.append(records.group_epoch(group_id, epoch, metadata_hash))
    refresh = Refresh.after(context.now_ms, epoch)
    return Outcome(answer=None, records=tuple(written), memory=replace(context.memory, refresh=refresh))


def _check(regex: str) -> None:
    wrong = description(regex)
    if wrong is not None:
        raise RequestRefused(
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            f"SubscribedTopicRegex `{regex}` is not a valid regular expression: {wrong}.",
        )


def _first_resolved(context: Context) -> ResolvedRegex | None:
    regexes = context.group.regexes
    return regexes[next(iter(TimelineOrder(string_hash, regexes)))] if regexes else None


def _in_order(context: Context, before: str | None, after: str | None) -> tuple[str, ...]:
    """As the task gets them: a copy of the group's table, in which the sender's vote is withdrawn and cast again.

    Both are done whether or not the sender changes its expression: one that nobody else has comes to the front.
    """
    counts = context.counts.regexes
    order = HashOrder.map_copy(string_hash, TimelineOrder(string_hash, counts))
    if before:
        order.compute(before)
        if counts.get(before) == 1:
            order.remove(before)
    if after:
        order.compute(after)
    return tuple(order)
