"""A corpus of logs of every source: case studies, drawn runs, a broker's segments, logs typed by hand, and broken ones.

Each log has a name that stays the same, so that what is folded of it can be written down (``truth``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from pathlib import Path
from random import Random
from typing import Any, Final

from groups.history.entries import Entry, Kind
from groups.history.passes.recorder import RecordedBatch, Recorder
from groups.history.passes.units import LogRecord
from groups.history.state.group import Semantics
from groups.history.state.plain import to_plain
from groups.releases import EARLIER
from groups.wire.records import decode_record
from simulations.proof.fuzzing.generator import scenario_of
from simulations.proof.fuzzing.presets import PRESETS
from simulations.world import studies
from simulations.world.engine import run
from simulations.world.scenario import Scenario, load
from tests.broker.segments import batches
from tests.history import (
    test_broken_logs,
    test_causes,
    test_classic_group,
    test_share_group,
    test_streams_group,
)
from tests.history.logs import FOO, Log, released_basic
from tests.history.proposal import proposal_basic
from tests.history.unit_entries import entries_from_records
from tests.house import ROOT

SAMPLES: Final = ROOT / "groups" / "samples"
RECORDED_CLIENTS: Final = ROOT / "simulations" / "samples" / "recorded-clients" / "segments"
BROKER_FIXTURES: Final = ROOT / "tests" / "broker" / "fixtures"
TIES: Final = {
    "recorded tie": "rolled-tie",
    "recorded librdkafka tie": "rdkafka-tie",
    "recorded librdkafka control": "rdkafka-no-tie",
}
"""Two members that tie: of Java while a broker is rolled from 4.3.1 to 4.4.0 and back, of librdkafka on 4.4.0, and on 4.3.1
(``tests.broker.rolled_tie``)."""

FOUND: Final = ROOT / "tests" / "simulations" / "fixtures" / "found"

FUZZ_SEEDS: Final = range(1, 9)
"""Of each preset in each semantics: 48 runs."""

BROKEN_SEEDS: Final = range(1, 4)
"""Of each log that is broken: entries that are lost, twice there, or in another order."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CorpusLog:
    """One log; ``entries`` are dense from 1."""

    name: str
    group: str
    semantics: Semantics
    make: Callable[[], Sequence[Entry]] = field(repr=False)

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """Made when a test first asks for them: a run that takes a few logs simulates no others."""
        return self.make()


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """What the recorder makes of a whole log, and what its findings and metrics remember at the end."""

    batch: RecordedBatch
    finder: Any
    metrics: Any


@cache
def recorded(log: CorpusLog) -> Recording:
    """The log recorded as one batch, and the recorder: made once, since many tests ask the same of it."""
    recorder = Recorder(group=log.group, semantics=log.semantics)
    for entry in log.entries:
        recorder.add(entry)
    # What would come next starts a chunk, so its checkpoint holds all that the findings and the metrics remember.
    batch = recorder.flush(final=True)
    assert batch is not None, f"{log.name} has no entry"
    return Recording(batch=batch, finder=to_plain(recorder.finder), metrics=to_plain(recorder.metrics))


@cache
def corpus() -> tuple[CorpusLog, ...]:
    """All of them; the entries of each are made when they are asked for."""
    sound = (*_studies(), *_found(), *_drawn(), *_recorded(), *_typed())
    return (*sound, *_broken(sound))


def _run(scenario: Scenario, semantics: Semantics) -> list[Entry]:
    return list(run(scenario, semantics))


def _studies() -> Iterator[CorpusLog]:
    for name in studies.names():
        scenario = studies.load(name)
        for semantics in Semantics:
            yield CorpusLog(
                name=f"study {name} {semantics}",
                group=scenario.group,
                semantics=semantics,
                make=partial(_run, scenario, semantics),
            )


def _found() -> Iterator[CorpusLog]:
    """Scenarios that once broke an invariant."""
    for path in sorted(FOUND.glob("*.yaml")):
        scenario = load(path.read_text(encoding="utf-8"), path.stem)
        yield CorpusLog(
            name=f"found {path.stem}",
            group=scenario.group,
            semantics=scenario.semantics,
            make=partial(_run, scenario, scenario.semantics),
        )


def _drawn() -> Iterator[CorpusLog]:
    for semantics in Semantics:
        for preset in PRESETS:
            for seed in FUZZ_SEEDS:
                scenario = scenario_of(seed, semantics, [preset], release=EARLIER)
                yield CorpusLog(
                    name=f"drawn {preset} {semantics} {seed}",
                    group=scenario.group,
                    semantics=semantics,
                    make=partial(_run, scenario, semantics),
                )


