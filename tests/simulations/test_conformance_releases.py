"""``conform`` by the rules of another release than the broker's: each difference is put down to a rule of the table, or to none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from groups.history.state.group import State
from groups.releases import EARLIER, NEWEST, TABLE, Release
from groups.texts.request_log import LoggedRequest
from simulations.proof.conformance import other_rules, settings_of
from simulations.proof.conformance.judging import judged
from simulations.proof.conformance.other_rules import OtherRules, differing_rules
from simulations.proof.conformance.position import Position
from simulations.proof.conformance.splitting import parts_of
from simulations.recorded_files import Files, read
from tests.broker.conformed import told_settings
from tests.broker.recording import OF_RELEASES, RELEASES, REQUESTS, SEGMENTS

RULES = {
    "assignor-chosen": "assignor_change_bumps",
    "assignor-outvoted": "assignor_change_bumps",
    "assignor-tie": "assignor_change_bumps",
    "last-leaves": "emptied_writes_target_epoch",
    "static-full-group": "full_group_admits_instances",
    "static-renamed": "instance_follows_member",
    "txn-committed": "transactions_have_topic_ids",
    "txn-refused": "transactions_have_topic_ids",
}
"""By exchange, the rule in which the two releases differ in it."""

BOTH = (EARLIER, NEWEST)
SETTINGS_TOLD = told_settings()
SETTINGS = settings_of(SETTINGS_TOLD)


@pytest.fixture(scope="module", params=BOTH)
def recorded(request: pytest.FixtureRequest) -> tuple[Release, Files]:
    """What a real broker of the release was asked, answered and wrote."""
    folder = RELEASES / request.param
    return request.param, read(str(folder / REQUESTS), [str(folder / SEGMENTS)], timedelta())


def report(files: Files, release: Release | None, only: str | None = None) -> Any:
    return judged(files.requests, files.written, files.images, SETTINGS, release=release, only=only)[0]


def test_a_recording_is_equal_by_the_release_that_it_shows(recorded: tuple[Release, Files]) -> None:
    release, files = recorded
    found = report(files, None)
    assert (found["release"], found["differences"], found["rules"]) == (release, [], {})
    assert found["groups"] == len(OF_RELEASES) == len(RULES)
    assert found["excused"] == []


def test_by_the_other_release_each_difference_is_the_rule_that_the_table_has_for_it(
    recorded: tuple[Release, Files],
) -> None:
    release, files = recorded
    [other] = [each for each in BOTH if each != release]
    found = report(files, other)
    named = {(each["group"], *each["rules"]) for each in found["differences"]}
    assert named == set(RULES.items())
    assert found["rules"].keys() == set(RULES.values()) <= {rule.name for rule in TABLE}


def test_what_no_release_does_is_put_down_to_no_rule_while_the_rest_still_is(
    recorded: tuple[Release, Files],
) -> None:
    release, files = recorded
    [other] = [each for each in BOTH if each != release]
    group = "last-leaves"
    lied = next(
        number
        for number, each in enumerate(files.requests)
        if each.api == "CONSUMER_GROUP_HEARTBEAT"
        and each.request["groupId"] == group
        and not each.response["errorCode"]
    )
    requests = list(files.requests)
    requests[lied] = replace(requests[lied], response={**requests[lied].response, "heartbeatIntervalMs": 1})
    lying = replace(files, requests=requests)
    [lie] = report(lying, release, only=group)["differences"]
    assert (lie["group"], lie["recorded"], lie["rules"]) == (group, 1, [])
    differences = report(lying, other, only=group)["differences"]
    assert lie in differences
    assert {(each["group"], *each["rules"]) for each in differences if each != lie} == {(group, RULES[group])}


def test_records_of_the_next_request_are_its_own_however_soon_it_came() -> None:
    """By 4.3.1 the heartbeat before it writes records; by 4.4.0, which is recorded, it is refused and writes none."""
    folder = RELEASES / NEWEST
    files = read(str(folder / REQUESTS), [str(folder / SEGMENTS)], timedelta())
    heartbeat, join = (
        next(each for each in files.requests if asks(each, "static-renamed", member, epoch))
        for member, epoch in (("A", 2), ("B", 0))
    )
    asked_ms = (
        next(each.at_ms for each in files.written["static-renamed"] if each.at_ms > heartbeat.done_ms) - 2
    )
    late = replace(heartbeat, done_ms=asked_ms)
    soon = replace(join, total_ms=join.done_ms - asked_ms)
    requests = [late if each is heartbeat else soon if each is join else each for each in files.requests]
    files = replace(files, requests=requests)
    differences = report(files, EARLIER, only="static-renamed")["differences"]
    assert {tuple(each["rules"]) for each in differences} == {(RULES["static-renamed"],)}
    answers = {each["what"].split(": ")[0] for each in differences if each["what"].startswith("answer")}
    assert len(answers) == 2


def asks(request: LoggedRequest, group: str, member: str, epoch: int) -> bool:
    asked = request.request
    return (asked.get("groupId"), asked.get("memberId"), asked.get("memberEpoch")) == (group, member, epoch)


def lying(files: Files, which: slice = slice(None)) -> Files:
    """As if a broker with another heartbeat interval had given these answers."""
    requests = list(files.requests)
    requests[which] = [
        replace(each, response={**each.response, "heartbeatIntervalMs": 1})
        if each.api == "CONSUMER_GROUP_HEARTBEAT"
        else each
        for each in requests[which]
    ]
    return replace(files, requests=requests)


def test_a_difference_has_the_fewest_rules_though_more_explained_another_one(
    recorded: tuple[Release, Files], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, files = recorded
    [other] = [each for each in BOTH if each != release]
    begin = OtherRules.__init__

    def begun(self: OtherRules, own: Release) -> None:
        begin(self, own)
        self._found = [differing_rules(own.rules, release.rules)]

    monkeypatch.setattr(OtherRules, "__init__", begun)
    for group in ("last-leaves", "static-renamed"):
        found = report(files, other, only=group)["differences"]
        assert {tuple(each["rules"]) for each in found} == {(RULES[group],)}


def test_each_place_is_tried_with_the_records_before_it_and_no_others(
    recorded: tuple[Release, Files], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Back to where an earlier request was, after the search for another order had gone on from a later one."""
    release, files = recorded
    [other] = [each for each in BOTH if each != release]
    by, tried = OtherRules._by, []

    def checked(place: Position, rules: Release, replayed: tuple[int, State | None]) -> Position:
        found = by(place, rules, replayed)
        tried.append(found.shard.state == by(place, rules, (0, None)).shard.state)
        return found

    monkeypatch.setattr(OtherRules, "_by", staticmethod(checked))
    report(lying(files, slice(None, None, 3)), other, only="last-leaves")
    assert tried
    assert all(tried)


