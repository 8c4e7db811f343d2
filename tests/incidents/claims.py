"""What the product says of a recorded log: its findings, each read by its structured fields alone."""

from __future__ import annotations

import lzma
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.pipeline.folds import Folds, fold_paths

from .facts import RECORDED, SEGMENTS, Facts
from .segments import unpacked

Names = Mapping[str, Sequence[str]]


class Claim(NamedTuple):
    """A finding. ``clients`` are client ids, found by member id where the clients told theirs, else by the product's name."""

    kind: str
    says: str
    certain: bool
    clients: tuple[str, ...]
    partitions: tuple[str, ...]
    from_ms: int
    to_ms: int | None
    """``None``: it lasts to the end of the log."""
    steps_ms: tuple[int, ...]
    """When each thing happened that it counts."""
    timeline: int
    """1 for the group's first life."""
    data: Mapping[str, Any]

    @property
    def proof(self) -> frozenset[int]:
        """The steps that prove it."""
        return frozenset((*self.data["sequences"], *(self.data.get("steps") or ())))


class Said(NamedTuple):
    """All that is said of one recording: of each of its timelines a verdict, and the claims of all."""

    verdicts: tuple[Mapping[str, Any], ...]
    claims: tuple[Claim, ...]
    ends_ms: tuple[int, ...]


def said_of(name: str, facts: Facts, recorded: Path = RECORDED, source: str = SEGMENTS) -> Said:
    with tempfile.TemporaryDirectory() as folder:
        packed, given = (recorded / name / source).read_bytes(), Path(folder)
        if source == SEGMENTS:
            unpacked(packed, given)
        else:
            given /= "lines.txt"
            given.write_bytes(lzma.decompress(packed))
        return said_of_paths(facts, str(given), scratch=f"{folder}/scratch")


def said_of_paths(facts: Facts, path: str, **options: Any) -> Said:
    """Imports the log as ``import_log`` does (without Spark: its tasks in this process) and reads the index."""
    folds = fold_paths(path, **options)
    ids = {member: process["client_id"] for process in facts["processes"] for member in process["member_ids"]}
    names = names_of(facts)
    verdicts, claims, ends = [], [], []
    for number, timeline in enumerate(mine(folds, facts["group"]), 1):
        summary = folds.index(timeline)["summary"]
        # A client that was given nothing never told its member id: there the name counts that the product gives to it.
        cast = {
            one["id"]: found[0] for one in summary["cast"] if (found := clients_of(one["name"], {}, names))
        }
        times = {entry["sequence"]: int(entry["at_ms"]) for entry in folds.entries(timeline)}
        verdicts.append(summary["verdict"])
        ends.append(int(summary["last_ms"]))
        claims += [claim_of(one, number, times, cast | ids, names) for one in summary["findings"]]
    return Said(tuple(verdicts), tuple(claims), tuple(ends))


def mine(folds: Folds, group: str) -> list[str]:
    """The group's timelines: another group may lie in the same partition."""
    return [name for name in folds.timelines if name.rpartition("#")[0] == group]


def claim_of(
    finding: Mapping[str, Any],
    timeline: int,
    times: Mapping[int, int],
    ids: Mapping[str, str],
    names: Names,
) -> Claim:
    at = [times[sequence] for sequence in finding["sequences"] if sequence in times]
    steps = [
        times[sequence] for sequence in finding.get("steps") or finding["sequences"] if sequence in times
    ]
    from_ms = finding.get("from_ms") or finding.get("at_ms") or (min(at) if at else 0)
    to_ms = finding["to_ms"] if "to_ms" in finding else finding.get("at_ms") or (max(at) if at else 0)
    return Claim(
        kind=finding["kind"],
        says=finding["says"],
        certain=bool(finding["certain"]),
        clients=tuple(dict.fromkeys(_clients(finding, ids, names))),
        partitions=tuple(_partitions(finding)),
        from_ms=from_ms,
        to_ms=to_ms,
        steps_ms=tuple(steps),
        timeline=timeline,
        data=finding,
    )


def clients_of(word: object, ids: Mapping[str, str], names: Names) -> Sequence[str]:
    """The client of a member id or a name, which may have a number behind it; of an instance all that took its place."""
    if not isinstance(word, str):
        return ()
    if word in ids:
        return (ids[word],)
    return names.get(word.split(" ")[0].split("~")[0], ())


def names_of(facts: Facts) -> Names:
    """Client ids, and group instance ids, each with its clients."""
    names: dict[str, list[str]] = {}
    for process in facts["processes"]:
        for name in (process["client_id"], process["instance_id"]):
            if name is not None and process["client_id"] not in names.setdefault(name, []):
                names[name].append(process["client_id"])
    return names


def _clients(finding: Mapping[str, Any], ids: Mapping[str, str], names: Names) -> Iterator[str]:
    """By member id where the finding has one that is known; by name where it has not."""
    by_id = [finding.get("member"), finding.get("from"), finding.get("to"), *(finding.get("members") or ())]
    known = [client for word in by_id for client in clients_of(word, ids, {})]
    by_name = [finding.get("name"), *(finding.get("names") or ())]
    yield from known or [client for word in by_name for client in clients_of(word, ids, names)]


def _partitions(finding: Mapping[str, Any]) -> Iterator[str]:
    several = finding.get("partitions")
    if isinstance(several, (list, tuple)):
        yield from (each for each in several if isinstance(each, str))
    elif isinstance(finding.get("partition"), str):
        yield finding["partition"]
