"""Groups drawn from seeds: a script does something to each, the simulator plays it, and its log is judged as a recorded one is.

What was done comes from the script, who read what and who was removed from what the run's clients and coordinator did; the
product is given the records alone, as a segment. ``python -m tests.incidents.generated [SEED…]`` prints what is judged of each.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final, NamedTuple
from uuid import NAMESPACE_OID, uuid5

import orjson

from groups.history.entries import Entry, Kind
from simulations.output import segment
from simulations.world.engine.simulation import Simulation
from simulations.world.scenario import load

from .claims import Said, said_of_paths
from .facts import Fact, Facts, Process, Reading
from .facts import Kind as FactKind
from .headlines import NOTHING, Worst, false_of, lacks
from .judge import Judgement
from .world import World

START_MS: Final = 1_780_000_000_000
SESSION_S, HEARTBEAT_S = 10, 1
FORMED_S: Final = 60
"""Time for the group to form and for some ten commits of each member."""
AFTER_S: Final = 60
BLINK_MS: Final = 1_000
"""A reader that pauses for less is in a callback of no length."""
COMMITS_MISSED: Final = 3
"""A silence of fewer commits than this is not told from a commit that was late."""
TIMES: Final = ("no", "once", "twice", "three", "four", "five", "six")


class Group:
    """One drawn group while its script is written. Seconds count from the run's start."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(f"headline {seed}")
        self.seed, self.kind = seed, list(KINDS)[seed % len(KINDS)]
        self.protocol = random.choice(("consumer", "consumer", "classic"))
        self.word = random.choice(("worker", "pod", "seat"))
        self.commit_s = random.choice((1, 2, 5))
        self.static = random.random() < 0.3
        self.members = random.randint(2, 9)
        self.partitions = self.members * random.randint(1, 4) + random.randint(0, 2)
        self.settings: dict[str, dict[str, object]] = {}
        self.script: list[dict[str, object]] = []
        self.acts: list[Fact] = []
        self.now_s: float = FORMED_S

    def client(self, number: int) -> str:
        return f"{self.word}-{number}"

    def line(self, at_s: float, verb: str, number: int, **more: object) -> None:
        self.script.append({"at": f"{at_s:g}s", verb: f"M{number}", **more})

    def act(
        self, kind: FactKind, *numbers: int, after_s: float = 0, for_s: float | None = None, **more: Any
    ) -> None:
        """Notes what the script does to these members."""
        clients = [self.client(each) for each in numbers]
        self.acts.append(
            fact(
                kind, round((self.now_s + after_s) * 1000) + START_MS, clients, "script", for_s=for_s, **more
            )
        )

    def one(self) -> int:
        return self.random.randint(1, self.members)

    def joiner(self) -> int:
        self.members += 1
        return self.members


def fact(
    kind: FactKind, at_ms: int, clients: list[str], source: Any, *, for_s: float | None = None, **more: Any
) -> Fact:
    found: Fact = {
        "at_ms": at_ms,
        "kind": kind,
        "sentence": f"{', '.join(clients)} {kind}",
        "source": source,
        "clients": clients,
        "partitions": [],
        "duration_ms": None if for_s is None else round(for_s * 1000),
        "tellable": True,
    }
    return found | more  # type: ignore[return-value]


Worsts = Callable[[Group], Worst]


def quiet(group: Group) -> Worst:
    group.now_s += 120
    return {"worst": NOTHING}


def killed(group: Group) -> Worst:
    who = group.one()
    group.line(group.now_s, "kill", who)
    group.act("killed", who)
    return {"worst": "killed", "names": [group.client(who)], "words": "removed", "over": True}


def crash_loop(group: Group) -> Worst:
    group.static = False
    who, times = group.one(), group.random.randint(3, 6)
    for _ in range(times):
        group.line(group.now_s, "kill", who)
        group.line(group.now_s + group.random.randint(2, 4), "join", who)
        group.act("killed", who)
        group.now_s += SESSION_S + 15
    words = rf"\b({TIMES[times]}|{times}) times"
    return {"worst": "killed again and again", "names": [group.client(who)], "words": words}


def frozen(group: Group) -> Worst:
    who, for_s = group.one(), group.random.randint(20, 40)
    group.line(group.now_s, "pause", who)
    group.line(group.now_s + for_s, "resume", who)
    group.act("frozen", who, for_s=for_s)
    group.now_s += for_s
    return {"worst": "frozen", "names": [group.client(who)], "words": "removed|frozen", "over": True}


