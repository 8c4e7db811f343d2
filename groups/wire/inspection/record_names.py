"""What the records of a batch, and the batches of a segment, are called among their like: by offset and by key."""

from __future__ import annotations

from groups.wire.coordinator_schema import RECORD_TYPES
from groups.wire.inspection.nodes import REST, Node, find
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
