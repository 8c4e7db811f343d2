"""References: what ``{A.owned}`` or ``{group.epoch@dies}`` means at a moment of a run.

``OF_…`` name what is asked of a member, of the group, of a partition and of a topic, for messages and for the reference.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from groups.history.frames.shapes import Frame
from groups.history.words import THIN_SPACE
from simulations.lessons import classic_facts, frames
from simulations.lessons.document import Place
from simulations.lessons.playing import Run
from simulations.lessons.values import Duration, Members, Number, Partitions, Said, Value, partitions
from simulations.world.scenario.errors import ScenarioError, nearest

OF_MEMBERS: Final[Mapping[str, str]] = {
    "epoch": "its member epoch",
    "previous_epoch": "the member epoch that it had before",
    "owned": "the partitions that it owns, those that it is revoking among them",
    "kept": "the partitions that it owns and is not asked to revoke",
    "revoking": "those that it was asked to revoke and has not confirmed",
    "target": "its part of the target assignment",
    "waiting": "those of its target that it does not own yet",
    "waits_for": "the members that own what its target names",
    "blocks": "the members whose target names what it owns",
    "state": "its state, as Kafka names it",
    "count": "how many partitions it owns",
    "instance_id": "its `group.instance.id`",
    "reads": "the partitions that its client reads, which may not have received what the coordinator decided",
    "session_left": "how long until its session expires",
    "silent": "how long ago its client sent its last heartbeat",
    "withheld": "of a classic group: what the leader means for it and does not send in this round",
}
OF_THE_GROUP: Final[Mapping[str, str]] = {
    "epoch": "the group epoch; of a classic group its generation",
    "assignment_epoch": "the assignment epoch",
    "state": "the group's state",
    "members": "its members",
    "size": "how many members it has",
    "behind": "the members whose epoch is below the group epoch",
    "idle": "the members that own nothing",
    "unassigned": "the partitions that nobody owns",
    "count": "how many partitions the group's topics have",
    "generation": "of a classic group: the number of its last completed rebalance",
    "leader": "of a classic group: the member that assigns",
    "protocol_name": "of a classic group: the assignor that its members have agreed on",
    "joined": "of a classic group: the members whose JoinGroup has come",
    "awaited": "of a classic group: the members that the others wait for",
    "withheld": "of a classic group: what the leader does not send in this round",
    "unread": "the partitions that no client reads",
    "read_twice": "the partitions that more than one client reads",
}
OF_PARTITIONS: Final[Mapping[str, str]] = {
    "owner": "who owns it",
    "target_owner": "whom the target names",
    "unassigned": "how long it was unassigned between two owners, the longest time in the run",
    "readers": "the clients that read it",
}
OF_TOPICS: Final[Mapping[str, str]] = {"partitions": "how many partitions it has"}

AWAY: Final = -2


class BadReference(Exception):
    """A reference that does not resolve, and those that would."""


@dataclass(frozen=True, kw_only=True)
class Context:
    """Where references are looked up. What all frames together name is found once: a lesson has some hundred references."""

    run: Run
    marks: Mapping[str, Place]

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics that the run has at some moment."""
        return frozenset(topic for frame in self.run.frames for topic in frame["topics"])

    @cached_property
    def partitions(self) -> frozenset[str]:
        """The partitions that its topics have at its beginning and end, and those that somebody owns in between."""
        run = self.run.frames
        declared = {
            f"{topic}-{number}"
            for frame in (run[0], run[-1])
            for topic in frame["topics"]
            for number in range(frames.partitions_of(frame, topic))
        }
        return frozenset(
            declared.union(*(owned for frame in run for owned in frames.holders(frame).values()))
        )

    def at(self, mark: str, index: int) -> int:
        """The moment of what is behind ``@``: a step, a mark, ``start``, ``end``, ``before`` or ``next``."""
        if mark == "before":
            return max(0, index - 1)
        if mark == "next":
            return min(len(self.run.moments) - 1, index + 1)
        step = int(mark) if mark.isdecimal() else None
        place = Place(line=0, field="", step=step, mark=None if step else mark)
        return self.run.place(place, self.marks)


