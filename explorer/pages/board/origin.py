"""Where a timeline comes from, as shown in the tag next to its title."""

from __future__ import annotations

from dataclasses import dataclass

import orjson

from groups.models import Timeline


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """``text`` is in the tag, ``strong`` behind it in bold, ``title`` explains."""

    text: str
    strong: str = ""
    title: str = ""


def origin_of(timeline: Timeline, chunk: bytes) -> Origin:
    """``chunk`` is the JSON of the opening chunk; its step notes say how many rows of the proposal it shows."""
    if timeline.source == Timeline.Source.CASE_STUDY:
        if not timeline.id.startswith("kip"):
            return Origin(
                text="Kafka as released",
                title="Run by the simulator; a test compares it with what a real broker wrote.",
            )
        rows = _rows(chunk)
        if not timeline.id.startswith("kip848-"):
            return Origin(
                text=f"After {timeline.id.partition('-')[0].upper().replace('KIP', 'KIP-')}",
                strong=f"{rows} rows" if rows else "",
                title=(
                    "What the proposal tells, played by the simulator by the rules of released clients and brokers; "
                    "tests hold it to what it claims."
                ),
            )
        return Origin(
            text="From the KIP text",
            strong=f"{rows} rows" if rows else "",
            title="The proposal's own example, run by the simulator; a test compares every row with its table.",
        )
    if timeline.source == Timeline.Source.SIMULATION:
        seed = f"seed {timeline.seed}" if timeline.seed is not None else ""
        return Origin(text="Simulated", strong=seed, title="The same scenario and seed give the same run.")
    if timeline.source == Timeline.Source.IMPORT and timeline.semantics:
        return Origin(
            text="Added as entries",
            title="Stored by timeline add: entries of a run, or of a recording that was judged.",
        )
    if timeline.source == Timeline.Source.IMPORT and timeline.provenance == "inferred":
        return Origin(
            text="Inferred",
            title="From lines of logs and tables that were pasted, without a record. What no line says is not shown; "
            "a member that no line names is missing.",
        )
    if timeline.source == Timeline.Source.IMPORT:
        return Origin(
            text="From a log", title="What the records hold. A dot that is open marks what is inferred."
        )
    if timeline.provenance == "recorded":
        return Origin(
            text="Followed live" if timeline.status == Timeline.Status.RUNNING else "Followed",
            title="Every record of the group in the log of a live cluster, read-only, as the broker wrote it.",
        )
    return Origin(
        text="Polled live" if timeline.status == Timeline.Status.RUNNING else "Polled",
        title="Described by a live cluster's coordinator, read-only, every few moments. What happened between two polls is "
        "inferred.",
    )


def _rows(chunk: bytes) -> int:
    parsed = orjson.loads(chunk)
    if not parsed:
        return 0
    return max((moment["step"] for moment in parsed["moments"] if moment.get("step")), default=0)
