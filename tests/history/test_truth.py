"""What the fold says of a corpus of logs is written down, with the version that says so."""

from __future__ import annotations

import pytest

from groups.history.replay.fold import FOLD_VERSION
from groups.history.state import versions
from tests.history import truth
from tests.history.corpus import corpus, recorded
from tests.tiers import spread

RECORD = "python -m tests.history.truth --record"


def test_a_version_of_the_fold_comes_with_digests_of_its_own() -> None:
    made_with = truth.committed()["fold_version"]
    assert made_with == FOLD_VERSION, (
        f"FOLD_VERSION is {FOLD_VERSION}, the digests were made with {made_with}. Record them anew: {RECORD}"
    )


def test_every_log_of_the_corpus_has_digests_and_no_digest_is_left_of_a_log_that_is_gone() -> None:
    assert sorted(truth.committed()["logs"]) == sorted(log.name for log in corpus()), (
        f"The corpus has other logs than the digests. Record them anew: {RECORD}"
    )


@pytest.mark.parametrize("name", spread(truth.committed()["logs"]))
def test_the_fold_says_of_a_log_what_is_written_down(name: str) -> None:
    told = truth.committed()["logs"][name]
    made = truth.digests_of(next(log for log in corpus() if log.name == name))
    assert (made["entries"], made["log"]) == (told["entries"], told["log"]), (
        f"The log itself is another one (the simulator's or the test's doing), not what is folded of it. "
        f"Record the digests anew, FOLD_VERSION may stay: {RECORD}"
    )
    different = [aspect for aspect in truth.ASPECTS if made[aspect] != told[aspect]]
    assert not different, (
        f"The same entries give other {', '.join(different)}. If that is meant, raise FOLD_VERSION (what is "
        f"stored is then folded anew), and record the digests: {RECORD}"
    )


@pytest.mark.long
def test_the_fold_says_the_same_of_a_large_group_as_of_a_small_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What makes a group large is that its maps have versions; here every map has them."""
    monkeypatch.setattr(versions, "SMALL_MAX", 1)
    told = truth.committed()["logs"]
    recorded.cache_clear()
    logs = [log for log in corpus() if len(log.entries) < 700][::4]
    assert len(logs) > 40
    for log in logs:
        made = truth.digests_of(log)
        assert [aspect for aspect in truth.ASPECTS if made[aspect] != told[log.name][aspect]] == [], log.name
    recorded.cache_clear()