def value_of(path: str, index: int, context: Context) -> Value:
    """The value at the moment ``index``. ``BadReference`` lists what exists."""
    if ".." in path:
        return _between(path, index, context)
    name, _, mark = path.partition("@")
    if mark:
        index = _index(mark, index, context)
    run = context.run
    frame = run.frames[index]
    if name == "time":
        return Duration(int(run.moments[index]["at_ms"]) - int(run.moments[0]["at_ms"]))
    if name == "verdict":
        verdict = run.summary["verdict"]
        if verdict is None:
            raise BadReference("nothing is said of this run")
        return Said(verdict["text"].replace(THIN_SPACE, " "))
    if name == "happens":
        return Said(str(run.moments[index]["says"]).replace(THIN_SPACE, " "))
    head, dot, tail = name.partition(".")
    if head == "group" and dot:
        return _of_the_group(tail, frame, run)
    if head == "config" and dot:
        return _config(tail, run)
    if head == "found" and dot:
        return _found(tail, run)
    return _named(name, frame, context)


def _index(mark: str, index: int, context: Context) -> int:
    try:
        return context.at(mark, index)
    except ScenarioError as error:
        raise BadReference(error.message) from None


def _between(path: str, index: int, context: Context) -> Value:
    first, _, second = path.partition("..")
    begin, end = (_index(mark, index, context) for mark in (first.strip(), second.strip()))
    moments = context.run.moments
    return Duration(int(moments[end]["at_ms"]) - int(moments[begin]["at_ms"]))


def _named(name: str, frame: Frame, context: Context) -> Value:
    """A member, a partition or a topic, or what is asked of it: names themselves may have points."""
    run = context.run
    if (member := _whole(name, run.ids)) is not None:
        return _of_a_member(member, name[len(member) + 1 :], frame, run)
    if (partition := _whole(name, context.partitions)) is not None:
        return _of_a_partition(partition, name[len(partition) + 1 :], frame, run)
    topic, _, asked = name.rpartition(".")
    if topic in context.topics:
        if asked != "partitions":
            raise BadReference(f"a topic has no {asked}; {nearest(asked, OF_TOPICS)}")
        return Number(frames.partitions_of(frame, topic))
    known = [
        *run.ids,
        *sorted(context.partitions),
        *sorted(context.topics),
        "group",
        "time",
        "config",
        "found",
    ]
    head = name.partition(".")[0]
    raise BadReference(f"nothing in this run is called {head}; {nearest(head, known)}")


def _whole(name: str, known: Container[str]) -> str | None:
    """What of a reference is one of the known names."""
    return next((each for each in (name, name.rpartition(".")[0]) if each in known), None)


def _of_a_member(name: str, asked: str, frame: Frame, run: Run) -> Value:
    if not asked:
        return Members((name,), single=True)
    if asked not in OF_MEMBERS:
        raise BadReference(f"a member has no {asked}; {nearest(asked, OF_MEMBERS)}")
    member = run.ids[name]
    about, held, aims = frame["members"].get(member), frames.holders(frame), frames.targets(frame)
    owned, target = held.get(member, []), aims.get(member, [])
    client = (frame["clients"] or {}).get(member)
    match asked:
        case "owned":
            return partitions(owned)
        case "kept":
            going = frames.revoking_of(frame, member)
            return partitions(each for each in owned if each not in going)
        case "revoking":
            return partitions(frames.revoking_of(frame, member))
        case "target":
            return partitions(target)
        case "waiting":
            return partitions(each for each in target if each not in owned)
        case "count":
            return Number(len(owned))
        case "reads":
            return partitions(frames.flat(client["owned"] if client else None))
        case "waits_for":
            return _members(
                run,
                (who for who, has in held.items() if who != member and set(has) & set(target) - set(owned)),
            )
        case "blocks":
            return _members(
                run,
                (
                    who
                    for who, aim in aims.items()
                    if who != member and set(aim) & set(owned) - set(held.get(who, ()))
                ),
            )
        case "withheld":
            return partitions(classic_facts.withheld(frame, member))
        case "session_left":
            timers = (frame["timers"] or {}).get(member)
            if timers is None or timers["session"] is None:
                raise BadReference(f"{name} has no session at this moment")
            return Duration(timers["session"] - frame["at_ms"])
        case "silent":
            sent = client["heartbeat_ms"] if client else None
            if sent is None:
                raise BadReference(f"{name} has sent no heartbeat at this moment")
            return Duration(int(frame["at_ms"]) - int(sent))
    if about is None:
        raise BadReference(f"{name} is no member at this moment, so it has no {asked}")
    found = about.get(asked)
    if found is None:
        return Said("none")
    return Number(found) if isinstance(found, int) else Said(str(found))


def _members(run: Run, found: Iterable[str]) -> Members:
    return Members(tuple(sorted(run.names.get(member, member) for member in found)))


