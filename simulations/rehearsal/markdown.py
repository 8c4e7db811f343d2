"""A rehearsal as Markdown: the plan to hand on, to check off and to print."""

from __future__ import annotations

from collections.abc import Iterator

from simulations.rehearsal.judging import MemberCell, Sheet, StageRow, WaySheet
from simulations.rehearsal.values import CONSUMER


def markdown_of(sheet: Sheet) -> str:
    return "\n".join(_lines(sheet)) + "\n"


def _lines(sheet: Sheet) -> Iterator[str]:
    question = sheet["question"]
    yield f"# Upgrade plan: {sheet['title']}"
    yield ""
    yield " ".join(sheet["says"])
    yield ""
    yield (
        f"Rehearsed in the simulator as Kafka {sheet['release']} behaves: {len(question['members'])} members, "
        f"{sum(question['topics'].values())} partitions of {', '.join(question['topics'])}, brokers {question['brokers']}, "
        f"`group.consumer.migration.policy={question['migration_policy']}`, {question['at_once']} bounced at once, "
        f"each away for {question['away_ms'] / 1000:g} s."
    )
    if sheet["assumed"]:
        yield ""
        yield "Assumed:"
        yield ""
        yield from (f"* {each}" for each in sheet["assumed"])
    if sheet["warnings"]:
        yield ""
        yield "## Before you begin"
        yield ""
        for warned in sheet["warnings"]:
            mark = {"stops": "**Stops the upgrade.** ", "warning": "**Warning.** "}.get(warned["level"], "")
            yield f"* {mark}{warned['says']}{' ' + warned['do'] if warned['do'] else ''}"
    for way in sheet["ways"]:
        yield ""
        yield from _way(way)
    if question["to"] == CONSUMER:
        yield ""
        yield "## Assignors"
        yield ""
        yield "| client | server | what changes |"
        yield "|---|---|---|"
        for row in sheet["assignors"]:
            yield f"| {row['client']}{' (listed)' if row['used'] else ''} | {row['server'] or 'none'} | {row['says']} |"


def _way(way: WaySheet) -> Iterator[str]:
    yield f"## {way['title']}"
    yield ""
    yield way["says"]
    if len(way["stages"]) < 2:
        return
    yield ""
    yield "| bounce | who | set to | the group after it | what happens | way back |"
    yield "|---|---|---|---|---|---|"
    for stage in way["stages"]:
        bounced = [member for member in stage["members"] if member["bounced"]]
        who = ", ".join(member["name"] for member in bounced) or ("brokers" if stage["brokers"] else "–")
        to = settings_text(bounced[0]) if bounced else "–"
        happens = " ".join(stage["says"]).replace("|", "\\|") or "–"
        number = stage["title"].removeprefix("Bounce ") if stage["number"] else "now"
        yield f"| {number} | {who} | {to} | {group_text(stage)} | {happens} | {stage['way_back']['says']} |"
    yield from _trace(way)


def _trace(way: WaySheet) -> Iterator[str]:
    if not way["trace"]:
        return
    yield ""
    yield "How it comes about:"
    yield ""
    for number, step in enumerate(way["trace"], start=1):
        yield f"{number}. {step['says']} ({step['at_ms'] / 1000:.3f} s)"


def settings_text(member: MemberCell) -> str:
    """What a member runs with: ``classic 3.8, range``."""
    if member["protocol"] == CONSUMER:
        return f"consumer {member['client']}"
    return f"classic {member['client']}, {', '.join(member['assignors'])}" + (
        ", upgrade.from" if member["upgrade_from"] else ""
    )


def group_text(stage: StageRow) -> str:
    """``classic, generation 3, range``."""
    if stage["protocol"] is None:
        return "no group"
    if stage["protocol"] == "classic":
        return f"classic, generation {stage['epoch']}" + (
            f", {stage['assignor']}" if stage["assignor"] else ""
        )
    classic = any(
        member["protocol"] == "classic" and member["status"] == "member" for member in stage["members"]
    )
    return f"consumer{', mixed' if classic else ''}, group epoch {stage['epoch']}"
