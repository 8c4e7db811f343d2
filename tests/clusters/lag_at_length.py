"""The lag of live groups next to Kafka's own tool, and what rebalances cost next to what their clients read.

``python -m tests.clusters.lag_at_length FOLDER SAMPLES`` runs it at length, with a broker of its own; FOLDER keeps the foreign clients.
A sample is one look at one group. Its lag has to lie between what the tool printed before it and after it, partition by partition.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from tests.broker.java import java
from tests.broker.members import CLASSIC, CONSUMER, Member, Program
from tests.broker.node import Node, on_a_leash
from tests.clusters.releases.tool import Tool, number, rows, tool_of

if TYPE_CHECKING:
    from groups.storage.lag import LagAnswer
    from tests.clusters.foreign.installing import Clients
    from tests.clusters.secure import Secure

PARTITIONS: Final = 4
COMMIT_MS: Final = 1_000
PACE, SLOW_PACE = 10, 2
"""Records a second and partition of each producer: of costs, and of lags, whose brackets are narrow then."""

EVENT_S: Final = 7.0
"""Between two events of a group: a session of a killed member lasts 6 s."""

SETTLED_S: Final = 12.0
NEAR_MS, ANSWERED_MS = 100, 2_000
"""A look has the time at which it asked, and so long after it at most the broker's answer."""

COMMITS: Final = {"auto.commit.interval.ms": COMMIT_MS}
EAGER: Final = {**CLASSIC, "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor"}
COOPERATIVE: Final = {**CLASSIC, "partition.assignment.strategy": "cooperative-sticky"}


class Traffic:
    """Records at an even pace, by librdkafka and by Java's own ``ProducerPerformance``, with the broker's time of each."""

    def __init__(self, node: Node, pace: int, *, by_java: bool) -> None:
        self._node, self._pace, self._by_java = node, pace, by_java
        self.topic = f"t{time.time_ns()}"
        with node.connect() as connection:
            connection.create_topic(self.topic, PARTITIONS, message_timestamp_type="LogAppendTime")

    @contextmanager
    def flowing(self) -> Iterator[None]:
        ended = threading.Event()
        thread = threading.Thread(target=self._write, args=(ended,))
        thread.start()
        command = [
            *java(self._node.class_path, "-Xmx96m"), "org.apache.kafka.tools.ProducerPerformance",
            "--topic", self.topic, "--num-records", "10000000", "--record-size", "8",
            "--throughput", str(self._pace * PARTITIONS),
            "--producer-props", f"bootstrap.servers={self._node.bootstrap}", "batch.size=0",
        ]  # fmt: skip
        quiet = subprocess.DEVNULL
        some = [subprocess.Popen(on_a_leash(command), stdout=quiet, stderr=quiet)] if self._by_java else []
        try:
            yield
        finally:
            ended.set()
            thread.join()
            for each in some:
                each.kill()
                each.wait()

    def _write(self, ended: threading.Event) -> None:
        producer = Producer({"bootstrap.servers": self._node.bootstrap, "linger.ms": 0})
        while not ended.wait(1 / self._pace):
            for partition in range(PARTITIONS):
                producer.produce(self.topic, b"x", partition=partition)
            producer.poll(0)
        assert producer.flush(60) == 0

    def written_ms(self) -> list[list[int]]:
        """By partition when the broker appended each record."""
        found: list[list[int]] = [[] for _ in range(PARTITIONS)]
        consumer = Consumer(
            {"bootstrap.servers": self._node.bootstrap, "group.id": "reads-all", "enable.partition.eof": True}
        )  # fmt: skip
        consumer.assign([TopicPartition(self.topic, each, 0) for each in range(PARTITIONS)])
        at_end: set[int | None] = set()
        while len(at_end) < PARTITIONS:
            message = consumer.poll(30)
            assert message is not None
            if message.error() is None:
                found[message.partition() or 0].append(message.timestamp()[1])
            else:
                at_end.add(message.partition())
        consumer.close()
        return found


