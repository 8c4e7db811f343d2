"""The search: the replay first, then each remedy with each seed, then what each answer depends on. A generator of its progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from statistics import median_low
from typing import Final, NamedTuple, TypedDict

from groups.history.state.group import Semantics
from groups.history.words import counted
from simulations.fork.continuing import text_of
from simulations.fork.values import Document
from simulations.remedies.assumptions import as_killed, assumptions_of
from simulations.remedies.catalog import remedies_of
from simulations.remedies.drawing import drawn
from simulations.remedies.measuring import measured, measured_in_records
from simulations.remedies.values import (
    SEEDS_MOST,
    WORK_MOST,
    Answer,
    Assumed,
    Incident,
    Measures,
    Otherwise,
    Outcome,
    Recorded,
    RemediesError,
    Remedy,
    Row,
    Spread,
)
from simulations.world.engine import RunTooLong
from simulations.world.scenario import ScenarioError, load

SAME_SHARE: Final = 0.03
"""Seed by seed within this share of the replay is no difference: network delays alone move a run by as much."""

SAME_MS: Final = 1_000
"""And so is one partition-second."""

MISS_SHARE: Final = 0.25
MISS_MS: Final = 2_000
"""A replay misses if the recorded value is further outside the range of its seeds than this share of it and two partition-seconds."""


def spread_of(values: Sequence[int]) -> Spread:
    return {
        "least": min(values),
        "median": median_low(sorted(values)),
        "most": max(values),
        "seeds": list(values),
    }


def outcome_of(replay: Sequence[Measures], remedy: Sequence[Measures]) -> tuple[Outcome, int]:
    """What most seeds agree on, each compared with the replay of the same seed; and in how many less was not read."""
    signs = [
        _sign(before.not_read_ms, after.not_read_ms) for before, after in zip(replay, remedy, strict=True)
    ]
    fewer, more = signs.count(-1), signs.count(1)
    if 2 * fewer > len(signs):
        return Outcome.LESS, fewer
    if 2 * more > len(signs):
        return Outcome.MORE, fewer
    difference = sum(after.not_read_ms for after in remedy) - sum(before.not_read_ms for before in replay)
    if abs(difference) <= SAME_SHARE * sum(before.not_read_ms for before in replay) + SAME_MS * len(signs):
        return Outcome.NONE, fewer
    return (Outcome.LESS if difference < 0 else Outcome.MORE), fewer


def _sign(before_ms: int, after_ms: int) -> int:
    if abs(after_ms - before_ms) <= max(SAME_MS, SAME_SHARE * before_ms):
        return 0
    return 1 if after_ms > before_ms else -1


def missed(recorded: Recorded, replay: Sequence[Measures], epochs: Sequence[int]) -> str | None:
    """Why the replay is not the recorded incident, or ``None`` if it is: one sentence with both values."""
    for name, value, found in (
        ("partition-seconds not read", recorded["not_read_ms"], [each.not_read_ms for each in replay]),
        ("partition-seconds unassigned", recorded["unassigned_ms"], [each.unassigned_ms for each in replay]),
    ):
        if value is None:
            continue
        slack = MISS_MS + MISS_SHARE * value
        if not min(found) - slack <= value <= max(found) + slack:
            return (
                f"The replay does not repeat the incident: the recording has {_seconds(value)} {name}, "
                f"the {counted(len(found), 'replay')} with nothing changed {_seconds(min(found))} to {_seconds(max(found))}"
            )
    if not min(epochs) - 1 <= recorded["epochs"] <= max(epochs) + 1:
        return (
            f"The replay does not repeat the incident: the recording has {counted(recorded['epochs'], 'new epoch')}, "
            f"the {counted(len(epochs), 'replay')} with nothing changed {min(epochs):,} to {max(epochs):,}"
        )
    return None


def _seconds(length_ms: int) -> str:
    return f"{length_ms / 1000:,.1f}"


ORDER: Final = (str(Outcome.LESS), str(Outcome.NONE), str(Outcome.MORE))


def ranked(rows: Sequence[Row]) -> list[Row]:
    """Less not read, no difference, more; in each the least first. Remedies that could not run come last."""
    return sorted(rows, key=_place)


def _place(row: Row) -> tuple[int, int, int, int]:
    if row["outcome"] is None or row["not_read_ms"] is None:
        return len(ORDER), 0, 0, 0
    interrupted, twice = row["interrupted"], row["read_twice"]
    return (
        ORDER.index(row["outcome"]),
        row["not_read_ms"]["median"],
        interrupted["median"] if interrupted else 0,
        twice["median"] if twice else 0,
    )


REPLAY: Final = Remedy(key="replay", name="Replay, nothing changed", setting="", change=lambda doc: doc)

SWEPT_SEEDS: Final = 3
"""Seeds of each other value of an assumption: they only have to show which one moves the answer most."""


class Progress(TypedDict):
    """Runs that ended, of how many, and the answer as far as it is known."""

    done: int
    runs: int
    stage: str
    answer: Answer


def runs_of(incident: Incident, seeds: int) -> int:
    """How many runs a search has. ``RemediesError`` where that is too much."""
    if not 1 <= seeds <= SEEDS_MOST:
        raise RemediesError(f"seeds={seeds} must be a whole number from 1 to {SEEDS_MOST}", "seeds")
    remedies = len(remedies_of(incident.document)) + 1
    assumed = len(assumptions_of(incident.document, incident.assumptions, of_records=incident.of_records))
    runs = remedies * seeds + remedies * assumed * min(SWEPT_SEEDS, seeds)
    members = len(incident.document["members"])
    if runs * members > WORK_MOST:
        raise RemediesError(
            f"{runs:,} runs of {members:,} members are more than {WORK_MOST:,} together; take fewer seeds",
            "seeds",
        )
    return runs


class Work(NamedTuple):
    """One run of a search, as another process can take it. ``of_records``: what a log of its records shows is measured, too."""

    name: str
    document: Document
    semantics: Semantics
    seed: int
    of_records: bool


class Ran(NamedTuple):
    """What a run cost, and the epochs that began. ``in_records_ms``: partition-milliseconds unassigned in a log of its records."""

    measures: Measures
    epochs: int
    in_records_ms: int | None


def ran(work: Work) -> Ran | str:
    """The run's measures, or in one sentence why it cannot run."""
    try:
        scenario = load(text_of_document(work.document), work.name)
        if work.of_records:
            return Ran(*measured_in_records(scenario, work.semantics, work.seed))
        return Ran(*measured(scenario, work.semantics, work.seed), None)
    except (ScenarioError, RunTooLong) as error:
        return str(error)


