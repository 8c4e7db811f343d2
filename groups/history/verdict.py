"""The verdict: one sentence or two made of findings. It may be "unknown"; it is never typed.

Each clause is ``{"text", "sequence"}``; ``sequence`` is the step that proves it, ``None`` for words in between. The
texts of the clauses, put together, are the verdict's text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from groups.history.words import counted, duration, listed

Finding = Mapping[str, Any]

NAMED_MAX: Final = 3
"""Members and partitions that a clause names; more are counted."""

WAIT_TOLD_LEAST_MS: Final = 10_000
"""A wait below two heartbeats of the default interval (5 s) is how the protocol works, not news."""

REASONS: Final[Mapping[str | None, tuple[str, str]]] = {
    "left": ("left", "left"),
    "session_expired": ("was removed when its session expired", "were removed when their sessions expired"),
    "rebalance_timeout": (
        "was removed when its rebalance timeout expired",
        "were removed when their rebalance timeouts expired",
    ),
    None: ("was removed; the log does not say why", "were removed; the log does not say why"),
}
"""Why members are gone, of one and of several."""

UNKNOWN: Final = "Unknown: the log tells nothing of members."


class _Text:
    """Clauses in the making."""

    def __init__(self) -> None:
        self.clauses: list[dict[str, Any]] = []

    def add(self, text: str, sequence: int | None = None) -> None:
        self.clauses.append({"text": text, "sequence": sequence})

    def sentence(self, parts: Iterable[tuple[tuple[str, int | None], ...]]) -> None:
        """Parts joined by semicolons and ended by a full stop; nothing if there are no parts."""
        begun = False
        for part in parts:
            self.add("; " if begun else (" " if self.clauses else ""))
            for text, sequence in part:
                self.add(text[0].lower() + text[1:] if begun and text.startswith("The ") else text, sequence)
            begun = True
        if begun:
            self.add(".")

    def whole(self) -> dict[str, Any]:
        merged: list[dict[str, Any]] = []
        for clause in self.clauses:
            if not clause["text"]:
                continue
            if merged and clause["sequence"] is None and merged[-1]["sequence"] is None:
                merged[-1]["text"] += clause["text"]
            else:
                merged.append(dict(clause))
        return {"text": "".join(clause["text"] for clause in merged), "clauses": merged}


Part = tuple[tuple[str, int | None], ...]


def verdict(findings: Sequence[Finding]) -> dict[str, Any]:
    """``{"text", "clauses": [{"text", "sequence"}]}`` of the findings of a timeline."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault(finding["kind"], []).append(finding)
    text = _Text()
    text.sentence(_broken(by_kind))
    text.sentence(_differences(by_kind))
    text.sentence(_coming(by_kind))
    text.sentence(_suffering(by_kind))
    text.sentence(_going(by_kind))
    text.sentence(_topics(by_kind))
    text.sentence(_troubles(by_kind))
    text.sentence([*_moves(by_kind), *_no_owner(by_kind)])
    text.sentence([*_waits(by_kind), *_log(by_kind)])
    if text.clauses:
        return text.whole()
    commits = by_kind.get("commits")
    if commits:
        text.add("Commits only", commits[0]["sequences"][-1])
        text.add("; the log tells nothing of members.")
    else:
        text.add(UNKNOWN)
    return text.whole()


