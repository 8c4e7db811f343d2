"""What would have helped, of incidents that were recorded without and with the remedy: the prediction of each log alone."""

from __future__ import annotations

import json

import pytest

from tests.house import ROOT

from .remedy_pairs import FIGURES, PAIRS, UNDECIDED, compared, predicted, table

FIGURES_KEPT = json.loads(FIGURES.read_bytes())


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_the_log_of_a_recorded_incident_still_predicts_what_its_remedy_did(name: str) -> None:
    """Three seeds of the twenty whose medians the page has; the outcome is of most seeds, the replay within a factor of 1.5."""
    kept = FIGURES_KEPT[name]
    now = predicted(name, kept["without"], seeds=3)
    assert now["outcome"] == kept["predicted"]["outcome"]
    assert kept["predicted"]["replay_ms"] / 1.5 < now["replay_ms"] < 1.5 * kept["predicted"]["replay_ms"]


def test_the_page_has_the_figures_and_of_how_many_the_prediction_was_right_wrong_and_undecided() -> None:
    page = (ROOT / "docs" / "explanation" / "remedies-recorded.md").read_text()
    assert table(FIGURES_KEPT) in page
    pairs = [(compared(each), each["predicted"]["outcome"]) for each in FIGURES_KEPT.values()]
    decided = [found.did == outcome for found, outcome in pairs if found.did != UNDECIDED]
    signs = [found.saved_ms * found.predicted_ms > 0 for found, _ in pairs if found.predicted_ms]
    undecided = len(PAIRS) - len(decided)
    assert (
        f"**{sum(decided)} of {len(decided)} predictions are right, and {undecided} are undecided.**" in page
    )
    assert f"By the bare sign {sum(signs)} of {len(signs)} are right" in page
