"""The headline of every log of the corpus: short, proven, and of one mind with the findings."""

from __future__ import annotations

import re
from typing import Any

import pytest

from groups.history.replay.fold import FOLD_VERSION
from groups.history.story.problems import LEVEL_MS
from groups.history.verdict import verdict
from groups.history.verdict.headline import QUIET_WORDS_MOST, WORDS_MOST, Size
from groups.packs.listed_summary import headline_text, packed_verdict, read_verdict
from groups.storage.searching import listed_columns
from tests.history.corpus import CorpusLog, corpus, recorded
from tests.tiers import spread

Fields = dict[str, Any]


def of(log: CorpusLog) -> tuple[Fields, Fields]:
    summary = recorded(log).batch.summary
    return dict(summary), dict(summary["verdict"] or {})


@pytest.mark.parametrize("log", spread(corpus(), every=9))
def test_a_headline_is_short_and_each_clause_is_proven(log: CorpusLog) -> None:
    summary, told = of(log)
    found = told["headline"]
    most = QUIET_WORDS_MOST if found["text"].startswith("Stable since") else WORDS_MOST
    assert 0 < len(found["text"].split()) <= most, found["text"]
    assert found["text"] == "".join(clause["text"] for clause in found["clauses"])
    assert found["text"].endswith(".")
    proofs = {
        step
        for one in summary["findings"]
        for step in (*one["sequences"], *(one.get("steps") or ()), one.get("killed_sequence"), one.get("at"))
    }
    steps = [clause["sequence"] for clause in found["clauses"] if clause["sequence"] is not None]
    assert set(steps) <= proofs
    assert steps or found["text"].startswith("Unknown") or found["text"].endswith(" in the last state.")


@pytest.mark.parametrize(
    ("members", "text"),
    [(1, "1 member, 6 partitions in the last state."), (None, "Unknown: the log has no record of members.")],
)
def test_a_group_of_which_nothing_else_is_known_has_its_members_in_the_headline(
    members: int | None, text: str
) -> None:
    made = verdict([], first_ms=0, last_ms=60_000, size=Size(members=members, partitions=6))
    assert made is not None
    assert made["headline"]["text"] == text


NAME = r"[A-Z](?:~\d+)?"
WRONG_NUMBER = re.compile(
    # Two names or more with the verb of one; nobody is counted as 0, and what happened twice as 2 times.
    rf"(?:^|[:;.] )(?:{NAME}, )*{NAME} and {NAME} (?:was|has|is|gets|waits)\b"
    r"|\b(?:members|partitions|commits|clients|consumers|offsets|brokers|topics) (?:was|has|is|waits)\b"
    r"|\b0 (?:members|partitions|commits|clients|records|times)\b|(?<![\d,])[12] times\b"
)


@pytest.mark.parametrize("log", spread(corpus(), every=9))
def test_verbs_and_numbers_of_all_sentences_agree(log: CorpusLog) -> None:
    summary, told = of(log)
    sentences = [told["headline"]["text"], told["text"], *(one["says"] for one in summary["findings"])]
    assert [one for one in sentences if WRONG_NUMBER.search(one)] == []


@pytest.mark.parametrize(
    "wrong",
    [
        "Static churn: C, D and D~2 was refused twice",
        "At 10.0 s retries was deleted 2 times; foo-1",
        "A led and sent no assignment; 0 members waited 6.4 s",
        "2 partitions was unassigned",
    ],
)
def test_sentences_of_a_wrong_number_are_found(wrong: str) -> None:
    assert WRONG_NUMBER.search(wrong)


@pytest.mark.parametrize("log", spread(corpus(), every=9))
def test_a_partition_without_an_owner_for_long_at_the_end_is_in_the_figures(log: CorpusLog) -> None:
    summary, told = of(log)
    free = {one["partition"] for one in summary["findings"] if one["kind"] == "no_owner" and one["open"]}
    figures = told["headline"]["figures"]
    assert figures["unread"] >= len(free)
    long = [one for one in summary["findings"] if one["kind"] == "no_owner" and one["open"]]
    if any(one["length_ms"] >= 10_000 for one in long):
        assert told["headline"]["severity"] == "critical"


NAMES = ("app-a", "client id with many words in it, as some have", "a" * 249)


def gone(name: str, **facts: object) -> Any:
    """The finding of a member that was removed."""
    return {
        "kind": "removed",
        "says": f"{name} was removed",
        "name": name,
        "lane": name,
        "at_ms": 20_000,
        "sequences": [5],
        "why": None,
        "polled": False,
        "looks_like": "stopped",
        "short": "its process ended or froze, 45.0 s, assumed",
        "timeout_ms": None,
        "silent_from_ms": 10_000,
        "silent_sequence": 4,
        "killed_ms": None,
        "killed_sequence": None,
        "partitions": [f"a topic with blanks-{number}" for number in range(3)],
        "back_ms": None,
        "back_sequence": None,
        "certain": False,
        **facts,
    }