def _broken(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    """A run in which an invariant is broken is not one to learn from: that comes first."""
    broken = by_kind.get("violation", [])
    if not broken:
        return
    first, count = broken[0], broken[0]["count"]
    says = first["says"].rstrip(".")
    more = f", the first of {count:,}" if count > 1 else ""
    yield ((f"{says}{more}", first["at"]),)


def _differences(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    """A recording that was put to the simulated coordinator was put to it to learn this."""
    differing = by_kind.get("difference", [])
    if differing:
        count = differing[0]["count"]
        often = "once" if count == 1 else f"{count:,} times"
        yield ((f"The simulated coordinator differs {often}", differing[0]["sequences"][0]),)


def _suffering(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    """Who stood still, was cut off or was refused: why others are gone stands before that they are."""
    for kind, verb in (("stood_still", "stood still"), ("cut_off", "were cut off")):
        found = by_kind.get(kind, [])
        if found and found[0]["count"] <= NAMED_MAX:
            for one in found:
                yield ((one["says"], one["sequences"][0]),)
        elif found:
            every = found[0]["count"] == len(found)
            who = counted(len({one["name"] for one in found}), "consumer") if every else "Consumers"
            yield ((f"{who} {verb} {found[0]['count']:,} times", found[0]["sequences"][0]),)
    by_error: dict[str, list[Finding]] = {}
    refusals = by_kind.get("refused", [])
    if refusals and refusals[0]["count"] > len(refusals):
        yield ((f"Heartbeats were refused {refusals[0]['count']:,} times", refusals[0]["sequences"][0]),)
        return
    for one in refusals:
        by_error.setdefault(one["error"], []).append(one)
    for error, refused in list(by_error.items())[:NAMED_MAX]:
        names = list(dict.fromkeys(one["name"] for one in refused))
        were = "was" if len(names) == 1 else "were"
        yield ((f"{listed(names, NAMED_MAX)} {were} refused: {error}", refused[0]["sequences"][0]),)


def _troubles(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    """Replacements of static members, fences, fail-overs and what they cost."""
    replaced = by_kind.get("replaced", [])
    if replaced and replaced[0]["count"] <= NAMED_MAX:
        for one in replaced:
            yield ((one["says"], one["sequences"][0]),)
    elif replaced:
        count = replaced[0]["count"]
        yield ((f"Static members were replaced {count:,} times", replaced[-1]["sequences"][0]),)
    fences = by_kind.get("fenced", [])
    if fences:
        who = listed(list(dict.fromkeys(one["name"] for one in fences)), NAMED_MAX)
        several = len({one["name"] for one in fences}) > 1
        often = f" {fences[0]['count']:,} times" if fences[0]["count"] > 1 and not several else ""
        yield ((f"{who} {'were' if several else 'was'} fenced{often}", fences[0]["sequences"][0]),)
    fail_overs = by_kind.get("failed_over", [])
    if fail_overs:
        count = fail_overs[0]["count"]
        says = fail_overs[0]["says"] if count == 1 else f"The coordinator failed over {count:,} times"
        yield ((says, fail_overs[-1]["sequences"][0]),)
    for one in by_kind.get("lost_batch", [])[:NAMED_MAX]:
        yield ((one["says"], one["sequences"][0]),)


def _coming(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    epochs = by_kind.get("epochs", [None])[0]
    joined = by_kind.get("joined", [])
    midway = by_kind.get("midway", [None])[0]
    began = by_kind.get("began", [None])[0]
    if epochs is not None and epochs["classic"]:
        first, last = epochs["first"], epochs["last"]
        which = f"Generation {last}" if first == last else f"Generations {first} to {last}"
        yield ((which, epochs["sequences"][-1]),)
    if midway is not None:
        yield ((midway["says"], midway["sequences"][0]),)
    if began is not None:
        names, count = began["names"], began["count"]
        whom = listed(names) if count == len(names) else counted(count, "member")
        yield ((f"{whom} {'was' if count == 1 else 'were'} there", began["sequences"][0]),)
    if not joined:
        return
    there = began["names"] if began is not None else []
    steps = {finding["sequences"][0] for finding in joined}
    number = joined[0]["count"]
    names = [finding["name"] for finding in joined]
    first = list(dict.fromkeys(names))
    again = [name for name in first if names.count(name) > 1 or name in there]
    first = [name for name in first if name not in there]
    part: list[tuple[str, int | None]] = []
    if number > len(joined):
        part = [
            (
                f"{'Members' if began is None else 'members'} joined {number:,} times",
                joined[0]["sequences"][0],
            )
        ]
    elif first:
        part = [(f"{listed(first)} joined", joined[0]["sequences"][0])]
        if len(steps) > 1 and len(first) > 1:
            part.append((" one after another", None))
    if number == len(joined) and again:
        sequence = next(f["sequences"][0] for f in reversed(joined) if f["name"] in again)
        part.append((f"{', ' if part else ''}{listed(again)} {'' if part else 'joined '}again", sequence))
    # The epoch at which a group under way begins is not one that the joins brought.
    number = epochs["count"] - (began is not None) if epochs is not None and not epochs["classic"] else 0
    if epochs is not None and number > 1:
        part += [(", in " if len(steps) > 1 else " in ", None), (f"{number} epochs", epochs["sequences"][-1])]
    yield tuple(part)


def _going(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    removed = by_kind.get("removed", [])
    if not removed:
        return
    count = removed[0]["count"]
    if count > len(removed):
        yield ((f"Members left or were removed {count:,} times", removed[-1]["sequences"][-1]),)
        return
    by_reason: dict[str | None, list[Finding]] = {}
    for finding in removed:
        by_reason.setdefault(finding["why"], []).append(finding)
    for why, gone in by_reason.items():
        who = listed(list(dict.fromkeys(finding["name"] for finding in gone)), NAMED_MAX)
        one, many = REASONS[why]
        yield ((f"{who} {one if len(gone) == 1 else many}", gone[-1]["sequences"][-1]),)


def _topics(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    for finding in [*by_kind.get("partitions_added", []), *by_kind.get("matched", [])][-NAMED_MAX:]:
        yield ((finding["says"], finding["sequences"][-1]),)
    for kind in ("topics_deleted", "topics_remade"):
        by_topic: dict[str, list[Finding]] = {}
        for finding in by_kind.get(kind, []):
            by_topic.setdefault(finding["topic"], []).append(finding)
        for findings in list(by_topic.values())[:NAMED_MAX]:
            often = f" {len(findings)} times" if len(findings) > 1 else ""
            yield ((f"{findings[0]['says']}{often}", findings[0]["sequences"][0]),)


def _moves(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    moves = by_kind.get("moves")
    if not moves:
        return
    part: list[tuple[str, int | None]] = [(moves[0]["says"], moves[0]["sequences"][-1])]
    if moves[0]["released_before_taken"]:
        how = "each released before it was taken" if moves[0]["count"] > 1 else "released before it was taken"
        part.append((f", {how}", None))
    yield tuple(part)


def _no_owner(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    closed = [finding for finding in by_kind.get("no_owner", []) if not finding["open"]]
    still = [finding for finding in by_kind.get("no_owner", []) if finding["open"]]
    if closed and closed[0]["length_ms"] > 0:
        longest = closed[0]
        # Partitions that were free over the very same steps are one fact.
        same = [finding["partition"] for finding in closed if finding["sequences"] == longest["sequences"]]
        says = f"{listed(same) if len(same) <= NAMED_MAX else counted(len(same), longest['noun'])} had no owner for {duration(longest['length_ms'])}"
        part: list[tuple[str, int | None]] = [(says, longest["sequences"][0])]
        if longest["count"] > len(same):
            part.append((", the longest after the start", None))
        yield tuple(part)
    if still:
        says = (
            still[0]["says"]
            if still[0]["count"] == 1
            else f"{still[0]['count']} {still[0]['noun']}s have no owner"
        )
        yield ((says, still[0]["sequences"][0]),)


def _waits(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    waited = by_kind.get("waited_for", [])
    for is_open in (True, False):
        of_these = [wait for wait in waited if wait["open"] is is_open]
        if of_these and of_these[0]["length_ms"] >= WAIT_TOLD_LEAST_MS:
            yield ((of_these[0]["says"], of_these[0]["sequences"][-1]),)


def _log(by_kind: Mapping[str, list[Finding]]) -> Iterable[Part]:
    overlaps = by_kind.get("two_clients", [])
    if overlaps:
        yield ((overlaps[0]["says"], overlaps[0]["sequences"][-1]),)
    for finding in by_kind.get("anomaly", []):
        if finding["anomaly"] in ("two_owners", "epoch_jump"):
            yield ((finding["says"].rstrip("."), finding["sequences"][0]),)
    gaps = by_kind.get("gap", [])
    if gaps:
        yield ((f"The log has {counted(len(gaps), 'gap')}", gaps[0]["sequences"][0]),)
    if by_kind.get("deleted"):
        yield (("The group is deleted at the end", by_kind["deleted"][0]["sequences"][-1]),)
    if by_kind.get("emptied"):
        yield (("The group is empty at the end", by_kind["emptied"][0]["sequences"][-1]),)
