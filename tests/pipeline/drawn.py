"""Logs drawn by chance: what brokers write, and what they do not, in every order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from hypothesis import strategies as st

from groups.wire.logs.compression import Compression
from groups.wire.logs.control import ControlType
from tests.pipeline.segments import BAR, FOO, START_MS, Group, Payload, Segment, hash_of, record

GROUPS: Final = ("orders", "others")
NO_ID: Final = "AAAAAAAAAAAAAAAAAAAAAA"

Step = Callable[[Segment, dict[str, Group]], object]

names = st.sampled_from(GROUPS)
members = st.sampled_from(("A", "B"))
assigned = st.sampled_from(((), (0,), (0, 1, 2), (3,)))
producers = st.sampled_from((7, 8))
pauses_ms = st.sampled_from((0, 0, 1, 900, 30_000, 95_000, -3, -2_000))


@st.composite
def commits(draw: st.DrawFn, group: str) -> list[Payload]:
    """A commit request; now and then one that commits a partition twice, or takes its offset away."""
    some: list[Payload] = []
    for _ in range(draw(st.integers(1, 4))):
        topic = draw(st.sampled_from(("foo", "bar")))
        key = {"group": group, "topic": topic, "partition": draw(st.integers(0, 2))}
        version = draw(st.sampled_from((0, 1, 2, 3, 3, 4, 4, 4, None)))
        if version is None:
            some.append(record(1, key, None))
            continue
        value: dict[str, Any] = {"offset": draw(st.sampled_from((0, 1, 77, 2**40)))}
        if version >= 3:
            value["leaderEpoch"] = draw(st.sampled_from((-1, 4)))
        value |= {"metadata": draw(st.sampled_from(("", "", "m", "é"))), "commitTimestamp": START_MS}
        if version == 1:
            value["expireTimestamp"] = draw(st.sampled_from((-1, START_MS + 5)))
        if version == 4:
            value["topicId"] = draw(st.sampled_from((FOO, FOO, BAR, NO_ID)))
        some.append(record(1, key, value, version))
    return some


def legacy_commit(group: str) -> Payload:
    """Of a broker before 0.9."""
    key = {"group": group, "topic": "foo", "partition": 0}
    return record(0, key, {"offset": 5, "metadata": "", "commitTimestamp": START_MS}, 0)


@st.composite
def requests(draw: st.DrawFn, *, legacy: bool) -> Step:
    """One batch of one or more requests, in a transaction or not."""
    kinds = ["commit"] * 6 + ["join", "advance", "leave", "classic", "delete", "unknown"]
    kinds += ["legacy"] if legacy else []
    chosen = draw(st.lists(st.tuples(st.sampled_from(kinds), names), min_size=1, max_size=4))
    written: list[Callable[[dict[str, Group]], list[Payload]]] = []
    for kind, name in chosen:
        match kind:
            case "commit":
                request = draw(commits(name))
                written.append(lambda groups, request=request: request)  # type: ignore[misc]
            case "join":
                member, parts = draw(members), draw(assigned)
                proof = draw(st.sampled_from((0, hash_of({"foo": (FOO, 3)}))))
                written.append(
                    lambda groups, name=name, member=member, parts=parts, proof=proof:  # type: ignore[misc]
                    groups[name].join(member, {FOO: list(parts)}, proof)
                )  # fmt: skip
            case "advance":
                member, parts = draw(members), draw(assigned)
                written.append(
                    lambda groups, name=name, member=member, parts=parts:  # type: ignore[misc]
                    groups[name].advance(member, {FOO: list(parts)})
                )  # fmt: skip
            case "leave":
                member = draw(members)
                written.append(lambda groups, name=name, member=member: groups[name].leave(member))  # type: ignore[misc]
            case "classic":
                written.append(lambda groups, name=name: groups[name].classic(3, ["A"]))  # type: ignore[misc]
            case "delete":
                written.append(lambda groups, name=name: groups[name].delete())  # type: ignore[misc]
            case "legacy":
                written.append(lambda groups, name=name: [legacy_commit(name)])  # type: ignore[misc]
            case "unknown":
                written.append(lambda groups, name=name: [{"unknown": name}])  # type: ignore[misc]
    producer = draw(st.sampled_from((None, None, None, 7, 8)))
    compression = draw(st.sampled_from((Compression.NONE, Compression.NONE, Compression.LZ4)))
    pause_ms = draw(pauses_ms)

    def step(segment: Segment, groups: dict[str, Group]) -> None:
        segment.now_ms += pause_ms - 1000
        payloads = [payload for write in written for payload in write(groups)]
        segment.mixed(payloads, compression=compression, producer=producer)

    return step


@st.composite
def markers(draw: st.DrawFn) -> Step:
    producer = draw(producers)
    kind = draw(st.sampled_from((ControlType.COMMIT, ControlType.ABORT)))
    return lambda segment, groups: segment.marker(producer, kind)


holes = st.integers(1, 9).map(lambda offsets: lambda segment, groups: segment.skip(offsets))


@st.composite
def logs(draw: st.DrawFn, *, legacy: bool = False) -> Segment:
    """The log of one partition with two groups."""
    some = draw(
        st.lists(
            st.one_of(
                requests(legacy=legacy), requests(legacy=legacy), requests(legacy=legacy), markers(), holes
            ),
            min_size=1,
            max_size=24,
        )
    )
    segment, groups = Segment(), {name: Group(name) for name in GROUPS}
    for step in some:
        step(segment, groups)
    if not segment.batches:
        segment.add(groups["orders"].commit())
    return segment


@st.composite
def copies(draw: st.DrawFn, log: Segment) -> Sequence[Segment]:
    """Files that overlap in some way and hold the whole log together, in any order."""
    batches = log.batches
    edges = sorted(draw(st.lists(st.integers(0, len(batches)), max_size=4)))
    bounds = list(zip([0, *edges], [*edges, len(batches)], strict=True))
    files = []
    for start, end in bounds:
        first = max(0, start - draw(st.integers(0, 3)))
        last = min(len(batches), end + draw(st.integers(0, 3)))
        if first < last:
            files.append(log.part(first, last))
    return draw(st.permutations(files))
