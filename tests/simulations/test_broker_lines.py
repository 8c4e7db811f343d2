"""Lines of a scenario about brokers: mistakes in them, what the controller refuses, and what an exploration does not walk."""

from __future__ import annotations

import pytest

from simulations.proof.exploration import NotExplorable, explore
from simulations.world.scenario import ScenarioError, load
from tests.simulations.test_brokers import BASE, LOWERED, text_of


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("upgrade_feature: {group.version: 1}", "group.version is 1 at 9 s; expected a level above that"),
        ("downgrade_feature: {group.version: 1}", "expected a level below that"),
        ("downgrade_feature: {group.version: 2}", "must be 0 to 1"),
        ("downgrade_feature: {metadata.version: 0}", "unknown key"),
        ("downgrade_feature: {}", "expected a feature and its level, such as {group.version: 1}"),
        ("roll: broker-4", "unknown broker broker-4"),
        ("roll: []", "roll names a broker, a list of them, or brokers"),
        ("roll: [broker-1, broker-1]", "broker-1 stands twice"),
        (
            "roll: broker-1, release: '3.4'",
            "3.4 is not a release that is simulated: there are 3.9, 4.3.0, 4.3.1, 4.4.0",
        ),
        (
            "roll: broker-1, release: '3.9'",
            "a broker 3.9 does not register while group.version is 1; downgrade_feature comes first",
        ),
    ],
)
def test_a_mistake_in_a_line_about_brokers_is_told_in_one_line(text: str, says: str) -> None:
    with pytest.raises(ScenarioError) as error:
        load(text_of(f"{{at: 9s, {text}}}"), "orders")
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("script", "says"),
    [
        ("{at: 9s, roll: brokers}; {at: 10s, roll: broker-3}", "broker-1 is still down at 10 s"),
        (
            "{at: 9s, upgrade_feature: {group.version: 1}}",
            "broker-1 (3.9), broker-2 (3.9), broker-3 (3.9) do not support group.version 1 at 9 s; roll comes first",
        ),
        (
            "{at: 9s, roll: brokers, release: '4.3', for: 1s}; {at: 13s, upgrade_feature: {group.version: 1}}",
            "broker-3 (3.9) does not support group.version 1 at 13 s",
        ),
    ],
)
def test_what_the_controller_refuses_is_refused_as_the_script_is_read(script: str, says: str) -> None:
    with pytest.raises(ScenarioError) as error:
        load(text_of(script, base="brokers: '3.9'\n" + BASE), "orders")
    assert says in str(error.value)


def test_brokers_that_know_no_group_version_have_none() -> None:
    assert load(text_of("", base="brokers: '3.9'\n" + BASE), "orders").settings.group_version == 0
    with pytest.raises(ScenarioError, match=r"brokers 3\.9 support group\.version 0 to 0"):
        load(
            text_of(
                "",
                base="brokers: '3.9'\nconfig: {group_version: 1}\ntopics: {a: {partitions: 1}}\nmembers: {A: {subscribe: [a]}}\nscript: []\n",
            ),
            "o",
        )


@pytest.mark.parametrize("script", [LOWERED, "{at: 9s, roll: broker-1}"])
def test_an_exploration_says_in_one_line_that_it_does_not_walk_brokers(script: str) -> None:
    with pytest.raises(NotExplorable, match="is not explored"):
        explore(load(text_of(script), "orders"))


def test_an_exploration_refuses_brokers_that_do_not_serve_the_consumer_protocol() -> None:
    with pytest.raises(NotExplorable, match="brokers that serve the consumer protocol"):
        explore(load(text_of("", base="brokers: '3.9'\n" + BASE), "orders"))
