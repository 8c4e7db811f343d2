"""How what a broker said of a group is held against frames.

A frame says more than a description, and a description can say what no record tells: only what both say is compared
(``said_of``). States inside a batch never existed for the broker, so only the last frame of a batch counts; and a
classic group that is between two generations leaves no record, so those descriptions are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

Frame = dict[str, Any]
Said = dict[str, Any]

BETWEEN_GENERATIONS = ("PreparingRebalance", "CompletingRebalance")

SLACK_MS = 250
"""A record's time is taken when its request is handled; a description shows it once it is written and committed."""

SEEN_MS = 1000
"""A state that stood this long must have been described: the watcher asks ten times a second."""


def said_of(frame: Frame) -> Said:
    """The part of a frame that a description tells, in its form.

    4.3.1 describes as assigned what a member has and what it is still to give up, without telling them apart.
    """
    if frame["protocol"] == "classic":
        return {
            "group": frame["group"],
            "protocol": "classic",
            "state": frame["state"],
            "assignor": frame["protocol_name"] or "",
            "members": {
                member_id: {
                    "client_id": member["client_id"],
                    "host": member["host"],
                    "assignment": member["assigned"],
                }
                for member_id, member in frame["members"].items()
            },
        }
    if frame["protocol"] in ("share", "streams"):
        return _said_of_modern(frame)
    return {
        "group": frame["group"],
        "protocol": "consumer",
        "state": frame["state"],
        "epoch": frame["group_epoch"],
        "assignment_epoch": frame["assignment_epoch"],
        "members": {
            member_id: {
                "epoch": member["epoch"],
                "client_id": member["client_id"],
                "host": member["host"],
                "subscribed": sorted(member["subscribed"]),
                "assignment": merged(member["assigned"], member["pending_revocation"]),
                "target": frame["target"].get(member_id, {}),
            }
            for member_id, member in frame["members"].items()
        },
    }


def _said_of_modern(frame: Frame) -> Said:
    """A share or a streams group, which are described by what they have assigned alone."""
    said = {
        "group": frame["group"],
        "protocol": frame["protocol"],
        "state": frame["state"],
        "epoch": frame["group_epoch"],
        "assignment_epoch": frame["assignment_epoch"],
    }
    if frame["protocol"] == "share":
        fields = ("epoch", "client_id", "host", "rack_id")
        members = {
            member_id: {field: member[field] for field in fields}
            | {"subscribed": sorted(member["subscribed"]), "assignment": member["assigned"]}
            for member_id, member in frame["members"].items()
        }
        return said | {"members": members}
    fields = ("epoch", "client_id", "host", "topology_epoch", "process_id", "endpoint", "tags")
    members = {
        member_id: {field: member[field] for field in fields}
        | {
            "assignment": {
                "active": member["assigned"],
                "standby": member["standby"],
                "warmup": member["warmup"],
            },
            "target": {
                "active": frame["target"].get(member_id, {}),
                "standby": frame["target_standby"].get(member_id, {}),
                "warmup": frame["target_warmup"].get(member_id, {}),
            },
        }
        for member_id, member in frame["members"].items()
    }
    topology = frame["topology"]
    subtopologies = {name: each["source_topics"] for name, each in topology["subtopologies"].items()}
    return said | {
        "topology_epoch": topology["epoch"],
        "subtopologies": subtopologies,
        "members": members,
    }


def merged(*assignments: dict[str, list[int]]) -> dict[str, list[int]]:
    """Topics with the partitions of all the assignments, ascending."""
    names = sorted({name for each in assignments for name in each})
    return {name: sorted({p for each in assignments for p in each.get(name, [])}) for name in names}


def comparable(said: Said) -> Said:
    """A description without what a frame cannot tell: the error code, and a consumer group's default assignor."""
    left_out = ("error",) if said["protocol"] == "classic" else ("error", "assignor")
    return {key: value for key, value in said.items() if key not in left_out}