class Shot(NamedTuple):
    """What the tool printed: by group and partition the committed and the end offset, by group its state and number of members."""

    began_ms: int
    ended_ms: int
    offsets: dict[tuple[str, int], tuple[int, int]]
    states: dict[str, tuple[str, int]]


def shot(tool: Tool) -> Shot:
    began_ms = now_ms()
    offsets = {}
    for each in rows(tool.say("--describe", "--all-groups")):
        committed, end = number(each["CURRENT-OFFSET"]), number(each["LOG-END-OFFSET"])
        if committed is not None and end is not None:
            offsets[each["GROUP"], int(each["PARTITION"])] = committed, end
    ended_ms = now_ms()
    states = {
        each["GROUP"]: (each["STATE"], members)
        for each in rows(tool.say("--describe", "--all-groups", "--state"))
        if (members := number(each.get("#MEMBERS"))) is not None
    }
    return Shot(began_ms, ended_ms, offsets, states)


class Foreign:
    """A member of another library: it is killed, or leaves at SIGTERM."""

    def __init__(self, command: Sequence[str]) -> None:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(on_a_leash([*command]), stdout=quiet, stderr=quiet)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def leave(self) -> None:
        self._process.send_signal(signal.SIGTERM)
        self._process.wait()


@dataclass
class Party:
    """A group whose members come, are killed and leave in turn; ``events`` has the time of each, and how many members it left."""

    group: str
    start: Callable[[str], Member | Foreign]
    members: list[Member | Foreign] = field(default_factory=list)
    events: list[tuple[int, int]] = field(default_factory=list)
    started: int = 0

    def step(self) -> None:
        if len(self.members) < 2:
            self.started += 1
            self.members.append(self.start(f"{self.group}-{self.started}"))
        elif self.started % 2:
            self.members.pop(0).kill()
        else:
            self.members.pop(0).leave()
        self.events.append((now_ms(), len(self.members)))

    def is_amid(self, at_ms: int, shots: Sequence[Shot]) -> bool:
        """Whether an event had begun by then, and the tool did not print since that the group is stable with the members it left."""
        began_ms, members = max((each for each in self.events if each[0] <= at_ms), default=(0, 0))
        return not any(
            began_ms <= each.began_ms and each.ended_ms <= at_ms and each.states.get(self.group) == ("Stable", members)
            for each in shots
        )  # fmt: skip


def started(
    secure: Secure,
    group: str,
    topic: str,
    program: Program,
    settings: Mapping[str, object],
    revoke_ms: int = 0,
) -> Callable[[str], Member]:
    def start(name: str) -> Member:
        settings_now = {**settings, **COMMITS}
        member = Member(secure.node, name, group, topic, settings_now, revoke_ms, program).start()
        member.wait_for("ready")
        member.join()
        return member

    return start


class Held(NamedTuple):
    """Samples that were compared; ``wrong`` in words, ``widths`` of the brackets in records, ``dated`` values of seconds."""

    samples: int
    amid: int
    exact: int
    """Values whose bracket was one number."""

    dated: int
    widths: list[int]
    lags: list[int]
    wrong: list[str]


