"""Metrics of Java consumers among lines of logs, as the JMX exporter prints them."""

from __future__ import annotations

import pytest

from groups.texts.formats import formats_of, read_text
from groups.texts.found import Found, LineProblem, LogEvent, Remark

NAMES_GROUP = "[2026-11-27 12:00:00,000] INFO [Consumer clientId=c-1, groupId=orders] Subscribed to topic(s): orders (x)"
AT_MS = 1795782600_000
HEAD = "kafka_consumer_consumer_coordinator_metrics_"


def scrape(at: str | None, *, labels: str = 'client_id="c-1",', polled: float = 0.0, **values: float | str) -> str:  # fmt: skip
    """One scrape after its time, in the exporter's order: by metric, each with its comments."""
    lines = [f"# HELP {HEAD}{name} x\n# TYPE {HEAD}{name} untyped\n{HEAD}{name}{{{labels}}} {value}" for name, value in values.items()]  # fmt: skip
    lines.append(f"kafka_consumer_consumer_metrics_last_poll_seconds_ago{{{labels}}} {polled}")
    return "\n".join([*([at] if at else []), *lines])


def read(*texts: str, written_ms: int = 7) -> list[Found]:
    text = "\n".join(texts)
    return list(read_text(text.splitlines(), formats_of(text), written_ms=written_ms))


def says(found: list[Found]) -> list[tuple[int, str, str, str]]:
    return [(each.at_ms - AT_MS, each.group, each.source, each.fields["reason"]) for each in found if isinstance(each, LogEvent) and each.what == "reason"]  # fmt: skip


def test_each_scrape_s_new_rebalances_failures_and_late_polls_are_events_of_the_member() -> None:
    calm = scrape("2026-11-27T12:30:00Z", rebalance_total=2.0, failed_rebalance_total=0.0, last_rebalance_seconds_ago=9.0, rebalance_latency_max="NaN")  # fmt: skip
    moved = scrape("2026-11-27T12:30:15Z", rebalance_total=3.0, failed_rebalance_total=1.0, last_rebalance_seconds_ago=4.0, rebalance_latency_max=1234.0, polled=75.0)  # fmt: skip
    same = scrape("2026-11-27T12:30:30Z", rebalance_total=3.0, failed_rebalance_total=1.0, last_rebalance_seconds_ago=19.0, polled=90.0)  # fmt: skip
    assert says(read(NAMES_GROUP, calm, moved, same)) == [
        (-9_000, "orders", "c-1", "rebalance 2 since it started"),
        (11_000, "orders", "c-1", "rebalance 3 since it started; the longest of late took 1,234 ms"),
        (15_000, "orders", "c-1", "1 rebalance failed since its metrics before"),
        (15_000, "orders", "c-1", "it polled last 75 s before"),
    ]


def test_a_count_is_read_as_releases_1_of_the_exporter_print_it_without_total() -> None:
    moved = scrape("2026-11-27T12:30:00Z", rebalance=3.0, failed_rebalance=1.0, rebalance_latency_max=9.0, rebalance_rate_per_hour=7.0)  # fmt: skip
    assert says(read(NAMES_GROUP, moved)) == [
        (0, "orders", "c-1", "rebalance 3 since it started; the longest of late took 9 ms"),
        (0, "orders", "c-1", "1 rebalance failed since its metrics before"),
    ]


def test_a_client_without_a_group_has_none_called_null() -> None:
    alone = NAMES_GROUP.replace("groupId=orders", "groupId=null")
    found = read(alone, alone.replace("Subscribed to topic(s): orders", "Assigned partitions: [orders-0]"), scrape("2026-11-27T12:30:00Z", rebalance_total=1))  # fmt: skip
    assert not [each for each in found if isinstance(each, LogEvent)]
    assert any(each.startswith("1 scrape of clients that neither") for each in remarks(found))


def test_two_clients_and_a_group_s_label_have_counts_of_their_own() -> None:
    both = 'client_id="c-1",group_id="shop",', 'client_id="c-2",group_id="shop",'
    texts = [scrape(f"2026-11-27T12:30:{at:02}Z", labels=each, rebalance_total=count) for at in (0, 15) for each, count in zip(both, (5, 1), strict=True)]  # fmt: skip
    assert says(read(*texts)) == [
        (0, "shop", "c-1", "rebalance 5 since it started"),
        (0, "shop", "c-2", "rebalance 1 since it started"),
    ]


def test_counters_that_restart_are_said_to_and_count_from_there() -> None:
    found = read(NAMES_GROUP, *(scrape(f"2026-11-27T12:30:0{at}Z", rebalance_total=count) for at, count in enumerate((7, 1, 2))))  # fmt: skip
    assert [reason for *_, reason in says(found)][1:] == [
        "its counters began again, 7 rebalances before: it was started again",
        "rebalance 2 since it started",
    ]


def test_a_time_of_its_own_counts_and_one_without_any_has_that_of_the_file() -> None:
    own = f'{HEAD}rebalance_total{{client_id="c-1"}} 2.0 {AT_MS + 5}'
    assert says(read(NAMES_GROUP, own)) == [(5, "orders", "c-1", "rebalance 2 since it started")]
    found = read(NAMES_GROUP, scrape(None, rebalance_total=1), written_ms=AT_MS)
    assert says(found) == [(0, "orders", "c-1", "rebalance 1 since it started")]
    assert "2 metrics of clients have no time: they have that of the file" in remarks(found)


def test_a_client_that_has_not_rebalanced_or_polled_yet_says_nothing() -> None:
    assert says(read(NAMES_GROUP, scrape("2026-11-27T12:30:00Z", rebalance_total=0, last_rebalance_seconds_ago=-1.0, rebalance_latency_max="NaN", polled=-1.0))) == []  # fmt: skip


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (f'{HEAD}rebalance_total{{client_id="c-1",}}', "cut off, or has no number"),
        (f'{HEAD}rebalance_total{{client_id="c-', "cut off, or has no number"),
        (f'{HEAD}rebalance_total{{client_id="c-1",}} many', "cut off, or has no number"),
        (f'{HEAD}rebalance_total{{client_id="c-1",}} -2', "cannot be"),
        (f'{HEAD}rebalance_total{{client_id="c-1",}} +Inf', "cannot be"),
        (f'{HEAD}rebalance_total{{client_id="c-1",}} 1e400', "cannot be"),
        (f'{HEAD}last_rebalance_seconds_ago{{client_id="c-1",}} 1e9', "cannot be"),
        (f'{HEAD}last_rebalance_seconds_ago{{client_id="c-1",}} -5', "cannot be"),
        (f'{HEAD}rebalance_total{{client_id="c-1",}} 1 999999999999999', "cannot be"),
        (f'{HEAD}rebalance_total{{instance="a"}} 1', "names no client"),
    ],
)
def test_a_metric_that_is_cut_or_cannot_be_is_one_line_with_its_place(line: str, why: str) -> None:
    found = read(NAMES_GROUP, line)
    [problem] = [each for each in found if isinstance(each, LineProblem)]
    assert problem.line == 2
    assert why in problem.reason
    assert says(found) == []


def test_a_client_that_nothing_puts_into_a_group_is_counted() -> None:
    found = read(scrape("2026-11-27T12:30:00Z", rebalance_total=1))
    assert says(found) == []
    assert any(each.startswith("1 scrape of clients that neither") for each in remarks(found))


def remarks(found: list[Found]) -> list[str]:
    return [each.reason for each in found if isinstance(each, Remark)]
