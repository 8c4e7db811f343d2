"""Taking a group over: the frame of a moment as the state that a scenario starts from, and what a log does not have.

Of a simulated run the scenario gives what a log lacks: clients' settings, topics' rates, and what happens later.
"""

from __future__ import annotations

from typing import Final

from groups.history.frames.shapes import MemberFrame
from groups.history.words import counted
from simulations.fork.continuing import (
    Line,
    document_of,
    lasting_lines,
    lines_at,
    with_newcomers,
    without_impossible,
)
from simulations.fork.edits import EPOCH, PARTITIONS, SUBSCRIBE, lines_of
from simulations.fork.group_of_frame import classic_start, names_of, partition_counts
from simulations.fork.rows import NOT_IN_LOG, Rows, listed
from simulations.fork.settings import apply_settings
from simulations.fork.values import (
    CLASSIC,
    CONSUMER,
    MEMBERS_MOST,
    PARTITIONS_MOST,
    TAIL_MS,
    Document,
    Edits,
    Fork,
    ForkError,
    How,
    Moment,
)
from simulations.protocol.assignors import SERVER_ASSIGNORS
from simulations.world.scenario import Verb
from simulations.world.scenario.topics import NAME, TOPIC_ID
from simulations.world.scenario.values import UNTIL_MAX_MS

ROLL_APART_MS: Final = 10_000
"""Between two members that are bounced to the other protocol: a rebalance between two of them ends in this time."""

ROLL_AWAY_MS: Final = 2_000
"""From when such a member closes until its new process starts."""


def taken_over(moment: Moment, edits: Edits) -> Fork:
    """The branch that starts from the moment's state. ``ForkError`` if the log lacks something, or an edit cannot be made."""
    return _TakingOver(moment, edits).fork()


