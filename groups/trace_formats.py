"""A timeline's ownership in formats of other tools: a table (CSV, Parquet), a trace for each rebalance (OTLP), tracks (Perfetto)."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import orjson

from groups import storage
from groups.exporting import Export, Exporter, Wanted
from groups.history.lag.course import Place, Rebalance
from groups.models import Timeline
from groups.storage.courses import Courses, courses_of
from groups.storage.handing_on import CannotHandOn, checked
from groups.storage.lag_sources import Known
from groups.wire.codecs.primitives import write_unsigned_varint

COLUMNS: Final = ("topic", "partition", "from_ms", "to_ms", "owner")
"""Of the table: a row for each interval in which a partition existed and had one owner; ``owner`` is empty while it was unassigned."""

INTERNAL: Final = 1
"""``SPAN_KIND_INTERNAL`` of OpenTelemetry."""


class Interval(NamedTuple):
    place: Place
    from_ms: int
    to_ms: int
    owner: str | None


class Owners(NamedTuple):
    """Who owned what in a stretch, until ``end_ms``."""

    courses: Courses
    end_ms: int

    def intervals(self) -> Iterator[Interval]:
        for place, course in self.courses.by_place.items():
            ends = [*(one.from_ms for one in course.tenures[1:]), self.end_ms]
            for one, to_ms in zip(course.tenures, ends, strict=True):
                if one.exists:
                    yield Interval(place, one.from_ms, max(one.from_ms, to_ms), one.owner)

    def hand_overs(self, rebalance: Rebalance) -> Iterator[tuple[Interval, str]]:
        """From the end of one owner to the beginning of the next, which is the second value; of what was taken in it."""
        for place, course in self.courses.by_place.items():
            giver, given_ms = None, None
            for one in course.tenures:
                if one.owner is None:
                    given_ms = one.from_ms if given_ms is None else given_ms
                    continue
                is_within = rebalance.at_ms <= one.from_ms < rebalance.until_ms + rebalance.is_last
                if is_within and one.owner != giver:
                    since_ms = one.from_ms if given_ms is None else given_ms
                    yield Interval(place, since_ms, one.from_ms, giver), one.owner
                giver, given_ms = one.owner, None


def _owners(timeline: Timeline, wanted: Wanted) -> Owners:
    if wanted.key is not None:
        raise CannotHandOn("These formats have no pseudonyms: names are hidden in html and data.")
    stretch = checked(timeline, wanted.stretch)
    courses = courses_of(timeline, stretch.first, stretch.last, Known())
    if courses.earlier is None:
        raise CannotHandOn("Who owned what is still being read: export it again in a moment.")
    (last,) = storage.entries_between(timeline, stretch.last, stretch.last)
    return Owners(courses, last["at_ms"])


def table(timeline: Timeline, wanted: Wanted) -> Export:
    """CSV with a head, of ``COLUMNS``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for (topic, partition), from_ms, to_ms, owner in _owners(timeline, wanted).intervals():
        writer.writerow((topic, partition, from_ms, to_ms, owner or ""))
    return Export(name=f"timeline-{timeline.id}.csv", content=text.getvalue().encode())


