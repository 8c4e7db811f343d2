"""Numbers of a cluster's settings: what is no number is one line."""

from __future__ import annotations

import pytest

from groups.clusters.faults import ClusterError
from groups.clusters.settings import settings_of


@pytest.mark.parametrize("text", ["²", "9" * 5_000, "99", "120001", "1e3", "-5", "1 0", ""])
def test_a_timeout_that_is_no_number_of_milliseconds_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ClusterError, match="must be a whole number from 100 to 120000") as refused:
        settings_of({"bootstrap.servers": "localhost:9092", "request.timeout.ms": text})
    assert "\n" not in str(refused.value)
    assert (
        settings_of({"bootstrap.servers": "localhost:9092", "request.timeout.ms": " 100 "}).timeout_ms == 100
    )


def test_a_host_that_is_longer_than_any_name_is_refused_in_one_short_line() -> None:
    with pytest.raises(ClusterError, match="has 100000 characters; a host's name has 253 at most") as refused:
        settings_of({"bootstrap.servers": "a" * 100_000})
    assert len(str(refused.value)) < 200