def _of_a_partition(name: str, asked: str, frame: Frame, run: Run) -> Value:
    match asked:
        case "":
            return Partitions((name,))
        case "owner":
            return _single(run, frames.owner_of(frame, name))
        case "target_owner":
            return _single(run, frames.target_owner_of(frame, name))
        case "readers":
            reading = (
                member
                for member, client in (frame.get("clients") or {}).items()
                if name in frames.flat(client["owned"] if client else None) and not client.get("killed")
            )
            return _members(run, reading)
        case "unassigned":
            lengths = [
                finding["length_ms"] or 0
                for finding in run.summary["findings"]
                # Before its first owner it was nobody's to hand over.
                if finding["kind"] == "no_owner" and finding["partition"] == name and not finding.get("first")
            ]
            return Duration(max(lengths, default=0))
        case _:
            raise BadReference(f"a partition has no {asked}; {nearest(asked, OF_PARTITIONS)}")


def _single(run: Run, member: str | None) -> Members:
    return Members((run.names.get(member, member),) if member is not None else (), single=True)


def _of_the_group(asked: str, frame: Frame, run: Run) -> Value:
    held = frames.holders(frame)
    match asked:
        case "epoch":
            return Number(frames.group_epoch(frame))
        case "assignment_epoch":
            return Number(int(frame.get("assignment_epoch") or 0))
        case "state":
            return Said(str(frame.get("state")))
        case "members":
            return _members(run, frame["members"])
        case "size":
            return Number(len(frame["members"]))
        case "behind":
            # A member of a classic group has no epoch, and one that is away is nobody to wait for.
            epochs = ((member, about.get("epoch")) for member, about in frame["members"].items())
            last = frames.group_epoch(frame)
            return _members(
                run,
                (member for member, epoch in epochs if epoch is not None and epoch != AWAY and epoch < last),
            )
        case "idle":
            return _members(run, (member for member, owned in held.items() if not owned))
        case "unassigned":
            owned = {name for names in held.values() for name in names}
            return partitions(name for name in frames.existing(frame) if name not in owned)
        case "count":
            return Number(len(frames.existing(frame)))
        case "unread" | "read_twice":
            return _by_clients(asked, frame)
        case "generation" | "leader" | "protocol_name" | "joined" | "awaited" | "withheld":
            return _of_a_classic_group(asked, frame, run)
        case _:
            raise BadReference(f"the group has no {asked}; {nearest(asked, OF_THE_GROUP)}")


def _by_clients(asked: str, frame: Frame) -> Value:
    if frame.get("clients") is None:
        raise BadReference("this log does not tell what clients read; group.unassigned is what it tells")
    read = classic_facts.readers(frame)
    if asked == "unread":
        return partitions(name for name in frames.existing(frame) if not read[name])
    return partitions(name for name, clients in read.items() if clients > 1)


def _of_a_classic_group(asked: str, frame: Frame, run: Run) -> Value:
    match asked:
        case "generation":
            return Number(int(frame.get("generation") or 0))
        case "leader":
            return _single(run, frame.get("leader"))
        case "protocol_name":
            return Said(str(frame.get("protocol_name") or "none"))
        case "joined":
            return _members(run, classic_facts.joined(frame))
        case "awaited":
            return _members(run, classic_facts.awaited(frame))
        case _:
            return partitions(classic_facts.withheld(frame))


def _config(asked: str, run: Run) -> Value:
    if run.settings is None:
        raise BadReference("a recorded log does not tell its settings")
    setting = getattr(run.settings, asked, None)
    if not isinstance(setting, int):
        known = [name for name in run.settings.__slots__ if isinstance(getattr(run.settings, name), int)]
        raise BadReference(f"there is no setting {asked}; {nearest(asked, known)}")
    return Duration(setting) if asked.endswith("_ms") else Number(setting)


def _found(asked: str, run: Run) -> Value:
    kind, dot, name = asked.partition(".")
    findings = [finding for finding in run.summary["findings"] if finding["kind"] == kind]
    if not dot:
        return Number(len(findings))
    if name not in run.ids:
        raise BadReference(f"nobody in this run is called {name}; {nearest(name, run.ids)}")
    match kind:
        case "removed":
            mine = next((one for one in findings if one["name"] == name), None)
            return Said("never" if mine is None else mine["why"] or mine["looks_like"] or "unknown")
        case "waited_for":
            waited = {one["name"] for one in findings if run.names.get(one["waiter"], one["waiter"]) == name}
            return Members(tuple(sorted(waited)))
        case "joined":
            return Number(sum(one["name"] == name for one in findings))
        case _:
            raise BadReference(f"found.{kind} is not told of one member; write found.{kind}")
