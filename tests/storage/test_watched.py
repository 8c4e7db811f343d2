"""Watch expressions of stored timelines: how long one may take."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest
from django.test import Client

from groups.models import Timeline
from tests.stories import Story


def test_an_expression_that_takes_too_long_is_refused_in_one_line(
    stored: Callable[..., Timeline], client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    timeline = stored(Story().joins("A", [0]).joins("B", [1]))
    address = f"/api/timelines/{timeline.id}/watch?of=members"
    assert client.get(address).json()["steps"][-1]["value"] == 2
    # ``groups.storage.watched`` as an attribute is the function.
    monkeypatch.setattr(sys.modules["groups.storage.watched"], "WATCH_S_MOST", 0.0)
    answer = client.get(address)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "of")
    assert "takes more than 0 s along this log" in answer.json()["error"]["message"]
