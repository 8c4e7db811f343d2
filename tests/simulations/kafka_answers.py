"""What Kafka's own assignors answer to small groups, drawn from seeds; committed, so that the tests need no Java.

python -m tests.simulations.kafka_answers      the fixture anew; Maven fetches the released jars once
"""

from __future__ import annotations

import gzip
import json
import random
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from groups.wire.embedded.user_data import encode_sticky
from simulations.protocol.assignors import ASSIGNORS
from simulations.protocol.assignors.spec_document import answer_to
from tests.broker import jars
from tests.broker.java import java

FIXTURE = Path(__file__).parent / "fixtures" / "kafka-answers.jsonl.gz"
SOURCES = Path(__file__).parents[1] / "benchmarks" / "java_assignors"
CLASSES = jars.HOME / "assignor-classes"
PROGRAM_LIMIT_S = 120

GROUPS_EACH = 550
"""For each assignor; a chain counts as one. About four thousand cases in all, which fit into 300 kB."""

NAMED_TWICE_EACH = 100
"""For each classic assignor, beside those: groups in which subscriptions name a topic twice, which no Java client sends."""

TOPICS = ("orders", "t1", "t2", "Z", "größe")
RACKS = ("a", "b", "c")

Spec = dict[str, Any]


def kafka_answers(specs: list[Spec]) -> list[dict[str, Any]]:
    """Has Kafka's classes answer; ``jars.BrokerUnavailableError`` without Java or jars."""
    done = subprocess.run(
        [
            *java(jars.class_path(SOURCES, CLASSES), "-Dorg.apache.logging.log4j.level=OFF"),
            "AnswerGroups",
        ],
        input="".join(f"{json.dumps(spec)}\n" for spec in specs),
        stdout=subprocess.PIPE,
        encoding="utf-8",
        timeout=PROGRAM_LIMIT_S,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


@cache
def committed() -> list[dict[str, Any]]:
    """``{"spec", "kafka"}`` of each case; shared, not to be changed."""
    with gzip.open(FIXTURE, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def drawn() -> Iterator[Spec]:
    """The specs of the fixture, the same every time."""
    for protocol, assignors in ASSIGNORS.items():
        for assignor in assignors:
            rng = random.Random(f"{protocol} {assignor}")
            for number in range(GROUPS_EACH):
                spec = group(rng, protocol, assignor)
                kind = KINDS[number % len(KINDS)]
                kind(rng, spec)
                yield finished(spec)
                if number % 10 == 0:
                    yield from chain(rng, spec)
    for assignor in ASSIGNORS["classic"]:
        rng = random.Random(f"{assignor} named twice")
        for number in range(NAMED_TWICE_EACH):
            spec = group(rng, "classic", assignor)
            KINDS[number % len(KINDS)](rng, spec)
            named_twice(rng, spec)
            yield finished(spec)


def group(rng: random.Random, protocol: str, assignor: str) -> Spec:
    names = rng.sample(TOPICS, rng.randint(1, 4))
    largest = rng.choice((2, 4, 8))
    topics = {name: {"partitions": rng.randint(0 if rng.random() < 0.1 else 1, largest)} for name in names}
    style = rng.choice(("consumer{}", "{}-member", "c{}"))
    ids = [style.format(n) for n in range(1, rng.randint(1, 7) + 1)]
    rng.shuffle(ids)
    alike = rng.random() < 0.5
    members = {}
    for member_id in ids:
        chosen = (
            names if alike else rng.sample(names, rng.randint(0 if rng.random() < 0.1 else 1, len(names)))
        )
        members[member_id] = {"subscribed_topics": list(chosen)}
    return {"protocol": protocol, "assignor": assignor, "topics": topics, "members": members}


def partitions(spec: Spec) -> list[tuple[str, int]]:
    return [(topic, p) for topic, told in spec["topics"].items() for p in range(told["partitions"])]


def fresh(rng: random.Random, spec: Spec) -> None:
    """Nobody owns anything."""


def owned(rng: random.Random, spec: Spec) -> None:
    """Every partition has one owner at most, a few of them no longer subscribers."""
    ids = list(spec["members"])
    some = rng.sample(ids, rng.randint(1, len(ids)))
    for topic, partition in partitions(spec):
        able = [m for m in some if topic in spec["members"][m]["subscribed_topics"]] or some
        if rng.random() < 0.8:
            claim(spec, rng.choice(able if rng.random() < 0.95 else some), topic, partition)
    generation = rng.randint(0, 9)
    for member in spec["members"].values():
        member["generation"] = generation


def racks(rng: random.Random, spec: Spec) -> None:
    owned(rng, spec) if rng.random() < 0.5 else None
    used = RACKS[: rng.randint(1, 3)]
    copies = rng.randint(1, len(used))
    for topic in spec["topics"].values():
        topic["racks"] = {
            str(p): [used[(p + copy) % len(used)] for copy in range(copies)]
            for p in range(topic["partitions"])
            if rng.random() < 0.95
        }
    for member in spec["members"].values():
        if rng.random() < 0.9:
            member["rack_id"] = rng.choice(RACKS)


def static(rng: random.Random, spec: Spec) -> None:
    owned(rng, spec)
    for number, member in enumerate(spec["members"].values()):
        if rng.random() < 0.6:
            member["instance_id"] = f"i{9 - number}"


def stale(rng: random.Random, spec: Spec) -> None:
    """Members that missed rebalances, each with what it had in its own generation."""
    ids = list(spec["members"])
    for member in spec["members"].values():
        member["generation"] = rng.choice((9, 9, 8, 7, 0, None))
    for topic, partition in partitions(spec):
        for member_id in rng.sample(ids, min(len(ids), rng.choice((0, 1, 1, 2)))):
            claim(spec, member_id, topic, partition)


def double(rng: random.Random, spec: Spec) -> None:
    owned(rng, spec)
    for topic, partition in partitions(spec):
        if rng.random() < 0.2:
            claim(spec, rng.choice(list(spec["members"])), topic, partition)


def vanished(rng: random.Random, spec: Spec) -> None:
    """Topics that are gone or smaller than they were."""
    owned(rng, spec)
    if rng.random() < 0.5:
        spec["topics"].pop(rng.choice(list(spec["topics"])))
    for topic in spec["topics"].values():
        if rng.random() < 0.2:
            topic["partitions"] //= 2


def named_twice(rng: random.Random, spec: Spec) -> None:
    for member in spec["members"].values():
        topics = member["subscribed_topics"]
        for topic in list(topics):
            if rng.random() < 0.25:
                topics.insert(rng.randint(0, len(topics)), topic)


KINDS = (fresh, owned, racks, owned, static, stale, double, racks, vanished, owned)


def claim(spec: Spec, member_id: str, topic: str, partition: int) -> None:
    mine = spec["members"][member_id].setdefault("owned", {}).setdefault(topic, [])
    if partition not in mine:
        mine.append(partition)


def chain(rng: random.Random, spec: Spec) -> Iterator[Spec]:
    """Five rounds of a living group: each owns what it was given, then something happens."""
    for number in range(1, 6):
        answer = answer_to(spec)
        if "error" in answer:
            return
        for member_id, member in spec["members"].items():
            if rng.random() < 0.95:
                member |= {"owned": answer["assignment"][member_id], "generation": 20 + number}
                member.pop("user_data", None)
        event = rng.choice(("join", "leave", "grow", "nothing"))
        if event == "join":
            peer = rng.choice(list(spec["members"].values()))
            spec["members"][f"new-{number}"] = {"subscribed_topics": peer["subscribed_topics"]}
        elif event == "leave" and len(spec["members"]) > 1:
            del spec["members"][rng.choice(list(spec["members"]))]
        elif event == "grow" and spec["topics"]:
            rng.choice(list(spec["topics"].values()))["partitions"] += rng.randint(1, 3)
        yield finished(spec)


def finished(spec: Spec) -> Spec:
    """A copy in which members of ``sticky`` send the user data that their client would."""
    told: Spec = json.loads(json.dumps(spec))
    for member in told["members"].values() if spec["assignor"] == "sticky" else ():
        if member.get("owned"):
            previous = [{"topic": topic, "partitions": ps} for topic, ps in member["owned"].items()]
            generation = member.get("generation")
            data = {"previousAssignment": previous, "generation": -1 if generation is None else generation}
            member["user_data"] = encode_sticky(data).hex()
    return told


def main() -> None:
    specs = list(drawn())
    cases = zip(specs, kafka_answers(specs), strict=True)
    lines = "".join(f"{json.dumps({'spec': spec, 'kafka': kafka})}\n" for spec, kafka in cases)
    FIXTURE.parent.mkdir(exist_ok=True)
    FIXTURE.write_bytes(gzip.compress(lines.encode(), mtime=0))


if __name__ == "__main__":
    main()
