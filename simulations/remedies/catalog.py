"""The remedies that fit an incident: each a change of its scenario that somebody could have made before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from simulations.fork.settings import USUAL_REBALANCE_MS
from simulations.fork.values import CLASSIC, CONSUMER, Document
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.protocol.assignors.classic.strategies import COOPERATIVE, rebalance_protocol
from simulations.protocol.coordinator.settings import Settings
from simulations.remedies.lines import (
    DOWN,
    RESTARTS,
    Absence,
    absences,
    at_of,
    member_of,
    moved,
    split,
    verb_of,
    with_script,
)
from simulations.remedies.values import Remedy
from simulations.world.scenario import Verb
from simulations.world.scenario.classic_members import CLASSIC_KEYS, Classic

SHORT_SESSION_MS: Final = 10_000
LONG_SESSION_MS: Final = 90_000
SHORT_POLL_MS: Final = 60_000
"""Values that operators try first: a fifth and twice of Kafka's session timeout, a fifth of its poll interval."""

SLOW_APART_MS: Final = 60_000
FAST_APART_MS: Final = 2_000
"""Between two restarts of a deploy: longer than a session timeout, and as fast as an orchestrator goes."""

REFUSED_AGAIN_MS: Final = 10_000
"""A static process of the consumer protocol that is refused is started again so often: an orchestrator's first back-off."""

OTHER_CLASSIC: Final = ("sticky", "roundrobin", "range")


def remedies_of(document: Document) -> list[Remedy]:
    """In the order in which they run."""
    return [*_memberships(document), *_timeouts(document), *_protocols(document), *_deploys(document)]


def session_ms(document: Document) -> int:
    if document["protocol"] == CLASSIC:
        given = [member.get("session_timeout_ms") for member in document["members"].values()]
        return max((int(each) for each in given if each), default=Classic().session_timeout_ms)
    return int((document.get("config") or {}).get("session_timeout_ms", Settings().session_timeout_ms))