def parquet(timeline: Timeline, wanted: Wanted) -> Export:
    """The same rows as Parquet: texts, an ``int32`` and two timestamps in milliseconds (UTC); ``owner`` is null while unassigned."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise CannotHandOn(
            "Parquet needs pyarrow, which the extra `pipeline` installs; csv does not."
        ) from None
    time = pyarrow.timestamp("ms", tz="UTC")
    types = (pyarrow.string(), pyarrow.int32(), time, time, pyarrow.string())
    rows = [(*one.place, *one[1:]) for one in _owners(timeline, wanted).intervals()]
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    arrays = [pyarrow.array(some, type=kind) for some, kind in zip(columns, types, strict=True)]
    out = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, names=list(COLUMNS)), out)
    return Export(name=f"timeline-{timeline.id}.parquet", content=out.getvalue())


def traces(timeline: Timeline, wanted: Wanted) -> Export:
    """OTLP in JSON: each rebalance is a trace, its hand-overs are spans, and the last one to end is linked as what it was blocked by."""
    owners = _owners(timeline, wanted)
    spans = [span for one in owners.courses.rebalances for span in _spans(timeline.id, owners, one)]
    document = {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": otlp_attributes({"service.name": f"consumer group {timeline.group}"})
                },
                "scopeSpans": [{"scope": {"name": "rebalance-explorer"}, "spans": spans}],
            }
        ]
    }
    return Export(name=f"timeline-{timeline.id}.otlp.json", content=orjson.dumps(document))


def _spans(timeline_id: str, owners: Owners, rebalance: Rebalance) -> list[dict[str, Any]]:
    trace_id = _hex(32, timeline_id, rebalance.sequence)
    root_id = _hex(16, trace_id)
    children = []
    for taken, owner in owners.hand_overs(rebalance):
        topic, partition = taken.place
        children.append(
            {
                "traceId": trace_id,
                "spanId": _hex(16, trace_id, topic, partition, taken.to_ms),
                "parentSpanId": root_id,
                "name": f"{topic}-{partition} to {owner}",
                **_times(taken.from_ms, taken.to_ms),
                "attributes": otlp_attributes(
                    {"topic": topic, "partition": partition, "from": taken.owner, "to": owner}
                ),
            }
        )
    last = max(children, key=lambda one: int(one["endTimeUnixNano"]), default=None)
    ended_ms = rebalance.at_ms if last is None else int(last["endTimeUnixNano"]) // 1_000_000
    began_ms = min([rebalance.at_ms, *(int(one["startTimeUnixNano"]) // 1_000_000 for one in children)])
    links = [
        {
            "traceId": trace_id,
            "spanId": last["spanId"],
            "attributes": otlp_attributes({"relation": "blocked by"}),
        }
    ] if last else []  # fmt: skip
    root = {
        "traceId": trace_id,
        "spanId": root_id,
        "name": f"rebalance to epoch {rebalance.epoch}",
        **_times(began_ms, ended_ms),
        "attributes": otlp_attributes({"epoch": rebalance.epoch, "entry": rebalance.sequence}),
        "links": links,
    }
    return [root, *children]


def _times(from_ms: int, to_ms: int) -> dict[str, Any]:
    return {
        "kind": INTERNAL,
        "startTimeUnixNano": str(from_ms * 1_000_000),
        "endTimeUnixNano": str(to_ms * 1_000_000),
    }


def otlp_attributes(values: Mapping[str, str | int | None]) -> list[dict[str, Any]]:
    return [
        {"key": key, "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}}
        for key, value in values.items()
        if value is not None
    ]


def _hex(length: int, *of: str | int) -> str:
    """The same id for the same thing, so that a file that is made again has the same traces."""
    return hashlib.sha256(orjson.dumps(of)).hexdigest()[:length]


def tracks(timeline: Timeline, wanted: Wanted) -> Export:
    """A trace of Perfetto's: a track for each partition, with its owners as slices; one with the epochs. Times are in nanoseconds."""
    owners = _owners(timeline, wanted)
    trace = bytearray()
    _track(trace, GROUP_TRACK, f"Group {timeline.group}")
    _track(trace, EPOCH_TRACK, "Epochs", GROUP_TRACK)
    for one in owners.courses.rebalances:
        _slice(trace, EPOCH_TRACK, f"epoch {one.epoch}", one.at_ms, one.until_ms, {"entry": one.sequence})
    rows: dict[Place, int] = {}
    for interval in owners.intervals():
        if interval.place not in rows:
            rows[interval.place] = EPOCH_TRACK + 1 + len(rows)
            topic, partition = interval.place
            _track(trace, rows[interval.place], f"{topic}-{partition}", GROUP_TRACK)
        name = interval.owner or "unassigned"
        _slice(trace, rows[interval.place], name, interval.from_ms, interval.to_ms, {})
    return Export(name=f"timeline-{timeline.id}.perfetto-trace", content=bytes(trace))


GROUP_TRACK: Final = 1
EPOCH_TRACK: Final = 2

SLICE_BEGIN: Final = 1
SLICE_END: Final = 2


def _message(*fields: tuple[int, int | bytes | str]) -> bytes:
    """A message of Protocol Buffers: numbers as varints, all else with its length."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            write_unsigned_varint(out, number << 3)
            write_unsigned_varint(out, value)
        else:
            content = value.encode() if isinstance(value, str) else value
            write_unsigned_varint(out, number << 3 | 2)
            write_unsigned_varint(out, len(content))
            out += content
    return bytes(out)


def _packet(trace: bytearray, *fields: tuple[int, int | bytes | str]) -> None:
    """``Trace.packet``, with ``trusted_packet_sequence_id``."""
    trace += _message((1, _message(*fields, (10, 1))))


def _track(trace: bytearray, uuid: int, name: str, parent: int = 0) -> None:
    """``TracePacket.track_descriptor``: ``uuid``, ``name``, ``parent_uuid``."""
    _packet(trace, (60, _message((1, uuid), (2, name), (5, parent))))


def _slice(
    trace: bytearray, track: int, name: str, from_ms: int, to_ms: int, notes: Mapping[str, int]
) -> None:
    """Two of ``TracePacket.track_event``: ``type``, ``track_uuid``, ``name`` and ``debug_annotations``, each at its ``timestamp``."""
    noted = [(4, _message((10, key), (4, value))) for key, value in notes.items()]
    begin = _message((9, SLICE_BEGIN), (11, track), (23, name), *noted)
    _packet(trace, (8, max(0, from_ms) * 1_000_000), (11, begin))
    _packet(trace, (8, max(0, to_ms) * 1_000_000), (11, _message((9, SLICE_END), (11, track))))


FORMATS: Final[Mapping[str, Exporter]] = {
    "csv": table,
    "parquet": parquet,
    "otlp": traces,
    "perfetto": tracks,
}
