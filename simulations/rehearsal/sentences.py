"""The sentences of a rehearsal: on the whole, on each way and on each bounce. Every number was counted in a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from groups.history.state.group import Protocol
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.rehearsal.playing import EMPTY, ONLINE, Played, Stage
from simulations.rehearsal.values import CONSUMER, NEW_BROKERS, Question
from simulations.rehearsal.warnings import Warned
from simulations.rehearsal.ways import Bounce, BrokerStep, Settings, WayName
from simulations.world.scenario.brokers import ALL_BROKERS

UNSUPPORTED_VERSION: Final = 35

TARGET_NAMES = {CONSUMER: "the consumer protocol", "cooperative": "cooperative rebalancing"}


def title_of(question: Question) -> str:
    if question.to == NEW_BROKERS:
        return f"{question.group} on brokers {question.broker_release}, then {question.new_release}"
    return f"{question.group} to {TARGET_NAMES[question.to]}"


def headline(
    question: Question, played: Sequence[Played], outcomes: Mapping[str, str], warnings: Sequence[Warned]
) -> list[str]:
    """The sentences on top, the answer first."""
    planned = played[0]
    if not planned.way.bounces:
        return [f"{question.group} has nothing to do: every member rebalances cooperatively already."]
    known = [of_way(question, planned, outcomes[WayName.PLANNED])]
    stops = [each for each in warnings if each["level"] == "stops"]
    warned = [each for each in warnings if each["level"] == "warning"]
    counted = [
        *([_count(len(stops), "reason", "stops it", "stop it")] if stops else []),
        *([_count(len(warned), "warning")] if warned else []),
    ]
    if counted:
        known.append(f"{_upper(' and '.join(counted))}.")
    hasty = outcomes.get(WayName.HASTY)
    if hasty == "unsafe":
        known.append("One way is unsafe: two members read the same partition.")
    elif hasty == "refused" and outcomes[WayName.PLANNED] == "done":
        known.append(
            "One bounce in place of two is refused." if question.to != CONSUMER else "All at once is refused."
        )
    return known


def of_way(question: Question, played: Played, outcome: str) -> str:
    """A way in a sentence or two."""
    bounces = played.way.bounces
    if outcome == "nothing":
        return "Nothing is to be done."
    if outcome == "unsafe":
        stage, twice = next((n, each.twice) for n, each in enumerate(played.stages) if each.twice)
        which = f"{', '.join(twice[:4])}{' and others' if len(twice) > 4 else ''}"
        return f"Unsafe: from {_place(question, played, stage)} on two members read {which} at the same time."
    if outcome == "refused":
        number, first = next((n, each.refusals[0]) for n, each in enumerate(played.stages) if each.refusals)
        return (
            f"Refused: at {_place(question, played, number)} {_who_answers(first['code'])} answers {first['member']} with {first['error']}, which its poll() throws. "
            f"{_idle(played)}"
        ).strip()
    cost = _cost(played)
    restless = next((n for n, each in enumerate(played.stages) if each.restless), None)
    if question.to == NEW_BROKERS:
        what = _count(played.way.steps, "roll")
        if outcome == "unfinished" and restless is not None:
            return (
                f"{question.group} does not stay at rest: from {_place(question, played, restless)} on each heartbeat of a member "
                f"raises the group epoch. {cost}"
            )
        if outcome == "done":
            ended = (
                f"Back again after {what}"
                if played.way.name is WayName.BACK
                else f"{question.group} goes through {what} of brokers"
            )
            between = (
                f"; from {_place(question, played, restless)} on, until the way back is done, its epoch rises without end"
                if restless is not None
                else ""
            )
            return f"{ended}{between}. {cost}"
    if outcome == "unfinished":
        return f"Not at rest after the last bounce: {', '.join(played.unfinished) or 'partitions without a reader'}. {cost}"
    what = _count(played.way.steps, "bounce")
    if question.rolls_brokers:
        what = f"{what} behind the brokers' roll"
    if played.way.name is WayName.BACK:
        return f"Back again after {what} in all. {cost}"
    converted = played.converted
    if question.to == CONSUMER and converted:
        who = bounces[converted - 1].members
        if played.stages[converted].conversion == EMPTY:
            return f"{question.group} is stopped, and begins anew as a group of the consumer protocol. {cost}"
        came = f"{who[0]} comes" if len(who) == 1 else f"{_list(who)} come"
        epoch = last_generation(played.stages[converted], played.stages[converted - 1])
        return f"{question.group} is upgraded in {what}: it is converted when {came} back, at group epoch {epoch}. {cost}"
    return f"{question.group} is upgraded in {what}. {cost}"


def _place(question: Question, played: Played, stage: int) -> str:
    """``bounce 2``, in a sentence."""
    title = played.way.heading(stage, question.brokers)
    return title[0].lower() + title[1:] if title.startswith("Bounce") else f"“{title}”" if stage else "now"


def _who_answers(code: int) -> str:
    """A broker that does not serve the consumer protocol asks no coordinator."""
    return "a broker" if code == UNSUPPORTED_VERSION else "the coordinator"


def _cost(played: Played) -> str:
    stages = played.stages[1:]
    stops = sum(sum(stage.stopped.values()) for stage in stages)
    lost_s = sum(stage.without_reader_ms for stage in stages) / 1000
    stopped = (
        f"Members that are not bounced stop reading {_count(stops, 'time')}"
        if stops
        else "No member stops reading but the one that is bounced"
        if any(bounce.members for bounce in played.way.bounces)
        else "No member stops reading"
    )
    return f"{stopped}; partitions are without a reader for {lost_s:.1f} s, added up."


def _idle(played: Played) -> str:
    unread = played.stages[-1].unread
    return f"{_count(unread, 'partition')} had no reader at the end." if unread else ""


def of_stage(question: Question, bounce: Bounce | None, stage: Stage, before: Stage | None) -> list[str]:
    """What happened in one stage."""
    if bounce is None or before is None:
        return []
    known = _of_brokers(question, bounce, stage)
    if stage.restless:
        known.append("The group is not at rest at the end: its epoch still rises, and nothing else changes.")
    if stage.conversion == EMPTY:
        known.append(
            "The group was empty when the first new client joined, and begins anew as one of the consumer protocol."
        )
    elif stage.conversion == ONLINE:
        generation = last_generation(stage, before)
        known.append(
            f"Converted when {_list(bounce.members)} joined: generation {generation} became group epoch {generation}."
        )
    elif before.protocol == Protocol.CONSUMER and stage.protocol == Protocol.CLASSIC:
        known.append("The last new client left: the group is classic again, and its members join anew.")
    elif len(stage.epochs) > 1:
        what = "generations" if stage.protocol == Protocol.CLASSIC else "group epochs"
        known.append(
            f"{_upper(_number(len(stage.epochs)))} {what}, {stage.epochs[0][1]} to {stage.epochs[-1][1]}."
        )
    elif not stage.epochs and not stage.refusals:
        known.append("No rebalance.")
    if (
        stage.assignor
        and before.assignor
        and stage.assignor != before.assignor
        and stage.protocol == "classic"
    ):
        known.append(f"The group goes by {stage.assignor} from here on.")
    for refusal in stage.refusals:
        message = f": “{refusal['message']}”" if refusal["message"] else ""
        known.append(f"{refusal['member']} is refused with {refusal['error']}{message}")
    for violation in stage.violations[:1]:
        known.append(violation.sentence)
    if stage.stopped:
        each = [f"{name} {_times(count)}" for name, count in list(stage.stopped.items())[:4]]
        more = f" and {len(stage.stopped) - 4} more" if len(stage.stopped) > 4 else ""
        known.append(f"Stopped reading: {', '.join(each)}{more}.")
    if stage.without_reader_ms:
        known.append(
            f"Without a reader: {stage.without_reader_ms / 1000:.1f} s added up, {stage.longest_ms / 1000:.1f} s the longest."
        )
    if stage.unread:
        known.append(f"{_upper(_count(stage.unread, 'partition'))} without a reader at the end.")
    return known


def _of_brokers(question: Question, bounce: Bounce, stage: Stage) -> list[str]:
    """What a step of the brokers did, before what it did to the group."""
    match bounce.brokers:
        case BrokerStep.ROLL | BrokerStep.ROLL_BACK if bounce.broker != ALL_BROKERS:
            release = question.new_release if bounce.brokers is BrokerStep.ROLL else question.broker_release
            moves = (
                f"the coordinator moves {_times(stage.moves)}"
                if stage.moves
                else "the coordinator stays where it is"
            )
            return [f"{bounce.broker} stops and is back with {release}; {moves}."]
        case BrokerStep.ROLL | BrokerStep.ROLL_BACK:
            return [f"One broker after the other; the coordinator moves {_times(stage.moves)}."]
        case BrokerStep.RAISE:
            return ["Every broker serves the consumer protocol from now on."]
        case BrokerStep.LOWER:
            return ["No broker serves the consumer protocol any more."]
    return []


def last_generation(stage: Stage, before: Stage) -> int:
    """The last generation before the group was converted."""
    generations = [epoch for protocol, epoch in stage.epochs if protocol == Protocol.CLASSIC]
    return generations[-1] if generations else before.epoch


def way_back(question: Question, settings: Mapping[str, Settings], stage: Stage) -> dict[str, str]:
    """Whether the way back is open from here: ``{"state", "says"}``."""
    if question.to == NEW_BROKERS:
        level = "" if question.brokers_serve else ", as long as group.version is not raised"
        return {
            "state": "open",
            "says": f"Roll the brokers back: either release loads what the other wrote{level}.",
        }
    if question.to != CONSUMER:
        return {
            "state": "open",
            "says": "Take the last bounce back first: as long as all members list one assignor, the group goes on.",
        }
    if stage.protocol != "consumer":
        return {"state": "open", "says": "The group is classic."}
    classic = [name for name, each in settings.items() if each.protocol == "classic"]
    policy = question.migration_policy
    brokers = " Only then lower group.version and roll the brokers back." if question.rolls_brokers else ""
    if policy is MigrationPolicy.DISABLED:
        return {
            "state": "closed",
            "says": "A classic client is refused with INCONSISTENT_GROUP_PROTOCOL: stop all members first.",
        }
    if not policy.downgrades:
        return {
            "state": "closed",
            "says": "Classic clients may join, but the group stays one of the consumer protocol.",
        }
    if classic:
        return {
            "state": "open",
            "says": "When the last new client has left, the group is classic again, at generation = group epoch, with one rebalance."
            + brokers,
        }
    return {
        "state": "bounce",
        "says": "No classic member is left. The group is classic again when the last new client is gone."
        + brokers,
    }


def policies(question: Question) -> list[dict[str, str]]:
    """What each migration policy means for a team that stops half-way."""
    if question.to != CONSUMER:
        return []
    texts = {
        "bidirectional": "Mixed for as long as you like; classic again when the last new client leaves.",
        "upgrade": "Mixed for as long as you like; it never becomes classic again while it has members.",
        "downgrade": "The first new client is refused; a group that is converted already may go back.",
        "disabled": "The first new client is refused with GROUP_ID_NOT_FOUND, a classic one in a converted group with "
        "INCONSISTENT_GROUP_PROTOCOL.",
    }
    return [
        {"policy": name, "says": text, "chosen": "yes" if name == question.migration_policy else ""}
        for name, text in texts.items()
    ]


def _count(number: int, word: str, one: str = "", several: str = "") -> str:
    verb = one if number == 1 else several
    return f"{_number(number)} {word}{'' if number == 1 else 's'}{f' {verb}' if verb else ''}"


def _number(number: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six")
    return words[number] if number < len(words) else f"{number:,}"


def _times(number: int) -> str:
    return "once" if number == 1 else "twice" if number == 2 else f"{number} times"


def _list(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
