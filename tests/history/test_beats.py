"""What is stored of steady heartbeats is the same as if each of them had been folded into the whole state."""

from __future__ import annotations

from collections.abc import Iterable
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from groups.history import recorder
from groups.history.beats import Beat, Beats, beat_of
from groups.history.changes import Change
from groups.history.entries import Entry
from groups.history.recorder import Recorder
from groups.history.state import Semantics, State
from simulations.engine import run
from simulations.fuzzing.drawing import scenario_of
from simulations.fuzzing.presets import PRESETS


@settings(max_examples=4, deadline=None)
@given(
    st.integers(0, 100_000),
    st.sampled_from(Semantics),
    st.sampled_from(PRESETS),
    st.sets(st.integers(1, 3_000)),
)
def test_batches_are_the_same_wherever_they_are_cut(
    seed: int, semantics: Semantics, preset: str, cuts: set[int]
) -> None:
    scenario = scenario_of(seed, semantics, [preset])
    entries = list(run(scenario, semantics))
    quick = stored(entries, scenario.group, semantics, cuts)
    with patch.object(recorder, "beat_of", return_value=None):
        assert quick == stored(entries, scenario.group, semantics, cuts)


def test_nearly_all_steady_heartbeats_are_folded_alone() -> None:
    scenario = scenario_of(1, Semantics.KAFKA, ["calm"])
    entries = list(run(scenario, Semantics.KAFKA))
    steady = [entry for entry in entries if entry.payload.get("steady")]
    assert steady
    results: list[object] = []

    def tried(state: State, beats: Beats, entry: Entry) -> tuple[Beat, State, list[Change]] | None:
        results.append(beat_of(state, beats, entry))
        return beat_of(state, beats, entry)

    with patch.object(recorder, "beat_of", tried):
        stored(entries, scenario.group, Semantics.KAFKA, ())
    assert sum(result is not None for result in results) >= 0.9 * len(steady)


def stored(entries: Iterable[Entry], group: str, semantics: Semantics, cuts: Iterable[int]) -> list[object]:
    """All batches; one is asked for after each entry of ``cuts``. Every chunk begins as early as it may."""
    with (
        patch.object(recorder, "CHUNK_BYTES_LEAST", 4_096),
        patch.object(recorder, "CHUNK_BYTES_GREATEST", 4_096),
    ):
        made = Recorder(group=group, semantics=semantics)
        batches: list[object] = []
        for entry in entries:
            made.add(entry)
            if entry.sequence in cuts:
                batches.append(made.flush())
        return [*batches, made.flush(final=True)]
