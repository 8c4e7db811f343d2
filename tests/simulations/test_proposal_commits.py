"""Commits by the proposal: a stale one is sent again with the epoch of the next heartbeat's response."""

from __future__ import annotations

from groups.history.entries import Entry, Kind
from simulations.world.engine import run
from simulations.world.scenario import load
from tests.simulations.application import Application
from tests.simulations.broker import FOO
from tests.simulations.classic_application import positions

STALE_MEMBER_EPOCH, FENCED_MEMBER_EPOCH = 113, 110

INTERVAL_MS = 880

SLOW_NETWORK = """\
group: g
semantics: kip
topics: {foo: {partitions: 4}}
config: {heartbeat_interval_ms: 1000, session_timeout_ms: 5000}
network: {delay_ms: [200, 300]}
members:
  A: {subscribe: [foo], auto_commit: true, auto_commit_interval_ms: 880}
  B: {subscribe: [foo]}
script: [{at: 0s, join: A}, {at: 4s, join: B}]
until: 12s
"""


def application() -> Application:
    """Its ``commitSync`` was refused as stale."""
    app = Application(is_proposed=True)
    app.stable_with(0, 1)
    app.does(app.consumer.commit_sync(positions({FOO: (0,)}, app.now_ms), app.now_ms))
    assert app.sent == ["commit 2"]
    app.committed(STALE_MEMBER_EPOCH)
    assert app.sent == []
    return app


def test_a_stale_commit_is_sent_again_with_the_next_epoch_and_no_sooner() -> None:
    app = application()
    app.waits()
    assert app.sent == ["2"]
    app.quiet(2)
    assert app.sent == []
    app.waits()
    assert app.sent == ["2"]
    app.quiet(3)
    assert app.sent == ["commit 3"]
    app.committed()
    assert app.returned == ["commit_sync"]


def test_a_commit_that_waits_for_an_epoch_ends_with_the_membership() -> None:
    app = application()
    app.waits()
    app.answered(0, tells=False, code=FENCED_MEMBER_EPOCH)
    assert app.returned == ["commit_sync 113 CommitFailedException"]
    app.called()
    app.answered(3, 0, 1)
    assert not any(sent.startswith("commit") for sent in app.sent)


def test_commit_async_is_not_sent_again() -> None:
    app = Application(is_proposed=True)
    app.stable_with(0, 1)
    app.does(app.consumer.commit(positions({FOO: (0,)}, app.now_ms), app.now_ms))
    app.committed(STALE_MEMBER_EPOCH)
    app.waits()
    app.quiet(3)
    assert app.sent == []


def commits(log: list[Entry]) -> tuple[list[Entry], dict[int, set[int]]]:
    """The requests, and the codes of each by its sequence."""
    requests = [each for each in log if each.kind is Kind.REQUEST and each.payload["api"] == "OffsetCommit"]
    codes = {
        each.cause: {
            part["errorCode"] for topic in each.payload["body"]["topics"] for part in topic["partitions"]
        }
        for each in log
        if each.kind is Kind.RESPONSE and each.payload["api"] == "OffsetCommit" and each.cause is not None
    }
    return requests, codes


def test_a_stale_automatic_commit_of_kip_is_made_up_for_at_the_next_epoch_and_not_an_interval_later() -> None:
    requests, codes = commits(list(run(load(SLOW_NETWORK))))
    stale = [each for each in requests if STALE_MEMBER_EPOCH in codes.get(each.sequence, ())]
    assert stale
    for each in stale:
        following = next(later for later in requests if later.sequence > each.sequence)
        epochs = [one.payload["body"]["generationIdOrMemberEpoch"] for one in (each, following)]
        assert epochs[0] < epochs[1]
        assert following.at_ms - each.at_ms < INTERVAL_MS
        assert codes[following.sequence] == {0}