RunAll = Callable[[Callable[[Work], Ran | str], Iterable[Work]], Iterable[Ran | str]]
"""As ``map``: results in the order of the work. Where they are computed is the caller's choice."""


def search(incident: Incident, seeds: int, run_all: RunAll = map) -> Iterator[Progress]:
    """The answer as it grows; the last one is whole. Nothing is ranked where the replay misses the recording."""
    return _Search(incident, seeds, run_all).progress()


class _Search:
    def __init__(self, incident: Incident, seeds: int, run_all: RunAll) -> None:
        self._incident, self._seeds, self._run_all = incident, seeds, run_all
        self._runs, self._done = runs_of(incident, seeds), 0
        self._rows: list[Row] = []
        self._epochs: list[int] = []
        self._why: str | None = None

    def progress(self) -> Iterator[Progress]:
        replay: list[Measures] = []
        yield from self._replay(replay)
        if self._why is not None and self._incident.of_records:
            # Records show that a member was removed, and not why: if it cannot have closed, it was killed before.
            closed, why, self._incident = self._incident, self._why, as_killed(self._incident)
            self._done -= self._seeds
            yield from self._replay(replay)
            if self._why is not None:
                self._incident, self._why = closed, why
        if self._why is not None:
            self._done = self._runs
            yield self._known("")
            return
        remedies = remedies_of(self._incident.document)
        yield from self._remedies(remedies, replay)
        assumed = assumptions_of(
            self._incident.document, self._incident.assumptions, of_records=self._incident.of_records
        )
        yield from self._sweep(remedies, replay, assumed)
        self._rows[1:] = ranked(self._rows[1:])
        self._done = self._runs
        yield self._known("")

    def _replay(self, replay: list[Measures]) -> Iterator[Progress]:
        """The runs with nothing changed, in ``replay`` and in the first row, and whether they are the incident."""
        replay.clear()
        self._epochs.clear()
        self._rows.clear()
        shown = []
        for run in self._ran([REPLAY], self._seeds, of_records=self._incident.of_records):
            if isinstance(run, str):
                raise RemediesError(f"The replay cannot run: {run}")
            replay.append(run.measures)
            self._epochs.append(run.epochs)
            in_records_ms = run.in_records_ms
            shown.append(
                run.measures if in_records_ms is None else run.measures._replace(unassigned_ms=in_records_ms)
            )
            yield self._known("Replay")
        self._rows.append(_row(REPLAY, replay))
        self._why = missed(self._incident.recorded, shown, self._epochs)

    def _remedies(self, remedies: Sequence[Remedy], replay: Sequence[Measures]) -> Iterator[Progress]:
        runs = self._ran(remedies, self._seeds)
        for remedy in remedies:
            found: list[Measures] = []
            problem = None
            for run in islice(runs, self._seeds):
                if isinstance(run, str):
                    problem = problem or run
                else:
                    found.append(run.measures)
                yield self._known(remedy.name)
            row = _row(remedy, () if problem else found, problem)
            if problem is None:
                outcome, row["fewer"] = outcome_of(replay, found)
                row["outcome"] = str(outcome)
            self._rows.append(row)
            yield self._known(remedy.name)

    def _sweep(
        self, remedies: Sequence[Remedy], replay: Sequence[Measures], assumed: Sequence[Assumed]
    ) -> Iterator[Progress]:
        """Of each remedy the assumption whose other value moves its saving most."""
        few = min(SWEPT_SEEDS, self._seeds)
        moves: dict[str, int] = {}
        for each in assumed:
            swept = [
                (remedy, row)
                for remedy, row in zip(remedies, self._rows[1:], strict=True)
                if row["not_read_ms"] is not None and not remedy.setting.startswith(each.name)
            ]
            runs = self._ran([REPLAY, *(remedy for remedy, _ in swept)], few, each)
            before = _measures(islice(runs, few))
            yield self._known(f"If {each.name} is otherwise")
            if before is None:
                continue
            for _, row in swept:
                after = _measures(islice(runs, few))
                if after is None or row["not_read_ms"] is None:
                    continue
                usual = sum(
                    one.not_read_ms - other
                    for one, other in zip(replay, row["not_read_ms"]["seeds"], strict=True)
                ) // len(replay)
                saved = (
                    sum(one.not_read_ms - other.not_read_ms for one, other in zip(before, after, strict=True))
                    // few
                )
                if abs(saved - usual) > moves.get(row["key"], 0):
                    moves[row["key"]] = abs(saved - usual)
                    row["depends_on"] = _otherwise(each, before, after)
                yield self._known(f"If {each.name} is otherwise")

    def _ran(
        self,
        remedies: Sequence[Remedy],
        seeds: int,
        assumed: Assumed | None = None,
        *,
        of_records: bool = False,
    ) -> Iterator[Ran | str]:
        """The first ``seeds`` runs of each remedy, one remedy after the other."""
        incident, document = self._incident, self._incident.document
        if assumed is not None:
            document = assumed.change(document)
        work = (
            Work(
                remedy.key,
                drawn(remedy.change(document), incident.seed, number),
                incident.semantics,
                incident.seed + number,
                of_records,
            )
            for remedy in remedies
            for number in range(seeds)
        )
        for each in self._run_all(ran, work):
            self._done += 1
            yield each

    def _known(self, stage: str) -> Progress:
        epochs: Spread | None = spread_of(self._epochs) if self._epochs else None
        answer: Answer = {
            "why": self._why,
            "seeds": self._seeds,
            "recorded": self._incident.recorded,
            "replay_epochs": epochs,
            "rows": list(self._rows),
            "assumptions": list(self._incident.assumptions),
        }
        return {"done": min(self._done, self._runs), "runs": self._runs, "stage": stage, "answer": answer}


