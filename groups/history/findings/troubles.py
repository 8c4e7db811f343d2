"""What requests, timers, faults and notes report: invariants, fences, refusals, fail-overs, static members, expressions, topics.

Needs: what each finding's ``needs`` names. Claims what the entry contains, with its proof. A log of records holds none of the
requests and faults, so of those it cannot know anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from groups.history.evidence.display_names import DisplayNames
from groups.history.evidence.incidents import Incident, member_of
from groups.history.findings.declaring import Declared, Row
from groups.history.findings.facts import Facts
from groups.history.findings.finding import Finding, finding
from groups.history.story.events import ERROR_NAMES, UNSUPPORTED_VERSION
from groups.history.words import counted, lasting, listed

TOPICS_NAMED_MAX = 6
"""Topics that one sentence names; more are counted."""


@dataclass(frozen=True, slots=True)
class TroubleText:
    """What is said of a trouble, what of the log that needs, and the facts that the sentence is made of."""

    text: str
    needs: list[str] | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


def found_incidents(facts: Facts) -> Iterator[Finding]:
    """Violations first: nothing else of such a run can be relied on."""
    troubles, cast = facts.troubles, facts.cast
    for key, (kind, describe) in TELLERS.items():
        for one in troubles.kept[key]:
            worded = describe(one, cast)
            sequences = sorted({*one.get("proof", ()), one["sequence"]})
            count = troubles.counts[key]
            steps = [each["sequence"] for each in troubles.kept[key]]
            when = {"at_ms": one["at_ms"]} if "at_ms" in one else {"at_ms": one.get("from_ms")}
            yield finding(
                kind,
                worded.text,
                sequences,
                needs=worded.needs,
                more={**worded.facts, **when, "count": count, "steps": steps},
            )


def _violation(one: Incident, cast: DisplayNames) -> TroubleText:
    facts: dict[str, object] = {
        "invariant": one["invariant"],
        "members": one["members"],
        "partitions": one["partitions"],
        "at": one["sequence"],
    }
    return TroubleText(f"An invariant is broken: {one['says']}", ["notes"], facts)


def _difference(one: Incident, cast: DisplayNames) -> TroubleText:
    return TroubleText(
        f"The simulated coordinator differs: {one['what']}", ["requests"], {"what": one["what"]}
    )


def _away(verb: str) -> Callable[[Incident, DisplayNames], TroubleText]:
    """Of a member, or of the coordinator, that did nothing or was not seen for a while."""

    def describe(one: Incident, cast: DisplayNames) -> TroubleText:
        who = cast.name(one["member"]) if one["member"] is not None else "The coordinator"
        length_ms = one["to_ms"] - one["from_ms"] if one["to_ms"] is not None else None
        for_how_long = lasting(length_ms) if length_ms is not None else " to the end"
        facts = {"member": one["member"], "name": who, "length_ms": length_ms}
        return TroubleText(f"{who} {verb}{for_how_long}", ["notes"], facts)

    return describe


def _refused(one: Incident, cast: DisplayNames) -> TroubleText:
    who, error = cast.name(member_of(one)), ERROR_NAMES.get(one["code"], f"error {one['code']}")
    facts = {"member": one["member"], "name": who, "error": error}
    if one["code"] == UNSUPPORTED_VERSION:
        return TroubleText(
            f"{who} was refused: the broker does not serve the consumer protocol ({error})",
            ["requests"],
            facts,
        )
    return TroubleText(f"{who} was refused: {error}", ["requests"], facts)


def _failed_over(one: Incident, cast: DisplayNames) -> TroubleText:
    loads = lasting(one["loading_ms"] or 0, " and loaded for ")
    facts: dict[str, object] = {"loading_ms": one["loading_ms"]}
    to = ""
    if (release := one.get("release")) is not None:
        to = f" to a broker {release}, which does not know the consumer protocol,"
        facts["release"] = release
    return TroubleText(f"The coordinator failed over{to}{loads}", ["notes"], facts)


def _lost(one: Incident, cast: DisplayNames) -> TroubleText:
    what = counted(one["records"], "record") if one["records"] is not None else "A batch"
    one_was = one["records"] in (None, 1)
    were, they_were = ("was", "it was") if one_was else ("were", "they were")
    return TroubleText(
        f"{what} {were} lost before {they_were} replicated", ["notes"], {"records": one["records"]}
    )


def _fenced(one: Incident, cast: DisplayNames) -> TroubleText:
    who = cast.name(member_of(one))
    facts = {"member": one["member"], "name": who, "error": one["error"]}
    return TroubleText(f"{who} was fenced: {one['error']}", ["requests"], facts)


def _replaced(one: Incident, cast: DisplayNames) -> TroubleText:
    old, new = cast.name(one["old"]), cast.name(one["new"])
    lane = cast.lane(one["new"])
    facts = {"member": one["new"], "name": new, "old": one["old"], "old_name": old, "lane": lane}
    if new == old:
        return TroubleText(f"{new} was replaced by another process with its group.instance.id", facts=facts)
    return TroubleText(f"{new} replaced {old} (same group.instance.id)", facts=facts)


def _matched(one: Incident, cast: DisplayNames) -> TroubleText:
    text = f"{one['regex']} {'matched' if one['count'] else 'matched nothing'}{_topics(one['topics'], one['count'])}"
    return TroubleText(text, facts={"regex": one["regex"], "topics": one["topics"]})


def _topic(verb: str) -> Callable[[Incident, DisplayNames], TroubleText]:
    return lambda one, cast: TroubleText(f"{one['topic']} was {verb}", ["notes"], {"topic": one["topic"]})


TELLERS: Final[Mapping[str, tuple[str, Callable[[Incident, DisplayNames], TroubleText]]]] = {
    "violations": ("violation", _violation),
    "differences": ("difference", _difference),
    "stood_still": ("stood_still", _away("was paused")),
    "cut_off": ("cut_off", _away("was cut off")),
    "refused": ("refused", _refused),
    "fail_overs": ("failed_over", _failed_over),
    "lost": ("lost_batch", _lost),
    "fences": ("fenced", _fenced),
    "replaced": ("replaced", _replaced),
    "matched": ("matched", _matched),
    "topics_deleted": ("topics_deleted", _topic("deleted")),
    "topics_remade": ("topics_remade", _topic("made anew")),
}
"""What is kept of each kind of trouble → the finding's kind, and what makes it. In the order of the list."""


def _topics(names: list[str], count: int) -> str:
    if not count:
        return ""
    return f" {listed(names)}" if count <= TOPICS_NAMED_MAX else f" {counted(count, 'topic')}"


FINDER: Final = Declared(
    place=10,
    find=found_incidents,
    rows=(
        Row(
            kinds=(
                "violation",
                "difference",
                "fenced",
                "refused",
                "stood_still",
                "cut_off",
                "failed_over",
                "lost_batch",
                "matched",
            )
        ),
        Row(kinds=("replaced",), incident=True),
    ),
)
