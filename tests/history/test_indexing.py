"""Two passes over one fold: what the first one leaves lets the second one begin anywhere, and both say the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from groups.history.entries import Entry
from groups.history.passes.indexing import Indexer
from groups.history.passes.recorder import Recorder
from groups.history.replay.commit_runs import CommitRun
from groups.history.replay.fold import FOLD_VERSION
from groups.history.state.group import Protocol, Semantics
from groups.history.state.plain import to_plain
from tests.history.commits import runs_in, with_commits
from tests.history.corpus import CorpusLog, corpus
from tests.history.logs import released_basic
from tests.history.strategies import logs
from tests.tiers import examples

SOME = examples(25, suppress_health_check=list(HealthCheck))
RANDOM = st.integers(0, 2**32).map(Random)
"""One number of the example: how many cuts are drawn from it is no matter of Hypothesis' own bookkeeping."""


@st.composite
def any_log(draw: st.DrawFn) -> CorpusLog:
    """A log of the corpus, or one that no coordinator could have written; half of them with many commits."""
    if draw(st.booleans()):
        log = draw(st.sampled_from(corpus()))
    else:
        semantics = draw(st.sampled_from(list(Semantics)))
        log = CorpusLog(name="drawn", group="orders", semantics=semantics, make=draw(logs()).copy)
    if draw(st.booleans()):
        entries = with_commits(log.entries, log.group, Random(draw(st.integers(0, 2**32))))
        log = CorpusLog(name=log.name, group=log.group, semantics=log.semantics, make=entries.copy)
    return log


def corpus_log(name: str) -> CorpusLog:
    return next(log for log in corpus() if log.name == name)


def indexed(log: CorpusLog, entries: Sequence[Entry | CommitRun]) -> Indexer:
    indexer = Indexer(group=log.group, semantics=log.semantics)
    fold(indexer, entries)
    return indexer