def compared(answers: dict[str, LagAnswer], parties: Sequence[Party], shots: Sequence[Shot], written: list[list[int]]) -> Held:  # fmt: skip
    """Each look between two shots, with each of its partitions."""
    samples = amid = exact = dated = 0
    widths: list[int] = []
    lags: list[int] = []
    wrong: list[str] = []
    began = [each.began_ms for each in shots]
    for party in parties:
        answer = answers[party.group]
        looks = answer["times_ms"]
        for at, look in enumerate(looks):
            after = bisect_left(began, look + ANSWERED_MS)
            before = next((place for place in range(after - 1, -1, -1) if shots[place].ended_ms <= look - NEAR_MS), None)  # fmt: skip
            if before is None or after == len(shots):
                continue
            values = 0
            for line in answer["lines"]:
                place = (party.group, line["partition"] or 0)
                records, seconds = line["records"][at], line["seconds"][at]
                if place not in shots[before].offsets or records is None:
                    continue
                values += 1
                (first, low), (last, high) = shots[before].offsets[place], shots[after].offsets[place]
                least, most = max(0, low - last), high - first
                widths.append(most - least)
                lags.append(records)
                exact += least == most
                if not least <= records <= most:
                    wrong.append(f"{place} at {look}: {records} records, the tool {least} to {most}")
                times = written[place[1]]
                if not seconds or last >= len(times) or times[first] < looks[0]:
                    continue
                dated += 1
                ages = [max(0.0, (look - times[offset]) / 1000) for offset in (last, first)]
                round_s = max(later - sooner for sooner, later in pairwise(looks[max(0, at - 10) : at + 2])) / 1000  # fmt: skip
                if not ages[0] - max(ages[0] / 10, round_s) <= seconds <= ages[1] + max(ages[1] / 10, round_s):  # fmt: skip
                    wrong.append(f"{place} at {look}: {seconds} s, the records {ages}")
            if values:
                samples += 1
                amid += party.is_amid(look, shots)
    return Held(samples, amid, exact, dated, sorted(widths), sorted(lags), wrong)


