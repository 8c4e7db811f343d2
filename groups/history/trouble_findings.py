"""Findings of what went wrong, and of static members and expressions."""

from __future__ import annotations

from groups.history.names import Cast
from groups.history.ownership_findings import Finding, finding
from groups.history.troubles import Troubles
from groups.history.volatile_moments import ERROR_NAMES
from groups.history.words import counted, duration, listed

TOPICS_NAMED_MAX = 6
"""Topics that one sentence names; more are counted."""


def found_troubles(troubles: Troubles, cast: Cast) -> list[Finding]:
    """Violations first: nothing else of such a run can be relied on."""
    found: list[Finding] = []
    kept, counts = troubles.kept, troubles.counts
    for one in kept["violations"]:
        found.append(
            finding(
                "violation",
                f"An invariant is broken: {one['says']}",
                sorted({*one["proof"], one["sequence"]}),
                needs=["notes"],
                invariant=one["invariant"],
                members=one["members"],
                partitions=one["partitions"],
                at=one["sequence"],
                count=counts["violations"],
            )
        )
    for one in kept["differences"]:
        found.append(
            finding(
                "difference",
                f"The simulated coordinator differs: {one['what']}",
                [one["sequence"]],
                needs=["requests"],
                what=one["what"],
                count=counts["differences"],
            )
        )
    for kind, verb in (("stood_still", "stood still"), ("cut_off", "was cut off")):
        for one in kept[kind]:
            who = cast.name(one["member"]) if one["member"] is not None else "The coordinator"
            length_ms = one["to_ms"] - one["from_ms"] if one["to_ms"] is not None else None
            found.append(
                finding(
                    kind,
                    f"{who} {verb} {f'for {duration(length_ms)}' if length_ms is not None else 'to the end'}",
                    [one["sequence"]],
                    needs=["notes"],
                    member=one["member"],
                    name=who,
                    length_ms=length_ms,
                    count=counts[kind],
                )
            )
    for one in kept["refused"]:
        who, error = cast.name(one["member"]), ERROR_NAMES.get(one["code"], f"error {one['code']}")
        found.append(
            finding(
                "refused",
                f"{who} was refused: {error}",
                [one["sequence"]],
                needs=["requests"],
                member=one["member"],
                name=who,
                error=error,
                count=counts["refused"],
            )
        )
    for one in kept["fail_overs"]:
        loads = f" and loaded for {duration(one['loading_ms'])}" if one["loading_ms"] else ""
        found.append(
            finding(
                "failed_over",
                f"The coordinator failed over{loads}",
                [one["sequence"]],
                needs=["notes"],
                loading_ms=one["loading_ms"],
                count=counts["fail_overs"],
            )
        )
    for one in kept["lost"]:
        what = counted(one["records"], "record") if one["records"] is not None else "A batch"
        verb = "was" if one["records"] in (None, 1) else "were"
        found.append(
            finding(
                "lost_batch",
                f"{what} {verb} lost before {'it was' if verb == 'was' else 'they were'} replicated",
                [one["sequence"]],
                needs=["notes"],
                records=one["records"],
                count=counts["lost"],
            )
        )
    for one in kept["fences"]:
        who = cast.name(one["member"])
        found.append(
            finding(
                "fenced",
                f"{who} was fenced: {one['error']}",
                [one["sequence"]],
                needs=["requests"],
                member=one["member"],
                name=who,
                error=one["error"],
                count=counts["fences"],
            )
        )
    for one in kept["replaced"]:
        old, new = cast.name(one["old"]), cast.name(one["new"])
        found.append(
            finding(
                "replaced",
                f"{new} took the place of {old}",
                [one["sequence"]],
                member=one["new"],
                name=new,
                old=one["old"],
                old_name=old,
                count=counts["replaced"],
            )
        )
    for one in kept["matched"]:
        found.append(
            finding(
                "matched",
                f"{one['regex']} {'matched' if one['count'] else 'matched nothing'}{_topics(one['topics'], one['count'])}",
                [one["sequence"]],
                regex=one["regex"],
                topics=one["topics"],
                count=counts["matched"],
            )
        )
    for kind, verb in (("topics_deleted", "deleted"), ("topics_remade", "made anew")):
        for one in kept[kind]:
            found.append(
                finding(
                    kind,
                    f"{one['topic']} was {verb}",
                    [one["sequence"]],
                    needs=["notes"],
                    topic=one["topic"],
                    count=counts[kind],
                )
            )
    return found


def _topics(names: list[str], count: int) -> str:
    if not count:
        return ""
    return f" {listed(names)}" if count <= TOPICS_NAMED_MAX else f" {counted(count, 'topic')}"
