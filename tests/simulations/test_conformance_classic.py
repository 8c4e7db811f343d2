"""``conform`` on recorded classic groups and migrations: requests that wait, timers without a record, groups that change their kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import orjson
import pytest
from django.core.management import call_command

from groups.history.entries import Kind
from groups.history.passes.recorder import Recorder
from simulations.proof.conformance import Judge, NotJudged, Recording, recordings, report, settings_of
from simulations.proof.conformance.requests import HEARTBEAT, WAITING
from simulations.proof.conformance.splitting import Loading, bounded
from simulations.recorded_files import read
from simulations.samples import sample
from tests.broker.classic.as_recorded import UNLOGGED, recording_of
from tests.broker.classic.exchanges import EXCHANGES
from tests.broker.classic.recording import IMPROVISED, recorded
from tests.broker.classic.transcript import Sent, Transcript
from tests.simulations.changed_leaves import unnoticed

LATE_MS = 20_000

CLASSIC = sample("recorded-classic")

REQUESTS_JUDGED, RECORDS_JUDGED, EXCUSED_MOST = 528, 265, 2
"""Of ten groups of released clients."""

EVERY = {
    "classic-leader-throws": 8,
    "classic-sticky": 160,
    "classic-static": 240,
    "up-eager": 400,
    "down-cooperative": 400,
}
"""Of these groups each so many-th leaf is tried."""


def judged(recording: Recording, settings: Mapping[str, str]) -> Judge:
    judge = Judge(recording, settings_of(settings))
    judge.judge()
    return judge


def is_whole(transcript: Transcript) -> bool:
    """Whether every request was answered, and so stands in a request log."""
    return all(event.answer is not None for event in transcript.events if isinstance(event, Sent))


@pytest.mark.parametrize("group", sorted(EXCHANGES.keys() - UNLOGGED))
def test_an_exchange_that_a_broker_recorded_is_judged_without_a_difference(group: str) -> None:
    transcript = recorded()[group]
    recording = recording_of(transcript)
    tally = judged(recording, transcript.settings).tally
    assert tally.differences == []
    assert tally.answers_equal == tally.requests == len(recording.asked)
    assert tally.equal == len(recording.written)


@pytest.mark.parametrize(
    "group", sorted(name for name, each in recorded(IMPROVISED).items() if is_whole(each))
)
def test_requests_drawn_at_random_are_judged_without_a_difference(group: str) -> None:
    transcript = recorded(IMPROVISED)[group]
    assert judged(recording_of(transcript), transcript.settings).tally.differences == []


@pytest.mark.parametrize("group", sorted(UNLOGGED))
def test_what_a_request_brought_about_that_no_log_has_is_a_difference(group: str) -> None:
    transcript = recorded()[group]
    assert not is_whole(transcript)
    assert judged(recording_of(transcript), transcript.settings).tally.differences


def third_joins() -> tuple[Recording, Mapping[str, str]]:
    transcript = recorded()["classic-third-joins"]
    return recording_of(transcript), transcript.settings


def first_waiting(recording: Recording) -> int:
    """The number of the first request that other members let go."""
    return next(
        n for n, each in enumerate(recording.asked) if each.api in WAITING and each.latest_ms != each.done_ms
    )


def with_request(recording: Recording, number: int, **changed: object) -> Recording:
    asked = list(recording.asked)
    asked[number] = replace(asked[number], **changed)  # type: ignore[arg-type]
    return replace(recording, asked=tuple(asked))


def test_an_answer_of_a_request_that_waited_is_the_one_difference_where_it_is_another() -> None:
    recording, settings = third_joins()
    number = first_waiting(recording)
    answer = {**recording.asked[number].response, "generationId": 9}
    (difference,) = judged(with_request(recording, number, response=answer), settings).tally.differences
    assert difference.what.endswith("generationId")
    assert (difference.recorded, difference.simulated) == (9, 1)


def test_an_answer_that_came_long_after_the_join_phase_ended_is_told() -> None:
    recording, settings = third_joins()
    number = first_waiting(recording)
    late = with_request(recording, number, done_ms=recording.asked[number].done_ms + LATE_MS)
    told = judged(late, settings).tally.differences
    assert any("when it comes" in each.what for each in told), told


def test_a_heartbeat_that_migrates_a_group_answers_waiting_joins_before_it_has_computed_the_assignment() -> (
    None
):
    """A cold broker took 17 ms from the answers of the joins to the time in the record of the assignment."""
    took_ms = 20
    transcript = recorded()["migrate-up-joining"]
    recording = recording_of(transcript)
    number = next(n for n, each in enumerate(recording.asked) if each.api == HEARTBEAT)
    migrating = recording.asked[number]
    records = []
    for each in recording.written:
        own = migrating.arrived_ms <= each.at_ms <= migrating.done_ms
        payload = dict(each.payload)
        if own and "assignmentTimestamp" in (value := payload["value"] or {}):
            payload["value"] = {**value, "assignmentTimestamp": value["assignmentTimestamp"] + took_ms}
        records.append(replace(each, at_ms=each.at_ms + took_ms * own, payload=payload))
    assert records != list(recording.written)
    slow = with_request(recording, number, done_ms=migrating.done_ms + took_ms)
    tally = judged(replace(slow, written=tuple(records)), transcript.settings).tally
    assert tally.differences == []


def test_a_request_that_waits_for_ever_is_told_as_not_answered() -> None:
    """A join phase that a broker ended while its timer had long to run."""
    transcript = recorded()["classic-first-join"]
    recording = recording_of(transcript)
    settings = {**transcript.settings, "group.initial.rebalance.delay.ms": "60000"}
    told = judged(recording, settings).tally.differences
    assert any(each.what.endswith("all of it") and each.simulated is None for each in told)


def test_the_story_of_a_classic_recording_folds_without_an_anomaly_and_answers_every_request() -> None:
    for group in ("classic-cooperative-rounds", "migrate-up-joining", "migrate-down-leave"):
        transcript = recorded()[group]
        judge = judged(recording_of(transcript), transcript.settings)
        entries = judge.story.entries
        assert [entry.sequence for entry in entries] == list(range(1, len(entries) + 1))
        recorder = Recorder(group=group)
        for entry in entries:
            recorder.add(entry)
        assert recorder.flush(final=True) is not None
        asked = {
            entry.sequence
            for entry in entries
            if entry.kind is Kind.REQUEST and not entry.payload.get("steady")
        }
        assert {entry.cause for entry in entries if entry.kind is Kind.RESPONSE} == asked


def test_the_report_counts_a_request_once_whether_or_not_it_waited() -> None:
    recording, settings = third_joins()
    told = report([judged(recording, settings).tally], NotJudged())
    assert told["requests"] == told["responses"]["equal"] == len(recording.asked)
    assert told["records"] == {"equal": len(recording.written), "different": 0, "missing": 0, "extra": 0}


@pytest.fixture(scope="module")
def groups() -> dict[str, Recording]:
    files = read(str(CLASSIC.requests), [str(CLASSIC.segments)], timedelta())
    assert files.problems == []
    every = recordings(files.requests, files.written, files.images, NotJudged())
    return {recording.group: recording for recording in every}


def test_the_command_judges_what_released_clients_did_in_classic_groups_and_migrations(
    capsys: pytest.CaptureFixture[str],
) -> None:
    call_command("conform", "--sample", "recorded-classic")
    told = orjson.loads(capsys.readouterr().out)
    assert told["groups"] == 10
    assert told["requests"] == told["responses"]["equal"] == REQUESTS_JUDGED
    assert told["records"] == {"equal": RECORDS_JUDGED, "different": 0, "missing": 0, "extra": 0}
    assert told["differences"] == []
    assert sum(each["count"] for each in told["excused"]) <= EXCUSED_MOST
    assert [each["reason"] for each in told["not_judged"]] == ["coordinator not ready"]


@pytest.mark.parametrize("group", EVERY)
@pytest.mark.long
def test_whichever_value_of_what_released_clients_were_told_is_another_it_is_told(
    groups: dict[str, Recording], group: str
) -> None:
    settings = settings_of(CLASSIC.settings)
    assert list(unnoticed(groups[group], settings, every=EVERY[group])) == []


@pytest.mark.parametrize("group", ["classic-first-join", "classic-static-twice", "migrate-up-static"])
@pytest.mark.parametrize("refuses", [True, False])
def test_the_first_request_may_have_waited_for_its_coordinator_to_load(group: str, refuses: bool) -> None:
    """Five are refused, the sixth arrives as the load ends, and is handled 350 ms later."""
    transcript = recorded()[group]
    recording = recording_of(transcript)
    first, *rest = recording.asked
    early = replace(first, arrived_ms=first.arrived_ms - 351)
    refused = [
        replace(
            early,
            arrived_ms=early.arrived_ms - 20 * (6 - number),
            done_ms=early.arrived_ms - 20 * (6 - number) + 1,
            response={**first.response, "errorCode": 14},
        )
        for number in range(1, 6)
    ]
    loading = Loading(
        [*(refused if refuses else ()), early, *rest], [each.arrived_ms for each in refused if refuses]
    )
    asked = (bounded(early, 0, loading.until_ms(early)), *rest)
    tally = judged(replace(recording, asked=asked), transcript.settings).tally
    assert (tally.differences == []) is refuses