@pytest.mark.parametrize("name", NAMES)
def test_long_names_leave_a_headline_short(name: str) -> None:
    removed = gone(name)
    stops: Any = [
        {
            "kind": "stopped",
            "says": "",
            "partition": place,
            "from_ms": 10_000,
            "to_ms": 25_000,
            "length_ms": 15_000,
            "sequences": [4, 9],
            "certain": False,
        }
        for place in removed["partitions"]
    ]
    made = verdict([removed, *stops], first_ms=0, last_ms=90_000)
    assert made is not None
    told = made["headline"]
    assert len(told["text"].split()) <= WORDS_MOST, told["text"]
    assert "looks like its process ended or froze" in told["text"]


def test_a_group_whose_last_members_were_removed_is_critical_and_one_that_they_left_is_not() -> None:
    empty: Any = {"kind": "emptied", "says": "", "sequences": [7], "from_ms": 20_000, "to_ms": None}
    empty |= {"length_ms": 70_000, "open": True}

    def of_last(**facts: object) -> Fields:
        found = [gone("app-a", **facts), empty]
        made = verdict(found, first_ms=0, last_ms=90_000, size=Size(None, 6))
        assert made is not None
        # Lists that sort by a column rank it as the table does.
        level = (
            listed_columns({"findings": [gone("app-a", **facts), empty], "verdict": made})["weight"]
            // LEVEL_MS
        )
        assert [None, "warning", "critical"][level] == made["headline"]["severity"]
        return dict(made["headline"])

    removed = of_last()
    assert (removed["severity"], removed["figures"]["still"]) == ("critical", True)
    assert removed["figures"]["unread"] == 6
    assert removed["text"].endswith("; no member is left; still so.")
    assert of_last(looks_like="left")["severity"] is None
    assert of_last(at_ms=15_000)["severity"] == "warning"


def test_a_leave_whose_partitions_were_handed_over_within_seconds_is_no_warning() -> None:
    def of_leave(free_ms: int) -> str | None:
        free: Any = {
            "kind": "no_owner",
            "says": "",
            "sequences": [5, 6],
            "partition": "a-0",
            "noun": "partition",
        }
        free |= {"from_ms": 20_000, "to_ms": 20_000 + free_ms, "length_ms": free_ms, "count": 1}
        free |= {"first": False, "open": False, "forming": False}
        left = gone("app-a", looks_like="left", silent_from_ms=None, silent_sequence=None)
        made = verdict([left, free], first_ms=0, last_ms=90_000)
        return made["headline"]["severity"] if made else ""

    assert of_leave(3_000) is None
    assert of_leave(12_000) == "warning"


def test_who_committed_until_it_was_removed_probably_left_and_was_not_removed() -> None:
    def of(*names: str) -> str:
        left = [gone(name, looks_like="left", silent_from_ms=None, silent_sequence=None) for name in names]
        made = verdict(left, first_ms=0, last_ms=90_000)
        return made["headline"]["text"] if made else ""

    assert of("app-a").startswith("app-a probably left by itself at ")
    assert of("app-a", "app-b").startswith("app-a and app-b probably left by themselves at ")


def test_a_removal_without_a_reason_is_no_trouble_if_commits_went_on_until_then_and_after() -> None:
    removed = gone(
        "app-a", looks_like=None, short=None, quiet_ms=4_900, silent_from_ms=None, silent_sequence=None
    )

    def severity(*findings: Any) -> str | None:
        made = verdict(findings, first_ms=0, last_ms=90_000)
        return made["headline"]["severity"] if made else ""

    stopped = {"kind": "stopped", "says": "", "sequences": [5], "partition": "foo-0", "certain": True}
    stopped |= {"from_ms": removed["at_ms"] - 5_000, "to_ms": removed["at_ms"] + 9_000, "length_ms": 14_000}
    assert severity(removed) is None
    assert severity(removed, stopped) == severity(removed | {"quiet_ms": None}) == "warning"


def test_a_time_of_a_log_of_days_has_its_day_and_a_stable_group_stays_under_ten_words() -> None:
    day = 24 * 3_600_000
    stable = {
        "kind": "stable",
        "says": "Stable for 2 d",
        "sequences": [3],
        "from_ms": 1_700_000_000_000,
        "to_ms": 1_700_000_000_000 + 2 * day,
        "length_ms": 2 * day,
        "throughout": True,
        "certain": True,
    }
    told = verdict(
        [stable],  # type: ignore[list-item]
        first_ms=1_700_000_000_000,
        last_ms=1_700_000_000_000 + 2 * day,
        size=Size(members=3, partitions=6),
    )["headline"]
    assert told["text"] == "Stable since 14 Nov 22:13:20 UTC: 3 members."
    assert told["severity"] is None


def test_a_row_keeps_the_headline_and_one_of_an_earlier_fold_shows_its_verdict() -> None:
    log = next(log for log in corpus() if log.name == "study kip848-member-failure kafka")
    summary, told = of(log)
    assert FOLD_VERSION >= 30
    assert read_verdict(packed_verdict(told)) == told
    assert headline_text(summary) == told["headline"]["text"]
    del told["headline"]
    assert headline_text({"verdict": read_verdict(packed_verdict(told))}) == told["text"]
    assert headline_text({}) == ""
