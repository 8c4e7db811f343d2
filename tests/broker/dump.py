"""What Kafka's own ``kafka-dump-log --offsets-decoder`` reads out of segment files."""

from __future__ import annotations

import base64
import json
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from groups.wire.embedded.consumer_protocol import decode_assignment, decode_subscription

from . import jars
from .java import java

DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"
DUMP_LIMIT_S = 300

_BATCH = re.compile(
    r"baseOffset: (?P<base>\d+) lastOffset: (?P<last>\d+) count: (?P<count>\d+) .*isvalid: (?P<valid>\w+)"
)
_RECORD = re.compile(
    r"\| offset: (?P<offset>\d+) CreateTime: (?P<at_ms>\d+) .*?"
    r"headerKeys: \[\] key: (?P<key>\{.*\}) payload: (?P<payload>\{.*\}|<DELETE>)$"
)
_CONTROL = re.compile(r"\| offset: \d+ CreateTime: \d+ .*endTxnMarker: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dumped:
    """A record as Kafka prints it: ``key`` and ``payload`` are its JSON, ``payload`` None for a tombstone."""

    offset: int
    at_ms: int
    key: dict[str, Any]
    payload: dict[str, Any] | None


class ComplaintError(AssertionError):
    """The tool printed something that is neither a batch nor a record that it could decode."""


def dump(segments: Iterable[Path]) -> list[Dumped]:
    """The records of segment files in their order; ``ComplaintError`` on any line that is not as it should be."""
    printed = subprocess.run(
        [
            *java(jars.class_path(), "-Xmx256m"),
            DUMP_LOG,
            *["--offsets-decoder", "--print-data-log", "--files", ",".join(map(str, segments))],
        ],
        capture_output=True,
        text=True,
        timeout=DUMP_LIMIT_S,
    )
    if printed.returncode != 0:
        raise ComplaintError(f"kafka-dump-log ended with {printed.returncode}: {printed.stderr[-2000:]}")
    return parse(printed.stdout)


def parse(text: str) -> list[Dumped]:
    out: list[Dumped] = []
    due = 0
    for line in text.splitlines():
        if line.startswith(("Dumping ", "Log starting offset:")) or _CONTROL.match(line):
            continue
        if batch := _BATCH.match(line):
            if batch["valid"] != "true":
                raise ComplaintError(f"a batch is not valid: {line}")
            due += int(batch["count"])
            continue
        record = _RECORD.match(line)
        if record is None:
            raise ComplaintError(f"not a decoded record: {line[:400]}")
        payload = None if record["payload"] == "<DELETE>" else json.loads(record["payload"])
        out.append(
            Dumped(
                offset=int(record["offset"]),
                at_ms=int(record["at_ms"]),
                key=json.loads(record["key"]),
                payload=payload,
            )
        )
    controls = sum(1 for line in text.splitlines() if _CONTROL.match(line))
    if due != len(out) + controls:
        raise ComplaintError(f"batches announce {due} records, {len(out) + controls} were printed")
    return out


def as_kafka_prints(payload: dict[str, Any]) -> dict[str, Any]:
    """A payload of ours as ``kafka-dump-log`` prints the same record.

    It prints numbers of versions and types as text, and the embedded consumer protocol's bytes as fields. The one
    tagged field that is there even when it is null is ``classicMemberMetadata``.
    """
    key = {"type": str(payload["type"]), "data": payload["key"]}
    if payload["value"] is None:
        return {"key": key, "payload": None}
    value = dict(payload["value"])
    if payload["type"] == 2:
        value["members"] = [_embedded(member) for member in value["members"]]
    if payload["type"] == 5:
        value.setdefault("classicMemberMetadata", None)
    return {"key": key, "payload": {"version": str(payload["version"]), "data": value}}


def _embedded(member: dict[str, Any]) -> dict[str, Any]:
    """A classic member; of the embedded bytes the tool prints the fields, without their version."""
    subscription = decode_subscription(base64.b64decode(member["subscription"]))
    assignment = decode_assignment(base64.b64decode(member["assignment"]))
    del subscription["version"], assignment["version"]
    return member | {"subscription": subscription, "assignment": assignment}