def text_of_document(document: Document) -> str:
    """The scenario's text of a document."""
    return text_of(document, document["script"])[0]


def branch_text(incident: Incident, key: str) -> tuple[Remedy, str]:
    """A remedy of the incident with the scenario that its first seed runs."""
    for remedy in (REPLAY, *remedies_of(incident.document)):
        if remedy.key == key:
            return remedy, text_of_document(remedy.change(incident.document))
    raise RemediesError(f"{key[:40]!r} is no remedy of this incident", "remedy")


def _row(remedy: Remedy, found: Sequence[Measures], problem: str | None = None) -> Row:
    def spread(values: list[int]) -> Spread | None:
        return spread_of(values) if values else None

    return {
        "key": remedy.key,
        "name": remedy.name,
        "setting": remedy.setting,
        "not_read_ms": spread([each.not_read_ms for each in found]),
        "unassigned_ms": spread([each.unassigned_ms for each in found]),
        "interrupted": spread([each.interrupted for each in found]),
        "read_twice": spread([each.read_twice for each in found]),
        "outcome": None,
        "fewer": 0,
        "depends_on": None,
        "problem": problem,
    }


def _measures(runs: Iterable[Ran | str]) -> list[Measures] | None:
    """``None`` if one of them cannot run."""
    found = [None if isinstance(run, str) else run.measures for run in runs]
    return [each for each in found if each is not None] if None not in found else None


def _otherwise(assumed: Assumed, before: Sequence[Measures], after: Sequence[Measures]) -> Otherwise:
    outcome, _ = outcome_of(before, after)
    return {
        "name": assumed.name,
        "value": assumed.value,
        "other": assumed.other,
        "outcome": str(outcome),
        "not_read_ms": spread_of([each.not_read_ms for each in after])["median"],
        "replay_ms": spread_of([each.not_read_ms for each in before])["median"],
    }