def test_rules_are_looked_for_in_so_many_steps_and_the_report_says_where_they_ended(
    recorded: tuple[Release, Files], monkeypatch: pytest.MonkeyPatch
) -> None:
    release, files = recorded
    found = report(lying(files), release, only="last-leaves")
    assert (found["unsought"], found["rules"]) == (0, {})
    monkeypatch.setattr(other_rules, "STEPS_MOST", 5)
    assert report(lying(files), release, only="last-leaves") == {**found, "unsought": 1}


def test_the_command_says_how_many_differences_are_of_which_rule(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = RELEASES / NEWEST
    told = [word for name, text in SETTINGS_TOLD.items() for word in ("--set", f"{name}={text}")]
    with pytest.raises(CommandError, match="differences, the first at"):
        call_command(
            *("conform", "--requests", str(folder / REQUESTS), str(folder / SEGMENTS), *told),
            *("--release", EARLIER, "--group", "last-leaves"),
        )
    assert "1 differ by emptied_writes_target_epoch, which Kafka has from 4.4 on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("api", "field"), [("CONSUMER_GROUP_DESCRIBE", "groupIds"), ("DESCRIBE_GROUPS", "groups")]
)
def test_each_group_gets_its_own_description_in_whatever_order_the_broker_answers(
    recorded: tuple[Release, Files], api: str, field: str
) -> None:
    described = [{"groupId": group, "errorCode": 0} for group in ("second", "first")]
    request = replace(
        recorded[1].requests[0], api=api, request={field: ["first", "second"]}, response={"groups": described}
    )
    parts = {part.group: (part.request[field], part.response) for part in parts_of(request)}
    assert parts == {each["groupId"]: ([each["groupId"]], each) for each in described}


def test_a_recording_of_the_consumer_protocol_is_not_judged_by_a_release_without_it() -> None:
    conform = ("conform", "--sample", "recorded-clients", "--release", "3.9")
    with pytest.raises(
        CommandError, match=r"^--release 3\.9: the recorded group \S+ uses the consumer protocol"
    ) as refused:
        call_command(*conform)
    assert refused.value.returncode == 2
