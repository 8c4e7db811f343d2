"""Lists bytes of a named kind, field by field; never raises for bytes, and never reads more than it may."""

from __future__ import annotations

from dataclasses import dataclass, field

from groups.wire.codecs.primitives import to_base64
from groups.wire.codecs.values import Fields
from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.errors import RecordError
from groups.wire.inspection.framing import RECORD
from groups.wire.inspection.kinds import Kind, kebab, kind_named
from groups.wire.inspection.layouts import Listing
from groups.wire.inspection.meanings import add_meanings
from groups.wire.inspection.nodes import REST, Node, Problem, each_node, find
from groups.wire.inspection.opening import open_blobs
from groups.wire.inspection.walk import MOST_BYTES, Stopped, Walk
from groups.wire.inspection.words import number


def call_records(fields: list[Node]) -> None:
    """Names each record of a batch (``offset 12, OffsetCommit of orders, foo, 0``), and each batch of a segment."""
    batches = [node for node in fields if node.kind == "batch" and node.fields is not None]
    for batch in batches:
        inner = batch.fields or []
        base, delta = number(find(inner, "baseOffset")), number(find(inner, "lastOffsetDelta"))
        if base is not None and delta is not None:
            batch.called = f"offset {base}" + (f" to {base + delta}" if delta else "")
        _call(inner)
    if not batches:
        _call(fields)


def _call(batch: list[Node]) -> None:
    base, records = number(find(batch, "baseOffset")), find(batch, "records")
    if base is None or records is None:
        return
    for record in records.fields or ():
        delta = number(record.child("offsetDelta"))
        if delta is None:
            continue
        record.called = ", ".join(part for part in (f"offset {base + delta}", _key(record)) if part)


def _key(record: Node) -> str:
    """The type and the fields of a key of the coordinator's; nothing of other keys."""
    key, value = record.child("key"), record.child("value")
    if key is None or key.kind != "key" or key.problem is not None:
        return ""
    known = RECORD_TYPES.get(-1 if (type_ := number(key.child("type"))) is None else type_)
    if known is None:
        return ""
    of = [str(each.value) for each in (key.fields or [])[1:] if each.name != REST]
    gone = ", tombstone" if value is not None and value.is_null else ""
    return f"{known.name} of {', '.join(of)}{gone}"


@dataclass(slots=True, kw_only=True)
class Inspection:
    """What bytes of one kind hold. ``read`` is how many of the ``length`` bytes the kind accounts for."""

    kind: str
    title: str
    version: int | None = None
    length: int
    read: int = 0
    fields: list[Node] = field(default_factory=list)
    problem: Problem | None = None
    stopped: bool = False
    """Whether reading came to an end at the problem; a wrong checksum does not stop it."""

    @property
    def is_whole(self) -> bool:
        """Whether every byte was read, and could be."""
        return self.problem is None and self.read == self.length

    def to_json(self) -> Fields:
        return {
            "kind": self.kind,
            "title": self.title,
            "version": self.version,
            "length": self.length,
            "read": self.read,
            "fields": [node.to_json() for node in self.fields],
            "problem": None if self.problem is None else self.problem.to_json(),
        }


def inspect(name: str, data: bytes, *, version: int | None = None) -> Inspection:
    """The listing of ``data`` as the kind called ``name``; ``UnknownVersionError`` if there is no such kind.

    ``version`` is for kinds that do not contain it themselves (requests and answers without their header); for those
    that do it is the newest that the reader knows. What is wrong with the bytes is in ``problem``.
    """
    kind = kind_named(name)
    done = Inspection(kind=kind.name, title=kind.title, length=len(data))
    if len(data) > MOST_BYTES:
        done.problem = Problem(
            sentence=f"{len(data)} bytes are too many to list; at most {MOST_BYTES} are", offset=MOST_BYTES
        )
        return done
    walk = Walk(data)
    listing = Listing(fields=done.fields)
    try:
        kind.layout.into(listing, walk, version)
    except Stopped as stopped:
        done.problem = stopped.problem
    except RecordError as error:
        done.problem = Problem(sentence=error.sentence, offset=error.offset)
    done.stopped = done.problem is not None
    done.problem = done.problem or listing.fault
    done.version = listing.version
    done.read = (done.problem.offset or 0) if done.problem is not None and done.stopped else listing.read
    if done.problem is None and done.read < len(data):
        done.problem = _rest(kind, walk, listing)
    elif done.stopped and done.fields and done.fields[-1].end < len(data):
        # A batch that cannot be read has the length in its header; what lies behind it was not looked at.
        at = done.fields[-1].end
        node = walk.node(done.fields, REST, "bytes", at, value=to_base64(data[at:]))
        node.length = len(data) - at
    open_blobs(done.fields, listing.message, walk)
    add_meanings(done.fields)
    call_records(done.fields)
    for path, node in each_node(done.fields):
        if node.problem is not None:
            # The innermost field that failed is the last that carries the same problem.
            node.problem.path = path
    return done


def inspect_record(key: bytes | None, value: bytes | None) -> Inspection:
    """The listing of a record that is given as its key and its value; each has offsets of its own (``"in"``)."""
    done = Inspection(kind="record", title="Record", length=len(key or b"") + len(value or b""))
    parts = {"key": (key, "key"), "value": (value, _kind_of_value(key))}
    for name, (data, kind) in parts.items():
        node = Node(name=name, type="bytes?", offset=0, message=RECORD, space=name)
        done.fields.append(node)
        if data is None:
            node.value = None
            continue
        node.length, node.value = len(data), to_base64(data)
        if kind is None:
            continue
        inner = inspect(kind, data)
        node.fields, node.kind, node.problem = inner.fields, kind, inner.problem
        done.read += inner.read
        done.version = inner.version if name == "value" else None
        if inner.problem is not None and done.problem is None:
            path = ".".join(part for part in (name, inner.problem.path) if part)
            done.problem = Problem(sentence=inner.problem.sentence, offset=inner.problem.offset, path=path)
    add_meanings(done.fields)
    if value is not None and parts["value"][1] is None and done.problem is None:
        done.problem = Problem(sentence="the key does not tell what the value is", offset=0, path="value")
    return done


def _kind_of_value(key: bytes | None) -> str | None:
    known = RECORD_TYPES.get(int.from_bytes(key[:2])) if key is not None and len(key) >= 2 else None
    return kebab(known.value.name) if known is not None else None


def _rest(kind: Kind, walk: Walk, listing: Listing) -> Problem | None:
    """The bytes behind the last field: fine where newer versions append, a fault elsewhere."""
    at = listing.read
    more = len(walk.data) - at
    node = walk.node(listing.fields, REST, "bytes", at, value=to_base64(walk.data[at:]))
    node.length = more
    if kind.layout.appends:
        return None
    node.problem = Problem(sentence=f"the fields end here, the bytes go on for {more} more", offset=at)
    return node.problem