class _TakingOver:
    def __init__(self, moment: Moment, edits: Edits) -> None:
        self.moment, self.edits, self.rows = moment, edits, Rows(edits)
        self.frame = moment.frame
        self.protocol = _protocol_of(moment)
        self.names = names_of(self.frame["members"], moment.cast)
        self.counts = self._partitions()
        parts = document_of(moment.scenario) if moment.scenario else None
        self.base: Document = dict(parts or {})
        self.script: list[Line] = []

    def fork(self) -> Fork:
        document = self._document()
        if self.rows.missing:
            missing = listed(self.rows.missing)
            raise ForkError(
                f"This log begins in the middle of the group. Missing: {missing}.", "at", self.rows.rows
            )
        members = document["members"]
        added = [*self.script, *(line for fault in self.edits.faults for line in lines_of(fault, 0))]
        later = self._later()
        with_newcomers(members, [*added, *later])
        document["until"] = f"{self._length_ms(added, later)}ms"
        seed = self._seed()
        for key in self.rows.unused():
            raise ForkError(f"{key} is no setting of this group", f"set.{key[:60]}")
        text, left_out = without_impossible(document, [], later, added, "fork")
        return Fork(
            text=text,
            semantics=self.moment.semantics,
            seed=seed,
            how=How.TAKEN_OVER,
            members=tuple(members),
            assumptions=tuple(self.rows.rows),
            left_out=tuple(left_out),
        )

    def _document(self) -> Document:
        frame, rows = self.frame, self.rows
        rows.fact("clock", "Clock of the fork", self.moment.at_ms, f"entry {frame['sequence']}")
        document: Document = {
            key: value
            for key, value in self.base.items()
            if key not in ("steps", "start", "summary", "proposal", "title")
        }
        group = str(frame["group"])
        document |= {
            "name": group if NAME.fullmatch(group) else "group",
            "group": group if NAME.fullmatch(group) else "group",
            "semantics": str(self.moment.semantics),
            "start_ms": max(0, self.moment.at_ms),
        }
        document["members"] = self._members()
        document["start"] = self._start()
        document["topics"] = self._topics()
        apply_settings(rows, self.moment, self.protocol, document)
        if (given := rows.changed("protocol")) is not None and given != self.protocol:
            self._roll(str(given), document)
        rows.assumed(
            "heartbeats",
            "Heartbeats, requests and callbacks under way",
            "begin again",
            f"{NOT_IN_LOG}; each session starts at the moment",
        )
        if not self.moment.scenario and not self.moment.later:
            rows.assumed("later", "What happens later", "only what you add", "nobody else joins or leaves")
        return document

    # The state.

    def _members(self) -> Document:
        """Members of the moment, and those that the scenario still has."""
        frame, rows = self.frame, self.rows
        members: Document = {name: dict(member) for name, member in (self.base.get("members") or {}).items()}
        if len(frame["members"]) > MEMBERS_MOST:
            raise ForkError(
                f"This group has {len(frame['members']):,} members; a group of {MEMBERS_MOST:,} at most is taken over"
            )
        static, is_new = rows.choice(
            "static",
            "Static membership (group.instance.id)",
            all(member.get("instance_id") for member in frame["members"].values()),
            usual=False,
            choices=("true", "false"),
            reason="",
        )
        for member_id, name in self.names.items():
            recorded = self._member(member_id, frame["members"][member_id])
            known = members.get(name, {})
            if known.get("regex"):
                recorded.pop("subscribe", None)
            members[name] = recorded | {key: value for key, value in known.items() if key not in recorded}
            if "regex" in members[name]:
                members[name].pop("subscribe", None)
        if is_new:
            for name, member in members.items():
                member.pop("instance_id", None)
                if static:
                    member["instance_id"] = name
        self._clients()
        return members

    def _member(self, member_id: str, member: MemberFrame) -> Document:
        name, rows = self.names[member_id], self.rows
        known: Document = {"protocol": self.protocol}
        given = rows.changed(f"{name}{SUBSCRIBE}")
        subscribed = [topic for topic in member.get("subscribed") or () if topic in self.counts]
        if isinstance(given, list):
            rows.given(f"{name}{SUBSCRIBE}", f"Subscription of {name}", given)
            known["subscribe"] = given
            for topic in given:
                self.counts.setdefault(topic, 1)
        elif regex := member.get("subscribed_regex"):
            known["regex"] = regex
        elif subscribed:
            known["subscribe"] = subscribed
        else:
            rows.lacks(f"{name}{SUBSCRIBE}", f"Subscription of {name}", f"member {name}'s subscription")
        for key, value in (
            ("client_id", member["client_id"]),
            ("client_host", member["host"]),
            ("rack_id", member["rack_id"]),
        ):
            if value and value.strip():
                known[key] = value
        instance_id = member.get("instance_id")
        if instance_id and NAME.fullmatch(instance_id):
            known["instance_id"] = instance_id
        metadata = self.moment.metadata.get(member_id) or {}
        rebalance_ms = member.get("rebalance_timeout_ms") or metadata.get("rebalanceTimeoutMs")
        if isinstance(rebalance_ms, int) and rebalance_ms > 0:
            known["rebalance_timeout_ms"] = rebalance_ms
        if self.protocol == CLASSIC and (session_ms := member.get("session_timeout_ms") or 0) > 0:
            known["session_timeout_ms"] = session_ms
        if metadata.get("serverAssignor") in SERVER_ASSIGNORS:
            known["assignor"] = metadata["serverAssignor"]
        return known

    def _clients(self) -> None:
        """What processes of a simulated run are at the moment: killed, paused, cut off, or on their way in."""
        running = set(self.names.values())
        for client_id, client in (self.frame.get("clients") or {}).items():
            name = self.names.get(client_id)
            if name is None:
                base = client_id.partition("~")[0]
                if (
                    base in (self.base.get("members") or {})
                    and base not in running
                    and not client.get("killed")
                ):
                    running.add(base)
                    self.script.append({"at": "0ms", str(Verb.JOIN): base})
                continue
            for verb, is_so in (
                (Verb.KILL, client.get("killed")),
                (Verb.PAUSE, client.get("paused")),
                (Verb.CUT, client.get("cut")),
            ):
                if is_so and not (verb is Verb.PAUSE and client.get("killed")):
                    self.script.append({"at": "0ms", str(verb): name})
        if scenario := self.moment.scenario:
            self.script += lasting_lines(scenario, self.moment.at_ms - scenario.start_ms, running)

    def _start(self) -> Document:
        if self.protocol == CONSUMER:
            return self._consumer_start()
        start = classic_start(self.frame, self.names, self.counts)
        unreadable = [
            self.names[member_id]
            for member_id, member in self.frame["members"].items()
            if member["assigned"] is None
        ]
        if start is not None and not unreadable:
            self.rows.fact(
                "state", "Members, generation, assignment", f"generation {start['generation']}", "records"
            )
            return dict(start)
        why = (
            f"the assignment of {listed(unreadable)} cannot be read"
            if unreadable
            else f"the group is {self.frame['state'] or 'in an unknown state'}"
        )
        self.rows.assumed(
            "state", "Members", "join again at the moment", f"{why}: its members own nothing yet"
        )
        self.script += [{"at": "0ms", str(Verb.JOIN): name} for name in self.names.values()]
        return {}

    def _consumer_start(self) -> Document:
        frame, rows = self.frame, self.rows
        group_epoch = rows.needed("group_epoch", "Group epoch", "the group epoch", frame.get("group_epoch"))
        target_epoch = rows.needed(
            "assignment_epoch",
            "Epoch of the target assignment",
            "the target assignment",
            frame.get("assignment_epoch"),
        )
        if group_epoch < 1 or target_epoch < 1:
            raise ForkError("The group has no target assignment yet at this moment; choose a later one")
        target = frame.get("target") or {}
        members: Document = {}
        for member_id, name in self.names.items():
            member = frame["members"][member_id]
            epoch = member.get("epoch")
            given = rows.changed(f"{name}{EPOCH}")
            if isinstance(given, int):
                epoch = given
                rows.given(f"{name}{EPOCH}", f"Epoch of {name}", given)
            elif epoch is None:
                rows.lacks(f"{name}{EPOCH}", f"Epoch of {name}", f"member {name}'s epoch")
                epoch = 0
            if epoch < 0:
                raise ForkError(
                    f"Member {name} is away or leaving at this moment (epoch {epoch}); choose another one"
                )
            previous = member.get("previous_epoch")
            members[name] = {
                "epoch": epoch,
                "owned": dict(member["assigned"] or {}),
                "revoking": dict(member.get("pending_revocation") or {}),
                "target": dict(target.get(member_id) or {}),
            }
            if previous is not None and -1 <= previous <= epoch:
                members[name]["previous_epoch"] = previous
        rows.fact("state", "Members, ownership, target", f"{len(members)} members", "records")
        return {"group_epoch": group_epoch, "assignment_epoch": target_epoch, "members": members}

    def _partitions(self) -> dict[str, int]:
        counts = partition_counts(self.frame)
        for key, value in self.edits.settings.items():
            if key.endswith(PARTITIONS) and isinstance(value, int):
                self.rows.changed(key)
                counts[key.removesuffix(PARTITIONS)] = value
        if sum(counts.values()) > PARTITIONS_MOST:
            raise ForkError(
                f"This group has {sum(counts.values()):,} partitions; one of {PARTITIONS_MOST:,} at most is taken over"
            )
        return counts

    def _topics(self) -> Document:
        rows, base = self.rows, self.base.get("topics") or {}
        rate = rows.changed("rate")
        topics: Document = {name: dict(topic) for name, topic in base.items()}
        for name, count in self.counts.items():
            topic = topics.setdefault(name, {})
            topic["partitions"] = count
            recorded = self.frame["topics"].get(name)
            topic_id = recorded["id"] if recorded else None
            if topic_id and topic_id != name and TOPIC_ID.fullmatch(topic_id) and "id" not in topic:
                topic["id"] = topic_id
            if rate is not None:
                topic["rate"] = rate
            key, label = f"{name}{PARTITIONS}", f"Partitions of {name}"
            if isinstance(given := rows.changed(key), int):
                rows.given(key, label, given)
            elif recorded is None or recorded["partitions"] is None:
                rows.number(
                    key, label, (), count, "the highest partition that the log names, and those below it"
                )
        if not topics:
            rows.lacks(f"topic{PARTITIONS}", "Topics", "the group's topics and their partitions")
        if isinstance(rate, int):
            rows.given("rate", "Records a second of each partition", rate)
        elif not any("rate" in topic for topic in topics.values()):
            rows.number(
                "rate",
                "Records a second of each partition",
                (),
                0,
                f"{NOT_IN_LOG}: nothing is written or read",
            )
        if rate is None and rows.rows[-1]["key"] == "rate":
            rows.rows[-1] |= {"mark": "unknown", "value": None}
        return topics

    def _roll(self, protocol: str, document: Document) -> None:
        """One member after the other is bounced to the other protocol."""
        if protocol == CLASSIC:
            changes: Document = {"protocol": CLASSIC}
        else:
            changes = {"protocol": CONSUMER}
        for place, name in enumerate(self.names.values()):
            self.script.append(
                {
                    "at": f"{1 + place * ROLL_APART_MS}ms",
                    str(Verb.BOUNCE): name,
                    "with": changes,
                    "for": f"{ROLL_AWAY_MS}ms",
                }
            )
        self.rows.assumed(
            "roll",
            "Members are bounced",
            f"one every {ROLL_APART_MS // 1000} s",
            "a client changes its protocol when it is started again",
        )

    # Time.

    def _later(self) -> list[Line]:
        """What the scenario's script still has, from the moment on."""
        scenario = self.moment.scenario
        if scenario is None:
            if self.moment.later:
                self.rows.assumed(
                    "later",
                    "What happens later",
                    f"{len(self.moment.later)} members' events of the log",
                    "a member that the log removes has called close(), unless its commits show that it had died",
                )
            return [dict(line) for line in self.moment.later]
        from_ms = self.moment.at_ms - scenario.start_ms
        lines = [(at_ms, line) for at_ms, line in lines_at(scenario, self.base["script"]) if at_ms > from_ms]
        if lines:
            self.rows.fact(
                "later", "What happens later", counted(len(lines), "line") + " of the script", "the scenario"
            )
        return [line | {"at": f"{at_ms - from_ms}ms"} for at_ms, line in lines]

    def _length_ms(self, added: list[Line], later: list[Line]) -> int:
        if isinstance(given := self.rows.changed("length_ms"), int):
            return given
        last = max((int(str(line["at"]).removesuffix("ms")) for line in (*added, *later)), default=0)
        rest = 0
        if (scenario := self.moment.scenario) is not None:
            rest = scenario.until_ms - (self.moment.at_ms - scenario.start_ms)
        return min(max(last + TAIL_MS, rest), UNTIL_MAX_MS)

    def _seed(self) -> int:
        given = self.rows.changed("seed")
        return given if isinstance(given, int) else self.moment.seed


def _protocol_of(moment: Moment) -> str:
    frame = moment.frame
    protocol, members = frame.get("protocol"), frame["members"]
    if protocol not in (CONSUMER, CLASSIC):
        kind = f"a {protocol} group" if protocol else "a group whose protocol is unknown"
        raise ForkError(f"This moment shows {kind}; the simulator has consumer and classic groups")
    if frame.get("protocol_type") not in (None, "", "consumer"):
        raise ForkError(
            f"This group's members are no consumers ({frame['protocol_type']}); the simulator has none of them"
        )
    if not members:
        raise ForkError("Nobody is in the group at this moment; choose one with members")
    if {member["protocol"] for member in members.values()} != {protocol}:
        raise ForkError(
            "At this moment the group has members of both protocols; choose one before or after the migration"
        )
    return str(protocol)