def by_path(changes: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Changes of one entry name different paths, so their order among each other has no meaning."""
    return sorted(changes, key=lambda change: (change["sequence"], change["path"]))


def fold(indexer: Indexer, entries: Sequence[Entry | CommitRun]) -> None:
    for entry in entries:
        if isinstance(entry, CommitRun):
            indexer.add_commits(entry)
        else:
            indexer.add(entry)


def recorded(recorder: Recorder, entries: Sequence[Entry]) -> dict[str, Any]:
    """What a recorder makes of these entries, and what it remembers at their end."""
    for entry in entries:
        recorder.add(entry)
    batch = recorder.flush(final=True)
    remembered = {"findings": to_plain(recorder.finder), "metrics": to_plain(recorder.metrics)}
    if batch is None:
        return plain(remembered)
    told = {name: orjson.loads(getattr(batch, name)) for name in ("entries", "changes", "moments")}
    return plain(remembered | told | {"summary": batch.summary})


def plain(value: Any) -> dict[str, Any]:
    """As JSON has it: no tuples, and keys in any order."""
    told: dict[str, Any] = orjson.loads(orjson.dumps(value))
    return told


def rests_before(indexer: Indexer, entry: Entry) -> bool:
    """Whether a chunk may be cut before ``entry``, the next one: it begins an exchange of its own."""
    exchange = indexer._known_exchange()
    return not indexer._unit and (exchange is None or not exchange.takes(entry))


def cuts_of(log: CorpusLog, random: Random) -> list[int]:
    """Some sequences after which an exchange is over: a chunk can be cut there."""
    indexer, rests = Indexer(group=log.group, semantics=log.semantics), []
    for entry in log.entries:
        if rests_before(indexer, entry):
            rests.append(entry.sequence - 1)
        indexer.add(entry)
    return sorted(random.sample(rests, min(3, len(rests))))


@SOME
@given(any_log())
def test_the_index_sums_a_log_up_as_the_recorder_does(log: CorpusLog) -> None:
    whole = recorded(Recorder(group=log.group, semantics=log.semantics), log.entries)
    indexer = indexed(log, log.entries)
    if log.entries:
        assert plain(indexer.summary()) == whole["summary"]


@SOME
@given(any_log(), RANDOM)
@example(corpus_log("broken 3 sample orders-enrich payments-audit"), Random(4507))
def test_a_recorder_that_begins_at_a_checkpoint_makes_what_the_whole_one_makes_from_there_on(
    log: CorpusLog, random: Random
) -> None:
    whole = recorded(Recorder(group=log.group, semantics=log.semantics), log.entries)
    for cut in cuts_of(log, random):
        checkpoint = indexed(log, log.entries[:cut]).checkpoint()
        part = recorded(Recorder.from_checkpoint(checkpoint), log.entries[cut:])
        for name in ("entries", "moments"):
            assert part.get(name, []) == [item for item in whole[name] if item["sequence"] > cut]
        assert by_path(part.get("changes", [])) == by_path(
            change for change in whole["changes"] if change["sequence"] > cut
        )
        for name in ("findings", "metrics", "summary"):
            assert part[name] == whole[name]


@SOME
@given(any_log(), RANDOM)
def test_the_frame_of_a_checkpoint_is_the_frame_of_the_whole_fold(log: CorpusLog, random: Random) -> None:
    for cut in cuts_of(log, random):
        indexer = indexed(log, log.entries[:cut])
        recorder = Recorder.from_checkpoint(indexer.checkpoint())
        for entry in log.entries[cut:]:
            recorder.add(entry)
        batch = recorder.flush(final=True)
        assert batch is not None
        assert batch.checkpoint is not None
        assert plain(indexer.frame()) == orjson.loads(batch.checkpoint)["frame"]
        assert Indexer.from_checkpoint(indexer.checkpoint()).frame() == indexer.frame()


@SOME
@given(any_log(), RANDOM)
def test_an_index_that_goes_on_from_a_checkpoint_ends_as_the_one_that_never_stopped(
    log: CorpusLog, random: Random
) -> None:
    whole = indexed(log, log.entries)
    for cut in cuts_of(log, random):
        again = Indexer.from_checkpoint(indexed(log, log.entries[:cut]).checkpoint())
        fold(again, log.entries[cut:])
        assert plain(again.summary()) == plain(whole.summary())
        if not log.entries or log.entries[-1].settled:
            assert orjson.loads(again.checkpoint()) == orjson.loads(whole.checkpoint())


@SOME
@given(any_log(), RANDOM, st.integers(0, 2**32))
def test_commits_told_in_sum_leave_what_they_leave_one_by_one(
    log: CorpusLog, random: Random, seed: int
) -> None:
    entries = with_commits(log.entries, log.group, Random(seed))
    mixed = list(runs_in(entries, log.group, random))
    one_by_one, in_sum = indexed(log, entries), indexed(log, mixed)
    assert in_sum.digest() == one_by_one.digest()
    assert plain(in_sum.summary()) == plain(one_by_one.summary())
    if not entries or entries[-1].settled:
        assert orjson.loads(in_sum.checkpoint()) == orjson.loads(one_by_one.checkpoint())


@pytest.mark.parametrize(
    "log", [log for log in corpus() if log.name.startswith(("sample", "recorded"))], ids=lambda log: log.name
)
def test_a_log_of_records_can_be_cut_after_every_unit(log: CorpusLog) -> None:
    indexer = Indexer(group=log.group)
    for entry in log.entries:
        assert rests_before(indexer, entry) == indexer.at_rest
        indexer.add(entry)
        assert indexer.at_rest == entry.settled


def test_a_simulated_exchange_may_always_go_on() -> None:
    log = next(log for log in corpus() if log.name == "study released-basic kafka")
    indexer = Indexer(group=log.group)
    for entry in log.entries:
        indexer.add(entry)
        assert not indexer.at_rest


def test_the_digest_tells_what_happened_since_the_last_checkpoint() -> None:
    log = released_basic()
    commits = next(entry.sequence for entry in log.entries if entry.payload["type"] == 1)
    indexer = indexed(CorpusLog(name="", group=log.group, semantics=Semantics.KAFKA, make=tuple), [])
    fold(indexer, log.entries[: commits - 1])
    before = indexer.digest()
    assert (before.entries, before.joined, before.removed, before.members) == (commits - 1, 3, 0, 3)
    assert (before.first_epoch, before.last_epoch, before.first_ms, before.moves) == (1, 4, 0, 2)
    indexer.checkpoint()
    fold(indexer, log.entries[commits - 1 :])
    after = indexer.digest()
    assert (after.commits, after.joined, after.removed, after.first_epoch, after.last_epoch) == (
        3,
        0,
        3,
        4,
        7,
    )
    assert (after.first_ms, after.last_ms, after.members, after.unassigned) == (20_000, 40_000, 0, 0)
    indexer.checkpoint()
    nothing = indexer.digest()
    assert (nothing.entries, nothing.first_ms, nothing.last_ms) == (0, None, None)


def test_no_checkpoint_is_taken_inside_a_unit_and_no_run_stands_in_one() -> None:
    indexer = Indexer(group="orders")
    first = released_basic().entries[0]
    indexer.add(first)
    assert not first.settled
    with pytest.raises(RuntimeError, match="entry 1 is inside a unit, where no chunk begins"):
        indexer.checkpoint()
    run = CommitRun(
        first=2,
        last=2,
        first_ms=0,
        last_ms=0,
        requests=0,
        records=0,
        last_request=0,
        latest={},
        topic_ids=[],
        value_times_ms=[],
        places=[],
        committed=[],
        ids=[],
        sequences=[],
        batch_times_ms=[],
        first_batch=None,
        last_batch=None,
    )
    with pytest.raises(ValueError, match="commits from entry 2 on came in the middle of a unit"):
        indexer.add_commits(run)
    with pytest.raises(ValueError, match="entry 3 came after 1; sequences are dense"):
        indexer.add(released_basic().entries[2])
    with pytest.raises(ValueError, match="commits from entry 2 on came after 0; sequences are dense"):
        Indexer(group="orders").add_commits(run)


@pytest.mark.parametrize("checkpoint", [b"{}", b"[]", b'{"fold_version": 1}'])
def test_a_checkpoint_of_another_fold_is_refused(checkpoint: bytes) -> None:
    for begin in (Recorder.from_checkpoint, Indexer.from_checkpoint):
        with pytest.raises(ValueError, match=f"a checkpoint of fold version {FOLD_VERSION} is needed"):
            begin(checkpoint)


def test_a_protocol_that_is_known_before_the_first_entry_is_kept() -> None:
    indexer = Indexer(group="orders", protocol=Protocol.CONSUMER)
    assert Recorder.from_checkpoint(indexer.checkpoint()).flush() is None
    assert Indexer.from_checkpoint(indexer.checkpoint()).frame()["protocol"] == "consumer"
