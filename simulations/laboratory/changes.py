"""What one can do to a case by clicking, each as ``{"what": …, …}``.

====================  ==============================================================================================
what                  and with it
====================  ==============================================================================================
``shape``             ``members``, ``topics``, ``partitions``: another group of that size, along the axes of this one
``sizes``             ``to``: ``equal``, ``skewed``
``subscriptions``     ``to``: ``same``, ``disjoint``, ``nested``
``racks``             ``to``: ``none``, ``three``
``before``            ``to``: ``range``, ``own``; ``seed`` if it is another
``event``             ``to``: ``full``, ``stable``, ``join``, ``leave``, ``grow``; ``count`` of members or partitions
``members``           ``by``: 1 adds one behind the others, −1 takes the last away
``remove``            ``member``: a place; a newcomer does not come then
``rack``              ``member``, ``to``: ``a``, ``b``, ``c`` or null
``subscribe``         ``member``, ``topic``, ``to``: true or false
``leaves``            ``member``, ``to``: whether it goes in this event
``partitions``        ``topic``, ``by``: so many more, or fewer
``topics``            ``by``: 1 adds a topic behind the others, −1 takes the last away
====================  ==============================================================================================

A group whose state before was given keeps it as far as the change allows: what is new belongs to nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Final, TypeVar

from simulations.laboratory.cases import (
    MEMBERS_MOST,
    NOBODY,
    PARTITIONS_MOST,
    SEED_MOST,
    TOPICS_MOST,
    Before,
    Case,
    CaseError,
    CaseTopic,
    Event,
    Member,
)
from simulations.laboratory.presets import (
    Racks,
    Shape,
    Sizes,
    Subscriptions,
    happening,
    preset,
    rack_of,
    racks_in,
    sizes_in,
    sizes_of,
    subscription_of,
    subscriptions_in,
)

Change = Mapping[str, object]
C = TypeVar("C", bound=StrEnum)

NEW_TOPIC_PARTITIONS: Final = 3


def changed(case: Case, change: Change) -> Case:
    """The case after a change; ``CaseError`` where the change makes no sense or goes beyond a bound."""
    what = change.get("what")
    make = CHANGES.get(what) if isinstance(what, str) else None
    if make is None:
        raise CaseError(f"a change needs what: one of {', '.join(CHANGES)}", "what")
    return make(case, change)


def _shape(case: Case, change: Change) -> Case:
    made = preset(
        Shape(
            _whole(change, "members", MEMBERS_MOST),
            _whole(change, "topics", TOPICS_MOST),
            _whole(change, "partitions"),
        ),
        sizes=sizes_in(case) or Sizes.EQUAL,
        subscriptions=subscriptions_in(case) or Subscriptions.SAME,
        racks=racks_in(case) or Racks.THREE,
        before=Before.RANGE if case.before is Before.GIVEN else case.before,
        seed=case.seed,
    )
    count = len(case.joining) or len(case.leaving) or None
    # Half of a large group may be more than a small one has.
    if case.event is Event.LEAVE and count is not None and count >= len(made.members):
        count = 1
    return happening(made, case.event, count)


def _sizes(case: Case, change: Change) -> Case:
    counts = sizes_of(_choice(change, Sizes), len(case.topics), sum(case.sizes_before))
    topics = tuple(replace(topic, partitions=count) for topic, count in zip(case.topics, counts, strict=True))
    return _with_topics(case, topics)


def _subscriptions(case: Case, change: Change) -> Case:
    kind = _choice(change, Subscriptions)
    return _everybody(
        case, lambda place, member: replace(member, topics=subscription_of(kind, place, len(case.topics)))
    )


def _racks(case: Case, change: Change) -> Case:
    kind = _choice(change, Racks)
    return _everybody(case, lambda place, member: replace(member, rack=rack_of(kind, place)))


def _before(case: Case, change: Change) -> Case:
    to = _choice(change, Before)
    if to is Before.GIVEN and case.given is None:
        raise CaseError("how the group stood is taken from a timeline, not chosen", "to")
    seed = _whole(change, "seed", SEED_MOST) if "seed" in change else case.seed
    given = case.given if to is Before.GIVEN else None
    return replace(case, before=to, seed=seed if to is Before.OWN else 1, given=given)


def _event(case: Case, change: Change) -> Case:
    count = _whole(change, "count") if change.get("count") is not None else None
    if count == 0:
        return happening(case, Event.STABLE)
    return happening(case, _choice(change, Event), count)


def _members(case: Case, change: Change) -> Case:
    if _step(change) > 0:
        place = len(case.members)
        # A newcomer of the event moves up by one, and into the rack and topics of its new place.
        plain = happening(case, Event.STABLE)
        newcomer = happening(plain, Event.JOIN).joining[0]
        made = replace(plain, members=(*case.members, newcomer))
        return _as_before(made, case, count=len(case.joining) or None, leaving=case.leaving, place=place)
    return _without(case, len(case.members) - 1)


def _remove(case: Case, change: Change) -> Case:
    place = _member_place(case, change)
    if place < len(case.members):
        return _without(case, place)
    left = tuple(m for at, m in enumerate(case.joining, len(case.members)) if at != place)
    if not left:
        return happening(case, Event.STABLE)
    return replace(case, joining=left)


def _without(case: Case, place: int) -> Case:
    if len(case.members) == 1:
        raise CaseError("a group needs at least one member", "members")
    members = tuple(member for at, member in enumerate(case.members) if at != place)
    leaving = tuple(at - (at > place) for at in case.leaving if at != place)
    given = case.given
    if given is not None:
        given = tuple(
            tuple(NOBODY if owner == place else owner - (owner > place) for owner in owners)
            for owners in given
        )
    event = case.event
    if event is Event.LEAVE and (not leaving or len(leaving) == len(members)):
        event, leaving = Event.STABLE, ()
    return replace(case, members=members, leaving=leaving, given=given, event=event)


def _as_before(made: Case, case: Case, *, count: int | None, leaving: tuple[int, ...], place: int) -> Case:
    """The event of ``case`` on ``made``, which has one member more, at ``place``."""
    if case.event is Event.JOIN:
        return happening(made, Event.JOIN, count)
    return replace(made, event=case.event, leaving=leaving, grown=case.grown)


def _rack(case: Case, change: Change) -> Case:
    at, to = _member_place(case, change), change.get("to")
    if to is not None and not isinstance(to, str):
        raise CaseError("to must be a, b, c or null", "to")
    return _everybody(case, lambda place, member: replace(member, rack=to) if place == at else member)


def _subscribe(case: Case, change: Change) -> Case:
    at, topic = _member_place(case, change), _topic_place(case, change)
    member = case.everybody[at]
    topics = set(member.topics) | {topic} if _flag(change) else set(member.topics) - {topic}
    return _everybody(
        case, lambda place, each: replace(each, topics=tuple(sorted(topics))) if place == at else each
    )


def _leaves(case: Case, change: Change) -> Case:
    at = _member_place(case, change)
    if at >= len(case.members):
        raise CaseError("a newcomer does not leave in the same event", "member")
    going = set(case.leaving) | {at} if _flag(change) else set(case.leaving) - {at}
    if not going:
        return happening(case, Event.STABLE)
    plain = happening(case, Event.STABLE)
    return replace(plain, event=Event.LEAVE, leaving=tuple(sorted(going)))


def _partitions(case: Case, change: Change) -> Case:
    at, by = _topic_place(case, change), _step(change)
    topics = tuple(
        replace(topic, partitions=topic.partitions + by) if place == at else topic
        for place, topic in enumerate(case.topics)
    )
    return _with_topics(case, topics)


def _topics(case: Case, change: Change) -> Case:
    there = len(case.topics)
    kind = subscriptions_in(case)
    if _step(change) > 0:
        topics = (*case.topics, CaseTopic(partitions=NEW_TOPIC_PARTITIONS))
    elif there == 1:
        raise CaseError("a group needs at least one topic", "topics")
    else:
        topics = case.topics[:-1]
    grown = case.grown
    event = case.event
    if grown is not None and grown[0] >= len(topics):
        event, grown = Event.STABLE, None

    def subscribed(place: int, member: Member) -> Member:
        if kind is not None:
            return replace(member, topics=subscription_of(kind, place, len(topics)))
        kept = tuple(topic for topic in member.topics if topic < len(topics))
        return replace(member, topics=(*kept, there) if len(topics) > there else kept)

    # Both at once: a member must not name a topic that is not there.
    members = tuple(subscribed(place, member) for place, member in enumerate(case.members))
    joining = tuple(subscribed(place, member) for place, member in enumerate(case.joining, len(members)))
    return replace(
        case,
        topics=topics,
        members=members,
        joining=joining,
        event=event,
        grown=grown,
        given=_fitted(case, topics),
    )


def _with_topics(case: Case, topics: tuple[CaseTopic, ...]) -> Case:
    return replace(case, topics=topics, given=_fitted(case, topics))


def _fitted(case: Case, topics: tuple[CaseTopic, ...]) -> tuple[tuple[int, ...], ...] | None:
    """What was given, for topics of other sizes."""
    if case.given is None:
        return None
    given = [*case.given, *((),) * (len(topics) - len(case.given))]
    return tuple(
        (owners + (NOBODY,) * topic.partitions)[: max(0, topic.partitions)]
        for owners, topic in zip(given, topics, strict=False)
    )


def _everybody(case: Case, make: Callable[[int, Member], Member]) -> Case:
    made = tuple(make(place, member) for place, member in enumerate(case.everybody))
    there = len(case.members)
    return replace(case, members=made[:there], joining=made[there:])


def _choice(change: Change, kind: type[C]) -> C:
    try:
        return kind(str(change.get("to")))
    except ValueError:
        raise CaseError(f"to must be one of {', '.join(kind)}", "to") from None


def _whole(change: Change, key: str, most: int = PARTITIONS_MOST) -> int:
    value = change.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise CaseError(f"{key} must be a whole number from 0 to {most:,}", key)
    return value


def _step(change: Change) -> int:
    value = change.get("by")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= abs(value) <= PARTITIONS_MOST:
        raise CaseError("by must be a whole number, not 0", "by")
    return value


def _flag(change: Change) -> bool:
    value = change.get("to")
    if not isinstance(value, bool):
        raise CaseError("to must be true or false", "to")
    return value


def _member_place(case: Case, change: Change) -> int:
    place = _whole(change, "member")
    if place >= len(case.everybody):
        raise CaseError(f"there is no member {place}; there are {len(case.everybody)}", "member")
    return place


def _topic_place(case: Case, change: Change) -> int:
    place = _whole(change, "topic")
    if place >= len(case.topics):
        raise CaseError(f"there is no topic {place}; there are {len(case.topics)}", "topic")
    return place


CHANGES: Final[Mapping[str, Callable[[Case, Change], Case]]] = {
    "shape": _shape,
    "sizes": _sizes,
    "subscriptions": _subscriptions,
    "racks": _racks,
    "before": _before,
    "event": _event,
    "members": _members,
    "remove": _remove,
    "rack": _rack,
    "subscribe": _subscribe,
    "leaves": _leaves,
    "partitions": _partitions,
    "topics": _topics,
}
