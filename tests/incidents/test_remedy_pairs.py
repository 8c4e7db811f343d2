"""What would have helped, of incidents that were recorded without and with the remedy: the prediction of each log alone."""

from __future__ import annotations

import json

import pytest

from tests.house import ROOT

from .remedy_pairs import FIGURES, PAIRS, compared, predicted, table

FIGURES_KEPT = json.loads(FIGURES.read_bytes())


@pytest.mark.long
@pytest.mark.parametrize("name", PAIRS)
def test_the_log_of_a_recorded_incident_still_predicts_what_its_remedy_did(name: str) -> None:
    """Three seeds of the twenty whose medians the page has; the outcome is of most seeds, the replay within a factor of 1.5."""
    kept = FIGURES_KEPT[name]
    now = predicted(name, kept["without"], seeds=3)
    assert now["outcome"] == kept["predicted"]["outcome"]
    assert kept["predicted"]["replay_ms"] / 1.5 < now["replay_ms"] < 1.5 * kept["predicted"]["replay_ms"]


def test_the_page_has_the_figures_and_says_of_how_many_the_prediction_was_right() -> None:
    page = (ROOT / "docs" / "explanation" / "remedies-recorded.md").read_text()
    assert table(FIGURES_KEPT) in page
    right = [
        name for name, each in FIGURES_KEPT.items() if compared(name, each)[0] == each["predicted"]["outcome"]
    ]
    assert f"**{len(right)} of {len(PAIRS)} predictions are right.**" in page