def overrun(group: Group) -> Worst:
    group.static = False
    who, times = group.one(), group.random.randint(1, 4)
    group.settings[f"M{who}"] = {"rebalance_timeout_ms": 8_000}
    for _ in range(times):
        for_s = 8 + group.random.randint(3, 6)
        group.line(group.now_s, "poll_late", who, **{"for": f"{for_s}s"})
        group.act("poll_overrun", who, for_s=for_s)
        group.now_s += for_s + 20
    words = r"poll|removed|left" if times < 3 else rf"\b({TIMES[times]}|{times}) times"
    return {"worst": "late to poll", "names": [group.client(who)], "words": words, "over": True}


def left(group: Group) -> Worst:
    group.static = False
    who = group.one()
    group.line(group.now_s, "leave", who)
    return {"worst": "left", "names": [group.client(who)], "words": "left"}


def joined(group: Group) -> Worst:
    who = group.joiner()
    group.partitions = max(group.partitions, group.members)
    group.line(group.now_s, "join", who)
    return {"worst": "joined", "names": [group.client(who)], "words": "joined"}


def rolled(group: Group) -> Worst:
    began_s, gap_s = group.now_s, group.random.randint(8, 15)
    for who in range(1, group.members + 1):
        group.line(group.now_s, "bounce", who, **{"for": f"{group.random.randint(2, 4)}s"})
        group.now_s += gap_s
    took_s, group.now_s = group.now_s - began_s, began_s
    group.act("rolling_deploy", *range(1, group.members + 1), for_s=took_s, times=group.members)
    group.now_s += took_s
    return {"worst": "restarted one after the other", "words": "restarted", "over": True}


def grown(group: Group) -> Worst:
    for number in range(1, group.members + 1):
        # The leader of a classic group sees it with its next metadata.
        group.settings[f"M{number}"] = {} if group.protocol == "consumer" else {"metadata_max_age_ms": 10_000}
    to = group.partitions + group.random.randint(1, 6)
    group.script.append({"at": f"{group.now_s}s", "add_partitions": "orders", "to": to})
    group.act("topic_grown", detail="orders")
    # Records of a classic group have no number of partitions.
    also = "|New partitions were assigned" if group.protocol == "classic" else ""
    return {"worst": "grown", "words": f"orders grew from {group.partitions} to {to}{also}"}


def slow(group: Group) -> Worst:
    group.protocol = "consumer"
    holder, for_s = 1, group.random.randint(8, 20)
    group.members = 1
    group.line(group.now_s - 1, "slow_revoke", holder, **{"for": f"{for_s}s"})
    group.line(group.now_s, "join", group.joiner())
    group.act("revocation_slow", holder, for_s=for_s)
    group.now_s += for_s
    return {"worst": "slow to revoke", "names": [group.client(holder)], "words": "to release", "over": True}


def idle(group: Group) -> Worst:
    group.partitions = group.members
    who = group.joiner()
    group.line(group.now_s, "join", who)
    return {"worst": "more members than partitions", "words": "idle", "over": False}


KINDS: Final[dict[str, Worsts]] = {
    each.__name__: each
    for each in (quiet, killed, crash_loop, frozen, overrun, left, joined, rolled, grown, slow, idle)
}


class Played(NamedTuple):
    facts: Facts
    worst: Worst
    judged: Judgement


def played(seed: int) -> Played:
    """The group of a seed: its facts, its worst fact, and what the product says of its log, judged."""
    group = Group(seed)
    before = group.members
    worst = KINDS[group.kind](group)
    started = before if group.kind in ("joined", "idle") else 1 if group.kind == "slow" else group.members
    until_s = group.now_s + SESSION_S + AFTER_S
    group.script.insert(0, {"at": "0s", "join": [f"M{number}" for number in range(1, started + 1)]})
    entries = list(_run(group, until_s))
    facts = facts_of(group, entries, round(until_s * 1000) + START_MS)
    world = World(facts)
    if "over" in worst and group.kind != "idle":
        longest_ms = max((to_ms - from_ms for from_ms, to_ms in _holes(world)), default=0)
        if longest_ms >= COMMITS_MISSED * world.commit_ms:
            worst["unread_ms"] = longest_ms
    return Played(facts, worst, Judgement("", facts, _said(facts, entries)))


