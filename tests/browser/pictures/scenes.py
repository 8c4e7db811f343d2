"""The pages that are looked at: where each is, and what is done on it first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from playwright.sync_api import Page

from tests.browser.pictures import acts
from tests.browser.pictures.material import Material

BASIC: Final = "kip848-basic"
STEP: Final = 14
"""A revokes foo-1, whose target owner is C: all that a board can say is on it."""

COMPARED: Final = "/compare?runs=kip429-eager,kip429-cooperative,kip429-consumer&from_ms=18000"
LAGS_MS: Final = 28_000
"""B of each of them does not poll, and its partitions lag behind."""

REHEARSED: Final = "/rehearsal?group=orders-enrich&members=3&topics=foo:6&client=3.8&assignors=range"


@dataclass(frozen=True, slots=True)
class Scene:
    name: str
    address: Callable[[Material], str]
    then: Callable[[Page], None] | None = None
    """What is done on the page before it is looked at."""


def at(address: str) -> Callable[[Material], str]:
    return lambda material: address


def basic(view: str) -> Callable[[Material], str]:
    return lambda material: f"{material.step(BASIC, STEP)}&view={view}"


SCENES: Final = (
    Scene("home", at("/")),
    Scene("menu", at("/"), acts.open_menu),
    Scene("help", at("/help/")),
    # A board of lanes.
    Scene("reader", basic("reader")),
    Scene("investigator", basic("investigator")),
    Scene("figures", basic("investigator"), acts.open_figure),
    Scene("begins", at(f"/t/{BASIC}?at=0&view=reader")),
    Scene("ended", at(f"/t/{BASIC}?at=121&view=reader")),
    Scene("keys", basic("reader"), acts.open_keys),
    Scene("share", basic("investigator"), acts.open_sharing),
    Scene("barrier", lambda m: f"{m.moment('kip429-eager', 'A sends JoinGroup: “group')}&view=investigator"),
    Scene("fail-over", lambda m: f"{m.moment('released-fail-over', 'still loading')}&view=investigator"),
    Scene("storm", at("/t/incident-rebalance-storm?view=investigator")),
    Scene("causes", at("/t/incident-zombie-member?view=investigator"), acts.open_causes),
    Scene("violation", lambda m: m.broken, acts.go_to_violation),
    Scene("nameless", lambda m: m.nameless),
    Scene("classic", lambda m: m.classic),
    Scene("empty", lambda m: m.empty),
    Scene("odd-names", lambda m: m.odd_names),
    # Rows of blocks, and maps.
    Scene("members-60", lambda m: m.map(60)),
    Scene("members-200", lambda m: m.map(200)),
    Scene("members-1000", lambda m: m.map(1_000)),
    Scene("found", lambda m: m.map(1_000), acts.find_member),
    Scene("hosts", lambda m: m.map(1_000), acts.group_by_host),
    Scene("partitions", lambda m: m.map(1_000), acts.show_partitions),
    Scene("odd-names-map", lambda m: m.odd_names_on_a_map),
    Scene("topics-10000", lambda m: m.many_topics),
    Scene("one-owner", lambda m: m.one_owner),
    Scene("one-owner-lane", lambda m: m.one_owner, acts.open_first_row),
    Scene("grows", lambda m: m.grown),
    # Side by side, what if, bytes.
    Scene("compare-empty", at("/compare")),
    Scene("compare", at(COMPARED)),
    Scene("differences", at("/differences/told-to-give-up")),
    Scene("compare-lag", at(f"{COMPARED}&at_ms={LAGS_MS}")),
    Scene(
        "partition-lag",
        lambda m: f"{m.moment('kip429-cooperative', 'C sends JoinGroup')}&view=investigator",
        acts.choose_unread,
    ),
    Scene("rehearsal", at(REHEARSED)),
    Scene("inspector-empty", at("/inspect")),
    Scene("inspector", at("/inspect"), acts.open_record),
    Scene("inspector-edit", at("/inspect"), acts.edit_record),
    Scene("inspector-compare", at("/inspect"), acts.compare_members),
    Scene("inspector-refused", at("/inspect"), acts.paste_nonsense),
    Scene("laboratory", at("/laboratory")),
    Scene("simulate", at("/simulate/")),
    Scene("simulate-refused", at("/simulate/"), acts.run_nonsense),
    Scene("sweeps", at("/sweeps")),
    Scene("sweep-under-way", lambda m: m.sweep_under_way),
    Scene("not-there", at("/t/no-such-timeline")),
    # What needs a broker.
    Scene("clusters-empty", at("/clusters")),
    Scene("clusters-refused", at("/clusters"), acts.ask_a_silent_cluster),
    Scene("cluster", lambda m: m.cluster),
    Scene("clusters", lambda m: m.cluster and "/clusters"),
    Scene("live", lambda m: m.live("orders-enrich")),
    Scene("live-empty", lambda m: m.live("invoices")),
    # What needs Spark.
    Scene("import-new", at("/import/")),
    Scene("import", lambda m: m.imported[0]),
    Scene("import-failed", lambda m: m.failed_import),
    Scene("imports", lambda m: m.imported[0] and "/import/"),
    Scene("incident", lambda m: m.worst_moment),
    Scene("incident-reader", lambda m: f"{m.worst_moment}?view=reader"),
    Scene("home-used", lambda m: m.imported[0] and "/"),
)