def held(secure: Secure, cluster: object, tool: Tool, samples: int, clients: Clients | None) -> Held:
    """Groups of Java, librdkafka and, with ``clients``, aiokafka, until there are so many samples and a third of them amid rebalances."""
    from tests.clusters.watched import LIMIT_S, Watch

    traffic = Traffic(secure.node, SLOW_PACE, by_java=True)
    name = f"g{time.time_ns()}"
    parties = [
        Party(f"{name}-java", started(secure, f"{name}-java", traffic.topic, "java", CONSUMER)),
        Party(f"{name}-rdkafka", started(secure, f"{name}-rdkafka", traffic.topic, "rdkafka", COOPERATIVE)),
    ]
    if clients is not None:
        group, at = f"{name}-aiokafka", secure.node.bootstrap
        parties.append(Party(group, lambda who: Foreign(clients.command("aiokafka", at, group, traffic.topic, who))))  # fmt: skip
    groups = [each.group for each in parties]
    shots: list[Shot] = []
    deadline = time.monotonic() + LIMIT_S + 10 * samples
    try:
        with traffic.flowing(), Watch(cluster, groups=groups, follow=True):  # type: ignore[arg-type]
            next_s = 0.0
            while time.monotonic() < deadline:
                if time.monotonic() >= next_s:
                    for each in parties:
                        each.step()
                    next_s = time.monotonic() + EVENT_S
                shots.append(shot(tool))
                if len(shots) % 10 == 0:
                    answers = {group: answer for group in groups if (answer := lag_of(group)) is not None}
                    if len(answers) == len(groups):
                        found = compared(answers, parties, shots, traffic.written_ms())
                        if found.wrong or (found.samples >= samples and found.amid >= samples // 3):
                            return found
    finally:
        for each in parties:
            for member in each.members:
                member.kill()
    raise AssertionError("there were too few samples in time")


def lag_of(group: str) -> LagAnswer | None:
    from groups import storage
    from groups.storage.committed import POINTS_MOST
    from tests.clusters.watched import row

    found = row(group)
    if found is None or found.timeline is None:
        return None
    timeline = storage.get(found.timeline.pk)
    return storage.lag_between(timeline, 1, timeline.last, POINTS_MOST) if timeline.last else None


class Price(NamedTuple):
    """What a rebalance cost, as we have it and as the clients' own logs have it."""

    kind: str
    unread_ms: int
    unread_most_ms: int
    true_unread_ms: int
    waited: int | None
    true_waited: int
    caught_up_ms: int | None
    true_caught_up_ms: int
    """Both from the event on."""

    twice_least: int
    twice_most: int | None
    true_twice: int
    pieces: int
    """Partitions that nobody read for a while."""


KINDS: Final[dict[str, tuple[Program, Mapping[str, object]]]] = {
    "killed": ("rdkafka", COOPERATIVE),
    "eager": ("java", EAGER),
    "cooperative": ("rdkafka", COOPERATIVE),
    "consumer": ("java", CONSUMER),
}
"""A member of the first group is killed, one joins each other one. In an eager group they spend ``REVOKE_MS`` in onPartitionsRevoked."""

REVOKE_MS: Final = 2_500

PAUSE_LEAST_MS: Final = 400
"""A record comes every 100 ms, and a client polls as often: a longer pause is one in which nobody reads."""


class Read(NamedTuple):
    at_ms: int
    offset: int


def prices(secure: Secure, cluster: object, kinds: Sequence[str] = tuple(KINDS)) -> list[Price]:
    """One rebalance of each of these kinds, on the same load."""
    from tests.clusters.watched import Watch, until

    traffic = Traffic(secure.node, PACE, by_java=False)
    name = f"g{time.time_ns()}"
    starts = {
        kind: started(
            secure,
            f"{name}-{kind}",
            traffic.topic,
            program,
            {**settings, "member.reads": "true"},
            REVOKE_MS if settings is EAGER else 0,
        )
        for kind, (program, settings) in KINDS.items()
        if kind in kinds
    }
    members: dict[str, list[Member]] = {}
    events: dict[str, int] = {}
    try:
        with traffic.flowing(), Watch(cluster, groups=[f"{name}-{kind}" for kind in kinds], follow=True):  # type: ignore[arg-type]
            for kind, start in starts.items():
                members[kind] = [start(f"{kind}-{one}") for one in "ab"]
            for some in members.values():
                for each in some:
                    until(lambda each=each: any(line.startswith("at ") for line in each.lines))  # type: ignore[misc]
            time.sleep(SETTLED_S)
            for kind, some in members.items():
                events[kind] = now_ms()
                if kind == "killed":
                    some[0].kill()
                else:
                    some.append(starts[kind](f"{kind}-c"))
            until(
                lambda: all(read_since(some, traffic.topic, events[kind]) for kind, some in members.items())
            )
            time.sleep(SETTLED_S)
            answers = {kind: lag_of(f"{name}-{kind}") for kind in kinds}
        written = traffic.written_ms()
    finally:
        for some in members.values():
            for each in some:
                each.kill()
    return [
        price(kind, answer, read_by(members[kind], traffic.topic), written, events[kind])
        for kind, answer in answers.items()
        if answer is not None
    ]


def read_by(members: Sequence[Member], topic: str) -> dict[int, list[Read]]:
    """By partition what the members read, in order of time."""
    found: dict[int, list[Read]] = defaultdict(list)
    for member in members:
        for line in list(member.lines):
            if line.startswith("at "):
                _, place, offset, at_ms = line.split()
                found[int(place.removeprefix(f"{topic}-"))].append(Read(int(at_ms), int(offset)))
    return {partition: sorted(some) for partition, some in found.items()}


def read_since(members: Sequence[Member], topic: str, at_ms: int) -> bool:
    """Whether each partition was read again some seconds after, by those that are members then: longer than a session lasts."""
    reads = read_by(members, topic)
    return all(
        reads.get(each) and reads[each][-1].at_ms > at_ms + 8_000 for each in range(PARTITIONS)
    ) and any(line.startswith("assigned") for line in members[-1].lines)


def pauses(late: Sequence[Read], times: Sequence[int], furthest: int) -> Iterator[tuple[int, int, int]]:
    """The last read before nobody read a partition, when it had the next record, and when that was read.

    ``times``: of its records; until ``late`` it was read up to ``furthest``.
    """
    for sooner, later in pairwise(late):
        furthest = max(furthest, sooner.offset)
        # Where nothing was written, nobody could read.
        stopped_ms = max(sooner.at_ms, times[furthest + 1]) if furthest + 1 < len(times) else later.at_ms
        if later.at_ms - stopped_ms >= PAUSE_LEAST_MS:
            yield sooner.at_ms, stopped_ms, later.at_ms


def price(kind: str, answer: LagAnswer, reads: dict[int, list[Read]], written: list[list[int]], event_ms: int) -> Price:  # fmt: skip
    since_ms = event_ms - COMMIT_MS
    ours = [each for each in answer["rebalances"] if each["settled_ms"] >= since_ms]
    unread = waited = twice = pieces = 0
    caught_up_ms = event_ms
    for partition, some in reads.items():
        late = [each for each in some if each.at_ms >= since_ms]
        counts = Counter(each.offset for each in some)
        twice += sum(each - 1 for each in counts.values())
        times = written[partition]
        furthest = max((each.offset for each in some if each.at_ms < since_ms), default=-1)
        for read_ms, stopped_ms, resumed_ms in pauses(late, times, furthest):
            # A busy machine pauses all clients at other times, too.
            if not any(read_ms <= each["settled_ms"] and each["at_ms"] <= resumed_ms for each in ours):
                continue
            pieces += 1
            unread += resumed_ms - stopped_ms
            waited += bisect_left(times, resumed_ms) - bisect_left(times, stopped_ms)
            resumed = [each for each in late if each.at_ms >= resumed_ms]
            caught = (each.at_ms for each in resumed if each.at_ms - times[each.offset] < PAUSE_LEAST_MS)
            caught_up_ms = max(caught_up_ms, next(caught, resumed[-1].at_ms))
    ends = [each["caught_up_ms"] for each in ours]
    return Price(
        kind=kind,
        unread_ms=sum(each["unread_partition_ms"] for each in ours),
        unread_most_ms=sum(each["unread_partition_ms_most"] or 0 for each in ours),
        true_unread_ms=unread,
        waited=sum(each["records_waited"] or 0 for each in ours),
        true_waited=waited,
        caught_up_ms=max(each for each in ends if each is not None) - event_ms if any(ends) else None,
        true_caught_up_ms=caught_up_ms - event_ms,
        twice_least=sum(each["read_twice_least"] for each in ours),
        twice_most=sum(each["read_twice_most"] or 0 for each in ours),
        true_twice=twice,
        pieces=pieces,
    )


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def main(folder: Path, samples: int) -> None:
    os.environ |= {"DJANGO_SETTINGS_MODULE": "explorer.settings", "DATABASE_URL": ""}
    with tempfile.TemporaryDirectory() as here:
        os.environ["REBALANCE_VAR"] = here
        import django

        django.setup()
        from django.core.management import call_command

        from groups.watching import pulling, registry
        from tests.clusters.foreign.installing import Clients
        from tests.clusters.secure import secure_broker

        call_command("migrate", verbosity=0)
        pulling.LAG_EVERY_S = 1.0  # type: ignore[misc]
        with (
            secure_broker(Path(here) / "broker") as secure,
            tool_of(secure.node, Path(here) / "tool") as tool,
        ):
            cluster = registry.add("measured", secure.properties("scram-512"))
            for each in prices(secure, cluster):
                sys.stdout.write(f"{each}\n")
            found = held(secure, cluster, tool, samples, Clients(folder))
        widths, lags = found.widths, found.lags
        sys.stdout.write(
            f"{found.samples} samples, {found.amid} amid rebalances, {len(widths)} lags, {found.exact} with a bracket of one number, "
            f"median width {widths[len(widths) // 2]} records, lags up to {lags[-1]}, median {lags[len(lags) // 2]}; {found.dated} in seconds; {len(found.wrong)} wrong\n"
        )
        sys.stdout.writelines(f"{each}\n" for each in found.wrong[:20])
    os._exit(bool(found.wrong))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