def _run(group: Group, until_s: float) -> Iterator[Entry]:
    classic = {"session_timeout_ms": SESSION_S * 1000, "heartbeat_interval_ms": HEARTBEAT_S * 1000}
    members = {
        f"M{number}": {
            "subscribe": ["orders"],
            "client_id": group.client(number),
            "auto_commit": True,
            "auto_commit_interval_ms": group.commit_s * 1000,
            **({"instance_id": group.client(number)} if group.static else {}),
            **(classic if group.protocol == "classic" else {}),
            **group.settings.get(f"M{number}", {}),
        }
        for number in range(1, group.members + 1)
    }
    document = {
        "group": "orders-app",
        "protocol": group.protocol,
        "start_ms": START_MS,
        "topics": {"orders": {"partitions": group.partitions, "rate": 5}},
        "config": classic,
        "members": members,
        "script": group.script,
        "seed": group.seed,
        "until": f"{until_s}s",
    }
    scenario = load(json.dumps(document), f"headline-{group.seed}")
    return Simulation(scenario, scenario.semantics, scenario.seed).entries()


def _said(facts: Facts, entries: Sequence[Entry]) -> Said:
    topics = next(
        entry.payload["topics"]
        for entry in entries
        if entry.kind is Kind.NOTE and entry.payload["note"] == "topics"
    )
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "__consumer_offsets-17" / "00000000000000000000.log"
        log.parent.mkdir()
        log.write_bytes(b"".join(segment(named(entries))))
        names = {one["id"]: {"name": name, "partitions": one["partitions"]} for name, one in topics.items()}
        return said_of_paths(facts, folder, topics=names)


def named(entries: Sequence[Entry]) -> Iterator[Entry]:
    """The records with member ids as clients have them: the simulator's are its members' names."""
    for entry in entries:
        if entry.kind is Kind.RECORD:
            text = orjson.dumps(entry.payload).decode()
            text = re.sub(r'"(M\d+(?:~\d+)?)"', lambda found: f'"{member_id(found[1])}"', text)
            yield replace(entry, payload=orjson.loads(text))


def member_id(life: str) -> str:
    return str(uuid5(NAMESPACE_OID, life))


def facts_of(group: Group, entries: Sequence[Entry], end_ms: int) -> Facts:
    """From the script's acts, and from the requests, timers and reading of the run."""
    clients = {f"M{number}": group.client(number) for number in range(1, group.members + 1)}
    processes: dict[str, Process] = {}
    found, readings = [*group.acts], dict[str, list[Reading]]()
    seen = set[str]()
    for entry in entries:
        client = clients.get(entry.actor.partition("~")[0], "")
        if entry.kind is Kind.TIMER and entry.payload["event"] == "fired":
            if entry.payload["timer"] in ("session", "rebalance"):
                gone = clients[entry.payload["member"].partition("~")[0]]
                if group.static and list(_lives_of(processes, gone))[-1] != entry.payload["member"]:
                    # Its place was taken: the old one's timer has nobody to remove.
                    continue
                cause = "session_expired" if entry.payload["timer"] == "session" else "rebalance_timeout"
                found.append(fact("removed", entry.at_ms, [gone], "broker", cause=cause))
        elif entry.kind is Kind.REQUEST and _joins(entry):
            found.append(fact("rejoined" if client in seen else "joined", entry.at_ms, [client], "client"))
            seen.add(client)
            for life in _lives_of(processes, client):
                if life != entry.actor and processes[life]["ended_ms"] is None:
                    processes[life]["ended_ms"] = entry.at_ms
            processes.setdefault(entry.actor, _process(group, entry, client))
        elif entry.kind is Kind.REQUEST and _leaves(entry):
            late = any(
                act["kind"] == "poll_overrun"
                and client in act["clients"]
                and act["at_ms"] <= entry.at_ms <= act["at_ms"] + (act["duration_ms"] or 0)
                for act in group.acts
            )
            if late:
                found.append(fact("removed", entry.at_ms, [client], "client", cause="poll_overrun"))
            else:
                found.append(fact("left", entry.at_ms, [client], "client"))
                processes[entry.actor]["ended_ms"] = entry.at_ms
        elif entry.kind is Kind.FAULT and entry.payload["fault"] == "kill":
            processes[entry.actor]["ended_ms"] = entry.at_ms
        elif entry.kind is Kind.NOTE and entry.payload["note"] == "reads":
            _read(readings, client, entry)
    if group.kind == "crash_loop":
        times = sum(each["kind"] == "killed" for each in group.acts)
        found.append({**group.acts[0], "kind": "crash_loop", "times": times, "tellable": True})
    return {
        "incident": f"seed {group.seed}: {group.kind}",
        "title": group.kind,
        "done": "",
        "group": "orders-app",
        "protocol": "classic" if group.protocol == "classic" else "consumer",
        "settings": {"auto.commit.interval.ms": str(group.commit_s * 1000)},
        "began_ms": START_MS + (FORMED_S - 2) * 1000,
        "copied_ms": end_ms,
        "facts": sorted(found, key=lambda each: each["at_ms"]),
        "processes": list(processes.values()),
        "readings": readings,
    }


