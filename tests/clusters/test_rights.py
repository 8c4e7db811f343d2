"""The last step of the wizard: which rights are missing, with the lines that grant them."""

from __future__ import annotations

import pytest

from groups.clusters.checking import Step, check
from tests.clusters.secure import Secure

pytestmark = [pytest.mark.broker, pytest.mark.once]


async def rights(secure: Secure, user: str) -> Step:
    return [step async for step in check(secure.properties("scram-512", user))][-1]


async def test_who_is_read_only_as_advised_lacks_nothing(secure: Secure) -> None:
    step = await rights(secure, "watcher")
    assert (step.name, step.state, step.commands) == ("rights", "ok", ())
    assert any(sent.startswith("DescribeConfigs ") for sent in step.sent), step.sent


async def test_who_has_no_right_is_told_each_line_that_grants_one_and_none_that_lets_commit(
    secure: Secure,
) -> None:
    step = await rights(secure, "nobody")
    assert (step.name, step.state) == ("rights", "warning")
    granted = {line.split("--operation ")[1] for line in step.commands}
    assert granted >= {"Describe --cluster", "DescribeConfigs --group '*'"}
    assert all("User:nobody" in line for line in step.commands)
    assert not any(line.startswith(("Read --group", "Write", "All")) for line in granted)