def with_session(document: Document, timeout_ms: int) -> Document:
    """The heartbeat interval follows where it would be over a third of it."""
    if document["protocol"] == CLASSIC:
        usual = Classic().heartbeat_interval_ms
        return of_members(
            document,
            lambda member: {
                "session_timeout_ms": timeout_ms,
                "heartbeat_interval_ms": min(member.get("heartbeat_interval_ms", usual), timeout_ms // 3),
            },
        )
    config = dict(document.get("config") or {})
    beat_ms = min(config.get("heartbeat_interval_ms", Settings().heartbeat_interval_ms), timeout_ms // 3)
    return {
        **document,
        "config": config | {"session_timeout_ms": timeout_ms, "heartbeat_interval_ms": beat_ms},
    }


def of_members(document: Document, change: Callable[[Document], Document]) -> Document:
    members = {name: {**member, **change(member)} for name, member in document["members"].items()}
    return {**document, "members": members}


def _memberships(document: Document) -> Iterator[Remedy]:
    if all(member.get("instance_id") for member in document["members"].values()):
        return
    yield Remedy(
        key="static", name="Static membership", setting="group.instance.id for each member", change=static
    )


def static(document: Document) -> Document:
    """An instance id for each member. One that is refused until its former process is removed is started again."""
    away = [0]
    script = split(document["script"])
    for absence in absences(script):
        if absence.up is not None:
            away.append(at_of(script[absence.up]) - at_of(script[absence.down]))
    members = {}
    for name, member in document["members"].items():
        members[name] = {**member, "instance_id": member.get("instance_id") or name}
        if document["protocol"] == CONSUMER and any(
            absence.member == name and absence.up is not None for absence in absences(script)
        ):
            members[name].setdefault("restart_after_ms", max(REFUSED_AGAIN_MS, max(away) + 1_000))
    return {**document, "members": members}


def _timeouts(document: Document) -> Iterator[Remedy]:
    now_ms = session_ms(document)
    for timeout_ms, name in (
        (SHORT_SESSION_MS, "Shorter session timeout"),
        (LONG_SESSION_MS, "Longer session timeout"),
    ):
        if (timeout_ms < now_ms) if timeout_ms == SHORT_SESSION_MS else (timeout_ms > now_ms):
            yield Remedy(
                key=f"session-{timeout_ms}",
                name=name,
                setting=f"session.timeout.ms={timeout_ms}",
                change=partial(with_session, timeout_ms=timeout_ms),
            )
    polls = [
        member.get("rebalance_timeout_ms", USUAL_REBALANCE_MS) for member in document["members"].values()
    ]
    poll_ms = SHORT_POLL_MS if max(polls) > SHORT_POLL_MS else USUAL_REBALANCE_MS
    yield Remedy(
        key=f"poll-{poll_ms}",
        name=f"{'Shorter' if poll_ms < max(polls) else 'Longer'} poll interval and rebalance timeout",
        setting=f"max.poll.interval.ms={poll_ms}",
        change=lambda doc: of_members(doc, lambda _member: {"rebalance_timeout_ms": poll_ms}),
    )


def _protocols(document: Document) -> Iterator[Remedy]:
    if document["protocol"] == CONSUMER:
        now = str(document.get("assignor") or Settings().assignors[0])
        for name in SERVER_ASSIGNORS:
            if name != now and now in SERVER_ASSIGNORS:
                yield Remedy(
                    key=f"assignor-{name}",
                    name="Other assignor",
                    setting=f"group.remote.assignor={name}",
                    change=partial(_assigned_by, name=name),
                )
        return
    listed = next(iter(document["members"].values())).get("assignors") or list(Classic().assignors)
    if rebalance_protocol(listed) != COOPERATIVE:
        yield Remedy(
            key="cooperative",
            name="Cooperative assignor",
            setting="partition.assignment.strategy=cooperative-sticky",
            change=lambda doc: of_members(doc, lambda _member: {"assignors": ["cooperative-sticky"]}),
        )
    other = next(name for name in OTHER_CLASSIC if name != listed[0])
    yield Remedy(
        key=f"assignor-{other}",
        name="Other assignor",
        setting=f"partition.assignment.strategy={other}",
        change=lambda doc: of_members(doc, lambda _member: {"assignors": [other]}),
    )
    yield Remedy(
        key="consumer", name="Consumer protocol", setting="group.protocol=consumer", change=consumer_protocol
    )


def _assigned_by(document: Document, name: str) -> Document:
    members = {
        member_name: {key: value for key, value in member.items() if key not in ("assignor", "assignors")}
        for member_name, member in document["members"].items()
    }
    return {**document, "assignor": name, "members": members}


def consumer_protocol(document: Document) -> Document:
    """The same group, members and ownership, as one of the consumer protocol with the brokers' timeouts."""
    members = {
        name: {key: value for key, value in member.items() if key not in CLASSIC_KEYS}
        | {"protocol": CONSUMER}
        for name, member in document["members"].items()
    }
    changed = {key: value for key, value in document.items() if key != "assignor"} | {
        "protocol": CONSUMER,
        "members": members,
        "script": [line for line in document["script"] if verb_of(line) != Verb.ENFORCE_REBALANCE],
    }
    if start := document.get("start"):
        epoch = start["generation"]
        changed["start"] = {
            "group_epoch": epoch,
            "assignment_epoch": epoch,
            "members": {
                name: {"epoch": epoch, "owned": member["owned"]} for name, member in start["members"].items()
            },
        }
    return changed


def _deploys(document: Document) -> Iterator[Remedy]:
    script = split(document["script"])
    gone = [absence for absence in absences(script) if absence.up is not None]
    if any(_killed(document, script, absence) for absence in gone):
        yield Remedy(
            key="close",
            name="Close the consumer at shutdown",
            setting="close() on SIGTERM",
            change=closed_at_shutdown,
        )
    if len({absence.member for absence in gone}) < 2:
        return
    for apart_ms, key, name in (
        (SLOW_APART_MS, "slower", "Slower restarts"),
        (FAST_APART_MS, "faster", "Restart all at once"),
    ):
        yield Remedy(
            key=key,
            name=name,
            setting=f"{apart_ms // 1000} s apart",
            change=partial(apart, apart_ms=apart_ms),
        )
    if (leader := (document.get("start") or {}).get("leader")) and gone[-1].member != leader:
        yield Remedy(
            key="leader-last",
            name="Restart the leader last",
            setting=f"{leader} after all others",
            change=lambda doc: leader_last(doc, leader),
        )


def closed_at_shutdown(document: Document) -> Document:
    script = split(document["script"])
    for absence in absences(list(script)):
        line = script[absence.down]
        if absence.up is None or not _killed(document, script, absence):
            continue
        verb = Verb.LEAVE if verb_of(line) == Verb.KILL else Verb.BOUNCE
        script[absence.down] = {"at": line["at"], str(verb): absence.member}
        if absence.up != absence.down and verb_of(script[absence.up]) in RESTARTS:
            script[absence.up] = {"at": script[absence.up]["at"], str(Verb.JOIN): absence.member}
    return with_script(document, script)


def _killed(document: Document, script: list[dict[str, object]], absence: Absence) -> bool:
    """Whether a process of the group is killed there, which could have closed its consumer."""
    runs = absence.member in ((document.get("start") or {}).get("members") or {})
    for line in script[: absence.down]:
        if member_of(line) == absence.member and verb_of(line) in (Verb.JOIN, *DOWN, *RESTARTS):
            runs = verb_of(line) not in DOWN
    return runs and verb_of(script[absence.down]) in (Verb.KILL, Verb.RESTART)


def apart(document: Document, apart_ms: int) -> Document:
    """Members' restarts in their order, one each ``apart_ms``; each is away as long as before."""
    script = split(document["script"])
    gone = [absence for absence in absences(script) if absence.up is not None]
    first_ms = at_of(script[gone[0].down])
    for place, absence in enumerate(gone):
        _move(script, absence, first_ms + place * apart_ms)
    return with_script(document, script)


def leader_last(document: Document, leader: str) -> Document:
    """The same times, but the leader's restart is the last one."""
    script = split(document["script"])
    gone = [absence for absence in absences(script) if absence.up is not None]
    times = [at_of(script[absence.down]) for absence in gone]
    order = sorted(gone, key=lambda absence: absence.member == leader)
    for at_ms, absence in zip(times, order, strict=True):
        _move(script, absence, at_ms)
    return with_script(document, script)


def _move(script: list[dict[str, object]], absence: Absence, at_ms: int) -> None:
    down_ms = at_of(script[absence.down])
    if absence.up is not None and absence.up != absence.down:
        script[absence.up] = moved(script[absence.up], at_ms + at_of(script[absence.up]) - down_ms)
    script[absence.down] = moved(script[absence.down], at_ms)