def _lives_of(processes: Mapping[str, Process], client: str) -> Iterator[str]:
    return (life for life, one in processes.items() if one["client_id"] == client)


def _joins(entry: Entry) -> bool:
    body, api = entry.payload["body"], entry.payload["api"]
    if api == "JoinGroup":
        return bool(body["memberId"] == "")
    return api == "ConsumerGroupHeartbeat" and bool(body["memberEpoch"] == 0)


def _leaves(entry: Entry) -> bool:
    body, api = entry.payload["body"], entry.payload["api"]
    return api == "LeaveGroup" or (api == "ConsumerGroupHeartbeat" and bool(body["memberEpoch"] < 0))


def _process(group: Group, entry: Entry, client: str) -> Process:
    return {
        "client_id": client,
        "instance_id": client if group.static else None,
        "library": "java",
        "started_ms": entry.at_ms,
        "ended_ms": None,
        "member_ids": [member_id(entry.actor)],
    }


def _read(readings: dict[str, list[Reading]], client: str, entry: Entry) -> None:
    """What a client reads from now on; a pause of less than a second between two of its stretches is none."""
    parts = entry.payload["partitions"] if entry.payload["fetches"] else {}
    now = {f"{topic}-{number}" for topic, numbers in parts.items() for number in numbers}
    for partition, stretches in readings.items():
        for each in stretches:
            if each["client_id"] == client and each["to_ms"] is None and partition not in now:
                each["to_ms"] = entry.at_ms
    for partition in now:
        stretches = readings.setdefault(partition, [])
        last = stretches[-1] if stretches else None
        still = last is not None and last["client_id"] == client
        if last is not None and still and entry.at_ms - (last["to_ms"] or entry.at_ms) < BLINK_MS:
            last["to_ms"] = None
        else:
            stretches.append({"client_id": client, "from_ms": entry.at_ms, "to_ms": None})


def _holes(world: World) -> Iterator[tuple[int, int]]:
    for partition in world.all["readings"]:
        for _, hole in world.holes(partition):
            if hole.from_ms >= world.all["began_ms"]:
                yield hole


def faults_of(one: Played) -> list[str]:
    """False claims of findings and headline, and what of the worst fact the headline lacks."""
    judged, verdicts = one.judged, one.judged.said.verdicts
    found = [f"false: {each.claim.says} ({each.because})" for each in judged.false]
    found += [f"unproven: {each}" for each in judged.unproven_clauses]
    for number, verdict in enumerate(verdicts, 1):
        found += [f"false headline: {each}" for each in false_of(judged, number, verdict["headline"])]
    missing = lacks(one.facts["incident"], one.worst, verdicts[0]["headline"], judged.world)
    return found + [f"lacks: {each}" for each in missing]


def main(seeds: Sequence[str]) -> int:
    bad = 0
    for seed in [int(each) for each in seeds] or range(40):
        one = played(seed)
        faults = faults_of(one)
        bad += bool(faults)
        line = {
            "group": one.facts["incident"],
            "headline": one.judged.said.verdicts[0]["headline"]["text"],
            "commit_s": one.judged.world.commit_ms // 1000,
            "protocol": one.facts["protocol"],
            "worst": one.worst,
            "faults": faults,
        }
        sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "explorer.settings")
    sys.exit(main(sys.argv[1:]))
