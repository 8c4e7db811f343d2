"""What a newer release of the brokers changes for a group, rule by rule of ``groups.releases``, and when assignors tie."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from groups.history.words import listed
from groups.releases import TABLE
from simulations.protocol.coordinator.settings import MigrationPolicy
from simulations.rehearsal.values import CONSUMER, NEW_BROKERS, Question
from simulations.rehearsal.warned import Level, Warned, warned

TIE: Final = "assignor_change_bumps"


def _is_modern(question: Question) -> bool:
    return any(not member.is_classic for member in question.members)


def _has_modern_instances(question: Question) -> bool:
    return any(not member.is_classic and member.instance_id is not None for member in question.members)


CONCERNS: Final[Mapping[str, Callable[[Question], bool]]] = {
    "consumer_protocol": lambda _: True,
    "disabled_policy_refuses_joins": lambda question: question.migration_policy is MigrationPolicy.DISABLED,
    TIE: _is_modern,
    "emptied_writes_target_epoch": _is_modern,
    "full_group_admits_instances": _has_modern_instances,
    "instance_follows_member": _has_modern_instances,
    "replacement_target_only_if_changed": _has_modern_instances,
    "replaced_member_never_in_table": _has_modern_instances,
    "transactions_have_topic_ids": lambda _: True,
    "setting_out_of_range_names_it": lambda _: False,
    "malformed_join_is_inconsistent": lambda question: _is_modern(question) and bool(question.classic),
}
"""Rules of the table, and whether they concern a group; one that is not here does."""


def broker_warnings(question: Question) -> Iterator[Warned]:
    """Each rule that the new release has and the old one has not, where it concerns the group."""
    old, new = question.broker_release.rules, question.new_release.rules
    for rule in TABLE:
        concerns = CONCERNS.get(rule.name)
        differs = getattr(old, rule.name) != getattr(new, rule.name)
        if differs and (concerns is None or concerns(question)):
            yield warned(
                rule.name.replace("_", "-"),
                Level.NOTE,
                f"Before {rule.since}: {rule.before} From {rule.since} on: {rule.now}",
                "",
                rule.source,
            )


def tie_warnings(question: Question) -> Iterator[Warned]:
    """Whether the members' server-side assignors tie, or can while they are changed, where that raises epochs."""
    if not getattr(question.new_release.rules, TIE) or question.to not in (CONSUMER, NEW_BROKERS):
        return
    rule = next(rule for rule in TABLE if rule.name == TIE)
    after = f"on brokers of {rule.since} or newer each heartbeat of one of them raises the group epoch, without end"
    help_ = "Have all members ask for one assignor, or for none; a third member that asks for one of the two ends it, too."
    if question.tied and all(len(who) == 1 for who in question.tied.values()):
        asks = [f"{who[0]} asks for {assignor}" for assignor, who in question.tied.items()]
        yield warned("assignor-tie", Level.WARNING, f"{listed(asks)}: {after}.", help_, rule.source)
    elif question.to == CONSUMER or _is_modern(question):
        yield warned(
            "assignor-roll",
            Level.WARNING if len(question.members) == 2 else Level.NOTE,
            "While you roll group.remote.assignor: as long as one member asks for one assignor, one for another, and nobody else "
            f"for either, {after}.",
            "Change it in all members at once, or in a group of more than two; "
            + help_[0].lower()
            + help_[1:],
            rule.source,
        )
