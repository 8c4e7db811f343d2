"""Reads ``script`` and ``steps``: what happens when, and where the narration stands.

A line of the script is ``{at: 12s, VERB: who}`` with what the verb needs besides:

=================  ========================================================================================
join, restart      ``A`` or ``[A, B]``; a process that was killed comes back with the id ``A~2``, and so does a static
                   member's that has closed; ``restart`` closes a static member's first and kills any other
leave, kill        the member says that it leaves, a static one for now; its process is gone without a word
pause, resume      its process stands still and goes on
heartbeat          it sends a heartbeat at once
commit             ``offset: 42``: it commits this offset for each partition that it owns
slow_revoke        ``for: 1.5s``: from here on its ``on_partitions_revoked`` takes so long
subscribe          ``topics: [foo, bar]``
add_partitions     a topic, ``to: 4``: its new number of partitions
=================  ========================================================================================
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from simulations.scenario.nodes import Node
from simulations.scenario.values import (
    PARTITIONS_MAX,
    SCRIPT_MAX,
    STEPS_MAX,
    UNTIL_MAX_MS,
    Action,
    Event,
    Member,
    Start,
    Step,
    Topic,
    Verb,
)

VERBS_TO_COME: Final = (
    "poll_late",
    "create_topic",
    "delete_topic",
    "fail_over",
    "cut",
    "heal",
    "set_config",
    "upgrade",
    "downgrade",
)
EXTRA_KEYS: Final[Mapping[Verb, str]] = {
    Verb.COMMIT: "offset",
    Verb.SLOW_REVOKE: "for",
    Verb.SUBSCRIBE: "topics",
    Verb.ADD_PARTITIONS: "to",
}
OFFSET_MAX: Final = 2**63 - 1

_AWAY, _RUNNING, _PAUSED, _DEAD = "has not joined", "is running", "is paused", "was killed"

_ALLOWED: Final[Mapping[Verb, tuple[str, ...]]] = {
    Verb.JOIN: (_AWAY, _DEAD),
    Verb.LEAVE: (_RUNNING,),
    Verb.KILL: (_RUNNING, _PAUSED),
    Verb.PAUSE: (_RUNNING,),
    Verb.RESUME: (_PAUSED,),
    Verb.RESTART: (_RUNNING, _PAUSED, _DEAD),
    Verb.HEARTBEAT: (_RUNNING,),
    Verb.COMMIT: (_RUNNING,),
    Verb.SLOW_REVOKE: (_AWAY, _RUNNING, _PAUSED),
    Verb.SUBSCRIBE: (_RUNNING,),
}
_LEADS_TO: Final[Mapping[Verb, str]] = {
    Verb.JOIN: _RUNNING,
    Verb.LEAVE: _AWAY,
    Verb.KILL: _DEAD,
    Verb.PAUSE: _PAUSED,
    Verb.RESUME: _RUNNING,
    Verb.RESTART: _RUNNING,
}

WITHOUT_WHO: Final = (Event.TARGET,)
"""Events that no member and no topic is named with."""


def read_script(
    node: Node, topics: Mapping[str, Topic], members: Mapping[str, Member], start: Start | None
) -> tuple[Action, ...]:
    """The actions in order of time; lines of one time keep their order."""
    lines = node.items()
    if len(lines) > SCRIPT_MAX:
        raise node.wrong(f"at most {SCRIPT_MAX} lines, these are {len(lines)}")
    read = [(action, line) for line in lines for action in _actions(line, topics, members)]
    read.sort(key=lambda pair: pair[0].at_ms)
    _check_order(read, members, topics, start)
    return tuple(action for action, _ in read)


def read_steps(node: Node, topics: Mapping[str, Topic], members: Mapping[str, Member]) -> tuple[Step, ...]:
    items = node.items()
    if len(items) > STEPS_MAX:
        raise node.wrong(f"at most {STEPS_MAX} steps, these are {len(items)}")
    return tuple(_step(item, topics, members) for item in items)


def _actions(line: Node, topics: Mapping[str, Topic], members: Mapping[str, Member]) -> list[Action]:
    found = line.mapping()
    if "at" not in found:
        raise line.wrong("a line of the script needs at, such as at: 12s")
    named = [key for key in found if key in tuple(Verb)]
    for key in found:
        if key in VERBS_TO_COME:
            raise found[key].wrong(f"{key} is not simulated yet; the verbs are {', '.join(Verb)}")
    if not named:
        # Whatever is neither a verb nor of one was meant to be the verb.
        line.mapping(("at", *EXTRA_KEYS.values(), *Verb))
        raise line.wrong(f"a line of the script needs a verb; there are {', '.join(Verb)}")
    if len(named) > 1:
        raise line.wrong(f"one verb a line, this has {' and '.join(named)}")
    verb = Verb(named[0])
    extra = EXTRA_KEYS.get(verb)
    found = line.mapping(("at", verb, *((extra,) if extra else ())))
    at_ms = found["at"].duration_ms(UNTIL_MAX_MS)
    argument = found.get(extra) if extra else None
    if argument is None and verb in (Verb.SLOW_REVOKE, Verb.SUBSCRIBE, Verb.ADD_PARTITIONS):
        raise line.wrong(f"{verb} needs {extra}")
    who: Collection[str] = topics if verb is Verb.ADD_PARTITIONS else members
    what = "topic" if verb is Verb.ADD_PARTITIONS else "member"
    listed = found[verb].items() if found[verb].kind == "a list" else [found[verb]]
    return [
        Action(
            at_ms=at_ms,
            verb=verb,
            who=item.choice(tuple(who), what),
            length_ms=argument.duration_ms(UNTIL_MAX_MS) if argument and verb is Verb.SLOW_REVOKE else None,
            topics=(
                tuple(topic.choice(tuple(topics), "topic") for topic in argument.items())
                if argument and verb is Verb.SUBSCRIBE
                else ()
            ),
            offset=argument.integer(0, OFFSET_MAX) if argument and verb is Verb.COMMIT else None,
            partitions=(
                argument.integer(1, PARTITIONS_MAX) if argument and verb is Verb.ADD_PARTITIONS else None
            ),
        )
        for item in listed
    ]


def _check_order(
    read: list[tuple[Action, Node]],
    members: Mapping[str, Member],
    topics: Mapping[str, Topic],
    start: Start | None,
) -> None:
    """Refuses what cannot be done at its time, such as to kill a member that has not joined."""
    states = dict.fromkeys(members, _AWAY)
    if start is not None:
        states |= {member.name: _RUNNING for member in start.members}
    counts = {name: topic.partitions for name, topic in topics.items()}
    for action, line in read:
        when = f"at {action.at_ms / 1000:g} s"
        if action.verb is Verb.ADD_PARTITIONS:
            assert action.partitions is not None
            if action.partitions <= counts[action.who]:
                raise line.wrong(
                    f"{action.who} has {counts[action.who]} partitions {when}; it can only grow, not go to "
                    f"{action.partitions}"
                )
            counts[action.who] = action.partitions
            if sum(counts.values()) > PARTITIONS_MAX:
                raise line.wrong(f"all topics together have at most {PARTITIONS_MAX} partitions")
            continue
        state = states[action.who]
        if state not in _ALLOWED[action.verb]:
            raise line.wrong(f"{action.verb} {action.who}: it {state} {when}")
        states[action.who] = _LEADS_TO.get(action.verb, state)


def _step(node: Node, topics: Mapping[str, Topic], members: Mapping[str, Member]) -> Step:
    found = node.mapping(("after", "says"))
    for key in ("after", "says"):
        if key not in found:
            raise node.wrong(f"a step needs {key}")
    after, says = found["after"], found["says"].text()
    if after.kind == "text":
        event = Event(after.choice(tuple(Event), "event"))
        if event not in WITHOUT_WHO:
            raise after.wrong(f"{event} needs its member, such as {{{event}: A}}")
        return Step(event=event, who=None, says=says)
    pairs = after.mapping(tuple(Event))
    if len(pairs) != 1:
        raise after.wrong("expected one event, such as {join: A}")
    name, value = next(iter(pairs.items()))
    event = Event(name)
    if event in WITHOUT_WHO:
        raise value.wrong(f"{event} stands alone: after: {event}")
    if event is Event.METADATA:
        return Step(event=event, who=value.choice(tuple(topics), "topic"), says=says)
    who = value.text()
    # A restarted process is named after its member: A~2.
    if who.partition("~")[0] not in members:
        value.choice(tuple(members), "member")
    return Step(event=event, who=who, says=says)