def _recorded() -> Iterator[CorpusLog]:
    for sample in sorted(path for path in SAMPLES.iterdir() if path.is_dir()):
        yield from logs_of_segments(f"sample {sample.name}", sample / "segments")
    yield from logs_of_segments("recorded clients", RECORDED_CLIENTS)
    for name, folder in TIES.items():
        yield from logs_of_segments(name, BROKER_FIXTURES / folder / "segments")


def logs_of_segments(name: str, data: Path) -> Iterator[CorpusLog]:
    """A log for each group of a broker's segments."""
    records: dict[str, list[LogRecord]] = {}
    partitions: dict[str, int] = {}
    for partition, batch in batches(data):
        for written in batch.records if not batch.is_control else ():
            payload = decode_record(written.key, written.value)
            key = payload.get("key") or {}
            group = str(key.get("groupId") or key.get("group"))
            partitions[group] = partition
            records.setdefault(group, []).append(
                LogRecord(
                    offset=written.offset,
                    batch=batch.base_offset,
                    at_ms=written.timestamp_ms,
                    payload=payload,
                )
            )
    for group, its_records in sorted(records.items()):
        yield CorpusLog(
            name=f"{name} {group}",
            group=group,
            semantics=Semantics.KAFKA,
            make=list(entries_from_records(its_records, partition=partitions[group])).copy,
        )


def _migrated() -> Log:
    log = test_classic_group.three_generations()
    log.topics(foo={"id": FOO, "partitions": 3})
    log.at(70_000).write(*test_classic_group.upgrade())
    r = test_classic_group.R
    gone = [r.gone(kind, name) for kind in (8, 7) for name in ("A", "B")]
    ends = (r.gone(6), r.gone(5, "A"), r.gone(5, "B"), r.gone(4), r.gone(3))
    log.at(80_000).write(*gone, *ends, test_classic_group.generation(5, {"A": [0, 1, 2]}))
    return log


def _ended_share() -> Log:
    log = test_share_group.shared()
    log.at(9000).write(test_share_group.R.share_state(deleting=True))
    log.at(9500).write(*test_share_group.R.deletion())
    log.at(10_000).write(*test_share_group.FIRST_JOIN)
    return log


TYPED: Final[Mapping[str, Callable[[], Log]]] = {
    "released basic": released_basic,
    "proposal basic": proposal_basic,
    "classic": test_classic_group.three_generations,
    "classic that migrates and goes back": _migrated,
    "share": test_share_group.shared,
    "share that ends and begins anew": _ended_share,
    "streams": test_streams_group.moving,
    "two members": test_broken_logs.two_members,
    "blocked": test_broken_logs.blocked,
    "two members with requests": test_causes.two_members,
}


def _typed() -> Iterator[CorpusLog]:
    for name, make in TYPED.items():
        log = make()
        for semantics in Semantics:
            yield CorpusLog(
                name=f"typed {name} {semantics}", group=log.group, semantics=semantics, make=log.entries.copy
            )


def _broken(sound: Sequence[CorpusLog]) -> Iterator[CorpusLog]:
    """Of each typed and recorded log, and of some that were drawn."""
    for log in sound:
        if log.name.startswith(("typed", "sample", "recorded")) or log.name.endswith((" 1", " 2")):
            for seed in BROKEN_SEEDS:
                yield replace(
                    log,
                    name=f"broken {seed} {log.name}",
                    make=partial(_broken_by, log, seed),
                )


def _broken_by(log: CorpusLog, seed: int) -> list[Entry]:
    return broken(log.entries, Random(f"{log.name} {seed}"))


def broken(entries: Sequence[Entry], random: Random) -> list[Entry]:
    """The log with entries that are lost, twice there and swapped; sequences are dense and units whole again."""
    kept: list[Entry] = []
    for entry in entries:
        drawn = random.random()
        if drawn > 0.08:
            kept.append(entry)
        if drawn > 0.97:
            kept.append(entry)
        if drawn < 0.12 and len(kept) > 1:
            kept[-1], kept[-2] = kept[-2], kept[-1]
    return dense(kept)


def dense(kept: Sequence[Entry]) -> list[Entry]:
    """Entries of a log that was cut and mixed, as a log again: units are neighbours, causes come before."""
    places = {entry.sequence: at for at, entry in enumerate(kept, 1)}
    out: list[Entry] = []
    first = 1
    for at, entry in enumerate(kept, 1):
        following = kept[at] if at < len(kept) else None
        is_record = entry.kind is Kind.RECORD
        if not is_record or (out and out[-1].settled):
            first = at
        cause = places.get(entry.cause) if entry.cause is not None else None
        out.append(
            replace(
                entry,
                sequence=at,
                cause=cause if cause is not None and cause < at else None,
                settled=not is_record
                or following is None
                or following.kind is not Kind.RECORD
                or following.unit != entry.unit,
                unit=first if is_record else None,
            )
        )
    return out