def disagreements(frames: Sequence[Frame], snapshots: Iterable[dict[str, Any]], group: str) -> list[str]:
    """What is wrong between the settled frames of a group and what the broker said of it; empty when all is well.

    Both ways: each description equals a frame that was in force at that moment, in the order of the log; and each
    frame that stood for a second was described.
    """
    problems: list[str] = []
    stood = _stretches(frames)
    described = [each for each in snapshots if each["said"]["group"] == group]
    assert described, f"group {group} was never described"
    at = 0
    seen: set[int] = set()
    for snapshot in described:
        said = comparable(snapshot["said"])
        if said["state"] in BETWEEN_GENERATIONS:
            continue
        matching = [
            index
            for index in range(at, len(stood))
            if stood[index][2] == said
            and stood[index][0] <= snapshot["got_ms"] + SLACK_MS
            and stood[index][1] >= snapshot["sent_ms"] - SLACK_MS
        ]
        if not matching:
            nearest = [state for begin, end, state in stood if begin <= snapshot["got_ms"] <= end + SLACK_MS]
            problems.append(f"at {snapshot['sent_ms']} the broker said {said}; the log says {nearest}")
            continue
        at = matching[0]
        seen.update(matching)
    last_ms = described[-1]["until_ms"]
    first_ms = described[0]["sent_ms"]
    for index, (begin, end, state) in enumerate(stood):
        visible_ms = min(end, last_ms) - max(begin, first_ms)
        if visible_ms >= SEEN_MS and index not in seen and not _hidden(described, begin, end):
            problems.append(f"from {begin} to {end} the log says {state}, which the broker never said")
    return problems


def _stretches(frames: Sequence[Frame]) -> list[tuple[int, int, Said]]:
    """From when to when each state stood; frames that say the same one after another are one."""
    out: list[tuple[int, int, Said]] = []
    endless = frames[-1]["at_ms"] + 10**9
    for frame, following in pairwise([*frames, {"at_ms": endless}]):
        said = said_of(frame)
        if out and out[-1][2] == said:
            out[-1] = (out[-1][0], following["at_ms"], said)
        else:
            out.append((frame["at_ms"], following["at_ms"], said))
    return out


def _hidden(described: Sequence[dict[str, Any]], begin: int, end: int) -> bool:
    """Whether a classic group was between generations for part of the time, which no record tells."""
    return any(
        snapshot["said"]["state"] in BETWEEN_GENERATIONS
        and snapshot["sent_ms"] <= end
        and snapshot["until_ms"] >= begin
        for snapshot in described
    )


def untrue_tables(frames: dict[str, Sequence[Frame]], tables: Iterable[dict[str, Any]]) -> list[str]:
    """The tables of ``kafka-consumer-groups`` that no frame in force while it ran would print; empty when all is well."""
    problems = []
    for table in tables:
        for name, as_rows in (("members", member_rows), ("state", state_rows)):
            asked = table[name]
            possible = [
                as_rows(frame)
                for frame, following in pairwise([*frames[table["group"]], {"at_ms": asked["got_ms"] + 1}])
                if frame["at_ms"] <= asked["got_ms"] and following["at_ms"] >= asked["sent_ms"] - SLACK_MS
            ]
            if asked["rows"] not in possible:
                problems.append(f"the tool printed {asked['rows']}; the log says {possible}")
    return problems


def member_rows(frame: Frame) -> list[dict[str, str]]:
    """What ``--describe --members --verbose`` prints for a frame, by member id.

    A classic group has no epochs, and its members' targets are not told (both printed as ``-``).
    """
    classic = frame["protocol"] == "classic"
    rows = [
        {
            "GROUP": frame["group"],
            "CONSUMER-ID": member_id,
            "HOST": member["host"],
            "CLIENT-ID": member["client_id"],
            "#PARTITIONS": str(sum(map(len, member["assignment"].values()))),
            "CURRENT-EPOCH": "-" if classic else str(member["epoch"]),
            "CURRENT-ASSIGNMENT": _as_cell(member["assignment"]),
            "TARGET-EPOCH": "-" if classic else str(frame["assignment_epoch"]),
            "TARGET-ASSIGNMENT": "-" if classic else _as_cell(member["target"]),
        }
        for member_id, member in said_of(frame)["members"].items()
    ]
    return sorted(rows, key=lambda row: row["CONSUMER-ID"])


def state_rows(frame: Frame) -> list[dict[str, str]]:
    """What ``--describe --state --verbose`` prints for a frame, without the coordinator's address."""
    classic = frame["protocol"] == "classic"
    return [
        {
            "GROUP": frame["group"],
            "ASSIGNMENT-STRATEGY": frame["protocol_name"] if classic else "uniform",
            "STATE": frame["state"],
            "GROUP-EPOCH": "-" if classic else str(frame["group_epoch"]),
            "TARGET-ASSIGNMENT-EPOCH": "-" if classic else str(frame["assignment_epoch"]),
            "#MEMBERS": str(len(frame["members"])),
        }
    ]


def _as_cell(assignment: dict[str, list[int]]) -> str:
    cells = [f"{topic}:{','.join(map(str, partitions))}" for topic, partitions in assignment.items()]
    return ";".join(cells) or "-"
